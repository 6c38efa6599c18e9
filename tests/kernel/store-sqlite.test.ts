// What SQLite alone does: waiting writes share a commit, and a database may live in memory.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, onTestFinished, test } from 'vitest'
import { kind, numberOf } from '../../resolvers/kernel/store.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import { testFolder } from './engines.ts'

interface Counter {
  readonly id: string
  readonly value: number
}

const counter = kind<Counter>('counter', {
  key: (record) => record.id,
  columns: { value: numberOf((record) => record.value) },
  indexes: [['value']],
})

const open = async (file: string) => {
  const store = await openSqlite({ file, kinds: [counter] })
  onTestFinished(() => store.close())
  return store
}
const openFile = async () => open(join(await testFolder(), 'deep', 'test.db'))

describe('the file', () => {
  test('a file is durable and logs ahead, and its folder is made', async () => {
    const store = await openFile()

    expect(await store.sql('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
    // 2 is FULL.
    expect(await store.sql('PRAGMA synchronous')).toEqual([{ synchronous: 2 }])
  })

  test('a list is read along its index, without sorting', async () => {
    const store = await openFile()

    const plan = await store.sql(`EXPLAIN QUERY PLAN SELECT key FROM counter
      INDEXED BY "counter.value" WHERE (by_value, key) > (1, 'a')
      ORDER BY by_value ASC NULLS FIRST, key ASC LIMIT 5`)

    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH counter USING COVERING INDEX counter.value ((by_value,key)>(?,?))',
    ])
  })

  test('another process may write to the same file', async () => {
    const file = join(await testFolder(), 'test.db')
    const store = await open(file)
    await store.insert(counter, { id: 'a', value: 1 })

    const other = new DatabaseSync(file)
    other.exec(`UPDATE counter SET body = '{"id":"a","value":2}'`)
    other.close()

    expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: 2 })
    expect(await store.save(counter, { id: 'a', value: 3 })).toBe(true)
  })
})

describe('text', () => {
  test('what was removed is gone from the index as well', async () => {
    const noted = kind<Counter>('noted', {
      key: (record) => record.id,
      text: { id: { of: (record) => `note ${record.id}`, weight: 'A', fuzzy: true } },
    })
    const store = await openSqlite({ file: ':memory:', kinds: [noted] })
    onTestFinished(() => store.close())
    for (const id of ['a', 'b', 'c']) await store.insert(noted, { id, value: 1 })

    await store.remove(noted, 'a')
    await store.removeMany(noted, { prefix: 'b', limit: 5 })

    const count = async (table: string, word: string) =>
      (await store.sql(`SELECT count(*) AS count FROM "${table}"(?)`, [word]))[0]!['count']
    expect([await count('noted.words', 'note'), await count('noted.trigrams', 'not')]).toEqual([
      1, 1,
    ])
  })
})

describe('group commit', () => {
  test('two hundred writes at once take few commits', async () => {
    const store = await openFile()
    const before = store.stats()

    await Promise.all(
      Array.from({ length: 200 }, (_, value) => store.insert(counter, { id: `n${value}`, value })),
    )

    const { commits, writes, waiting } = store.stats()
    expect([commits - before.commits, writes - before.writes, waiting]).toEqual([2, 200, 0])
    expect(await store.count(counter)).toBe(200)
  })

  test('writes and transactions keep the order in which they were asked for', async () => {
    const store = await openFile()

    await Promise.all([
      store.save(counter, { id: 'a', value: 1 }),
      store.transaction(async (tx) => {
        const { value } = (await tx.get(counter, 'a'))!
        await tx.save(counter, { id: 'a', value: value * 10 })
      }),
      store.save(counter, { id: 'b', value: 5 }),
      store.transaction(async (tx) => {
        const { value } = (await tx.get(counter, 'b'))!
        await tx.save(counter, { id: 'a', value: (await tx.get(counter, 'a'))!.value + value })
      }),
    ])

    expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: 15 })
  })

  test('a write that fails in a group is undone alone', async () => {
    const store = await openFile()

    const outcomes = await Promise.allSettled([
      store.insert(counter, { id: 'a', value: 1 }),
      store.insert(counter, { id: 'b', value: NaN }),
      store.sql('INSERT INTO counter (key) VALUES (?)', ['c']),
      store.insert(counter, { id: 'd', value: 4 }),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
      'fulfilled',
    ])
    expect((await store.list(counter, { limit: 9 })).items.map(({ id }) => id)).toEqual(['a', 'd'])
  })
})

describe('in memory', () => {
  test('each store is empty at first, and its own', async () => {
    const one = await open(':memory:')
    const other = await open(':memory:')

    await one.insert(counter, { id: 'a', value: 1 })

    expect(await one.get(counter, 'a')).toEqual({ id: 'a', value: 1 })
    expect(await other.get(counter, 'a')).toBeUndefined()
  })

  test('a read waits for the transactions before it, and sees nothing that was undone', async () => {
    const store = await open(':memory:')
    const written = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    const failed = store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      written.resolve()
      await asked.promise
      throw new Error('undone')
    })
    await written.promise

    const read = store.get(counter, 'a')
    asked.resolve()

    await expect(failed).rejects.toThrow('undone')
    expect(await read).toBeUndefined()
  })
})
