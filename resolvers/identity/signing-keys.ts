// Pairs of an access key id and a secret, with which callers of the signed services sign.
//
// The secret must be read back to check a signature, so it is kept sealed. It never leaves identity:
// a service asks for the key derived for one day, region and service.
import { createHmac, randomBytes } from 'node:crypto'
import { z } from 'zod'
import { mayUse, type Caller, type Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { paging } from '../kernel/paging.ts'
import { flag, optional, text, whole } from '../kernel/shape.ts'
import { kind, textOf } from '../kernel/store.ts'
import {
  callerOf,
  checkPermissions,
  isAlive,
  keep,
  listOf,
  MANAGES,
  newCredential,
  revoke,
  type Credential,
} from './credentials.ts'
import { hashOf, newSecret } from './secret-text.ts'

const SECRET_BYTES = 30
const ID_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const ID_LETTERS_COUNT = 16
const TEMPORARY_LIFE_S = 3600

/** The id is the access key id, and `name` is what its owner calls it. */
export interface SigningKey extends Credential {
  readonly accountId: string
  readonly sealedSecret: string
  readonly sessionTokenHash?: string | undefined
}

export const signingKeys = kind<SigningKey>('signing_key', {
  key: (key) => key.id,
  columns: { ownerId: textOf((key) => key.ownerId) },
  indexes: [['ownerId']],
})

export const kinds = [signingKeys]

export const operations = [
  operation({ name: 'signingKeys', input: paging, run: listOf(signingKeys) }),
  operation({
    name: 'createSigningKey',
    needs: MANAGES,
    input: {
      accountId: text,
      name: text.min(1).max(200),
      permissions: z.array(text.min(1).max(200)).min(1).max(100),
      temporary: optional(flag),
      expiresIn: optional(whole),
    },
    run: createSigningKey,
  }),
  operation({
    name: 'revokeSigningKey',
    needs: MANAGES,
    input: { id: text },
    run: revoke(signingKeys),
  }),
]

export const proofs = [
  operation({
    name: 'signingKey',
    access: 'services',
    input: { accessKeyId: text, date: text, region: text, service: text },
    run: deriveSigningKey,
  }),
]

interface NewSigningKey {
  readonly accountId: string
  readonly name: string
  readonly permissions: string[]
  readonly temporary?: boolean | undefined
  readonly expiresIn?: number | undefined
}

async function createSigningKey(input: NewSigningKey, ctx: Context) {
  const { accountId, name, permissions, temporary } = input
  if (!mayUse(ctx.caller, 'ACCOUNT', accountId)) throw NotFound(`You have no account ${accountId}.`)
  checkPermissions(permissions, ctx)
  const accessKeyId = newAccessKeyId(temporary ? 'ASIA' : 'AKIA')
  const secretAccessKey = randomBytes(SECRET_BYTES).toString('base64')
  const sessionToken = temporary ? newSecret('pgs') : undefined
  const key: SigningKey = {
    ...newCredential(name, input.expiresIn ?? (temporary ? TEMPORARY_LIFE_S : undefined), ctx),
    id: accessKeyId,
    accountId,
    permissions,
    sealedSecret: ctx.secrets.seal(secretAccessKey, accessKeyId),
    ...(sessionToken && { sessionTokenHash: hashOf(sessionToken) }),
  }
  await keep(ctx, signingKeys, key)
  return { signingKey: key, accessKeyId, secretAccessKey, sessionToken }
}

const newAccessKeyId = (prefix: string): string =>
  prefix + Array.from(randomBytes(ID_LETTERS_COUNT), (byte) => ID_LETTERS[byte % 32]).join('')

interface SigningScope {
  readonly accessKeyId: string
  readonly date: string
  readonly region: string
  readonly service: string
}

interface DerivedKey {
  readonly key: string
  readonly caller: Caller
  readonly sessionTokenHash?: string | undefined
  readonly expiresMs?: number
}

async function deriveSigningKey(
  { accessKeyId, date, region, service }: SigningScope,
  ctx: Context,
): Promise<DerivedKey | null> {
  const found = await ctx.store.get(signingKeys, accessKeyId)
  // Temporary credentials that ended are still found, since their refusal has a name of its own.
  if (!found || found.revoked || (!found.sessionTokenHash && !isAlive(found, ctx))) return null
  const caller = await callerOf(ctx, found)
  if (!caller) return null
  const secret = ctx.secrets.open(found.sealedSecret, accessKeyId)
  const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${secret}`,
  ) as Buffer
  return {
    key: key.toString('base64'),
    // A signing key opens the one account that it was made for.
    caller: {
      ...caller,
      accounts: caller.accounts.filter(({ id }) => id === found.accountId),
    },
    ...(found.sessionTokenHash && { sessionTokenHash: found.sessionTokenHash }),
    ...(found.expires && { expiresMs: Date.parse(found.expires) }),
  }
}
