// Pages of records: one, or many in one statement where a statement is a round trip.
import type { Sql } from './kind-table.ts'
import { whereOf, type Plan } from './query-plan.ts'
import { positionOf, type Kind, type Page, type Query, type SqlRow, type Store } from './store.ts'
import { recordOf } from './tables.ts'

/** How many pages one statement reads. */
const PAGES_MAX = 64

interface Wanted {
  readonly plan: Plan
  readonly limit: number
}

/** The rows of a page, of which one more than the limit was asked for, as the page. */
export function pageOf<T extends object>(
  kind: Kind<T>,
  { limit, order }: Query,
  rows: readonly SqlRow[],
): Page<T> {
  const items = rows.slice(0, limit).map((row) => recordOf(kind, row))
  if (rows.length <= limit) return { items }
  return { items, next: positionOf(kind, items.at(-1)!, order) }
}

export async function readPage(sql: Sql, plan: Plan, limit: number, offset = 0): Promise<SqlRow[]> {
  const { from, order, segments } = plan
  const rows: SqlRow[] = []
  for (const { conditions, values } of segments) {
    const text = `SELECT key, version, body FROM ${from} ${whereOf(conditions)}
        ORDER BY ${order} LIMIT ?${offset > 0 ? ' OFFSET ?' : ''}`
    const bounds = offset > 0 ? [limit, offset] : [limit - rows.length]
    rows.push(...(await sql(text, [...values, ...bounds])))
    if (rows.length >= limit) break
  }
  return rows
}

/** The rows of each page. SQLite is asked in process, so there a statement for each costs nothing. */
export async function readPages(
  sql: Sql,
  wanted: readonly Wanted[],
  engine: Store['engine'],
): Promise<SqlRow[][]> {
  const pages: SqlRow[][] = wanted.map(() => [])
  const isJoined = ({ plan }: Wanted) => engine === 'postgres' && plan.segments.length === 1
  for (const [at, one] of wanted.entries()) {
    if (!isJoined(one)) pages[at] = await readPage(sql, one.plan, one.limit)
  }
  const joined = wanted.map((one, at) => ({ ...one, at })).filter(isJoined)
  for (let from = 0; from < joined.length; from += PAGES_MAX) {
    const { text, values } = joinedText(joined.slice(from, from + PAGES_MAX))
    for (const row of await sql(text, values)) pages[row['page']]!.push(row)
  }
  return pages
}

function joinedText(joined: readonly (Wanted & { at: number })[]) {
  const values = joined.flatMap(({ at, plan, limit }) => [at, ...plan.segments[0]!.values, limit])
  const selects = joined.map(
    ({ plan: { from, order, segments } }, index) =>
      `SELECT * FROM (SELECT CAST(? AS integer) AS page, row_number() OVER (ORDER BY ${order}) AS place,
        key, version, body FROM ${from} ${whereOf(segments[0]!.conditions)}
        ORDER BY ${order} LIMIT ?) AS page_${index}`,
  )
  return { text: `${selects.join(' UNION ALL ')} ORDER BY page, place`, values }
}
