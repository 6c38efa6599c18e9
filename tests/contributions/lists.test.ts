import { describe, expect, test } from 'vitest'
import { assign, contribute, idsIn, onEngines, openContributions, publish } from './scene.ts'
import type { TestService } from '../open.ts'

const DAY_MS = 24 * 60 * 60_000
const place = (latitude: number, longitude: number, country: string) => ({
  place: { country, latLong: { latitude, longitude } },
})

/** Four public contributions, a day apart, the oldest first, and one that nobody approved. */
async function scene(service: TestService) {
  const assignment = await assign(service)
  const { body: tag } = await service.rest('POST /1/tags', { name: 'Night' })
  const [to, tags] = [{ assignment: { id: assignment } }, [{ id: tag.id }]]
  const berlin = await publish(service, {
    headline: 'Water by night',
    tags,
    ...to,
    ...place(52.52, 13.405, 'DE'),
  })
  await service.advance(DAY_MS)
  const paris = await publish(service, {
    headline: 'Café under WATER',
    ...place(48.8566, 2.3522, 'FR'),
  })
  await service.advance(DAY_MS)
  const potsdam = await publish(
    service,
    { headline: 'A dry night', ...to, place: { geohash: 'u336' } },
    'alice',
  )
  await service.advance(DAY_MS)
  const nowhere = await publish(service, { headline: 'No place', urlWords: 'none' }, 'alice')
  const pending = await contribute(service, { headline: 'Water, not seen', ...to })
  return { assignment, tag: tag.id as string, berlin, paris, potsdam, nowhere, pending }
}

