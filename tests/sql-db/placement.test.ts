// What a database can be made and changed to, and what is refused.
import { expect, test } from 'vitest'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  CHANGE_MS,
  one,
  openShop,
  PLAIN,
  POOL,
  putPool,
  putReady,
  putServer,
  refusal,
  SERVER,
} from './shop.ts'

const GIB = 1024 ** 3

const MALFORMED: [why: string, sent: object, target: string][] = [
  ['location is missing', {}, 'parameters.location'],
  ['location is a number', { location: 7 }, 'parameters.location'],
  ['sku has no name', { ...PLAIN, sku: {} }, 'parameters.sku.name'],
  ['capacity is text', { ...PLAIN, sku: { name: 'S0', capacity: 'x' } }, 'parameters.sku.capacity'],
  ['tags are a list', { ...PLAIN, tags: [] }, 'parameters.tags'],
  [
    'createMode is not known',
    { ...PLAIN, properties: { createMode: 'Clone' } },
    'parameters.properties.createMode',
  ],
  [
    'maxSizeBytes is text',
    { ...PLAIN, properties: { maxSizeBytes: 'big' } },
    'parameters.properties.maxSizeBytes',
  ],
  [
    'a moment is none',
    { ...PLAIN, properties: { restorePointInTime: 'now' } },
    'parameters.properties.restorePointInTime',
  ],
  [
    'collation has a space',
    { ...PLAIN, properties: { collation: 'a b' } },
    'parameters.properties.collation',
  ],
]

test('PUT of a malformed database is refused and names what is wrong', async () => {
  const service = await openShop()

  for (const [why, sent, target] of MALFORMED) {
    const answer = await service.rest(`PUT ${one('shop')}`, sent)

    expect([why, ...refusal(answer)]).toEqual([why, 400, 'InvalidParameter'])
    expect(answer.body.error.target).toBe(target)
  }
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(404)
})

const OTHER_POOL = POOL.replace('/main/', '/other/')

const REFUSED: [why: string, sent: object, status: number, code: string][] = [
  ['an unknown objective', { sku: { name: 'S5' } }, 400, 'InvalidSkuName'],
  ['an objective of another tier', { sku: { name: 'S0', tier: 'Premium' } }, 400, 'InvalidSkuName'],
  [
    'an objective of another capacity',
    { sku: { name: 'S0', capacity: 20 } },
    400,
    'InvalidSkuName',
  ],
  ['another family', { sku: { name: 'GP_Gen5_2', family: 'Gen4' } }, 400, 'InvalidSkuName'],
  [
    'a size between two',
    { properties: { maxSizeBytes: 3 * GIB } },
    400,
    'InvalidMaxSizeTierCombination',
  ],
  [
    'a size above the greatest',
    { properties: { maxSizeBytes: 300 * GIB } },
    400,
    'InvalidMaxSizeTierCombination',
  ],
  [
    'a size of no whole GiB',
    { sku: { name: 'GP_Gen5_2' }, properties: { maxSizeBytes: GIB + 1 } },
    400,
    'InvalidMaxSizeTierCombination',
  ],
  [
    'zones where there are none',
    { properties: { zoneRedundant: true } },
    400,
    'FeatureNotSupportedForTier',
  ],
  [
    'read scale where there is none',
    { properties: { readScale: 'Enabled' } },
    400,
    'FeatureNotSupportedForTier',
  ],
  [
    'a licence where there is none',
    { properties: { licenseType: 'BasePrice' } },
    400,
    'FeatureNotSupportedForTier',
  ],
  [
    'replicas where there are none',
    { properties: { readReplicaCount: 1 } },
    400,
    'FeatureNotSupportedForTier',
  ],
  [
    'a pause that only serverless has',
    { properties: { autoPauseDelay: 60 } },
    400,
    'FeatureNotSupportedForTier',
  ],
  [
    'a least capacity that only serverless has',
    { properties: { minCapacity: 1 } },
    400,
    'FeatureNotSupportedForTier',
  ],
  [
    'a pause that is too short',
    { sku: { name: 'GP_S_Gen5_2' }, properties: { autoPauseDelay: 59 } },
    400,
    'InvalidRequestContent',
  ],
  [
    'a least capacity above the most',
    { sku: { name: 'GP_S_Gen5_2' }, properties: { minCapacity: 3 } },
    400,
    'InvalidRequestContent',
  ],
  [
    'too many replicas',
    { sku: { name: 'HS_Gen5_2' }, properties: { readReplicaCount: 5 } },
    400,
    'InvalidRequestContent',
  ],
  [
    'a pool that is not there',
    { properties: { elasticPoolId: `${POOL}2` } },
    404,
    'ElasticPoolNotFound',
  ],
  ['a pool that is no pool', { properties: { elasticPoolId: SERVER } }, 404, 'ElasticPoolNotFound'],
  [
    "another's pool",
    { properties: { elasticPoolId: POOL.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION) } },
    404,
    'ElasticPoolNotFound',
  ],
  [
    'the pool of another server',
    { properties: { elasticPoolId: OTHER_POOL } },
    404,
    'ElasticPoolNotFound',
  ],
  [
    'a pool and an objective',
    { sku: { name: 'S0' }, properties: { elasticPoolId: POOL } },
    400,
    'ElasticPoolSkuCombinationInvalid',
  ],
  [
    'the sku of pools without a pool',
    { sku: { name: 'ElasticPool' } },
    400,
    'ElasticPoolSkuCombinationInvalid',
  ],
  ['another location than its server', { location: 'eastus' }, 409, 'InvalidResourceLocation'],
  [
    'a sample that is not kept',
    { properties: { sampleName: 'AdventureWorksLT' } },
    400,
    'UnsupportedCreateMode',
  ],
]

