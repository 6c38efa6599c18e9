// What was acknowledged survives kill -9, and no transaction is torn.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPostgres } from '../../resolvers/kernel/store-postgres.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import type { Records, Store } from '../../resolvers/kernel/store.ts'
import { postgresUrl } from '../postgres.ts'
import { half } from './crash-records.ts'
import { testFolder, testPool, testSchema } from './engines.ts'

const KILLS = 20
const ACKNOWLEDGED_MAX = 120
const PAGE = 10_000
const TIME_MS_MAX = 120_000

const WRITER = join(import.meta.dirname, 'crash-writer.ts')

test(
  'twenty kills lose nothing on sqlite',
  async () => {
    const file = join(await testFolder(), 'crash.db')

    await killAndLook(['sqlite', file, '-'], () => openSqlite({ file, kinds: [half] }))
  },
  TIME_MS_MAX,
)

test(
  'twenty kills lose nothing on postgres',
  async () => {
    const schema = await testSchema()
    const pool = await testPool()

    await killAndLook(['postgres', await postgresUrl(), schema], () =>
      openPostgres({ pool, schema, kinds: [half] }),
    )
  },
  TIME_MS_MAX,
)

/** Kills a writer again and again on the same database, and looks at it each time. */
async function killAndLook(database: string[], open: () => Promise<Store>): Promise<void> {
  const seed = randomInt(2 ** 31)
  console.log(`${database[0]}: kill moments from seed ${seed}`)
  const random = generator(seed)
  const acknowledged: string[] = []
  const cache = await testFolder()
  for (let run = 0; run < KILLS; run += 1) {
    const parameters = [...database, `run${run}`]
    const atLeast = 1 + random(ACKNOWLEDGED_MAX)
    acknowledged.push(...(await writeUntilKilled({ parameters, atLeast, cache })))

    const store = await open()
    // In one transaction, since the server may still be at what a dead writer had sent.
    const { left, right, found } = await store.transaction(async (tx) => ({
      left: await pairsOf(tx, 'left'),
      right: await pairsOf(tx, 'right'),
      found: await tx.search(half, { words: `run${run}`, limit: 1 }),
    }))
    const check = store.engine === 'sqlite' ? await store.sql('PRAGMA integrity_check') : []
    await store.close()

    expect(acknowledged.filter((pair) => !left.has(pair) || !right.has(pair))).toEqual([])
    expect(left).toEqual(right)
    expect(found.total).toBe([...left].filter((pair) => pair.startsWith(`run${run}-`)).length * 2)
    expect(check).toEqual(store.engine === 'sqlite' ? [{ integrity_check: 'ok' }] : [])
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS)
}

/** Returns the pairs that were acknowledged, of which there are at least so many. */
async function writeUntilKilled({
  parameters,
  atLeast,
  cache,
}: {
  parameters: readonly string[]
  atLeast: number
  cache: string
}): Promise<string[]> {
  const writer = spawn(process.execPath, [WRITER, ...parameters], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  })
  let output = ''
  let complaint = ''
  let lines = 0
  writer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    lines += chunk.split('\n').length - 1
    if (lines >= atLeast) writer.kill('SIGKILL')
  })
  writer.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint += chunk
  })
  const [, signal] = await once(writer, 'close')
  if (signal !== 'SIGKILL') throw new Error(`the writer ended by itself: ${complaint}`)
  // The last line may have been cut; what was not said in full was not acknowledged.
  return output.split('\n').slice(0, -1)
}

async function pairsOf(tx: Records, side: 'left' | 'right'): Promise<Set<string>> {
  const pairs = new Set<string>()
  let after: string | undefined
  do {
    const page = await tx.list(half, { where: { side }, after, limit: PAGE })
    for (const { pair } of page.items) pairs.add(pair)
    after = page.next
  } while (after !== undefined)
  return pairs
}

/** Pseudo-random whole numbers below a limit: the same for the same seed. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
