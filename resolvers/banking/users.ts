// Users of the bank: persons and companies, each owned by someone whom identity knows, or by the key of a
// sandbox. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, put } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { amountOf, type Amount } from './amounts.ts'
import { BadRequest, LimitExceeded, NotYourUser } from './errors.ts'
import { nextId } from './numbers.ts'
import { listInput, listKind, showNodes } from './pages.ts'
import {
  dayOf,
  idWrapperShape,
  itemId,
  moments,
  momentOf,
  pointerOf,
  pointerShape,
  readMoment,
  showIdWrapper,
  type Pointer,
} from './shapes.ts'

const USERS_MAX = 100
const SESSION_TIMEOUT_S = 7 * 24 * 3600

/** A user. Of the names a person has the first three, and a company `name`. */
export interface BankUser {
  readonly id: number
  /** Whom identity knows it as, or `sandbox-…`. */
  readonly owner: string
  readonly kind: 'UserPerson' | 'UserCompany'
  readonly created: string
  readonly updated: string
  readonly public_uuid: string
  readonly first_name: string | null
  readonly middle_name: string | null
  readonly last_name: string | null
  readonly name: string | null
  readonly legal_name: string
  readonly display_name: string
  readonly public_nick_name: string
  readonly date_of_birth: string | null
  readonly place_of_birth: string | null
  readonly country_of_birth: string | null
  readonly nationality: string | null
  readonly language: string
  readonly region: string
  readonly gender: 'MALE' | 'FEMALE' | 'UNKNOWN'
  readonly status: 'ACTIVE' | 'BLOCKED'
  readonly sub_status: 'NONE'
  readonly alias: readonly Pointer[]
}

export const bankUsers = kind<BankUser>('bank_user', {
  key: ({ id }) => String(id),
  columns: { owner: textOf(({ owner }) => owner), id: numberOf(({ id }) => id) },
  indexes: [['owner', 'id']],
})

/** Which user, and which account of theirs, an address or a number stands for. */
export interface Alias {
  readonly type: Pointer['type']
  readonly value: string
  readonly user_id: number
  readonly monetary_account_id: number
}

export const aliases = kind<Alias>('bank_alias', {
  key: ({ type, value }) => aliasKey(type, value),
})
export const aliasKey = (type: Pointer['type'], value: string): string =>
  `${type} ${value.toLowerCase()}`

export const kinds = [bankUsers, aliases]

const named = {
  first_name: optional(text.min(1).max(100)),
  middle_name: optional(text.max(100)),
  last_name: optional(text.min(1).max(100)),
  public_nick_name: optional(text.min(1).max(100)),
  date_of_birth: optional(text.max(10)),
  place_of_birth: optional(text.max(100)),
  country_of_birth: optional(text.regex(/^[A-Z]{2}$/, 'must be a country such as NL')),
  nationality: optional(text.regex(/^[A-Z]{2}$/, 'must be a country such as NL')),
  language: optional(text.regex(/^[a-z]{2}_[A-Z]{2}$/, 'must be a language such as en_US')),
  region: optional(text.regex(/^[a-z]{2}_[A-Z]{2}$/, 'must be a region such as nl_NL')),
  gender: optional(z.enum(['MALE', 'FEMALE', 'UNKNOWN'])),
}
const names = z.object(named)
export type Names = Partial<z.output<typeof names>> & { readonly name?: string | undefined }

const userShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  public_uuid: z.string(),
  display_name: z.string(),
  status: z.string(),
  sub_status: z.string(),
  session_timeout: z.int(),
  alias: z.array(pointerShape),
})
/** One of the kinds of users, under the name of its kind. */
export const userOfKindShape = z.object({
  UserPerson: userShape.optional(),
  UserCompany: userShape.optional(),
})

const beyond = { isBeyond: true }

export const operations = [
  operation({
    name: 'bankUsers',
    rest: get('/user', {
      ...beyond,
      show: (page) => (showNodes(page) as BankUser[]).map(showUser),
      answer: z.array(userOfKindShape),
    }),
    input: listInput,
    run: (input, ctx) => listKind(ctx, bankUsers, { owner: ctx.caller.userId }, input),
  }),
  operation({
    name: 'bankUser',
    rest: get('/user/{itemId}', { ...beyond, show: showUser, answer: userOfKindShape }),
    input: { itemId },
    run: ({ itemId }, ctx) => needUser(ctx, itemId),
  }),
  operation({
    name: 'userPerson',
    rest: get('/user-person/{itemId}', { ...beyond, show: viewUser, answer: userShape }),
    input: { itemId },
    run: ({ itemId }, ctx) => needUserOf(ctx, 'UserPerson', itemId),
  }),
  operation({
    name: 'updateUserPerson',
    rest: put('/user-person/{itemId}', { ...beyond, show: showIdWrapper, answer: idWrapperShape }),
    input: { itemId, ...named },
    run: ({ itemId, ...sent }, ctx) => updateUser(ctx, 'UserPerson', itemId, sent),
  }),
  operation({
    name: 'userCompany',
    rest: get('/user-company/{itemId}', { ...beyond, show: viewUser, answer: userShape }),
    input: { itemId },
    run: ({ itemId }, ctx) => needUserOf(ctx, 'UserCompany', itemId),
  }),
  operation({
    name: 'updateUserCompany',
    rest: put('/user-company/{itemId}', { ...beyond, show: showIdWrapper, answer: idWrapperShape }),
    input: { itemId, name: optional(text.min(1).max(100)) },
    run: ({ itemId, ...sent }, ctx) => updateUser(ctx, 'UserCompany', itemId, sent),
  }),
]

