// Search among records: by words, which the engine ranks, or by likeness, which is judged here.
import { fieldWordsOf } from './kind-table.ts'
import type { Sql, Table } from './kind-table.ts'
import { checkLimit, equalities } from './query-plan.ts'
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
    const equal = equalities(table, query.where)
    const term = isFuzzy ? fuzzyTermOf(query) : termOf(query)
    if (!equal || !term) return { items: [], total: 0 }

    const select = text.select(table, equal.conditions, isFuzzy)
    const values = [text.print(term), ...equal.values]
    if (isFuzzy) {
      const likely = await sql(select, [...values, CANDIDATES_MAX, 0])
      return bestOf(kind, table, query, likely)
    }
    const offset = query.offset ?? 0
    const rows = await sql(select, [...values, query.limit, offset])
    const items = rows.map((row) => ({ record: recordOf(kind, row), score: row['score'] }))
    const isLastPage = items.length < query.limit && (items.length > 0 || offset === 0)
    if (isLastPage) return { items, total: offset + items.length }
    const counted = await sql(text.count(table, equal.conditions), values)
    return { items, total: counted[0]!['count'] }
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
