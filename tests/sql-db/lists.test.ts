// Lists of databases: by server and by pool, page by page.
import { expect, test } from 'vitest'
import { SUBSCRIPTION } from '../people.ts'
import {
  follow,
  graphRefusal,
  MANY,
  one,
  openShop,
  PLAIN,
  POOL,
  putPool,
  putServer,
  refusal,
  SERVER,
  SERVERS,
  VERSION,
} from './shop.ts'

const POOLED = { ...PLAIN, properties: { elasticPoolId: POOL } }
const IN_POOL = `${POOL}/databases`
const namesOf = ({ body }: { body: any }) => body.value.map(({ name }: { name: string }) => name)

async function openWith(names: string[]) {
  const service = await openShop()
  for (const name of names) await service.rest(`PUT ${one(name)}`, POOLED)
  return service
}

test('a server lists its databases, and not those of others', async () => {
  const service = await openWith(['b', 'A'])
  await putServer(service, 'main2')
  await service.rest(`PUT ${one('elsewhere', '', 'main2')}`, PLAIN)

  const { status, body } = await service.rest(`GET ${MANY}?${VERSION}`)

  expect(status).toBe(200)
  expect(namesOf({ body })).toEqual(['A', 'b'])
  expect(body.nextLink).toBeUndefined()
  expect(body.value[0]).toEqual((await service.rest(`GET ${one('a')}`)).body)
})

test('a pool lists the databases that are in it, and no others', async () => {
  const service = await openWith(['b', 'a'])
  await putPool(service, 'pool2')
  await service.rest(`PUT ${one('alone')}`, PLAIN)
  await service.rest(`PUT ${one('c')}`, {
    ...PLAIN,
    properties: { elasticPoolId: `${SERVER}/elasticPools/pool2` },
  })

  const first = await service.rest(`GET ${IN_POOL}?${VERSION}`)
  const second = await service.rest(`GET ${SERVER}/ELASTICPOOLS/POOL2/databases?${VERSION}`)

  expect([first.status, namesOf(first)]).toEqual([200, ['a', 'b']])
  expect([second.status, namesOf(second)]).toEqual([200, ['c']])
})

test.each([
  ['a server', MANY],
  ['a pool', IN_POOL],
])('the pages of %s follow each other by nextLink, each database once', async (_of, url) => {
  const service = await openWith(['a', 'b', 'c', 'd', 'e'])

  const pages = []
  let page = await service.rest(`GET ${url}?${VERSION}&$top=2`)
  pages.push(namesOf(page))
  while (page.body.nextLink) {
    expect(page.body.nextLink).toContain(VERSION)
    page = await follow(service, page.body.nextLink)
    pages.push(namesOf(page))
  }

  expect(pages).toEqual([['a', 'b'], ['c', 'd'], ['e']])
})

test('a page holds a hundred at most, and an empty list is a page', async () => {
  const names = Array.from({ length: 101 }, (_, n) => `db-${String(n).padStart(3, '0')}`)
  const service = await openShop()
  const empty = await service.rest(`GET ${MANY}?${VERSION}`)
  await putPool(service, 'large', '{ name: "StandardPool", capacity: 200 }')
  const properties = { elasticPoolId: `${SERVER}/elasticPools/large` }
  for (const name of names) await service.rest(`PUT ${one(name)}`, { ...PLAIN, properties })

  const first = await service.rest(`GET ${MANY}?${VERSION}`)
  const last = await follow(service, first.body.nextLink)

  expect(empty.body).toEqual({ value: [] })
  expect(namesOf(first)).toEqual(names.slice(0, 100))
  expect(namesOf(last)).toEqual(['db-100'])
})

test.each([
  ['a damaged token', '$skipToken=AAAA'],
  ['no size', '$top=0'],
  ['a size that is none', '$top=x'],
])('a list refuses %s', async (_what, query) => {
  const service = await openWith(['a'])

  expect(refusal(await service.rest(`GET ${MANY}?${VERSION}&${query}`))).toEqual([
    400,
    'InvalidParameter',
  ])
})

test('the token of one list does not fit another', async () => {
  const service = await openWith(['a', 'b'])
  const { body } = await service.rest(`GET ${MANY}?${VERSION}&$top=1`)
  const { search } = new URL(body.nextLink)

  const answer = await service.rest(`GET ${IN_POOL}${search}`)

  expect(refusal(answer)).toEqual([400, 'InvalidParameter'])
})

test('the lists of a server or a pool that is not there are 404', async () => {
  const service = await openShop()

  const server = await service.rest(`GET ${SERVERS}/none/databases?${VERSION}`)
  const pool = await service.rest(`GET ${SERVER}/elasticPools/none/databases?${VERSION}`)

  expect(refusal(server)).toEqual([404, 'ParentResourceNotFound'])
  expect(refusal(pool)).toEqual([404, 'ResourceNotFound'])
})

test('the graph lists both, with the token of the next page', async () => {
  const service = await openWith(['a', 'b'])
  const key = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "shop", serverName: "main"`
  const inPool = `${key}, elasticPoolName: "pool"`

  const first = await service.graphql(
    `{ sqlDatabases(${key}, top: 1) { value { name } nextLink skipToken }
       sqlDatabasesByPool(${inPool}) { value { name properties { earliestRestoreDate } } skipToken } }`,
  )
  const { skipToken } = first.data.sqlDatabases
  const next = await service.graphql(
    `{ sqlDatabases(${key}, top: 1, skipToken: "${skipToken}") { value { name } skipToken } }`,
  )
  const none = await service.graphql(
    `{ sqlDatabasesByPool(${key}, elasticPoolName: "none") { skipToken } }`,
  )

  expect(first.data.sqlDatabases.value).toEqual([{ name: 'a' }])
  expect(first.data.sqlDatabasesByPool).toEqual({
    value: ['a', 'b'].map((name) => ({
      name,
      properties: { earliestRestoreDate: '2030-01-01T00:00:00.000Z' },
    })),
    skipToken: null,
  })
  expect(next.data.sqlDatabases).toEqual({ value: [{ name: 'b' }], skipToken: null })
  expect(graphRefusal(none)).toEqual([404, 'ResourceNotFound'])
  expect(
    graphRefusal(await service.graphql(`{ sqlDatabases(${key}, top: 0) { skipToken } }`)),
  ).toEqual([400, 'Invalid'])
})
