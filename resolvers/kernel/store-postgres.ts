// The store for scale: a schema of a PostgreSQL database, reached through a pool that all share.
//
// 1. Every statement is serializable. What loses a race runs again.
// 2. Records are found by qualified names; plain SQL of a service by the search path, which is set
//    for the transaction, or for the connection when a statement stands alone.
import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'
import { fillTable, fitTables } from './kind-changes.ts'
import type { AnyKind, Dialect } from './kind-table.ts'
import { migrate } from './migrations.ts'
import type { MigrationSet } from './migrations.ts'
import { checkSession, statementsIn } from './postgres-pool.ts'
import { raceRunner, transactionOn, withClient } from './postgres-transactions.ts'
import type { Ground, Step } from './postgres-transactions.ts'
import { recordsOn } from './records.ts'
import { isRead, quoted } from './sql-text.ts'
import type { Records, Store } from './store.ts'
import { tablesOf } from './tables.ts'
import { postgresText } from './text-postgres.ts'

const SCHEMA_NAME = /^[a-z][a-z0-9_-]{0,60}$/

export interface PostgresOptions {
  /** From `openPool`. Closing the store leaves it open. */
  readonly pool: pg.Pool
  /** Made when it is missing. */
  readonly schema: string
  readonly kinds: readonly AnyKind[]
  readonly migrations?: readonly MigrationSet[]
}

const dialectOf = (schema: string): Dialect => ({
  engine: 'postgres',
  rowId: 'key',
  idColumns: 'key text COLLATE "C" PRIMARY KEY',
  types: { text: 'text COLLATE "C"', number: 'double precision' },
  table: (name) => `${quoted(schema)}.${quoted(name)}`,
  dropIndex: (name) => `DROP INDEX ${quoted(schema)}.${name}`,
  indexedBy: () => '',
  keyIsAmong: 'key = ANY (?)',
  keysParameter: (keys) => keys,
  text: postgresText,
})

// Which schema a connection looks in for a statement that stands alone.
const searchPaths = new WeakMap<pg.PoolClient, string>()

export async function openPostgres(options: PostgresOptions): Promise<Store> {
  const { pool, schema, kinds, migrations = [] } = options
  if (!SCHEMA_NAME.test(schema)) throw new Error(`${schema} cannot name a schema`)
  const ground = {
    schema,
    tables: tablesOf(kinds, dialectOf(schema)),
    ask: statementsIn(schema),
    inside: new AsyncLocalStorage<{ isOpen: boolean }>(),
  }
  await fitDatabase(pool, ground, migrations)
  return storeOn(pool, ground)
}

function storeOn(pool: pg.Pool, ground: Ground): Store {
  const races = raceRunner()
  const underWay = new Set<Promise<unknown>>()
  const counts = { commits: 0, writes: 0 }
  let isClosed = false

  const asking = async <R>(run: () => Promise<R>): Promise<R> => {
    if (ground.inside.getStore()?.isOpen) throw new Error('inside a transaction, use its tx')
    if (isClosed) throw new Error('this store is closed')
    const running = races.run(run)
    underWay.add(running)
    try {
      return await running
    } finally {
      underWay.delete(running)
    }
  }
  const writing = async <R>(run: () => Promise<R>): Promise<R> => {
    const result = await asking(run)
    counts.commits += 1
    counts.writes += 1
    return result
  }
  const transaction = <R>(step: (tx: Records) => Promise<R>) =>
    writing(() => withClient(pool, (client) => transactionOn(client, ground, step)))
  const single = singlesOn(pool, ground)

  return {
    engine: 'postgres',
    get: (kind, key) => asking(() => single.get(kind, key)),
    getMany: (kind, keys) => asking(() => single.getMany(kind, keys)),
    list: (kind, query) => asking(() => single.list(kind, query)),
    listMany: (kind, queries) => asking(() => single.listMany(kind, queries)),
    count: (kind, query) => asking(() => single.count(kind, query)),
    search: (kind, query) => asking(() => single.search(kind, query)),
    insert: (kind, record) => writing(() => single.insert(kind, record)),
    save: (kind, record, expected) => writing(() => single.save(kind, record, expected)),
    remove: (kind, key) => writing(() => single.remove(kind, key)),
    // This may take two statements.
    removeMany: (kind, query) => transaction((tx) => tx.removeMany(kind, query)),
    sql: (text, parameters) =>
      (isRead(text) ? asking : writing)(() => single.sql(text, parameters)),
    transaction,

    stats: () => ({ ...counts, waiting: underWay.size, repeats: races.repeats }),

    async close() {
      isClosed = true
      // Their callers hear of failures; here it matters only that they have ended.
      await Promise.allSettled(underWay)
    },
  }
}

/** Records through statements that stand alone, each on whichever connection is free. */
const singlesOn = (pool: pg.Pool, { schema, tables, ask }: Ground): Records =>
  recordsOn(
    tables,
    (text, values) => ask(pool, text, values),
    (text, values) =>
      withClient(pool, async (client) => {
        if (searchPaths.get(client) !== schema) {
          await client.query(`SET search_path TO ${quoted(schema)}`)
          searchPaths.set(client, schema)
        }
        return await ask(client, text, values)
      }),
  )

/** Makes the schema fit. Processes that open it at the same time do so one after the other. */
async function fitDatabase(
  pool: pg.Pool,
  ground: Ground,
  migrations: readonly MigrationSet[],
): Promise<void> {
  const { schema, tables } = ground
  await withClient(pool, async (client) => {
    await checkSession(client)
    const races = raceRunner()
    const inTransaction = <R>(step: Step<R>) =>
      races.run(() =>
        transactionOn(client, ground, async (tx, sql) => {
          // To compute columns and to build indexes may take longer than a request may.
          await sql('SET LOCAL statement_timeout = 0', [])
          return await step(tx, sql)
        }),
      )
    await client.query('SET statement_timeout = 0')
    await client.query('SELECT pg_advisory_lock(hashtextextended($1, 0))', [`polygraph ${schema}`])
    await client.query('RESET statement_timeout')
    try {
      await inTransaction(async (_tx, sql) => {
        await sql(`CREATE SCHEMA IF NOT EXISTS ${quoted(schema)}`, [])
        await fitTables(tables, sql)
      })
      await migrate(inTransaction, migrations, tables.dialect)
      for (const table of tables.all) {
        await inTransaction((_tx, sql) => fillTable(tables, sql, table))
      }
    } finally {
      await client.query('SELECT pg_advisory_unlock(hashtextextended($1, 0))', [
        `polygraph ${schema}`,
      ])
    }
  })
}
