// Configuration stores: their life, their names, their rules, through both doors.
import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  action,
  AREA,
  GONE_MS,
  GROUP,
  idOf,
  keysNamed,
  keysOf,
  MANY,
  one,
  PLAIN,
  putReady,
  READY_MS,
  set,
  setMany,
  VERSION,
} from './stores.ts'

const IDENTITY = `${GROUP}/providers/Vendor.ManagedIdentity/userAssignedIdentities/robot`
const OTHER_IDENTITY = `${IDENTITY}-2`
const VAULT_KEY = {
  keyIdentifier: 'https://vault.example/keys/main/abc',
  identityClientId: '33333333-3333-4333-8333-333333333333',
}
const FULL = {
  ...PLAIN,
  tags: { team: 'shop', stage: 'test' },
  identity: { type: 'UserAssigned', userAssignedIdentities: { [IDENTITY]: {} } },
  properties: { encryption: { keyVaultProperties: VAULT_KEY } },
}
const others = (name: string) =>
  `/subscriptions/${OTHER_SUBSCRIPTION}/resourceGroups/Apps/${AREA}/configurationStores/${name}?${VERSION}`

test('PUT creates a store with 201 and shows what was sent and what the system set', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`PUT ${one('Shop-1')}`, FULL)

  expect(status).toBe(201)
  expect(headers['retry-after']).toBe('1')
  expect(headers.etag).toMatch(/^"[^"]+"$/)
  expect(body).toEqual({
    id: `${MANY}/Shop-1`,
    name: 'Shop-1',
    type: 'Vendor.AppConfiguration/configurationStores',
    location: 'westus',
    sku: { name: 'Standard' },
    tags: { team: 'shop', stage: 'test' },
    identity: { type: 'UserAssigned', userAssignedIdentities: { [IDENTITY]: {} } },
    properties: {
      provisioningState: 'Creating',
      creationDate: '2030-01-01T00:00:00.000Z',
      endpoint: 'http://polygraph.test',
      encryption: { keyVaultProperties: VAULT_KEY },
    },
  })
})

test('a store is Creating, and Succeeded once its work is done', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('shop-1')}`, PLAIN)

  const during = await service.rest(`GET ${one('shop-1')}`)
  await service.advance(READY_MS)
  const after = await service.rest(`GET ${one('shop-1')}`)

  expect(during.body.properties.provisioningState).toBe('Creating')
  expect(after.status).toBe(200)
  expect(after.body.properties.provisioningState).toBe('Succeeded')
  expect(after.headers['retry-after']).toBeUndefined()
})

test('PUT on a store that is there answers 200 and replaces all that was set', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', FULL)

  const replaced = await service.rest(`PUT ${one('shop-1')}`, PLAIN)
  await service.advance(READY_MS)
  const after = await service.rest(`GET ${one('shop-1')}`)

  expect(replaced.status).toBe(200)
  expect(replaced.body.properties.provisioningState).toBe('Updating')
  expect(after.body).toEqual({
    id: idOf('shop-1'),
    name: 'shop-1',
    type: 'Vendor.AppConfiguration/configurationStores',
    location: 'westus',
    sku: { name: 'Standard' },
    properties: {
      provisioningState: 'Succeeded',
      creationDate: '2030-01-01T00:00:00.000Z',
      endpoint: 'http://polygraph.test',
    },
  })
})

test('PATCH of tags is done at once with 200, replaces them and leaves the rest', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', FULL)

  const { status, headers, body } = await service.rest(`PATCH ${one('shop-1')}`, {
    tags: { owner: 'ann' },
  })

  expect(status).toBe(200)
  expect(headers['vendor-asyncoperation']).toBeUndefined()
  expect(body.tags).toEqual({ owner: 'ann' })
  expect(body.properties.provisioningState).toBe('Succeeded')
  expect(body.properties.encryption).toEqual({ keyVaultProperties: VAULT_KEY })
  expect(body.identity.type).toBe('UserAssigned')
})

test('PATCH that takes time is accepted with 201, merges properties and says what to poll', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', FULL)

  const { status, headers, body } = await service.rest(`PATCH ${one('shop-1')}`, {
    properties: {
      encryption: { keyVaultProperties: { keyIdentifier: 'https://vault.example/keys/next' } },
    },
  })
  await service.advance(READY_MS)
  const after = await service.rest(`GET ${one('shop-1')}`)

  expect(status).toBe(201)
  expect(headers['vendor-asyncoperation']).toMatch(
    `http://polygraph.test/subscriptions/${SUBSCRIPTION}/${AREA}/locations/westus/operationStatuses/`,
  )
  expect(headers['retry-after']).toBe('1')
  expect(body.properties.provisioningState).toBe('Updating')
  expect(body.tags).toEqual({ team: 'shop', stage: 'test' })
  expect(after.body.properties).toMatchObject({
    provisioningState: 'Succeeded',
    encryption: {
      keyVaultProperties: {
        keyIdentifier: 'https://vault.example/keys/next',
        identityClientId: VAULT_KEY.identityClientId,
      },
    },
  })
})

