// Databases, through both doors.
import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  CHANGE_MS,
  fill,
  graphRefusal,
  MANY,
  one,
  openShop,
  PLAIN,
  POOL,
  putReady,
  refusal,
  SERVER,
  VERSION,
  wordsOf,
} from './shop.ts'

const KEY = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop", serverName: "main", databaseName: "shop"`
const GIB = 1024 ** 3

test('PUT of a new database is accepted with 202 and shows it while it is being created', async () => {
  const service = await openShop()

  const { status, headers, body } = await service.rest(`PUT ${one('Shop')}`, {
    ...PLAIN,
    tags: { team: 'till' },
  })

  expect(status).toBe(202)
  expect(headers['retry-after']).toBe('1')
  const place = `http://polygraph.test/subscriptions/${SUBSCRIPTION}/providers/Vendor.Sql/locations/westus`
  expect(headers.location).toMatch(`${place}/operationResults/`)
  expect(headers['vendor-asyncoperation']).toMatch(`${place}/operationStatuses/`)
  expect(body).toEqual({
    id: `${MANY}/Shop`,
    name: 'Shop',
    type: 'Vendor.Sql/servers/databases',
    location: 'westus',
    kind: 'v12.0,user',
    tags: { team: 'till' },
    sku: { name: 'S0', tier: 'Standard', capacity: 10 },
    properties: {
      status: 'Creating',
      databaseId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      creationDate: '2030-01-01T00:00:00.000Z',
      earliestRestoreDate: '2030-01-01T00:00:00.000Z',
      collation: 'SQL_Latin1_General_CP1_CI_AS',
      catalogCollation: 'SQL_Latin1_General_CP1_CI_AS',
      maxSizeBytes: 250 * GIB,
      zoneRedundant: false,
      readScale: 'Disabled',
      currentSku: { name: 'S0', tier: 'Standard', capacity: 10 },
      currentServiceObjectiveName: 'S0',
      requestedServiceObjectiveName: 'S0',
    },
  })
})

test('a new database is Online once its creation has ended', async () => {
  const service = await openShop()
  await service.rest(`PUT ${one('shop')}`, PLAIN)

  await service.advance(CHANGE_MS - 1)
  const before = await service.rest(`GET ${one('shop')}`)
  await service.advance(1)
  const after = await service.rest(`GET ${one('shop')}`)

  expect([before.status, before.body.properties.status]).toEqual([200, 'Creating'])
  expect([after.status, after.body.properties.status]).toEqual([200, 'Online'])
})

test('PUT of an empty database into a pool answers 201: it is Online at once', async () => {
  const service = await openShop()

  const { status, headers, body } = await service.rest(`PUT ${one('shop')}`, {
    ...PLAIN,
    properties: { elasticPoolId: POOL.toUpperCase() },
  })

  expect(status).toBe(201)
  expect(headers.location).toBeUndefined()
  expect(body.kind).toBe('v12.0,user,pool')
  expect(body.sku).toEqual({ name: 'ElasticPool', tier: 'Standard', capacity: 0 })
  expect(body.properties).toMatchObject({ status: 'Online', elasticPoolId: POOL })
})

test('PUT on a database that is there answers 200 where nothing has to scale, and replaces the tags', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...PLAIN, tags: { a: '1' } })

  const { status, body } = await service.rest(`PUT ${one('shop')}`, {
    ...PLAIN,
    properties: { maxSizeBytes: 100 * GIB },
  })

  expect(status).toBe(200)
  expect(body.tags).toBeUndefined()
  expect(body.properties).toMatchObject({ status: 'Online', maxSizeBytes: 100 * GIB })
})

test('PUT with another objective is accepted with 202; the database serves on while it scales', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  await fill(service, 'shop')

  const { status, body } = await service.rest(`PUT ${one('shop')}`, {
    ...PLAIN,
    sku: { name: 'GP_Gen5', tier: 'GeneralPurpose', family: 'Gen5', capacity: 4 },
  })
  const meanwhile = await wordsOf(service, 'shop')
  await service.advance(CHANGE_MS)

  expect(status).toBe(202)
  expect(body.properties).toMatchObject({
    status: 'Scaling',
    currentServiceObjectiveName: 'S0',
    requestedServiceObjectiveName: 'GP_Gen5_4',
    currentSku: { name: 'S0', tier: 'Standard', capacity: 10 },
  })
  expect(meanwhile).toEqual(['first'])
  const { body: after } = await service.rest(`GET ${one('shop')}`)
  expect(after.kind).toBe('v12.0,user,vcore')
  expect(after.sku).toEqual({
    name: 'GP_Gen5_4',
    tier: 'GeneralPurpose',
    family: 'Gen5',
    capacity: 4,
  })
  expect(after.properties).toMatchObject({
    status: 'Online',
    currentServiceObjectiveName: 'GP_Gen5_4',
    licenseType: 'LicenseIncluded',
    maxSizeBytes: 250 * GIB,
  })
})

