// The demo directory: at once, in the background, and again.
import { expect, test } from 'vitest'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { steps } from '../../resolvers/podcasts/demo-directory.ts'
import { episodeCountOf, showOf } from '../../resolvers/podcasts/demo-shows.ts'
import { subgraph } from '../../subgraphs/podcasts.ts'
import { people } from '../people.ts'
import { API, loadShows, openDirectory } from './directory.ts'

const EPOCH_MS = Date.UTC(2030, 0, 1)

test('the demo has some shows at once, and plans the others', async () => {
  const service = await openDirectory()
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const { podcastId, curatedListId, playlistId } = await subgraph.demo!(ctx)

  const podcast = await service.rest(`GET ${API}/podcasts/${podcastId}`)
  const list = await service.rest(`GET ${API}/curated_podcasts/${curatedListId}`)
  const playlist = await service.rest(`GET ${API}/playlists/${playlistId}?type=podcast_list`)
  expect(podcast.body.title).toBe('Kestrel Silent Film Club')
  expect(list.body.podcasts).toHaveLength(10)
  expect(playlist.body.items).toHaveLength(4)
  expect(await service.opened.work.counts()).toEqual({ waiting: 1, parked: 0 })
  const before = await service.store.sql('SELECT count(*) AS shows FROM podcast')
  await service.advance(500)
  const after = await service.store.sql('SELECT count(*) AS shows FROM podcast')
  expect(after[0]!['shows']).toBeGreaterThan(before[0]!['shows'])
  expect(service.mistakes).toEqual([])
})

test('a show is the same whenever it is made, and shows share exactly as many episodes as asked', () => {
  const counts = Array.from({ length: 101 }, (_, number) => episodeCountOf(number, 101, 1_000))

  expect(showOf(7, 3, EPOCH_MS)).toEqual(showOf(7, 3, EPOCH_MS))
  expect(showOf(7, 3, EPOCH_MS).podcast.id).toBe(showOf(7, 9, 0).podcast.id)
  expect(counts.reduce((sum, count) => sum + count)).toBe(1_000)
  expect(Math.min(...counts)).toBeGreaterThan(0)
})

test('a directory grows where it ended, and stays as it is when it is large enough', async () => {
  const service = await openDirectory()

  const small = await loadShows(service, 10, 50)
  const large = await loadShows(service, 30, 150)
  const again = await loadShows(service, 20, 100)
  const texts = await service.store.sql("SELECT texts FROM word WHERE word = ''")

  expect([small, large, again].map(({ podcasts, episodes }) => [podcasts, episodes])).toEqual([
    [10, 50],
    [30, 150],
    [30, 150],
  ])
  expect(texts).toEqual([{ texts: 180 }])
})

test('moving the clock does not wait for the directory, which goes on when time has passed outside', async () => {
  const outside = stillClock('2026-01-01T00:00:00.000Z')
  const service = await openDirectory()
  const ctx = {
    ...service.opened.contextFor(people.alice, { address: '', headers: {} }),
    wallClock: outside,
  }
  const load = steps.loadDemoDirectory!
  await subgraph.demo!(ctx)
  const shows = async () =>
    Number((await service.store.sql('SELECT count(*) AS shows FROM podcast'))[0]!['shows'])
  const before = await shows()

  await load({ round: 1, delayMs: 200 }, ctx)
  const early = await shows()
  outside.moveTo(new Date('2026-01-01T00:00:01.000Z'))
  await load({ round: 1, delayMs: 200 }, ctx)
  const replaced = await shows()
  await load({ round: 2, delayMs: 400 }, ctx)

  expect([early, replaced]).toEqual([before, before])
  expect(await shows()).toBeGreaterThan(before)
})

test('only the services themselves may grow it', async () => {
  const service = await openDirectory()

  const { errors } = await service.graphql(
    'mutation { growDemoDirectory(podcasts: 1, episodes: 1) { isDone } }',
  )

  expect(errors![0].extensions.code).toBe('Forbidden')
})