test('PATCH of a store that is still being changed polls the change that is under way', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const first = await service.rest(`PATCH ${one('shop-1')}`, {
    identity: { type: 'SystemAssigned' },
  })

  const second = await service.rest(`PATCH ${one('shop-1')}`, { tags: { a: 'b' } })

  expect(second.status).toBe(201)
  expect(second.headers['vendor-asyncoperation']).toBe(first.headers['vendor-asyncoperation'])
  await service.advance(READY_MS)
  const { body } = await service.rest(`GET ${one('shop-1')}`)
  expect(body.properties.provisioningState).toBe('Succeeded')
  expect(body.tags).toEqual({ a: 'b' })
})

test('PATCH on a store that is not there is 404 ResourceNotFound', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`PATCH ${one('shop-1')}`, { tags: {} })

  expect(status).toBe(404)
  expect(body).toEqual({
    error: { code: 'ResourceNotFound', message: `The resource ${MANY}/shop-1 was not found.` },
  })
})

test('GET on a store that is not there is 404 ResourceNotFound', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET ${one('shop-1')}`)

  expect([status, body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('DELETE of a store that holds nothing removes it and its access keys at once with 200', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const [key] = await keysOf(service, 'shop-1')

  const { status, body } = await service.rest(`DELETE ${one('shop-1')}`)

  expect(status).toBe(200)
  expect(body).toBeUndefined()
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
  await putReady(service, 'shop-1')
  const keys = await keysOf(service, 'shop-1')
  expect(keys).toHaveLength(4)
  expect(keys.map(({ id }) => id)).not.toContain(key!.id)
})

test('DELETE of a store that holds key-values is accepted with 202, and all goes later', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'colour', value: 'red' })

  const { status, headers, body } = await service.rest(`DELETE ${one('shop-1')}`)
  const during = await service.rest(`GET ${one('shop-1')}`)
  await service.advance(GONE_MS)

  expect(status).toBe(202)
  expect(body).toBeUndefined()
  const place = `http://polygraph.test/subscriptions/${SUBSCRIPTION}/${AREA}/locations/westus`
  expect(headers.location).toMatch(`${place}/operationResults/`)
  expect(headers['vendor-asyncoperation']).toMatch(`${place}/operationStatuses/`)
  expect(headers['retry-after']).toBe('1')
  expect(during.body.properties.provisioningState).toBe('Deleting')
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
})

test('DELETE of a store that is not there answers 204', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`DELETE ${one('shop-1')}`)

  expect(status).toBe(204)
  expect(body).toBeUndefined()
})

test('DELETE again while a store is being deleted answers 202 with the same operation', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'colour', value: 'red' })

  const first = await service.rest(`DELETE ${one('shop-1')}`)
  const second = await service.rest(`DELETE ${one('shop-1')}`)

  expect(second.status).toBe(202)
  expect(second.headers.location).toBe(first.headers.location)
})

