// Brings the table of each kind to what the kind declares now.
//
// Columns, indexes and text are computed from the records, so a change of the declaration needs no
// migration: what is new is computed again for every record. It happens in two parts with the
// migrations between them. The first makes the tables fit, so that migrations can use them; the
// second computes, by which time the records have the meaning that the declaration expects.
//
// A function is compared by its source. What it calls is not: a change there needs a migration that
// saves the records again.
import { createHash } from 'node:crypto'
import type { Sql, Table } from './kind-table.ts'
import { quoted } from './sql-text.ts'
import { computedOf } from './tables.ts'
import type { RecordTable, Tables } from './tables.ts'

const BATCH = 500

/** A table as it was last made to be. */
interface Shape {
  readonly columns: Readonly<Record<string, { type: 'text' | 'number'; source: string }>>
  readonly indexes: Readonly<Record<string, readonly string[]>>
  /** The source of all text, or empty. */
  readonly text: string
}

const NOTHING: Shape = { columns: {}, indexes: {}, text: '' }

/** Makes and alters tables, in one transaction. */
export async function fitTables(tables: Tables, sql: Sql): Promise<void> {
  const kinds = tables.dialect.table('polygraph_kind')
  const { text } = tables.dialect.types
  await sql(
    `CREATE TABLE IF NOT EXISTS ${kinds}
     (name ${text} PRIMARY KEY, shape ${text} NOT NULL, is_filled ${text} NOT NULL)`,
    [],
  )
  for (const table of tables.all) {
    const rows = await sql(`SELECT shape, is_filled FROM ${kinds} WHERE name = ?`, [
      table.kind.name,
    ])
    const before: Shape = rows.length === 0 ? NOTHING : JSON.parse(rows[0]!['shape'])
    const after = shapeOf(table)
    if (rows.length > 0 && JSON.stringify(before) === JSON.stringify(after)) continue
    if (rows.length === 0) await createTable(tables, sql, table)
    const isNewText = before.text !== after.text
    if (isNewText && before.text !== '') await tables.dialect.text.drop(sql, table)
    await alterColumns(tables, sql, { table, before, after })
    if (isNewText && after.text !== '') await tables.dialect.text.create(sql, table)
    const isFilled = !isNewText && !hasNewColumns(before, after) && rows[0]?.['is_filled'] !== 'no'
    await sql(
      `INSERT INTO ${kinds} (name, shape, is_filled) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET shape = excluded.shape, is_filled = excluded.is_filled`,
      [table.kind.name, JSON.stringify(after), isFilled ? 'yes' : 'no'],
    )
  }
}

/** Computes what is new for every record of one table, in one transaction. */
export async function fillTable(tables: Tables, sql: Sql, table: RecordTable): Promise<void> {
  const kinds = tables.dialect.table('polygraph_kind')
  const rows = await sql(`SELECT is_filled FROM ${kinds} WHERE name = ?`, [table.kind.name])
  if (rows[0]!['is_filled'] === 'yes') return
  let after = ''
  for (;;) {
    const batch = await sql(
      `SELECT key, body FROM ${table.name} WHERE key > ? ORDER BY key LIMIT ?`,
      [after, BATCH],
    )
    for (const { key, body } of batch) {
      const record: object = JSON.parse(body)
      const written = await sql(table.statements.fill, [...computedOf(tables, table, record), key])
      if (table.text.length > 0) await tables.dialect.text.put(sql, table, written[0]!, record)
    }
    if (batch.length < BATCH) break
    after = batch.at(-1)!['key']
  }
  await sql(`UPDATE ${kinds} SET is_filled = 'yes' WHERE name = ?`, [table.kind.name])
}

async function createTable({ dialect }: Tables, sql: Sql, table: Table): Promise<void> {
  const { text } = dialect.types
  await sql(
    `CREATE TABLE ${table.name} (${dialect.idColumns}, version ${text} NOT NULL, body ${text} NOT NULL)
     ${dialect.engine === 'sqlite' ? 'STRICT' : ''}`,
    [],
  )
}

async function alterColumns(
  { dialect }: Tables,
  sql: Sql,
  { table, before, after }: { table: Table; before: Shape; after: Shape },
): Promise<void> {
  const isKept = (name: string) => before.columns[name]?.type === after.columns[name]?.type
  const isKeptIndex = (name: string) =>
    before.indexes[name] && after.indexes[name] && before.indexes[name].every(isKept)

  for (const name of Object.keys(before.indexes)) {
    if (!isKeptIndex(name)) await sql(dialect.dropIndex(quoted(name)), [])
  }
  for (const name of Object.keys(before.columns)) {
    if (isKept(name)) continue
    await sql(`ALTER TABLE ${table.name} DROP COLUMN ${quoted(`by_${name}`)}`, [])
  }
  for (const { name, sqlName, type } of table.columns) {
    if (isKept(name)) continue
    await sql(`ALTER TABLE ${table.name} ADD COLUMN ${sqlName} ${dialect.types[type]}`, [])
  }
  for (const { name, columns } of table.indexes) {
    if (isKeptIndex(name)) continue
    const parts = columns.map((column) => `${quoted(`by_${column}`)} ASC${nullsFirst(dialect)}`)
    await sql(`CREATE INDEX ${quoted(name)} ON ${table.name} (${parts.join(', ')}, key)`, [])
  }
}

// SQLite sorts so by itself, and its CREATE INDEX does not accept the words.
const nullsFirst = ({ engine }: Tables['dialect']): string =>
  engine === 'postgres' ? ' NULLS FIRST' : ''

const hasNewColumns = (before: Shape, after: Shape): boolean =>
  Object.entries(after.columns).some(
    ([name, column]) =>
      before.columns[name]?.type !== column.type || before.columns[name].source !== column.source,
  )

function shapeOf({ kind, columns, indexes, text }: Table): Shape {
  return {
    columns: Object.fromEntries(
      columns.map(({ name, type }) => [
        name,
        { type, source: digest(String(kind.columns[name]!.of)) },
      ]),
    ),
    indexes: Object.fromEntries(indexes.map(({ name, columns }) => [name, columns])),
    text: [
      ...text.map((field) => digest(JSON.stringify(field) + kind.text[field.name]!.of)),
      ...(kind.marks ? [digest(String(kind.marks))] : []),
      ...(kind.hasQuickPrefixes === false ? ['no quick prefixes'] : []),
    ].join(' '),
  }
}

const digest = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, 12)
