// SQLite in a process of its own, a message in and one out. Beside specification 3, service Q.
//
// 1. The process has no files, no environment and no children: it is started with Node's permissions
//    closed. It gets a database as bytes and gives it back as bytes.
// 2. Whoever asked ends it when it takes too long. Nothing else stops SQLite in the middle of a
//    statement, not even ending its thread.
// 3. A database is bytes that a caller made, and its schema is not trusted.
import { constants, DatabaseSync } from 'node:sqlite'
import type { SQLInputValue, StatementSync } from 'node:sqlite'

export interface SqlRequest {
  /** Absent where nothing was ever written. */
  readonly bytes?: Uint8Array | undefined
  readonly statements: readonly string[]
  /** For the only statement, by place or by name. */
  readonly parameters?: readonly SqlScalar[] | Readonly<Record<string, SqlScalar>> | undefined
  readonly isReadOnly: boolean
  readonly sizeBytesMax: number
  readonly rowsMax: number
  readonly resultBytesMax: number
  /** Looks whether the bytes are a sound database, before anything else. */
  readonly isImport?: boolean
}

export type SqlScalar = string | number | bigint | null | Uint8Array

export interface SqlRefusal {
  readonly why: 'error' | 'forbidden' | 'read-only' | 'full' | 'unsound'
  readonly message: string
  /** Which statement, counted from 1. */
  readonly statement?: number
}

export interface StatementResult {
  readonly columns: readonly { readonly name: string; readonly type: string | null }[]
  readonly rows: readonly (readonly SqlScalar[])[]
  /** Whether there were more rows, or larger ones, than an answer holds. */
  readonly hasMoreRows: boolean
  readonly changes: number
}

export type SqlAnswer = { readonly cpuMs: number } & (
  | { readonly refusal: SqlRefusal }
  | {
      readonly results: readonly StatementResult[]
      /** What the database is now, if it may have changed. */
      readonly bytes?: Uint8Array
    }
)

const LIMITS = {
  length: 8 * 1024 * 1024,
  sqlLength: 256 * 1024,
  column: 500,
  exprDepth: 200,
  compoundSelect: 100,
  vdbeOp: 1_000_000,
  functionArg: 127,
  attach: 0,
  likePatternLength: 5_000,
  variableNumber: 1_000,
  triggerDepth: 50,
}

const SETTINGS = `PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;
  PRAGMA cell_size_check = ON; PRAGMA foreign_keys = ON`

const {
  SQLITE_OK,
  SQLITE_DENY,
  SQLITE_PRAGMA,
  SQLITE_FUNCTION,
  SQLITE_CREATE_VTABLE,
  SQLITE_SELECT,
  SQLITE_READ,
  SQLITE_RECURSIVE,
  SQLITE_TRANSACTION,
  SQLITE_SAVEPOINT,
} = constants

const READING = new Set([
  SQLITE_SELECT,
  SQLITE_READ,
  SQLITE_RECURSIVE,
  SQLITE_TRANSACTION,
  SQLITE_SAVEPOINT,
])
const WRITING = new Set([
  constants.SQLITE_INSERT,
  constants.SQLITE_UPDATE,
  constants.SQLITE_DELETE,
  constants.SQLITE_CREATE_INDEX,
  constants.SQLITE_CREATE_TABLE,
  constants.SQLITE_CREATE_TRIGGER,
  constants.SQLITE_CREATE_VIEW,
  constants.SQLITE_CREATE_TEMP_INDEX,
  constants.SQLITE_CREATE_TEMP_TABLE,
  constants.SQLITE_CREATE_TEMP_TRIGGER,
  constants.SQLITE_CREATE_TEMP_VIEW,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_TRIGGER,
  constants.SQLITE_DROP_VIEW,
  constants.SQLITE_DROP_TEMP_INDEX,
  constants.SQLITE_DROP_TEMP_TABLE,
  constants.SQLITE_DROP_TEMP_TRIGGER,
  constants.SQLITE_DROP_TEMP_VIEW,
  constants.SQLITE_DROP_VTABLE,
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_REINDEX,
  constants.SQLITE_ANALYZE,
])
// Those that look at a database and change nothing. What describes a table takes its name as a value;
// the others are allowed without a value alone, since with one they would set it.
const PRAGMAS = new Set([
  'application_id',
  'collation_list',
  'data_version',
  'encoding',
  'foreign_keys',
  'freelist_count',
  'integrity_check',
  'max_page_count',
  'page_count',
  'page_size',
  'quick_check',
  'schema_version',
  'table_list',
  'user_version',
])
const PRAGMAS_OF_TABLES = new Set([
  'foreign_key_check',
  'foreign_key_list',
  'index_info',
  'index_list',
  'index_xinfo',
  'table_info',
  'table_list',
  'table_xinfo',
])
const FORBIDDEN_FUNCTIONS = new Set(['load_extension', 'fts3_tokenizer'])
const VIRTUAL_TABLES = new Set(['fts5', 'rtree'])

const SQLITE_FULL = 13
/** Where the header says by which journal a database is written: 1 for one in a file of its own. */
const JOURNAL_BYTES = [18, 19] as const

process.on('message', (request: SqlRequest) => {
  process.send!(answer(request))
})
process.on('disconnect', () => process.exit())
process.send!('ready')

