// What a search can be narrowed by, on both engines.
import { beforeEach, describe, expect, test } from 'vitest'
import { kind, numberOf } from '../../resolvers/kernel/store.ts'
import type { Store, TextQuery } from '../../resolvers/kernel/store.ts'
import { editsBetween, writtenWordsOf } from '../../resolvers/kernel/text-search.ts'
import { engines } from './engines.ts'

interface Book {
  readonly id: string
  readonly title: string
  readonly author?: string
  readonly blurb?: string
  readonly tags: readonly string[]
  readonly pages?: number
}

const book = kind<Book>('book', {
  key: ({ id }) => id,
  columns: { pages: numberOf(({ pages }) => pages) },
  text: {
    title: { of: ({ title }) => title, weight: 'A', fuzzy: true },
    author: { of: ({ author }) => author, weight: 'B' },
    blurb: { of: ({ blurb }) => blurb, weight: 'B' },
  },
  hasQuickPrefixes: false,
  marks: ({ tags }) => tags,
})

const books: readonly Book[] = [
  { id: '1', title: 'Sea', author: 'Storm', tags: ['sea', 'old'], pages: 100 },
  { id: '2', title: 'Storm at sea', blurb: 'Old rigging', tags: ['sea', 'new'], pages: 200 },
  { id: '3', title: 'Desert storm', tags: ['sand', 'new'], pages: 300 },
  { id: '4', title: 'Quiet', blurb: 'No storm', tags: [] },
]

describe.each(engines)('narrowing on $engine', ({ database }) => {
  let store: Store

  beforeEach(async () => {
    store = await (await database()).open([book])
    await store.transaction(async (tx) => {
      for (const record of books) await tx.insert(book, record)
    })
  })

  const found = async (query: Partial<TextQuery>) => {
    const { items } = await store.search(book, { words: 'storm', limit: 10, ...query })
    return items.map(({ record }) => record.id).toSorted()
  }

  test('fields of one weight are looked in together, and not apart', async () => {
    expect(await found({ fields: ['title'] })).toEqual(['2', '3'])
    expect(await found({ fields: ['author', 'blurb'] })).toEqual(['1', '4'])
    await expect(found({ fields: ['author'] })).rejects.toThrow('cannot be searched in [author]')
    await expect(found({ fields: ['none'] })).rejects.toThrow('cannot be searched in [none]')
  })

  test('a beginning and a phrase are looked for in the fields alone', async () => {
    expect(await found({ words: 'sto', prefix: true, fields: ['title'] })).toEqual(['2', '3'])
    expect(await found({ words: '"storm at"', fields: ['title'] })).toEqual(['2'])
    expect(await found({ words: '"no storm"', fields: ['title'] })).toEqual([])
  })

  test('of each list of marks a record carries one, and none of those it must not', async () => {
    expect(await found({ marks: [['sea', 'sand']] })).toEqual(['1', '2', '3'])
    expect(await found({ marks: [['sea', 'sand'], ['new']] })).toEqual(['2', '3'])
    expect(await found({ unmarked: ['new'] })).toEqual(['1', '4'])
    expect(await found({ marks: [['sea']], unmarked: ['old'] })).toEqual(['2'])
    expect(await found({ words: '', marks: [['old']] })).toEqual(['1'])
    expect(await found({ words: '' })).toEqual([])
  })

  test('a mark is no word, and no word is a mark', async () => {
    expect(await found({ words: 'sand' })).toEqual([])
    expect(await found({ words: 'old' })).toEqual(['2'])
    expect(await found({ marks: [['rigging']] })).toEqual([])
    await expect(found({ marks: [['two words']] })).rejects.toThrow('cannot be a mark')
    await expect(found({ marks: [[]] })).rejects.toThrow('empty')
  })

  test('marks follow their record', async () => {
    await store.save(book, { ...books[0]!, tags: ['new'] })
    await store.remove(book, '2')

    expect(await found({ marks: [['sea']] })).toEqual([])
    expect(await found({ marks: [['new']] })).toEqual(['1', '3'])
  })

  test('numbers lie within bounds, of which the lower is included', async () => {
    expect(await found({ bounds: { pages: { from: 200 } } })).toEqual(['2', '3'])
    expect(await found({ bounds: { pages: { from: 100, below: 200 } } })).toEqual(['1'])
    await expect(found({ bounds: { none: { from: 1 } } })).rejects.toThrow('no column none')
  })

  test('a word may stand for others', async () => {
    expect(await found({ words: 'tempest', alike: { tempest: ['storm', 'gale'] } })).toEqual([
      '1',
      '2',
      '3',
      '4',
    ])
    expect(await found({ words: 'sea tempest', alike: { tempest: ['storm'] } })).toEqual(['1', '2'])
  })

  test('what is not ranked is found all the same, page by page, and counted as far as asked', async () => {
    const page = (offset: number, more: Partial<TextQuery> = {}) =>
      store.search(book, { words: 'storm', isRanked: false, offset, limit: 3, ...more })

    const [first, second] = [await page(0), await page(3)]

    const ids = [...first.items, ...second.items].map(({ record }) => record.id)
    expect(ids.toSorted()).toEqual(['1', '2', '3', '4'])
    expect([first.total, second.total]).toEqual([4, 4])
    expect((await page(0, { totalMax: 2 })).total).toBe(2)
    expect((await page(0, { totalMax: 10, limit: 1 })).total).toBe(4)
    expect((await page(0, { bounds: { pages: { from: 1 } }, limit: 1 })).total).toBe(3)
  })

  test('misspelled forms are narrowed by columns alone', async () => {
    expect(await found({ words: 'strom', fuzzy: true, bounds: { pages: { from: 250 } } })).toEqual([
      '3',
    ])
    await expect(found({ words: 'strom', fuzzy: true, marks: [['sea']] })).rejects.toThrow(
      'columns',
    )
    await expect(found({ words: 'strom', fuzzy: true, fields: ['title'] })).rejects.toThrow(
      'columns',
    )
  })

  test('marks need text, and a search by marks needs some declared', async () => {
    const bare = kind<Book>('bare', { key: ({ id }) => id, marks: ({ tags }) => tags })
    await expect((await database()).open([bare])).rejects.toThrow('has marks, and no text')
    const plain = kind<Book>('plain', {
      key: ({ id }) => id,
      text: { title: { of: ({ title }) => title, weight: 'A' } },
    })
    const other = await (await database()).open([plain])
    await expect(other.search(plain, { words: 'a', marks: [['b']], limit: 1 })).rejects.toThrow(
      'declares no marks',
    )
  })
})

test('words are found as they are written, with where they begin', () => {
  expect(writtenWordsOf('Déjà vu, 2 cafe\u0301s')).toEqual([
    { written: 'Déjà', at: 0, words: ['deja'] },
    { written: 'vu', at: 5, words: ['vu'] },
    { written: '2', at: 9, words: ['2'] },
    { written: 'cafe\u0301s', at: 11, words: ['cafes'] },
  ])
})

test.each([
  ['storm', 'storm', 0],
  ['storm', 'strom', 1],
  ['storm', 'storms', 1],
  ['storm', 'stor', 1],
  ['storm', 'scorn', 2],
])('%s and %s are %i edits apart', (one, other, edits) => {
  expect(editsBetween(one, other)).toBe(edits)
})
