// Databases that are taken as a whole and put back.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-db.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import type { TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { askPart, refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'
import {
  add,
  CHANGE_MS,
  fill,
  MANY,
  one,
  openShop,
  PLAIN,
  POOL,
  putReady,
  putServer,
  rowsOf,
  SERVERS,
  VERSION,
  WAREHOUSE,
  wordsOf,
} from './shop.ts'

const type = 'SqlDatabase'
const id = `${MANY}/shop`

async function make(service: TestService) {
  await putReady(service, 'shop', {
    ...PLAIN,
    tags: { team: 'shop' },
    sku: { name: 'S1' },
    properties: { maxSizeBytes: 2 * 1024 ** 3 },
  })
  await fill(service, 'shop')
}

async function remove(service: TestService, gone: string) {
  await service.rest(`DELETE ${gone}?${VERSION}`)
  await service.advance(CHANGE_MS)
}

snapshotCases({
  type,
  open: () => openShop(),
  make,
  remove,
  id,
  vacantId: `${MANY}/other`,
  foreignId: id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION),
  shown: `type location kind tags sku { name tier capacity } content { sha256 sizeBytes }
    server { id } properties { status collation catalogCollation maxSizeBytes zoneRedundant readScale
      currentServiceObjectiveName requestedServiceObjectiveName }`,
  announces: 'sql-db.database',
})

test('a database that is put back opens with its rows, and can be changed', async () => {
  const service = await openShop()
  await make(service)
  const { bytes } = await take(service, type, id)
  await add(service, 'shop', 'too late')
  await remove(service, id)

  await restore(service, { type, id, bytes })
  const back = await wordsOf(service, 'shop')
  await add(service, 'shop', 'second')

  expect(back).toEqual(['first'])
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'second'])
})

test('a copy and what it was taken of have rows of their own', async () => {
  const service = await openShop()
  await make(service)
  const { bytes } = await take(service, type, id)

  await restore(service, { type, id: `${MANY}/copy`, bytes })
  await add(service, 'copy', 'of the copy')
  await add(service, 'shop', 'of the first')

  expect(await wordsOf(service, 'copy')).toEqual(['first', 'of the copy'])
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'of the first'])
})

test('a database that was deleted can be restored by the service too, beside what was put back', async () => {
  const service = await openShop()
  await make(service)
  const { bytes } = await take(service, type, id)
  await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)
  await restore(service, { type, id, bytes })
  await add(service, 'shop', 'after')
  const { data } = await service.graphql(
    `{ sqlServer(subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop", serverName: "main") {
      droppedDatabases { nodes { id } } } }`,
  )

  await putReady(service, 'dropped', {
    ...PLAIN,
    properties: {
      createMode: 'Restore',
      restorableDroppedDatabaseId: data.sqlServer.droppedDatabases.nodes[0].id,
    },
  })

  expect(await wordsOf(service, 'dropped')).toEqual(['first'])
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'after'])
})

test('without its server, or the pool that it was in, a database is not put back', async () => {
  const service = await openShop()
  await putReady(service, 'pooled', { ...PLAIN, properties: { elasticPoolId: POOL } })
  await putServer(service, 'far')
  const { bytes } = await take(service, type, `${MANY}/pooled`)

  const serverless = await restorePart(service, { type, id: `${SERVERS}/none/databases/a`, bytes })
  const poolless = await restorePart(service, { type, id: `${SERVERS}/far/databases/a`, bytes })
  const reserved = await restorePart(service, { type, id: `${MANY}/master`, bytes })
  const malformed = await restorePart(service, { type, id: `${MANY}/a*b`, bytes })
  const copy = await restore(service, { type, id: `${MANY}/copy`, bytes })

  expect(refusalOf(serverless)).toEqual([404, 'ParentResourceNotFound'])
  expect(refusalOf(poolless)).toEqual([404, 'ElasticPoolNotFound'])
  expect(refusalOf(reserved)).toEqual([400, 'CannotUseReservedDatabaseName'])
  expect(refusalOf(malformed)).toEqual([400, 'Invalid'])
  expect(copy.isWhole).toBe(true)
  const { body } = await service.rest(`GET ${one('copy')}`)
  expect(body.properties.elasticPoolId).toBe(POOL)
})

test('a database that is not there yet, or is being deleted, is not taken; a paused one is', async () => {
  const service = await openShop()
  await service.rest(`PUT ${one('new')}`, PLAIN)
  const early = await askPart(service, type, { id: `${MANY}/new` })
  await service.advance(CHANGE_MS)
  await fill(service, 'new')
  await service.rest(`DELETE ${one('new')}`)
  const late = await askPart(service, type, { id: `${MANY}/new` })
  await putReady(service, 'dw', WAREHOUSE)
  await service.rest(`POST ${one('dw', 'pause')}`)
  await service.advance(CHANGE_MS)

  const { bytes } = await take(service, type, `${MANY}/dw`)
  await restore(service, { type, id: `${MANY}/copy`, bytes })

  expect(refusalOf(early)).toEqual([409, 'DatabaseNotOnline'])
  expect(refusalOf(late)).toEqual([409, 'DatabaseNotOnline'])
  const { body } = await service.rest(`GET ${one('copy')}`)
  expect(body.properties).toMatchObject({
    status: 'Online',
    currentServiceObjectiveName: 'DW100',
  })
})

test('a secondary is put back on its own', async () => {
  const service = await openShop()
  await make(service)
  await putServer(service, 'far')
  const properties = { createMode: 'Secondary', sourceDatabaseId: id }
  await putReady(service, 'shop', { ...PLAIN, properties }, 'far')
  const far = `${SERVERS}/far/databases/shop`
  const { bytes } = await take(service, type, far)
  await remove(service, far)

  await restore(service, { type, id: far, bytes })
  await rowsOf(service, 'shop', `INSERT INTO word VALUES ('own')`, 'far')

  expect(await wordsOf(service, 'shop', 'far')).toEqual(['first', 'own'])
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
})

test('a serverless database that is put back pauses when nobody uses it', async () => {
  const service = await openShop()
  const serverless = { sku: { name: 'GP_S_Gen5_2' }, properties: { autoPauseDelay: 60 } }
  await putReady(service, 'shop', { ...PLAIN, ...serverless })
  const { bytes } = await take(service, type, id)
  await remove(service, id)

  await restore(service, { type, id, bytes })
  const before = await service.rest(`GET ${one('shop')}`)
  await service.advance(60 * 60_000)
  const after = await service.rest(`GET ${one('shop')}`)

  expect(before.body.properties.status).toBe('Online')
  expect(after.body.properties.status).toBe('Paused')
})

test.each(engines)('a database of several parts is put back on $engine', async ({ database }) => {
  const { open } = await database()
  const service = await openShop({ store: await open(kindsOf(subgraph), migrationsOf(subgraph)) })
  await make(service)
  await rowsOf(
    service,
    'shop',
    `CREATE TABLE filler (x); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
     INSERT INTO filler SELECT randomblob(4000) FROM n`,
  )
  const { bytes, sha256 } = await take(service, type, id)
  await remove(service, id)

  const trial = await restore(service, { type, id, bytes, isTrial: true })
  const gone = await service.rest(`GET ${one('shop')}`)
  const put = await restore(service, { type, id, bytes })

  expect(bytes.length).toBeGreaterThan(2 * 512 * 1024)
  expect(trial).toEqual({ id, isWhole: true, sha256 })
  expect(gone.status).toBe(404)
  expect(put).toEqual({ id, isWhole: true, sha256 })
  expect(await rowsOf(service, 'shop', 'SELECT count(*) FROM filler')).toEqual([[300]])
})
