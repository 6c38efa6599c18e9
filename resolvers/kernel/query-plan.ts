// A query as SQL: the index that answers it, its conditions, and the place where a page begins.
//
// 1. Every index ends with the key, so each order is total and a page begins at an exact place.
// 2. Nothing sorts before everything, in an order that rises.
import { isColumnText, isKey } from './kind-table.ts'
import type { Dialect, Table, TableColumn } from './kind-table.ts'
import { quoted } from './sql-text.ts'
import type { Query, SqlValue, TextQuery } from './store.ts'

const LIMIT_MAX = 10_000
const LAST_CODE_POINT = 0x10ffff
const SURROGATES = { before: 0xd7ff, after: 0xe000 }

export interface Plan {
  /** The table, held to the index. */
  readonly from: string
  readonly order: string
  /** Read one after the other until the page is full. No segments, no records. */
  readonly segments: readonly Segment[]
}

export interface Segment {
  readonly conditions: readonly string[]
  readonly values: readonly SqlValue[]
}

type Bounds = Omit<Query, 'limit'>

/** Plans a page. Throws when no declared index answers the query. */
export function planList(table: Table, query: Query, dialect: Dialect): Plan {
  checkLimit(query.limit)
  checkOffset(query)
  const index = indexFor(table, query, (length, wanted) => length === wanted)
  const direction = query.descending ? 'DESC' : 'ASC'
  const column = query.order === undefined ? undefined : columnOf(table, query.order)
  const nulls = query.descending ? 'NULLS LAST' : 'NULLS FIRST'
  const order = column
    ? `${column.sqlName} ${direction} ${nulls}, key ${direction}`
    : `key ${direction}`
  const fixed = conditionsOf(table, query)
  const segments = fixed ? placesAfter(query, column).map((place) => both(fixed, place)) : []
  return { from: fromOf(table, index, dialect), order, segments }
}

/** Plans a count, for which the order does not matter. */
export function planCount(table: Table, query: Bounds, dialect: Dialect): Omit<Plan, 'order'> {
  const index = indexFor(table, query, (length, wanted) => length >= wanted)
  const fixed = conditionsOf(table, query)
  return { from: fromOf(table, index, dialect), segments: fixed ? [fixed] : [] }
}

/** The conditions that columns equal values; undefined when nothing stored can. */
export function equalities(table: Table, where: Query['where'] = {}): Segment | undefined {
  const conditions: string[] = []
  const values: SqlValue[] = []
  for (const [name, value] of Object.entries(where)) {
    const column = columnOf(table, name)
    checkType(column, value)
    if (typeof value === 'string' && !isColumnText(value)) return undefined
    conditions.push(`${column.sqlName} = ?`)
    values.push(value)
  }
  return { conditions, values }
}

/** The conditions that columns of numbers lie within bounds. */
export function boundsOf(table: Table, bounds: TextQuery['bounds'] = {}): Segment {
  const conditions: string[] = []
  const values: SqlValue[] = []
  for (const [name, { from, below }] of Object.entries(bounds)) {
    const column = columnOf(table, name)
    for (const [value, operator] of [
      [from, '>='],
      [below, '<'],
    ] as const) {
      if (value === undefined) continue
      checkType(column, value)
      conditions.push(`${column.sqlName} ${operator} ?`)
      values.push(value)
    }
  }
  return { conditions, values }
}

export function checkLimit(limit: number): void {
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) {
    throw new Error(`a limit is a whole number from 1 to ${LIMIT_MAX}, and not ${limit}`)
  }
}

function checkOffset({ offset = 0, after }: Query): void {
  if (!Number.isSafeInteger(offset) || offset < 0 || (offset > 0 && after !== undefined)) {
    throw new Error(`a page does not begin after ${offset} records and at a position as well`)
  }
}