describe.each(onEngines)('contributions on $engine', ({ open }) => {
  test('every filter narrows the list, alone and with others', async () => {
    const service = await open()
    const { assignment, tag, berlin, paris, potsdam, nowhere, pending } = await scene(service)
    const list = async (query: string, credential: 'alice' | 'bob' = 'bob') => {
      const answer = await service.rest(`GET /1/contributions?${query}`, undefined, { credential })
      expect(answer.headers['x-total-count'], query).toBe(String(answer.body.length))
      return idsIn(answer)
    }

    expect(await list('')).toEqual([nowhere, potsdam, paris, berlin])
    expect(await list(`assignment=${assignment}`)).toEqual([potsdam, berlin])
    expect(await list(`assignment=${assignment}`, 'alice')).toEqual([pending, potsdam, berlin])
    expect(await list('assignment=none')).toEqual([])
    expect(await list('country=de')).toEqual([berlin])
    expect(await list('createdAfter=2030-01-02T00:00:00Z')).toEqual([nowhere, potsdam, paris])
    expect(await list('createdBefore=2030-01-02T00:00:00Z')).toEqual([berlin])
    expect(await list('createdBefore=2030-01-02T01:00:00%2B01:00')).toEqual([berlin])
    expect(await list('createdDay=2030-01-02')).toEqual([paris])
    expect(await list('createdMonth=2030-01&country=FR')).toEqual([paris])
    expect(await list('createdMonth=2029-12')).toEqual([])
    expect(await list('geohash=u33')).toEqual([potsdam, berlin])
    expect(await list('geohash=u33d,u09')).toEqual([paris, berlin])
    // A place that was given as u336 is not known to be in any smaller cell.
    expect(await list('geohash=u336')).toEqual([potsdam])
    expect(await list('geohash=u336x,u336m')).toEqual([])
    expect(await list('geohash=')).toEqual([])
    expect(await list('hasLocation=true')).toEqual([potsdam, paris, berlin])
    expect(await list('hasLocation=false')).toEqual([nowhere])
    expect(await list('latLong=52.5,13.4&radius=5')).toEqual([berlin])
    expect(await list('latLong=52.5,13.4')).toEqual([berlin])
    expect(await list('latLong=52.5,13.4&radius=60')).toEqual([potsdam, berlin])
    expect(await list('latLong=52.5,13.4&radius=1000&country=FR')).toEqual([paris])
    expect(await list('latLong=52.5,13.4&radius=20000')).toEqual([potsdam, paris, berlin])
    expect(await list('mediaType=image')).toEqual([])
    expect(await list('ownedBy=alice')).toEqual([nowhere, potsdam, berlin])
    expect(await list('ownedBy=alice', 'alice')).toEqual([pending, nowhere, potsdam, berlin])
    expect(await list('q=water')).toEqual([paris, berlin])
    expect(await list('q=Night%20water')).toEqual([berlin])
    expect(await list('q=cafe')).toEqual([paris])
    expect(await list('q=!!')).toEqual([])
    expect(await list('urlWords=none')).toEqual([nowhere])
    expect(await list('user=alice')).toEqual([nowhere, potsdam])
    expect(await list('user=bob')).toEqual([pending, paris, berlin])
    expect(await list('user=bob', 'alice')).toEqual([paris, berlin])
    expect(await list(`user=bob&assignment=${assignment}`)).toEqual([pending, berlin])
    expect(await list(`ids=${paris},${pending},none,${potsdam}`)).toEqual([potsdam, paris])
    expect(await list('ids=')).toEqual([])
    expect(await list(`tag=${tag}`)).toEqual([berlin])
    expect(await list(`assignment=${assignment}&state=pending`, 'alice')).toEqual([pending])
    expect(await list(`assignment=${assignment}&state=pending`, 'bob')).toEqual([])
  })

  test('what many contribute and like at the same time is all counted', async () => {
    const service = await open()
    const assignment = { id: await assign(service) }

    const ids = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        contribute(service, { assignment, headline: `Number ${n}` }, n % 2 ? 'bob' : 'alice'),
      ),
    )
    const likes = await Promise.all([
      service.rest(`POST /1/contributions/${ids[0]}/like`),
      service.rest(`POST /1/contributions/${ids[0]}/like`),
    ])
    const all = await service.rest(`GET /1/contributions?assignment=${assignment.id}`)
    const own = await service.rest('GET /1/contributions?user=alice')

    expect(likes.map(({ body }) => body)).toEqual([1, 1])
    expect(new Set(idsIn(all))).toEqual(new Set(ids))
    expect(all.headers['x-total-count']).toBe('12')
    expect(own.headers['x-total-count']).toBe('6')
  })

  test('pages by number and by cursor hold the same, and a cursor fits its own list alone', async () => {
    const service = await open()
    const made: string[] = []
    for (let n = 0; n < 7; n += 1) made.unshift(await publish(service, { headline: `Number ${n}` }))
    const PAGE = `query ($after: String, $q: String) { contributions(first: 3, after: $after, q: $q) {
      nodes { id } pageInfo { hasNextPage endCursor } } }`

    const numbered = await Promise.all(
      [1, 2, 3].map((page) => service.rest(`GET /1/contributions?page=${page}&pageSize=3`)),
    )
    const cursored: string[][] = []
    let after: string | null = null
    do {
      const { data }: { data: any } = await service.graphql(PAGE, { after })
      cursored.push(data.contributions.nodes.map(({ id }: any) => id))
      after = data.contributions.pageInfo.endCursor
      if (!data.contributions.pageInfo.hasNextPage) break
    } while (after)
    const foreign = await service.graphql(PAGE, { after, q: 'number' })

    expect(numbered.map(idsIn)).toEqual([made.slice(0, 3), made.slice(3, 6), made.slice(6)])
    expect(numbered[0]!.headers['x-total-count']).toBe('7')
    expect(cursored).toEqual([made.slice(0, 3), made.slice(3, 6), made.slice(6)])
    expect(foreign.errors![0]!.extensions).toMatchObject({ code: 'Invalid', status: 400 })
  })
})

test('filters that make no sense are refused, and name the field', async () => {
  const service = await openContributions()
  const wrong = [
    'country=Germany',
    'createdBefore=yesterday',
    'createdDay=2030-02-30',
    'createdMonth=2030-13',
    'geohash=abc',
    `geohash=${Array.from({ length: 33 }, (_, n) => `u${n.toString(10)}`).join(',')}`,
    'hasLocation=perhaps',
    'latLong=91,0',
    'latLong=here',
    'radius=5',
    'mediaType=audio',
    'state=lost',
    'format=xml',
  ]

  for (const query of wrong) {
    const answer = await service.rest(`GET /1/contributions?${query}`)
    expect(answer, query).toMatchObject({
      status: 400,
      body: { fields: [{ name: query.split('=')[0] }] },
    })
  }
  const radius = await service.rest('GET /1/contributions?latLong=1,1&radius=-3')
  expect(radius).toMatchObject({ status: 400, body: { fields: [{ name: 'radius' }] } })
})

