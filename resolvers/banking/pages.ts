// Lists, newest first: by count, older_id and newer_id as the interface has it, or as connections.
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { loadBy } from '../kernel/load.ts'
import { connect, connection, paging, type Connection, type Paging } from '../kernel/paging.ts'
import { optional, whole } from '../kernel/shape.ts'
import { positionOf, type Kind, type SqlRow, type SqlValue } from '../kernel/store.ts'
import { BadRequest } from './errors.ts'
import { itemId } from './shapes.ts'

const COUNT_DEFAULT = 10
const COUNT_MAX = 200
const FIRST_MAX = 100
const ID_END = 2 ** 53 - 1
/** How many pages one statement reads. */
const PARTS_MAX = 50

/** The inputs of every list. */
export const listInput = {
  ...paging,
  count: optional(whole),
  older_id: optional(itemId),
  newer_id: optional(itemId),
}

export interface ListInput extends Paging {
  readonly count: number | undefined
  readonly older_id: number | undefined
  readonly newer_id: number | undefined
}

/** What REST shows of a list. */
export const showNodes = ({ nodes }: Connection<unknown>) => nodes

/** A page of a kind that has the column `id`, and an index of the `where` columns and it. */
export async function listKind<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  where: Readonly<Record<string, string | number>>,
  input: ListInput,
): Promise<Connection<T>> {
  const order = { where, order: 'id', descending: true }
  if (isOfGraph(input)) {
    return connect(ctx, kind, { ...order, first: input.first ?? COUNT_DEFAULT, after: input.after })
  }
  const { limit, older_id, newer_id } = boundsOf(input)
  const isUpward = newer_id !== undefined
  const { items, next } = await ctx.store.list(kind, {
    ...order,
    descending: !isUpward,
    ...(isUpward && { from: newer_id + 1 }),
    ...(older_id !== undefined && { below: older_id }),
    limit,
  })
  const newestFirst = isUpward ? items.toReversed() : items
  return connection(newestFirst, next !== undefined, (item) =>
    ctx.cursors.seal(JSON.stringify([kind.name, order]), positionOf(kind, item, 'id')),
  )
}

/** A page with each item as `view` shows it. */
export async function viewPage<T, V>(
  { edges, pageInfo }: Connection<T>,
  view: (item: T) => Promise<V>,
): Promise<Connection<V>> {
  const nodes = await Promise.all(edges.map(({ node }) => view(node)))
  return { nodes, edges: edges.map(({ cursor }, i) => ({ cursor, node: nodes[i]! })), pageInfo }
}

/** The ids between which rows are read, both excluded, and from which end. */
export interface Bounds {
  readonly above: number
  readonly below: number
  readonly isUpward: boolean
  readonly limit: number
}

/** A statement that reads rows within bounds, in the order of their ids. */
export type RowSource = (bounds: Bounds) => { text: string; values: SqlValue[] }

/**
 * A page of rows of a table of our own, read together with every other page of the same name that is
 * asked for in the same tick. `list` names the list, so that its cursors fit no other.
 */
export async function listRows<T>(
  ctx: Context,
  {
    list,
    source,
    idOf,
    view,
  }: {
    list: string
    source: RowSource
    idOf: (row: SqlRow) => number
    view: (row: SqlRow) => T
  },
  input: ListInput | Paging,
): Promise<Connection<T>> {
  const {
    limit,
    older_id = ID_END,
    newer_id,
  } = boundsOf(input, (token) => Number(ctx.cursors.open(list, token)))
  const isUpward = newer_id !== undefined
  const bounds = { above: newer_id ?? 0, below: older_id, isUpward, limit: limit + 1 }
  const rows = await loadBy(ctx, 'pages of rows', readParts(ctx), source(bounds))
  const page = rows.slice(0, limit)
  const newestFirst = isUpward ? page.toReversed() : page
  const ids = new Map<T, number>()
  const items = newestFirst.map((row) => {
    const item = view(row)
    ids.set(item, idOf(row))
    return item
  })
  return connection(items, rows.length > limit, (item) =>
    ctx.cursors.seal(list, String(ids.get(item))),
  )
}

type Statement = ReturnType<RowSource>

const readParts =
  ({ store }: Context) =>
  async (statements: readonly Statement[]): Promise<SqlRow[][]> => {
    const answers: SqlRow[][] = statements.map(() => [])
    // Only statements of the same columns can be read as one; those of one text are.
    const alike = Map.groupBy(statements.entries(), ([, { text }]) => text)
    for (const [text, group] of alike) {
      for (let at = 0; at < group.length; at += PARTS_MAX) {
        const parts = group.slice(at, at + PARTS_MAX)
        const together = parts.map((_, i) => `SELECT ${i} AS part, q.* FROM (${text}) AS q`)
        const rows = await store.sql(
          together.join(' UNION ALL '),
          parts.flatMap(([, { values }]) => values),
        )
        for (const { part, ...row } of rows) answers[parts[part]![0]]!.push(row)
      }
    }
    return answers
  }

const isOfGraph = ({ count, older_id, newer_id }: ListInput): boolean =>
  count === undefined && older_id === undefined && newer_id === undefined

function boundsOf(input: ListInput | Paging, open?: (token: string) => number) {
  const { first, after, count, older_id, newer_id } = input as ListInput
  if (older_id !== undefined && newer_id !== undefined) {
    throw BadRequest('Send older_id or newer_id, not both.')
  }
  if (first !== undefined && (first < 1 || first > FIRST_MAX)) {
    throw Invalid(`first must be between 1 and ${FIRST_MAX}.`)
  }
  if (count !== undefined && (count < 1 || count > COUNT_MAX)) {
    throw BadRequest(`count must be between 1 and ${COUNT_MAX}.`)
  }
  const begun = after === undefined ? older_id : open?.(after)
  return { limit: count ?? first ?? COUNT_DEFAULT, older_id: begun, newer_id }
}
