// Monetary accounts as their owners see them. Their money is the ledger's. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { loadBy } from '../kernel/load.ts'
import { get, operation } from '../kernel/operation.ts'
import type { Paging } from '../kernel/paging.ts'
import type { Records, SqlRow } from '../kernel/store.ts'
import { amountOf, amountShape } from './amounts.ts'
import { NoSuch } from './errors.ts'
import { ACCOUNT_COLUMNS, accountById, type Account } from './ledger.ts'
import { listInput, listRows, showNodes, type ListInput, type RowSource } from './pages.ts'
import {
  accountLabelOf,
  moments,
  ofAccount,
  ofUser,
  pointerOf,
  pointerShape,
  USER,
  type AccountLabel,
} from './shapes.ts'
import { needUser } from './users.ts'

/** What an account tells of itself beside its money. */
export interface AccountBody {
  readonly public_uuid: string
  readonly created: string
  readonly updated: string
  readonly description: string
  readonly sub_status: string
  readonly reason: string | null
  readonly reason_description: string | null
  readonly avatar_uuid: string | null
  readonly setting: AccountSetting
}

export interface AccountSetting {
  readonly color: string
  readonly icon: string | null
  readonly default_avatar_status: 'AVATAR_DEFAULT' | 'AVATAR_CUSTOM' | 'AVATAR_UNDETERMINED'
  readonly restriction_chat: 'ALLOW_INCOMING' | 'BLOCK_INCOMING'
  readonly sdd_expiration_action: string | null
}

const accountShape = z.object({
  id: z.int(),
  user_id: z.int(),
  created: z.string(),
  updated: z.string(),
  public_uuid: z.string(),
  currency: z.string(),
  description: z.string(),
  display_name: z.string(),
  status: z.string(),
  sub_status: z.string(),
  alias: z.array(pointerShape),
  balance: amountShape,
  daily_limit: amountShape,
  overdraft_limit: amountShape,
})
const kindShape = z.object({ MonetaryAccountBank: accountShape })

export const BANK_MANY = `${USER}/monetary-account-bank`
export const BANK_ONE = `${BANK_MANY}/{monetaryAccountId}`
const MANY = `${USER}/monetary-account`
const beyond = { isBeyond: true }
const asKind = (account: object) => ({ MonetaryAccountBank: account })

export const operations = [
  operation({
    name: 'monetaryAccount',
    rest: get(BANK_ONE, { ...beyond, answer: accountShape }),
    input: ofAccount,
    run: ({ userId, monetaryAccountId }, ctx) => readAccount(ctx, userId, monetaryAccountId),
  }),
  operation({
    name: 'monetaryAccounts',
    rest: get(BANK_MANY, { ...beyond, show: showNodes, answer: z.array(accountShape) }),
    input: { ...ofUser, ...listInput },
    run: listAccounts,
  }),
  operation({
    name: 'monetaryAccountOfAnyKind',
    rest: get(`${MANY}/{monetaryAccountId}`, { ...beyond, show: asKind, answer: kindShape }),
    input: ofAccount,
    run: ({ userId, monetaryAccountId }, ctx) => readAccount(ctx, userId, monetaryAccountId),
  }),
  operation({
    name: 'monetaryAccountsOfAnyKind',
    rest: get(MANY, {
      ...beyond,
      show: (page) => showNodes(page).map((account) => asKind(account as object)),
      answer: z.array(kindShape),
    }),
    input: { ...ofUser, ...listInput },
    run: listAccounts,
  }),
]

export const fields = { MonetaryAccount: moments('created', 'updated') }

/** The account, when the caller may use it as this user; otherwise it is refused. */
export async function needAccount(
  ctx: Context,
  userId: number,
  accountId: number,
  from: Records = ctx.store,
): Promise<Account> {
  const account = await accountById(from, accountId)
  return checkAccount(ctx, from, account, { userId, accountId })
}

