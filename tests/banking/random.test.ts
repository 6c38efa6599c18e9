// Random operations on both engines, from a seed that is printed. bench/banking.ts runs many more.
import { randomInt } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { engines } from '../kernel/engines.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { subgraph } from '../../subgraphs/banking.ts'
import { openLedger } from './ledger.ts'
import { runRandomly } from './random.ts'

const OPERATIONS = { sqlite: 3_000, postgres: 700 }
const TIME_MS_MAX = 120_000

async function runOn(engine: (typeof engines)[number], seed: number, operations: number) {
  const database = await engine.database()
  const open = async () => {
    const store = await database.open(kindsOf(subgraph), migrationsOf(subgraph))
    return { store, ledger: await openLedger(store) }
  }
  return runRandomly({ seed, operations, open })
}

describe.each(engines)('on $engine', (engine) => {
  test(
    'random operations leave every book right',
    async () => {
      const seed = randomInt(2 ** 31)
      console.log(`${engine.engine}: random operations from seed ${seed}`)

      const { done, refused } = await runOn(engine, seed, OPERATIONS[engine.engine])

      expect(done + refused).toBe(OPERATIONS[engine.engine])
      expect(done).toBeGreaterThan(OPERATIONS[engine.engine] / 3)
    },
    TIME_MS_MAX,
  )
})

test(
  'the same seed gives the same books',
  async () => {
    const [sqlite] = engines

    const first = await runOn(sqlite!, 7, 600)
    const second = await runOn(sqlite!, 7, 600)

    expect(second).toEqual(first)
  },
  TIME_MS_MAX,
)
