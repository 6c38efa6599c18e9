// GET /userinfo: what the scopes of a token tell of its owner. Specification 1, service S1.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Unauthenticated } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { get, operation, reply } from '../kernel/operation.ts'
import { claimsOf, releasedBy } from './claims.ts'
import { personOf, users } from './users.ts'

const address = z.object({
  street_address: z.string().optional(),
  locality: z.string().optional(),
  region: z.string().optional(),
  postal_code: z.string().optional(),
  country: z.string().optional(),
})

const answer = z.object({
  sub: z.string(),
  name: z.string().optional(),
  given_name: z.string().optional(),
  family_name: z.string().optional(),
  middle_name: z.string().optional(),
  nickname: z.string().optional(),
  preferred_username: z.string().optional(),
  zoneinfo: z.string().optional(),
  locale: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.boolean().optional(),
  phone_number: z.string().optional(),
  phone_number_verified: z.boolean().optional(),
  address: address.optional(),
  'vendor:location': z
    .object({ latitude: z.number(), longitude: z.number(), address: address.optional() })
    .optional(),
})

export const operations = [
  operation({
    name: 'userInfo',
    rest: get('/userinfo', { answer }),
    needs: 'openid',
    input: {},
    run: userInfo,
  }),
]

async function userInfo(_input: object, ctx: Context) {
  const user = await load(ctx, users, personOf(ctx))
  if (!user) throw Unauthenticated('The user of this token is gone.')
  const claims = releasedBy(ctx.caller.permissions, claimsOf(user))
  return reply(200, claims, { 'cache-control': 'no-store' })
}
