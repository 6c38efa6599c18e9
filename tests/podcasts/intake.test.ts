// Feeds that are handed in, fetched, read and looked at again.
import { expect, test } from 'vitest'
import { OutboundRefused } from '../../resolvers/kernel/outbound.ts'
import { people } from '../people.ts'
import {
  API,
  DAY_MS,
  feedOf,
  giveFeed,
  HOUR_MS,
  openDirectory,
  post,
  worldOf,
  type FeedOptions,
} from './directory.ts'

const RSS = 'https://a.example/feed'

const served = (options: FeedOptions, headers: Record<string, string> = {}) => ({
  body: Buffer.from(feedOf(options)),
  headers,
})

/** A service in a world with one feed, which a test can change. */
async function openWithWorld(
  answer: Parameters<typeof worldOf>[0] = () => served({ items: [{ title: 'One' }] }),
) {
  const world = { answer }
  const { asked, outbound } = worldOf((request) => world.answer(request))
  const service = await openDirectory({ outbound })
  const submit = (rss = RSS, credential: 'alice' | 'bob' = 'alice') =>
    post(service, '/podcasts/submit', { rss, email: 'me@a.example' }, { credential })
  return { service, world, asked, submit }
}

test('a feed that is handed in is in review until it was read, and found from then on', async () => {
  const { service, asked, submit } = await openWithWorld()

  const first = await submit()
  const again = await submit()
  await service.advance(1000)
  const found = await submit(`${RSS}#top`)

  const { id } = first.body.podcast
  expect(first.body).toEqual({
    status: 'in review',
    podcast: {
      id,
      title: '',
      publisher: '',
      image: '',
      thumbnail: '',
      vendor_url: `http://polygraph.test/c/${id}/`,
      listen_score: null,
      listen_score_global_rank: null,
    },
  })
  expect(again.body.status).toBe('in review')
  expect(found.body).toMatchObject({
    status: 'found',
    podcast: { id, title: 'Harbour Talk', publisher: 'Ann Quay' },
  })
  expect(asked.map(({ method, url }) => [method, url])).toEqual([['GET', RSS]])
  expect(service.mistakes).toEqual([])
})

test('what a feed says in the iTunes and Podcasting 2.0 namespaces is taken in', async () => {
  const { service, submit } = await openWithWorld(() =>
    served({
      title: 'Über & unter',
      guests: true,
      explicit: true,
      language: 'de',
      category: 'Video Games',
      more: '<itunes:type>serial</itunes:type>',
      items: [{ title: 'Eins', length: '01:02:03', date: 'Sat, 05 Jan 2029 01:00:00 +0100' }],
    }),
  )
  const { body: submitted } = await submit()
  await service.advance(1000)

  const { body } = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)

  expect(body).toMatchObject({
    title: 'Über & unter',
    type: 'serial',
    language: 'German',
    country: '',
    explicit_content: true,
    has_guest_interviews: true,
    genre_ids: [87],
  })
  expect(body.episodes[0]).toMatchObject({
    title: 'Eins',
    audio_length_sec: 3723,
    pub_date_ms: Date.UTC(2029, 0, 5),
  })
})

test('a refresh asks only for what changed, adds what is new, and loses nothing that a feed drops', async () => {
  const { service, world, asked, submit } = await openWithWorld(() =>
    served({ items: [{ guid: 'a', title: 'Old' }] }, { etag: '"1"', 'last-modified': 'Monday' }),
  )
  const { body: submitted } = await submit()
  const { id } = submitted.podcast
  await service.advance(1000)
  const old = await service.rest(`GET ${API}/podcasts/${id}`)

  world.answer = () => ({ status: 304 })
  const refreshed = await post(service, `/podcasts/${id}/rss`)
  const twice = await post(service, `/podcasts/${id}/rss`)
  await service.advance(1000)
  const unchanged = await service.rest(`GET ${API}/podcasts/${id}`)
  world.answer = () =>
    served({ items: [{ guid: 'b', title: 'New', date: 'Sun, 21 Jan 2029 00:00:00 GMT' }] })
  await post(service, `/podcasts/${id}/rss`)
  await service.advance(1000)
  const { body } = await service.rest(`GET ${API}/podcasts/${id}`)

  expect(refreshed.body).toEqual({
    status: 'queued',
    last_refreshed_at_ms: Date.UTC(2030, 0, 1),
  })
  expect(twice.status).toBe(200)
  expect(asked).toHaveLength(3)
  expect(asked[1]!.headers).toMatchObject({ 'if-none-match': '"1"', 'if-modified-since': 'Monday' })
  expect(asked[2]!.headers).toMatchObject({ 'if-none-match': '"1"' })
  expect(unchanged.body).toEqual(old.body)
  expect(body.episodes.map(({ title }: any) => title)).toEqual(['New', 'Old'])
  expect(body.total_episodes).toBe(2)
})