test('PUT of a database that cannot be is refused', async () => {
  const service = await openShop()

  for (const [why, sent, status, code] of REFUSED) {
    const answer = await service.rest(`PUT ${one('shop')}`, { ...PLAIN, ...sent })

    expect([why, ...refusal(answer)]).toEqual([why, status, code])
  }
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(404)
})

test('a pool of another server of the same caller is refused', async () => {
  const service = await openShop()
  await putServer(service, 'other')

  const answer = await service.rest(`PUT ${one('shop', '', 'other')}`, {
    ...PLAIN,
    properties: { elasticPoolId: POOL },
  })

  expect(refusal(answer)).toEqual([400, 'ElasticPoolSkuCombinationInvalid'])
})

test('a pool that is full takes no more', async () => {
  const service = await openShop()
  await putPool(service, 'small', '{ name: "PremiumPool", capacity: 125 }')
  const into = { ...PLAIN, properties: { elasticPoolId: `${SERVER}/elasticPools/small` } }
  for (let n = 0; n < 50; n++) await service.rest(`PUT ${one(`db-${n}`)}`, into)

  const again = await service.rest(`PUT ${one('db-0')}`, into)
  const more = await service.rest(`PUT ${one('one-more')}`, into)

  expect(again.status).toBe(200)
  expect(refusal(more)).toEqual([409, 'QuotaExceeded'])
})

test.each([
  ['between a warehouse and others', { sku: { name: 'DW100c' } }, { sku: { name: 'S0' } }],
  ['into a warehouse', {}, { sku: { name: 'DW100c' } }],
  ['out of Hyperscale', { sku: { name: 'HS_Gen5_2' } }, { sku: { name: 'GP_Gen5_2' } }],
  [
    'to the second generation without an upgrade',
    { sku: { name: 'DW100' } },
    { sku: { name: 'DW200c' } },
  ],
  ['back to the first generation', { sku: { name: 'DW100c' } }, { sku: { name: 'DW100' } }],
])('a change %s is refused, and nothing changes', async (_why, made, sent) => {
  const service = await openShop()
  const before = await putReady(service, 'shop', { ...PLAIN, ...made })

  const put = await service.rest(`PUT ${one('shop')}`, { ...PLAIN, ...sent })
  const patch = await service.rest(`PATCH ${one('shop')}`, sent)

  expect(refusal(put)).toEqual([400, 'FeatureNotSupportedForTier'])
  expect(refusal(patch)).toEqual([400, 'FeatureNotSupportedForTier'])
  expect((await service.rest(`GET ${one('shop')}`)).body).toEqual(before)
})

