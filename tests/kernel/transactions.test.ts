// Transactions and plain SQL, on both engines.
import { AsyncLocalStorage } from 'node:async_hooks'
import { beforeEach, describe, expect, test } from 'vitest'
import { kind, textOf, versionOf } from '../../resolvers/kernel/store.ts'
import type { Migration, Records, Store } from '../../resolvers/kernel/store.ts'
import { engines } from './engines.ts'

interface Counter {
  readonly id: string
  readonly value: number
  readonly group?: string
}

const counter = kind<Counter>('counter', {
  key: (record) => record.id,
  columns: { group: textOf((record) => record.group) },
  indexes: [['group']],
  text: { id: { of: (record) => record.id, weight: 'A' } },
})

const ledger: Migration = {
  number: 1,
  name: 'ledger',
  async up(tx, engine) {
    const whole = engine === 'postgres' ? 'bigint' : 'INTEGER'
    await tx.sql(
      `CREATE TABLE account (id TEXT PRIMARY KEY, balance ${whole} NOT NULL CHECK (balance >= 0))`,
    )
    await tx.sql(`CREATE TABLE posting (account TEXT NOT NULL
      REFERENCES account (id) DEFERRABLE INITIALLY DEFERRED, amount ${whole} NOT NULL)`)
  },
}

async function increment(tx: Records, id: string): Promise<void> {
  const { value } = (await tx.get(counter, id))!
  await tx.save(counter, { id, value: value + 1 })
}

