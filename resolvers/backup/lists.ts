// Lists: pages of a kind as a connection, also where a filter goes beyond the indexes.
//
// A filtered list goes through SCAN_MAX records at most for one page; its token then goes on from
// there, even if the page is empty.
import type { Context } from '../kernel/context.ts'
import { connect, connection, type Connection } from '../kernel/paging.ts'
import { positionOf, type Kind, type Query } from '../kernel/store.ts'

const PAGE_MAX = 100
const BATCH_MAX = 200
const SCAN_MAX = 2_000

export interface Asked {
  readonly maxResults?: number | undefined
  readonly nextToken?: string | undefined
}

type Bounds = Omit<Query, 'limit' | 'after'>

/**
 * One page, by the names that the REST interface has for its size and token.
 * Chosen: a page larger than the largest becomes the largest, since clients follow the token.
 */
export const page = <T extends object>(
  ctx: Context,
  kind: Kind<T>,
  { maxResults, nextToken }: Asked,
  query: Bounds,
): Promise<Connection<T>> =>
  connect(ctx, kind, {
    ...query,
    first: Math.min(maxResults ?? PAGE_MAX, PAGE_MAX),
    after: nextToken,
  })

/** The same for those records that pass. `filters` are what `isHit` looks at: a token is of them too. */
export async function filteredPage<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  { maxResults, nextToken }: Asked,
  query: Bounds,
  { filters, isHit }: { filters: object; isHit: (record: T) => boolean },
): Promise<Connection<T>> {
  if (Object.values(filters).every((filter) => filter === undefined)) {
    return page(ctx, kind, { maxResults, nextToken }, query)
  }
  const list = JSON.stringify([kind.name, query, filters])
  const cursorOf = (record: T) => ctx.cursors.seal(list, positionOf(kind, record, query.order))
  const limit = Math.min(maxResults ?? PAGE_MAX, PAGE_MAX)
  const hits: T[] = []
  let after = nextToken === undefined ? undefined : ctx.cursors.open(list, nextToken)
  for (let scanned = 0; scanned < SCAN_MAX; scanned += BATCH_MAX) {
    const { items, next } = await ctx.store.list(kind, { ...query, after, limit: BATCH_MAX })
    for (const record of items) {
      if (!isHit(record)) continue
      // One hit beyond the page tells that there is more.
      if (hits.length === limit) return connection(hits, true, cursorOf)
      hits.push(record)
    }
    if (next === undefined) return connection(hits, false, cursorOf)
    after = next
  }
  const { nodes, edges } = connection(hits, true, cursorOf)
  return {
    nodes,
    edges,
    pageInfo: { hasNextPage: true, endCursor: ctx.cursors.seal(list, after!) },
  }
}

/** Shows a page as the REST interface does, under the name that the list has there. */
export const pageShown =
  (name: string, show: (record: any) => object) =>
  ({ nodes, pageInfo }: Connection<object>) => ({
    [name]: nodes.map(show),
    ...(pageInfo.hasNextPage && { NextToken: pageInfo.endCursor }),
  })

/** Goes through all records of a query, a batch at a time. */
export async function* batches<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  query: Bounds,
): AsyncGenerator<T[]> {
  let after: string | undefined
  do {
    const { items, next } = await ctx.store.list(kind, { ...query, after, limit: BATCH_MAX })
    if (items.length > 0) yield items
    after = next
  } while (after !== undefined)
}
