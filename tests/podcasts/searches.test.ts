// Spelling, and what was searched for lately.
import { expect, test } from 'vitest'
import { API, DAY_MS, find, giveFeed, openDirectory } from './directory.ts'

async function openWithTides() {
  const service = await openDirectory()
  await giveFeed(service, 'https://a.example/1', {
    title: 'Harbour Lanterns',
    about: 'About lighthouses and the weather.',
    items: [{ title: 'Tides', about: 'Moon and water.' }],
  })
  return service
}

test('words that no text has are corrected by the likeliest that some have', async () => {
  const service = await openWithTides()

  const { status, body } = await service.rest(
    `GET ${API}/spellcheck?q=${encodeURIComponent('Harbor lihgthouses & moon')}`,
  )

  expect(status).toBe(200)
  expect(body).toEqual({
    tokens: [
      { token: 'Harbor', suggestion: 'harbour', offset: 0 },
      { token: 'lihgthouses', suggestion: 'lighthouses', offset: 7 },
    ],
    corrected_text_html: '<b><i>harbour</i></b> <b><i>lighthouses</i></b> &amp; moon',
  })
})

test('what is right, and what is like nothing, stays as it is', async () => {
  const service = await openWithTides()

  const right = await service.rest(`GET ${API}/spellcheck?q=weather+of+the+tides`)
  const { data } = await service.graphql(
    '{ podcastSpellcheck(q: "xylophone wether") { tokens { token suggestion offset } correctedTextHtml } }',
  )

  expect(right.body).toEqual({ tokens: [], corrected_text_html: 'weather of the tides' })
  expect(data.podcastSpellcheck).toEqual({
    tokens: [{ token: 'wether', suggestion: 'weather', offset: 10 }],
    correctedTextHtml: 'xylophone <b><i>weather</i></b>',
  })
})

test('a word is known as long as a text has it', async () => {
  const service = await openWithTides()
  const check = async () => (await service.rest(`GET ${API}/spellcheck?q=tydes`)).body.tokens

  const before = await check()
  await giveFeed(service, 'https://a.example/1', {
    title: 'Harbour Lanterns',
    about: 'Calm.',
    items: [{ title: 'Waves', about: 'Moon and water.' }],
  })

  expect(before).toEqual([{ token: 'tydes', suggestion: 'tides', offset: 0 }])
  expect(await check()).toEqual([])
})

test('what is searched often trends, and is forgotten when nobody searches it any more', async () => {
  const service = await openWithTides()
  for (let at = 0; at < 3; at += 1) await find(service, { q: 'Tides' })
  for (let at = 0; at < 2; at += 1) await find(service, { q: 'moon  WATER' })
  await find(service, { q: 'lanterns' })
  await find(service, { q: 'unfindable' })

  const now = await service.rest(`GET ${API}/trending_searches`)
  const { data } = await service.graphql('{ trendingSearches }')
  await service.advance(2 * DAY_MS)
  for (let at = 0; at < 3; at += 1) await find(service, { q: 'moon water' })
  const later = await service.rest(`GET ${API}/trending_searches`)
  await service.advance(30 * DAY_MS)
  await service.opened.sweep()
  const last = await service.rest(`GET ${API}/trending_searches`)

  expect(now.body).toEqual({ terms: ['tides', 'moon water'] })
  expect(data.trendingSearches).toEqual(['tides', 'moon water'])
  expect(later.body).toEqual({ terms: ['moon water', 'tides'] })
  expect(last.body).toEqual({ terms: [] })
  expect(await service.store.sql('SELECT count(*) AS terms FROM search_term')).toEqual([
    { terms: 0 },
  ])
})

test('related searches share words with one, those that share most first', async () => {
  const service = await openWithTides()
  for (const q of ['moon water', 'moon', 'the moon and the water tides', 'lanterns']) {
    for (let at = 0; at < 2; at += 1) await find(service, { q })
  }

  const { body } = await service.rest(`GET ${API}/related_searches?q=moon%20water`)
  const { data } = await service.graphql('{ relatedSearches(q: "the") }')

  expect(body).toEqual({ terms: ['the moon and the water tides', 'moon'] })
  expect(data.relatedSearches).toEqual([])
})

test('nothing of who searched is kept', async () => {
  const service = await openWithTides()
  for (let at = 0; at < 30; at += 1) await find(service, { q: 'tides' })

  const rows = await service.store.sql('SELECT * FROM search_term')

  expect(Object.keys(rows[0]!)).toEqual(['term', 'log_count'])
})

test('a query is needed', async () => {
  const service = await openDirectory()

  const answers = [
    await service.rest(`GET ${API}/spellcheck`),
    await service.rest(`GET ${API}/spellcheck?q=`),
    await service.rest(`GET ${API}/related_searches`),
    await service.rest(`GET ${API}/related_searches?q=%20`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
})
