// People, and the cloud accounts that are theirs.
import type { CallerAccount, Context } from '../kernel/context.ts'
import { Forbidden, NotFound } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging, type Connection, type Paging } from '../kernel/paging.ts'
import { flag, oneOf, optional, text } from '../kernel/shape.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { z } from 'zod'
import { AlreadyExists, LimitExceeded } from './errors.ts'

const ACCOUNTS_MAX = 100
const ACCOUNT_DIGITS = 12

export interface User {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly isAdmin: boolean
  readonly created: string
  readonly profile?: Profile | undefined
}

/** What people tell of themselves, spelled as the claims are. */
export type Profile = z.output<z.ZodObject<typeof profile>>

export interface CloudAccount {
  readonly id: string
  readonly kind: CallerAccount['kind']
  readonly name: string
  readonly ownerId: string
  readonly created: string
}

export const users = kind<User>('user', {
  key: (user) => user.id,
  columns: { email: textOf((user) => user.email.toLowerCase()) },
  indexes: [['email']],
})

export const cloudAccounts = kind<CloudAccount>('cloud_account', {
  key: (account) => account.id,
  columns: { ownerId: textOf((account) => account.ownerId) },
  indexes: [['ownerId']],
})

export const kinds = [users, cloudAccounts]

const word = optional(text.min(1).max(200))
const address = z.object({
  street_address: word,
  locality: word,
  region: word,
  postal_code: word,
  country: word,
})
const profile = {
  given_name: word,
  family_name: word,
  middle_name: word,
  nickname: word,
  preferred_username: word,
  zoneinfo: word,
  locale: word,
  phone_number: optional(text.regex(/^\+\d{5,15}$/, 'must be written as +441234567890')),
  address: optional(address),
  'vendor:location': optional(
    z.object({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
      address: optional(address),
    }),
  ),
}

export const operations = [
  operation({ name: 'me', input: {}, run: me }),
  operation({ name: 'user', input: { id: text }, run: readUser }),
  operation({
    name: 'updateProfile',
    needs: 'identity:ManageProfile',
    input: { profile: z.object(profile) },
    run: updateProfile,
  }),
  operation({ name: 'cloudAccounts', input: paging, run: listCloudAccounts }),
  operation({ name: 'cloudAccount', input: { id: text }, run: readCloudAccount }),
  operation({
    name: 'createUser',
    access: 'administrators',
    input: { name: text.min(1).max(200), email: z.email(), isAdmin: optional(flag) },
    run: createUser,
  }),
  operation({
    name: 'createCloudAccount',
    needs: 'identity:ManageAccounts',
    input: { kind: oneOf(['SUBSCRIPTION', 'PROJECT', 'ACCOUNT']), name: text.min(1).max(200) },
    run: createCloudAccount,
  }),
]

export const entities = {
  // A person is seen by themselves and by administrators alone.
  User: ({ id }: { id: string }, ctx: Context) => (mayKnow(id, ctx) ? load(ctx, users, id) : null),
  CloudAccount: ({ id }: { id: string }, ctx: Context) =>
    ctx.caller.accounts.some((account) => account.id === id) ? load(ctx, cloudAccounts, id) : null,
}

export const fields = {
  User: {
    cloudAccounts: (user: User, args: any, ctx: Context) =>
      connect(ctx, cloudAccounts, { ...args, where: { ownerId: user.id } }),
  },
  CloudAccount: {
    owner: ({ ownerId }: CloudAccount, _: unknown, ctx: Context) => personNamed(ownerId, ctx),
  },
}

/** The person who asks, also by a token of a client. A service that asks by itself is no person. */
export function personOf({ caller }: Context): string {
  if (caller.kind !== 'user') throw Forbidden('Only a person can own this.')
  return caller.userId
}

/** The person who asks for something of their own. */
export function ownerOf(ctx: Context): string {
  const userId = personOf(ctx)
  if (tellsOnly(ctx)) throw Forbidden('This token tells who you are, and does not act for you.')
  return userId
}

/** Whether the token is one that a client got to learn of a person what its scopes say, and no more. */
const tellsOnly = ({ caller }: Context): boolean => caller.permissions.includes('openid')

async function me(_input: object, ctx: Context): Promise<User> {
  const user = await load(ctx, users, ownerOf(ctx))
  if (!user) throw NotFound('The user of this credential is gone.')
  return user
}