test('a store goes with 1,201 key-values and their history, batch by batch, and its name is free again', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await setMany(service, 'shop-1', keysNamed('key-', 1_201))

  await service.rest(`DELETE ${one('shop-1')}`)
  const { stepsRun } = await service.advance(GONE_MS)

  // Batches of 500: two full ones of key-values, then the rest and one of their history, and so on.
  expect(stepsRun).toBe(5)
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
  await putReady(service, 'shop-1')
  const { data } = await service.graphql(
    `{ configKeyValues(configStoreId: "${idOf('shop-1')}") { nodes { key } }
      keyValueRevisions(configStoreId: "${idOf('shop-1')}", key: "key-0007") { nodes { value } } }`,
  )
  expect(data).toEqual({ configKeyValues: { nodes: [] }, keyValueRevisions: { nodes: [] } })
})

test.each(['PUT', 'PATCH'])('%s on a store that is being deleted is refused', async (method) => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'colour', value: 'red' })
  await service.rest(`DELETE ${one('shop-1')}`)

  const { status, body } = await service.rest(`${method} ${one('shop-1')}`, PLAIN)

  expect([status, body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  await service.advance(GONE_MS)
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
})

test('a name is taken across all subscriptions and in any case, until its store is gone', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'Shop-1')
  const asBob = { credential: 'bob' as const }

  const taken = await service.rest(`PUT ${others('SHOP-1')}`, PLAIN, asBob)
  const elsewhere = await service.rest(`PUT ${one('shop-1').replace('/Apps/', '/Other/')}`, PLAIN)
  await service.rest(`DELETE ${one('Shop-1')}`)
  const free = await service.rest(`PUT ${others('shop-1')}`, PLAIN, asBob)

  expect([taken.status, taken.body.error]).toEqual([
    409,
    {
      code: 'NameUnavailable',
      message: "The name 'SHOP-1' is in use already. Choose another.",
      target: 'configStoreName',
    },
  ])
  expect([elsewhere.status, elsewhere.body.error.code]).toEqual([409, 'NameUnavailable'])
  expect(free.status).toBe(201)
})

test('of two who put the same name at once, one gets it', async () => {
  const service = await openForTest(subgraph)

  const answers = await Promise.all([
    service.rest(`PUT ${one('shop-1')}`, PLAIN),
    service.rest(`PUT ${others('shop-1')}`, PLAIN, { credential: 'bob' }),
  ])

  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
})

