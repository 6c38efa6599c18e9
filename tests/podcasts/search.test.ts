// Search for episodes, podcasts and curated lists.
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { admin, API, find, giveFeed, loadShows, openDirectory, titlesFound } from './directory.ts'

const FOUND = (word: string) => `<span class="vendor-search-highlight">${word}</span>`

/** Three podcasts that differ in everything a search can be narrowed by. */
async function openWithThree() {
  const service = await openDirectory()
  const whales = await giveFeed(service, 'https://a.example/whales', {
    title: 'The Whale Road',
    author: 'Ivor Brine',
    about: 'Songs of the deep, told by sailors.',
    category: 'Science',
    guests: true,
    items: [
      { title: 'Krill', about: 'What a whale eats.', length: '1800' },
      { title: 'Whale song', about: 'Listening below.', length: '600' },
      { title: 'Harpoon & rope', about: 'A whale hunt.', length: '3600', explicit: true },
    ],
  })
  const bakers = await giveFeed(service, 'https://a.example/bakers', {
    title: 'Rye and Salt',
    author: 'Mona Crumb',
    about: 'Bread, and once a whale-shaped loaf.',
    language: 'de-at',
    category: 'Arts',
    items: [{ title: 'Rye', about: 'Dark loaves.', date: 'Mon, 01 Mar 2027 10:00:00 GMT' }],
  })
  const rough = await giveFeed(service, 'https://a.example/rough', {
    title: 'Rough Tides',
    author: 'Ivor Brine',
    about: 'Swearing at sea.',
    explicit: true,
    category: 'Comedy',
    items: [
      {
        title: 'Storm',
        about: 'No whale in sight.',
        length: '300',
        date: 'Sat, 20 Jan 2029 12:00:00 GMT',
      },
    ],
  })
  return { service, whales, bakers, rough }
}

const episodes = (service: TestService, query: Record<string, string | number>) =>
  titlesFound(service, { q: 'whale', ...query })
const podcasts = (service: TestService, query: Record<string, string | number>) =>
  titlesFound(service, { q: 'whale', type: 'podcast', ...query })

test('a hit in the title comes before one beside it, and the words are marked', async () => {
  const { service } = await openWithThree()

  const { status, body } = await find(service, { q: 'whale' })

  expect(status).toBe(200)
  expect(body).toMatchObject({ total: 4, count: 4, next_offset: 4 })
  expect(body.took).toBeGreaterThanOrEqual(0)
  const [first] = body.results
  expect(first).toMatchObject({
    title_original: 'Whale song',
    title_highlighted: `${FOUND('Whale')} song`,
    description_original: 'Listening below.',
    description_highlighted: 'Listening below.',
    rss: 'https://a.example/whales',
    transcripts_highlighted: [],
    podcast: {
      title_original: 'The Whale Road',
      title_highlighted: `The ${FOUND('Whale')} Road`,
      publisher_original: 'Ivor Brine',
      publisher_highlighted: 'Ivor Brine',
      genre_ids: [107],
    },
  })
  const rope = body.results.find((one: any) => one.title_original === 'Harpoon & rope')
  expect(rope.title_highlighted).toBe('Harpoon &amp; rope')
  expect(rope.description_highlighted).toBe(`A ${FOUND('whale')} hunt.`)
})

test('podcasts are found with all documented fields', async () => {
  const { service, whales } = await openWithThree()

  const { body } = await find(service, { q: 'whale', type: 'podcast' })

  expect(body.results.map((one: any) => one.title_original)).toEqual([
    'The Whale Road',
    'Rye and Salt',
  ])
  expect(body.results[0]).toMatchObject({
    id: whales,
    title_highlighted: `The ${FOUND('Whale')} Road`,
    publisher_original: 'Ivor Brine',
    description_original: 'Songs of the deep, told by sailors.',
    total_episodes: 3,
    audio_length_sec: 2000,
    has_guest_interviews: true,
    genre_ids: [107],
  })
  expect(body.results[0]).not.toHaveProperty('title')
})

