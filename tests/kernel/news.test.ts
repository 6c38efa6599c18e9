// What was announced reaches those who follow, once it is committed and not before.
import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import {
  changeOf,
  newsInProcess,
  tellingCommits,
  type Change,
} from '../../resolvers/kernel/news.ts'
import { newsOverPostgres } from '../../resolvers/kernel/news-postgres.ts'
import { openPool } from '../../resolvers/kernel/postgres-pool.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import { postgresUrl } from '../postgres.ts'

const announced = (subject: string) => ({
  type: 'hsm.module.changed',
  subject,
  body: { id: subject, size: 7, isNew: true, more: { id: 'inner' } },
})
const changed = (subject: string): Change => ({
  service: 'hsm',
  type: 'hsm.module.changed',
  names: [subject, '7'],
})

test('a change names its subject and the plain values of its body', () => {
  expect(changeOf('hsm', announced('one'))).toEqual(changed('one'))
})

test('a transaction tells when it is committed, and nothing when it is undone', async () => {
  const told: string[] = []
  const memory = await openSqlite({ file: ':memory:', kinds: [] })
  onTestFinished(() => memory.close())
  const { store, announced: note } = tellingCommits(memory, (all) =>
    told.push(...all.map(({ subject }) => subject)),
  )
  let inside: string[] | undefined

  await store.transaction(async (tx) => {
    note(tx, [announced('one')])
    note(tx, [announced('two')])
    inside = [...told]
  })
  const undone = store.transaction(async (tx) => {
    note(tx, [announced('three')])
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  note(store, [announced('four')])

  expect(inside).toEqual([])
  expect(told).toEqual(['one', 'two', 'four'])
})

test('in a process all followers hear of everything', async () => {
  const news = newsInProcess()
  const heard: (Change | undefined)[] = []
  await news.follow((change) => void heard.push(change))
  await news.follow((change) => void heard.push(change))

  news.tell('hsm', [announced('one')])

  expect(heard).toEqual([changed('one'), changed('one')])
})

async function openNews() {
  const pool = openPool(await postgresUrl(), { max: 2 })
  const failures: unknown[] = []
  const news = newsOverPostgres({ pool, onFailure: (error) => failures.push(error) })
  onTestFinished(async () => {
    await news.close()
    await pool.end()
  })
  return { news, failures }
}

const wait = (check: () => void) => vi.waitFor(check, { interval: 5, timeout: 5_000 })

test('processes that share a PostgreSQL hear of each other, however much there is', async () => {
  const [one, other] = [await openNews(), await openNews()]
  const heard: (Change | undefined)[] = []
  await other.news.follow((change) => void heard.push(change))
  const many = Array.from({ length: 300 }, (_, i) => `module-${i}-${'x'.repeat(50)}`)

  one.news.tell('hsm', many.map(announced))
  await wait(() => expect(heard.length).toBe(300))
  one.news.tell('hsm', [announced('y'.repeat(8_000))])
  await wait(() => expect(heard.length).toBe(301))

  expect(heard.slice(0, 300)).toEqual(many.map(changed))
  expect(heard[300]).toBeUndefined()
})

test('a connection that broke is made again, and those who follow learn that they missed something', async () => {
  const { news, failures } = await openNews()
  const heard: (Change | undefined)[] = []
  await news.follow((change) => void heard.push(change))
  const client = new pg.Client(await postgresUrl())
  await client.connect()
  onTestFinished(() => client.end())

  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query = 'LISTEN polygraph_news' AND datname = current_database()`)
  await wait(() => expect(heard).toEqual([undefined]))
  news.tell('hsm', [announced('one')])
  await wait(() => expect(heard).toEqual([undefined, changed('one')]))

  expect(failures).toHaveLength(1)
})
