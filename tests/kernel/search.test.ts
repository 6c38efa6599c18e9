// Search in text, on both engines. Scores differ between them; what is found and what the weights
// put first does not.
import { beforeEach, describe, expect, test } from 'vitest'
import { kind, numberOf, textOf } from '../../resolvers/kernel/store.ts'
import type { Store, TextQuery } from '../../resolvers/kernel/store.ts'
import { engines } from './engines.ts'

interface Podcast {
  readonly id: string
  readonly title: string
  readonly about?: string
  readonly language?: string
  readonly year?: number
}

const podcast = kind<Podcast>('podcast', {
  key: (record) => record.id,
  columns: {
    language: textOf((record) => record.language),
    year: numberOf((record) => record.year),
  },
  text: {
    title: { of: (record) => record.title, weight: 'A', fuzzy: true },
    about: { of: (record) => record.about, weight: 'D' },
  },
})

describe.each(engines)('search on $engine', ({ database }) => {
  let store: Store

  beforeEach(async () => {
    store = await (await database()).open([podcast])
    await store.transaction(async (tx) => {
      for (const record of podcasts) await tx.insert(podcast, record)
    })
  })

  const podcasts: Podcast[] = [
    { id: '1', title: 'Café Zürich', about: 'Talks on coffee and mountains', language: 'de' },
    { id: '2', title: 'The Coffee Hour', about: 'News of the day', language: 'en', year: 2020 },
    { id: '3', title: 'Mountains', about: 'No coffee, only mountains', language: 'en', year: 2021 },
    { id: '4', title: 'Новости дня', about: 'Свежие новости', language: 'ru' },
    { id: '5', title: 'Hour of History', about: 'Rome, from hour to hour', language: 'en' },
  ]
  const found = async (query: Partial<TextQuery> & { words: string }) => {
    const { items } = await store.search(podcast, { limit: 10, ...query })
    return items.map(({ record }) => record.id)
  }
  const foundSet = async (query: Partial<TextQuery> & { words: string }) =>
    (await found(query)).toSorted()

  test('all words must occur, in whichever field', async () => {
    expect(await foundSet({ words: 'coffee mountains' })).toEqual(['1', '3'])
    expect(await found({ words: 'coffee rome' })).toEqual([])
  })

  test('any word may occur, when asked so', async () => {
    expect(await foundSet({ words: 'coffee rome', match: 'any' })).toEqual(['1', '2', '3', '5'])
  })

  test('case and accents do not matter, in no script', async () => {
    expect(await found({ words: 'ZURICH cafe' })).toEqual(['1'])
    expect(await found({ words: 'CAFÉ Zürich' })).toEqual(['1'])
    expect(await found({ words: 'НОВОСТИ' })).toEqual(['4'])
    expect(await found({ words: 'новости свежие' })).toEqual(['4'])
  })

  test('a word is a whole word, unless it is the last and a beginning is asked for', async () => {
    expect(await found({ words: 'mount' })).toEqual([])
    expect(await foundSet({ words: 'coffee mount', prefix: true })).toEqual(['1', '3'])
    expect(await found({ words: 'coff mountains', prefix: true })).toEqual([])
    expect(await found({ words: 'h', prefix: true })).toHaveLength(2)
  })

  test('words in quotes occur in that order', async () => {
    expect(await found({ words: '"coffee hour"' })).toEqual(['2'])
    expect(await found({ words: '"hour coffee"' })).toEqual([])
    expect(await found({ words: '"hour of" rome' })).toEqual(['5'])
    expect(await found({ words: '"the coffee ho', prefix: true })).toEqual(['2'])
  })

  test('a phrase does not go from one field into the next', async () => {
    expect(await found({ words: '"hour news"' })).toEqual([])
    expect(await found({ words: 'hour news' })).toEqual(['2'])
  })

  test('a hit in a field of greater weight comes first', async () => {
    expect((await found({ words: 'coffee' }))[0]).toBe('2')
    expect((await found({ words: 'mountains' }))[0]).toBe('3')
  })

  test('scores fall, and equal ones sort by key', async () => {
    await store.transaction(async (tx) => {
      for (const id of ['é', 'Z', 'a', '😀']) await tx.insert(podcast, { id, title: 'Twin' })
    })

    const { items } = await store.search(podcast, { words: 'coffee', limit: 10 })

    expect(await found({ words: 'twin' })).toEqual(['Z', 'a', 'é', '😀'])
    expect(items.every(({ score }, at) => at === 0 || score <= items[at - 1]!.score)).toBe(true)
    expect(items[0]!.score).toBeGreaterThan(0)
  })

  test('where narrows what is found, and the total with it', async () => {
    const english = { language: 'en' }

    const both = { where: { ...english, year: 2021 } }
    expect(await foundSet({ words: 'coffee', where: english })).toEqual(['2', '3'])
    expect(await found({ words: 'coffee', ...both })).toEqual(['3'])
    const page = await store.search(podcast, { words: 'coffee', where: english, limit: 1 })
    expect([page.items.length, page.total]).toEqual([1, 2])
    await expect(found({ words: 'a', where: { title: 'x' } })).rejects.toThrow('no column title')
  })

  test('offset and limit cut a page out, and the total stays', async () => {
    const all = await found({ words: 'coffee' })

    const pages = await Promise.all(
      [0, 1, 2, 3, 9].map((offset) => store.search(podcast, { words: 'coffee', offset, limit: 1 })),
    )

    expect(pages.map(({ total }) => total)).toEqual([3, 3, 3, 3, 3])
    expect(pages.flatMap(({ items }) => items.map(({ record }) => record.id))).toEqual(all)
  })

  test('nothing is found by words that are none', async () => {
    for (const words of ['', '   ', '"', '""', '-- !', '* & | ( ) : <->']) {
      expect(await store.search(podcast, { words, limit: 5 })).toEqual({ items: [], total: 0 })
      expect(await store.search(podcast, { words, fuzzy: true, limit: 5 })).toEqual({
        items: [],
        total: 0,
      })
    }
  })

  test('signs that mean something to the engine are not understood', async () => {
    expect(await found({ words: "coffee AND -mountains' OR title:hour NEAR(" })).toEqual([])
    expect(await found({ words: "hour's", match: 'any' })).toHaveLength(2)
  })

  test('a write changes what is found', async () => {
    await store.save(podcast, { id: '2', title: 'Tea Time' })
    expect(await found({ words: 'hour coffee' })).toEqual([])
    expect(await found({ words: 'tea' })).toEqual(['2'])
    expect(await found({ words: 'tiem', fuzzy: true })).toEqual(['2'])
    expect(await foundSet({ words: 'coffe', fuzzy: true })).toEqual([])

    await store.remove(podcast, '2')
    expect(await found({ words: 'tea' })).toEqual([])
    expect(await found({ words: 'tiem', fuzzy: true })).toEqual([])

    expect(await store.removeMany(podcast, { prefix: '3', limit: 5 })).toBe(1)
    expect(await found({ words: 'mountains' })).toEqual(['1'])
  })

  test('a write that was refused or undone changes nothing that is found', async () => {
    await store.insert(podcast, { id: '2', title: 'Tea Time' })
    await store.save(podcast, { id: '2', title: 'Tea Time' }, 'another version')
    await store
      .transaction(async (tx) => {
        await tx.save(podcast, { id: '2', title: 'Tea Time' })
        throw new Error('undone')
      })
      .catch(() => {})

    expect(await found({ words: 'tea' })).toEqual([])
    expect(await found({ words: '"coffee hour"' })).toEqual(['2'])
  })

  test.each([
    ['cofee', ['2']],
    ['Cofffee', ['2']],
    ['coffee', ['2']],
    ['zurihc', ['1']],
    ['huor', ['2', '5']],
    ['новсти', ['4']],
    ['mountians', ['3']],
    ['xylophone', []],
    ['rome', []],
  ])('a misspelled %s finds titles %j', async (words, ids) => {
    expect(await foundSet({ words, fuzzy: true })).toEqual(ids)
  })

  test('all misspelled words must be like one, or any', async () => {
    expect(await found({ words: 'cofee hoor', fuzzy: true })).toEqual(['2'])
    expect(await found({ words: 'cofee xylophone', fuzzy: true })).toEqual([])
    expect(await found({ words: 'cofee xylophone', fuzzy: true, match: 'any' })).toEqual(['2'])
  })

  test('a misspelled beginning is found while typing', async () => {
    expect(await found({ words: 'muont', fuzzy: true })).toEqual([])
    expect(await found({ words: 'muont', fuzzy: true, prefix: true })).toEqual(['3'])
  })

  test('the closest spelling comes first, with the same score on both engines', async () => {
    await store.insert(podcast, { id: '6', title: 'Toffee', language: 'en' })

    const { items, total } = await store.search(podcast, {
      words: 'coffee',
      fuzzy: true,
      where: { language: 'en' },
      limit: 1,
    })

    expect([items[0]!.record.id, items[0]!.score, total]).toEqual(['2', 1, 2])
    const next = await store.search(podcast, { words: 'coffee', fuzzy: true, offset: 1, limit: 1 })
    expect(next.items[0]!.record.id).toBe('6')
    expect(next.items[0]!.score).toBeCloseTo(5 / 6)
  })

  test('a search needs text, and a limit', async () => {
    const { limit: _none, ...unlimited } = { words: 'a', limit: 1 }
    await expect(store.search(podcast, unlimited as TextQuery)).rejects.toThrow('a limit is')
    const bare = kind<Podcast>('bare', { key: (record) => record.id })
    const other = await (await database()).open([bare])
    await expect(other.search(bare, { words: 'a', limit: 1 })).rejects.toThrow('declares no text')
  })

  test('very long text and very long words are indexed as far as the limits go', async () => {
    const title = `${'x'.repeat(70)} ${'again '.repeat(20_000)}end`
    await store.insert(podcast, { id: 'long', title, about: '𝒳'.repeat(3000) })

    expect(await found({ words: 'again' })).toEqual(['long'])
    expect(await found({ words: 'x'.repeat(70) })).toEqual(['long'])
  })
})