test('curated lists are found, with five of their podcasts', async () => {
  const { service, whales, bakers } = await openWithThree()
  await service.graphqlAs(
    admin,
    `mutation ($ids: [String!]!) { createCuratedList(title: "Sea shows", description: "With whales.",
       sourceUrl: "https://www.press.example/sea", podcastIds: $ids) { id } }`,
    { ids: [whales, bakers] },
  )

  const { body } = await find(service, { q: 'whales', type: 'curated' })
  const none = await find(service, { q: 'bread', type: 'curated' })

  expect(body.results).toHaveLength(1)
  expect(body.results[0]).toMatchObject({
    title_original: 'Sea shows',
    description_highlighted: `With ${FOUND('whales')}.`,
    source_domain: 'press.example',
    total: 2,
  })
  expect(body.results[0].podcasts.map(({ title }: any) => title)).toEqual([
    'The Whale Road',
    'Rye and Salt',
  ])
  expect(none.body.total).toBe(0)
})

test('the graph tells hits apart by their type', async () => {
  const { service, whales } = await openWithThree()

  const { data } = await service.graphql(`{
    podcastSearch(q: "whale song", pageSize: 1) { total count nextOffset results {
      __typename ... on EpisodeHit { episode { title } podcast { id } titleHighlighted } } }
    podcasts: podcastSearch(q: "whale road", type: "podcast", pageSize: 1) { results {
      __typename ... on PodcastHit { podcast { id title } } } }
    episodeTitleSearch(q: "krill") { total results { ... on EpisodeHit { titleHighlighted } } } }`)

  expect(data.podcastSearch).toMatchObject({
    count: 1,
    nextOffset: 1,
    results: [
      {
        __typename: 'EpisodeHit',
        episode: { title: 'Whale song' },
        podcast: { id: whales },
        titleHighlighted: `${FOUND('Whale')} ${FOUND('song')}`,
      },
    ],
  })
  expect(data.podcasts.results).toEqual([
    { __typename: 'PodcastHit', podcast: { id: whales, title: 'The Whale Road' } },
  ])
  expect(data.episodeTitleSearch).toEqual({
    total: 1,
    results: [{ titleHighlighted: FOUND('Krill') }],
  })
})

test('words in quotes must stand together', async () => {
  const { service } = await openWithThree()

  expect(await episodes(service, { q: '"a whale hunt"' })).toEqual(['Harpoon & rope'])
  expect(await episodes(service, { q: '"hunt a whale"' })).toEqual([])
})

test('a misspelled word finds what is spelled like it, and so does the beginning of one', async () => {
  const { service } = await openWithThree()

  expect((await episodes(service, { q: 'harpon' }))[0]).toBe('Harpoon & rope')
  expect((await episodes(service, { q: 'wahle sogn' }))[0]).toBe('Whale song')
  expect((await podcasts(service, { q: 'swearin' }))[0]).toBe('Rough Tides')
  expect((await podcasts(service, { q: 'brin' })).toSorted()).toEqual([
    'Rough Tides',
    'The Whale Road',
  ])
})

test('where not all words occur together, those with the rarest come', async () => {
  const { service } = await openWithThree()

  expect(await episodes(service, { q: 'krill bread' })).toContain('Krill')
  expect(await episodes(service, { q: 'krill xylophonist' })).toEqual(['Krill'])
})

test('only_in narrows the fields', async () => {
  const { service } = await openWithThree()

  expect(await episodes(service, { only_in: 'title' })).toEqual(['Whale song'])
  expect((await episodes(service, { only_in: 'title,description' })).toSorted()).toEqual([
    'Harpoon & rope',
    'Krill',
    'Storm',
    'Whale song',
  ])
  expect((await podcasts(service, { q: 'brine', only_in: 'author' })).toSorted()).toEqual([
    'Rough Tides',
    'The Whale Road',
  ])
  expect(await podcasts(service, { q: 'brine', only_in: 'title' })).toEqual([])
})

