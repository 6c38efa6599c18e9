// What opens services: API keys, Basic accounts, access tokens. Signing keys are in signing-keys.ts, and
// the tokens that clients get in tokens.ts.
//
// A secret is shown once, when it is made; what is kept is its hash. A credential never permits more
// than the one that made it.
import type { Caller, Context } from '../kernel/context.ts'
import { isPermitted } from '../kernel/context.ts'
import { Forbidden, Invalid, NotFound } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging, type Paging } from '../kernel/paging.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, textOf, type Kind, type Records } from '../kernel/store.ts'
import { z } from 'zod'
import { AlreadyExists, LimitExceeded } from './errors.ts'
import { hashOf, hintOf, isSecretOf, newSecret } from './secret-text.ts'
import { accountsOf, ownerOf, users } from './users.ts'

const CREDENTIALS_MAX = 500
const TOKEN_LIFE_DEFAULT_S = 3600
const TOKEN_LIFE_MAX_S = 366 * 24 * 3600

/** What all credentials have. */
export interface Credential {
  readonly id: string
  readonly ownerId: string
  readonly name: string
  /** What it permits: never more than the credential that made it. */
  readonly permissions: readonly string[]
  readonly created: string
  readonly expires?: string | undefined
  readonly revoked?: string | undefined
}

export interface ApiKey extends Credential {
  readonly service: string
  readonly keyHash: string
  readonly hint: string
}

export interface BasicAccount extends Credential {
  readonly service: string
  readonly username: string
  readonly passwordHash: string
}

export interface AccessToken extends Credential {
  /** The services that it opens; `graph` is the gateway, `*` is all. */
  readonly audiences: readonly string[]
  readonly tokenHash: string
  readonly hint: string
}

export const apiKeys = kind<ApiKey>('api_key', {
  key: (key) => key.id,
  columns: { ownerId: textOf((key) => key.ownerId), keyHash: textOf((key) => key.keyHash) },
  indexes: [['ownerId'], ['keyHash']],
})

const basicAccounts = kind<BasicAccount>('basic_account', {
  key: (account) => account.id,
  columns: {
    ownerId: textOf((account) => account.ownerId),
    service: textOf((account) => account.service),
    username: textOf((account) => account.username),
  },
  indexes: [['ownerId'], ['service', 'username']],
})

export const accessTokens = kind<AccessToken>('access_token', {
  key: (token) => token.id,
  columns: { ownerId: textOf((token) => token.ownerId), tokenHash: textOf((t) => t.tokenHash) },
  indexes: [['ownerId'], ['tokenHash']],
})

export const kinds = [apiKeys, basicAccounts, accessTokens]

const name = text.min(1).max(200)
const service = text.regex(/^[a-z][a-z-]{1,40}$/, 'must be the name of a service, such as braille')
const expiresIn = { expiresIn: optional(whole) }
const id = { id: text }

// Making and ending credentials needs more than a credential for one service.
export const MANAGES = 'identity:ManageCredentials'

export const operations = [
  operation({ name: 'apiKeys', input: paging, run: listOf(apiKeys) }),
  operation({
    name: 'createApiKey',
    needs: MANAGES,
    input: { service, name, ...expiresIn },
    run: createApiKey,
  }),
  operation({ name: 'revokeApiKey', needs: MANAGES, input: id, run: revoke(apiKeys) }),
  operation({ name: 'basicAccounts', input: paging, run: listOf(basicAccounts) }),
  operation({
    name: 'createBasicAccount',
    needs: MANAGES,
    input: { service, username: text.regex(/^[\w.@-]{3,64}$/), ...expiresIn },
    run: createBasicAccount,
  }),
  operation({ name: 'revokeBasicAccount', needs: MANAGES, input: id, run: revoke(basicAccounts) }),
  operation({ name: 'accessTokens', input: paging, run: listOf(accessTokens) }),
  operation({
    name: 'createAccessToken',
    needs: MANAGES,
    input: {
      name,
      audiences: z
        .array(z.union([service, z.literal('*')]))
        .min(1)
        .max(30),
      permissions: optional(z.array(text.min(1).max(200)).max(100)),
      ...expiresIn,
    },
    run: createAccessToken,
  }),
  operation({ name: 'revokeAccessToken', needs: MANAGES, input: id, run: revoke(accessTokens) }),
]

/** The questions that the services ask, and nobody else; see schema/identity.graphql. */
export const proofs = [
  operation({
    name: 'callerByApiKey',
    access: 'services',
    input: { service: text, keyHash: text },
    run: ({ service, keyHash }, ctx) =>
      proveCaller(ctx, apiKeys, { keyHash }, (key) => key.service === service),
  }),
  operation({
    name: 'callerByPassword',
    access: 'services',
    input: { service: text, username: text, password: text },
    run: ({ service, username, password }, ctx) =>
      proveCaller(ctx, basicAccounts, { service, username }, ({ passwordHash }) =>
        isSecretOf(passwordHash, password),
      ),
  }),
  operation({
    name: 'callerByUser',
    access: 'services',
    input: { userId: text },
    // What acts for a person while that person is away never acts as an administrator.
    async run({ userId }, ctx) {
      const caller = await callerOf(ctx, { id: '', ownerId: userId, permissions: [] })
      return caller && { ...caller, isAdmin: false }
    },
  }),
]

