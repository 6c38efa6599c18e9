// Text in SQLite: two FTS5 tables beside the table of a kind, which hold an index and no text.
import type { SqlRow } from './store.ts'
import { fieldWordsOf, indexedMark, marksOf } from './kind-table.ts'
import type { Sql, Table, TextDialect } from './kind-table.ts'
import { quoted } from './sql-text.ts'
import { trigramsOf, WEIGHTS } from './text-search.ts'
import type { TextTerm } from './text-search.ts'

// The dot keeps these names apart from those of kinds.
const wordsTable = (table: Table) => quoted(`${table.kind.name}.words`)
const trigramsTable = (table: Table) => quoted(`${table.kind.name}.trigrams`)
const hasFuzzy = (table: Table) => table.text.some((field) => field.isFuzzy)
const fieldName = (name: string) => quoted(`in_${name}`)
const fieldNames = (table: Table) => [
  ...table.text.map((field) => fieldName(field.name)),
  ...(table.hasMarks ? ['marks'] : []),
]

export const sqliteText: TextDialect = {
  columns: () => [],
  values: () => [],

  async create(sql, table) {
    // The words come folded, and this tokenizer takes every letter beyond ASCII as it is.
    const prefix = table.kind.hasQuickPrefixes === false ? '' : ` prefix='2 3',`
    const tokenize = table.hasMarks ? `"ascii tokenchars '_'"` : `'ascii'`
    await sql(
      `CREATE VIRTUAL TABLE ${wordsTable(table)} USING fts5(${fieldNames(table).join(', ')},
       content='', contentless_delete=1,${prefix} tokenize=${tokenize})`,
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
    const texts = textsOf(table)
    await sql(texts.putWords, [
      row['id'],
      ...fields.map(({ words }) => words.join(' ')),
      ...(table.hasMarks ? [marksOf(table, record).join(' ')] : []),
    ])
    if (!hasFuzzy(table)) return
    const words = new Set(fields.filter((field) => field.isFuzzy).flatMap(({ words }) => words))
    await sql(texts.putTrigrams, [row['id'], [...words].flatMap(trigramsOf).join(' ')])
  },

  async forget(sql, table, rows) {
    const names = [wordsTable(table), ...(hasFuzzy(table) ? [trigramsTable(table)] : [])]
    for (const name of names) await forgetIn(sql, name, rows)
  },

  print,

  select(table, filters, order) {
    const name = order === 'likely' ? trigramsTable(table) : wordsTable(table)
    const weights =
      order === 'likely' ? [1] : [...table.text.map(({ weight }) => WEIGHTS[weight]), 0]
    // The better a record fits, the lower FTS5 ranks it. To rank, it looks at all that match; by the
    // order of rows it hands out what it finds.
    const score = order === 'none' ? '0.0' : `-bm25(${name}, ${weights.join(', ')})`
    const sorted = order === 'none' ? `${name}.rowid DESC` : 'score DESC, key'
    return `SELECT key, version, body, ${score} AS score
      FROM ${name} CROSS JOIN ${table.name} ON id = ${name}.rowid
      WHERE ${[`${name} MATCH ?`, ...filters].join(' AND ')}
      ORDER BY ${sorted} LIMIT ? OFFSET ?`
  },

  count(table, filters) {
    const name = wordsTable(table)
    const joined = filters.length > 0 ? `CROSS JOIN ${table.name} ON id = ${name}.rowid` : ''
    return `SELECT count(*) AS count FROM (SELECT 1 FROM ${name} ${joined}
      WHERE ${[`${name} MATCH ?`, ...filters].join(' AND ')} LIMIT ?)`
  },
}

// To put a statement together costs as much as to find it among those that are prepared.
const written = new WeakMap<Table, { putWords: string; putTrigrams: string }>()

function textsOf(table: Table): { putWords: string; putTrigrams: string } {
  let texts = written.get(table)
  if (!texts) {
    const names = fieldNames(table)
    texts = {
      putWords: `INSERT OR REPLACE INTO ${wordsTable(table)} (rowid, ${names.join(', ')})
        VALUES (?${', ?'.repeat(names.length)})`,
      putTrigrams: `INSERT OR REPLACE INTO ${trigramsTable(table)} (rowid, trigrams) VALUES (?, ?)`,
    }
    written.set(table, texts)
  }
  return texts
}

async function forgetIn(sql: Sql, name: string, rows: readonly SqlRow[]): Promise<void> {
  await sql(`DELETE FROM ${name} WHERE rowid IN (SELECT value FROM json_each(?))`, [
    JSON.stringify(rows.map((row) => row['id'])),
  ])
}

// Words and marks hold letters, digits and `_` alone, so nothing needs escaping.
function print(term: TextTerm, table: Table): string {
  const printed = (one: TextTerm) => print(one, table)
  if ('every' in term) return `(${term.every.map(printed).join(' AND ')})`
  if ('some' in term) return `(${term.some.map(printed).join(' OR ')})`
  if ('without' in term) return `(${printed(term.found)} NOT ${printed(term.without)})`
  if ('mark' in term) return `marks : "${indexedMark(table, term.mark)}"`
  const fields = term.fields ? `{${term.fields.map(fieldName).join(' ')}} : ` : ''
  return `${fields}"${term.phrase.join(' ')}"${term.isPrefix ? ' *' : ''}`
}
