// Text in SQLite: two FTS5 tables beside the table of a kind, which hold an index and no text.
import type { SqlRow } from './store.ts'
import { fieldWordsOf } from './kind-table.ts'
import type { Sql, Table, TextDialect } from './kind-table.ts'
import { quoted } from './sql-text.ts'
import { trigramsOf, WEIGHTS } from './text-search.ts'
import type { TextTerm } from './text-search.ts'

// The dot keeps these names apart from those of kinds.
const wordsTable = (table: Table) => quoted(`${table.kind.name}.words`)
const trigramsTable = (table: Table) => quoted(`${table.kind.name}.trigrams`)
const hasFuzzy = (table: Table) => table.text.some((field) => field.isFuzzy)
const fieldNames = (table: Table) => table.text.map((field) => quoted(`in_${field.name}`))

export const sqliteText: TextDialect = {
  columns: () => [],
  values: () => [],

  async create(sql, table) {
    // The words come folded, and this tokenizer takes every letter beyond ASCII as it is.
    await sql(
      `CREATE VIRTUAL TABLE ${wordsTable(table)} USING fts5(${fieldNames(table).join(', ')},
       content='', contentless_delete=1, prefix='2 3', tokenize='ascii')`,
      [],
    )
    if (!hasFuzzy(table)) return
    await sql(
      `CREATE VIRTUAL TABLE ${trigramsTable(table)} USING fts5(trigrams,
       content='', contentless_delete=1, detail=column, tokenize="ascii tokenchars '_'")`,
      [],
    )
  },

  async drop(sql, table) {
    await sql(`DROP TABLE IF EXISTS ${wordsTable(table)}`, [])
    await sql(`DROP TABLE IF EXISTS ${trigramsTable(table)}`, [])
  },

  async put(sql, table, row, record) {
    const fields = fieldWordsOf(table, record)
    const names = fieldNames(table)
    await sql(
      `INSERT OR REPLACE INTO ${wordsTable(table)} (rowid, ${names.join(', ')})
       VALUES (?${', ?'.repeat(names.length)})`,
      [row['id'], ...fields.map(({ words }) => words.join(' '))],
    )
    if (!hasFuzzy(table)) return
    const words = new Set(fields.filter((field) => field.isFuzzy).flatMap(({ words }) => words))
    await sql(`INSERT OR REPLACE INTO ${trigramsTable(table)} (rowid, trigrams) VALUES (?, ?)`, [
      row['id'],
      [...words].flatMap(trigramsOf).join(' '),
    ])
  },

  async forget(sql, table, rows) {
    const names = [wordsTable(table), ...(hasFuzzy(table) ? [trigramsTable(table)] : [])]
    for (const name of names) await forgetIn(sql, name, rows)
  },

  print,

  select(table, filters, isFuzzy) {
    const name = isFuzzy ? trigramsTable(table) : wordsTable(table)
    const weights = isFuzzy ? [1] : table.text.map(({ weight }) => WEIGHTS[weight])
    // The better a record fits, the lower FTS5 ranks it.
    return `SELECT key, version, body, -bm25(${name}, ${weights.join(', ')}) AS score
      FROM ${name} JOIN ${table.name} ON id = ${name}.rowid
      WHERE ${[`${name} MATCH ?`, ...filters].join(' AND ')}
      ORDER BY score DESC, key LIMIT ? OFFSET ?`
  },

  count(table, filters) {
    const name = wordsTable(table)
    return `SELECT count(*) AS count FROM ${name} JOIN ${table.name} ON id = ${name}.rowid
      WHERE ${[`${name} MATCH ?`, ...filters].join(' AND ')}`
  },
}

async function forgetIn(sql: Sql, name: string, rows: readonly SqlRow[]): Promise<void> {
  await sql(`DELETE FROM ${name} WHERE rowid IN (SELECT value FROM json_each(?))`, [
    JSON.stringify(rows.map((row) => row['id'])),
  ])
}

// Words hold letters and digits alone, so nothing needs escaping.
function print(term: TextTerm): string {
  if ('every' in term) return `(${term.every.map(print).join(' AND ')})`
  if ('some' in term) return `(${term.some.map(print).join(' OR ')})`
  return `"${term.phrase.join(' ')}"${term.isPrefix ? ' *' : ''}`
}
