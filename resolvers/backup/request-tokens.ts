// Tokens of requests: a request that is repeated gets the first answer again.
//
// A token is forgotten after TOKENS_KEPT_MS; by then no client repeats the request.
import { createHash } from 'node:crypto'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import type { Fault } from '../kernel/fault.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { DAY_MS } from './shapes.ts'

const TOKENS_KEPT_MS = 7 * DAY_MS
const SWEEP_BATCH = 1_000

interface RequestToken {
  readonly Account: string
  readonly Operation: string
  readonly Token: string
  readonly Digest: string
  readonly Answer: unknown
  readonly TimeMs: number
}

const requestTokens = kind<RequestToken>('backup_request_token', {
  key: ({ Account, Operation, Token }) => tokenKey(Account, Operation, Token),
  columns: { timeMs: numberOf(({ TimeMs }) => TimeMs) },
  indexes: [['timeMs']],
})
export const kinds = [requestTokens]

const tokenKey = (account: string, operation: string, token: string) =>
  `${account}/${operation}/${token}`

interface Repeatable<R> {
  readonly operation: string
  readonly token: string | undefined
  readonly input: object
  /** How the service refuses the token of another request. */
  readonly refuse: (message: string) => Fault
  readonly make: (tx: Records) => Promise<R>
}

/** Makes something in a transaction, or answers what was made for the same token and input before. */
export function once<R>(
  ctx: Context,
  { operation, token, input, refuse, make }: Repeatable<R>,
): Promise<R> {
  const Account = accountOf(ctx)
  const TimeMs = ctx.clock.now().getTime()
  const Digest = createHash('sha256').update(JSON.stringify(input)).digest('hex')
  return ctx.store.transaction(async (tx) => {
    if (token === undefined) return make(tx)
    const before = await tx.get(requestTokens, tokenKey(Account, operation, token))
    if (before && before.Digest !== Digest) {
      throw refuse(`The token ${token} was sent with another request. Send a new one.`)
    }
    if (before) return before.Answer as R
    const Answer = await make(tx)
    await tx.insert(requestTokens, {
      Account,
      Operation: operation,
      Token: token,
      Digest,
      Answer,
      TimeMs,
    })
    return Answer
  })
}

export async function sweepTokens(ctx: Context): Promise<void> {
  const below = ctx.clock.now().getTime() - TOKENS_KEPT_MS
  const old = { order: 'timeMs', below, limit: SWEEP_BATCH }
  while ((await ctx.store.removeMany(requestTokens, old)) === SWEEP_BATCH);
}
