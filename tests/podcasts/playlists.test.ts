// Playlists and what is on them.
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { people } from '../people.ts'
import { admin, API, giveFeed, openDirectory, post } from './directory.ts'

const ITEM = `mutation ($id: String!, $episode: String, $podcast: String) {
  addPlaylistItem(id: $id, episodeId: $episode, podcastId: $podcast, notes: "n") { id type } }`

async function openWithList(visibility = 'private') {
  const service = await openDirectory()
  const podcast = await giveFeed(service, 'https://a.example/feed', {
    items: [
      { title: 'C', length: '30' },
      { title: 'B', length: '20' },
      { title: 'A', length: '10' },
    ],
  })
  const { body } = await service.rest(`GET ${API}/podcasts/${podcast}`)
  const ids = body.episodes.map(({ id }: any) => id) as [string, string, string]
  const made = await post(service, '/playlists', { name: 'Mine & more', visibility })
  return { service, podcast, ids, id: made.body.id as string, made }
}

const add = (service: TestService, id: string, form: Record<string, string>) =>
  post(service, `/playlists/${id}/items`, form)
const read = (service: TestService, id: string, query = '') =>
  service.rest(`GET ${API}/playlists/${id}${query}`)
const as = (credential: 'bob') => ({ credential })

test('a playlist is made, private unless said, and listed with those of its owner alone', async () => {
  const { service, id, made } = await openWithList()

  const mine = await service.rest(`GET ${API}/playlists`)
  const others = await service.rest(`GET ${API}/playlists`, undefined, as('bob'))
  const { data } = await service.graphql(
    '{ playlists { total playlists { id name owner { id } } } }',
  )

  expect(made.status).toBe(201)
  expect(id).toMatch(/^[\w-]{11}$/)
  expect(mine.body).toEqual({
    has_next: false,
    has_previous: false,
    page_number: 1,
    next_page_number: 2,
    previous_page_number: 0,
    total: 1,
    playlists: [
      {
        id,
        name: 'Mine & more',
        description: '',
        image: '',
        thumbnail: '',
        vendor_url: `http://polygraph.test/playlists/mine-more-${id}/episodes/`,
        visibility: 'private',
        episode_count: 0,
        podcast_count: 0,
        total_audio_length_sec: 0,
        last_timestamp_ms: 0,
      },
    ],
  })
  expect(others.body).toMatchObject({ total: 0, playlists: [] })
  expect(data.playlists).toEqual({
    total: 1,
    playlists: [{ id, name: 'Mine & more', owner: { id: 'alice' } }],
  })
})

test('playlists are listed by name and by age', async () => {
  const service = await openDirectory()
  for (const name of ['beta', 'Gamma', 'Alpha']) {
    await post(service, '/playlists', { name })
    await service.advance(1)
  }
  const names = async (query: string) => {
    const { body } = await service.rest(`GET ${API}/playlists?${query}`)
    return body.playlists.map(({ name }: any) => name)
  }

  expect(await names('')).toEqual(['Alpha', 'Gamma', 'beta'])
  expect(await names('sort=oldest_added_first')).toEqual(['beta', 'Gamma', 'Alpha'])
  expect(await names('sort=name_a_to_z')).toEqual(['Alpha', 'beta', 'Gamma'])
  expect(await names('sort=name_z_to_a')).toEqual(['Gamma', 'beta', 'Alpha'])
  expect(await names('page=2')).toEqual([])
  const wrong = [
    await service.rest(`GET ${API}/playlists?sort=size`),
    await service.rest(`GET ${API}/playlists?page=0`),
  ]
  expect(wrong.map(({ status }) => status)).toEqual([400, 400])
})

test('episodes and podcasts are on lists of their own, what was added last first', async () => {
  const { service, podcast, ids, id } = await openWithList()
  await add(service, id, { episode_id: ids[1], notes: 'again' })
  await add(service, id, { episode_id: ids[0] })
  await add(service, id, { podcast_id: podcast })

  const episodes = await read(service, id)
  const podcasts = await read(service, id, '?type=podcast_list')

  expect(episodes.body).toMatchObject({
    id,
    name: 'Mine & more',
    type: 'episode_list',
    total: 2,
    total_audio_length_sec: 50,
    last_timestamp_ms: Date.UTC(2030, 0, 1),
  })
  expect(episodes.body.items.map((item: any) => [item.id, item.type, item.data.title])).toEqual([
    [2, 'episode', 'C'],
    [1, 'episode', 'B'],
  ])
  expect(episodes.body.items[1]).toMatchObject({
    notes: 'again',
    added_at_ms: Date.UTC(2030, 0, 1),
    data: { podcast: { title: 'Harbour Talk' } },
  })
  expect(podcasts.body).toMatchObject({ type: 'podcast_list', total: 1, total_audio_length_sec: 0 })
  expect(podcasts.body.vendor_url).toBe(`http://polygraph.test/playlists/mine-more-${id}/podcasts/`)
  expect(podcasts.body.items[0]).toMatchObject({ type: 'podcast', data: { total_episodes: 3 } })
})