test('an episode that changed is replaced under its guid, and keeps its date and its id', async () => {
  const { service, world, submit } = await openWithWorld(() =>
    served({ items: [{ guid: 'a', title: 'Befor', length: '100' }] }),
  )
  const { body: submitted } = await submit()
  await service.advance(1000)
  const before = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)
  world.answer = () =>
    served({
      items: [
        { guid: 'a', title: 'Before', length: '200', date: 'Fri, 01 Dec 2028 00:00:00 GMT' },
        { guid: 'a', title: 'A copy' },
      ],
    })
  await post(service, `/podcasts/${submitted.podcast.id}/rss`)
  await service.advance(1000)

  const { body } = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)

  expect(body).toMatchObject({ total_episodes: 1, audio_length_sec: 200 })
  expect(body.episodes[0]).toMatchObject({
    id: before.body.episodes[0].id,
    title: 'Before',
    pub_date_ms: before.body.episodes[0].pub_date_ms,
  })
})

test('episodes of one moment are kept apart, so that none falls between two pages', async () => {
  const date = 'Sat, 06 Jan 2029 00:00:00 GMT'
  const items = Array.from({ length: 15 }, (_, at) => ({ title: `E${at}`, date }))
  const { service, submit } = await openWithWorld(() => served({ items }))
  const { body: submitted } = await submit()
  await service.advance(1000)
  const path = `${API}/podcasts/${submitted.podcast.id}`

  const first = await service.rest(`GET ${path}`)
  const second = await service.rest(
    `GET ${path}?next_episode_pub_date=${first.body.next_episode_pub_date}`,
  )

  const titles = [...first.body.episodes, ...second.body.episodes].map(({ title }: any) => title)
  expect(new Set(titles).size).toBe(15)
})

test.each([
  ['is no feed', () => ({ body: Buffer.from('<html></html>') }), 'cut off, or is no feed'],
  ['was cut off', () => ({ body: Buffer.from(feedOf().slice(0, -20)) }), 'cut off'],
  ['has no title', () => served({ title: '' }), 'no title'],
  ['is gone', () => ({ status: 410 }), 'answered 410'],
  ['is on a host that may not be called', () => OutboundRefused('Not allowed.'), 'Not allowed'],
])(
  'a feed that %s is rejected with the reason, and can be handed in again later',
  async (_, answer, reason) => {
    const { service, world, submit } = await openWithWorld(answer)
    const { body: submitted } = await submit()
    await service.advance(1000)

    const rejected = await submit()
    const told = await service.graphql(
      `mutation { submitPodcast(rss: "${RSS}") { status error podcast { id } } }`,
    )
    const shown = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)
    world.answer = () => served({})
    await service.advance(HOUR_MS)
    const again = await submit()
    await service.advance(1000)

    expect(rejected.body.status).toBe('rejected')
    expect(told.data.submitPodcast).toMatchObject({ status: 'rejected', podcast: null })
    expect(told.data.submitPodcast.error).toContain(reason)
    expect(shown.status).toBe(404)
    expect(again.body.status).toBe('in review')
    expect((await submit()).body.status).toBe('found')
  },
)

test('a feed that breaks is reported, and what was there stays', async () => {
  const { service, world, submit } = await openWithWorld()
  const { body: submitted } = await submit()
  const { id } = submitted.podcast
  await service.advance(1000)
  world.answer = () => ({ body: Buffer.from('<rss><channel><title>x</title>') })
  await post(service, `/podcasts/${id}/rss`)
  await service.advance(1000)

  const { data } = await service.graphql(
    `{ podcast(id: "${id}") { title feed { state error lastRefreshedAtMs } episodePage { title } } }`,
  )

  expect(data.podcast).toEqual({
    title: 'Harbour Talk',
    feed: {
      state: 'broken',
      error: 'the feed is cut off, or is no feed',
      lastRefreshedAtMs: Date.UTC(2030, 0, 1),
    },
    episodePage: [{ title: 'One' }],
  })
})

test('a server that fails is asked again, later and later, and not without end', async () => {
  const { service, asked, submit } = await openWithWorld(() => new Error('connection reset'))
  await submit()

  await service.advance(1000)
  const afterOne = asked.length
  await service.advance(DAY_MS)

  expect(afterOne).toBe(1)
  expect(asked).toHaveLength(5)
  expect((await service.opened.work.counts()).parked).toBe(0)
})

test('a feed is looked at again every day', async () => {
  const { service, asked, submit } = await openWithWorld()
  await submit()

  await service.advance(3 * DAY_MS + 1000)

  expect(asked).toHaveLength(4)
})

test('redirects are followed one by one, and one that lasts is remembered', async () => {
  const { service, world, asked, submit } = await openWithWorld(({ url }) =>
    url === RSS
      ? { status: 301, headers: { location: '/moved' } }
      : served({ items: [{ title: 'One' }] }),
  )
  const { body: submitted } = await submit()
  await service.advance(1000)
  const { body } = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)

  world.answer = ({ url }) => ({ status: 302, headers: { location: `${url}x` } })
  await post(service, `/podcasts/${submitted.podcast.id}/rss`)
  await service.advance(1000)

  expect(asked.slice(0, 2).map(({ url }) => url)).toEqual([RSS, 'https://a.example/moved'])
  expect(body.rss).toBe('https://a.example/moved')
  expect(asked).toHaveLength(2 + 6)
})

