// Pays until it is killed, and says on its output which payments were acknowledged. Run by crash.test.ts:
// engine, file or address, schema, name of this run.
import { flushCompileCache } from 'node:module'
import { operations } from '../../resolvers/banking/payments.ts'
import { perform } from '../../resolvers/kernel/operation.ts'
import { say } from '../say.ts'
import { openLedger } from './ledger.ts'
import { openPostgresBank, openSqliteBank } from './stores.ts'

const AT_ONCE = 16
const ACCOUNTS = 4

const [engine, place, schema, run] = process.argv.slice(2) as [string, string, string, string]
const store = engine === 'sqlite' ? await openSqliteBank(place) : await postgres()
const ledger = await openLedger(store)
const accounts = await ledger.accounts(ACCOUNTS, 5_000)
const create = operations.find(({ name }) => name === 'createPayment')!

// Node would keep what it compiled when it exits, which this process never does.
flushCompileCache()

let count = 0

async function payOn(): Promise<never> {
  for (;;) {
    const n = (count += 1)
    const from = accounts[n % ACCOUNTS]!
    const requestId = `${run}-${n}`
    const { id } = (await perform(
      create,
      {
        userId: from.userId,
        monetaryAccountId: from.id,
        amount: { value: '0.01', currency: 'EUR' },
        counterparty_alias: { type: 'IBAN', value: accounts[(n + 1) % ACCOUNTS]!.iban },
        description: requestId,
        'X-Vendor-Client-Request-Id': requestId,
      },
      ledger.request(),
    )) as { id: number }
    say(`${id} ${requestId}`)
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, payOn))

async function postgres() {
  const { openPool } = await import('../../resolvers/kernel/postgres-pool.ts')
  return openPostgresBank(openPool(place), schema)
}
