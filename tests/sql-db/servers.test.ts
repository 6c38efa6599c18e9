// Servers and elastic pools, which are made in the graph.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-db.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  CHANGE_MS,
  fill,
  graphRefusal,
  one,
  openShop,
  PLAIN,
  POOL,
  putPool,
  putReady,
  putServer,
  SERVER,
} from './shop.ts'

const PLACE = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop"`
const MAIN = `${PLACE}, serverName: "main"`
const OF_POOL = `${MAIN}, elasticPoolName: "pool"`

test('a server is put, read, listed and deleted', async () => {
  const service = await openForTest(subgraph)

  const put = await service.graphql(
    `mutation { putSqlServer(${MAIN}, parameters: { location: "westus", tags: { a: "b" },
      properties: { administratorLogin: "ann" } }) {
      id name type location kind tags properties { administratorLogin version state } } }`,
  )
  const again = await service.graphql(
    `mutation { putSqlServer(${MAIN}, parameters: { location: "West US" }) {
      location tags properties { administratorLogin } } }`,
  )
  const read = await service.graphql(`{ sqlServer(${MAIN}) { name }
    sqlServers(${PLACE}) { value { name } skipToken } }`)
  const deleted = await service.graphql(`mutation { deleteSqlServer(${MAIN}) }`)
  const repeated = await service.graphql(`mutation { deleteSqlServer(${MAIN}) }`)
  const gone = await service.graphql(`{ sqlServer(${MAIN}) { name } }`)

  expect(put.data.putSqlServer).toEqual({
    id: SERVER,
    name: 'main',
    type: 'Vendor.Sql/servers',
    location: 'westus',
    kind: 'v12.0',
    tags: { a: 'b' },
    properties: { administratorLogin: 'ann', version: '12.0', state: 'Ready' },
  })
  expect(again.data.putSqlServer).toEqual({
    location: 'westus',
    tags: null,
    properties: { administratorLogin: 'ann' },
  })
  expect(read.data).toEqual({
    sqlServer: { name: 'main' },
    sqlServers: { value: [{ name: 'main' }], skipToken: null },
  })
  expect([deleted.data, repeated.data]).toEqual([
    { deleteSqlServer: true },
    { deleteSqlServer: true },
  ])
  expect(graphRefusal(gone)).toEqual([404, 'ResourceNotFound'])
})

test('a server that holds databases or pools is not deleted', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  const remove = () => service.graphql(`mutation { deleteSqlServer(${MAIN}) }`)

  const both = await remove()
  await service.graphql(`mutation { deleteElasticPool(${OF_POOL}) }`)
  const databases = await remove()
  await service.rest(`DELETE ${one('shop')}`)
  const empty = await remove()

  expect(graphRefusal(both)).toEqual([409, 'CannotDeleteResource'])
  expect(both.errors?.[0].message).toBe(
    'The server main holds 1 databases and 1 elastic pools. Delete them first.',
  )
  expect(graphRefusal(databases)).toEqual([409, 'CannotDeleteResource'])
  expect(empty.data).toEqual({ deleteSqlServer: true })
})

test('a server whose name begins like that of another is deleted for itself', async () => {
  const service = await openForTest(subgraph)
  await putServer(service, 'main')
  await putServer(service, 'main-2')
  await putReady(service, 'shop', PLAIN, 'main-2')

  const { data } = await service.graphql(`mutation { deleteSqlServer(${MAIN}) }`)

  expect(data).toEqual({ deleteSqlServer: true })
})

test('a group holds twenty servers', async () => {
  const service = await openForTest(subgraph)
  for (let n = 0; n < 20; n++) await putServer(service, `server-${n}`)

  const more = await service.graphql(
    `mutation { putSqlServer(${PLACE}, serverName: "more", parameters: { location: "westus" }) { id } }`,
  )
  await putServer(service, 'server-0')

  expect(graphRefusal(more)).toEqual([409, 'QuotaExceeded'])
})

test.each(['-a', 'a-', 'a_b', 'a.b', '', 'x'.repeat(64)])(
  'a server cannot be called %s',
  async (name) => {
    const service = await openForTest(subgraph)

    const answer = await service.graphql(
      `mutation { putSqlServer(${PLACE}, serverName: "${name}", parameters: { location: "westus" }) { id } }`,
    )

    expect(graphRefusal(answer)).toEqual([400, 'Invalid'])
  },
)