test.each([
  ['collation', { collation: 'Latin1_General_CI_AS' }],
  ['catalogCollation', { catalogCollation: 'DATABASE_DEFAULT' }],
])('%s stays as it was made', async (field, properties) => {
  const service = await openShop()
  await putReady(service, 'shop')

  const answer = await service.rest(`PATCH ${one('shop')}`, { properties })

  expect(refusal(answer)).toEqual([409, 'PropertyChangeNotAllowed'])
  expect(answer.body.error.target).toBe(`properties.${field}`)
})

test('a database does not move: PATCH with another location is refused, another spelling is not', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  const away = await service.rest(`PATCH ${one('shop')}`, { location: 'eastus' })
  const same = await service.rest(`PATCH ${one('shop')}`, { location: 'West US' })

  expect(refusal(away)).toEqual([409, 'InvalidResourceLocation'])
  expect([same.status, same.body.location]).toEqual([200, 'westus'])
})

test('settings that the new tier lacks fall away, those that it has stay', async () => {
  const service = await openShop()
  await putReady(service, 'shop', {
    ...PLAIN,
    sku: { name: 'BC_Gen5_2' },
    properties: {
      zoneRedundant: true,
      readScale: 'Enabled',
      licenseType: 'BasePrice',
      maxSizeBytes: 77 * GIB,
    },
  })

  await service.rest(`PATCH ${one('shop')}`, { sku: { name: 'GP_Gen5_2' } })
  await service.advance(CHANGE_MS)
  const general = (await service.rest(`GET ${one('shop')}`)).body.properties
  await service.rest(`PATCH ${one('shop')}`, { sku: { name: 'Basic' } })
  await service.advance(CHANGE_MS)
  const basic = (await service.rest(`GET ${one('shop')}`)).body.properties

  expect(general).toMatchObject({
    zoneRedundant: false,
    readScale: 'Disabled',
    licenseType: 'BasePrice',
    maxSizeBytes: 77 * GIB,
  })
  expect(basic).toMatchObject({ maxSizeBytes: 2 * GIB })
  expect(basic.licenseType).toBeUndefined()
})

test('a database cannot have a name that the server keeps for itself', async () => {
  const service = await openShop()

  for (const name of ['master', 'TempDB', 'model', 'msdb']) {
    const answer = await service.rest(`PUT ${one(name)}`, PLAIN)

    expect([name, ...refusal(answer)]).toEqual([name, 400, 'CannotUseReservedDatabaseName'])
  }
})

test('a database cannot have a name with marks of paths and patterns, or one that is too long', async () => {
  const service = await openShop()

  for (const name of ['a<b', 'a%2Fb', 'a%3Fb', 'a%5Cb', 'ends.', 'ends%20', 'x'.repeat(129)]) {
    const answer = await service.rest(`PUT ${one(name)}`, PLAIN)

    expect([name, ...refusal(answer)]).toEqual([name, 400, 'InvalidParameter'])
    expect(answer.body.error.target).toBe('databaseName')
  }
})

test('a database can have a long name, with spaces and in any script', async () => {
  const service = await openShop()

  for (const name of ['x'.repeat(128), 'with%20spaces', 'Größe', '数据']) {
    const made = await putReady(service, name)

    expect(made.name).toBe(decodeURIComponent(name))
  }
})
