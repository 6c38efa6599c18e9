// Lists that a $filter narrows. Specification 3, D, J.
//
// The store is gone through in batches until a page is full. One request goes through SCAN_MAX
// records at most; the link to the next page then goes on from there, even if the page is empty.
import type { Context } from '../kernel/context.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { positionOf, type Query } from '../kernel/store.ts'
import { readFilter, type FilterFields } from './arm-filter.ts'
import { openToken, type Listed, type ListResult, type Selection } from './arm-lists.ts'
import { checkSubscription, linkTo, paging, type Input } from './arm-paths.ts'

const PAGE_MAX = 100
const BATCH_MAX = 200
const SCAN_MAX = 1_000

/** The inputs of a list that can be filtered. */
export const filtering = {
  ...paging,
  $filter: optional(text),
  $skip: optional(whole.refine((skip) => skip >= 0, 'must be at least 0')),
}

export interface ScannedList<R> {
  /** The documented path, for links. */
  readonly path: string
  readonly select: (input: Input) => Selection & Pick<Query, 'order' | 'descending'>
  /** What can be filtered by. */
  readonly fields: FilterFields<R>
}

/** Where a scan goes on: how many hits are still to be passed over, and after which record. */
type Place = [skip: number, after?: string | undefined]

/**
 * One page of the records that `$filter` asks for, after the first `$skip` of them. A `$skipToken`
 * knows what is left to skip, so that `$skip` beside it is ignored.
 */
export async function scanAt<R extends object>(
  { kind, version }: Listed<R>,
  at: ScannedList<R>,
  sent: Input,
  ctx: Context,
): Promise<ListResult<R>> {
  const input = checkSubscription(sent, ctx)
  const { $top, $filter, $skip = 0, $skipToken } = input
  const select = at.select(input)
  const list = JSON.stringify([kind.name, select, $filter])
  const begin: Place =
    $skipToken === undefined ? [$skip] : JSON.parse(openToken(ctx, list, $skipToken))
  const { value, rest } = await scan<R>(begin, {
    limit: Math.min($top ?? PAGE_MAX, PAGE_MAX),
    isHit: $filter === undefined ? undefined : readFilter($filter, at.fields),
    read: (page) => ctx.store.list(kind, { ...select, ...page }),
    placeOf: (record) => positionOf(kind, record, select.order),
  })
  if (!rest) return { value }
  const token = ctx.cursors.seal(list, JSON.stringify(rest))
  const query = { 'api-version': version, $filter, $top, $skipToken: token }
  return { value, nextLink: linkTo(ctx, { path: at.path, input, query }) }
}

interface Scan<R> {
  readonly limit: number
  /** Undefined where every record is a hit. */
  readonly isHit: ((record: R) => boolean) | undefined
  readonly read: (page: Pick<Query, 'limit' | 'after'>) => Promise<{ items: R[]; next?: string }>
  readonly placeOf: (record: R) => string
}

/** The hits from a place on, and where to go on unless there is nothing more. */
async function scan<R>(
  [skip, from]: Place,
  { limit, isHit, read, placeOf }: Scan<R>,
): Promise<{ value: R[]; rest?: Place }> {
  const value: R[] = []
  let toSkip = skip
  let after = from
  for (let scanned = 0; scanned < SCAN_MAX;) {
    // Without a filter it is known how many records make the page and tell whether one follows.
    const wanted = isHit ? BATCH_MAX : toSkip + limit - value.length
    const batch = Math.min(wanted, BATCH_MAX, SCAN_MAX - scanned)
    const { items, next } = await read({ limit: batch, after })
    for (const record of items) {
      if (isHit && !isHit(record)) continue
      if (toSkip > 0) toSkip -= 1
      // One hit beyond the page tells that there is more.
      else if (value.length === limit) return { value, rest: [0, placeOf(value.at(-1)!)] }
      else value.push(record)
    }
    if (next === undefined) return { value }
    if (!isHit && value.length === limit) return { value, rest: [0, next] }
    scanned += items.length
    after = next
  }
  return { value, rest: [toSkip, after] }
}
