// Connections to PostgreSQL, which the stores of all services in a process share.
import { createHash } from 'node:crypto'
import pg from 'pg'
import type { SqlParameter } from './kind-table.ts'
import { dollarsOf } from './sql-text.ts'
import type { SqlRow } from './store.ts'

const CONNECTIONS_MAX = 10
const CONNECT_MS_MAX = 10_000
const STATEMENT_MS_MAX = 30_000
const IDLE_IN_TRANSACTION_MS_MAX = 10_000
const STATEMENTS_MAX = 1000

// Every statement is serializable, also one that stands alone: PostgreSQL protects a transaction
// only from others that are. Where tables are small it would rather read them whole, and then each
// write to a table conflicts with each read; without that, only those of the same records do.
const SESSION = {
  default_transaction_isolation: 'serializable',
  enable_seqscan: 'off',
  statement_timeout: STATEMENT_MS_MAX,
  idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS_MAX,
}

export type Queryable = Pick<pg.PoolClient, 'query'>

/** A pool whose sessions are set as the stores need them. The caller ends it. */
export function openPool(url: string, { max = CONNECTIONS_MAX } = {}): pg.Pool {
  const options = Object.entries(SESSION).map(([name, value]) => `-c ${name}=${value}`)
  const pool = new pg.Pool({
    connectionString: url,
    max,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    options: options.join(' '),
  })
  // The pool replaces a connection that broke while nobody used it; without a listener Node would
  // end the process.
  pool.on('error', () => {})
  return pool
}

/** Refuses a pool whose sessions would let transactions interfere. */
export async function checkSession(client: Queryable): Promise<void> {
  const { rows } = await client.query('SHOW default_transaction_isolation')
  if (rows[0].default_transaction_isolation !== 'serializable') {
    throw new Error('the sessions of this pool are not serializable: open it with openPool')
  }
}

/**
 * Asks one statement at a time, prepared under a name. A connection keeps what it prepared, so the
 * names are as many as the texts of the kinds, and a service that composes SQL beyond `STATEMENTS_MAX`
 * has it parsed each time. The schema is in the name, since the same text means other tables in it.
 */
export function statementsIn(schema: string) {
  const known = new Map<string, { text: string; name?: string }>()

  function statementOf(text: string): { text: string; name?: string } {
    let statement = known.get(text)
    if (!statement) {
      const dollars = dollarsOf(text)
      if (known.size >= STATEMENTS_MAX) return { text: dollars }
      const digest = createHash('sha256').update(`${schema} ${text}`).digest('base64url')
      known.set(text, (statement = { text: dollars, name: digest }))
    }
    return statement
  }

  return async (client: Queryable, text: string, values: readonly SqlParameter[]) => {
    const query = { ...statementOf(text), values: values as SqlParameter[], types }
    return (await client.query(query)).rows as SqlRow[]
  }
}

const { INT8, NUMERIC } = pg.types.builtins

// Counts and sums come as text, because they may exceed what a number holds. Few do.
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8 || oid === NUMERIC) return numberOf
    return pg.types.getTypeParser(oid, format as 'text')
  }) as typeof pg.types.getTypeParser,
}

function numberOf(text: string): number | bigint {
  const value = Number(text)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(text) ? value : BigInt(text)
}