describe.each(engines)('transactions on $engine', ({ database }) => {
  let store: Store

  beforeEach(async () => {
    store = await (await database()).open([counter], [{ set: 'test', list: [ledger] }])
  })

  test('a transaction returns what its step returned', async () => {
    expect(await store.transaction(async () => 'result')).toBe('result')
  })

  test('a transaction sees its own writes', async () => {
    await store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1, group: 'g' })

      expect(await tx.get(counter, 'a')).toEqual({ id: 'a', value: 1, group: 'g' })
      expect(await tx.getMany(counter, ['a'])).toEqual([{ id: 'a', value: 1, group: 'g' }])
      expect(await tx.count(counter, { where: { group: 'g' } })).toBe(1)
      expect((await tx.list(counter, { limit: 5 })).items).toHaveLength(1)
      expect((await tx.search(counter, { words: 'a', limit: 5 })).total).toBe(1)
      expect(await tx.remove(counter, 'a')).toBe(true)
      expect(await tx.removeMany(counter, { limit: 5 })).toBe(0)
    })
  })

  test('nobody outside sees a write before the transaction has ended', async () => {
    const written = Promise.withResolvers<void>()
    const looked = Promise.withResolvers<void>()
    const transaction = store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      written.resolve()
      await looked.promise
    })
    await written.promise

    expect(await store.get(counter, 'a')).toBeUndefined()
    expect(await store.count(counter)).toBe(0)
    looked.resolve()
    await transaction

    expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: 1 })
  })

  test('fifty that read and then write at once count to fifty', async () => {
    await store.insert(counter, { id: 'a', value: 0 })

    await Promise.all(
      Array.from({ length: 50 }, () => store.transaction((tx) => increment(tx, 'a'))),
    )

    expect(await store.get(counter, 'a')).toEqual({ id: 'a', value: 50 })
  })

  test('two that each read what the other writes do not both go by what they read', async () => {
    // Of two on call, one may leave while the other stays.
    await store.insert(counter, { id: 'anna', value: 1, group: 'on call' })
    await store.insert(counter, { id: 'bert', value: 1, group: 'on call' })
    const leave = (id: string) =>
      store.transaction(async (tx) => {
        if ((await tx.count(counter, { where: { group: 'on call' } })) < 2) return false
        return await tx.save(counter, { id, value: 0 })
      })

    const outcomes = await Promise.all([leave('anna'), leave('bert')])

    expect(outcomes.toSorted()).toEqual([false, true])
    expect(await store.count(counter, { where: { group: 'on call' } })).toBe(1)
  })

  test('a step that throws leaves nothing, and its error arrives', async () => {
    await store.insert(counter, { id: 'kept', value: 1 })
    const error = new Error('refused')

    const failed = store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      await tx.remove(counter, 'kept')
      await tx.sql(`INSERT INTO account VALUES ('a', 1)`)
      throw error
    })

    await expect(failed).rejects.toBe(error)
    expect((await store.list(counter, { limit: 5 })).items).toEqual([{ id: 'kept', value: 1 }])
    expect(await store.sql('SELECT * FROM account')).toEqual([])
    expect((await store.search(counter, { words: 'a kept', match: 'any', limit: 5 })).total).toBe(1)
  })

  test('those that fail do not harm the others that run at the same time', async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, value) =>
        store.transaction(async (tx) => {
          await tx.insert(counter, { id: `n${value}`, value })
          if (value % 3 === 0) throw new Error('refused')
          if (value % 3 === 1) await tx.sql('SELECT * FROM nowhere')
        }),
      ),
    )

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    const { items } = await store.list(counter, { limit: 50 })
    expect(items.map(({ value }) => value).sort((a, b) => a - b)).toEqual([
      2, 5, 8, 11, 14, 17, 20, 23, 26, 29,
    ])
  })

  test('one that breaks a rule which is checked at the end fails alone', async () => {
    await store.sql(`INSERT INTO account VALUES ('a', 0)`)

    const outcomes = await Promise.allSettled([
      store.insert(counter, { id: 'x', value: 1 }),
      store.transaction((tx) => tx.sql(`INSERT INTO posting VALUES ('nobody', 1)`)),
      store.transaction((tx) => tx.sql(`INSERT INTO posting VALUES ('a', 1)`)),
      store.insert(counter, { id: 'x', value: 2 }),
    ])

    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect(await store.sql('SELECT account FROM posting')).toEqual([{ account: 'a' }])
    expect(await store.get(counter, 'x')).toBeDefined()
  })

  test('a statement that failed fails its transaction, even when the step goes on', async () => {
    const failed = store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      await tx.sql('SELECT * FROM nowhere').catch(() => {})
      return 'went on'
    })

    await expect(failed).rejects.toThrow('nowhere')
    expect(await store.count(counter)).toBe(0)
  })

  test('the store itself refuses to be used inside its transaction', async () => {
    const uses: ((store: Store) => Promise<unknown>)[] = [
      (store) => store.get(counter, 'a'),
      (store) => store.getMany(counter, ['a']),
      (store) => store.list(counter, { limit: 1 }),
      (store) => store.count(counter),
      (store) => store.search(counter, { words: 'a', limit: 1 }),
      (store) => store.insert(counter, { id: 'a', value: 1 }),
      (store) => store.save(counter, { id: 'a', value: 1 }),
      (store) => store.remove(counter, 'a'),
      (store) => store.removeMany(counter, { limit: 1 }),
      (store) => store.sql('SELECT 1'),
      (store) => store.sql('DELETE FROM account'),
      (store) => store.transaction(async () => 1),
    ]

    const outcomes = await store.transaction(() =>
      Promise.all(uses.map((use) => use(store).catch((error: Error) => error.message))),
    )

    expect(outcomes).toEqual(Array(12).fill('inside a transaction, use its tx'))
    expect(await store.count(counter)).toBe(0)
  })

  test('another store can be used inside a transaction', async () => {
    const other = await (await database()).open([counter])

    await store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      await other.insert(counter, { id: 'b', value: 2 })
    })

    expect(await other.get(counter, 'b')).toEqual({ id: 'b', value: 2 })
  })

  test('the store can be used after a transaction by what began inside it', async () => {
    let after: Promise<unknown> | undefined
    const ended = Promise.withResolvers<void>()
    await store.transaction(async (tx) => {
      await tx.insert(counter, { id: 'a', value: 1 })
      after = ended.promise.then(() => store.get(counter, 'a'))
    })
    ended.resolve()

    expect(await after).toEqual({ id: 'a', value: 1 })
  })

  test('a tx that outlived its transaction refuses', async () => {
    let kept: Records | undefined
    await store.transaction(async (tx) => {
      kept = tx
    })

    await expect(kept!.save(counter, { id: 'a', value: 1 })).rejects.toThrow('has ended')
    await expect(kept!.get(counter, 'a')).rejects.toThrow('has ended')
    expect(await store.count(counter)).toBe(0)
  })

  test('a step runs in the context of its caller, whoever else takes turns', async () => {
    const caller = new AsyncLocalStorage<string>()
    const ask = (name: string) =>
      caller.run(name, () =>
        store.transaction(async (tx) => {
          await tx.insert(counter, { id: name, value: 1 })
          return caller.getStore()
        }),
      )

    expect(await Promise.all([ask('anna'), ask('bert'), ask('carl')])).toEqual([
      'anna',
      'bert',
      'carl',
    ])
  })

  test('a step may ask for several things at once', async () => {
    await store.transaction(async (tx) => {
      await Promise.all(
        Array.from({ length: 20 }, (_, value) => tx.insert(counter, { id: `n${value}`, value })),
      )
      const found = await Promise.all([tx.count(counter), tx.get(counter, 'n7')])
      expect(found).toEqual([20, { id: 'n7', value: 7 }])
    })
  })

  test('a version that was read in a transaction guards a later save', async () => {
    await store.insert(counter, { id: 'a', value: 1 })
    const read = await store.transaction(async (tx) => (await tx.get(counter, 'a'))!)

    expect(await store.save(counter, { id: 'a', value: 2 }, versionOf(read))).toBe(true)
    expect(await store.save(counter, { id: 'a', value: 3 }, versionOf(read))).toBe(false)
  })

  test('plain SQL takes parameters, in quotes they are text', async () => {
    await store.sql('INSERT INTO account VALUES (?, ?), (?, ?)', ['a?', 5, 'b', 7n])

    const rows = await store.sql(
      `SELECT id, '?' AS "mark?", balance + ? AS sum FROM account /* ? */ WHERE id = ? -- ?`,
      [10, 'a?'],
    )

    expect(rows).toEqual([{ id: 'a?', 'mark?': '?', sum: 15 }])
  })

  test('plain SQL answers with what a write returns', async () => {
    const rows = await store.sql('INSERT INTO account VALUES (?, ?) RETURNING id, balance', [
      'a',
      1,
    ])

    expect(rows).toEqual([{ id: 'a', balance: 1 }])
    expect(await store.sql('UPDATE account SET balance = 2')).toEqual([])
  })

  test('plain SQL answers with numbers, and with bigints where numbers end', async () => {
    await store.sql('INSERT INTO account VALUES (?, ?), (?, ?)', ['a', 5, 'b', 2n ** 60n])

    const rows = await store.sql('SELECT balance FROM account ORDER BY id')
    const [sums] = await store.sql(
      `SELECT count(*) AS count, sum(balance) AS sum FROM account WHERE id = 'a'`,
    )

    expect(rows).toEqual([{ balance: 5 }, { balance: 2n ** 60n }])
    expect(sums).toEqual({ count: 1, sum: 5 })
  })

  test('plain SQL keeps bytes, and what is empty', async () => {
    const [row] = await store.sql(
      `SELECT ${store.engine === 'postgres' ? '?::bytea' : '?'} AS bytes, NULL AS empty`,
      [new Uint8Array([0, 255, 7])],
    )

    expect([...row!['bytes']]).toEqual([0, 255, 7])
    expect(row!['empty']).toBeNull()
  })

  test('plain SQL refuses a second statement, which SQLite would not run', async () => {
    await expect(store.sql(`DELETE FROM account; DELETE FROM posting`)).rejects.toThrow(
      'one statement at a time',
    )
    expect(await store.sql(`SELECT ';' AS semicolon;`)).toEqual([{ semicolon: ';' }])
  })

  test('a constraint of a table holds for those who write at once', async () => {
    await store.sql(`INSERT INTO account VALUES ('a', 100), ('b', 0)`)

    const outcomes = await Promise.allSettled(
      Array.from({ length: 15 }, () =>
        store.transaction(async (tx) => {
          await tx.sql(`UPDATE account SET balance = balance + 10 WHERE id = 'b'`)
          await tx.sql(`UPDATE account SET balance = balance - 10 WHERE id = 'a'`)
        }),
      ),
    )

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
    expect(await store.sql('SELECT id, balance FROM account ORDER BY id')).toEqual([
      { id: 'a', balance: 0 },
      { id: 'b', balance: 100 },
    ])
  })

  test('statistics count what was written', async () => {
    const before = store.stats()

    await store.insert(counter, { id: 'a', value: 1 })
    await store.transaction((tx) => increment(tx, 'a'))

    const { commits, writes, waiting } = store.stats()
    expect([commits - before.commits, writes - before.writes, waiting]).toEqual([2, 2, 0])
  })
})
