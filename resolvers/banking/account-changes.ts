// Monetary accounts: opened, described, closed. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, post, put } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records, SqlRow } from '../kernel/store.ts'
import { BANK_MANY, BANK_ONE, needAccount, viewById } from './accounts.ts'
import type { AccountBody, AccountSetting, AccountView } from './accounts.ts'
import { amount, CURRENCIES, limitOf } from './amounts.ts'
import { checkAvatar } from './avatars.ts'
import { BadRequest, LimitExceeded, NoSuch, WrongState } from './errors.ts'
import { BANK_COUNTRY, BIC, ibanOf } from './iban.ts'
import { accountById, type Account } from './ledger.ts'
import { once } from './once.ts'
import {
  description,
  idWrapperShape,
  itemId,
  momentOf,
  ofAccount,
  ofUser,
  onceHeaders,
  onceInput,
  readColor,
  showIdWrapper,
  type AccountLabel,
} from './shapes.ts'
import { needUser, type BankUser } from './users.ts'

const ACCOUNTS_MAX = 100
const DAILY_LIMIT_DEFAULT = 100_000
const DAILY_LIMIT_MAX = 1_000_000

const setting = z.object({
  color: optional(text.max(7)),
  icon: optional(text.max(100)),
  default_avatar_status: optional(
    z.enum(['AVATAR_DEFAULT', 'AVATAR_CUSTOM', 'AVATAR_UNDETERMINED']),
  ),
  restriction_chat: optional(z.enum(['ALLOW_INCOMING', 'BLOCK_INCOMING'])),
  sdd_expiration_action: optional(text.max(100)),
})

const described = {
  description: optional(description),
  display_name: optional(text.min(1).max(200)),
  daily_limit: optional(amount),
  avatar_uuid: optional(text.max(100)),
  status: optional(text.max(40)),
  sub_status: optional(text.max(40)),
  reason: optional(text.max(40)),
  reason_description: optional(text.max(1000)),
  setting: optional(setting),
}
const changes = z.object(described)
type Changes = z.output<typeof changes>

const beyond = { isBeyond: true }

export const operations = [
  operation({
    name: 'createMonetaryAccount',
    rest: post(BANK_MANY, {
      ...beyond,
      show: showIdWrapper,
      answer: idWrapperShape,
      headers: onceHeaders,
    }),
    input: {
      ...ofUser,
      currency: optional(text.max(3)),
      country_iban: optional(text.max(2)),
      ...described,
      ...onceInput,
    },
    run: createAccount,
  }),
  operation({
    name: 'updateMonetaryAccount',
    rest: put(BANK_ONE, { ...beyond, show: showIdWrapper, answer: idWrapperShape }),
    input: { ...ofAccount, ...described },
    run: updateAccount,
  }),
  operation({
    name: 'setOverdraftLimit',
    access: 'administrators',
    input: { monetaryAccountId: itemId, overdraft_limit: amount },
    run: setOverdraftLimit,
  }),
]

type CreateInput = {
  userId: number
  currency?: string | undefined
  country_iban?: string | undefined
} & Changes

async function createAccount(input: CreateInput, ctx: Context): Promise<AccountView> {
  const { userId, currency = 'EUR', country_iban } = input
  if (!(CURRENCIES as readonly string[]).includes(currency)) {
    throw BadRequest(`currency must be one of ${CURRENCIES.join(', ')}, not ${currency}.`)
  }
  if (country_iban !== undefined && country_iban !== BANK_COUNTRY) {
    throw BadRequest(`country_iban must be ${BANK_COUNTRY}: the bank has accounts there alone.`)
  }
  if (input.status !== undefined && input.status !== 'ACTIVE') {
    throw BadRequest('status must be ACTIVE for an account that is opened.')
  }
  return ctx.store.transaction(async (tx) => {
    const user = await needUser(ctx, userId, tx)
    return once(
      ctx,
      tx,
      { name: 'createMonetaryAccount', input },
      {
        async make() {
          const [{ count }] = (await tx.sql(
            'SELECT count(*) AS count FROM account WHERE user_id = ?',
            [userId],
          )) as [SqlRow]
          if (count >= ACCOUNTS_MAX) {
            throw LimitExceeded(`A user has at most ${ACCOUNTS_MAX} accounts.`)
          }
          const id = await openAccount(ctx, tx, user, currency, input)
          return viewById(tx, id)
        },
        recall: (id) => viewById(tx, id),
      },
    )
  })
}

/** Opens an account for a user. Returns its id. */
export async function openAccount(
  ctx: Context,
  tx: Records,
  user: BankUser,
  currency: string,
  input: Partial<Changes> = {},
): Promise<number> {
  await checkAvatar(tx, input.avatar_uuid)
  const now = momentOf(ctx.clock.now())
  const body: AccountBody = {
    public_uuid: ctx.newId(),
    created: now,
    updated: now,
    description: input.description ?? '',
    sub_status: 'NONE',
    reason: null,
    reason_description: null,
    avatar_uuid: input.avatar_uuid ?? null,
    setting: settingOf(input.setting, {
      color: '#FE2851',
      icon: null,
      default_avatar_status: 'AVATAR_DEFAULT',
      restriction_chat: 'ALLOW_INCOMING',
      sdd_expiration_action: null,
    }),
  }
  const [row] = await tx.sql(
    `INSERT INTO account (owner, user_id, purpose, currency, status, overdraft_limit, daily_limit, label, body)
     VALUES (?, ?, 'CUSTOMER', ?, 'ACTIVE', 0, ?, '', ?) RETURNING id`,
    [
      user.owner,
      user.id,
      currency,
      dailyLimitOf(input.daily_limit, currency),
      JSON.stringify(body),
    ],
  )
  const id: number = row!.id
  const iban = ibanOf(id)
  const label = labelOf(user, { iban, display_name: input.display_name, avatar: body.avatar_uuid })
  await tx.sql('UPDATE account SET iban = ?, label = ? WHERE id = ?', [
    iban,
    JSON.stringify(label),
    id,
  ])
  await ctx.events.announce(tx, {
    type: 'banking.monetary-account.created',
    subject: String(id),
    body: { user_id: user.id, iban, currency },
  })
  return id
}