test('length, number of episodes and frequency have bounds that are included', async () => {
  const { service } = await openWithThree()

  expect((await episodes(service, { len_min: 30, len_max: 60 })).toSorted()).toEqual([
    'Harpoon & rope',
    'Krill',
  ])
  expect(await episodes(service, { len_max: 5 })).toEqual(['Storm'])
  expect(await podcasts(service, { episode_count_min: 2 })).toEqual(['The Whale Road'])
  expect(await podcasts(service, { episode_count_max: 1 })).toEqual(['Rye and Salt'])
  expect(await podcasts(service, { update_freq_min: 24, update_freq_max: 24 })).toEqual([
    'The Whale Road',
  ])
})

test('dates narrow episodes by when they appeared and podcasts by their latest', async () => {
  const { service } = await openWithThree()
  const before = Date.UTC(2028, 0, 1)

  expect(await podcasts(service, { published_before: before })).toEqual(['Rye and Salt'])
  expect(await podcasts(service, { published_after: before })).toEqual(['The Whale Road'])
  expect((await episodes(service, { published_after: Date.UTC(2029, 0, 20) })).toSorted()).toEqual([
    'Krill',
    'Storm',
  ])
})

test('genre, language, region and safe mode narrow what is found', async () => {
  const { service } = await openWithThree()

  expect(await podcasts(service, { genre_ids: '100,133' })).toEqual(['Rye and Salt'])
  expect(await podcasts(service, { language: 'german' })).toEqual(['Rye and Salt'])
  expect(await podcasts(service, { language: 'Any language', region: 'gb' })).toEqual([
    'The Whale Road',
  ])
  expect((await episodes(service, { safe_mode: 1 })).toSorted()).toEqual(['Krill', 'Whale song'])
  expect((await episodes(service, { genre_ids: '133' })).toSorted()).toEqual(['Storm'])
})

test('interviews and sponsors narrow podcasts', async () => {
  const { service } = await openWithThree()

  expect(await podcasts(service, { interviews_only: 1 })).toEqual(['The Whale Road'])
  expect(await podcasts(service, { sponsored_only: 1 })).toEqual([])
})

test('episodes are of certain podcasts, or not of them, or one of each', async () => {
  const { service, whales, rough } = await openWithThree()

  expect(await episodes(service, { ocid: rough })).toEqual(['Storm'])
  expect(await episodes(service, { ncid: whales })).toEqual(['Storm'])
  expect(await episodes(service, { ocid: `${rough},${whales}`, ncid: whales })).toEqual(['Storm'])
  expect(await episodes(service, { unique_podcasts: 1 })).toEqual(['Whale song', 'Storm'])
})

test('the newest come first when asked so', async () => {
  const { service } = await openWithThree()

  expect(await episodes(service, { sort_by_date: 1, ocid: '' })).toEqual([
    'Storm',
    'Krill',
    'Whale song',
    'Harpoon & rope',
  ])
  expect(await podcasts(service, { q: 'salt whale', sort_by_date: 1 })).toEqual(['Rye and Salt'])
})

test('pages follow each other without gaps, best first or newest first, to the last', async () => {
  const service = await openDirectory()
  const items = Array.from({ length: 400 }, (_, at) => ({
    title: `Lantern ${at}`,
    date: new Date(Date.UTC(2027, 0, 1 + at)).toUTCString(),
  }))
  await giveFeed(service, 'https://a.example/feed', { items })

  for (const sort_by_date of [0, 1]) {
    const seen: string[] = []
    let offset = 0
    for (;;) {
      const { body } = await find(service, { q: 'lantern', sort_by_date, offset })
      expect(body.total).toBe(400)
      seen.push(...body.results.map((one: any) => one.title_original))
      if (body.count === 0) break
      offset = body.next_offset
    }
    expect(new Set(seen).size).toBe(400)
    if (sort_by_date === 1) expect([seen[0], seen.at(-1)]).toEqual(['Lantern 399', 'Lantern 0'])
  }
})

