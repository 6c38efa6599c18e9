// A kind as a table: its names, its columns, and the values that a record puts into them.
import { createHash } from 'node:crypto'
import { quoted } from './sql-text.ts'
import type { Kind, SqlRow, SqlValue, Store, TextField } from './store.ts'
import type { TextTerm } from './text-search.ts'
import { wordsOf } from './text-search.ts'

// PostgreSQL indexes nothing longer than about 2700 bytes, and an index holds columns and the key.
const KEY_BYTES_MAX = 1024
const COLUMN_BYTES_MAX = 1024
const INDEX_NAME_MAX = 60

// Of one unit of a JavaScript string.
const UTF8_BYTES_MAX = 3

const COLUMN_NAME = /^[A-Za-z][A-Za-z0-9_]{0,40}$/

/** Runs one statement, in which `?` stands for a parameter. SQLite answers at once. */
export type Sql = (
  text: string,
  values: readonly SqlParameter[],
) => readonly SqlRow[] | Promise<readonly SqlRow[]>

/** PostgreSQL takes a list of keys as it is. */
export type SqlParameter = SqlValue | readonly string[]

/** A kind of any record. What comes from a caller with its kind is safe to hand to its functions. */
export type AnyKind = Kind<never>

export interface Table {
  readonly kind: AnyKind
  /** Quoted, and with its schema where there is one. */
  readonly name: string
  readonly columns: readonly TableColumn[]
  readonly indexes: readonly TableIndex[]
  readonly text: readonly TableText[]
  readonly hasMarks: boolean
}

export interface TableColumn {
  readonly name: string
  /** In the table, quoted. The prefix keeps a column named `key` apart from the key. */
  readonly sqlName: string
  readonly type: 'text' | 'number'
}

export interface TableIndex {
  readonly name: string
  readonly columns: readonly string[]
}

export interface TableText {
  readonly name: string
  readonly weight: TextField<object>['weight']
  readonly isFuzzy: boolean
}

/** Where the engines differ in what they say, but not in what it means. */
export interface Dialect {
  readonly engine: Store['engine']
  /** What tells a row apart for the tables beside it. */
  readonly rowId: 'id' | 'key'
  readonly idColumns: string
  readonly types: Readonly<Record<'text' | 'number', string>>
  /** A table in the schema of this store. */
  table(name: string): string
  dropIndex(name: string): string
  /** Holds the planner to the index that was chosen, where that can be said. */
  indexedBy(index: string): string
  /** Whether the key is among the keys of one parameter. */
  readonly keyIsAmong: string
  keysParameter(keys: readonly string[]): SqlParameter
  readonly text: TextDialect
}

/** How an engine keeps text: PostgreSQL in columns of the row, SQLite in tables beside it. */
export interface TextDialect {
  columns(table: Table): readonly { name: string; placeholder: string }[]
  values(table: Table, record: object): readonly SqlValue[]
  create(sql: Sql, table: Table): Promise<void>
  drop(sql: Sql, table: Table): Promise<void>
  put(sql: Sql, table: Table, row: SqlRow, record: object): Promise<void>
  forget(sql: Sql, table: Table, rows: readonly SqlRow[]): Promise<void>
  print(term: TextTerm, table: Table): string
  /** Selects key, version, body and score; the term is its first parameter. */
  select(table: Table, filters: readonly string[], order: 'best' | 'likely' | 'none'): string
  /** Counts up to its last parameter. */
  count(table: Table, filters: readonly string[]): string
}

