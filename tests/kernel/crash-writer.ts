// Writes transactions of two records until it is killed, and says on its output which were
// acknowledged. Run by crash.test.ts: engine, file or address, schema, name of this run.
import { flushCompileCache } from 'node:module'
import type { Store } from '../../resolvers/kernel/store.ts'
import { say } from '../say.ts'
import { half } from './crash-records.ts'

const AT_ONCE = 8

const [engine, place, schema, run] = process.argv.slice(2) as [string, string, string, string]

// Each engine is loaded only where it is used, since this starts often.
const store = engine === 'sqlite' ? await sqlite() : await postgres()

// Node would keep what it compiled when it exits, which this process never does.
flushCompileCache()

let count = 0

async function writeOn(): Promise<never> {
  for (;;) {
    const pair = `${run}-${(count += 1)}`
    await store.transaction(async (tx) => {
      await tx.insert(half, { pair, side: 'left', filler: 'x'.repeat(count % 3000) })
      await tx.insert(half, { pair, side: 'right', filler: 'y' })
    })
    say(pair)
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, writeOn))

async function sqlite(): Promise<Store> {
  const { openSqlite } = await import('../../resolvers/kernel/store-sqlite.ts')
  return openSqlite({ file: place, kinds: [half] })
}

async function postgres(): Promise<Store> {
  const { openPool } = await import('../../resolvers/kernel/postgres-pool.ts')
  const { openPostgres } = await import('../../resolvers/kernel/store-postgres.ts')
  return openPostgres({ pool: openPool(place), schema, kinds: [half] })
}
