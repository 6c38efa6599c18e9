// The embedded store: one SQLite file, one connection that writes and one that reads.
//
// 1. The write-ahead log lets reads go on beside a write; they see what was committed last.
// 2. Writes and transactions take turns, and those that wait share a commit (group-commit.ts).
// 3. Reads that come close together share one look at the database, which ends before a commit.
// 4. A record that is read alone is kept until anything is committed, here or by another process.
// 5. A database in memory has one connection, so there reads take turns as well.
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import { clearTimeout, setTimeout } from 'node:timers'
import { groupCommit } from './group-commit.ts'
import type { Turns } from './group-commit.ts'
import { fillTable, fitTables } from './kind-changes.ts'
import { isKey } from './kind-table.ts'
import type { AnyKind, Dialect, Sql } from './kind-table.ts'
import { migrate } from './migrations.ts'
import type { MigrationSet } from './migrations.ts'
import { recordsOn } from './records.ts'
import { rowCache, type RowCache } from './row-cache.ts'
import { isRead, quoted } from './sql-text.ts'
import type { Records, SqlRow, Store } from './store.ts'
import { recordOf, tablesOf } from './tables.ts'
import type { Tables } from './tables.ts'
import { sqliteText } from './text-sqlite.ts'

const BUSY_MS = 5000
const STATEMENTS_MAX = 500
const TRANSACTION_MS_MAX = 10_000
const LOOK_MS_MAX = 10

export interface SqliteOptions {
  /** `:memory:` for a store that ends with the process. Missing folders are made. */
  readonly file: string
  readonly kinds: readonly AnyKind[]
  readonly migrations?: readonly MigrationSet[]
  /** OFF trusts the operating system to write what the process handed to it. For tests. */
  readonly synchronous?: 'FULL' | 'OFF'
}

const dialect: Dialect = {
  engine: 'sqlite',
  rowId: 'id',
  idColumns: 'id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE',
  types: { text: 'TEXT', number: 'REAL' },
  table: quoted,
  dropIndex: (name) => `DROP INDEX ${name}`,
  indexedBy: (index) => `INDEXED BY ${index}`,
  keyIsAmong: 'key IN (SELECT value FROM json_each(?))',
  keysParameter: (keys) => JSON.stringify(keys),
  text: sqliteText,
}

export async function openSqlite(options: SqliteOptions): Promise<Store> {
  const { file, kinds, migrations = [], synchronous = 'FULL' } = options
  const inMemory = file === ':memory:'
  if (!inMemory) mkdirSync(dirname(file), { recursive: true })
  const tables = tablesOf(kinds, dialect)
  const writer = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    writer.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
    let look: Look | undefined
    const ground = {
      tables,
      turns: groupCommit(writer, () => look?.end()),
      write: statementsOn(writer),
      inside: new AsyncLocalStorage<Mark>(),
    }
    const inTransaction = transactionsOn(ground)
    await inTransaction((_tx, sql) => fitTables(tables, sql))
    await migrate(inTransaction, migrations, dialect)
    for (const table of tables.all) await inTransaction((_tx, sql) => fillTable(tables, sql, table))
    if (!inMemory) look = lookWith(new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS }))
    return storeOn(ground, writer, look)
  } catch (error) {
    writer.close()
    throw error
  }
}

/** Says whether a transaction goes on, to what was begun inside it. */
interface Mark {
  isOpen: boolean
}

interface Ground {
  readonly tables: Tables
  readonly turns: Turns
  readonly write: Statements
  readonly inside: AsyncLocalStorage<Mark>
}

function transactionsOn({ tables, turns, write, inside }: Ground) {
  return <R>(step: (tx: Records, sql: Sql) => Promise<R>): Promise<R> => {
    // The turn may come in the context of another caller, whose marks are not ours.
    const inOwnContext = AsyncLocalStorage.snapshot()

    const run = async () => {
      const mark = { isOpen: true }
      const guarded = guard(mark, write)
      const tx = recordsOn(tables, guarded.sql, guarded.exactSql)
      try {
        const result = await inside.run(mark, () => inTime(step(tx, guarded.sql)))
        if (guarded.failure) throw guarded.failure.error
        return result
      } finally {
        mark.isOpen = false
      }
    }
    return turns.take(() => inOwnContext(run))
  }
}

/** A connection for reads. */
interface Look {
  readonly reader: DatabaseSync
  /** What was read of the state that is looked at. */
  readonly rows: RowCache
  begin(): void
  end(): void
}

/**
 * To begin to look costs several calls to the system, more than a read itself. A look ends before each
 * commit, so that nobody sees less than was acknowledged and the log can be emptied, and after a
 * moment, so that what other processes wrote is seen.
 */
function lookWith(reader: DatabaseSync): Look {
  const begin = reader.prepare('BEGIN')
  const commit = reader.prepare('COMMIT')
  // It counts the commits of all other connections, and so of all that write.
  const state = reader.prepare('PRAGMA data_version')
  state.setReturnArrays(true)
  const rows = rowCache()
  let seen: unknown
  let timer: NodeJS.Timeout | undefined

  function end(): void {
    if (!timer) return
    clearTimeout(timer)
    timer = undefined
    commit.run()
  }
  return {
    reader,
    rows,
    end,
    begin() {
      if (timer) return
      begin.run()
      const [now] = state.get() as unknown as [number]
      if (now !== seen) rows.clear()
      seen = now
      timer = setTimeout(end, LOOK_MS_MAX).unref()
    },
  }
}