test('a name can be asked for before it is used', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${others('taken')}`, PLAIN, { credential: 'bob' })
  const type = 'Vendor.AppConfiguration/configurationStores'
  const path = `/subscriptions/${SUBSCRIPTION}/${AREA}/checkNameAvailability?${VERSION}`
  const ask = (body: object) => service.rest(`POST ${path}`, body)

  const free = await ask({ name: 'still-free', type })
  const taken = await ask({ name: 'Taken', type })
  const short = await ask({ name: 'abcd', type })
  const wrong = await ask({ name: 'has space', type })
  const other = await ask({ name: 'still-free', type: 'Vendor.Other/things' })
  const bare = await ask({})
  const asBob = await service.rest(`POST ${path}`, { name: 'x', type }, { credential: 'bob' })

  expect([free.status, free.body]).toEqual([200, { nameAvailable: true }])
  expect(taken.body).toEqual({
    nameAvailable: false,
    reason: 'AlreadyExists',
    message: "The name 'Taken' is in use already.",
  })
  const invalid = {
    nameAvailable: false,
    reason: 'Invalid',
    message: 'A name is 5 to 50 letters, digits, underscores or hyphens.',
  }
  expect(short.body).toEqual(invalid)
  expect(wrong.body).toEqual(invalid)
  expect([other.status, other.body.error.target]).toEqual([
    400,
    'checkNameAvailabilityParameters.type',
  ])
  expect([bare.status, bare.body.error.code]).toEqual([400, 'InvalidParameter'])
  expect([asBob.status, asBob.body.error.code]).toEqual([404, 'SubscriptionNotFound'])
})

test('a name is 5 to 50 letters, digits, underscores or hyphens', async () => {
  const service = await openForTest(subgraph)

  for (const name of ['abcd', 'a'.repeat(51), 'has%20space', 'has.dot', 'umlaut-%C3%A4']) {
    const { status, body } = await service.rest(`PUT ${one(name)}`, PLAIN)

    expect([status, body.error.code, body.error.target], name).toEqual([
      400,
      'InvalidParameter',
      'configStoreName',
    ])
  }
  for (const name of ['abcde', 'A_-01', 'a'.repeat(50)]) {
    expect((await service.rest(`PUT ${one(name)}`, PLAIN)).status, name).toBe(201)
  }
})

test('a subscription has one Free store, which can become Standard, and not the other way', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'free-1', { ...PLAIN, sku: { name: 'free' } })

  const second = await service.rest(`PUT ${one('free-2')}`, { ...PLAIN, sku: { name: 'Free' } })
  const asBob = await service.rest(
    `PUT ${others('free-3')}`,
    { ...PLAIN, sku: { name: 'Free' } },
    { credential: 'bob' },
  )
  const again = await service.rest(`PUT ${one('free-1')}`, { ...PLAIN, sku: { name: 'Free' } })
  const raised = await service.rest(`PATCH ${one('free-1')}`, { sku: { name: 'Standard' } })
  await service.advance(READY_MS)
  const lowered = await service.rest(`PATCH ${one('free-1')}`, { sku: { name: 'Free' } })
  const next = await service.rest(`PUT ${one('free-2')}`, { ...PLAIN, sku: { name: 'Free' } })

  expect([second.status, second.body.error.code, second.body.error.target]).toEqual([
    409,
    'QuotaExceeded',
    'sku.name',
  ])
  expect(asBob.status).toBe(201)
  expect([again.status, again.body.sku]).toEqual([200, { name: 'Free' }])
  expect([raised.status, raised.body.sku]).toEqual([201, { name: 'Standard' }])
  expect([lowered.status, lowered.body.error.code]).toEqual([409, 'PropertyChangeNotAllowed'])
  expect(next.status).toBe(201)
})

test('a store gets an identity of its own, keeps it, and loses it by None', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', { ...PLAIN, identity: { type: 'SystemAssigned' } })
  const { body: created } = await service.rest(`GET ${one('shop-1')}`)

  const both = await service.rest(`PATCH ${one('shop-1')}`, {
    identity: {
      type: 'SystemAssigned, UserAssigned',
      principalId: 'mine',
      userAssignedIdentities: { [IDENTITY]: {}, [OTHER_IDENTITY]: {} },
    },
  })
  const fewer = await service.rest(`PATCH ${one('shop-1')}`, {
    identity: { userAssignedIdentities: { [IDENTITY]: null } },
  })
  const none = await service.rest(`PATCH ${one('shop-1')}`, { identity: { type: 'None' } })

  const { principalId } = created.identity
  expect(created.identity).toEqual({ type: 'SystemAssigned', principalId })
  expect(principalId).toMatch(/^[0-9a-f-]{36}$/)
  expect(both.body.identity).toEqual({
    type: 'SystemAssigned, UserAssigned',
    principalId,
    userAssignedIdentities: { [IDENTITY]: {}, [OTHER_IDENTITY]: {} },
  })
  expect(fewer.body.identity.userAssignedIdentities).toEqual({ [OTHER_IDENTITY]: {} })
  expect(none.body.identity).toBeUndefined()
})

test('encryption with a key of your own needs a Standard store with an identity', async () => {
  const service = await openForTest(subgraph)
  const properties = { encryption: { keyVaultProperties: VAULT_KEY } }

  const free = await service.rest(`PUT ${one('free-1')}`, { ...FULL, sku: { name: 'Free' } })
  const alone = await service.rest(`PUT ${one('shop-1')}`, { ...PLAIN, properties })
  await putReady(service, 'shop-2', FULL)
  const cleared = await service.rest(`PATCH ${one('shop-2')}`, {
    properties: { encryption: { keyVaultProperties: null } },
  })

  expect([free.status, free.body.error.code]).toEqual([409, 'SkuNotSufficient'])
  expect([alone.status, alone.body.error.code, alone.body.error.target]).toEqual([
    400,
    'InvalidParameter',
    'properties.encryption',
  ])
  expect(cleared.body.properties.encryption).toBeUndefined()
  expect((await service.rest(`GET ${one('free-1')}`)).status).toBe(404)
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
})

test('a store cannot be moved to another location, by PUT or by PATCH', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const before = await service.rest(`GET ${one('shop-1')}`)

  const put = await service.rest(`PUT ${one('shop-1')}`, { ...PLAIN, location: 'eastus' })
  const patch = await service.rest(`PATCH ${one('shop-1')}`, { location: 'eastus', tags: {} })
  const same = await service.rest(`PUT ${one('shop-1')}`, { ...PLAIN, location: 'West US' })

  expect([put.status, put.body.error.code]).toEqual([409, 'InvalidResourceLocation'])
  expect([patch.status, patch.body.error.code]).toEqual([409, 'InvalidResourceLocation'])
  expect([same.status, same.body]).toEqual([200, before.body])
})

test('what the system sets cannot be set by a client', async () => {
  const service = await openForTest(subgraph)
  const forged = {
    id: '/subscriptions/x',
    name: 'other',
    type: 'Vendor.Other/things',
    identity: { type: 'SystemAssigned', principalId: 'mine', tenantId: 'mine' },
    properties: {
      provisioningState: 'Failed',
      creationDate: '1999-01-01T00:00:00Z',
      endpoint: 'https://evil.example',
    },
  }

  const put = await service.rest(`PUT ${one('shop-1')}`, { ...PLAIN, ...forged })
  const patched = await service.rest(`PATCH ${one('shop-1')}`, forged)

  for (const { body } of [put, patched]) {
    expect(body).toMatchObject({
      id: idOf('shop-1'),
      name: 'shop-1',
      type: 'Vendor.AppConfiguration/configurationStores',
      properties: {
        provisioningState: 'Creating',
        creationDate: '2030-01-01T00:00:00.000Z',
        endpoint: 'http://polygraph.test',
      },
    })
    expect(body.identity.principalId).not.toBe('mine')
    expect(body.identity.tenantId).toBeUndefined()
  }
})

const sent = 'configStoreCreationParameters'
const MALFORMED: [why: string, sent: object, target: string][] = [
  ['location is missing', { ...PLAIN, location: undefined }, `${sent}.location`],
  ['location is a path', { ...PLAIN, location: 'west/us' }, `${sent}.location`],
  ['sku is missing', { ...PLAIN, sku: undefined }, `${sent}.sku`],
  ['sku is not known', { ...PLAIN, sku: { name: 'Gold' } }, `${sent}.sku.name`],
  ['sku is a number', { ...PLAIN, sku: { name: 1 } }, `${sent}.sku.name`],
  ['tags are a list', { ...PLAIN, tags: ['a'] }, `${sent}.tags`],
  ['identity is unknown', { ...PLAIN, identity: { type: 'Mine' } }, `${sent}.identity.type`],
  [
    'an identity is no id',
    { ...PLAIN, identity: { type: 'UserAssigned', userAssignedIdentities: { robot: {} } } },
    `${sent}.identity.userAssignedIdentities.robot`,
  ],
  [
    'no identity is named',
    { ...PLAIN, identity: { type: 'UserAssigned' } },
    'identity.userAssignedIdentities',
  ],
  [
    'the key of the vault is no address',
    {
      ...FULL,
      properties: { encryption: { keyVaultProperties: { keyIdentifier: 'http://vault/keys/a' } } },
    },
    `${sent}.properties.encryption.keyVaultProperties.keyIdentifier`,
  ],
]

test('a malformed store is refused, and the refusal names what is wrong', async () => {
  const service = await openForTest(subgraph)

  for (const [why, body, target] of MALFORMED) {
    const answer = await service.rest(`PUT ${one('shop-1')}`, body)

    expect([answer.status, answer.body.error.code], why).toEqual([400, 'InvalidParameter'])
    expect(answer.body.error.target, why).toBe(target)
  }
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
})

test('a write with a stale If-Match is refused and changes nothing; with the last one it is done', async () => {
  const service = await openForTest(subgraph)
  const { headers: first } = await service.rest(`PUT ${one('shop-1')}`, PLAIN)
  await service.advance(READY_MS)
  const before = await service.rest(`GET ${one('shop-1')}`)
  const stale = { headers: { 'if-match': first.etag! } }
  const fresh = { headers: { 'if-match': before.headers.etag! } }

  const put = await service.rest(`PUT ${one('shop-1')}`, { ...PLAIN, tags: { a: 'b' } }, stale)
  const patch = await service.rest(`PATCH ${one('shop-1')}`, { tags: { a: 'b' } }, stale)
  const gone = await service.rest(`DELETE ${one('shop-1')}`, undefined, stale)
  const after = await service.rest(`GET ${one('shop-1')}`)
  const done = await service.rest(`PATCH ${one('shop-1')}`, { tags: { a: 'b' } }, fresh)

  for (const refused of [put, patch, gone]) {
    expect([refused.status, refused.body.error.code]).toEqual([412, 'PreconditionFailed'])
  }
  expect(after.body).toEqual(before.body)
  expect(done.status).toBe(200)
})

test('paths and names match in any case, and answers keep the first spelling', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'Shop-1')

  const read = await service.rest(`GET ${idOf('Shop-1').toUpperCase()}?${VERSION}`)
  const keys = await service.rest(`POST ${idOf('shop-1').toLowerCase()}/listkeys?${VERSION}`)

  expect([read.status, read.body.id]).toEqual([200, idOf('Shop-1')])
  expect([keys.status, keys.body.value.length]).toEqual([200, 4])
})

test('api-version is required and must be the documented one', async () => {
  const service = await openForTest(subgraph)

  const missing = await service.rest(`GET ${MANY}`)
  const other = await service.rest(`GET ${MANY}?api-version=2023-03-01`)

  expect([missing.status, missing.body.error.code]).toEqual([400, 'MissingApiVersionParameter'])
  expect([other.status, other.body.error.code]).toEqual([400, 'InvalidApiVersionParameter'])
})

test('without a token, or with a wrong one, nothing is shown', async () => {
  const service = await openForTest(subgraph)

  const none = await service.rest(`GET ${MANY}?${VERSION}`, undefined, { credential: null })
  const wrong = await service.rest(`GET ${MANY}?${VERSION}`, undefined, {
    credential: null,
    headers: { authorization: 'Bearer nobody' },
  })

  expect([none.status, none.body.error.code]).toEqual([401, 'AuthenticationFailed'])
  expect([wrong.status, wrong.body.error.code]).toEqual([401, 'InvalidAuthenticationToken'])
})

test('the operations of the provider are listed on one page', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET /${AREA}/operations?${VERSION}`)
  const foreign = await service.rest(`GET /${AREA}/operations?${VERSION}&$skipToken=AAAA`)

  expect(status).toBe(200)
  expect(body.value).toHaveLength(11)
  expect(body.value[4]).toEqual({
    name: 'Vendor.AppConfiguration/configurationStores/ListKeys/action',
    display: {
      provider: 'Vendor.AppConfiguration',
      resource: 'Configuration stores',
      operation: 'List keys',
      description: 'Lists the access keys of a store.',
    },
  })
  expect([foreign.status, foreign.body.error.target]).toEqual([400, '$skipToken'])
})

