// Podcasts, one or many.
import { expect, test } from 'vitest'
import { API, giveFeed, loadShows, openDirectory, post } from './directory.ts'

const twelve = Array.from({ length: 12 }, (_, at) => ({ title: `Tide ${12 - at}` }))
const NONE = 'f'.repeat(32)

test('a podcast is shown with its newest ten episodes, and the next page is strictly older', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/feed', { items: twelve })

  const first = await service.rest(`GET ${API}/podcasts/${id}`)
  const at = first.body.next_episode_pub_date
  const second = await service.rest(`GET ${API}/podcasts/${id}?next_episode_pub_date=${at}`)
  const last = second.body.next_episode_pub_date
  const end = await service.rest(`GET ${API}/podcasts/${id}?next_episode_pub_date=${last}`)

  const titles = (page: typeof first) => page.body.episodes.map((one: any) => one.title)
  expect(titles(first)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3].map((at) => `Tide ${at}`))
  expect(at).toBe(Date.UTC(2029, 0, 11))
  expect(titles(second)).toEqual(['Tide 2', 'Tide 1'])
  expect([titles(end), end.body.next_episode_pub_date]).toEqual([[], null])
})

test('the oldest come first when asked so, and the next page is strictly newer', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/feed', { items: twelve })

  const first = await service.rest(`GET ${API}/podcasts/${id}?sort=oldest_first`)
  const at = first.body.next_episode_pub_date
  const second = await service.rest(
    `GET ${API}/podcasts/${id}?sort=oldest_first&next_episode_pub_date=${at}`,
  )

  expect(first.body.episodes[0].title).toBe('Tide 1')
  expect(second.body.episodes.map((one: any) => one.title)).toEqual(['Tide 11', 'Tide 12'])
})

test('a podcast has all documented fields, with nothing in those that a feed does not tell', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/feed', {
    items: [
      { title: 'One', length: '100' },
      { title: 'Two', length: '300' },
    ],
  })

  const { body } = await service.rest(`GET ${API}/podcasts/${id}`)

  expect(body).toMatchObject({
    id,
    title: 'Harbour Talk',
    publisher: 'Ann Quay',
    description: 'Ships and tides.',
    country: 'United Kingdom',
    language: 'English',
    type: 'episodic',
    website: 'https://www.harbour.example/talk',
    rss: 'https://a.example/feed',
    email: 'ann@harbour.example',
    image: 'https://img.example/talk.jpg',
    thumbnail: 'https://img.example/talk.jpg',
    vendor_url: `http://polygraph.test/c/${id}/`,
    listen_score: null,
    listen_score_global_rank: null,
    storeone_id: null,
    total_episodes: 2,
    audio_length_sec: 200,
    update_frequency_hours: 24,
    earliest_pub_date_ms: Date.UTC(2029, 0, 19),
    latest_pub_date_ms: Date.UTC(2029, 0, 20),
    latest_episode_id: body.episodes[0].id,
    is_claimed: false,
    explicit_content: false,
    has_guest_interviews: false,
    has_sponsors: false,
    looking_for: { cohosts: false, cross_promotion: false, sponsors: false, guests: false },
    genre_ids: [77],
  })
  expect(Object.keys(body.extra)).toHaveLength(12)
  expect(Object.keys(body).sort()).toEqual(
    'audio_length_sec country description earliest_pub_date_ms email episodes explicit_content extra genre_ids has_guest_interviews has_sponsors id image is_claimed language latest_episode_id latest_pub_date_ms listen_score listen_score_global_rank looking_for next_episode_pub_date publisher rss storeone_id thumbnail title total_episodes type update_frequency_hours vendor_url website'.split(
      ' ',
    ),
  )
})

