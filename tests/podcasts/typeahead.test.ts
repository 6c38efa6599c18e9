// What is offered while someone types.
import { expect, test } from 'vitest'
import { API, find, giveFeed, loadShows, openDirectory } from './directory.ts'

async function openWithLamps() {
  const service = await openDirectory()
  const titles = ['Lantern Night Walks', 'Lantern Night Stories', 'Lamp Oil', 'The Old Lantern']
  for (const [at, title] of titles.entries()) {
    await giveFeed(service, `https://a.example/${at}`, {
      title,
      author: 'Lux House',
      explicit: title === 'Lamp Oil',
    })
  }
  return service
}

const type = (service: Awaited<ReturnType<typeof openWithLamps>>, query: string) =>
  service.rest(`GET ${API}/typeahead?${query}`)

test('terms are words of titles and how titles go on from there', async () => {
  const service = await openWithLamps()

  const one = await type(service, 'q=lan')
  const two = await type(service, 'q=lantern%20nig')

  expect(Object.keys(one.body)).toEqual(['terms'])
  expect(one.body.terms).toEqual(['lantern', 'lantern night stories', 'lantern night walks'])
  expect(two.body.terms).toEqual(['lantern night stories', 'lantern night walks'])
})

test('podcasts are offered when asked for, those that begin so first, with the typed part marked', async () => {
  const service = await openWithLamps()

  const { body } = await type(service, 'q=lant&show_podcasts=1')

  expect(body.podcasts.map((one: any) => one.title_original)).toEqual([
    'Lantern Night Stories',
    'Lantern Night Walks',
    'The Old Lantern',
  ])
  expect(body.podcasts[2]).toMatchObject({
    title_highlighted: 'The Old <span class="vendor-search-highlight">Lantern</span>',
    publisher_original: 'Lux House',
    publisher_highlighted: 'Lux House',
    explicit_content: false,
  })
})

test('safe mode leaves explicit podcasts out', async () => {
  const service = await openWithLamps()

  const all = await type(service, 'q=lamp&show_podcasts=1')
  const safe = await type(service, 'q=lamp&show_podcasts=1&safe_mode=1')

  expect(all.body.podcasts.map((one: any) => one.title_original)).toContain('Lamp Oil')
  expect(safe.body.podcasts).toEqual([])
})

test('a misspelled beginning, a publisher and a number of a store find podcasts too', async () => {
  const service = await openWithLamps()
  await loadShows(service, 1, 1)

  const misspelled = await type(service, 'q=lanetrn&show_podcasts=1')
  const publisher = await type(service, 'q=hous&show_podcasts=1')
  const number = await type(service, 'q=100000000&show_podcasts=1')

  expect(misspelled.body.podcasts).toHaveLength(3)
  expect(publisher.body.podcasts).toHaveLength(4)
  expect(number.body.podcasts).toHaveLength(1)
})

test('a word that JavaScript has a meaning for is a word like others', async () => {
  const service = await openDirectory()
  await giveFeed(service, 'https://a.example/0', { title: 'Constructor Talks' })

  const { body } = await type(service, 'q=constructor%20ta&show_podcasts=1')

  expect(body.podcasts.map((one: any) => one.title_original)).toEqual(['Constructor Talks'])
})

test('genres are offered when asked for, by the beginning of any of their words', async () => {
  const service = await openWithLamps()

  const { body } = await type(service, 'q=film&show_genres=1')
  const { data } = await service.graphql(
    '{ podcastTypeahead(q: "hea", showGenres: 1, showPodcasts: 1) { terms genres { name } podcasts { podcast { id } } } }',
  )

  expect(body.genres).toEqual([{ id: 68, name: 'TV & Film', parent_id: 67 }])
  expect(data.podcastTypeahead).toEqual({
    terms: [],
    genres: [{ name: 'Health & Fitness' }, { name: 'Alternative Health' }],
    podcasts: [],
  })
})

test('what many searched is offered first', async () => {
  const service = await openWithLamps()
  for (let at = 0; at < 3; at += 1) await find(service, { q: 'lamp oil', type: 'podcast' })
  await service.rest(`GET ${API}/trending_searches`)

  const { body } = await type(service, 'q=la')

  expect(body.terms[0]).toBe('lamp oil')
})

test('nothing is offered for nothing', async () => {
  const service = await openWithLamps()

  const answers = [
    await type(service, ''),
    await type(service, 'q='),
    await type(service, 'q=a&show_podcasts=2'),
    await type(service, 'q=a&show_genres=x'),
    await type(service, 'q=a&safe_mode=3'),
    await type(service, 'q=!!'),
    await type(service, 'q=zzzz'),
  ]

  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400, 200, 200])
  expect([answers[5]!.body, answers[6]!.body]).toEqual([{ terms: [] }, { terms: [] }])
})