test('RSS is a feed that a reader understands', async () => {
  const service = await openContributions()
  await publish(service, { headline: 'Fish & <chips>', body: 'Salt.', ...place(52.5, 13.4, 'DE') })

  const answer = await service.rest('GET /1/contributions?format=rss')
  const { data } = await service.graphql(
    '{ contributionPage(format: "rss") { rss items { headline } } }',
  )

  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('application/rss+xml; charset=utf-8')
  const { parseRssFeed } = await import('feedsmith')
  const feed = parseRssFeed(answer.body.toString())
  expect(feed).toMatchObject({
    title: 'Contributions',
    link: 'http://polygraph.test/1/contributions',
    description: 'Contributions, newest first.',
    items: [
      {
        title: 'Fish & <chips>',
        description: 'Salt.',
        pubDate: 'Tue, 01 Jan 2030 00:00:00 GMT',
        guid: { isPermaLink: false },
        dc: { creators: ['bob'] },
        georss: { point: { lat: 52.5, lng: 13.4 } },
      },
    ],
  })
  expect(data.contributionPage.rss).toBe(answer.body.toString())
})

describe.each(onEngines)('refinements on $engine', ({ open }) => {
  test('options come with how many contributions they leave, of those that fit the filters', async () => {
    const service = await open()
    const { assignment } = await scene(service)
    const ASK = `query ($q: String) { contributionRefinements(q: $q, refinements: "country,user,assignment,geohash3") {
      name options { value count } } }`
    const asBob = { credential: 'bob' as const }

    const all = await service.rest('GET /1/contribution-refinements', undefined, asBob)
    const counted = await service.graphql(ASK, {}, asBob)
    const filtered = await service.graphql(ASK, { q: 'water' }, asBob)

    expect(all.body).toEqual({
      assignment: [assignment],
      country: ['DE', 'FR'],
      mediaType: [],
      user: ['alice', 'bob'],
      geohash1: ['u'],
      geohash2: ['u3', 'u0'],
      geohash3: ['u33', 'u09'],
      geohash4: ['u09t', 'u336', 'u33d'],
      geohash5: ['u09tv', 'u33dc'],
      geohash6: ['u09tvw', 'u33dc0'],
    })
    expect(counted.data.contributionRefinements).toEqual([
      {
        name: 'country',
        options: [
          { value: 'DE', count: 1 },
          { value: 'FR', count: 1 },
        ],
      },
      {
        name: 'user',
        options: [
          { value: 'alice', count: 2 },
          { value: 'bob', count: 2 },
        ],
      },
      { name: 'assignment', options: [{ value: assignment, count: 2 }] },
      {
        name: 'geohash3',
        options: [
          { value: 'u33', count: 2 },
          { value: 'u09', count: 1 },
        ],
      },
    ])
    expect(filtered.data.contributionRefinements).toEqual([
      {
        name: 'country',
        options: [
          { value: 'DE', count: 1 },
          { value: 'FR', count: 1 },
        ],
      },
      { name: 'user', options: [{ value: 'bob', count: 2 }] },
      { name: 'assignment', options: [{ value: assignment, count: 1 }] },
      {
        name: 'geohash3',
        options: [
          { value: 'u09', count: 1 },
          { value: 'u33', count: 1 },
        ],
      },
    ])
  })
})

test('refinements are those of the list of types, as many options as asked for', async () => {
  const service = await openContributions()
  await scene(service)

  const types = await service.rest('GET /1/contribution-refinement-types')
  const { data } = await service.graphql('{ contributionRefinementTypes }')
  const one = await service.rest(
    'GET /1/contribution-refinements?refinements=country&refinementSize=1',
  )
  const wrong = await service.rest('GET /1/contribution-refinements?refinements=colour')
  const tooMany = await service.rest('GET /1/contribution-refinements?refinementSize=101')

  expect(types.body).toEqual([
    'assignment',
    'country',
    'mediaType',
    'user',
    'geohash1',
    'geohash2',
    'geohash3',
    'geohash4',
    'geohash5',
    'geohash6',
  ])
  expect(data.contributionRefinementTypes).toEqual(types.body)
  expect(one.body).toEqual({ country: ['DE'] })
  expect(wrong).toMatchObject({ status: 400, body: { fields: [{ name: 'refinements' }] } })
  expect(tooMany).toMatchObject({ status: 400, body: { fields: [{ name: 'refinementSize' }] } })
})
