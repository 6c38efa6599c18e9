// What the graph joins on, and what the directory adds to people.
import { expect, test } from 'vitest'
import type { Store } from '../../resolvers/kernel/store.ts'
import { people } from '../people.ts'
import { admin, API, giveFeed, loadShows, openDirectory, post } from './directory.ts'

const ENTITIES = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on Podcast { id title episodes(first: 1) { nodes { title } } }
    ... on Episode { id title podcast { title } }
    ... on CuratedList { id }
    ... on User { id playlists { nodes { name } } submittedPodcasts { nodes { title } } }
  }
}`

/** Counts the reads of records and pages. */
function counting() {
  const counted: Record<string, number> = {}
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        if (['get', 'getMany', 'list', 'listMany', 'sql'].includes(String(name))) {
          counted[String(name)] = (counted[String(name)] ?? 0) + 1
        }
        const member = target[name as keyof Store]
        return typeof member === 'function' ? (member as any).bind(target) : member
      },
    })
  return { counted, wrap }
}

test('fifty podcasts with their newest episodes take one read of each', async () => {
  const { counted, wrap } = counting()
  const service = await openDirectory({ wrap })
  await loadShows(service, 50, 100)
  const ids = (await service.store.sql('SELECT key FROM podcast')).map(({ key }) => key)
  for (const name of Object.keys(counted)) delete counted[name]

  const { data } = await service.graphql(ENTITIES, {
    representations: [...ids, 'none'].map((id) => ({ __typename: 'Podcast', id })),
  })

  expect(data.entities).toHaveLength(51)
  expect(data.entities[50]).toBeNull()
  expect(data.entities[0].episodes.nodes).toHaveLength(1)
  expect(counted).toEqual({ getMany: 1, listMany: 1 })
})

test('fifty episodes with their podcasts take one read of each', async () => {
  const { counted, wrap } = counting()
  const service = await openDirectory({ wrap })
  await loadShows(service, 25, 50)
  const ids = (await service.store.sql('SELECT key FROM episode')).map(({ key }) => key)
  for (const name of Object.keys(counted)) delete counted[name]

  const { data } = await service.graphql(ENTITIES, {
    representations: ids.map((id) => ({ __typename: 'Episode', id })),
  })

  expect(data.entities).toHaveLength(50)
  expect(data.entities.every((episode: any) => episode.podcast.title !== '')).toBe(true)
  expect(counted).toEqual({ getMany: 2 })
})

test('a person has playlists and submitted podcasts, which only they and administrators see', async () => {
  const service = await openDirectory()
  await giveFeed(service, 'https://a.example/feed')
  await post(service, '/playlists', { name: 'Mine' })
  const representations = [
    { __typename: 'User', id: 'alice' },
    { __typename: 'User', id: 'bob' },
  ]

  const own = await service.graphql(ENTITIES, { representations })
  const others = await service.graphql(ENTITIES, { representations }, { credential: 'bob' })
  const all = await service.graphqlAs(admin, ENTITIES, { representations })

  const alice = {
    id: 'alice',
    playlists: { nodes: [{ name: 'Mine' }] },
    submittedPodcasts: { nodes: [{ title: 'Harbour Talk' }] },
  }
  const bob = { id: 'bob', playlists: { nodes: [] }, submittedPodcasts: { nodes: [] } }
  expect(own.data.entities).toEqual([alice, null])
  expect(others.data.entities).toEqual([null, bob])
  expect(all.data.entities).toEqual([alice, bob])
})

test('who submitted a podcast is told to them and to administrators', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/feed')
  const query = `{ podcast(id: "${id}") { submittedBy { id } } }`

  const answers = [
    await service.graphql(query),
    await service.graphql(query, {}, { credential: 'bob' }),
    await service.graphqlAs({ ...people.bob, isAdmin: true }, query),
  ]

  expect(answers.map(({ data }) => data.podcast.submittedBy)).toEqual([
    { id: 'alice' },
    null,
    { id: 'alice' },
  ])
})

test('a cursor of one list does not fit another, and a page has a size', async () => {
  const service = await openDirectory()
  await loadShows(service, 2, 20)
  const { body } = await post(service, '/podcasts', { storeone_ids: '100000000,100000001' })
  const page = (id: string, more: string) =>
    service.graphql(
      `{ podcast(id: "${id}") { episodes(first: ${more}) { nodes { title } pageInfo { endCursor } } } }`,
    )
  const [one, two] = body.podcasts
  const first = await page(one.id, '1')
  const { endCursor } = first.data.podcast.episodes.pageInfo

  const next = await page(one.id, `1, after: "${endCursor}"`)
  const foreign = await page(two.id, `1, after: "${endCursor}"`)
  const large = await page(one.id, '101')

  expect(next.data.podcast.episodes.nodes).not.toEqual(first.data.podcast.episodes.nodes)
  expect([foreign, large].map(({ errors }) => errors![0].extensions.code)).toEqual([
    'Invalid',
    'Invalid',
  ])
})

test('every path is served with its methods, and with no others', async () => {
  const service = await openDirectory()

  const answers = [
    await service.rest(`PUT ${API}/search`),
    await service.rest(`GET ${API}/nothing`),
    await service.rest(`PATCH ${API}/podcasts/${'0'.repeat(32)}`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([405, 404, 405])
  expect(answers.map(({ body }) => typeof body.error)).toEqual(['string', 'string', 'string'])
})

test('the addresses in answers lead to the sites of podcasts and episodes', async () => {
  const service = await openDirectory()
  const id = await giveFeed(service, 'https://a.example/feed', { items: [{ title: 'One' }] })
  const { body } = await service.rest(`GET ${API}/podcasts/${id}`)
  const { data } = await service.graphqlAs(
    admin,
    `mutation { createCuratedList(title: "A list", description: "", sourceUrl: "https://press.example/",
       podcastIds: ["${id}"]) { vendorUrl } }`,
  )
  const lead = async (url: string) => {
    const path = new URL(url).pathname
    const { status, headers } = await service.rest(`GET ${path}`, undefined, { credential: null })
    return [status, headers['location']]
  }

  expect(await lead(body.vendor_url)).toEqual([302, 'https://www.harbour.example/talk'])
  expect(await lead(body.episodes[0].vendor_url)).toEqual([
    302,
    'https://www.harbour.example/talk/1',
  ])
  expect(await lead(data.createCuratedList.vendorUrl)).toEqual([302, 'https://press.example/'])
  expect(await lead('http://polygraph.test/c/none/')).toEqual([404, undefined])
})