/** Of someone whom the caller does not know, the id alone. */
export const personNamed = async (id: string, ctx: Context): Promise<Pick<User, 'id'>> =>
  (mayKnow(id, ctx) ? await load(ctx, users, id) : undefined) ?? { id }

const mayKnow = (id: string, ctx: Context): boolean =>
  ctx.caller.isAdmin || (id === ctx.caller.userId && !tellsOnly(ctx))

/** A person is seen by themselves and by administrators alone. */
async function readUser({ id }: { id: string }, ctx: Context): Promise<User> {
  const user = mayKnow(id, ctx) ? await load(ctx, users, id) : null
  if (!user) throw NotFound(`You know no user ${id}.`)
  return user
}

/** Replaces all that a person told of themselves. */
async function updateProfile({ profile }: { profile: Profile }, ctx: Context): Promise<User> {
  const id = ownerOf(ctx)
  return ctx.store.transaction(async (tx) => {
    const user = await tx.get(users, id)
    if (!user) throw NotFound('The user of this credential is gone.')
    const changed = { ...user, profile }
    await tx.save(users, changed)
    await ctx.events.announce(tx, { type: 'identity.user.changed', subject: id, body: { id } })
    return changed
  })
}

export async function userByEmail(tx: Records, email: string): Promise<User | undefined> {
  const { items } = await tx.list(users, { where: { email: email.toLowerCase() }, limit: 1 })
  return items[0]
}

async function listCloudAccounts(page: Paging, ctx: Context): Promise<Connection<CloudAccount>> {
  return connect(ctx, cloudAccounts, { ...page, where: { ownerId: ownerOf(ctx) } })
}

async function readCloudAccount({ id }: { id: string }, ctx: Context): Promise<CloudAccount> {
  const account = await load(ctx, cloudAccounts, id)
  if (account?.ownerId !== ownerOf(ctx)) throw NotFound(`You have no cloud account ${id}.`)
  return account
}

export async function createUser(
  { name, email, isAdmin = false }: { name: string; email: string; isAdmin?: boolean | undefined },
  ctx: Context,
): Promise<User> {
  const created = ctx.wallClock.now().toISOString()
  const user: User = { id: ctx.newId(), name, email, isAdmin, created }
  await ctx.store.transaction(async (tx) => {
    if (await userByEmail(tx, email)) {
      throw AlreadyExists(`There is a user with the address ${email} already.`)
    }
    await tx.insert(users, user)
    const { id } = user
    await ctx.events.announce(tx, { type: 'identity.user.created', subject: id, body: { id } })
  })
  return user
}

async function createCloudAccount(
  { kind, name }: Pick<CloudAccount, 'kind' | 'name'>,
  ctx: Context,
): Promise<CloudAccount> {
  const ownerId = ownerOf(ctx)
  const id = kind === 'SUBSCRIPTION' ? ctx.newId() : kind === 'ACCOUNT' ? accountNumber(ctx) : name
  const created = ctx.wallClock.now().toISOString()
  const account: CloudAccount = { id, kind, name, ownerId, created }
  await ctx.store.transaction(async (tx) => {
    const owned = await tx.count(cloudAccounts, { where: { ownerId } })
    if (owned >= ACCOUNTS_MAX) throw LimitExceeded(`You have ${ACCOUNTS_MAX} accounts already.`)
    if (!(await tx.insert(cloudAccounts, account))) {
      throw AlreadyExists(`The ${kind.toLowerCase()} ${id} is taken. Choose another name.`)
    }
  })
  return account
}

/** Signed services name an account by twelve digits. These come from the random part of an id. */
const accountNumber = (ctx: Context): string => {
  const random = BigInt(`0x${ctx.newId().replaceAll('-', '').slice(-16)}`)
  return String(random % 10n ** BigInt(ACCOUNT_DIGITS)).padStart(ACCOUNT_DIGITS, '0')
}

/** Everything that a person's own credentials open. */
export async function accountsOf(tx: Records, ownerId: string): Promise<CallerAccount[]> {
  const { items } = await tx.list(cloudAccounts, { where: { ownerId }, limit: ACCOUNTS_MAX })
  return items.map(({ id, kind }) => ({ id, kind }))
}
