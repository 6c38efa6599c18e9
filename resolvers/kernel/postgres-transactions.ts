// Transactions on PostgreSQL: one attempt on one connection, and what loses a race runs again.
import type { AsyncLocalStorage } from 'node:async_hooks'
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import type { Sql } from './kind-table.ts'
import type { statementsIn } from './postgres-pool.ts'
import { recordsOn } from './records.ts'
import { quoted } from './sql-text.ts'
import type { Records } from './store.ts'
import type { Tables } from './tables.ts'

const ATTEMPTS_MAX = 30
const BACK_OFF_FIRST_MS = 1
const BACK_OFF_MAX_MS = 100

// Serialization failure and deadlock: nothing happened, and it may go better next time.
const LOST_RACES: ReadonlySet<string | undefined> = new Set(['40001', '40P01'])

const broken = new WeakSet<pg.PoolClient>()

export type Step<R> = (tx: Records, sql: Sql) => Promise<R>

export interface Ground {
  readonly schema: string
  readonly tables: Tables
  readonly ask: ReturnType<typeof statementsIn>
  readonly inside: AsyncLocalStorage<{ isOpen: boolean }>
}

/** Runs one attempt of a transaction. */
export async function transactionOn<R>(
  client: pg.PoolClient,
  { schema, tables, ask, inside }: Ground,
  step: Step<R>,
): Promise<R> {
  const mark = { isOpen: true }
  let failure: { error: unknown } | undefined
  let last: Promise<unknown> = Promise.resolve()

  // A connection takes one statement at a time, and a step may ask for several at once.
  const sql: Sql = (text, values) => {
    if (!mark.isOpen) throw new Error('this transaction has ended')
    const answer = last.then(() => ask(client, text, values))
    last = answer.catch((error: unknown) => {
      failure ??= { error }
    })
    return answer
  }

  await client.query(`BEGIN; SET LOCAL search_path TO ${quoted(schema)}`)
  try {
    const result = await inside.run(mark, () => step(recordsOn(tables, sql), sql))
    mark.isOpen = false
    await last
    // PostgreSQL would answer COMMIT with a rollback, and without an error.
    if (failure) throw failure.error
    await client.query('COMMIT')
    return result
  } catch (error) {
    mark.isOpen = false
    await last
    // Where even that fails, nobody can know what the connection is in the middle of.
    await client.query('ROLLBACK').catch(() => broken.add(client))
    // A step may have wrapped the error that says the race was lost.
    throw failure && isLostRace(failure.error) ? failure.error : error
  }
}

// The statement under way reports it too; without a listener Node would end the process.
const ignore = () => {}

/** Lends a connection. The pool itself drops one that was closed from the other end. */
export async function withClient<R>(
  pool: pg.Pool,
  use: (client: pg.PoolClient) => Promise<R>,
): Promise<R> {
  const client = await pool.connect()
  client.on('error', ignore)
  try {
    return await use(client)
  } finally {
    client.off('error', ignore)
    client.release(broken.has(client))
  }
}

const isLostRace = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && (LOST_RACES.has(error.code) || isMeeting(error))

/**
 * Rarely, once in some hundred thousand transactions, PostgreSQL meets a row in the moment in which
 * another transaction ends that changed it, and calls that an internal error. The statement failed, so
 * nothing happened.
 */
const isMeeting = ({ code, message }: pg.DatabaseError): boolean =>
  code === 'XX000' && message.startsWith('new multixact has more than one updating member')

/** Runs what loses a race again, up to a limit. */
export function raceRunner() {
  let repeats = 0
  // Those who lost run one after the other, so that they do not make each other lose again.
  let line: Promise<unknown> = Promise.resolve()

  async function repeat<R>(run: () => Promise<R>): Promise<R> {
    for (let attempt = 2; attempt <= ATTEMPTS_MAX; attempt += 1) {
      repeats += 1
      const backOff = Math.min(BACK_OFF_FIRST_MS * 2 ** attempt, BACK_OFF_MAX_MS)
      await setTimeout(randomInt(backOff + 1))
      try {
        const turn = line.then(run)
        line = turn.catch(() => {})
        return await turn
      } catch (error) {
        if (!isLostRace(error)) throw error
      }
    }
    throw new Error(`a transaction lost ${ATTEMPTS_MAX} races, and was given up`)
  }

  return {
    async run<R>(run: () => Promise<R>): Promise<R> {
      try {
        return await run()
      } catch (error) {
        if (!isLostRace(error)) throw error
        return await repeat(run)
      }
    },
    get repeats() {
      return repeats
    },
  }
}