test('PATCH of tags answers 200 and leaves the rest; without tags it keeps them', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...PLAIN, sku: { name: 'P1' }, tags: { a: '1' } })

  const tagged = await service.rest(`PATCH ${one('shop')}`, { tags: { b: '2' } })
  const empty = await service.rest(`PATCH ${one('shop')}`, {})

  expect([tagged.status, tagged.body.tags]).toEqual([200, { b: '2' }])
  expect([empty.status, empty.body.tags]).toEqual([200, { b: '2' }])
  expect(empty.body.sku.name).toBe('P1')
})

test('PATCH of the objective is accepted with 202', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...PLAIN, tags: { a: '1' } })

  const { status, body } = await service.rest(`PATCH ${one('shop')}`, { sku: { name: 's3' } })
  await service.advance(CHANGE_MS)

  expect([status, body.properties.status]).toEqual([202, 'Scaling'])
  const { body: after } = await service.rest(`GET ${one('shop')}`)
  expect(after.sku).toEqual({ name: 'S3', tier: 'Standard', capacity: 100 })
  expect(after.tags).toEqual({ a: '1' })
})

test('a database moves into a pool by its id, and out by a sku of its own', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  const into = await service.rest(`PATCH ${one('shop')}`, { properties: { elasticPoolId: POOL } })
  await service.advance(CHANGE_MS)
  const kept = await service.rest(`PUT ${one('shop')}`, PLAIN)
  const out = await service.rest(`PATCH ${one('shop')}`, { sku: { name: 'S1' } })
  await service.advance(CHANGE_MS)

  expect([into.status, into.body.properties.elasticPoolId]).toEqual([202, POOL])
  expect([kept.status, kept.body.properties.elasticPoolId]).toEqual([200, POOL])
  expect([out.status, out.body.properties.elasticPoolId]).toEqual([202, undefined])
  const { body } = await service.rest(`GET ${one('shop')}`)
  expect(body.properties.currentServiceObjectiveName).toBe('S1')
})

test('DELETE of a database that holds something is accepted with 202, and it goes later', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  await fill(service, 'shop')

  const { status, headers, body } = await service.rest(`DELETE ${one('shop')}`)
  const during = await service.rest(`GET ${one('shop')}`)
  const again = await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)

  expect([status, body]).toEqual([202, undefined])
  expect(headers.location).toContain('/operationResults/')
  expect(during.body.properties.status).toBe('Shutdown')
  expect([again.status, again.headers.location]).toEqual([202, headers.location])
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(404)
})

test('DELETE of a database in which nothing was ever written answers 200: it is gone at once', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  const { status, body } = await service.rest(`DELETE ${one('shop')}`)

  expect([status, body]).toEqual([200, undefined])
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(404)
})

test('DELETE of what is not there answers 204, on a server that is there and on one that is not', async () => {
  const service = await openShop()

  expect((await service.rest(`DELETE ${one('none')}`)).status).toBe(204)
  expect((await service.rest(`DELETE ${one('none', '', 'nowhere')}`)).status).toBe(204)
})

test('a name is free again once its database is gone, for a database of its own', async () => {
  const service = await openShop()
  const first = await putReady(service, 'shop')
  await fill(service, 'shop')
  await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)

  const second = await putReady(service, 'shop')

  expect(second.properties.databaseId).not.toBe(first.properties.databaseId)
  expect(await fill(service, 'shop')).toEqual([])
})

