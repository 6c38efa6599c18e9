// Access tokens that the provider issued, as the services ask about them.
//
// 1. A token opens one service: the one of its audience, or identity where it names none.
// 2. It ends with its grant, which ends when the person signs out, takes the consent back, when its
//    code is shown twice, and when its client is deleted.
// 3. It permits its scopes and nothing else, whatever its owner may do.
import { createLocalJWKSet, jwtVerify, type JWTPayload } from 'jose'
import type { Caller, Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import { clients } from './clients.ts'
import { accessTokens, callerOf, proveCaller } from './credentials.ts'
import { findRecord, isCurrent, issuedRecords, payloadOf } from './provider-records.ts'
import { RESOURCE_PREFIX } from './provider.ts'
import { keysOf, publicKeys, TOKEN_ALG } from './token-keys.ts'

const OWN = 'identity'

/** The questions that the services ask about tokens; see schema/identity.graphql. */
export const proofs = [
  operation({
    name: 'callerByToken',
    access: 'services',
    input: { service: text, tokenHash: text },
    run: async (asked, ctx) => (await callerByOwnToken(asked, ctx)) ?? callerByOpaque(asked, ctx),
  }),
  operation({
    name: 'callerByJwt',
    access: 'services',
    input: { service: text, token: text },
    run: callerByJwt,
  }),
]

interface Asked {
  readonly service: string
  readonly tokenHash: string
}

/** The caller behind a token that its owner made for themselves. */
const callerByOwnToken = ({ service, tokenHash }: Asked, ctx: Context): Promise<Caller | null> =>
  proveCaller(ctx, accessTokens, { tokenHash }, ({ audiences }) =>
    audiences.some((audience) => audience === service || audience === '*'),
  )

async function callerByJwt(
  { service, token }: { service: string; token: string },
  ctx: Context,
): Promise<Caller | null> {
  const claims = await readToken(token, `${RESOURCE_PREFIX}${service}`, ctx)
  if (!claims) return null
  const { jti, sub, scope, client_id, grant_id } = claims as Record<string, string>
  const permissions = (scope ?? '').split(' ')
  if (!permissions.includes(service)) return null
  if (!(await isGranted(ctx, String(grant_id), String(client_id)))) return null
  return callerOf(ctx, { id: String(jti), ownerId: String(sub), permissions })
}

async function readToken(
  token: string,
  audience: string,
  ctx: Context,
): Promise<JWTPayload | undefined> {
  try {
    const keys = createLocalJWKSet({ keys: publicKeys(await keysOf(ctx)) })
    const { payload } = await jwtVerify(token, keys, {
      audience,
      typ: 'at+jwt',
      algorithms: [TOKEN_ALG],
      currentDate: ctx.wallClock.now(),
      requiredClaims: ['exp', 'sub', 'jti', 'client_id', 'grant_id'],
    })
    return payload
  } catch {
    // Why a token is bad is of no use to someone who may be forging one.
    return undefined
  }
}

/** The caller behind an access token without an audience, which is for this service alone. */
async function callerByOpaque({ service, tokenHash }: Asked, ctx: Context): Promise<Caller | null> {
  if (service !== OWN) return null
  const record = await ctx.store.get(issuedRecords, `AccessToken/${tokenHash}`)
  if (!record || !isCurrent(record, ctx)) return null
  const { scope = '' } = payloadOf(record, ctx)
  const { grantId, clientId, accountId } = record
  if (!grantId || !clientId || !accountId) return null
  if (!(await isGranted(ctx, grantId, clientId))) return null
  const id = `token ${tokenHash.slice(0, 16)}`
  const caller = await callerOf(ctx, { id, ownerId: accountId, permissions: scope.split(' ') })
  return caller && { ...caller, accounts: [] }
}

async function isGranted(ctx: Context, grantId: string, clientId: string): Promise<boolean> {
  const grant = await findRecord(ctx, 'Grant', grantId)
  if (grant?.clientId !== clientId) return false
  return (await ctx.store.get(clients, clientId)) !== undefined
}
