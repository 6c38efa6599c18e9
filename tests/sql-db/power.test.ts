// Pausing, resuming and upgrading data warehouses; serverless databases that pause by themselves.
import { expect, test } from 'vitest'
import { SUBSCRIPTION } from '../people.ts'
import {
  ask,
  CHANGE_MS,
  fill,
  graphRefusal,
  one,
  openShop,
  PLAIN,
  putReady,
  refusal,
  WAREHOUSE,
  wordsOf,
} from './shop.ts'

const MINUTE_MS = 60_000
const KEY = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop", serverName: "main", databaseName: "dw"`

async function openWarehouse(sku = 'DW100') {
  const service = await openShop()
  await putReady(service, 'dw', { ...PLAIN, sku: { name: sku } })
  await fill(service, 'dw')
  return service
}

async function openPaused() {
  const service = await openWarehouse()
  await service.rest(`POST ${one('dw', 'pause')}`)
  await service.advance(CHANGE_MS)
  return service
}

test('pausing a warehouse is accepted with 202: Pausing, then Paused', async () => {
  const service = await openWarehouse()

  const { status, headers, body } = await service.rest(`POST ${one('dw', 'pause')}`)
  const again = await service.rest(`POST ${one('dw', 'pause')}`)
  await service.advance(CHANGE_MS)

  expect([status, body.properties.status]).toEqual([202, 'Pausing'])
  expect([again.status, again.headers.location]).toEqual([202, headers.location])
  const { body: paused } = await service.rest(`GET ${one('dw')}`)
  expect(paused.properties).toMatchObject({
    status: 'Paused',
    pausedDate: '2030-01-01T00:00:02.000Z',
  })
})

test('pausing what is paused and resuming what is Online answers 200 with the database', async () => {
  const service = await openWarehouse()

  const resumed = await service.rest(`POST ${one('dw', 'resume')}`)
  await service.rest(`POST ${one('dw', 'pause')}`)
  await service.advance(CHANGE_MS)
  const paused = await service.rest(`POST ${one('dw', 'pause')}`)

  expect([resumed.status, resumed.body.properties.status]).toEqual([200, 'Online'])
  expect([paused.status, paused.body.properties.status]).toEqual([200, 'Paused'])
})

test('resuming is accepted with 202: Resuming, then Online, with what it held', async () => {
  const service = await openPaused()

  const { status, body } = await service.rest(`POST ${one('dw', 'resume')}`)
  await service.advance(CHANGE_MS)

  expect([status, body.properties.status]).toEqual([202, 'Resuming'])
  const { body: online } = await service.rest(`GET ${one('dw')}`)
  expect(online.properties).toMatchObject({
    status: 'Online',
    pausedDate: '2030-01-01T00:00:02.000Z',
    resumedDate: '2030-01-01T00:00:03.000Z',
  })
  expect(await wordsOf(service, 'dw')).toEqual(['first'])
})

test('a paused warehouse answers no SQL, does not scale, move or upgrade, and its tags change', async () => {
  const service = await openPaused()

  const sql = await ask(service, 'dw', 'SELECT 1')
  const scaled = await service.rest(`PATCH ${one('dw')}`, { sku: { name: 'DW200' } })
  const moved = await service.rest(`POST ${one('dw', 'move')}`, {
    id: one('other').split('?')[0],
  })
  const upgraded = await service.rest(`POST ${one('dw', 'upgradeDataWarehouse')}`)
  const tagged = await service.rest(`PATCH ${one('dw')}`, { tags: { a: 'b' } })

  expect(graphRefusal(sql)).toEqual([409, 'DatabaseNotOnline'])
  expect(refusal(scaled)).toEqual([409, 'DatabaseNotOnline'])
  expect(refusal(moved)).toEqual([409, 'DatabaseNotOnline'])
  expect(refusal(upgraded)).toEqual([409, 'DatabaseNotOnline'])
  expect([tagged.status, tagged.body.properties.status]).toEqual([200, 'Paused'])
})

test('a paused warehouse can be deleted, and its content can be restored', async () => {
  const service = await openPaused()

  const { status } = await service.rest(`DELETE ${one('dw')}`)
  await service.advance(CHANGE_MS)

  expect(status).toBe(202)
  expect((await service.rest(`GET ${one('dw')}`)).status).toBe(404)
})

test.each(['pause', 'resume', 'upgradeDataWarehouse'])(
  '%s is for data warehouses alone',
  async (action) => {
    const service = await openShop()
    for (const name of ['S0', 'P1', 'GP_Gen5_2', 'GP_S_Gen5_2', 'HS_Gen5_2']) {
      await putReady(service, name, { ...PLAIN, sku: { name } })

      const answer = await service.rest(`POST ${one(name, action)}`)

      expect(refusal(answer)).toEqual([400, 'FeatureNotSupportedForTier'])
    }
  },
)

