// Lists of stores: by group, by subscription, page after page.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'
import { ALL, follow, MANY, one, PLAIN, VERSION } from './stores.ts'

const namesOf = ({ body }: { body: any }) => body.value.map(({ name }: { name: string }) => name)

async function putMany(service: TestService, count: number) {
  const names = Array.from({ length: count }, (_, n) => `shop-${String(n).padStart(4, '0')}`)
  for (const name of names) await service.rest(`PUT ${one(name)}`, PLAIN)
  return names
}

/** Follows nextLink unchanged to the end, and returns the names page by page. */
async function pagesOf(service: TestService, path: string): Promise<string[][]> {
  let answer = await service.rest(`GET ${path}`)
  const pages = [namesOf(answer)]
  while (answer.body.nextLink) {
    answer = await follow(service, answer.body.nextLink)
    expect(answer.status).toBe(200)
    pages.push(namesOf(answer))
  }
  return pages
}

test('250 stores come in pages of 100, each once, to the end', async () => {
  const service = await openForTest(subgraph)
  const names = await putMany(service, 250)

  const byGroup = await pagesOf(service, `${MANY}?${VERSION}`)
  const bySubscription = await pagesOf(service, `${ALL}?${VERSION}`)

  expect(byGroup.map((page) => page.length)).toEqual([100, 100, 50])
  expect(byGroup.flat()).toEqual(names)
  expect(bySubscription.map((page) => page.length)).toEqual([100, 100, 50])
  expect(bySubscription.flat()).toEqual(names)
})

test('a nextLink is absolute and carries the version and the place, and the last page has none', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 101)

  const { body } = await service.rest(`GET ${MANY}?${VERSION}`)
  const last = await follow(service, body.nextLink)

  const link = new URL(body.nextLink)
  expect(link.origin + link.pathname).toBe(`http://polygraph.test${MANY}`)
  expect([...link.searchParams.keys()]).toEqual(['api-version', '$skipToken'])
  expect(last.body.value[0].properties.endpoint).toBe('http://polygraph.test')
  expect(last.body).not.toHaveProperty('nextLink')
})

test('a list of nothing is an empty list', async () => {
  const service = await openForTest(subgraph)

  const byGroup = await service.rest(`GET ${MANY}?${VERSION}`)
  const bySubscription = await service.rest(`GET ${ALL}?${VERSION}`)

  expect([byGroup.body, bySubscription.body]).toEqual([{ value: [] }, { value: [] }])
})

test('a $skipToken that is damaged, or of another list, is refused', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 101)
  const { body } = await service.rest(`GET ${MANY}?${VERSION}`)
  const token = new URL(body.nextLink).searchParams.get('$skipToken')!

  const damaged = await service.rest(`GET ${MANY}?${VERSION}&$skipToken=x${token}`)
  const foreign = await service.rest(`GET ${ALL}?${VERSION}&$skipToken=${token}`)

  for (const refused of [damaged, foreign]) {
    expect([refused.status, refused.body.error.code, refused.body.error.target]).toEqual([
      400,
      'InvalidParameter',
      '$skipToken',
    ])
  }
})

test("another's stores are not listed", async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 1)

  const byGroup = await service.rest(`GET ${MANY}?${VERSION}`, undefined, { credential: 'bob' })
  const all = await service.rest(`GET ${ALL}?${VERSION}`, undefined, { credential: 'bob' })

  expect([byGroup.status, byGroup.body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  expect([all.status, all.body.error.code]).toEqual([404, 'SubscriptionNotFound'])
})

test('of 1,000 stores a middle page costs what the first costs: one read of a page', async () => {
  const reads: number[] = []
  const service = await openForTest(subgraph, {
    wrap: (store) => ({
      ...store,
      async list(kind: any, query: any) {
        const page = await store.list<any>(kind, query)
        reads.push(page.items.length)
        return page
      },
    }),
  })
  await putMany(service, 1_000)
  reads.length = 0
  let { body } = await service.rest(`GET ${ALL}?${VERSION}`)
  for (let page = 1; page < 5; page++) ({ body } = await follow(service, body.nextLink))

  const timeOf = async (ask: () => Promise<unknown>) => {
    const times: number[] = []
    for (let n = 0; n < 15; n++) {
      const startMs = performance.now()
      await ask()
      times.push(performance.now() - startMs)
    }
    return times.sort((a, b) => a - b)[7]!
  }
  expect(reads).toEqual([100, 100, 100, 100, 100])
  const firstMs = await timeOf(() => service.rest(`GET ${ALL}?${VERSION}`))
  const middleMs = await timeOf(() => follow(service, body.nextLink))
  // Twice would be noise; five times would be a list that is walked from its beginning.
  expect(middleMs / firstMs).toBeLessThan(3)
})

test('the graph pages by skipToken, and nextLink is the one of REST', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 101)
  const query = `query ($token: String) { configStores(
    subscriptionId: "${SUBSCRIPTION}", skipToken: $token) { value { name } nextLink skipToken } }`

  const { data: first } = await service.graphql(query)
  const { data: last } = await service.graphql(query, { token: first.configStores.skipToken })
  const { body } = await service.rest(`GET ${ALL}?${VERSION}`)
  const { errors } = await service.graphql(query, { token: 'AAAA' })

  expect(first.configStores.nextLink).toBe(body.nextLink)
  expect(last.configStores).toEqual({
    value: [{ name: 'shop-0100' }],
    nextLink: null,
    skipToken: null,
  })
  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})