function storeOn(ground: Ground, writer: DatabaseSync, look: Look | undefined): Store {
  const { tables, turns, write, inside } = ground
  const read = look ? statementsOn(look.reader) : write
  const reads = recordsOn(tables, read.sql, read.exactSql)
  const writes = recordsOn(tables, write.sql, write.exactSql)
  const inTransaction = transactionsOn(ground)

  const checkOutside = () => {
    if (inside.getStore()?.isOpen) throw new Error('inside a transaction, use its tx')
  }
  const reading = <R>(run: () => Promise<R>): Promise<R> => {
    checkOutside()
    look?.begin()
    return look || turns.isIdle ? run() : turns.take(run, { isOneStatement: true })
  }
  const writing = <R>(kind: unknown, run: () => Promise<R>): Promise<R> => {
    checkOutside()
    const isOneStatement = kind !== undefined && tables.of(kind).text.length === 0
    return turns.take(run, { isOneStatement })
  }

  return {
    engine: 'sqlite',
    // The most frequent call: it goes to the statement by the shortest way.
    async get(kind, key) {
      if (!look) return reading(() => reads.get(kind, key))
      checkOutside()
      look.begin()
      const kept = look.rows.get(kind, key)
      if (kept) return kept as any
      const { statements } = tables.of(kind)
      const row = isKey(key) ? read.one(statements.get, key) : undefined
      if (!row) return undefined
      const [version, body] = row as [string, string]
      const record = recordOf(kind, { version, body })
      look.rows.keep(kind, key, record, body)
      return record
    },
    getMany: async (kind, keys) => reading(() => reads.getMany(kind, keys)),
    list: async (kind, query) => reading(() => reads.list(kind, query)),
    listMany: async (kind, queries) => reading(() => reads.listMany(kind, queries)),
    count: async (kind, query) => reading(() => reads.count(kind, query)),
    search: async (kind, query) => reading(() => reads.search(kind, query)),
    insert: async (kind, record) => writing(kind, () => writes.insert(kind, record)),
    save: async (kind, record, expected) =>
      writing(kind, () => writes.save(kind, record, expected)),
    remove: async (kind, key) => writing(kind, () => writes.remove(kind, key)),
    removeMany: async (kind, query) => writing(undefined, () => writes.removeMany(kind, query)),
    sql: async (text, parameters) =>
      isRead(text)
        ? reading(() => reads.sql(text, parameters))
        : writing(undefined, () => writes.sql(text, parameters)),

    async transaction(step) {
      checkOutside()
      return await inTransaction(step)
    },

    stats: () => ({
      commits: turns.commits,
      writes: turns.taken,
      waiting: turns.waiting,
      repeats: 0,
    }),

    async close() {
      await turns.end()
      if (!writer.isOpen) return
      look?.end()
      look?.reader.close()
      writer.close()
    },
  }
}

interface Statements {
  readonly sql: Sql
  readonly exactSql: Sql
  /** The first row of a statement that takes a key, as a list, which costs less than an object. */
  readonly one: (text: string, key: string) => readonly unknown[] | undefined
}

/** Runs statements that were prepared once, of which it remembers the latest. */
function statementsOn(db: DatabaseSync): Statements {
  const prepared = new Map<string, StatementSync>()

  function prepare(text: string, isExact: boolean): StatementSync {
    const name = isExact ? `exact ${text}` : text
    let statement = prepared.get(name)
    if (!statement) {
      statement = db.prepare(text)
      if (isExact) statement.setReadBigInts(true)
      if (prepared.size >= STATEMENTS_MAX) prepared.delete(prepared.keys().next().value!)
      prepared.set(name, statement)
    }
    return statement
  }

  const sql: Sql = (text, values) =>
    prepare(text, false).all(...(values as SQLInputValue[])) as SqlRow[]

  const lists = new Map<string, StatementSync>()
  function one(text: string, key: string): readonly unknown[] | undefined {
    let statement = lists.get(text)
    // There are as many of these texts as there are kinds.
    if (!statement) {
      lists.set(text, (statement = db.prepare(text)))
      statement.setReturnArrays(true)
    }
    return statement.get(key) as readonly unknown[] | undefined
  }

  const exactSql: Sql = (text, values) => {
    const rows = prepare(text, true).all(...(values as SQLInputValue[])) as SqlRow[]
    return rows.map((row) => {
      for (const name in row) if (typeof row[name] === 'bigint') row[name] = narrowed(row[name])
      return row
    })
  }

  return { sql, exactSql, one }
}

/** A number where it holds the value, as PostgreSQL's are read. */
const narrowed = (value: bigint): number | bigint =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value

/**
 * Refuses statements after the transaction has ended, when they would run in that of another.
 * Remembers the first that failed: a transaction that goes on after it would end differently on
 * PostgreSQL, which refuses to.
 */
function guard(mark: Mark, on: Statements) {
  let failure: { error: unknown } | undefined
  const guarded =
    (sql: Sql): Sql =>
    (text, values) => {
      if (!mark.isOpen) throw new Error('this transaction has ended')
      try {
        return sql(text, values)
      } catch (error) {
        failure ??= { error }
        throw error
      }
    }
  return {
    sql: guarded(on.sql),
    exactSql: guarded(on.exactSql),
    get failure() {
      return failure
    },
  }
}

// A step that waits for something else than its tx would stop every write, so it has a limit.
function inTime<R>(step: Promise<R>): Promise<R> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`a transaction took more than ${TRANSACTION_MS_MAX} ms`)),
      TRANSACTION_MS_MAX,
    )
  })
  return Promise.race([step, late]).finally(() => clearTimeout(timer))
}