test('items are sorted by when they were added or published', async () => {
  const { service, ids, id } = await openWithList()
  for (const at of [1, 2, 0]) await add(service, id, { episode_id: ids[at]! })
  const titles = async (sort: string) => {
    const { body } = await read(service, id, `?sort=${sort}`)
    return body.items.map((item: any) => item.data.title).join('')
  }

  expect(await titles('recent_added_first')).toBe('CAB')
  expect(await titles('oldest_added_first')).toBe('BAC')
  expect(await titles('recent_published_first')).toBe('CBA')
  expect(await titles('oldest_published_first')).toBe('ABC')
})

test('pages of twenty follow each other by the timestamp, in every order', async () => {
  const { service, id } = await openWithList()
  const audio = `mutation ($id: String!, $title: String!) { addPlaylistAudio(id: $id, title: $title,
    audio: "https://a.example/x.mp3", audioLengthSec: 5, pubDateMs: 1000) { id } }`
  for (let at = 0; at < 45; at += 1) await service.graphql(audio, { id, title: `${at}` })

  for (const sort of [
    'recent_added_first',
    'oldest_added_first',
    'recent_published_first',
    'oldest_published_first',
  ]) {
    const seen: string[] = []
    let last = 0
    for (;;) {
      const { body } = await read(service, id, `?sort=${sort}&last_timestamp_ms=${last}`)
      if (body.items.length === 0) break
      seen.push(...body.items.map((item: any) => item.data.title))
      last = body.last_timestamp_ms
    }
    expect([sort, new Set(seen).size, seen.length]).toEqual([sort, 45, 45])
  }
})

test('what is on the playlist already is not added twice', async () => {
  const { service, ids, id } = await openWithList()

  const first = await add(service, id, { episode_id: ids[0] })
  const again = await add(service, id, { episode_id: ids[0], notes: 'new' })

  expect([first.status, again.status]).toEqual([201, 200])
  expect(again.body).toEqual(first.body)
  expect((await read(service, id)).body.total).toBe(1)
})

test('notes are replaced and items taken off', async () => {
  const { service, ids, id } = await openWithList()
  await add(service, id, { episode_id: ids[0] })
  await add(service, id, { episode_id: ids[1] })

  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
  const noted = await service.rest(`PUT ${API}/playlists/${id}/items/1`, 'notes=later', form)
  const gone = await service.rest(`DELETE ${API}/playlists/${id}/items/2`)
  const { body } = await read(service, id)

  expect([noted.status, gone.status]).toEqual([200, 204])
  expect(body).toMatchObject({ total: 1, total_audio_length_sec: 30 })
  expect(body.items.map(({ id, notes }: any) => [id, notes])).toEqual([[1, 'later']])
})

test('a playlist is changed where something is given, and removed with its items', async () => {
  const { service, ids, id } = await openWithList()
  await add(service, id, { episode_id: ids[0] })
  const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }

  const changed = await service.rest(`PUT ${API}/playlists/${id}`, 'visibility=public', form)
  const removed = await service.rest(`DELETE ${API}/playlists/${id}`)
  const after = await read(service, id)
  await service.advance(1000)

  expect(changed.body).toMatchObject({
    name: 'Mine & more',
    visibility: 'public',
    episode_count: 1,
  })
  expect([removed.status, after.status]).toEqual([204, 404])
  expect(await service.store.sql('SELECT count(*) AS items FROM playlist_item')).toEqual([
    { items: 0 },
  ])
})

test('an item whose episode was removed says so', async () => {
  const { service, podcast, ids, id } = await openWithList()
  await add(service, id, { episode_id: ids[0] })
  await service.rest(`DELETE ${API}/podcasts/${podcast}`)
  await service.graphqlAs(
    admin,
    `mutation { decidePodcastDeletion(podcastId: "${podcast}", isGranted: true) { state } }`,
  )

  const { body } = await read(service, id)

  expect(body.items[0].data).toEqual({
    id: ids[0],
    title: 'C',
    status: 'deleted',
    error: 'This episode was deleted.',
  })
})

