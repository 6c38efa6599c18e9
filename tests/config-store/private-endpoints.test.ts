// Private endpoint connections and what they can lead to.
import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'
import {
  ENDPOINT,
  follow,
  GONE_MS,
  idOf,
  one,
  PLAIN,
  putReady,
  READY_MS,
  VERSION,
} from './stores.ts'

const at = (name: string, store = 'shop-1') =>
  `${idOf(store)}/privateEndpointConnections/${name}?${VERSION}`

const body = (status?: string, id: string | undefined = ENDPOINT, description?: string) => ({
  properties: {
    ...(id && { privateEndpoint: { id } }),
    privateLinkServiceConnectionState: { status, description },
  },
})

async function openWithStore() {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  return service
}

const put = (service: TestService, name: string, sent: object) =>
  service.rest(`PUT ${at(name)}`, sent)

/** A connection that has come to a status the way it must. */
async function openWith(status: string) {
  const service = await openWithStore()
  const way = { Pending: [], Approved: ['Approved'], Rejected: ['Rejected'] }[status] ?? [
    'Approved',
    'Disconnected',
  ]
  await put(service, 'entry', body())
  await service.advance(READY_MS)
  for (const next of way) {
    await put(service, 'entry', body(next))
    await service.advance(READY_MS)
  }
  return service
}

test('PUT creates a connection with 201, which waits for approval', async () => {
  const service = await openWithStore()

  const {
    status,
    headers,
    body: shown,
  } = await put(service, 'Entry', body(undefined, ENDPOINT, 'Hello'))
  await service.advance(READY_MS)
  const ready = await service.rest(`GET ${at('entry')}`)

  expect(status).toBe(201)
  expect(headers['retry-after']).toBe('1')
  expect(shown).toEqual({
    id: `${idOf('shop-1')}/privateEndpointConnections/Entry`,
    name: 'Entry',
    type: 'Vendor.AppConfiguration/configurationStores/privateEndpointConnections',
    properties: {
      provisioningState: 'Creating',
      privateEndpoint: { id: ENDPOINT },
      privateLinkServiceConnectionState: {
        status: 'Pending',
        description: 'Hello',
        actionsRequired: 'None',
      },
    },
  })
  expect(ready.status).toBe(200)
  expect(ready.body.properties.provisioningState).toBe('Succeeded')
})

test('approving answers 200 and goes through Updating; a description alone changes at once', async () => {
  const service = await openWith('Pending')

  const approved = await put(service, 'entry', body('Approved'))
  await service.advance(READY_MS)
  const described = await put(service, 'entry', body(undefined, ENDPOINT, 'Welcome'))

  expect(approved.status).toBe(200)
  expect(approved.body.properties).toMatchObject({
    provisioningState: 'Updating',
    privateLinkServiceConnectionState: { status: 'Approved', actionsRequired: 'None' },
  })
  expect(described.body.properties).toMatchObject({
    provisioningState: 'Succeeded',
    privateLinkServiceConnectionState: { status: 'Approved', description: 'Welcome' },
  })
})

const STATUSES = ['Pending', 'Approved', 'Rejected', 'Disconnected']
const ALLOWED: Record<string, string[]> = {
  Pending: ['Pending', 'Approved', 'Rejected'],
  Approved: ['Approved', 'Rejected', 'Disconnected'],
  Rejected: ['Rejected', 'Approved', 'Disconnected'],
  Disconnected: ['Disconnected'],
}

test.each(STATUSES.flatMap((from) => STATUSES.map((to) => [from, to] as const)))(
  'from %s to %s: as the table of states says',
  async (from, to) => {
    const service = await openWith(from)

    const { status, body: shown } = await put(service, 'entry', body(to))

    if (ALLOWED[from]!.includes(to)) {
      expect([status, shown.properties.privateLinkServiceConnectionState.status]).toEqual([200, to])
    } else {
      expect([status, shown.error.code, shown.error.target]).toEqual([
        409,
        'ConnectionStateNotAllowed',
        'properties.privateLinkServiceConnectionState.status',
      ])
      const kept = await service.rest(`GET ${at('entry')}`)
      expect(kept.body.properties.privateLinkServiceConnectionState.status).toBe(from)
    }
  },
)

test('a connection that was disconnected says that it must be made anew', async () => {
  const service = await openWith('Disconnected')

  const { body: shown } = await service.rest(`GET ${at('entry')}`)

  expect(shown.properties.privateLinkServiceConnectionState).toEqual({
    status: 'Disconnected',
    actionsRequired: 'Recreate',
  })
})

test('a new connection is Pending or Approved, and nothing else', async () => {
  const service = await openWithStore()

  const approved = await put(service, 'a', body('Approved'))
  const rejected = await put(service, 'b', body('Rejected', `${ENDPOINT}-2`))
  const disconnected = await put(service, 'c', body('Disconnected', `${ENDPOINT}-3`))

  expect(approved.status).toBe(201)
  expect([rejected.status, disconnected.status]).toEqual([409, 409])
})

