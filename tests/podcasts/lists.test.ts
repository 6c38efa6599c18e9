// Genres, regions, languages, the best podcasts and curated lists.
import { expect, test } from 'vitest'
import { admin, API, giveFeed, loadShows, openDirectory } from './directory.ts'

const LISTED = `mutation ($title: String!, $ids: [String!]!, $url: String!) {
  createCuratedList(title: $title, description: "", sourceUrl: $url, podcastIds: $ids) {
    id total sourceDomain podcasts { title } } }`
const URL = 'https://www.press.example/list'

test('genres are a tree, of which the top can be had alone', async () => {
  const service = await openDirectory()

  const all = await service.rest(`GET ${API}/genres`)
  const top = await service.rest(`GET ${API}/genres?top_level_only=1`)
  const wrong = await service.rest(`GET ${API}/genres?top_level_only=2`)
  const { data } = await service.graphql(
    '{ podcastGenres(topLevelOnly: 1) { name parent { name } children { id name } } }',
  )

  expect(top.body.genres).toHaveLength(21)
  expect(top.body.genres[0]).toEqual({ id: 68, name: 'TV & Film', parent_id: 67 })
  expect(all.body.genres).toContainEqual({ id: 95, name: 'Business News', parent_id: 93 })
  expect(all.body.genres).toContainEqual({ id: 140, name: 'Web Design', parent_id: 127 })
  expect(all.body.genres.some(({ id }: any) => id === 67)).toBe(false)
  expect(wrong.status).toBe(400)
  const business = data.podcastGenres.find(({ name }: any) => name === 'Business')
  expect(business.parent).toEqual({ name: 'Podcasts' })
  expect(business.children).toContainEqual({ id: 95, name: 'Business News' })
})

test('regions are a map of 97 codes, and languages a list of 74 names', async () => {
  const service = await openDirectory()

  const regions = await service.rest(`GET ${API}/regions`)
  const languages = await service.rest(`GET ${API}/languages`)
  const { data } = await service.graphql('{ podcastRegions { code name } podcastLanguages }')

  expect(Object.keys(regions.body.regions)).toHaveLength(97)
  expect(regions.body.regions).toMatchObject({ us: 'United States', gb: 'United Kingdom' })
  expect(languages.body.languages).toHaveLength(74)
  expect(languages.body.languages[0]).toBe('Any language')
  expect(data.podcastRegions).toContainEqual({ code: 'us', name: 'United States' })
  expect(data.podcastLanguages).toContain('Chinese')
})

test('the best podcasts come twenty a page, with the page envelope', async () => {
  const service = await openDirectory()
  await loadShows(service, 140, 140)

  const first = await service.rest(`GET ${API}/best_podcasts?sort=listen_score`)
  const last = Math.ceil(first.body.total / 20)
  const end = await service.rest(`GET ${API}/best_podcasts?sort=listen_score&page=${last}`)
  const past = await service.rest(`GET ${API}/best_podcasts?page=${last + 1}`)

  const { podcasts, ...envelope } = first.body
  const scores = podcasts.map(({ listen_score }: any) => listen_score)
  expect(scores).toHaveLength(20)
  expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a))
  expect(envelope).toEqual({
    id: 67,
    name: 'Podcasts',
    parent_id: null,
    vendor_url: 'http://polygraph.test/best-podcasts-podcasts-67/',
    total: first.body.total,
    has_next: true,
    has_previous: false,
    page_number: 1,
    next_page_number: 2,
    previous_page_number: 0,
  })
  expect(first.body.total).toBe(62)
  expect(end.body).toMatchObject({ has_next: false, has_previous: true, page_number: last })
  expect(past.body.podcasts).toEqual([])
})

test('a genre, a region, a language and a country narrow the best', async () => {
  const service = await openDirectory()
  const austrian = await giveFeed(service, 'https://a.example/1', {
    language: 'de-at',
    category: 'Video Games',
  })
  await giveFeed(service, 'https://a.example/2', { language: 'en-us', explicit: true })
  await giveFeed(service, 'https://a.example/3', { language: 'tlh' })
  const best = async (query: string) => {
    const { body } = await service.rest(`GET ${API}/best_podcasts?${query}`)
    return body.podcasts.map(({ rss }: any) => Number(rss.at(-1))).toSorted()
  }

  expect(await best('')).toEqual([2, 3])
  expect(await best('safe_mode=1')).toEqual([3])
  expect(await best('region=AT')).toEqual([1])
  expect(await best('region=at&genre_id=82')).toEqual([1])
  expect(await best('region=at&genre_id=87')).toEqual([1])
  expect(await best('region=at&genre_id=100')).toEqual([])
  expect(await best('region=at&language=German&publisher_region=at')).toEqual([1])
  expect(await best('region=at&language=English')).toEqual([])
  expect(await best('region=at&publisher_region=us')).toEqual([])
  const { data } = await service.graphql(
    '{ bestPodcasts(genreId: "82", region: "at") { name parentId total genre { children { id } } podcasts { id } } }',
  )
  expect(data.bestPodcasts).toMatchObject({
    name: 'Leisure',
    parentId: 67,
    total: 1,
    podcasts: [{ id: austrian }],
  })
})