test('what happens to a store is announced', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await service.rest(`PATCH ${one('shop-1')}`, { tags: { a: 'b' } })
  await set(service, 'shop-1', { key: 'colour', value: 'red' })
  await service.rest(`DELETE ${one('shop-1')}`)
  await service.advance(GONE_MS)

  const events = await readEvents(service.store, { after: 0, limit: 100 })

  expect(events.map(({ type, subject }) => [type, subject])).toEqual([
    ['config-store.store.created', idOf('shop-1')],
    ['config-store.store.succeeded', idOf('shop-1')],
    ['config-store.store.changed', idOf('shop-1')],
    ['config-store.key-value.created', idOf('shop-1')],
    ['config-store.store.deleting', idOf('shop-1')],
    ['config-store.store.deleted', idOf('shop-1')],
  ])
})

test('the graph reaches the same stores by the same rules', async () => {
  const service = await openForTest(subgraph)
  const group = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Apps"`
  const here = `${group}, configStoreName: "shop-1"`

  const put = await service.graphql(
    `mutation ($it: ConfigStoreInput!) { putConfigStore(${here}, configStoreCreationParameters: $it) {
      id name type location sku { name } tags identity { type principalId userAssignedIdentities { id } }
      properties { provisioningState creationDate endpoint
        encryption { keyVaultProperties { keyIdentifier identityClientId } } } } }`,
    { it: FULL },
  )
  await service.advance(READY_MS)
  const patched = await service.graphql(
    `mutation { patchConfigStore(${here}, configStoreUpdateParameters: { tags: { owner: "ann" } }) {
      tags properties { provisioningState } } }`,
  )
  const read = await service.graphql(`{
    configStore(${here}) { name tags }
    configStoresByGroup(${group}) { value { name } nextLink skipToken }
    configStores(subscriptionId: "${SUBSCRIPTION}") { value { name } nextLink }
    configStoreOperations { value { name } }
    configStoreNameAvailability(subscriptionId: "${SUBSCRIPTION}", checkNameAvailabilityParameters:
      { name: "shop-1", type: "Vendor.AppConfiguration/configurationStores" }) {
      nameAvailable reason message } }`)
  const removed = await service.graphql(`mutation { deleteConfigStore(${here}) }`)
  const gone = await service.graphql(`{ configStore(${here}) { name } }`)

  expect(put).toEqual({
    data: {
      putConfigStore: {
        id: idOf('shop-1'),
        name: 'shop-1',
        type: 'Vendor.AppConfiguration/configurationStores',
        location: 'westus',
        sku: { name: 'Standard' },
        tags: { team: 'shop', stage: 'test' },
        identity: {
          type: 'UserAssigned',
          principalId: null,
          userAssignedIdentities: [{ id: IDENTITY }],
        },
        properties: {
          provisioningState: 'Creating',
          creationDate: '2030-01-01T00:00:00.000Z',
          endpoint: 'http://polygraph.test',
          encryption: { keyVaultProperties: VAULT_KEY },
        },
      },
    },
  })
  expect(patched.data.patchConfigStore).toEqual({
    tags: { owner: 'ann' },
    properties: { provisioningState: 'Succeeded' },
  })
  expect(read.errors).toBeUndefined()
  expect(read.data.configStore).toEqual({ name: 'shop-1', tags: { owner: 'ann' } })
  expect(read.data.configStoresByGroup).toEqual({
    value: [{ name: 'shop-1' }],
    nextLink: null,
    skipToken: null,
  })
  expect(read.data.configStores).toEqual({ value: [{ name: 'shop-1' }], nextLink: null })
  expect(read.data.configStoreOperations.value).toHaveLength(11)
  expect(read.data.configStoreNameAvailability).toEqual({
    nameAvailable: false,
    reason: 'AlreadyExists',
    message: "The name 'shop-1' is in use already.",
  })
  expect(removed).toEqual({ data: { deleteConfigStore: true } })
  expect(gone.errors?.[0].extensions).toMatchObject({ code: 'ResourceNotFound', status: 404 })
})

test('the action paths of later clients are the same operations', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')

  const { status } = await service.rest(`POST ${action('shop-1', 'listKeys')}`)

  expect(status).toBe(200)
})