test('an endpoint is required, fixed, and connected once', async () => {
  const service = await openWith('Approved')

  const none = await put(service, 'other', {
    properties: { privateLinkServiceConnectionState: {} },
  })
  const twice = await put(service, 'other', body('Pending', ENDPOINT.toUpperCase()))
  const moved = await put(service, 'entry', body('Approved', `${ENDPOINT}-2`))
  const left = await put(service, 'entry', {
    properties: { privateLinkServiceConnectionState: { status: 'Rejected' } },
  })

  expect([none.status, none.body.error.target]).toEqual([400, 'properties.privateEndpoint.id'])
  expect([twice.status, twice.body.error.code]).toEqual([409, 'PrivateEndpointInUse'])
  expect([moved.status, moved.body.error.code]).toEqual([409, 'PropertyChangeNotAllowed'])
  expect([left.status, left.body.properties.privateEndpoint]).toEqual([200, { id: ENDPOINT }])
})

test('a Free store has no private endpoints', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', { ...PLAIN, sku: { name: 'Free' } })

  const { status, body: shown } = await put(service, 'entry', body())

  expect([status, shown.error.code]).toEqual([409, 'SkuNotSufficient'])
})

test('a store has at most 50 connections', async () => {
  const service = await openWithStore()
  for (let n = 0; n < 50; n++) await put(service, `entry-${n}`, body('Pending', `${ENDPOINT}-${n}`))

  const beyond = await put(service, 'one-more', body('Pending', `${ENDPOINT}-51`))
  const listed = await service.rest(`GET ${idOf('shop-1')}/privateEndpointConnections?${VERSION}`)

  expect([beyond.status, beyond.body.error.code]).toEqual([409, 'QuotaExceeded'])
  expect(listed.body.value).toHaveLength(50)
})

test('what the system sets cannot be set by a client', async () => {
  const service = await openWithStore()

  const { body: shown } = await put(service, 'entry', {
    id: '/mine',
    name: 'other',
    properties: {
      provisioningState: 'Failed',
      privateEndpoint: { id: ENDPOINT },
      privateLinkServiceConnectionState: { actionsRequired: 'Recreate' },
    },
  })

  expect(shown).toMatchObject({
    name: 'entry',
    properties: {
      provisioningState: 'Creating',
      privateLinkServiceConnectionState: { status: 'Pending', actionsRequired: 'None' },
    },
  })
})

test('a malformed connection is refused, and the refusal names what is wrong', async () => {
  const service = await openWithStore()
  const sent = 'privateEndpointConnection.properties'
  const cases: [object, string][] = [
    [{}, sent],
    [{ properties: {} }, `${sent}.privateLinkServiceConnectionState`],
    [body('Perhaps'), `${sent}.privateLinkServiceConnectionState.status`],
    [body('Pending', '/endpoints/entry'), `${sent}.privateEndpoint.id`],
    [
      body('Pending', ENDPOINT, 'd'.repeat(513)),
      `${sent}.privateLinkServiceConnectionState.description`,
    ],
  ]

  for (const [bad, target] of cases) {
    const { status, body: shown } = await put(service, 'entry', bad)

    expect([status, shown.error.target]).toEqual([400, target])
  }
  const name = await put(service, 'has%20space', body())
  expect([name.status, name.body.error.target]).toEqual([400, 'privateEndpointConnectionName'])
  expect((await service.rest(`GET ${at('entry')}`)).status).toBe(404)
})