export const fields = {
  BankUser: {
    ...moments('created', 'updated'),
    kind: ({ kind }: BankUser) => (kind === 'UserPerson' ? 'PERSON' : 'COMPANY'),
  },
}

/** The user, when it is the caller's; otherwise it is refused. */
export async function needUser(
  ctx: Context,
  userId: number,
  from: Records = ctx.store,
): Promise<BankUser> {
  const user = await from.get(bankUsers, String(userId))
  if (!user || user.owner !== ctx.caller.userId) throw NotYourUser(userId)
  return user
}

async function needUserOf(
  ctx: Context,
  kind: BankUser['kind'],
  id: number,
  from: Records = ctx.store,
): Promise<BankUser> {
  const user = await needUser(ctx, id, from)
  if (user.kind !== kind) throw NotYourUser(id)
  return user
}

/** A user as the interface shows one. */
export function viewUser({ owner: _, kind, name, ...user }: BankUser) {
  const { first_name, middle_name, last_name, ...common } = user
  return {
    ...common,
    ...(kind === 'UserPerson' ? { first_name, middle_name, last_name } : { name }),
    session_timeout: SESSION_TIMEOUT_S,
    version_terms_of_service: null,
    all_nationality: user.nationality ? [user.nationality] : [],
    tax_resident: [],
    notification_filters: [],
    relations: [],
    avatar: null,
    address_main: null,
    address_postal: null,
    address_shipping: null,
    daily_limit_without_confirmation_login: amountOf(0, 'EUR') as Amount,
  }
}

export function showUser(user: BankUser) {
  return { [user.kind]: viewUser(user) }
}

/** Adds a user without accounts. `registration.ts` gives them what every user has. */
export async function addUser(
  ctx: Context,
  tx: Records,
  { owner, kind, names }: { owner: string; kind: BankUser['kind']; names: Names },
): Promise<BankUser> {
  const count = await tx.count(bankUsers, { where: { owner } })
  if (count >= USERS_MAX) throw LimitExceeded(`Nobody has more than ${USERS_MAX} users.`)
  const id = await nextId(tx, 'user')
  const now = momentOf(ctx.clock.now())
  const word = kind === 'UserPerson' ? 'person' : 'company'
  const email = `${word}-${id}@users.bank.example`
  const user: BankUser = withNames(
    {
      id,
      owner,
      kind,
      created: now,
      updated: now,
      public_uuid: ctx.newId(),
      first_name: kind === 'UserPerson' ? 'Person' : null,
      middle_name: null,
      last_name: kind === 'UserPerson' ? `${id}` : null,
      name: kind === 'UserCompany' ? `Company ${id}` : null,
      legal_name: '',
      display_name: '',
      public_nick_name: '',
      date_of_birth: null,
      place_of_birth: null,
      country_of_birth: null,
      nationality: null,
      language: 'en_US',
      region: 'nl_NL',
      gender: 'UNKNOWN',
      status: 'ACTIVE',
      sub_status: 'NONE',
      alias: [pointerOf('EMAIL', email)],
    },
    names,
  )
  await tx.insert(bankUsers, user)
  await ctx.events.announce(tx, {
    type: 'banking.user.created',
    subject: String(id),
    body: { kind, display_name: user.display_name },
  })
  return user
}

/** The user with those names that were given, and with those that follow from them. */
function withNames(user: BankUser, sent: Names): BankUser {
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  const named: BankUser = { ...user, ...Object.fromEntries(given) }
  if (sent.date_of_birth !== undefined) {
    const birth = dayOf(readMoment(sent.date_of_birth, 'date_of_birth'))
    if (birth !== sent.date_of_birth) throw BadRequest('date_of_birth must be a day.')
  }
  const parts = [named.first_name, named.middle_name, named.last_name].filter(Boolean)
  const legal = named.kind === 'UserPerson' ? parts.join(' ') : named.name!
  return {
    ...named,
    legal_name: legal,
    display_name: legal,
    public_nick_name: sent.public_nick_name ?? (user.public_nick_name || parts[0] || legal),
  }
}

async function updateUser(
  ctx: Context,
  kind: BankUser['kind'],
  id: number,
  sent: Names,
): Promise<BankUser> {
  return ctx.store.transaction(async (tx) => {
    const before = await needUserOf(ctx, kind, id, tx)
    const after = { ...withNames(before, sent), updated: momentOf(ctx.clock.now()) }
    await tx.save(bankUsers, after)
    if (after.display_name !== before.display_name) await relabel(tx, before, after)
    await ctx.events.announce(tx, {
      type: 'banking.user.changed',
      subject: String(id),
      body: { display_name: after.display_name },
    })
    return after
  })
}

/** Accounts that carry the name of their user carry the new one. */
async function relabel(tx: Records, before: BankUser, after: BankUser): Promise<void> {
  const rows = await tx.sql('SELECT id, label FROM account WHERE user_id = ?', [after.id])
  for (const row of rows) {
    const label = JSON.parse(row.label)
    if (label.display_name !== before.display_name) continue
    const renamed = JSON.stringify({ ...label, display_name: after.display_name })
    await tx.sql('UPDATE account SET label = ? WHERE id = ?', [renamed, row.id])
  }
}