export const whereOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`

/** Returns the name of the index, or undefined for the order of keys. */
function indexFor(
  table: Table,
  query: Bounds,
  fits: (length: number, wanted: number) => boolean,
): string | undefined {
  const fixed = Object.keys(query.where ?? {})
  for (const name of fixed) columnOf(table, name)
  const order = fixed.includes(query.order ?? '') ? undefined : query.order
  if (query.order === undefined && (query.from !== undefined || query.below !== undefined)) {
    throw new Error(`from and below bound the column of order, and ${table.kind.name} got no order`)
  }
  if (order !== undefined && query.prefix !== undefined) {
    throw new Error(`a prefix goes with the order of keys, and not with ${order}`)
  }
  const wanted = order === undefined ? fixed : [...fixed, order]
  if (wanted.length === 0) return undefined
  const found = table.indexes.find(
    ({ columns }) =>
      fits(columns.length, wanted.length) &&
      fixed.every((name) => columns.indexOf(name) < fixed.length && columns.includes(name)) &&
      (order === undefined || columns[fixed.length] === order),
  )
  if (found) return found.name
  throw new Error(`${table.kind.name} needs an index [${wanted.join(', ')}] for this query`)
}

const fromOf = (table: Table, index: string | undefined, dialect: Dialect): string =>
  index === undefined ? table.name : `${table.name} ${dialect.indexedBy(quoted(index))}`

function conditionsOf(table: Table, query: Bounds): Segment | undefined {
  const equal = equalities(table, query.where)
  if (!equal) return undefined
  const conditions = [...equal.conditions]
  const values = [...equal.values]
  for (const [bound, operator] of [
    [query.from, '>='],
    [query.below, '<'],
  ] as const) {
    if (bound === undefined) continue
    const column = columnOf(table, query.order!)
    checkType(column, bound)
    conditions.push(`${column.sqlName} ${operator} ?`)
    values.push(bound)
  }
  if (query.prefix !== undefined && query.prefix !== '') {
    if (!isKey(query.prefix)) return undefined
    conditions.push('key >= ?')
    values.push(query.prefix)
    const end = afterPrefix(query.prefix)
    if (end !== undefined) {
      conditions.push('key < ?')
      values.push(end)
    }
  }
  return { conditions, values }
}

// What is empty compares with nothing in SQL, so an order that holds some is read in two segments,
// each a stretch of the index. A bound leaves out what is empty.
function placesAfter(query: Query, column: TableColumn | undefined): Segment[] {
  const everything = [{ conditions: [], values: [] }]
  if (query.after === undefined) return everything
  const operator = query.descending ? '<' : '>'
  const position = readPosition(query.after, column)
  if (!column) return [{ conditions: [`key ${operator} ?`], values: [position.key] }]
  const { sqlName } = column
  const isEmpty = { conditions: [`${sqlName} IS NULL`], values: [] }
  if (position.value === null) {
    const rest = {
      conditions: [`${sqlName} IS NULL`, `key ${operator} ?`],
      values: [position.key],
    }
    return query.descending
      ? [rest]
      : [rest, { conditions: [`${sqlName} IS NOT NULL`], values: [] }]
  }
  const rest = {
    conditions: [`(${sqlName}, key) ${operator} (?, ?)`],
    values: [position.value, position.key],
  }
  const isBounded = query.from !== undefined || query.below !== undefined
  return query.descending && !isBounded ? [rest, isEmpty] : [rest]
}

function readPosition(after: string, column: TableColumn | undefined) {
  const parts: unknown = JSON.parse(after)
  if (!Array.isArray(parts) || parts.length !== (column ? 2 : 1)) {
    throw new Error(`${after} is not a position in this order`)
  }
  const key: unknown = parts.at(-1)
  const value: unknown = column ? parts[0] : null
  if (typeof key !== 'string' || (value !== null && typeof value !== typeIn(column!))) {
    throw new Error(`${after} is not a position in this order`)
  }
  return { key, value: value as string | number | null }
}

const both = (one: Segment, other: Segment): Segment => ({
  conditions: [...one.conditions, ...other.conditions],
  values: [...one.values, ...other.values],
})

function columnOf(table: Table, name: string): TableColumn {
  const column = table.columns.find((column) => column.name === name)
  if (!column) throw new Error(`${table.kind.name} declares no column ${name}`)
  return column
}

const typeIn = (column: TableColumn) => (column.type === 'number' ? 'number' : 'string')

function checkType(column: TableColumn, value: unknown): void {
  if (typeof value !== typeIn(column) || Number.isNaN(value)) {
    throw new Error(`${column.name} is a ${column.type} and cannot be ${String(value)}`)
  }
}

/**
 * The first text, by bytes, that is after everything with this prefix. Returns undefined when there
 * is none. The order of bytes in UTF-8 is the order of code points.
 */
function afterPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (letter) => letter.codePointAt(0)!)
  while (points.at(-1) === LAST_CODE_POINT) points.pop()
  const last = points.pop()
  if (last === undefined) return undefined
  const next = last === SURROGATES.before ? SURROGATES.after : last + 1
  return String.fromCodePoint(...points, next)
}