test('DELETE of an approved connection is accepted with 202 and followed to its end', async () => {
  const service = await openWith('Approved')

  const removal = await service.rest(`DELETE ${at('entry')}`)
  const again = await service.rest(`DELETE ${at('entry')}`)
  const during = await service.rest(`GET ${at('entry')}`)
  const refused = await put(service, 'entry', body('Rejected'))
  await service.advance(GONE_MS)
  const ended = await follow(service, removal.headers['vendor-asyncoperation'])

  expect(removal.status).toBe(202)
  expect([again.status, again.headers.location]).toEqual([202, removal.headers.location])
  expect(during.body.properties.provisioningState).toBe('Deleting')
  expect([refused.status, refused.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect(ended.body.status).toBe('Succeeded')
  expect((await follow(service, removal.headers.location)).status).toBe(204)
  expect((await service.rest(`GET ${at('entry')}`)).status).toBe(404)
})

test('DELETE of a connection that nothing passes through is done at once with 200, then 204', async () => {
  const service = await openWith('Pending')

  const first = await service.rest(`DELETE ${at('entry')}`)
  const second = await service.rest(`DELETE ${at('entry')}`)

  expect([first.status, second.status]).toEqual([200, 204])
})

test('a store that has connections is deleted with them', async () => {
  const service = await openWith('Approved')

  const removal = await service.rest(`DELETE ${one('shop-1')}`)
  const late = await put(service, 'other', body('Pending', `${ENDPOINT}-2`))
  await service.advance(GONE_MS)
  await putReady(service, 'shop-1')
  const { body: listed } = await service.rest(
    `GET ${idOf('shop-1')}/privateEndpointConnections?${VERSION}`,
  )

  expect(removal.status).toBe(202)
  expect([late.status, late.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect(listed).toEqual({ value: [] })
})

test("connections and links of a store that is not there, or another's, are 404", async () => {
  const service = await openWithStore()
  const parts = ['privateEndpointConnections', 'privateEndpointConnections/entry']
  const all = [...parts, 'privateLinkResources', 'privateLinkResources/configurationStores']

  for (const part of all) {
    const missing = await service.rest(`GET ${idOf('nobody')}/${part}?${VERSION}`)
    const asBob = await service.rest(`GET ${idOf('shop-1')}/${part}?${VERSION}`, undefined, {
      credential: 'bob',
    })

    expect([missing.status, missing.body.error.code], part).toEqual([404, 'ResourceNotFound'])
    expect([asBob.status, asBob.body.error.code], part).toEqual([404, 'SubscriptionNotFound'])
  }
  const put = await service.rest(`PUT ${at('entry', 'nobody')}`, body())
  expect([put.status, put.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('a store has one thing that endpoints connect to', async () => {
  const service = await openWithStore()
  const links = `${idOf('shop-1')}/privateLinkResources`

  const listed = await service.rest(`GET ${links}?${VERSION}`)
  const read = await service.rest(`GET ${links}/CONFIGURATIONSTORES?${VERSION}`)
  const other = await service.rest(`GET ${links}/other?${VERSION}`)

  const link = {
    id: `${links}/configurationStores`,
    name: 'configurationStores',
    type: 'Vendor.AppConfiguration/configurationStores/privateLinkResources',
    properties: { groupId: 'configurationStores', requiredMembers: ['configurationStores'] },
  }
  expect([listed.status, listed.body]).toEqual([200, { value: [link] }])
  expect([read.status, read.body]).toEqual([200, link])
  expect([other.status, other.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('what happens to a connection is announced', async () => {
  const service = await openWith('Approved')
  await service.rest(`DELETE ${at('entry')}`)
  await service.advance(GONE_MS)

  const events = await readEvents(service.store, { after: 0, limit: 100 })

  expect(events.map(({ type }) => type)).toEqual([
    'config-store.store.created',
    'config-store.store.succeeded',
    'config-store.private-endpoint-connection.created',
    'config-store.private-endpoint-connection.succeeded',
    'config-store.private-endpoint-connection.changed',
    'config-store.private-endpoint-connection.succeeded',
    'config-store.private-endpoint-connection.deleting',
    'config-store.private-endpoint-connection.deleted',
  ])
})

test('the graph reaches connections and links by the same rules', async () => {
  const service = await openWithStore()
  const place = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Apps", configStoreName: "shop-1"`
  const here = `${place}, privateEndpointConnectionName: "entry"`
  const all = `id name type properties { provisioningState privateEndpoint { id }
    privateLinkServiceConnectionState { status description actionsRequired } }`

  const made = await service.graphql(
    `mutation ($it: ConfigStorePrivateEndpointConnectionInput!) {
      putConfigStorePrivateEndpointConnection(${here}, privateEndpointConnection: $it) { ${all} } }`,
    { it: body('Pending') },
  )
  const read = await service.graphql(`{
    configStorePrivateEndpointConnection(${here}) { name }
    configStorePrivateEndpointConnections(${place}) { value { name } nextLink skipToken }
    configStorePrivateLinkResources(${place}) { value { name } }
    configStorePrivateLinkResource(${place}, groupName: "configurationStores") {
      id name type properties { groupId requiredMembers } } }`)
  const removed = await service.graphql(
    `mutation { deleteConfigStorePrivateEndpointConnection(${here}) }`,
  )

  expect(made.data.putConfigStorePrivateEndpointConnection).toEqual({
    id: `${idOf('shop-1')}/privateEndpointConnections/entry`,
    name: 'entry',
    type: 'Vendor.AppConfiguration/configurationStores/privateEndpointConnections',
    properties: {
      provisioningState: 'Creating',
      privateEndpoint: { id: ENDPOINT },
      privateLinkServiceConnectionState: {
        status: 'Pending',
        description: null,
        actionsRequired: 'None',
      },
    },
  })
  expect(read.errors).toBeUndefined()
  expect(read.data).toMatchObject({
    configStorePrivateEndpointConnection: { name: 'entry' },
    configStorePrivateEndpointConnections: {
      value: [{ name: 'entry' }],
      nextLink: null,
      skipToken: null,
    },
    configStorePrivateLinkResources: { value: [{ name: 'configurationStores' }] },
    configStorePrivateLinkResource: { name: 'configurationStores' },
  })
  expect(removed).toEqual({ data: { deleteConfigStorePrivateEndpointConnection: true } })
})
