// Lists of modules: by group, by subscription, page after page.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { openForTest, type TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { ALL, AREA, MANY, PLAIN, VERSION, follow, one } from './modules.ts'

const inGroup = (group: string, name: string) =>
  `/subscriptions/${SUBSCRIPTION}/resourceGroups/${group}/${AREA}/dedicatedHSMs/${name}?${VERSION}`

const namesOf = ({ body }: { body: any }) => body.value.map(({ name }: { name: string }) => name)

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

async function putMany(service: TestService, count: number) {
  const names = Array.from({ length: count }, (_, n) => `safe-${String(n).padStart(3, '0')}`)
  for (const name of names) await service.rest(`PUT ${one(name)}`, PLAIN)
  return names
}

test('250 modules come in pages of at most 100, each once, to the end', async () => {
  const service = await openForTest(subgraph)
  const names = await putMany(service, 250)

  const byGroup = await pagesOf(service, `${MANY}?${VERSION}`)
  const bySubscription = await pagesOf(service, `${ALL}?${VERSION}`)
  const byTop = await pagesOf(service, `${ALL}?${VERSION}&$top=60`)

  expect(byGroup.map((page) => page.length)).toEqual([100, 100, 50])
  expect(byGroup.flat()).toEqual(names)
  expect(bySubscription.map((page) => page.length)).toEqual([100, 100, 50])
  expect(bySubscription.flat()).toEqual(names)
  expect(byTop.map((page) => page.length)).toEqual([60, 60, 60, 60, 10])
  expect(byTop.flat()).toEqual(names)
})

test('a nextLink is absolute and carries the version, the size of a page and the place', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 3)

  const { body } = await service.rest(`GET ${MANY}?${VERSION}&$top=2`)

  const link = new URL(body.nextLink)
  expect(link.origin).toBe('http://polygraph.test')
  expect(link.pathname).toBe(MANY)
  expect([...link.searchParams.keys()]).toEqual(['api-version', '$top', '$skipToken'])
  expect(link.searchParams.get('api-version')).toBe('2018-10-31-preview')
  expect(link.searchParams.get('$top')).toBe('2')
})

test('the last page has no nextLink, also when it is full', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 2)

  const { body } = await service.rest(`GET ${MANY}?${VERSION}&$top=2`)

  expect(body.value).toHaveLength(2)
  expect(body).not.toHaveProperty('nextLink')
})

test('a list of nothing is an empty list', async () => {
  const service = await openForTest(subgraph)

  const byGroup = await service.rest(`GET ${MANY}?${VERSION}`)
  const bySubscription = await service.rest(`GET ${ALL}?${VERSION}`)

  expect(byGroup.body).toEqual({ value: [] })
  expect(bySubscription.body).toEqual({ value: [] })
})

test('a group lists its own modules, and the subscription those of all its groups', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${inGroup('Vaults', 'first')}`, PLAIN)
  await service.rest(`PUT ${inGroup('Vaults2', 'second')}`, PLAIN)

  const byGroup = await service.rest(`GET ${MANY}?${VERSION}`)
  const bySubscription = await service.rest(`GET ${ALL}?${VERSION}`)

  expect(namesOf(byGroup)).toEqual(['first'])
  expect(namesOf(bySubscription)).toEqual(['first', 'second'])
})

test('a page holds no more than 100 modules, whatever $top asks for', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 101)

  const { body } = await service.rest(`GET ${ALL}?${VERSION}&$top=100000`)

  expect(body.value).toHaveLength(100)
  expect(body.nextLink).toBeDefined()
})

test('$top is a whole number of at least 1', async () => {
  const service = await openForTest(subgraph)

  for (const top of ['0', '-1', '1.5', 'ten', '', '1&$top=2']) {
    const { status, body } = await service.rest(`GET ${ALL}?${VERSION}&$top=${top}`)

    expect(status, top).toBe(400)
    expect(body.error.code, top).toBe('InvalidParameter')
    expect(body.error.target, top).toBe('$top')
  }
})

test('a $skipToken that is damaged, or of another list, is refused', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 3)
  const { body } = await service.rest(`GET ${MANY}?${VERSION}&$top=1`)
  const token = new URL(body.nextLink).searchParams.get('$skipToken')!
  const ask = (path: string, token: string) =>
    service.rest(`GET ${path}?${VERSION}&$top=1&$skipToken=${token}`)

  const damaged = await ask(MANY, `x${token}`)
  const ofGroup = await ask(ALL, token)
  const invented = await ask(MANY, 'AAAA')
  const good = await ask(MANY, token)

  for (const refused of [damaged, ofGroup, invented]) {
    expect(refused.status).toBe(400)
    expect(refused.body.error.code).toBe('InvalidParameter')
    expect(refused.body.error.target).toBe('$skipToken')
  }
  expect(namesOf(good)).toEqual(['safe-001'])
})

test("another's subscription is not listed", async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('safe')}`, PLAIN)

  const asBob = await service.rest(`GET ${ALL}?${VERSION}`, undefined, { credential: 'bob' })
  const own = await service.rest(
    `GET /subscriptions/${OTHER_SUBSCRIPTION}/${AREA}/dedicatedHSMs?${VERSION}`,
    undefined,
    { credential: 'bob' },
  )

  expect(asBob.status).toBe(404)
  expect(asBob.body.error).toEqual({
    code: 'SubscriptionNotFound',
    message: `The subscription '${SUBSCRIPTION}' could not be found.`,
  })
  expect(own.body).toEqual({ value: [] })
})

test('a page costs one read, the first as the last', async () => {
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
  await putMany(service, 30)

  await pagesOf(service, `${ALL}?${VERSION}&$top=10`)

  expect(reads).toEqual([10, 10, 10])
})

test('the graph pages by top and skipToken, and nextLink is the one of REST', async () => {
  const service = await openForTest(subgraph)
  await putMany(service, 3)
  const query = `query ($token: String) { dedicatedHsms(
    subscriptionId: "${SUBSCRIPTION}", top: 2, skipToken: $token) {
    value { name } nextLink skipToken } }`

  const { data: first } = await service.graphql(query)
  const { data: last } = await service.graphql(query, { token: first.dedicatedHsms.skipToken })
  const { body } = await service.rest(`GET ${ALL}?${VERSION}&$top=2`)
  const { errors } = await service.graphql(query, { token: 'AAAA' })

  expect(first.dedicatedHsms.value).toEqual([{ name: 'safe-000' }, { name: 'safe-001' }])
  expect(first.dedicatedHsms.nextLink).toBe(body.nextLink)
  expect(last.dedicatedHsms).toEqual({
    value: [{ name: 'safe-002' }],
    nextLink: null,
    skipToken: null,
  })
  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})
