// The history of sign-ins: who, when, by which client, and whether the password was right.
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging, type Paging } from '../kernel/paging.ts'
import { kind, numberOf, textOf } from '../kernel/store.ts'
import type { Client } from './clients.ts'
import { ownerOf, personNamed } from './users.ts'

const KEPT_MS = 90 * 24 * 60 * 60_000
const SWEEP_MAX = 1_000
const TEXT_MAX = 300

export interface SignIn {
  readonly id: string
  readonly userId: string
  readonly time: string
  readonly outcome: 'SUCCEEDED' | 'WRONG_PASSWORD'
  /** Absent when the person signed in to their account page. */
  readonly clientId?: string | undefined
  readonly remoteAddress: string
  readonly userAgent: string
}

export const signIns = kind<SignIn>('sign_in', {
  key: ({ id }) => id,
  columns: {
    userId: textOf(({ userId }) => userId),
    clientId: textOf(({ clientId }) => clientId),
    time: numberOf(({ time }) => Date.parse(time)),
  },
  indexes: [['userId', 'time'], ['clientId', 'time'], ['time']],
})

export const kinds = [signIns]

export const operations = [
  operation({
    name: 'signIns',
    input: paging,
    run: (page: Paging, ctx: Context) => listBy(ctx, { userId: ownerOf(ctx) }, page),
  }),
]

export const fields = {
  Client: {
    signIns: ({ client_id }: Client, page: Paging, ctx: Context) =>
      listBy(ctx, { clientId: client_id }, page),
  },
  SignIn: {
    user: ({ userId }: SignIn, _: unknown, ctx: Context) => personNamed(userId, ctx),
  },
}

const listBy = (ctx: Context, where: Record<string, string>, { first, after }: Paging) =>
  connect(ctx, signIns, {
    where,
    first: first ?? undefined,
    after: after ?? undefined,
    order: 'time',
    descending: true,
  })

export async function recordSignIn(
  ctx: Context,
  signIn: Pick<SignIn, 'userId' | 'outcome' | 'clientId' | 'remoteAddress' | 'userAgent'>,
): Promise<void> {
  await ctx.store.insert(signIns, {
    ...signIn,
    id: ctx.newId(),
    time: ctx.wallClock.now().toISOString(),
    userAgent: signIn.userAgent.slice(0, TEXT_MAX),
    remoteAddress: signIn.remoteAddress.slice(0, TEXT_MAX),
  })
}

export async function sweepSignIns({
  store,
  wallClock,
}: Pick<Context, 'store' | 'wallClock'>): Promise<void> {
  const query = { order: 'time', below: wallClock.now().getTime() - KEPT_MS, limit: SWEEP_MAX }
  while ((await store.removeMany(signIns, query)) === SWEEP_MAX);
}