async function createApiKey(
  input: { service: string; name: string; expiresIn?: number | undefined },
  ctx: Context,
) {
  const secret = newSecret('pgk')
  const key: ApiKey = {
    ...newCredential(input.name, input.expiresIn, ctx),
    service: input.service,
    keyHash: hashOf(secret),
    hint: hintOf(secret),
  }
  await keep(ctx, apiKeys, key)
  return { apiKey: key, secret }
}

async function createBasicAccount(
  input: { service: string; username: string; expiresIn?: number | undefined },
  ctx: Context,
) {
  const { service, username } = input
  const password = newSecret('pgp')
  const account: BasicAccount = {
    ...newCredential(username, input.expiresIn, ctx),
    service,
    username,
    passwordHash: hashOf(password),
  }
  await keep(ctx, basicAccounts, account, async (tx) => {
    const { items } = await tx.list(basicAccounts, { where: { service, username }, limit: 1 })
    if (items[0]) throw AlreadyExists(`The name ${username} is taken. Choose another.`)
  })
  return { basicAccount: account, password }
}

async function createAccessToken(
  input: {
    name: string
    audiences: string[]
    permissions?: string[] | undefined
    expiresIn?: number | undefined
  },
  ctx: Context,
) {
  const permissions = input.permissions ?? [...ctx.caller.permissions]
  checkPermissions(permissions, ctx)
  const token = newSecret('pgt')
  const record: AccessToken = {
    ...newCredential(input.name, input.expiresIn ?? TOKEN_LIFE_DEFAULT_S, ctx),
    audiences: input.audiences,
    permissions,
    tokenHash: hashOf(token),
    hint: hintOf(token),
  }
  await keep(ctx, accessTokens, record)
  return { accessToken: record, token }
}

/** A credential cannot make one that permits more. */
export function checkPermissions(permissions: readonly string[], ctx: Context): void {
  const beyond = permissions.find((permission) => !isPermitted(ctx.caller, permission))
  if (beyond) throw Forbidden(`Your own credential does not permit ${beyond}.`)
}

export function newCredential(
  name: string,
  expiresInSeconds: number | undefined,
  ctx: Context,
): Credential {
  const now = ctx.wallClock.now().getTime()
  if (expiresInSeconds !== undefined) {
    if (expiresInSeconds < 1 || expiresInSeconds > TOKEN_LIFE_MAX_S) {
      throw Invalid(`expiresIn must be between 1 and ${TOKEN_LIFE_MAX_S} seconds.`)
    }
  }
  return {
    id: ctx.newId(),
    ownerId: ownerOf(ctx),
    name,
    permissions: ctx.caller.permissions,
    created: new Date(now).toISOString(),
    ...(expiresInSeconds && { expires: new Date(now + expiresInSeconds * 1000).toISOString() }),
  }
}

/** Stores a new credential, unless its owner has too many or `check` refuses. */
export async function keep<T extends Credential>(
  ctx: Context,
  kind: Kind<T>,
  credential: T,
  check?: (tx: Records) => Promise<void>,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const owned = await tx.count(kind, { where: { ownerId: credential.ownerId } })
    if (owned >= CREDENTIALS_MAX) {
      throw LimitExceeded(`You have ${CREDENTIALS_MAX} of these already. Revoked ones count too.`)
    }
    await check?.(tx)
    await tx.insert(kind, credential)
  })
}

export function listOf<T extends Credential>(kind: Kind<T>) {
  return async (page: Paging, ctx: Context) =>
    connect(ctx, kind, { ...page, where: { ownerId: ownerOf(ctx) } })
}

/** Ends a credential. Revoking it again changes nothing. */
export function revoke<T extends Credential>(kind: Kind<T>) {
  return async ({ id }: { id: string }, ctx: Context): Promise<T> =>
    ctx.store.transaction(async (tx) => {
      const credential = await tx.get(kind, id)
      if (credential?.ownerId !== ownerOf(ctx)) throw NotFound(`You have no credential ${id}.`)
      if (credential.revoked) return credential
      const revoked = { ...credential, revoked: ctx.wallClock.now().toISOString() }
      await tx.save(kind, revoked)
      return revoked
    })
}

export async function proveCaller<T extends Credential>(
  ctx: Context,
  kind: Kind<T>,
  where: Record<string, string>,
  isFor: (credential: T) => boolean,
): Promise<Caller | null> {
  const { items } = await ctx.store.list(kind, { where, limit: 1 })
  const credential = items[0]
  if (!credential || !isAlive(credential, ctx) || !isFor(credential)) return null
  return callerOf(ctx, credential)
}

export const isAlive = ({ expires, revoked }: Credential, ctx: Context): boolean =>
  !revoked && (!expires || expires > ctx.wallClock.now().toISOString())

/** The caller that a credential proves: its owner, with all that is theirs. */
export async function callerOf(
  ctx: Context,
  { id, ownerId, permissions }: Pick<Credential, 'id' | 'ownerId' | 'permissions'>,
): Promise<Caller | null> {
  const user = await ctx.store.get(users, ownerId)
  if (!user) return null
  return {
    kind: 'user',
    userId: ownerId,
    credentialId: id,
    accounts: await accountsOf(ctx.store, ownerId),
    permissions,
    isAdmin: user.isAdmin && permissions.includes('*'),
  }
}