test('the graph shows a podcast with the same page of episodes, and all of them as a connection', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/feed', { items: twelve })

  const { data } = await service.graphql(
    `query ($id: String!, $at: Float) { podcast(id: $id, nextEpisodePubDate: $at, sort: "recent_first") {
      title audioLengthSec updateFrequencyHours listenScoreGlobalRank vendorUrl nextEpisodePubDate
      genres { name parent { id } } episodePage { title }
      episodes(first: 2) { nodes { title podcast { title } } pageInfo { hasNextPage } }
      extra { socialHandle url1 } feed { state } submittedBy { id } } }`,
    { id, at: Date.UTC(2029, 0, 11) },
  )

  expect(data.podcast).toEqual({
    title: 'Harbour Talk',
    audioLengthSec: 600,
    updateFrequencyHours: 24,
    listenScoreGlobalRank: null,
    vendorUrl: `http://polygraph.test/c/${id}/`,
    nextEpisodePubDate: Date.UTC(2029, 0, 9),
    genres: [{ name: 'Sports', parent: { id: 67 } }],
    episodePage: [{ title: 'Tide 2' }, { title: 'Tide 1' }],
    episodes: {
      nodes: [
        { title: 'Tide 12', podcast: { title: 'Harbour Talk' } },
        { title: 'Tide 11', podcast: { title: 'Harbour Talk' } },
      ],
      pageInfo: { hasNextPage: true },
    },
    extra: { socialHandle: '', url1: '' },
    feed: { state: 'active' },
    submittedBy: { id: 'alice' },
  })
})

test('a podcast that is not there is 404, and a bad page or order is 400', async () => {
  const service = await openDirectory()

  const answers = [
    await service.rest(`GET ${API}/podcasts/${NONE}`),
    await service.rest(`GET ${API}/podcasts/submit`),
    await service.rest(`GET ${API}/podcasts/${NONE}?sort=newest`),
    await service.rest(`GET ${API}/podcasts/${NONE}?next_episode_pub_date=-1`),
    await service.rest(`GET ${API}/podcasts/${NONE}?next_episode_pub_date=soon`),
  ]
  const { errors } = await service.graphql(`{ podcast(id: "${NONE}") { id } }`)

  expect(answers.map(({ status }) => status)).toEqual([404, 405, 400, 400, 400])
  expect(answers[0]!.body).toEqual({ error: `There is no podcast ${NONE}.` })
  expect(errors![0].extensions).toMatchObject({ code: 'NotFound', status: 404 })
})

test('podcasts are looked up by ids of every sort, in the order asked, each once', async () => {
  const service = await openDirectory()
  await loadShows(service, 3, 6)
  const rss = (number: number) => `https://feeds.example.org/show-${number}.xml`
  const byRss = await post(service, '/podcasts', { rsses: `${rss(1)},${rss(0)}` })
  const [one, zero] = byRss.body.podcasts

  const byAll = await post(service, '/podcasts', {
    ids: zero.id,
    rsses: rss(0),
    storeone_ids: '100000001,5',
    storetwo_ids: 'S000000000000000000002',
  })
  const { data } = await service.graphql(
    `{ podcastsByIds(ids: "${one.id}") { podcasts { id } latestEpisodes { id } } }`,
  )

  expect(byRss.body).not.toHaveProperty('latest_episodes')
  expect(byAll.body.podcasts.map((podcast: any) => podcast.rss)).toEqual([rss(0), rss(1), rss(2)])
  expect(data.podcastsByIds).toEqual({ podcasts: [{ id: one.id }], latestEpisodes: null })
})

test('the latest episodes of several podcasts come together, fifteen at a time', async () => {
  const service = await openDirectory()
  const ids = [
    await giveFeed(service, 'https://a.example/feed', { items: twelve }),
    await giveFeed(service, 'https://b.example/feed', {
      title: 'Other',
      items: Array.from({ length: 10 }, (_, at) => ({
        title: `Port ${at}`,
        date: new Date(Date.UTC(2029, 0, 20 - at, 6)).toUTCString(),
      })),
    }),
  ].join(',')
  const asked = { ids, show_latest_episodes: '1' }

  const first = await post(service, '/podcasts', asked)
  const next = String(first.body.next_episode_pub_date)
  const second = await post(service, '/podcasts', { ...asked, next_episode_pub_date: next })

  const { latest_episodes } = first.body
  expect(latest_episodes.slice(0, 3).map((one: any) => one.title)).toEqual([
    'Port 0',
    'Tide 12',
    'Port 1',
  ])
  expect(latest_episodes[0].podcast.title).toBe('Other')
  expect([latest_episodes.length, second.body.latest_episodes.length]).toEqual([15, 7])
  expect(second.body.latest_episodes[0].title).toBe('Tide 5')
})

