// Episodes, one or many, or any.
import { expect, test } from 'vitest'
import { API, giveFeed, loadShows, openDirectory, post } from './directory.ts'

const NONE = 'f'.repeat(32)

const openWithTwo = async () => {
  const service = await openDirectory()
  const podcast = await giveFeed(service, 'https://a.example/feed', {
    items: [
      { title: 'New', explicit: true },
      { title: 'Old', about: '<b>Salt</b>' },
    ],
  })
  const { body } = await service.rest(`GET ${API}/podcasts/${podcast}`)
  return { service, podcast, ids: body.episodes.map(({ id }: any) => id) as string[] }
}

test('an episode is shown with its podcast, and with its transcript only when asked for', async () => {
  const { service, podcast, ids } = await openWithTwo()

  const { status, body } = await service.rest(`GET ${API}/episodes/${ids[0]}`)

  expect(status).toBe(200)
  expect(body).toMatchObject({
    id: ids[0],
    title: 'New',
    description: 'About the sea.',
    audio: 'https://audio.example/1.mp3',
    image: 'https://img.example/talk.jpg',
    link: 'https://www.harbour.example/talk/1',
    vendor_url: `http://polygraph.test/e/${ids[0]}/`,
    vendor_edit_url: `http://polygraph.test/e/${ids[0]}/#edit`,
    guid_from_rss: 'guid-1',
    pub_date_ms: Date.UTC(2029, 0, 20),
    audio_length_sec: 600,
    explicit_content: true,
    maybe_audio_invalid: false,
    transcript: null,
    podcast: { id: podcast, title: 'Harbour Talk', total_episodes: 2 },
  })
  expect(body.podcast).not.toHaveProperty('episodes')
})

test('a transcript is told when it is asked for, at both doors', async () => {
  const service = await openDirectory()
  await loadShows(service, 1, 3)
  const { body } = await post(service, '/podcasts', { storeone_ids: '100000000' })
  const id = body.podcasts[0].latest_episode_id

  const shown = await service.rest(`GET ${API}/episodes/${id}?show_transcript=1`)
  const { data } = await service.graphql(
    `query ($id: String!) { with: episode(id: $id, showTranscript: 1) { transcript }
      without: episode(id: $id) { transcript title } }`,
    { id },
  )

  expect(shown.body.transcript).toContain('Welcome back')
  expect(data.with.transcript).toBe(shown.body.transcript)
  expect(data.without).toEqual({ transcript: null, title: shown.body.title })
})

test('an episode that is not there is 404, and a flag that is none is 400', async () => {
  const { service, ids } = await openWithTwo()

  const answers = [
    await service.rest(`GET ${API}/episodes/${NONE}`),
    await service.rest(`GET ${API}/episodes/${ids[0]}?show_transcript=yes`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([404, 400])
})

test('episodes are looked up together, in the order asked, without those that are not there', async () => {
  const { service, ids } = await openWithTwo()

  const { body } = await post(service, '/episodes', { ids: `${ids[1]},${NONE},${ids[0]}` })
  const { data } = await service.graphql(
    `{ episodesByIds(ids: "${ids[0]}") { episodes { title } } }`,
  )

  expect(body.episodes.map(({ title }: any) => title)).toEqual(['Old', 'New'])
  expect(body.episodes[0].podcast).toMatchObject({ title: 'Harbour Talk', listen_score: null })
  expect(data.episodesByIds.episodes).toEqual([{ title: 'New' }])
})

test('a lookup of episodes names ids, ten at most', async () => {
  const service = await openDirectory()
  const eleven = Array.from({ length: 11 }, (_, at) => `id${at}`).join(',')

  const answers = [
    await post(service, '/episodes'),
    await post(service, '/episodes', { ids: eleven }),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400])
})

test('any episode is one of the directory, with the short summary of its podcast', async () => {
  const { service, podcast, ids } = await openWithTwo()

  const { status, body } = await service.rest(`GET ${API}/just_listen`)
  const { data } = await service.graphql('{ justListen { id podcast { id } } }')

  expect(status).toBe(200)
  expect(ids).toContain(body.id)
  expect(Object.keys(body.podcast).sort()).toEqual(
    'id image listen_score listen_score_global_rank publisher thumbnail title vendor_url'.split(
      ' ',
    ),
  )
  expect(data.justListen.podcast.id).toBe(podcast)
})

test('an empty directory has no episode to listen to', async () => {
  const service = await openDirectory()

  const { status } = await service.rest(`GET ${API}/just_listen`)

  expect(status).toBe(404)
})

test('every request needs a key', async () => {
  const service = await openDirectory()

  const paths = ['/just_listen', '/genres', '/search?q=a', '/playlists', `/episodes/${NONE}`]
  const answers = await Promise.all(
    paths.map((path) => service.rest(`GET ${API}${path}`, undefined, { credential: null })),
  )
  const { errors } = await service.graphql('{ justListen { id } }', {}, { credential: null })

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
  expect(answers[0]!.body.error).toContain('X-Vendor-Api-Key')
  expect(errors![0].extensions.code).toBe('Unauthenticated')
})