test.each([
  ['PUT', one('shop'), PLAIN],
  ['PATCH', one('shop'), {}],
  ['DELETE', one('shop'), undefined],
  ['POST', one('shop', 'move'), { id: `${MANY}/other` }],
])(
  '%s while a change is under way is refused, and says when to ask again',
  async (method, url, sent) => {
    const service = await openShop()
    await service.rest(`PUT ${one('shop')}`, PLAIN)

    const answer = await service.rest(`${method} ${url}`, sent)

    expect(refusal(answer)).toEqual([409, 'AnotherOperationInProgress'])
    expect(answer.headers['retry-after']).toBe('1')
    await service.advance(CHANGE_MS)
    const { body } = await service.rest(`GET ${one('shop')}`)
    expect(body.properties.status).toBe('Online')
  },
)

test('paths and names match in any case, and answers spell them as they were put', async () => {
  const service = await openShop()
  await putReady(service, 'Shop')

  const found = await service.rest(
    `GET ${SERVER}/DATABASES/sHOP?${VERSION}`.replace(
      'providers/Vendor.Sql',
      'PROVIDERS/vendor.sql',
    ),
  )
  const put = await service.rest(`PUT ${one('SHOP')}`, PLAIN)

  expect([found.status, found.body.id]).toEqual([200, `${MANY}/Shop`])
  expect([put.status, put.body.id]).toEqual([200, `${MANY}/Shop`])
})

test('what the system sets cannot be set by a client, and what was read can be sent back', async () => {
  const service = await openShop()
  const made = await putReady(service, 'shop', {
    ...PLAIN,
    id: '/mine',
    name: 'mine',
    type: 'mine',
    kind: 'mine',
    held: { primary: 'mine' },
    properties: {
      status: 'Paused',
      databaseId: '00000000-0000-0000-0000-000000000000',
      creationDate: '2000-01-01T00:00:00Z',
      earliestRestoreDate: '2000-01-01T00:00:00Z',
      currentServiceObjectiveName: 'P15',
      pausedDate: '2000-01-01T00:00:00Z',
    },
  })

  const { status, body } = await service.rest(`PUT ${one('shop')}`, made)

  expect(made).toMatchObject({ id: `${MANY}/shop`, name: 'shop', kind: 'v12.0,user' })
  expect(made.properties).toMatchObject({
    status: 'Online',
    creationDate: '2030-01-01T00:00:00.000Z',
    currentServiceObjectiveName: 'S0',
  })
  expect(made.properties.databaseId).not.toMatch(/^0+-/)
  expect(made.properties.pausedDate).toBeUndefined()
  expect(made.held).toBeUndefined()
  expect(status).toBe(200)
  expect(body).toEqual(made)
})

test('conditions hold: If-Match of another version and If-None-Match on what is there are 412', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  const { headers } = await service.rest(`GET ${one('shop')}`)
  const old = { headers: { 'if-match': '"other"' } }

  const refused = [
    await service.rest(`PUT ${one('shop')}`, PLAIN, old),
    await service.rest(`PATCH ${one('shop')}`, {}, old),
    await service.rest(`DELETE ${one('shop')}`, undefined, old),
    await service.rest(`POST ${one('shop', 'pause')}`, undefined, old),
    await service.rest(`POST ${one('shop', 'move')}`, { id: `${MANY}/b` }, old),
    await service.rest(`PUT ${one('new')}`, PLAIN, { headers: { 'if-match': '*' } }),
    await service.rest(`PUT ${one('shop')}`, PLAIN, { headers: { 'if-none-match': '*' } }),
  ]
  const unchanged = await service.rest(`GET ${one('shop')}`)
  const passed = await service.rest(
    `PATCH ${one('shop')}`,
    { tags: {} },
    {
      headers: { 'if-match': headers.etag! },
    },
  )

  for (const answer of refused) expect(refusal(answer)).toEqual([412, 'PreconditionFailed'])
  expect(unchanged.headers.etag).toBe(headers.etag)
  expect(passed.status).toBe(200)
  expect(passed.headers.etag).not.toBe(headers.etag)
})

test('what is not there is 404: the database, or the server that it would stand on', async () => {
  const service = await openShop()

  expect(refusal(await service.rest(`GET ${one('none')}`))).toEqual([404, 'ResourceNotFound'])
  expect(refusal(await service.rest(`PATCH ${one('none')}`, {}))).toEqual([404, 'ResourceNotFound'])
  expect(refusal(await service.rest(`PUT ${one('a', '', 'none')}`, PLAIN))).toEqual([
    404,
    'ParentResourceNotFound',
  ])
  for (const action of ['pause', 'resume', 'upgradeDataWarehouse']) {
    const answer = await service.rest(`POST ${one('none', action)}`)
    expect(refusal(answer)).toEqual([404, 'ResourceNotFound'])
  }
})

