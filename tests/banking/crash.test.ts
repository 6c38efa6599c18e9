// kill -9 in the middle: the books balance, and every acknowledged payment is there once.
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '../../resolvers/kernel/store.ts'
import { testFolder, testPool, testSchema } from '../kernel/engines.ts'
import { postgresUrl } from '../postgres.ts'
import { violations } from './bank.ts'
import { generator } from './random.ts'
import { openPostgresBank, openSqliteBank } from './stores.ts'

const KILLS = 3
const ACKNOWLEDGED_MAX = 300
const TIME_MS_MAX = 120_000
const PAYER = join(import.meta.dirname, 'crash-payer.ts')

test(
  'kills lose no acknowledged payment on sqlite',
  async () => {
    const file = join(await testFolder(), 'bank.db')

    await killAndLook(['sqlite', file, '-'], () => openSqliteBank(file))
  },
  TIME_MS_MAX,
)

test(
  'kills lose no acknowledged payment on postgres',
  async () => {
    const schema = await testSchema()
    const pool = await testPool()

    await killAndLook(['postgres', await postgresUrl(), schema], () =>
      openPostgresBank(pool, schema),
    )
  },
  TIME_MS_MAX,
)

async function killAndLook(database: string[], open: () => Promise<Store>): Promise<void> {
  const seed = randomInt(2 ** 31)
  console.log(`${database[0]}: kill moments from seed ${seed}`)
  const random = generator(seed)
  const acknowledged = new Map<string, number>()
  const cache = await testFolder()
  for (let run = 0; run < KILLS; run += 1) {
    const atLeast = 1 + random(ACKNOWLEDGED_MAX)
    const lines = await payUntilKilled([...database, `run${run}`], atLeast, cache)
    for (const line of lines) {
      const [id, requestId] = line.split(' ') as [string, string]
      acknowledged.set(requestId, Number(id))
    }

    const store = await open()
    const rows = await store.sql(
      `SELECT id, request, details FROM entry WHERE request IS NOT NULL ORDER BY id`,
    )
    const booked = new Map(rows.map((row) => [JSON.parse(row.details).description, row.id]))
    const wrong = [...acknowledged].filter(
      ([requestId, id]) => booked.get(requestId) !== (id + 1) / 2,
    )
    const found = await violations(store)
    await store.close()

    expect(wrong).toEqual([])
    expect(booked.size).toBe(rows.length)
    expect(found).toEqual([])
  }
  expect(acknowledged.size).toBeGreaterThanOrEqual(KILLS)
}

/** Returns the payments that were acknowledged, of which there are at least so many. */
async function payUntilKilled(
  parameters: readonly string[],
  atLeast: number,
  cache: string,
): Promise<string[]> {
  const payer = spawn(process.execPath, [PAYER, ...parameters], {
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  })
  let output = ''
  let complaint = ''
  let lines = 0
  payer.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    lines += chunk.split('\n').length - 1
    if (lines >= atLeast) payer.kill('SIGKILL')
  })
  payer.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint += chunk
  })
  const [, signal] = await once(payer, 'close')
  if (signal !== 'SIGKILL') throw new Error(`the payer ended by itself: ${complaint}`)
  // The last line may have been cut; what was not said in full was not acknowledged.
  return output.split('\n').slice(0, -1)
}