test.each([
  ['private', 404],
  ['unlisted', 200],
  ['public', 200],
])('a %s playlist answers others with %i', async (visibility, status) => {
  const { service, id } = await openWithList(visibility)

  const answer = await service.rest(`GET ${API}/playlists/${id}`, undefined, as('bob'))
  const { data } = await service.graphql(
    `query { _entities(representations: [{ __typename: "Playlist", id: "${id}" }]) { ... on Playlist { name owner { id } } } }`,
    {},
    as('bob'),
  )

  expect(answer.status).toBe(status)
  expect(data._entities).toEqual([status === 404 ? null : { name: 'Mine & more', owner: null }])
})

test("another's playlist is not changed by anyone, and nothing that is not there is added", async () => {
  const { service, podcast, ids, id } = await openWithList('public')
  const form = {
    credential: 'bob' as const,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }
  await add(service, id, { episode_id: ids[0] })

  const answers = [
    await post(service, `/playlists/${id}/items`, { podcast_id: podcast }, as('bob')),
    await service.rest(`PUT ${API}/playlists/${id}`, 'name=x', form),
    await service.rest(`PUT ${API}/playlists/${id}/items/1`, 'notes=x', form),
    await service.rest(`DELETE ${API}/playlists/${id}/items/1`, undefined, as('bob')),
    await service.rest(`DELETE ${API}/playlists/${id}`, undefined, as('bob')),
    await read(service, 'none'),
    await service.rest(`DELETE ${API}/playlists/${id}/items/9`),
    await add(service, id, {}),
    await add(service, id, { episode_id: ids[0], podcast_id: podcast }),
    await add(service, id, { episode_id: 'none' }),
    await add(service, id, { podcast_id: 'none' }),
    await post(service, '/playlists', {}),
    await post(service, '/playlists', { name: 'x', visibility: 'secret' }),
    await read(service, id, '?type=songs'),
    await read(service, id, '?sort=random'),
    await read(service, id, '?last_timestamp_ms=-1'),
  ]
  const audio = await service.graphql(
    `mutation { addPlaylistAudio(id: "${id}", title: "t", audio: "file:///x", audioLengthSec: 1) { id } }`,
  )
  const { body } = await read(service, id)

  expect(answers.map(({ status }) => status)).toEqual([
    404, 404, 404, 404, 404, 404, 404, 400, 400, 400, 400, 400, 400, 400, 400, 400,
  ])
  expect(audio.errors![0].extensions.code).toBe('BadRequest')
  expect(body).toMatchObject({ name: 'Mine & more', total: 1 })
  expect(body.items[0].notes).toBe('')
})

test('the graph makes, fills and shows playlists', async () => {
  const { service, podcast, ids, id } = await openWithList()
  await service.graphql(ITEM, { id, episode: ids[2] })
  await service.graphql(ITEM, { id, podcast })
  const changed = await service.graphql(
    `mutation { updatePlaylist(id: "${id}", description: "d") { description name }
       updatePlaylistItem(id: "${id}", itemId: 1, notes: "m") { notes } }`,
  )

  const { data } = await service.graphql(
    `query ($id: String!, $podcast: String!) {
      playlist(id: $id, type: "episode_list") { items { id notes episode { title } } pageLastTimestampMs
        episodeItems { nodes { episode { title podcast { title } } } }
        podcastItems(first: 1) { nodes { podcast { title } episode { id } } pageInfo { hasNextPage } } }
      podcast(id: $podcast) { myPlaylists { name } } }`,
    { id, podcast },
  )
  const gone = await service.graphql(
    `mutation { deletePlaylistItem(id: "${id}", itemId: 1) deletePlaylist(id: "${id}") }`,
  )

  expect(changed.data).toEqual({
    updatePlaylist: { description: 'd', name: 'Mine & more' },
    updatePlaylistItem: { notes: 'm' },
  })
  expect(data.playlist).toEqual({
    items: [{ id: 1, notes: 'm', episode: { title: 'A' } }],
    pageLastTimestampMs: Date.UTC(2030, 0, 1),
    episodeItems: { nodes: [{ episode: { title: 'A', podcast: { title: 'Harbour Talk' } } }] },
    podcastItems: {
      nodes: [{ podcast: { title: 'Harbour Talk' }, episode: null }],
      pageInfo: { hasNextPage: false },
    },
  })
  expect(data.podcast.myPlaylists).toEqual([{ name: 'Mine & more' }])
  expect(gone.data).toEqual({ deletePlaylistItem: true, deletePlaylist: true })
})

test('a service that asks by itself has no playlists', async () => {
  const service = await openDirectory()

  const { errors } = await service.graphqlAs(
    { ...people.alice, kind: 'service' },
    'mutation { createPlaylist(name: "x") { id } }',
  )

  expect(errors![0].extensions.code).toBe('Forbidden')
})
