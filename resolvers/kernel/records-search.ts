// Search among records: by words, which the engine ranks, or by likeness, which is judged here.
import { fieldWordsOf } from './kind-table.ts'
import type { Sql, Table } from './kind-table.ts'
import { boundsOf, checkLimit, equalities } from './query-plan.ts'
import type { Found, Kind, Records, SqlRow, TextQuery } from './store.ts'
import { recordOf } from './tables.ts'
import type { Tables } from './tables.ts'
import { fuzzyTermOf, likenessOf, termOf } from './text-search.ts'

// Chosen: a misspelled query is answered from this many likely records at most, and its total ends
// there. Nobody pages that far through guesses.
const CANDIDATES_MAX = 1000

export function searchOn(tables: Tables, sql: Sql): Records['search'] {
  const { text } = tables.dialect

  return async (kind, query) => {
    const table = tables.of(kind)
    checkLimit(query.limit)
    const isFuzzy = query.fuzzy === true
    if (!table.text.some((field) => !isFuzzy || field.isFuzzy)) {
      throw new Error(`${kind.name} declares no text for this search`)
    }
    checkNarrowing(table, query)
    const equal = equalities(table, query.where)
    const bounds = boundsOf(table, query.bounds)
    const term = isFuzzy ? fuzzyTermOf(query) : termOf(query)
    if (!equal || !term) return { items: [], total: 0 }

    const filters = [...equal.conditions, ...bounds.conditions]
    const order = isFuzzy ? 'likely' : query.isRanked === false ? 'none' : 'best'
    const select = text.select(table, filters, order)
    const values = [text.print(term, table), ...equal.values, ...bounds.values]
    if (isFuzzy) {
      const likely = await sql(select, [...values, CANDIDATES_MAX, 0])
      return bestOf(kind, table, query, likely)
    }
    const offset = query.offset ?? 0
    const rows = await sql(select, [...values, query.limit, offset])
    const items = rows.map((row) => ({ record: recordOf(kind, row), score: row['score'] }))
    const isLastPage = items.length < query.limit && (items.length > 0 || offset === 0)
    if (isLastPage) return { items, total: offset + items.length }
    const totalMax = query.totalMax ?? Number.MAX_SAFE_INTEGER
    if (offset + items.length >= totalMax) return { items, total: totalMax }
    const counted = await sql(text.count(table, filters), [...values, totalMax])
    return { items, total: counted[0]!['count'] }
  }
}

/** Refuses what one of the engines could not narrow by. */
function checkNarrowing(table: Table, { fuzzy, fields, marks = [], unmarked = [] }: TextQuery) {
  const isMarked = marks.length > 0 || unmarked.length > 0
  if (fuzzy && (isMarked || fields)) {
    throw new Error('a search for misspelled forms is narrowed by columns alone')
  }
  if (isMarked && !table.hasMarks) throw new Error(`${table.kind.name} declares no marks`)
  if (marks.some((some) => some.length === 0)) throw new Error('a list of marks is empty')
  if (!fields) return
  const isAsked = ({ name }: { name: string }) => fields.includes(name)
  const weights = new Set(table.text.filter(isAsked).map(({ weight }) => weight))
  const mixed = table.text.find((field) => !isAsked(field) && weights.has(field.weight))
  if (mixed || weights.size === 0) {
    throw new Error(`${table.kind.name} cannot be searched in [${fields.join(', ')}] alone`)
  }
}

function bestOf<T extends object>(
  kind: Kind<T>,
  table: Table,
  query: TextQuery,
  rows: readonly SqlRow[],
): Found<T> {
  const found: { record: T; score: number; key: Buffer }[] = []
  for (const row of rows) {
    const record = recordOf(kind, row)
    const fields = fieldWordsOf(table, record).filter((field) => field.isFuzzy)
    const score = likenessOf(query, fields)
    if (score > 0) found.push({ record, score, key: Buffer.from(row['key']) })
  }
  found.sort((a, b) => b.score - a.score || Buffer.compare(a.key, b.key))
  const offset = query.offset ?? 0
  const items = found
    .slice(offset, offset + query.limit)
    .map(({ record, score }) => ({ record, score }))
  return { items, total: found.length }
}