function answer(request: SqlRequest): SqlAnswer {
  const db = new DatabaseSync(':memory:', { defensive: true, limits: LIMITS })
  const cpu = process.cpuUsage()
  const cpuMs = () => Math.ceil((process.cpuUsage(cpu).user + process.cpuUsage(cpu).system) / 1000)
  const outcome: { statement?: number; denied?: SqlRefusal; hasWritten: boolean } = {
    hasWritten: false,
  }
  try {
    load(db, request)
    if (request.isImport) return { results: [], bytes: db.serialize(), cpuMs: cpuMs() }
    watch(db, request, outcome)
    const results = runAll(db, request, outcome)
    if (db.isTransaction) {
      const message = 'A transaction was begun and not ended. Add COMMIT or ROLLBACK.'
      return { refusal: { why: 'error', message }, cpuMs: cpuMs() }
    }
    return { results, ...(outcome.hasWritten && { bytes: db.serialize() }), cpuMs: cpuMs() }
  } catch (error) {
    return { refusal: refusalOf(error, request, outcome), cpuMs: cpuMs() }
  } finally {
    db.close()
  }
}

function load(db: DatabaseSync, { bytes, sizeBytesMax, isImport }: SqlRequest): void {
  if (bytes) {
    if (isImport) for (const at of JOURNAL_BYTES) bytes[at] = 1
    db.deserialize(bytes)
  }
  db.exec(SETTINGS)
  const pageSize = db.prepare('PRAGMA page_size').get()!['page_size'] as number
  db.exec(`PRAGMA max_page_count = ${Math.floor(sizeBytesMax / pageSize)}`)
  if (!isImport) return
  const problems = db.prepare('PRAGMA quick_check(1)').all()
  if (problems[0]?.['quick_check'] !== 'ok') throw new Error(String(problems[0]?.['quick_check']))
}

function refusalOf(
  error: unknown,
  { isImport }: SqlRequest,
  { denied, statement }: { denied?: SqlRefusal; statement?: number },
): SqlRefusal {
  const { message, errcode } = error as Error & { errcode?: number }
  if (isImport) return { why: 'unsound', message }
  const place = statement === undefined ? {} : { statement }
  if (denied) return { ...denied, ...place }
  return { why: errcode === SQLITE_FULL ? 'full' : 'error', message, ...place }
}

/** Lets SQLite do what is listed, and nothing that is not. */
function watch(
  db: DatabaseSync,
  { isReadOnly }: SqlRequest,
  outcome: { denied?: SqlRefusal; hasWritten: boolean },
): void {
  const deny = (why: SqlRefusal['why'], message: string) => {
    outcome.denied ??= { why, message }
    return SQLITE_DENY
  }
  db.setAuthorizer((action, first, second, database) => {
    if (READING.has(action)) return SQLITE_OK
    if (action === SQLITE_FUNCTION) {
      return FORBIDDEN_FUNCTIONS.has((second ?? '').toLowerCase())
        ? deny('forbidden', `The function ${second} may not be called.`)
        : SQLITE_OK
    }
    if (action === SQLITE_PRAGMA) {
      const name = (first ?? '').toLowerCase()
      const isAllowed = PRAGMAS_OF_TABLES.has(name) || (second === null && PRAGMAS.has(name))
      return isAllowed
        ? SQLITE_OK
        : deny('forbidden', `PRAGMA ${first} may not be used${second === null ? '' : ' so'}.`)
    }
    const isVirtual = action === SQLITE_CREATE_VTABLE
    if (isVirtual && !VIRTUAL_TABLES.has((second ?? '').toLowerCase())) {
      return deny('forbidden', `Virtual tables of ${second} may not be made.`)
    }
    if (!isVirtual && !WRITING.has(action)) {
      return deny('forbidden', 'ATTACH, DETACH and VACUUM may not be used.')
    }
    if (database === 'temp') return SQLITE_OK
    if (isReadOnly) return deny('read-only', 'The database can only be read.')
    outcome.hasWritten = true
    return SQLITE_OK
  })
}

function runAll(
  db: DatabaseSync,
  { statements, parameters, rowsMax, resultBytesMax }: SqlRequest,
  outcome: { statement?: number },
): StatementResult[] {
  const room = { rows: rowsMax, bytes: resultBytesMax }
  return statements.map((sql, at) => {
    outcome.statement = at + 1
    const statement = db.prepare(sql)
    statement.setReadBigInts(true)
    return runOne(db, statement, parameters, room)
  })
}

interface Room {
  rows: number
  bytes: number
}

function runOne(
  db: DatabaseSync,
  statement: StatementSync,
  parameters: SqlRequest['parameters'],
  room: Room,
): StatementResult {
  const values = Array.isArray(parameters) ? parameters : parameters ? [parameters] : []
  const columns = statement.columns().map(({ name, type }) => ({ name, type }))
  const before = totalChanges(db)
  const rows: SqlScalar[][] = []
  let hasMoreRows = false
  if (columns.length === 0) statement.run(...(values as SQLInputValue[]))
  else {
    statement.setReturnArrays(true)
    for (const row of statement.iterate(...(values as SQLInputValue[]))) {
      const found = row as unknown as SqlScalar[]
      room.rows -= 1
      room.bytes -= sizeOf(found)
      hasMoreRows = room.rows < 0 || room.bytes < 0
      if (hasMoreRows) break
      rows.push(found)
    }
  }
  return { columns, rows, hasMoreRows, changes: totalChanges(db) - before }
}

const totalChanges = (db: DatabaseSync) =>
  db.prepare('SELECT total_changes() AS changes').get()!['changes'] as number

const sizeOf = (row: readonly SqlScalar[]) =>
  row.reduce<number>((sum, value) => {
    if (typeof value === 'string') return sum + Buffer.byteLength(value)
    return sum + (value instanceof Uint8Array ? value.length : 8)
  }, 0)