test('a lookup names one podcast at least and ten at most, in whole numbers where numbers are meant', async () => {
  const service = await openDirectory()
  const ids = Array.from({ length: 11 }, (_, at) => String(at).padStart(32, '0')).join(',')

  const answers = [
    await post(service, '/podcasts'),
    await post(service, '/podcasts', { ids: ' , ' }),
    await post(service, '/podcasts', { ids }),
    await post(service, '/podcasts', { storeone_ids: 'seven' }),
    await post(service, '/podcasts', { ids: 'a', show_latest_episodes: '2' }),
    await post(service, '/podcasts', { ids: 'unknown' }),
    await service.rest(`POST ${API}/podcasts`, { ids: 'a' }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 200, 415])
  expect(answers[5]!.body).toEqual({ podcasts: [] })
})

test('podcasts are found by the domain of their website, ten a page', async () => {
  const service = await openDirectory()
  for (let at = 0; at < 11; at += 1) {
    await giveFeed(service, `https://a.example/${at}`, { site: 'https://WWW.Quay.example/x' })
  }
  await giveFeed(service, 'https://b.example/feed', { site: 'https://harbour.example' })

  const first = await service.rest(`GET ${API}/podcasts/domains/quay.example`)
  const second = await service.rest(`GET ${API}/podcasts/domains/www.quay.example?page=2`)
  const { data } = await service.graphql(
    '{ podcastsByDomain(domainName: "harbour.example") { hasNext podcasts { rss } } }',
  )

  const { podcasts, ...envelope } = first.body
  expect(podcasts).toHaveLength(10)
  expect(envelope).toEqual({
    has_next: true,
    has_previous: false,
    page_number: 1,
    next_page_number: 2,
    previous_page_number: 0,
  })
  expect(second.body).toMatchObject({ has_next: false, has_previous: true, page_number: 2 })
  expect(second.body.podcasts).toHaveLength(1)
  expect(data.podcastsByDomain).toEqual({
    hasNext: false,
    podcasts: [{ rss: 'https://b.example/feed' }],
  })
})

test('a domain without podcasts is 404, and a page that is none is 400', async () => {
  const service = await openDirectory()

  const answers = [
    await service.rest(`GET ${API}/podcasts/domains/nowhere.example`),
    await service.rest(`GET ${API}/podcasts/domains/%20`),
    await service.rest(`GET ${API}/podcasts/domains/a.example?page=0`),
    await service.rest(`GET ${API}/podcasts/domains/a.example?page=1001`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400])
})

test('the audience is told by region, the greatest share first, and not made up where nobody knows', async () => {
  const service = await openDirectory()
  const silent = await giveFeed(service, 'https://a.example/feed')
  await loadShows(service, 1, 1)
  const { body: found } = await post(service, '/podcasts', { storeone_ids: '100000000' })
  const { id } = found.podcasts[0]

  const known = await service.rest(`GET ${API}/podcasts/${id}/audience`)
  const unknown = await service.rest(`GET ${API}/podcasts/${silent}/audience`)
  const missing = await service.rest(`GET ${API}/podcasts/${NONE}/audience`)
  const { data } = await service.graphql(
    `{ podcastAudience(id: "${id}") { region ratio regionName } }`,
  )

  const shares = known.body.by_regions.map(({ ratio }: any) => Number(ratio.slice(0, -1)))
  expect(shares.length).toBeGreaterThan(0)
  expect(shares.toSorted((a: number, b: number) => b - a)).toEqual(shares)
  expect(shares.reduce((sum: number, share: number) => sum + share)).toBeCloseTo(100, 1)
  expect(unknown.body).toEqual({ by_regions: [] })
  expect(missing.status).toBe(404)
  expect(data.podcastAudience.map(({ region, ratio }: any) => ({ region, ratio }))).toEqual(
    known.body.by_regions,
  )
})

test('the rank of a score is the share of podcasts that have it or more', async () => {
  const service = await openDirectory()
  await giveFeed(service, 'https://a.example/feed')
  await loadShows(service, 4, 4)
  const storeone_ids = '100000000,100000001,100000002,100000003'

  const { body } = await post(service, '/podcasts', { storeone_ids })

  const ranks = body.podcasts
    .toSorted((a: any, b: any) => b.listen_score - a.listen_score)
    .map((podcast: any) => podcast.listen_score_global_rank)
  expect(ranks).toEqual(['25%', '50%', '75%', '100%'])
})