test("another's databases do not exist, whatever is asked of them", async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  const bob = { credential: 'bob' } as const
  const theirs = (url: string) => url.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

  for (const request of [
    `GET ${one('shop')}`,
    `PUT ${one('shop')}`,
    `PATCH ${one('shop')}`,
    `DELETE ${one('shop')}`,
    `POST ${one('shop', 'pause')}`,
    `POST ${one('shop', 'resume')}`,
    `POST ${one('shop', 'upgradeDataWarehouse')}`,
    `POST ${one('shop', 'move')}`,
    `GET ${MANY}?${VERSION}`,
    `GET ${POOL}/databases?${VERSION}`,
  ]) {
    const sent = request.startsWith('GET') ? undefined : { ...PLAIN, id: `${MANY}/x` }
    const answer = await service.rest(request, sent, bob)
    expect([request, ...refusal(answer)]).toEqual([request, 404, 'SubscriptionNotFound'])
  }
  expect(refusal(await service.rest(`GET ${theirs(one('shop'))}`, undefined, bob))).toEqual([
    404,
    'ResourceNotFound',
  ])
  expect((await service.rest(`GET ${one('shop')}`)).body.properties.status).toBe('Online')
})

test('a version is required, and so is a token', async () => {
  const service = await openShop()

  const none = await service.rest(`GET ${MANY}`)
  const old = await service.rest(`GET ${MANY}?api-version=2014-04-01`)
  const nobody = await service.rest(`GET ${MANY}?${VERSION}`, undefined, { credential: null })

  expect(refusal(none)).toEqual([400, 'MissingApiVersionParameter'])
  expect(refusal(old)).toEqual([400, 'InvalidApiVersionParameter'])
  expect(refusal(nobody)).toEqual([401, 'AuthenticationFailed'])
})

test('every creation, change and removal is announced', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  await fill(service, 'shop')
  await service.rest(`PATCH ${one('shop')}`, { tags: { a: 'b' } })
  await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)

  const events = await readEvents(service.store, { after: 0, limit: 100 })

  expect(events.map(({ type }) => type)).toEqual([
    'sql-db.server.created',
    'sql-db.pool.created',
    'sql-db.database.created',
    'sql-db.database.changed',
    'sql-db.content.changed',
    'sql-db.database.changed',
    'sql-db.database.deleted',
  ])
  expect(events[2]).toMatchObject({
    subject: `${MANY}/shop`,
    body: { id: `${MANY}/shop`, name: 'shop', status: 'Creating' },
  })
})

test('the graph puts, changes, reads and deletes a database', async () => {
  const service = await openShop()

  const put = await service.graphql(
    `mutation { putSqlDatabase(${KEY}, parameters: { location: "westus", sku: { name: "P2" },
      properties: { readScale: Enabled, maxSizeBytes: 1073741824, zoneRedundant: true } }) {
      name properties { status readScale maxSizeBytes } } }`,
  )
  await service.advance(CHANGE_MS)
  const patch = await service.graphql(
    `mutation { patchSqlDatabase(${KEY}, parameters: { tags: { a: "b" } }) { tags } }`,
  )
  const read = await service.graphql(
    `{ sqlDatabase(${KEY}) { sku { name tier capacity } properties { status earliestRestoreDate } } }`,
  )
  const deleted = await service.graphql(`mutation { deleteSqlDatabase(${KEY}) }`)
  const gone = await service.graphql(`{ sqlDatabase(${KEY}) { name } }`)

  expect(put.data.putSqlDatabase).toEqual({
    name: 'shop',
    properties: { status: 'Creating', readScale: 'Enabled', maxSizeBytes: GIB },
  })
  expect(patch.data.patchSqlDatabase).toEqual({ tags: { a: 'b' } })
  expect(read.data.sqlDatabase).toEqual({
    sku: { name: 'P2', tier: 'Premium', capacity: 250 },
    properties: { status: 'Online', earliestRestoreDate: '2030-01-01T00:00:01.000Z' },
  })
  expect(deleted.data.deleteSqlDatabase).toBe(true)
  expect(graphRefusal(gone)).toEqual([404, 'ResourceNotFound'])
})
