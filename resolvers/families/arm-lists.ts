// Lists of management resources: pages with a nextLink, and connections for the graph.
import type { Context } from '../kernel/context.ts'
import { Fault, Invalid } from '../kernel/fault.ts'
import { connect, connection, type Connection } from '../kernel/paging.ts'
import type { Kind, Query } from '../kernel/store.ts'
import { checkSubscription, idAt, linkTo, ownSubscription, type Input } from './arm-paths.ts'

/** What a list is of. */
export interface Listed<R extends object> {
  /** The version that links carry. */
  readonly version: string
  readonly kind: Kind<R>
}

/** Which records are in a list. */
export type Selection = Pick<Query, 'prefix' | 'where'>

export interface ListResult<R> {
  value: R[]
  nextLink?: string
}

const PAGE_MAX = 100

/** The resources whose ids begin with the filled path. */
export const under = (path: string, input: Input): Selection => ({
  prefix: `${idAt(path, input)}/`.toLowerCase(),
})

/**
 * One page of the list at a documented path. `$top` is the size of a page and not of the list;
 * Chosen: above PAGE_MAX it becomes PAGE_MAX, since the client follows nextLink anyway.
 */
export async function listAt<R extends object>(
  { kind, version }: Listed<R>,
  at: { path: string; select: (input: Input) => Selection },
  sent: Input,
  ctx: Context,
): Promise<ListResult<R>> {
  const input = checkSubscription(sent, ctx)
  const { $top = PAGE_MAX, $skipToken } = input
  const select = at.select(input)
  const list = JSON.stringify([kind.name, select])
  const { items, next } = await ctx.store.list(kind, {
    ...select,
    limit: Math.min($top, PAGE_MAX),
    after: $skipToken === undefined ? undefined : openToken(ctx, list, $skipToken),
  })
  if (next === undefined) return { value: items }
  const token = ctx.cursors.seal(list, next)
  const query = { 'api-version': version, $top: input.$top, $skipToken: token }
  return { value: items, nextLink: linkTo(ctx, { path: at.path, input, query }) }
}

/** The token that a nextLink carries, for those who ask again through the graph. */
export const skipTokenOf = ({ nextLink }: ListResult<unknown>): string | null =>
  nextLink === undefined ? null : new URL(nextLink).searchParams.get('$skipToken')

/** The resources of one cloud account. Accounts that are no subscriptions have none. */
export async function connectAccount<R extends object>(
  { kind }: Listed<R>,
  account: { id: string },
  { first, after }: { first?: number | null; after?: string | null },
  ctx: Context,
): Promise<Connection<R>> {
  const subscriptionId = ownSubscription(ctx, account.id)
  if (subscriptionId === undefined) return connection<R>([], false, String)
  const select = under('/subscriptions/{subscriptionId}', { subscriptionId })
  return connect(ctx, kind, { ...select, first: first ?? undefined, after: after ?? undefined })
}

/** The place that a token of this list holds. Refuses any other token. */
export function openToken(ctx: Context, list: string, token: string): string {
  try {
    return ctx.cursors.open(list, token)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    // The refusal is to name the input, as the refusal of any other input does.
    const field = { name: '$skipToken', message: 'is not a token that this list gave out' }
    throw Invalid(`${field.name} ${field.message}.`, { details: { fields: [field] } })
  }
}
