// Changes of what is stored: numbered migrations, and kinds that declare more than they did.
import { describe, expect, test } from 'vitest'
import { kind, numberOf, textOf, versionOf } from '../../resolvers/kernel/store.ts'
import type { Migration } from '../../resolvers/kernel/store.ts'
import { engines } from './engines.ts'

interface Song {
  readonly id: string
  readonly title: string
  readonly year?: number
}

const plain = kind<Song>('song', { key: (record) => record.id })
const byYear = kind<Song>('song', {
  key: (record) => record.id,
  columns: { year: numberOf((record) => record.year) },
  indexes: [['year']],
})

const note = (number: number, text: string): Migration => ({
  number,
  name: `note ${text}`,
  async up(tx) {
    if (number === 1) await tx.sql('CREATE TABLE note (text TEXT)')
    await tx.sql('INSERT INTO note VALUES (?)', [text])
  },
})

describe.each(engines)('migrations on $engine', ({ engine, database }) => {
  test('each is applied once, in order, and told the engine', async () => {
    const kept = await database()
    const told: string[] = []
    const telling: Migration = { number: 7, name: 'tell', up: async (_tx, e) => void told.push(e) }
    const first = await kept.open([], [{ set: 's', list: [note(1, 'one'), note(2, 'two')] }])
    await first.close()

    const list = [note(1, 'one'), note(2, 'two'), note(5, 'five'), telling]
    const second = await kept.open([], [{ set: 's', list }])
    await second.close()
    const third = await kept.open([], [{ set: 's', list }])

    expect(await third.sql('SELECT text FROM note')).toEqual([
      { text: 'one' },
      { text: 'two' },
      { text: 'five' },
    ])
    expect(told).toEqual([engine])
  })

  test('sets have numbers of their own, and run in the order in which they are listed', async () => {
    const store = await (
      await database()
    ).open(
      [],
      [
        { set: 'kernel', list: [note(1, 'kernel')] },
        { set: 'service', list: [note(2, 'service')] },
      ],
    )

    expect(await store.sql('SELECT text FROM note')).toEqual([
      { text: 'kernel' },
      { text: 'service' },
    ])
  })

  test('one that fails leaves nothing, and those before it stay', async () => {
    const kept = await database()
    const failing: Migration = {
      number: 2,
      name: 'fail',
      async up(tx) {
        await tx.sql('CREATE TABLE half (text TEXT)')
        await tx.sql(`INSERT INTO note VALUES ('half')`)
        throw new Error('no further')
      },
    }

    await expect(kept.open([], [{ set: 's', list: [note(1, 'one'), failing] }])).rejects.toThrow(
      'migration 2 (fail) of s failed, and left nothing',
    )

    const store = await kept.open([], [{ set: 's', list: [note(1, 'one')] }])
    expect(await store.sql('SELECT text FROM note')).toEqual([{ text: 'one' }])
    await expect(store.sql('SELECT * FROM half')).rejects.toThrow('half')
  })

  test('a database that is ahead of the code is refused', async () => {
    const kept = await database()
    await (await kept.open([], [{ set: 's', list: [note(1, 'one'), note(2, 'two')] }])).close()

    await expect(kept.open([], [{ set: 's', list: [note(1, 'one')] }])).rejects.toThrow(
      'the database has migration 2 of s, which this code lacks',
    )
  })

  test('a number that comes too late is refused, and so is a list out of order', async () => {
    const kept = await database()
    await (await kept.open([], [{ set: 's', list: [note(1, 'one'), note(3, 'three')] }])).close()

    await expect(
      kept.open([], [{ set: 's', list: [note(1, 'one'), note(2, 'two'), note(3, 'three')] }]),
    ).rejects.toThrow('migration 2 of s comes too late: 3 is applied')
    await expect(
      kept.open([], [{ set: 'other', list: [note(2, 'two'), note(1, 'one')] }]),
    ).rejects.toThrow('the migrations of other are not in the order of their numbers')
  })

  test('many that open at once apply each once', async () => {
    const kept = await database()
    const sets = [{ set: 's', list: [note(1, 'one'), note(2, 'two')] }]

    const stores = await Promise.all(Array.from({ length: 6 }, () => kept.open([byYear], sets)))

    expect(await stores[0]!.sql('SELECT count(*) AS count FROM note')).toEqual([{ count: 2 }])
  })

  test('a column that is new is computed for the records that are there', async () => {
    const kept = await database()
    const first = await kept.open([plain])
    await first.transaction(async (tx) => {
      for (let at = 0; at < 1200; at += 1) {
        await tx.insert(plain, { id: `k${at}`, title: 't', year: at % 7 })
      }
    })
    await first.close()

    const store = await kept.open([byYear])

    expect(await store.count(byYear, { where: { year: 3 } })).toBe(171)
    expect(await store.list(byYear, { where: { year: 3 }, limit: 1 })).toMatchObject({
      items: [{ id: 'k10', title: 't', year: 3 }],
    })
  })

  test('a column that is computed in another way is computed again', async () => {
    const kept = await database()
    const before = await kept.open([byYear])
    await before.insert(byYear, { id: 'a', title: 't', year: 1987 })
    await before.close()
    const byDecade = kind<Song>('song', {
      key: (record) => record.id,
      columns: { year: numberOf((record) => Math.floor((record.year ?? 0) / 10)) },
      indexes: [['year']],
    })

    const store = await kept.open([byDecade])

    expect(await store.count(byDecade, { where: { year: 198 } })).toBe(1)
  })

  test('a column may change its type, and may go, and an index with it', async () => {
    const kept = await database()
    const before = await kept.open([byYear])
    await before.insert(byYear, { id: 'a', title: 't', year: 1987 })
    await before.close()
    const asText = kind<Song>('song', {
      key: (record) => record.id,
      columns: { year: textOf((record) => String(record.year)) },
      indexes: [['year']],
    })

    const texts = await kept.open([asText])
    expect(await texts.count(asText, { where: { year: '1987' } })).toBe(1)
    await texts.close()
    const bare = await kept.open([plain])

    expect(await bare.get(plain, 'a')).toEqual({ id: 'a', title: 't', year: 1987 })
    await expect(bare.count(plain, { where: { year: 1987 } })).rejects.toThrow('no column year')
  })

  test('an index that is new serves at once', async () => {
    const kept = await database()
    const without = kind<Song>('song', {
      key: (record) => record.id,
      columns: { year: byYear.columns['year']! },
    })
    const before = await kept.open([without])
    await before.insert(without, { id: 'a', title: 't', year: 1987 })
    await before.close()

    const store = await kept.open([byYear])

    expect((await store.list(byYear, { order: 'year', limit: 5 })).items).toHaveLength(1)
  })

  test('text that is new is found in the records that are there, and text that went is not', async () => {
    const kept = await database()
    const before = await kept.open([plain])
    await before.insert(plain, { id: 'a', title: 'Blue Train' })
    await before.close()
    const withText = kind<Song>('song', {
      key: (record) => record.id,
      text: { title: { of: (record) => record.title, weight: 'A', fuzzy: true } },
    })

    const store = await kept.open([withText])
    expect((await store.search(withText, { words: 'train', limit: 5 })).total).toBe(1)
    expect((await store.search(withText, { words: 'trian', fuzzy: true, limit: 5 })).total).toBe(1)
    await store.close()
    const again = await kept.open([plain])

    await expect(again.search(plain, { words: 'train', limit: 5 })).rejects.toThrow('no text')
    await again.save(plain, { id: 'a', title: 'Giant Steps' })
  })

  test('a record keeps its version when its columns are computed again', async () => {
    const kept = await database()
    const before = await kept.open([plain])
    const record = { id: 'a', title: 't', year: 1 }
    await before.insert(plain, record)
    await before.close()

    const store = await kept.open([byYear])

    expect(versionOf((await store.get(byYear, 'a'))!)).toBe(versionOf(record))
  })

  test('a migration can use a kind that is new, before columns are computed', async () => {
    const kept = await database()
    const before = await kept.open([plain])
    await before.insert(plain, { id: 'a', title: 'old 1987' })
    await before.close()
    const strict = kind<Song>('song', {
      key: (record) => record.id,
      columns: {
        year: numberOf((record) => {
          if (record.year === undefined) throw new Error('a song without a year')
          return record.year
        }),
      },
      indexes: [['year']],
    })
    const addYears: Migration = {
      number: 1,
      name: 'years',
      async up(tx) {
        const { items } = await tx.list(strict, { limit: 100 })
        for (const song of items)
          await tx.save(strict, { ...song, year: Number(song.title.slice(4)) })
      },
    }

    await expect(kept.open([strict])).rejects.toThrow('a song without a year')
    const store = await kept.open([strict], [{ set: 's', list: [addYears] }])

    expect(await store.count(strict, { where: { year: 1987 } })).toBe(1)
  })

  test('two kinds of one name are refused, and so is an index on nothing', async () => {
    const kept = await database()
    const wrong = kind<Song>('wrong', { key: (record) => record.id, indexes: [['title']] })

    await expect(kept.open([plain, byYear])).rejects.toThrow('have the same name')
    await expect(kept.open([wrong])).rejects.toThrow('the index [title] of wrong')
  })
})