/** The same for an account that was read already. */
export async function checkAccount(
  ctx: Context,
  from: Records,
  account: Account | undefined,
  { userId, accountId }: { userId: number; accountId: number },
): Promise<Account> {
  if (account && account.user_id === userId && account.owner === ctx.caller.userId) return account
  await needUser(ctx, userId, from)
  throw NoSuch('monetary account', accountId)
}

/** An account as its owner sees it. */
export function viewAccount(row: SqlRow) {
  const { currency, overdraft_limit } = row
  const label = JSON.parse(row.label) as AccountLabel
  const { avatar_uuid, ...body } = JSON.parse(row.body) as AccountBody
  return {
    id: row.id as number,
    user_id: row.user_id as number,
    owner_id: row.owner as string,
    ...body,
    currency: currency as string,
    display_name: label.display_name,
    status: row.status as string,
    alias: [pointerOf('IBAN', row.iban, label.display_name)],
    balance: amountOf(row.balance, currency),
    available: amountOf(row.balance - row.held + overdraft_limit, currency),
    daily_limit: amountOf(row.daily_limit, currency),
    overdraft_limit: amountOf(overdraft_limit, currency),
    avatar: avatar_uuid,
    monetary_account_profile: null,
    all_auto_save_id: [],
  }
}
export type AccountView = ReturnType<typeof viewAccount>

const VIEW_COLUMNS = `${ACCOUNT_COLUMNS}, body`

export async function viewById(from: Records, id: number): Promise<AccountView> {
  const [row] = await from.sql(`SELECT ${VIEW_COLUMNS} FROM account WHERE id = ?`, [id])
  return viewAccount(row!)
}

/** The row of an account, whoever's it is, read together with others of the same tick. */
function loadRow(ctx: Context, id: number): Promise<SqlRow | undefined> {
  const read = async (ids: readonly number[]) => {
    const marks = ids.map(() => '?').join(', ')
    const rows = await ctx.store.sql(
      `SELECT ${VIEW_COLUMNS} FROM account WHERE id IN (${marks})`,
      ids,
    )
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id))
  }
  return loadBy(ctx, 'accounts', read, id)
}

/** How others see an account. */
export const loadLabel = async (ctx: Context, id: number): Promise<AccountLabel> =>
  accountLabelOf(JSON.parse((await loadRow(ctx, id))!.label))

/** The account with this id, when it is the caller's. */
export async function loadOwnAccount(ctx: Context, id: number): Promise<AccountView | undefined> {
  const row = await loadRow(ctx, id)
  return row && row.owner === ctx.caller.userId && row.overdraft_limit !== null
    ? viewAccount(row)
    : undefined
}

async function readAccount(ctx: Context, userId: number, id: number): Promise<AccountView> {
  await needAccount(ctx, userId, id)
  return (await loadOwnAccount(ctx, id))!
}

const accountsWhere =
  (condition: string, value: string | number): RowSource =>
  ({ above, below, isUpward, limit }) => ({
    text: `SELECT * FROM (SELECT ${VIEW_COLUMNS} FROM account
      WHERE ${condition} = ? AND id > ? AND id < ? ORDER BY id ${isUpward ? 'ASC' : 'DESC'} LIMIT ?) AS a`,
    values: [value, above, below, limit],
  })

async function listAccounts({ userId, ...input }: { userId: number } & ListInput, ctx: Context) {
  await needUser(ctx, userId)
  return listRows(
    ctx,
    {
      list: `accounts of user ${userId}`,
      source: accountsWhere('user_id', userId),
      idOf: ({ id }) => id,
      view: viewAccount,
    },
    input,
  )
}

/** All accounts of a person, whichever of their users they belong to. */
export const accountsOfOwner = (ctx: Context, owner: string, input: Paging) =>
  listRows(
    ctx,
    {
      list: `accounts of ${owner}`,
      source: accountsWhere('owner', owner),
      idOf: ({ id }) => id,
      view: viewAccount,
    },
    input,
  )