test('the best are sorted by when they were added or published', async () => {
  const service = await openDirectory()
  const dates = ['2028-01-03', '2028-01-01', '2028-01-02']
  for (const [at, date] of dates.entries()) {
    const items = [{ title: 'One', date: new Date(date).toUTCString() }]
    await giveFeed(service, `https://a.example/${at}`, { language: 'en-us', items })
    await service.advance(1000)
  }
  const best = async (sort: string) => {
    const { body } = await service.rest(`GET ${API}/best_podcasts?sort=${sort}`)
    return body.podcasts.map(({ rss }: any) => Number(rss.at(-1)))
  }

  expect(await best('recent_added_first')).toEqual([2, 1, 0])
  expect(await best('oldest_added_first')).toEqual([0, 1, 2])
  expect(await best('recent_published_first')).toEqual([0, 2, 1])
  expect(await best('oldest_published_first')).toEqual([1, 2, 0])
})

test('a genre that is not there is 404, and what is no region, language, order or page is 400', async () => {
  const service = await openDirectory()
  const queries = [
    'genre_id=1',
    'genre_id=music',
    'region=xx',
    'publisher_region=xx',
    'language=Klingon',
    'sort=best',
    'page=0',
    'safe_mode=2',
  ]

  const answers = await Promise.all(
    queries.map((query) => service.rest(`GET ${API}/best_podcasts?${query}`)),
  )

  expect(answers.map(({ status }) => status)).toEqual([404, 400, 400, 400, 400, 400, 400, 400])
})

test('curated lists come newest first, twenty a page, with five of their podcasts', async () => {
  const service = await openDirectory()
  await loadShows(service, 7, 7)
  const found = await service.rest(`GET ${API}/best_podcasts?region=us`)
  const id = found.body.podcasts[0].id
  for (let at = 0; at < 21; at += 1) {
    await service.graphqlAs(admin, LISTED, { title: `List ${at}`, ids: [id], url: URL })
    await service.advance(1)
  }

  const first = await service.rest(`GET ${API}/curated_podcasts`)
  const second = await service.rest(`GET ${API}/curated_podcasts?page=2`)
  const { data } = await service.graphql(
    '{ curatedLists(page: 2) { total curatedLists { title podcasts { id } } } }',
  )

  expect(first.body).toMatchObject({ total: 21, has_next: true, page_number: 1 })
  expect(first.body.curated_lists).toHaveLength(20)
  expect(first.body.curated_lists[0]).toMatchObject({ title: 'List 20', total: 1 })
  expect(Object.keys(first.body.curated_lists[0].podcasts[0])).toHaveLength(8)
  expect(second.body.curated_lists.map(({ title }: any) => title)).toEqual(['List 0'])
  expect(data.curatedLists).toEqual({
    total: 21,
    curatedLists: [{ title: 'List 0', podcasts: [{ id }] }],
  })
})

test('one curated list shows all of its podcasts in full', async () => {
  const service = await openDirectory()
  const ids = [
    await giveFeed(service, 'https://a.example/1', { title: 'One' }),
    await giveFeed(service, 'https://a.example/2', { title: 'Two' }),
  ]
  const made = await service.graphqlAs(admin, LISTED, { title: 'Best & rest', ids, url: URL })
  const { id } = made.data.createCuratedList

  const { body } = await service.rest(`GET ${API}/curated_podcasts/${id}`)
  const { data } = await service.graphql(
    `{ curatedList(id: "${id}") { title vendorUrl podcasts { title } } }`,
  )

  expect(id).toMatch(/^[\w-]{11}$/)
  expect(body).toMatchObject({
    title: 'Best & rest',
    source_url: URL,
    source_domain: 'press.example',
    vendor_url: `http://polygraph.test/curated-podcasts/best-rest-${id}/`,
    pub_date_ms: Date.UTC(2030, 0, 1),
    total: 2,
  })
  expect(body.podcasts.map(({ title, genre_ids }: any) => [title, genre_ids])).toEqual([
    ['One', [77]],
    ['Two', [77]],
  ])
  expect(data.curatedList.podcasts).toEqual([{ title: 'One' }, { title: 'Two' }])
})

test('a curated list that is not there is 404, and only administrators make them, of what is there', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/1')

  const missing = await service.rest(`GET ${API}/curated_podcasts/none`)
  const wrong = await service.rest(`GET ${API}/curated_podcasts?page=-1`)
  const refused = await service.graphql(LISTED, { title: 'T', ids: [id], url: URL })
  const unknown = await service.graphqlAs(admin, LISTED, { title: 'T', ids: ['x'], url: URL })
  const nowhere = await service.graphqlAs(admin, LISTED, { title: 'T', ids: [id], url: 'here' })
  const after = await service.rest(`GET ${API}/curated_podcasts`)

  expect([missing.status, wrong.status]).toEqual([404, 400])
  expect([refused, unknown, nowhere].map(({ errors }) => errors![0].extensions.code)).toEqual([
    'Forbidden',
    'BadRequest',
    'BadRequest',
  ])
  expect(after.body).toMatchObject({ total: 0, curated_lists: [] })
})