/** The table of a kind. Refuses a kind whose declaration contradicts itself. */
export function tableOf(kind: AnyKind, dialect: Dialect): Table {
  const columns = Object.entries(kind.columns).map(([name, { type }]) => ({
    name,
    sqlName: quoted(`by_${name}`),
    type,
  }))
  const text = Object.entries(kind.text).map(([name, field]) => ({
    name,
    weight: field.weight,
    isFuzzy: field.fuzzy === true,
  }))
  checkNames(kind, Object.keys(kind.columns))
  checkNames(kind, Object.keys(kind.text))
  if (kind.name.startsWith('polygraph_')) throw new Error(`${kind.name} cannot name a kind`)
  for (const index of kind.indexes) {
    const unknown = index.find((name) => !kind.columns[name])
    if (unknown !== undefined || index.length === 0 || new Set(index).size < index.length) {
      throw new Error(`the index [${index.join(', ')}] of ${kind.name} does not list its columns`)
    }
  }
  const indexes = kind.indexes.map((columns) => ({ name: indexName(kind, columns), columns }))
  const hasMarks = kind.marks !== undefined
  if (hasMarks && text.length === 0) throw new Error(`${kind.name} has marks, and no text`)
  return { kind, name: dialect.table(kind.name), columns, indexes, text, hasMarks }
}

/** Returns the key of a record that is to be written. */
export function keyOf(table: Table, record: object): string {
  const key = table.kind.key(record as never)
  if (!isKey(key)) {
    throw new Error(`a ${table.kind.name} has no usable key: ${JSON.stringify(key)}`)
  }
  return key
}

/** Whether a record can have this key. A lookup of anything else finds nothing. */
export const isKey = (key: string): boolean =>
  typeof key === 'string' && key !== '' && isStorable(key, KEY_BYTES_MAX)

/** Whether a text column can hold this. */
export const isColumnText = (value: string): boolean => isStorable(value, COLUMN_BYTES_MAX)

// PostgreSQL stores no zero character, and half a surrogate pair has no bytes.
const isStorable = (text: string, bytesMax: number): boolean =>
  (text.length * UTF8_BYTES_MAX <= bytesMax || Buffer.byteLength(text) <= bytesMax) &&
  !text.includes('\0') &&
  text.isWellFormed()

export function columnValuesOf(table: Table, record: object): SqlValue[] {
  return table.columns.map(({ name, type }) => {
    const value = table.kind.columns[name]!.of(record as never) ?? null
    const isRight =
      value === null ||
      (type === 'number'
        ? typeof value === 'number' && Number.isFinite(value)
        : typeof value === 'string' && isColumnText(value))
    if (!isRight) {
      const shown = JSON.stringify(value)?.slice(0, 100)
      throw new Error(`${name} of a ${table.kind.name} cannot be ${shown} in a column of ${type}`)
    }
    return value
  })
}

export const fieldWordsOf = (table: Table, record: object): (TableText & { words: string[] })[] =>
  table.text.map((field) => ({
    ...field,
    words: wordsOf(table.kind.text[field.name]!.of(record as never) ?? ''),
  }))

const MARK = /^[a-z0-9_]{1,60}$/

/** The marks of a record, each once, as they are indexed: no word begins like that. */
export function marksOf(table: Table, record: object): string[] {
  const marks = [...new Set(table.kind.marks?.(record as never))]
  return marks.map((mark) => indexedMark(table, mark))
}

export function indexedMark(table: Table, mark: string): string {
  if (!MARK.test(mark)) throw new Error(`${mark} cannot be a mark of a ${table.kind.name}`)
  return `_${mark}`
}

function checkNames(kind: AnyKind, names: readonly string[]): void {
  const wrong = names.find((name) => !COLUMN_NAME.test(name))
  if (wrong !== undefined) throw new Error(`${wrong} cannot name a column of ${kind.name}`)
  if (new Set(names.map((name) => name.toLowerCase())).size < names.length) {
    throw new Error(`columns of ${kind.name} have names that differ in case alone`)
  }
}

function indexName(kind: AnyKind, columns: readonly string[]): string {
  const name = `${kind.name}.${columns.join('.')}`
  if (name.length <= INDEX_NAME_MAX) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 12)
  return `${kind.name}.${digest}`
}