test('a pool is put, changed, read, listed and deleted', async () => {
  const service = await openForTest(subgraph)
  await putServer(service, 'main')

  const put = await service.graphql(
    `mutation { putElasticPool(${OF_POOL}, parameters: { location: "westus", sku: { name: "premiumpool", capacity: 250 } }) {
      id name type location sku { name tier family capacity } properties { state creationDate } server { name } } }`,
  )
  const changed = await service.graphql(
    `mutation { putElasticPool(${OF_POOL}, parameters: { location: "westus", sku: { name: "GP_Gen5", capacity: 4 } }) {
      sku { name tier family capacity } } }`,
  )
  const kept = await service.graphql(
    `mutation { putElasticPool(${OF_POOL}, parameters: { location: "westus", tags: { a: "b" } }) { tags sku { name capacity } } }`,
  )
  const read = await service.graphql(
    `{ elasticPool(${OF_POOL}) { name } elasticPools(${MAIN}) { value { name } skipToken } }`,
  )
  const deleted = await service.graphql(`mutation { deleteElasticPool(${OF_POOL}) }`)

  expect(put.data.putElasticPool).toEqual({
    id: POOL,
    name: 'pool',
    type: 'Vendor.Sql/servers/elasticPools',
    location: 'westus',
    sku: { name: 'PremiumPool', tier: 'Premium', family: null, capacity: 250 },
    properties: { state: 'Ready', creationDate: '2030-01-01T00:00:00.000Z' },
    server: { name: 'main' },
  })
  expect(changed.data.putElasticPool.sku).toEqual({
    name: 'GP_Gen5',
    tier: 'GeneralPurpose',
    family: 'Gen5',
    capacity: 4,
  })
  expect(kept.data.putElasticPool).toEqual({
    tags: { a: 'b' },
    sku: { name: 'GP_Gen5', capacity: 4 },
  })
  expect(read.data).toEqual({
    elasticPool: { name: 'pool' },
    elasticPools: { value: [{ name: 'pool' }], skipToken: null },
  })
  expect(deleted.data).toEqual({ deleteElasticPool: true })
})

test('a pool that holds databases is neither deleted nor changed so that they do not fit', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...PLAIN, properties: { elasticPoolId: POOL } })

  const deleted = await service.graphql(`mutation { deleteElasticPool(${OF_POOL}) }`)
  const other = await service.graphql(
    `mutation { putElasticPool(${OF_POOL}, parameters: { location: "westus", sku: { name: "BasicPool" } }) { id } }`,
  )
  await service.rest(`PATCH ${one('shop')}`, { sku: { name: 'S0' } })
  await service.advance(CHANGE_MS)
  const freed = await service.graphql(`mutation { deleteElasticPool(${OF_POOL}) }`)

  expect(graphRefusal(deleted)).toEqual([409, 'CannotDeleteResource'])
  expect(graphRefusal(other)).toEqual([400, 'ElasticPoolSkuCombinationInvalid'])
  expect(freed.data).toEqual({ deleteElasticPool: true })
})

test('a pool with more databases than a smaller one holds does not shrink', async () => {
  const service = await openShop()
  await putPool(service, 'pool', '{ name: "StandardPool", capacity: 100 }')
  for (let n = 0; n < 101; n++) {
    await service.rest(`PUT ${one(`db-${n}`)}`, { ...PLAIN, properties: { elasticPoolId: POOL } })
  }

  const answer = await service.graphql(
    `mutation { putElasticPool(${OF_POOL}, parameters: { location: "westus", sku: { name: "StandardPool", capacity: 50 } }) { id } }`,
  )

  expect(graphRefusal(answer)).toEqual([400, 'ElasticPoolSkuCombinationInvalid'])
})

test.each([
  [
    'an unknown sku',
    'main',
    '{ location: "westus", sku: { name: "Pool" } }',
    400,
    'InvalidSkuName',
  ],
  [
    'an unknown capacity',
    'main',
    '{ location: "westus", sku: { name: "BasicPool", capacity: 7 } }',
    400,
    'InvalidSkuName',
  ],
  ['no server', 'none', '{ location: "westus" }', 404, 'ParentResourceNotFound'],
  [
    'another location than its server',
    'main',
    '{ location: "eastus" }',
    409,
    'InvalidResourceLocation',
  ],
])('a pool with %s is refused', async (_why, server, parameters, status, code) => {
  const service = await openShop()

  const answer = await service.graphql(
    `mutation { putElasticPool(${PLACE}, serverName: "${server}", elasticPoolName: "new", parameters: ${parameters}) { id } }`,
  )

  expect(graphRefusal(answer)).toEqual([status, code])
})

test("another's servers and pools do not exist", async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  await fill(service, 'shop')
  const bob = { credential: 'bob' } as const
  const theirs = MAIN.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

  for (const field of [
    `query { x: sqlServer(${MAIN}) { name } }`,
    `query { x: sqlServers(${PLACE}) { skipToken } }`,
    `query { x: elasticPools(${MAIN}) { skipToken } }`,
    `mutation { x: deleteSqlServer(${MAIN}) }`,
    `mutation { x: putSqlServer(${MAIN}, parameters: { location: "westus" }) { id } }`,
  ]) {
    expect(graphRefusal(await service.graphql(field, {}, bob))).toEqual([
      404,
      'SubscriptionNotFound',
    ])
  }
  const own = await service.graphql(`{ sqlServer(${theirs}) { name } }`, {}, bob)
  expect(graphRefusal(own)).toEqual([404, 'ResourceNotFound'])
})
