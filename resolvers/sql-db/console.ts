// SQL on what a database holds. Beside specification 3, service Q; in the graph alone.
//
// 1. SQL runs in a process of its own (sql-process.ts), on a copy of the content, outside of any
//    transaction. What it changed is written afterwards, all of it or nothing.
// 2. It is written only if the content is still the one that was copied; otherwise the statements run
//    again. Statements on one database take turns in this process, so that this is rare.
// 3. Time, rows, bytes and statements have limits, and so has what SQL may do.
import { z } from 'zod'
import type { BlobVersion } from '../kernel/blobs.ts'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { use } from './auto-pause.ts'
import {
  blobKeyOf,
  checkReadable,
  checkWritable,
  CONTENT_BYTES_MAX,
  contentMaxOf,
  EMPTY,
  writeContent,
} from './content.ts'
import {
  ContentConflict,
  DatabaseFull,
  DatabaseReadOnly,
  InvalidContent,
  SqlError,
  SqlForbidden,
} from './errors.ts'
import { databaseKeyOf, databases, missing } from './places.ts'
import type { SqlDatabase } from './shapes.ts'
import type { SqlRefusal, SqlScalar, StatementResult } from './sql-process.ts'
import { openSqlRunner } from './sql-runner.ts'
import { statementsOf } from './statements.ts'
import { turnTaker } from './turns.ts'

const STATEMENTS_MAX = 100
const PARAMETERS_MAX = 1_000
const ROWS_MAX = 1_000
const RESULT_BYTES_MAX = 1024 * 1024
/** How often statements run again because the content changed under them. */
const ATTEMPTS_MAX = 10

const runner = openSqlRunner()
const takeTurn = turnTaker()

