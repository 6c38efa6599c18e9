// The tables of a store, each with the statements that never change.
import { randomBytes } from 'node:crypto'
import { columnValuesOf, tableOf } from './kind-table.ts'
import type { AnyKind, Dialect, Table } from './kind-table.ts'
import { setVersion } from './store.ts'
import type { Kind, SqlRow, SqlValue } from './store.ts'

const VERSION_BYTES = 6

export interface Tables {
  readonly dialect: Dialect
  readonly newVersion: () => string
  /** Refuses a kind that the store was not opened with. */
  of(kind: unknown): RecordTable
  readonly all: readonly RecordTable[]
}

export interface RecordTable extends Table {
  readonly statements: {
    readonly get: string
    readonly getMany: string
    readonly insert: string
    readonly save: string
    readonly replace: string
    readonly remove: string
    /** Writes what is computed from a record, and leaves its body and version alone. */
    readonly fill: string
  }
}

export function tablesOf(kinds: readonly AnyKind[], dialect: Dialect): Tables {
  const byKind = new Map<unknown, RecordTable>()
  for (const kind of new Set(kinds)) {
    const table = tableOf(kind, dialect)
    byKind.set(kind, { ...table, statements: statementsOf(table, dialect) })
  }
  const all = [...byKind.values()]
  if (new Set(all.map((table) => table.name)).size < all.length) {
    throw new Error('two kinds of this store have the same name')
  }
  return {
    dialect,
    newVersion: versionMaker(),
    all,
    of(kind) {
      const table = byKind.get(kind)
      if (table) return table
      throw new Error(
        `${(kind as AnyKind).name} is not among the kinds that this store opened with`,
      )
    },
  }
}

/** All that a row holds beside key, version and body. */
export const computedOf = ({ dialect }: Tables, table: Table, record: object): SqlValue[] => [
  ...columnValuesOf(table, record),
  ...(table.text.length > 0 ? dialect.text.values(table, record) : []),
]

export function recordOf<T extends object>(_kind: Kind<T>, row: SqlRow): T {
  const record: T = JSON.parse(row['body'])
  setVersion(record, row['version'])
  return record
}

function statementsOf(table: Table, dialect: Dialect): RecordTable['statements'] {
  const textColumns = table.text.length > 0 ? dialect.text.columns(table) : []
  const computed = [
    ...table.columns.map(({ sqlName }) => ({ name: sqlName, placeholder: '?' })),
    ...textColumns,
  ]
  const names = ['key', 'version', 'body', ...computed.map(({ name }) => name)]
  const placeholders = ['?', '?', '?', ...computed.map(({ placeholder }) => placeholder)]
  const sets = names.map((name, at) => `${name} = ${placeholders[at]}`)
  const returning = `RETURNING ${dialect.rowId}`
  const insert = `INSERT INTO ${table.name} (${names.join(', ')}) VALUES (${placeholders.join(', ')})`
  const replaced = names.slice(1).map((name) => `${name} = excluded.${name}`)
  const filled = sets.slice(3).join(', ') || 'key = key'
  return {
    get: `SELECT version, body FROM ${table.name} WHERE key = ?`,
    getMany: `SELECT key, version, body FROM ${table.name} WHERE ${dialect.keyIsAmong}`,
    insert: `${insert} ON CONFLICT (key) DO NOTHING ${returning}`,
    save: `${insert} ON CONFLICT (key) DO UPDATE SET ${replaced.join(', ')} ${returning}`,
    replace: `UPDATE ${table.name} SET ${sets.join(', ')} WHERE key = ? AND version = ? ${returning}`,
    remove: `DELETE FROM ${table.name} WHERE key = ? ${returning}`,
    fill: `UPDATE ${table.name} SET ${filled} WHERE key = ? ${returning}`,
  }
}

// The random part tells processes apart, so a version never comes back, not even after the record
// was removed and made again.
function versionMaker(): () => string {
  const prefix = randomBytes(VERSION_BYTES).toString('base64url')
  let count = 0
  return () => prefix + (count += 1).toString(36)
}