test.each([
  ['pause', 'resume'],
  ['pause', 'upgradeDataWarehouse'],
  ['upgradeDataWarehouse', 'pause'],
])('while a warehouse is in %s, %s is refused', async (first, second) => {
  const service = await openWarehouse()
  await service.rest(`POST ${one('dw', first)}`)

  const answer = await service.rest(`POST ${one('dw', second)}`)

  expect(refusal(answer)).toEqual([409, 'AnotherOperationInProgress'])
})

test.each([
  ['DW100', 'DW100c'],
  ['DW600', 'DW500c'],
  ['DW1200', 'DW1000c'],
  ['DW6000', 'DW6000c'],
])('upgrading %s is accepted with 202 and makes it %s', async (first, second) => {
  const service = await openWarehouse(first)

  const { status, body } = await service.rest(`POST ${one('dw', 'upgradeDataWarehouse')}`)
  const during = await service.rest(`GET ${one('dw')}`)
  await service.advance(CHANGE_MS)

  expect([status, body]).toEqual([202, undefined])
  expect(during.body.properties.status).toBe('OfflineChangingDwPerformanceTiers')
  const { body: after } = await service.rest(`GET ${one('dw')}`)
  expect(after.sku.name).toBe(second)
  expect(after.properties).toMatchObject({
    status: 'Online',
    currentServiceObjectiveName: second,
    requestedServiceObjectiveName: second,
  })
  expect(await wordsOf(service, 'dw')).toEqual(['first'])
})

test('upgrading a warehouse of the second generation answers 200 and changes nothing', async () => {
  const service = await openWarehouse('DW100c')

  const { status, body } = await service.rest(`POST ${one('dw', 'upgradeDataWarehouse')}`)

  expect([status, body]).toEqual([200, undefined])
  expect((await service.rest(`GET ${one('dw')}`)).body.sku.name).toBe('DW100c')
})

test('a bodyless POST that announces JSON is accepted', async () => {
  const service = await openWarehouse()

  const { status } = await service.rest(`POST ${one('dw', 'pause')}`, undefined, {
    headers: { 'content-type': 'application/json' },
  })

  expect(status).toBe(202)
})

test('the graph pauses, resumes and upgrades', async () => {
  const service = await openShop()
  await putReady(service, 'dw', WAREHOUSE)
  const run = async (field: string) => {
    const { data } = await service.graphql(
      `mutation { ${field}(${KEY}) { properties { status } } }`,
    )
    await service.advance(CHANGE_MS)
    return data[field].properties.status
  }

  expect(await run('pauseSqlDatabase')).toBe('Pausing')
  expect(await run('resumeSqlDatabase')).toBe('Resuming')
  expect(await run('upgradeDataWarehouse')).toBe('OfflineChangingDwPerformanceTiers')
})

const SERVERLESS = { ...PLAIN, sku: { name: 'GP_S_Gen5_2' } }
const statusOf = async (service: Awaited<ReturnType<typeof openShop>>) =>
  (await service.rest(`GET ${one('shop')}`)).body.properties.status

test('a serverless database pauses when nobody has used it for its delay, and resumes when somebody does', async () => {
  const service = await openShop()
  const made = await putReady(service, 'shop', SERVERLESS)
  await service.advance(30 * MINUTE_MS)
  await fill(service, 'shop')

  await service.advance(59 * MINUTE_MS)
  const used = await statusOf(service)
  await service.advance(MINUTE_MS)
  const idle = await statusOf(service)
  const words = await wordsOf(service, 'shop')
  const resumed = await statusOf(service)
  await service.advance(60 * MINUTE_MS)
  const idleAgain = await statusOf(service)

  expect(made.properties).toMatchObject({ autoPauseDelay: 60, minCapacity: 0.5 })
  expect([used, idle, resumed, idleAgain]).toEqual(['Online', 'Paused', 'Online', 'Paused'])
  expect(words).toEqual(['first'])
})

test('a serverless database that is never to pause stays Online', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...SERVERLESS, properties: { autoPauseDelay: -1 } })

  await service.advance(10_080 * MINUTE_MS)

  expect(await statusOf(service)).toBe('Online')
})

test('a delay that is changed holds from then on', async () => {
  const service = await openShop()
  await putReady(service, 'shop', SERVERLESS)
  await service.rest(`PATCH ${one('shop')}`, { properties: { autoPauseDelay: 120 } })

  await service.advance(119 * MINUTE_MS)
  const before = await statusOf(service)
  await service.advance(MINUTE_MS)

  expect(before).toBe('Online')
  expect(await statusOf(service)).toBe('Paused')
})