test('a feed says itself where it moved to', async () => {
  const { service, submit } = await openWithWorld(() =>
    served({ more: '<itunes:new-feed-url>https://b.example/new</itunes:new-feed-url>' }),
  )
  await submit()
  await service.advance(1000)

  const moved = await submit('https://b.example/new')
  const old = await submit()

  expect([moved.body.status, old.body.status]).toEqual(['found', 'found'])
  expect(moved.body.podcast.id).toBe(old.body.podcast.id)
})

test('a feed in another encoding is read as it says', async () => {
  const latin = feedOf({ title: 'Café' }).replace('UTF-8', 'ISO-8859-1')
  const { service, submit } = await openWithWorld(() => ({ body: Buffer.from(latin, 'latin1') }))
  await submit()
  await service.advance(1000)

  expect((await submit()).body.podcast.title).toBe('Café')
})

test('a large feed is read beside the requests', async () => {
  const items = Array.from({ length: 450 }, (_, at) => ({
    title: `Part ${at}`,
    date: new Date(Date.UTC(2028, 0, 1 + at)).toUTCString(),
  }))
  const { service, submit } = await openWithWorld(() => served({ items }))
  const { body: submitted } = await submit()
  await service.advance(1000)

  const { body } = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)

  expect(feedOf({ items }).length).toBeGreaterThan(100_000)
  expect(body).toMatchObject({ total_episodes: 450, latest_pub_date_ms: Date.UTC(2029, 2, 25) })
})

test('a transcript that a feed names is fetched, and what is said is found', async () => {
  const transcript = '<podcast:transcript url="https://a.example/t.vtt" type="text/vtt"/>'
  const vtt = 'WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n<v Ann>Halibut ahoy\n'
  const { service, submit } = await openWithWorld(({ url }) =>
    url.endsWith('.vtt')
      ? { body: Buffer.from(vtt) }
      : served({ items: [{ title: 'One', more: transcript }] }),
  )
  await submit()
  await service.advance(1000)

  const { body } = await service.rest(`GET ${API}/search?q=halibut&only_in=audio`)
  const shown = await service.rest(`GET ${API}/episodes/${body.results[0].id}?show_transcript=1`)

  expect(shown.body.transcript).toBe('Halibut ahoy')
  expect(body.results[0].transcripts_highlighted).toEqual([
    '<span class="vendor-search-highlight">Halibut</span> ahoy',
  ])
})

test('episodes follow a podcast that is renamed', async () => {
  const service = await openDirectory()
  await giveFeed(service, RSS, { items: [{ title: 'One' }] })
  await giveFeed(service, RSS, { title: 'Herring Gull', items: [{ title: 'One' }] })
  await service.advance(1000)

  const { body } = await service.rest(`GET ${API}/search?q=herring`)
  const old = await service.rest(`GET ${API}/search?q=harbour`)

  expect(body.results[0].podcast.title_original).toBe('Herring Gull')
  expect(old.body.total).toBe(0)
})

test('a step that runs twice changes nothing', async () => {
  const { service, submit } = await openWithWorld()
  const { body: submitted } = await submit()
  await service.advance(1000)
  const words = () => service.store.sql('SELECT word, titles, texts FROM word ORDER BY word')
  const before = await words()

  await giveFeed(service, RSS, { items: [{ title: 'One' }] })
  await giveFeed(service, RSS, { items: [{ title: 'One' }] })

  expect(await words()).toEqual(before)
  const { body } = await service.rest(`GET ${API}/podcasts/${submitted.podcast.id}`)
  expect(body.total_episodes).toBe(1)
})

test('what is no address of a feed is refused, and so is a body that is no feed', async () => {
  const { service, submit } = await openWithWorld()
  const answers = [
    await submit(''),
    await submit('feed'),
    await submit('file:///etc/passwd'),
    await submit('https://me:secret@a.example/'),
    await submit(`https://a.example/${'x'.repeat(1000)}`),
    await post(service, '/podcasts/submit', {}),
    await post(service, `/podcasts/${'0'.repeat(32)}/rss`),
  ]
  const body = await service.graphql(
    `mutation { submitFeed(rss: "${RSS}", feed: "hello") { status } }`,
  )

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 400, 404])
  expect(body.errors![0]).toMatchObject({
    message: 'The feed cannot be read: the feed is cut off, or is no feed.',
    extensions: { code: 'BadRequest' },
  })
})

test("another's podcast is not rewritten by a body", async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, RSS)

  await expect(giveFeed(service, RSS, { title: 'Mine now' }, people.bob)).rejects.toThrow(
    'submitted by someone else',
  )
  const { body } = await service.rest(`GET ${API}/podcasts/${id}`)

  expect(body.title).toBe('Harbour Talk')
})

test('what is taken in is announced', async () => {
  const { service, submit } = await openWithWorld()
  await submit()
  await service.advance(1000)

  const events = await service.store.sql('SELECT type FROM event ORDER BY number')

  expect(events.map(({ type }) => type)).toEqual([
    'podcasts.podcast.created',
    'podcasts.episode.created',
  ])
})
