// Requests to have a podcast removed.
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { admin, API, find, giveFeed, openDirectory, post } from './directory.ts'

const RSS = 'https://a.example/feed'

const decide = (service: TestService, id: string, isGranted: boolean) =>
  service.graphqlAs(
    admin,
    `mutation ($id: String!, $isGranted: Boolean!) {
       decidePodcastDeletion(podcastId: $id, isGranted: $isGranted) { state title reason } }`,
    { id, isGranted },
  )
const waiting = (service: TestService) =>
  service.graphqlAs(
    admin,
    '{ podcastDeletions { nodes { podcastId title reason requestedAtMs } } }',
  )

async function openWithMany() {
  const service = await openDirectory()
  const items = Array.from({ length: 150 }, (_, at) => ({
    title: `Cormorant ${at}`,
    date: new Date(Date.UTC(2028, 0, 1 + at)).toUTCString(),
  }))
  const id = await giveFeed(service, RSS, { title: 'Cormorant Cove', items })
  await giveFeed(service, 'https://b.example/feed', { items: [{ title: 'Gull' }] })
  return { service, id }
}

test('a request is in review, and changes nothing until it is decided', async () => {
  const { service, id } = await openWithMany()

  const asked = await service.rest(`DELETE ${API}/podcasts/${id}?reason=it%20is%20mine`)
  const again = await service.graphql(
    `mutation { deletePodcast(id: "${id}", reason: "other") { status } }`,
  )
  const shown = await service.rest(`GET ${API}/podcasts/${id}`)
  const { data } = await waiting(service)

  expect(asked.body).toEqual({ status: 'in review' })
  expect(again.data.deletePodcast).toEqual({ status: 'in review' })
  expect(shown.status).toBe(200)
  expect(data.podcastDeletions.nodes).toEqual([
    {
      podcastId: id,
      title: 'Cormorant Cove',
      reason: 'it is mine',
      requestedAtMs: Date.UTC(2030, 0, 1),
    },
  ])
})

test('who is testing asks for nothing', async () => {
  const { service, id } = await openWithMany()

  const asked = await service.rest(`DELETE ${API}/podcasts/${id}?reason=testing`)
  const { data } = await waiting(service)

  expect(asked.body).toEqual({ status: 'in review' })
  expect(data.podcastDeletions.nodes).toEqual([])
})

test('a podcast whose removal is granted is gone at once, and its episodes and words after it', async () => {
  const { service, id } = await openWithMany()
  await service.rest(`DELETE ${API}/podcasts/${id}?reason=`)

  const decided = await decide(service, id, true)
  const shown = await service.rest(`GET ${API}/podcasts/${id}`)
  const between = await find(service, { q: 'cormorant' })
  await service.advance(1000)
  const after = await find(service, { q: 'cormorant' })
  const repeated = await service.rest(`DELETE ${API}/podcasts/${id}`)
  const resubmitted = await post(service, '/podcasts/submit', { rss: RSS })
  const best = await service.rest(`GET ${API}/best_podcasts?region=gb`)

  expect(decided.data.decidePodcastDeletion).toMatchObject({ state: 'granted' })
  expect(shown.status).toBe(404)
  expect(between.body.results).toEqual([])
  expect(after.body.total).toBe(0)
  expect(repeated.body).toEqual({ status: 'deleted' })
  expect(resubmitted.body.status).toBe('rejected')
  expect(best.body.total).toBe(1)
  expect(await service.store.sql('SELECT count(*) AS episodes FROM episode')).toEqual([
    { episodes: 1 },
  ])
  const words = await service.store.sql("SELECT word FROM word WHERE word LIKE 'cormo%'")
  const forms = await service.store.sql("SELECT form FROM spelling WHERE word = 'cormorant'")
  expect([words, forms]).toEqual([[], []])
  await expect(giveFeed(service, RSS)).rejects.toThrow('removed on request')
})

test('a podcast whose removal is refused stays, and its removal can be asked for again', async () => {
  const { service, id } = await openWithMany()
  await service.rest(`DELETE ${API}/podcasts/${id}?reason=no`)

  const decided = await decide(service, id, false)
  const twice = await decide(service, id, true)
  await service.rest(`DELETE ${API}/podcasts/${id}?reason=yes`)
  const { data } = await waiting(service)

  expect(decided.data.decidePodcastDeletion.state).toBe('refused')
  expect(twice.errors![0].extensions.code).toBe('NotFound')
  expect(data.podcastDeletions.nodes).toMatchObject([{ reason: 'yes' }])
  expect((await service.rest(`GET ${API}/podcasts/${id}`)).status).toBe(200)
})

test('a podcast that never was is 404, and only administrators decide', async () => {
  const { service, id } = await openWithMany()
  await service.rest(`DELETE ${API}/podcasts/${id}`)

  const missing = await service.rest(`DELETE ${API}/podcasts/${'0'.repeat(32)}?reason=testing`)
  const refused = await service.graphql(
    `mutation { decidePodcastDeletion(podcastId: "${id}", isGranted: true) { state } }`,
  )
  const unseen = await service.graphql('{ podcastDeletions { nodes { title } } }')

  expect(missing.status).toBe(404)
  expect([refused, unseen].map(({ errors }) => errors![0].extensions.code)).toEqual([
    'Forbidden',
    'Forbidden',
  ])
  expect((await service.rest(`GET ${API}/podcasts/${id}`)).status).toBe(200)
})