/** Bytes are an object that says so, since JSON has none. */
const bytes = z.object({ base64: text.regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64') })
const scalar = z.union([text, z.number(), z.boolean(), z.null(), bytes])
const parameters = z.union(
  [
    z.array(scalar).max(PARAMETERS_MAX, `must be at most ${PARAMETERS_MAX} values`),
    z.record(text, scalar),
  ],
  'must be a list or an object of text, numbers, true, false, null or {"base64": "…"}',
)

export const operations = [
  operation({
    name: 'executeSql',
    input: { id: text, sql: text, parameters: optional(parameters) },
    run: (input, ctx) => execute(input, ctx),
  }),
]

interface Execution {
  readonly id: string
  readonly sql: string
  readonly parameters?: z.output<typeof parameters> | undefined
}

/** Runs one statement, or a script that happens as a whole or not at all. */
async function execute({ id, sql, parameters }: Execution, ctx: Context) {
  const key = databaseKeyOf(id, ctx)
  const statements = statementsOf(sql)
  if (statements.length === 0 || statements.length > STATEMENTS_MAX) {
    throw Invalid(`sql must be 1 to ${STATEMENTS_MAX} statements.`)
  }
  if (parameters !== undefined && statements.length > 1) {
    throw Invalid('parameters belong to one statement. Send the statements one by one.')
  }
  const values = parameters && valuesOf(parameters)
  return takeTurn(key, async () => {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const done = await attemptOnce(key, id, { statements, parameters: values }, ctx)
      if (done) return done
    }
    throw ContentConflict('Others changed the database all the while. Try again in a moment.')
  })
}

/** Undefined when the content changed meanwhile. */
async function attemptOnce(
  key: string,
  id: string,
  asked: { statements: readonly string[]; parameters: ReturnType<typeof valuesOf> | undefined },
  ctx: Context,
) {
  const database = await open(key, id, ctx)
  const content = await readContent(ctx, database)
  if (content === 'gone') return undefined
  const answer = await runner.run({
    ...asked,
    bytes: content?.bytes,
    isReadOnly: database.held.primary !== undefined,
    sizeBytesMax: contentMaxOf(database),
    rowsMax: ROWS_MAX,
    resultBytesMax: RESULT_BYTES_MAX,
  })
  if ('refusal' in answer) throw faultOf(answer.refusal, database)
  const results = answer.results.map(shownResult)
  const version = content?.version
  if (!answer.bytes) return { results, ...shownVersion(version) }
  const written = await commit(key, ctx, { bytes: answer.bytes, from: version?.version })
  return written && { results, ...shownVersion(written) }
}

/** The database, ready to be used: one that paused by itself resumes. */
async function open(key: string, id: string, ctx: Context): Promise<SqlDatabase> {
  const found = await ctx.store.get(databases, key)
  if (!found) throw missing(id)
  if (found.properties.autoPauseDelay === undefined) {
    checkReadable(found)
    return found
  }
  return ctx.store.transaction(async (tx) => {
    const database = await tx.get(databases, key)
    if (!database) throw missing(id)
    const used = await use(database, { tx, ctx })
    checkReadable(used)
    return used
  })
}

/** The newest content, if anything was ever written; `gone` when it was replaced meanwhile. */
async function readContent(ctx: Context, database: SqlDatabase) {
  const version = await ctx.blobs.latest(ctx.store, blobKeyOf(database))
  if (!version) return undefined
  const bytes = await ctx.blobs.read(ctx.store, blobKeyOf(database), version.version)
  return bytes ? { bytes, version } : ('gone' as const)
}

const commit = (
  key: string,
  ctx: Context,
  change: { bytes: Uint8Array; from: number | undefined },
): Promise<BlobVersion | undefined> =>
  ctx.store.transaction(async (tx) => {
    const database = await tx.get(databases, key)
    if (!database) return undefined
    checkWritable(database)
    return writeContent(tx, ctx, database, change)
  })

/**
 * Makes bytes that came from elsewhere the content of a database. They are opened first, in the
 * process that runs SQL.
 */
export async function replaceContent(key: string, bytes: Uint8Array, ctx: Context) {
  const answer = await runner.run({
    bytes,
    statements: [],
    isReadOnly: true,
    isImport: true,
    sizeBytesMax: CONTENT_BYTES_MAX,
    rowsMax: 0,
    resultBytesMax: 0,
  })
  if ('refusal' in answer) {
    throw InvalidContent(`The bytes are not a sound SQLite database: ${answer.refusal.message}.`)
  }
  return ctx.store.transaction(async (tx) => {
    const database = await tx.get(databases, key)
    if (!database) throw missing(key)
    checkWritable(database)
    const from = (await ctx.blobs.latest(tx, blobKeyOf(database)))?.version
    return writeContent(tx, ctx, database, { bytes: answer.bytes!, from })
  })
}

function faultOf({ why, message, statement }: SqlRefusal, database: SqlDatabase) {
  const place = statement === undefined ? '' : `Statement ${statement}: `
  const details = { details: { statement } }
  if (why === 'forbidden') return SqlForbidden(place + message, details)
  if (why === 'read-only') {
    return DatabaseReadOnly(`The database ${database.name} is a secondary and can only be read.`)
  }
  if (why === 'full') {
    return DatabaseFull(
      `${place}the database would hold more than ${contentMaxOf(database)} bytes.`,
      details,
    )
  }
  return SqlError(`${place}${message}.`.replace(/\.\.$/, '.'), details)
}

export const shownVersion = (version: Pick<BlobVersion, 'version' | 'sizeBytes'> | undefined) => ({
  contentVersion: version?.version ?? EMPTY,
  sizeBytes: version?.sizeBytes ?? 0,
})

function shownResult({ rows, ...result }: StatementResult) {
  return { ...result, rows: rows.map((row) => row.map(shownScalar)) }
}

/** As JSON has it: whole numbers that a number cannot hold are text. */
function shownScalar(value: SqlScalar): unknown {
  if (typeof value === 'bigint') {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  }
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value
}

function valuesOf(sent: NonNullable<Execution['parameters']>) {
  if (Array.isArray(sent)) return sent.map(valueOf)
  return Object.fromEntries(Object.entries(sent).map(([name, value]) => [name, valueOf(value)]))
}

function valueOf(value: z.output<typeof scalar>): SqlScalar {
  if (typeof value === 'boolean') return value ? 1 : 0
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'string' || value === null) return value
  return new Uint8Array(Buffer.from(value.base64, 'base64'))
}
