// Records, on both engines. The cases are the sentences of resolvers/kernel/store.ts.
import { beforeEach, describe, expect, test } from 'vitest'
import { kind, numberOf, positionOf, textOf, versionOf } from '../../resolvers/kernel/store.ts'
import type { Query, Store } from '../../resolvers/kernel/store.ts'
import { engines } from './engines.ts'

interface Song {
  readonly id: string
  readonly artist?: string | null
  readonly year?: number | null
  readonly note?: unknown
}

const song = kind<Song>('song', {
  key: (record) => record.id,
  columns: { artist: textOf((record) => record.artist), year: numberOf((record) => record.year) },
  indexes: [['artist'], ['year'], ['artist', 'year']],
})

const stranger = kind<Song>('stranger', { key: (record) => record.id })

describe.each(engines)('records on $engine', ({ engine, database }) => {
  let store: Store

  beforeEach(async () => {
    store = await (await database()).open([song])
  })

  const saveAll = async (...songs: Song[]) => {
    await store.transaction(async (tx) => {
      for (const record of songs) await tx.save(song, record)
    })
  }
  const idsOf = async (query: Query) =>
    (await store.list(song, query)).items.map((record) => record.id)

  test('the store says which engine it is', () => {
    expect(store.engine).toBe(engine)
  })

  test('a record comes back as it was written, with the order of its fields', async () => {
    const record = {
      id: 'z',
      note: { b: '𝄞 \u0000 \ud800 "quoted" \\ \n 日本語', a: [1.5, null, true, {}], '': -0.1 },
      artist: 'é'.repeat(300),
      year: 1e300,
    }

    await store.insert(song, record)

    const read = await store.get(song, 'z')
    expect(JSON.stringify(read)).toBe(JSON.stringify(record))
    expect(Object.keys(read!)).toEqual(['id', 'note', 'artist', 'year'])
  })

  test('a large body comes back whole', async () => {
    const note = 'Привет, 🌍! '.repeat(100_000)

    await store.save(song, { id: 'large', note })

    expect((await store.get(song, 'large'))?.note === note).toBe(true)
  })

  test('a record that is not there is undefined', async () => {
    expect(await store.get(song, 'nobody')).toBeUndefined()
  })

  test('a key that no record can have finds nothing and removes nothing', async () => {
    for (const key of ['', 'a\0b', '\ud800', 'k'.repeat(5000)]) {
      expect(await store.get(song, key)).toBeUndefined()
      expect(await store.getMany(song, [key])).toEqual([undefined])
      expect(await store.remove(song, key)).toBe(false)
    }
    expect(await store.list(song, { where: { artist: 'a\0b' }, limit: 5 })).toEqual({ items: [] })
    expect(await store.count(song, { prefix: 'a\0b' })).toBe(0)
  })

  test('a record whose key cannot be stored is refused', async () => {
    await expect(store.insert(song, { id: '' })).rejects.toThrow('no usable key')
    await expect(store.save(song, { id: 'a\0b' })).rejects.toThrow('no usable key')
  })

  test('a column refuses a value of another type', async () => {
    await expect(store.insert(song, { id: 'a', year: NaN })).rejects.toThrow('year of a song')
    await expect(store.insert(song, { id: 'a', artist: 5 as never })).rejects.toThrow('artist of')
    expect(await store.count(song)).toBe(0)
  })

  test('many records come in the order of the keys, undefined where there is none', async () => {
    await saveAll({ id: 'a', year: 1 }, { id: 'b', year: 2 })

    const found = await store.getMany(song, ['b', 'nobody', 'a', 'b'])

    expect(found).toEqual([
      { id: 'b', year: 2 },
      undefined,
      { id: 'a', year: 1 },
      { id: 'b', year: 2 },
    ])
    expect(found[0]).not.toBe(found[3])
    expect(await store.getMany(song, [])).toEqual([])
  })

  test('a kind that the store was not opened with is refused', async () => {
    await expect(store.get(stranger, 'a')).rejects.toThrow('stranger is not among the kinds')
    await expect(store.insert(stranger, { id: 'a' })).rejects.toThrow('stranger is not among')
  })

  test('insert leaves a record that has the key already alone', async () => {
    expect(await store.insert(song, { id: 'a', year: 1 })).toBe(true)

    expect(await store.insert(song, { id: 'a', year: 2 })).toBe(false)

    expect(await store.get(song, 'a')).toEqual({ id: 'a', year: 1 })
  })

  test('of twenty that insert the same key one succeeds', async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, year) => store.insert(song, { id: 'a', year })),
    )

    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect((await store.get(song, 'a'))?.year).toBe(outcomes.indexOf(true))
  })

  test('save inserts, and replaces', async () => {
    expect(await store.save(song, { id: 'a', year: 1 })).toBe(true)
    expect(await store.save(song, { id: 'a', year: 2 })).toBe(true)

    expect(await store.get(song, 'a')).toEqual({ id: 'a', year: 2 })
    expect(await store.count(song)).toBe(1)
  })

  test('save with the version that is stored replaces, and with another changes nothing', async () => {
    await store.insert(song, { id: 'a', year: 1 })
    const read = (await store.get(song, 'a'))!

    expect(await store.save(song, { id: 'a', year: 2 }, versionOf(read))).toBe(true)
    expect(await store.save(song, { id: 'a', year: 3 }, versionOf(read))).toBe(false)
    expect(await store.save(song, { id: 'b', year: 3 }, versionOf(read))).toBe(false)

    expect((await store.list(song, { limit: 5 })).items).toEqual([{ id: 'a', year: 2 }])
  })

  test('of twenty that save over the same version one succeeds', async () => {
    await store.insert(song, { id: 'a', year: -1 })
    const version = versionOf((await store.get(song, 'a'))!)

    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, year) => store.save(song, { id: 'a', year }, version)),
    )

    expect(outcomes.filter(Boolean)).toHaveLength(1)
    expect((await store.get(song, 'a'))?.year).toBe(outcomes.indexOf(true))
  })

  test('every write gives a new version, also after the record was removed', async () => {
    const seen = new Set<string>()
    for (let round = 0; round < 3; round += 1) {
      const inserted = { id: 'a', year: 1 }
      await store.insert(song, inserted)
      const saved = { id: 'a', year: 1 }
      await store.save(song, saved)
      seen.add(versionOf(inserted)).add(versionOf(saved))
      expect(versionOf((await store.get(song, 'a'))!)).toBe(versionOf(saved))
      await store.remove(song, 'a')
    }

    expect(seen.size).toBe(6)
  })

  test('a version does not come back when the store is opened again', async () => {
    const kept = await database()
    const first = await kept.open([song])
    const before = { id: 'a' }
    await first.insert(song, before)
    await first.close()

    const second = await kept.open([song])
    const after = { id: 'a' }
    await second.save(song, after)

    expect(versionOf(after)).not.toBe(versionOf(before))
  })

  test('reading gives every copy the same version, and a refused write gives none', async () => {
    const first = { id: 'a' }
    await store.insert(song, first)
    const refused = { id: 'a' }
    await store.insert(song, refused)

    const [one] = await store.getMany(song, ['a'])
    const { items } = await store.list(song, { limit: 1 })

    expect([versionOf(one!), versionOf(items[0]!)]).toEqual([versionOf(first), versionOf(first)])
    expect(() => versionOf(refused)).toThrow('did not come from the store')
  })

  test('remove says whether there was something', async () => {
    await store.insert(song, { id: 'a' })

    expect(await store.remove(song, 'a')).toBe(true)
    expect(await store.remove(song, 'a')).toBe(false)
    expect(await store.get(song, 'a')).toBeUndefined()
  })

  test('keys sort by their bytes', async () => {
    const ids = ['é', 'a', '😀', 'Z', 'z', '\uffee', 'A', 'ab', 'a b', '10', '9', 'Ω']
    await saveAll(...ids.map((id) => ({ id })))

    const sorted = ['10', '9', 'A', 'Z', 'a', 'a b', 'ab', 'z', 'é', 'Ω', '\uffee', '😀']
    expect(await idsOf({ limit: 20 })).toEqual(sorted)
    expect(await idsOf({ descending: true, limit: 20 })).toEqual(sorted.toReversed())
  })

  test('text columns sort by their bytes and numbers by value', async () => {
    await saveAll(
      { id: '1', artist: 'é', year: 10 },
      { id: '2', artist: 'Z', year: 9 },
      { id: '3', artist: '😀', year: -1.5 },
      { id: '4', artist: 'a', year: 2 ** 53 },
    )

    expect(await idsOf({ order: 'artist', limit: 9 })).toEqual(['2', '4', '1', '3'])
    expect(await idsOf({ order: 'year', limit: 9 })).toEqual(['3', '2', '1', '4'])
  })

  test('a prefix lists the keys that start with it', async () => {
    const ids = [
      'a',
      'a/',
      'a/1',
      'a/é',
      'a/😀',
      'a0',
      'b/1',
      'A/1',
      'a/\u{10ffff}',
      'a/\ud7ff',
      'a/\ue000',
    ]
    await saveAll(...ids.map((id) => ({ id })))

    expect(await idsOf({ prefix: 'a/', limit: 9 })).toEqual([
      'a/',
      'a/1',
      'a/é',
      'a/\ud7ff',
      'a/\ue000',
      'a/😀',
      'a/\u{10ffff}',
    ])
    expect(await idsOf({ prefix: 'a/\ud7ff', limit: 9 })).toEqual(['a/\ud7ff'])
    expect(await idsOf({ prefix: 'a/\u{10ffff}', limit: 9 })).toEqual(['a/\u{10ffff}'])
    expect(await idsOf({ prefix: 'a/%', limit: 9 })).toEqual([])
    expect(await store.count(song, { prefix: 'a/' })).toBe(7)
  })

  test('where fixes columns, and a prefix narrows it', async () => {
    await saveAll(
      { id: 'x1', artist: 'a', year: 1 },
      { id: 'x2', artist: 'b', year: 1 },
      { id: 'y1', artist: 'a', year: 1 },
      { id: 'y2', artist: 'a', year: 2 },
    )

    expect(await idsOf({ where: { artist: 'a' }, limit: 9 })).toEqual(['x1', 'y1', 'y2'])
    expect(await idsOf({ where: { artist: 'a', year: 1 }, limit: 9 })).toEqual(['x1', 'y1'])
    expect(await idsOf({ where: { artist: 'a' }, prefix: 'y', limit: 9 })).toEqual(['y1', 'y2'])
    expect(await idsOf({ where: { artist: 'c' }, limit: 9 })).toEqual([])
  })

  test('from includes its bound, and below does not', async () => {
    await saveAll(
      ...[1, 2, 3, 4].map((year) => ({ id: `n${year}`, artist: 'a', year })),
      { id: 'other', artist: 'b', year: 2 },
      { id: 'none', artist: 'a' },
    )
    const a = { where: { artist: 'a' }, order: 'year', limit: 9 }

    expect(await idsOf({ ...a, from: 2, below: 4 })).toEqual(['n2', 'n3'])
    expect(await idsOf({ ...a, from: 3 })).toEqual(['n3', 'n4'])
    expect(await idsOf({ ...a, below: 3 })).toEqual(['n1', 'n2'])
    expect(await idsOf({ ...a, below: 3, descending: true })).toEqual(['n2', 'n1'])
    expect(await idsOf({ order: 'artist', from: 'b', limit: 9 })).toEqual(['other'])
  })

  test('pages go through ties and empty values without loss or repetition', async () => {
    const years = [3, null, 1, 1, 2, null, 1, 3, 1, 2, null, 1]
    await saveAll(
      ...years.map((year, at) => ({ id: `k${String(at).padStart(2, '0')}`, artist: 'a', year })),
      { id: 'k99', artist: 'b', year: 1 },
    )
    const rising = 'k01 k05 k10 k02 k03 k06 k08 k11 k04 k09 k00 k07'.split(' ')

    for (const descending of [false, true]) {
      for (let limit = 1; limit <= 13; limit += 1) {
        const query = { where: { artist: 'a' }, order: 'year', descending, limit }
        const seen: string[] = []
        let after: string | undefined
        do {
          const page = await store.list(song, { ...query, after })
          seen.push(...page.items.map((record) => record.id))
          expect(page.items.length).toBeLessThanOrEqual(limit)
          after = page.next
        } while (after !== undefined)
        expect(seen).toEqual(descending ? rising.toReversed() : rising)
      }
    }
  })

  test('the last page has no next, not even when it is full', async () => {
    await saveAll({ id: 'a' }, { id: 'b' })

    const page = await store.list(song, { limit: 2 })

    expect(page).toEqual({ items: [{ id: 'a' }, { id: 'b' }] })
    expect(Object.keys(page)).toEqual(['items'])
  })

  test('a page begins after the position of a record, whether it is there or not', async () => {
    await saveAll({ id: 'a', year: 1 }, { id: 'c', year: 1 }, { id: 'b', year: 2 })
    const gone = { id: 'b', year: 1 }

    expect(await idsOf({ after: positionOf(song, gone), limit: 5 })).toEqual(['c'])
    expect(await idsOf({ order: 'year', after: positionOf(song, gone, 'year'), limit: 5 })).toEqual(
      ['c', 'b'],
    )
    expect(
      await idsOf({
        order: 'year',
        descending: true,
        after: positionOf(song, gone, 'year'),
        limit: 5,
      }),
    ).toEqual(['a'])
  })

  test('a bound and a position hold together', async () => {
    await saveAll(...[1, 2, 3, 4, 5].map((year) => ({ id: `n${year}`, year })))
    const bounds = { order: 'year', from: 2, below: 5, limit: 2 }

    const first = await store.list(song, bounds)
    const second = await store.list(song, { ...bounds, after: first.next })

    expect(first.items.map(({ id }) => id)).toEqual(['n2', 'n3'])
    expect(second).toEqual({ items: [{ id: 'n4', year: 4 }] })
  })

  test('a position of another order is refused', async () => {
    const after = positionOf(song, { id: 'a', year: 1 }, 'year')

    await expect(store.list(song, { after, limit: 5 })).rejects.toThrow('not a position')
    await expect(store.list(song, { order: 'artist', after, limit: 5 })).rejects.toThrow(
      'not a position',
    )
  })

  test.each<[Omit<Query, 'limit'>, string]>([
    [{ where: { year: 1 }, order: 'artist' }, 'song needs an index [year, artist]'],
    [{ where: { title: 'x' } }, 'song declares no column title'],
    [{ order: 'title' }, 'song needs an index [title]'],
    [{ order: 'year', prefix: 'a' }, 'a prefix goes with the order of keys'],
    [{ from: 5 }, 'from and below bound the column of order'],
    [{ where: { artist: undefined as never } }, 'artist is a text and cannot be undefined'],
    [{ where: { year: '1' } }, 'year is a number and cannot be 1'],
  ])('a query that no index answers is refused: %j', async (query, message) => {
    await expect(store.list(song, { ...query, limit: 5 })).rejects.toThrow(message)
    await expect(store.count(song, query)).rejects.toThrow(message)
    await expect(store.removeMany(song, { ...query, limit: 5 })).rejects.toThrow(message)
  })

  test.each([undefined, 0, -1, 1.5, NaN, Infinity, 10_001])(
    'a list whose limit is %s is refused',
    async (limit) => {
      await expect(store.list(song, { limit: limit as number })).rejects.toThrow(
        'a limit is a whole',
      )
      await expect(store.removeMany(song, { limit: limit as number })).rejects.toThrow('a limit is')
    },
  )

  test('count says how many there are', async () => {
    await saveAll(
      { id: 'a1', artist: 'a', year: 1 },
      { id: 'a2', artist: 'a', year: 2 },
      { id: 'b1', artist: 'b' },
    )

    expect(await store.count(song)).toBe(3)
    expect(await store.count(song, { where: { artist: 'a' } })).toBe(2)
    expect(await store.count(song, { where: { artist: 'a' }, order: 'year', from: 2 })).toBe(1)
    expect(await store.count(song, { where: { artist: 'a' }, order: 'year' })).toBe(2)
    expect(await store.count(song, { prefix: 'b' })).toBe(1)
  })

  test('removeMany removes the first of a list, and says how many', async () => {
    await saveAll(...[1, 2, 3, 4].map((year) => ({ id: `n${year}`, artist: 'a', year })), {
      id: 'b',
      artist: 'b',
      year: 0,
    })
    const a = { where: { artist: 'a' }, order: 'year' }

    expect(await store.removeMany(song, { ...a, descending: true, limit: 1 })).toBe(1)
    expect(await store.removeMany(song, { ...a, below: 3, limit: 9 })).toBe(2)
    expect(await store.removeMany(song, { ...a, from: 9, limit: 9 })).toBe(0)

    expect(await idsOf({ limit: 9 })).toEqual(['b', 'n3'])
  })

  test('removeMany goes on from values to what is empty', async () => {
    await saveAll({ id: 'a', year: 1 }, { id: 'b' }, { id: 'c' }, { id: 'd', year: 3 })
    const after = positionOf(song, { id: 'x', year: 2 }, 'year')

    expect(await store.removeMany(song, { order: 'year', descending: true, after, limit: 2 })).toBe(
      2,
    )

    expect(await idsOf({ limit: 9 })).toEqual(['b', 'd'])
  })

  test('a column follows its record through every write', async () => {
    await saveAll({ id: 'a', artist: 'old' })
    const version = versionOf((await store.get(song, 'a'))!)

    await store.save(song, { id: 'a', artist: 'new' }, version)
    expect(await idsOf({ where: { artist: 'new' }, limit: 5 })).toEqual(['a'])
    await store.save(song, { id: 'a' })

    expect(await idsOf({ where: { artist: 'new' }, limit: 5 })).toEqual([])
    expect(await idsOf({ where: { artist: 'old' }, limit: 5 })).toEqual([])
  })

  test('what was closed is kept, and opens again', async () => {
    const kept = await database()
    const first = await kept.open([song])
    void first.insert(song, { id: 'a', year: 1 })
    await first.close()

    const second = await kept.open([song])

    expect(await second.get(song, 'a')).toEqual({ id: 'a', year: 1 })
    await expect(first.insert(song, { id: 'b' })).rejects.toThrow()
  })
})