/** What is known of an account; the rest of its label is nothing. */
const labelOf = (
  user: BankUser,
  own: { iban: string; display_name?: string | undefined; avatar: string | null },
): Partial<AccountLabel> => ({
  iban: own.iban,
  display_name: own.display_name ?? user.display_name,
  ...(own.avatar !== null && { avatar: own.avatar }),
  label_user: user.public_uuid,
  country: BANK_COUNTRY,
  swift_bic: BIC,
})

function settingOf(sent: Changes['setting'], before: AccountSetting): AccountSetting {
  const given = Object.entries(sent ?? {}).filter(([, value]) => value !== undefined)
  const setting = { ...before, ...Object.fromEntries(given) }
  return { ...setting, color: readColor(setting.color, 'setting.color') }
}

function dailyLimitOf(sent: Changes['daily_limit'], currency: string): number {
  if (sent === undefined) return DAILY_LIMIT_DEFAULT
  const limit = limitOf(sent, 'daily_limit')
  if (limit.currency !== currency) throw BadRequest(`daily_limit.currency must be ${currency}.`)
  if (limit.minor > DAILY_LIMIT_MAX) throw BadRequest('daily_limit.value must be at most 10000.00.')
  return limit.minor
}

async function updateAccount(
  { userId, monetaryAccountId, ...sent }: { userId: number; monetaryAccountId: number } & Changes,
  ctx: Context,
): Promise<AccountView> {
  return ctx.store.transaction(async (tx) => {
    const account = await needAccount(ctx, userId, monetaryAccountId, tx)
    if (account.status === 'CANCELLED') throw WrongState(`The account ${account.iban} is closed.`)
    await checkAvatar(tx, sent.avatar_uuid)
    const before = await viewById(tx, account.id)
    const isClosed = checkClosing(account, sent)
    const label = {
      ...(JSON.parse(account.label) as Partial<AccountLabel>),
      ...(sent.display_name !== undefined && { display_name: sent.display_name }),
      ...(sent.avatar_uuid !== undefined && { avatar: sent.avatar_uuid }),
    }
    const body: AccountBody = {
      public_uuid: before.public_uuid,
      created: before.created,
      updated: momentOf(ctx.clock.now()),
      description: sent.description ?? before.description,
      sub_status: isClosed ? 'REDEMPTION_VOLUNTARY' : before.sub_status,
      reason: isClosed ? 'OTHER' : before.reason,
      reason_description: sent.reason_description ?? before.reason_description,
      avatar_uuid: label.avatar ?? null,
      setting: settingOf(sent.setting, before.setting),
    }
    const dailyLimit =
      sent.daily_limit === undefined
        ? account.daily_limit
        : dailyLimitOf(sent.daily_limit, account.currency)
    await tx.sql(
      'UPDATE account SET status = ?, daily_limit = ?, label = ?, body = ? WHERE id = ?',
      [
        isClosed ? 'CANCELLED' : account.status,
        dailyLimit,
        JSON.stringify(label),
        JSON.stringify(body),
        account.id,
      ],
    )
    await ctx.events.announce(tx, {
      type: `banking.monetary-account.${isClosed ? 'closed' : 'changed'}`,
      subject: String(account.id),
      body: { user_id: userId },
    })
    return viewById(tx, account.id)
  })
}

/** Whether an account is to be closed, and may be. */
function checkClosing(account: Account, { status, sub_status, reason }: Changes): boolean {
  if (status === undefined || status === account.status) return false
  if (status !== 'CANCELLED') {
    throw BadRequest('status can be set to CANCELLED alone, which closes the account.')
  }
  if (sub_status !== 'REDEMPTION_VOLUNTARY' || reason !== 'OTHER') {
    throw BadRequest('Close an account with sub_status REDEMPTION_VOLUNTARY and reason OTHER.')
  }
  if (account.balance !== 0 || account.held !== 0) {
    throw WrongState('An account is closed when its balance is 0.00 and nothing is held.')
  }
  return true
}

async function setOverdraftLimit(
  {
    monetaryAccountId,
    overdraft_limit,
  }: {
    monetaryAccountId: number
    overdraft_limit: z.output<typeof amount>
  },
  ctx: Context,
): Promise<AccountView> {
  const limit = limitOf(overdraft_limit, 'overdraft_limit')
  return ctx.store.transaction(async (tx) => {
    const account = await accountById(tx, monetaryAccountId)
    if (!account || account.overdraft_limit === null)
      throw NoSuch('monetary account', monetaryAccountId)
    if (limit.currency !== account.currency) {
      throw BadRequest(`overdraft_limit.currency must be ${account.currency}.`)
    }
    if (account.balance - account.held < -limit.minor) {
      throw WrongState('The account is overdrawn beyond this limit already.')
    }
    await tx.sql('UPDATE account SET overdraft_limit = ? WHERE id = ?', [limit.minor, account.id])
    await ctx.events.announce(tx, {
      type: 'banking.monetary-account.changed',
      subject: String(account.id),
      body: { user_id: account.user_id },
    })
    return viewById(tx, account.id)
  })
}