test('of very many, the newest are found month by month', async () => {
  const service = await openDirectory()
  await loadShows(service, 140, 2800)

  const { body } = await find(service, { q: 'talk', sort_by_date: 1 })

  const dates = body.results.map((one: any) => one.pub_date_ms)
  expect(body.total).toBe(2800)
  expect(dates).toEqual(dates.toSorted((a: number, b: number) => b - a))
  const { data } = await service.graphql(
    '{ podcastSearch(q: "talk", sortByDate: 1, offset: 2799) { count nextOffset } }',
  )
  expect(data.podcastSearch).toEqual({ count: 1, nextOffset: 2800 })
})

test('a search by what is missing, none or out of range is refused', async () => {
  const service = await openDirectory()
  const six = Array.from({ length: 6 }, (_, at) => String(at).repeat(32))

  for (const query of [
    '',
    'q=',
    'q=%20%20',
    'q=a&type=song',
    'q=a&sort_by_date=2',
    'q=a&safe_mode=yes',
    'q=a&unique_podcasts=-1',
    'q=a&interviews_only=2',
    'q=a&sponsored_only=2',
    'q=a&page_size=11',
    'q=a&page_size=0',
    'q=a&offset=-1',
    'q=a&offset=10000',
    'q=a&len_min=2&len_max=1',
    'q=a&published_after=5&published_before=5',
    'q=a&episode_count_min=x',
    'q=a&genre_ids=1',
    'q=a&genre_ids=music',
    'q=a&only_in=title,body',
    'q=a&language=Klingon',
    'q=a&region=xx',
    'q=a&ocid=abc',
    `q=a&ncid=${six}`,
    `q=${'a'.repeat(301)}`,
  ]) {
    const { status, body } = await service.rest(`GET ${API}/search?${query}`)
    expect([query, status]).toEqual([query, 400])
    expect(body.error).not.toBe('')
  }
})

test('signs that mean something to an engine are no words, and find nothing', async () => {
  const { service } = await openWithThree()

  for (const q of ['***', '" OR 1', '-- ;', '🐋']) {
    expect((await find(service, { q })).status).toBe(200)
  }
})

test('the titles of one podcast are searched, by whichever id it is named', async () => {
  const { service, whales } = await openWithThree()
  await loadShows(service, 2, 4)
  const search = (query: string) => service.rest(`GET ${API}/search_episode_titles?${query}`)

  const byId = await search(`q=whale&podcast_id=${whales}`)
  const rss = encodeURIComponent('https://a.example/whales')
  const byRss = await search(`q=krill&podcast_id=${rss}&podcast_id_type=rss`)
  const byNumber = await search('q=krill&podcast_id=100000001&podcast_id_type=storeone_id')
  const byName = await search(
    'q=krill&podcast_id=S000000000000000000001&podcast_id_type=storetwo_id',
  )
  const inAll = await search('q=storm')

  expect(byId.body.results.map((one: any) => one.title_original)).toEqual(['Whale song'])
  expect(byRss.body.total).toBe(1)
  expect([byNumber.status, byNumber.body.total]).toEqual([200, 0])
  expect([byName.status, byName.body.total]).toEqual([200, 0])
  expect(inAll.body.results.map((one: any) => one.title_original)).toEqual(['Storm'])
})

test('a search in the titles of a podcast that is not there is refused', async () => {
  const service = await openDirectory()
  const search = (query: string) => service.rest(`GET ${API}/search_episode_titles?${query}`)

  const answers = [
    await search('q='),
    await search('q=a&podcast_id=none'),
    await search('q=a&podcast_id=none&podcast_id_type=storeone_id'),
    await search('q=a&podcast_id=none&podcast_id_type=storetwo_id'),
    await search('q=a&podcast_id=none&podcast_id_type=rss'),
    await search('q=a&podcast_id=none&podcast_id_type=isbn'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400])
})
