// Payments against bare transactions of as many rows, on the same store and in the same group commit; then
// random operations on both engines, whose books must be right after every batch.
//
// npm run bench -- banking. BANK_OPERATIONS says how many random operations each engine gets, and BANK_SEED
// from which seed, so that a run can be repeated.
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../gateway/embedded-postgres.ts'
import { openPool } from '../resolvers/kernel/postgres-pool.ts'
import { perform } from '../resolvers/kernel/operation.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import type { Store } from '../resolvers/kernel/store.ts'
import { operations } from '../resolvers/banking/payments.ts'
import { openLedger, type Ledger } from '../tests/banking/ledger.ts'
import { runRandomly } from '../tests/banking/random.ts'
import { openPostgresBank, openSqliteBank } from '../tests/banking/stores.ts'
import { compare, passedTime } from './measure.ts'

const ROUNDS = 7
const ACCOUNTS = 50
const CALLS = { calls: 5_000, together: 128 }
const OPERATIONS_SQLITE = 200_000
const OPERATIONS_POSTGRES = 200_000

type Open = (file: string) => Promise<Store>

export async function benchBanking(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  const directory = await mkdtemp(join(tmpdir(), 'polygraph-bench-postgres-'))
  const isFast = await measurePayments(folder)
  const server = await startPostgres({
    directory,
    settings: { fsync: 'off', synchronous_commit: 'off' },
  })
  const pool = openPool(server.url)
  const areRight = [
    await runOn('sqlite', OPERATIONS_SQLITE, () =>
      openSqliteBank(join(folder, 'random.db'), 'OFF'),
    ),
    await runOn('postgres', OPERATIONS_POSTGRES, () => openPostgresBank(pool, 'random')),
  ]
  await pool.end()
  await server.stop()
  for (const used of [folder, directory]) await rm(used, { recursive: true, force: true })
  return isFast && areRight.every(Boolean)
}

async function runOn(engine: string, usual: number, openStore: () => Promise<Store>) {
  const seed = Number(process.env.BANK_SEED ?? randomInt(2 ** 31))
  const operations = Number(process.env.BANK_OPERATIONS ?? usual)
  const open = async () => {
    const store = await openStore()
    return { store, ledger: await openLedger(store) }
  }
  const startMs = performance.now()
  try {
    const { done, refused, entries } = await runRandomly({ seed, operations, open })
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(
      `ok     ${operations} random operations on ${engine} from seed ${seed}: ${done} done, ${refused} refused, ${entries} entries, every book right. ${seconds} s`,
    )
    return true
  } catch (error) {
    console.log(`MISSED random operations on ${engine}: ${String(error)}`)
    return false
  }
}

async function measurePayments(folder: string): Promise<boolean> {
  const open: Open = (file) => openSqliteBank(join(folder, file))
  const ledger = await openLedger(await open('payments.db'))
  const pay = await payerOf(ledger)
  const bare = await bareTransactions(join(folder, 'bare.db'))
  const isFast = await compare({
    title: `payments, ${CALLS.together} together, against bare transactions of as many rows`,
    atLeast: 0.3,
    rounds: ROUNDS,
    ours: () => rateOf(pay),
    theirs: () => rateOf(bare.run),
    unit: 'a second of processor time',
  })
  await ledger.close()
  await bare.close()
  return isFast
}

/** What else runs on the machine does not count. */
async function rateOf(call: (i: number) => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await passedTime(call, CALLS)
  const { user, system } = process.cpuUsage(before)
  return CALLS.calls / ((user + system) / 1e6)
}

/** Payments as a client sends them, each with a request id: checked, booked, announced, remembered. */
async function payerOf(ledger: Ledger): Promise<(i: number) => Promise<unknown>> {
  const accounts = await ledger.accounts(ACCOUNTS, 100_000_00)
  const create = operations.find(({ name }) => name === 'createPayment')!
  let sent = 0
  return (i) => {
    const from = accounts[i % ACCOUNTS]!
    const to = accounts[(i * 7 + 1) % ACCOUNTS]!
    const input = {
      userId: from.userId,
      monetaryAccountId: from.id,
      amount: { value: '0.01', currency: 'EUR' },
      counterparty_alias: { type: 'IBAN', value: to.iban },
      description: 'A payment',
      'X-Vendor-Client-Request-Id': `request-${(sent += 1)}`,
    }
    return perform(create, input, ledger.ctx)
  }
}

/** As many rows as a payment writes: an entry, an event, two balances. */
async function bareTransactions(file: string) {
  const store = await openSqlite({ file, kinds: [] })
  await store.sql('CREATE TABLE added (id INTEGER PRIMARY KEY, body TEXT NOT NULL)')
  await store.sql(
    'CREATE TABLE changed (id INTEGER PRIMARY KEY, value INTEGER NOT NULL, body TEXT NOT NULL)',
  )
  const body = 'x'.repeat(400)
  for (let i = 0; i < ACCOUNTS; i += 1) {
    await store.sql('INSERT INTO changed (value, body) VALUES (0, ?)', [body])
  }
  const change = 'UPDATE changed SET value = value + ? WHERE id = ?'
  const add = 'INSERT INTO added (body) VALUES (?)'
  return {
    run: (i: number) =>
      store.transaction(async (tx) => {
        await tx.sql(change, [-1, 1 + (i % ACCOUNTS)])
        await tx.sql(change, [1, 1 + ((i * 7 + 1) % ACCOUNTS)])
        await tx.sql(add, [body])
        await tx.sql(add, [body])
      }),
    close: () => store.close(),
  }
}

if (import.meta.main) process.exit((await benchBanking()) ? 0 : 1)
