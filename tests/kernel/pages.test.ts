// Many pages in one read, on both engines, and connections that share a read.
import { describe, expect, test } from 'vitest'
import type { Context } from '../../resolvers/kernel/context.ts'
import { connect, cursors } from '../../resolvers/kernel/paging.ts'
import { kind, numberOf, textOf, type Store } from '../../resolvers/kernel/store.ts'
import { engines } from './engines.ts'

interface Song {
  readonly id: string
  readonly artist: string
  readonly year?: number
}

const song = kind<Song>('song', {
  key: ({ id }) => id,
  columns: { artist: textOf(({ artist }) => artist), year: numberOf(({ year }) => year) },
  indexes: [['artist'], ['artist', 'year']],
})

const SONGS: readonly Song[] = [
  { id: 'a/1', artist: 'ann', year: 1990 },
  { id: 'a/2', artist: 'ann', year: 1980 },
  { id: 'a/3', artist: 'ann' },
  { id: 'b/1', artist: 'bob', year: 1970 },
]

/** What an operation is given, reduced to what a connection asks of it. */
const contextOn = (store: Store) =>
  ({ store, cursors: cursors(Buffer.alloc(32, 1)) }) as unknown as Context

describe.each(engines)('pages on $engine', ({ database }) => {
  const openSongs = async () => {
    const store = await (await database()).open([song])
    for (const one of SONGS) await store.insert(song, one)
    return store
  }

  test('a page may begin after a number of records, and not at a position as well', async () => {
    const store = await openSongs()

    const second = await store.list(song, { where: { artist: 'ann' }, offset: 1, limit: 1 })
    const beyond = await store.list(song, { prefix: '', offset: 9, limit: 1 })
    const both = store.list(song, { prefix: '', offset: 1, after: '["a/1"]', limit: 1 })

    expect(second).toEqual({ items: [{ id: 'a/2', artist: 'ann', year: 1980 }], next: '["a/2"]' })
    expect(beyond).toEqual({ items: [] })
    await expect(both).rejects.toThrow('a page does not begin after 1 records')
  })

  test('each query gets its own page, in the order of the queries', async () => {
    const store = await openSongs()

    const pages = await store.listMany(song, [
      { where: { artist: 'bob' }, limit: 2 },
      { where: { artist: 'nobody' }, limit: 2 },
      { where: { artist: 'ann' }, limit: 2 },
      { prefix: 'a/', limit: 10, after: '["a/1"]' },
      { where: { artist: 'ann' }, order: 'year', descending: true, limit: 10 },
    ])

    expect(pages.map(({ items }) => items.map(({ id }) => id))).toEqual([
      ['b/1'],
      [],
      ['a/1', 'a/2'],
      ['a/2', 'a/3'],
      ['a/1', 'a/2', 'a/3'],
    ])
    expect(pages.map(({ next }) => next)).toEqual([
      undefined,
      undefined,
      '["a/2"]',
      undefined,
      undefined,
    ])
  })

  test('a page that goes on where its order becomes empty is read too', async () => {
    const store = await openSongs()
    const order = { where: { artist: 'ann' }, order: 'year', descending: true, limit: 2 }

    const [first] = await store.listMany(song, [order, order])
    const [rest, same] = await store.listMany(song, [
      { ...order, after: first!.next },
      { ...order, after: first!.next },
    ])

    expect(first!.items.map(({ id }) => id)).toEqual(['a/1', 'a/2'])
    expect(rest).toEqual({ items: [{ id: 'a/3', artist: 'ann' }] })
    expect(same).toEqual(rest)
  })

  test('more pages than one statement reads all come', async () => {
    const store = await openSongs()
    const queries = Array.from({ length: 130 }, (_, n) => ({
      prefix: n % 2 ? 'a/' : 'b/',
      limit: 1,
    }))

    const pages = await store.listMany(song, queries)

    expect(pages).toHaveLength(130)
    expect(pages[128]!.items).toEqual([{ id: 'b/1', artist: 'bob', year: 1970 }])
    expect(pages[129]!.items).toEqual([{ id: 'a/1', artist: 'ann', year: 1990 }])
  })

  test('no queries are no pages', async () => {
    const store = await openSongs()

    expect(await store.listMany(song, [])).toEqual([])
  })

  test('a transaction reads many pages with what it wrote itself', async () => {
    const store = await openSongs()

    const pages = await store.transaction(async (tx) => {
      await tx.insert(song, { id: 'b/2', artist: 'bob' })
      return tx.listMany(song, [
        { where: { artist: 'bob' }, limit: 5 },
        { where: { artist: 'ann' }, limit: 1 },
      ])
    })

    expect(pages.map(({ items }) => items.length)).toEqual([2, 1])
  })

  test('connections that are asked for together are one read', async () => {
    const store = await openSongs()
    const reads: string[] = []
    const ctx = contextOn({
      ...store,
      list: (kind, query) => (reads.push('list'), store.list(kind, query)),
      listMany: (kind, queries) => (
        reads.push(`listMany ${queries.length}`),
        store.listMany(kind, queries)
      ),
    })
    const songsOf = (artist: string) =>
      connect(ctx, song, { where: { artist }, first: 1, after: undefined })

    const [ann, bob] = await Promise.all(['ann', 'bob', 'cyd'].map(songsOf))
    const alone = await songsOf('bob')

    expect(reads).toEqual(['listMany 3', 'list'])
    expect(ann!.nodes.map(({ id }) => id)).toEqual(['a/1'])
    expect(ann!.pageInfo.hasNextPage).toBe(true)
    expect(bob!.nodes.map(({ id }) => id)).toEqual(['b/1'])
    expect(alone).toEqual(bob)
  })
})
