// What else one may like, and why.
import { expect, test } from 'vitest'
import { API, giveFeed, openDirectory, post } from './directory.ts'

const NONE = '0'.repeat(32)

async function openWithFour() {
  const service = await openDirectory()
  const give = (name: string, about: string, category: string, explicit = false) =>
    giveFeed(service, `https://a.example/${name}`, {
      title: name,
      about,
      category,
      explicit,
      items: [{ title: `${about} today`, about, explicit }],
    })
  const ids = {
    owls: await give('Owl Night', 'Owls and their nests', 'Science'),
    nests: await give('Twigs', 'Nests of owls in towns', 'Science'),
    rude: await give('Rude Owls', 'Owls and nests and swearing', 'Comedy', true),
    jazz: await give('Jazz', 'Trumpets', 'Music'),
  }
  return { service, ids }
}

test('podcasts with the same rare words and genres are recommended, with the reason', async () => {
  const { service, ids } = await openWithFour()

  const { status, body } = await service.rest(`GET ${API}/podcasts/${ids.owls}/recommendations`)
  const safe = await service.rest(`GET ${API}/podcasts/${ids.owls}/recommendations?safe_mode=1`)
  const { data } = await service.graphql(
    `{ podcastRecommendations(id: "${ids.owls}") { recommendations {
        podcast { title } sharedWords sharedGenreIds sharedPlaylists } }
      podcast(id: "${ids.owls}") { recommendations { podcast { title } } } }`,
  )

  expect(status).toBe(200)
  expect(body.recommendations.map(({ title }: any) => title)).toEqual(['Twigs', 'Rude Owls'])
  expect(body.recommendations[0]).toMatchObject({ genre_ids: [107], total_episodes: 1 })
  expect(safe.body.recommendations.map(({ title }: any) => title)).toEqual(['Twigs'])
  const [twigs] = data.podcastRecommendations.recommendations
  expect(twigs).toMatchObject({
    podcast: { title: 'Twigs' },
    sharedGenreIds: [107],
    sharedPlaylists: 0,
  })
  expect(twigs.sharedWords.toSorted()).toEqual(['nests', 'owls'])
  expect(data.podcast.recommendations).toHaveLength(2)
})

test('what stands together in public playlists is recommended, and private ones tell nothing', async () => {
  const { service, ids } = await openWithFour()
  for (const visibility of ['public', 'private']) {
    const { body } = await post(service, '/playlists', { name: visibility, visibility })
    await post(service, `/playlists/${body.id}/items`, { podcast_id: ids.jazz })
    const other = visibility === 'public' ? ids.owls : ids.nests
    await post(service, `/playlists/${body.id}/items`, { podcast_id: other })
  }

  const { data } = await service.graphql(
    `{ podcastRecommendations(id: "${ids.jazz}") { recommendations { podcast { title } sharedPlaylists } } }`,
  )

  expect(data.podcastRecommendations.recommendations).toEqual([
    { podcast: { title: 'Owl Night' }, sharedPlaylists: 1 },
  ])
})

test('episodes are recommended by their words, and not by explicit ones in safe mode', async () => {
  const { service, ids } = await openWithFour()
  const { body: podcast } = await service.rest(`GET ${API}/podcasts/${ids.owls}`)
  const { id } = podcast.episodes[0]

  const { body } = await service.rest(`GET ${API}/episodes/${id}/recommendations`)
  const safe = await service.rest(`GET ${API}/episodes/${id}/recommendations?safe_mode=1`)
  const { data } = await service.graphql(
    `{ episodeRecommendations(id: "${id}") { recommendations { episode { title } sharedWords score } }
       episode(id: "${id}") { recommendations { episode { id } } } }`,
  )

  const titles = body.recommendations.map(({ title }: any) => title)
  expect(titles.slice(0, 2).toSorted()).toEqual([
    'Nests of owls in towns today',
    'Owls and nests and swearing today',
  ])
  expect(body.recommendations[0].podcast).toHaveProperty('listen_score', null)
  expect(safe.body.recommendations.map(({ title }: any) => title)).not.toContain(
    'Owls and nests and swearing today',
  )
  expect(data.episodeRecommendations.recommendations[0].sharedWords).toContain('owls')
  expect(data.episode.recommendations.length).toBe(titles.length)
})

test('what is not there has no recommendations, and a flag that is none is refused', async () => {
  const { service, ids } = await openWithFour()

  const answers = [
    await service.rest(`GET ${API}/podcasts/${NONE}/recommendations`),
    await service.rest(`GET ${API}/episodes/${NONE}/recommendations`),
    await service.rest(`GET ${API}/podcasts/${ids.owls}/recommendations?safe_mode=2`),
    await service.rest(`GET ${API}/episodes/${NONE}/recommendations?safe_mode=x`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 400, 400])
})
