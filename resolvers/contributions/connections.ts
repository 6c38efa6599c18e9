// Contributions by cursor: the next ones after a place in the list, at the same cost everywhere.
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { loadBy } from '../kernel/load.ts'
import { connection, type Connection, type Paging } from '../kernel/paging.ts'
import { sql } from './conditions.ts'
import type { Filter } from './filters.ts'
import type { Contribution } from './records.ts'
import { ask, ORDER, readAll, sourceOf, walkOf } from './sources.ts'

const PAGE_DEFAULT = 25
const PAGE_MAX = 100
/** How many lists one statement reads. */
const LISTS_MAX = 32

/** Where a connection of contributions goes on: the line that it ended with. */
export interface Position {
  readonly createdMs: number
  readonly id: string
}

/** The next lines, newest first. */
export async function findAfter(
  filter: Filter,
  { after, limit }: { after: Position | undefined; limit: number },
  ctx: Context,
): Promise<Position[]> {
  const source = await sourceOf(filter, ctx)
  const rows = await ask(
    ctx,
    sql('SELECT l.id AS id, l.created_ms AS created_ms FROM'),
    {
      text: after ? `${source.text} AND (l.created_ms, l.id) < (?, ?)` : source.text,
      values: after ? [...source.values, after.createdMs, after.id] : source.values,
    },
    sql(`${ORDER} LIMIT ?`, limit),
  )
  return rows.map((row) => ({ id: row['id'], createdMs: Number(row['created_ms']) }))
}

/** A page of what is meant, as a connection. */
export async function connectFound(
  filter: Filter,
  { first = PAGE_DEFAULT, after }: Paging,
  ctx: Context,
): Promise<Connection<Contribution>> {
  checkFirst(first)
  const list = JSON.stringify(['contributions', filter])
  const lines = await findAfter(
    filter,
    { after: openCursor(ctx, list, after), limit: first + 1 },
    ctx,
  )
  return connectionOf(ctx, list, lines, first)
}

/** The same for filters that are a scope alone; many lists cost one read. */
export async function connectScope(
  filter: Filter,
  { first = PAGE_DEFAULT, after }: Paging,
  ctx: Context,
): Promise<Connection<Contribution>> {
  checkFirst(first)
  const list = JSON.stringify(['contributions', filter])
  const wanted = { filter, after: openCursor(ctx, list, after), limit: first + 1 }
  const lines = await loadBy(ctx, 'lines of contributions', (all) => readLists(all, ctx), wanted)
  return connectionOf(ctx, list, lines, first)
}

interface WantedList {
  readonly filter: Filter
  readonly after: Position | undefined
  readonly limit: number
}

async function readLists(wanted: readonly WantedList[], ctx: Context): Promise<Position[][]> {
  const lists: Position[][] = wanted.map(() => [])
  for (let from = 0; from < wanted.length; from += LISTS_MAX) {
    const selects = wanted.slice(from, from + LISTS_MAX).map(({ filter, after, limit }, at) => {
      const { text, values } = walkOf(filter)
      const beyond = after ? ' AND (l.created_ms, l.id) < (?, ?)' : ''
      return sql(
        `SELECT * FROM (SELECT ${from + at} AS list, l.id AS id, l.created_ms AS created_ms
         FROM ${text}${beyond} ${ORDER} LIMIT ?) AS list_${at}`,
        ...values,
        ...(after ? [after.createdMs, after.id] : []),
        limit,
      )
    })
    const text = `${selects.map((select) => select.text).join(' UNION ALL ')}
      ORDER BY list, created_ms DESC, id DESC`
    const rows = await ctx.store.sql(
      text,
      selects.flatMap(({ values }) => values),
    )
    for (const row of rows) {
      lists[Number(row['list'])]!.push({ id: row['id'], createdMs: Number(row['created_ms']) })
    }
  }
  return lists
}

async function connectionOf(
  ctx: Context,
  list: string,
  lines: readonly Position[],
  first: number,
): Promise<Connection<Contribution>> {
  const shown = lines.slice(0, first)
  const places = new Map(shown.map((line) => [line.id, line]))
  const items = await readAll(
    ctx,
    shown.map(({ id }) => id),
  )
  return connection(items, lines.length > first, ({ id }) =>
    ctx.cursors.seal(list, JSON.stringify(places.get(id))),
  )
}

const openCursor = (ctx: Context, list: string, after: string | undefined) =>
  after === undefined ? undefined : (JSON.parse(ctx.cursors.open(list, after)) as Position)

function checkFirst(first: number): void {
  if (first < 1 || first > PAGE_MAX) throw Invalid(`first must be between 1 and ${PAGE_MAX}.`)
}
