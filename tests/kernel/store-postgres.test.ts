// What PostgreSQL alone does: a pool that stores share, schemas of their own, races that repeat.
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { kind, numberOf, textOf } from '../../resolvers/kernel/store.ts'
import type { Migration } from '../../resolvers/kernel/store.ts'
import { openPool } from '../../resolvers/kernel/postgres-pool.ts'
import { openPostgres } from '../../resolvers/kernel/store-postgres.ts'
import { postgresUrl } from '../postgres.ts'
import { testPool, testSchema } from './engines.ts'

interface Counter {
  readonly id: string
  readonly value: number
}

const counter = kind<Counter>('counter', {
  key: (record) => record.id,
  columns: {
    value: numberOf((record) => record.value),
    parity: textOf((record) => (record.value % 2 === 0 ? 'even' : 'odd')),
  },
  indexes: [['parity', 'value']],
})

const notes: Migration = {
  number: 1,
  name: 'notes',
  up: async (tx) => void (await tx.sql('CREATE TABLE note (text TEXT)')),
}
const migrations = [{ set: 'test', list: [notes] }]

const open = async (schema: string, pool?: pg.Pool) => {
  const store = await openPostgres({
    pool: pool ?? (await testPool()),
    schema,
    kinds: [counter],
    migrations,
  })
  onTestFinished(() => store.close())
  return store
}

describe('the pool', () => {
  test('a pool whose sessions are not serializable is refused', async () => {
    const pool = new pg.Pool({ connectionString: await postgresUrl() })
    onTestFinished(() => pool.end())

    await expect(open(await testSchema(), pool)).rejects.toThrow('open it with openPool')
  })

  test('closing a store leaves the pool to the others', async () => {
    const pool = await testPool()
    const one = await open(await testSchema())
    const other = await open(await testSchema())

    await one.close()

    await expect(one.get(counter, 'a')).rejects.toThrow('this store is closed')
    expect(await other.insert(counter, { id: 'a', value: 1 })).toBe(true)
    expect(pool.ended).toBe(false)
  })

  test('one connection is enough for everything', async () => {
    const pool = openPool(await postgresUrl(), { max: 1 })
    onTestFinished(() => pool.end())
    const store = await open(await testSchema(), pool)

    await Promise.all([
      store.transaction((tx) => tx.insert(counter, { id: 'a', value: 1 })),
      store.sql(`INSERT INTO note VALUES ('x')`),
      store.removeMany(counter, { limit: 1 }),
    ])

    expect(await store.sql('SELECT text FROM note')).toEqual([{ text: 'x' }])
  })

  test('a step that throws gives its connection back in order', async () => {
    const pool = openPool(await postgresUrl(), { max: 1 })
    onTestFinished(() => pool.end())
    const store = await open(await testSchema(), pool)
    const session = async () => (await store.sql('SELECT pg_backend_pid() AS pid'))[0]!['pid']
    const before = await session()

    await store.transaction(() => Promise.reject(new Error('refused'))).catch(() => {})
    await store.sql('SELECT * FROM nowhere').catch(() => {})

    expect(await session()).toBe(before)
  })

  test('a connection that is cut fails its transaction, and the next one has another', async () => {
    const store = await open(await testSchema())

    const cut = store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      await tx.sql('SELECT pg_terminate_backend(pg_backend_pid())')
    })

    await expect(cut).rejects.toThrow()
    expect(await store.get(counter, 'a')).toBeUndefined()
    expect(await store.insert(counter, { id: 'a', value: 2 })).toBe(true)
  })
})

describe('schemas', () => {
  test('the same plain SQL reaches the tables of each store', async () => {
    const pool = openPool(await postgresUrl(), { max: 1 })
    onTestFinished(() => pool.end())
    const stores = [await open(await testSchema(), pool), await open(await testSchema(), pool)]

    for (const [at, store] of stores.entries()) {
      await store.sql('INSERT INTO note VALUES (?)', [`alone ${at}`])
      await store.transaction((tx) => tx.sql('INSERT INTO note VALUES (?)', [`inside ${at}`]))
      await store.insert(counter, { id: 'a', value: at })
    }

    for (const [at, store] of stores.entries()) {
      expect(await store.sql('SELECT text FROM note ORDER BY text')).toEqual([
        { text: `alone ${at}` },
        { text: `inside ${at}` },
      ])
      expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: at })
    }
  })

  test('a name that would need care is refused', async () => {
    await expect(open('a"b')).rejects.toThrow('cannot name a schema')
  })
})

describe('races', () => {
  test('what lost a race ran again, and is counted', async () => {
    const store = await open(await testSchema())
    await store.insert(counter, { id: 'a', value: 0 })
    const bothRead = Promise.withResolvers<void>()
    let reads = 0
    const increment = () =>
      store.transaction(async (tx) => {
        const { value } = (await tx.get(counter, 'a'))!
        if ((reads += 1) === 2) bothRead.resolve()
        await bothRead.promise
        await tx.save(counter, { id: 'a', value: value + 1 })
      })

    await Promise.all([increment(), increment()])

    expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: 2 })
    expect([reads, store.stats().repeats]).toEqual([3, 1])
  })

  test('a write that stands alone does not slip under a transaction', async () => {
    const schema = await testSchema()
    const store = await open(schema)
    const other = await open(schema)
    await store.insert(counter, { id: 'a', value: 1 })
    let attempts = 0

    await store.transaction(async (tx) => {
      attempts += 1
      const { value } = (await tx.get(counter, 'a'))!
      if (attempts === 1) await other.save(counter, { id: 'a', value: 5 })
      await tx.save(counter, { id: 'a', value: value + 1 })
    })

    expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: 6 })
    expect(attempts).toBe(2)
  })

  test('a row met in the moment in which another transaction ends is tried again', async () => {
    const store = await open(await testSchema())
    let tries = 0
    const failOnce = (said: string) => {
      tries = 0
      return store.transaction(async (tx) => {
        tries += 1
        const fail = `DO $$ BEGIN RAISE EXCEPTION '${said}' USING ERRCODE = 'XX000'; END $$`
        if (tries === 1) await tx.sql(fail)
      })
    }

    await failOnce('new multixact has more than one updating member: 0 3')
    expect(tries).toBe(2)
    await expect(failOnce('something else is broken')).rejects.toThrow('something else is broken')
    expect(tries).toBe(1)
  })

  test('a step that always loses is given up', async () => {
    const store = await open(await testSchema())
    let attempts = 0

    const failed = store.transaction(async (tx) => {
      attempts += 1
      await tx.sql(`DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '40001'; END $$`)
    })

    await expect(failed).rejects.toThrow('lost 30 races, and was given up')
    expect(attempts).toBe(30)
  })

  test('a list is read along its index, without sorting', async () => {
    const schema = await testSchema()
    const store = await open(schema)
    await store.transaction(async (tx) => {
      for (let value = 0; value < 300; value += 1) {
        await tx.insert(counter, { id: `n${value}`, value })
      }
    })

    // The server does so by itself, sooner or later.
    await store.sql('ANALYZE counter')

    for (const condition of ['(by_value, key) > (5, $$n5$$)', 'by_value IS NULL', 'true']) {
      const plan = await store.sql(`EXPLAIN (COSTS OFF) SELECT key, version, body
        FROM ${schema}.counter WHERE by_parity = 'even' AND ${condition}
        ORDER BY by_value ASC NULLS FIRST, key ASC LIMIT 5`)
      const text = plan.map((row) => row['QUERY PLAN']).join('\n')
      expect(text).toContain('Index Scan using "counter.parity.value"')
      expect(text).not.toContain('Sort')
    }
  })
})
