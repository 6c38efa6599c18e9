// Dedicated hardware security modules, through both doors.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  AREA,
  FULL,
  GONE_MS,
  MANY,
  PLAIN,
  READY_MS,
  SUBNET,
  VERSION,
  one,
  putReady,
} from './modules.ts'

const GROUP = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Vaults`

test('PUT creates a module with 201 and shows what was sent and what the system set', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`PUT ${one('Safe-1')}`, FULL)

  expect(status).toBe(201)
  expect(headers['retry-after']).toBe('1')
  expect(body).toEqual({
    id: `${MANY}/Safe-1`,
    name: 'Safe-1',
    type: 'Vendor.HardwareSecurityModules/dedicatedHSMs',
    location: 'westus',
    sku: { name: 'Vendor Network HSM A790' },
    tags: { team: 'keys', stage: 'test' },
    zones: ['1'],
    properties: {
      provisioningState: 'Provisioning',
      stampId: 'stamp1',
      networkProfile: {
        subnet: { id: SUBNET },
        networkInterfaces: [
          {
            id: `${GROUP}/providers/Vendor.Network/networkInterfaces/Safe-1-nic1`,
            privateIpAddress: '10.0.2.4',
          },
          {
            id: `${GROUP}/providers/Vendor.Network/networkInterfaces/Safe-1-nic2`,
            privateIpAddress: '10.0.2.5',
          },
        ],
      },
    },
  })
})

test('a module goes through every state of its provisioning, one after the other', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('safe')}`, PLAIN)

  const states = []
  for (let second = 0; second < 6; second++) {
    const { body } = await service.rest(`GET ${one('safe')}`)
    states.push(body.properties.provisioningState)
    await service.advance(1_000)
  }

  expect(states).toEqual([
    'Provisioning',
    'CheckingQuota',
    'Allocating',
    'Connecting',
    'Succeeded',
    'Succeeded',
  ])
})

test('PUT on a module that is there answers 200 and replaces its tags', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const replaced = await service.rest(`PUT ${one('safe')}`, { ...FULL, tags: { owner: 'ann' } })
  const emptied = await service.rest(`PUT ${one('safe')}`, PLAIN)

  expect(replaced.status).toBe(200)
  expect(replaced.body.tags).toEqual({ owner: 'ann' })
  expect(replaced.body.properties.provisioningState).toBe('Succeeded')
  expect(emptied.status).toBe(200)
  expect(emptied.body.tags).toBeUndefined()
  expect(emptied.body.properties.stampId).toBe('stamp1')
  expect(emptied.body.properties.networkProfile.networkInterfaces).toHaveLength(2)
})

test('PUT while a module is being provisioned keeps its state, and it still succeeds', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('safe')}`, PLAIN)
  await service.advance(2_000)

  const again = await service.rest(`PUT ${one('safe')}`, { ...PLAIN, tags: { a: 'b' } })
  await service.advance(2_000)

  expect(again.status).toBe(200)
  expect(again.body.properties.provisioningState).toBe('Allocating')
  const { body } = await service.rest(`GET ${one('safe')}`)
  expect(body.properties.provisioningState).toBe('Succeeded')
  expect(body.tags).toEqual({ a: 'b' })
})

test('PATCH replaces the tags as a whole and leaves the rest', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const { status, body } = await service.rest(`PATCH ${one('safe')}`, { tags: { owner: 'ann' } })

  expect(status).toBe(200)
  expect(body.tags).toEqual({ owner: 'ann' })
  expect(body.properties.stampId).toBe('stamp1')
  expect((await service.rest(`GET ${one('safe')}`)).body).toEqual(body)
})

test('PATCH without tags changes nothing', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const { status, body } = await service.rest(`PATCH ${one('safe')}`, {})

  expect(status).toBe(200)
  expect(body.tags).toEqual({ team: 'keys', stage: 'test' })
})

test('PATCH on a module that is not there is 404 ResourceNotFound', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`PATCH ${one('safe')}`, { tags: {} })

  expect(status).toBe(404)
  expect(body).toEqual({
    error: {
      code: 'ResourceNotFound',
      message: `The resource ${MANY}/safe was not found.`,
    },
  })
})

test('GET on a module that is not there is 404 ResourceNotFound', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET ${one('safe')}`)

  expect(status).toBe(404)
  expect(body.error.code).toBe('ResourceNotFound')
})

test('DELETE of a module that holds hardware is accepted with 202, and the module goes later', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const { status, headers, body } = await service.rest(`DELETE ${one('safe')}`)

  expect(status).toBe(202)
  expect(body).toBeUndefined()
  const place = `http://polygraph.test/subscriptions/${SUBSCRIPTION}/${AREA}/locations/westus`
  expect(headers.location).toMatch(`${place}/operationResults/`)
  expect(headers.location).toMatch(new RegExp(`\\?${VERSION}$`))
  expect(headers['vendor-asyncoperation']).toMatch(`${place}/operationStatuses/`)
  expect(headers['vendor-asyncoperation']).toMatch(new RegExp(`\\?${VERSION}$`))
  expect(headers['retry-after']).toBe('1')
  const during = await service.rest(`GET ${one('safe')}`)
  expect(during.body.properties.provisioningState).toBe('Deleting')
  await service.advance(GONE_MS)
  expect((await service.rest(`GET ${one('safe')}`)).status).toBe(404)
})

test('DELETE of a module whose allocation has not begun removes it at once with 200', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('safe')}`, PLAIN)

  const { status, body } = await service.rest(`DELETE ${one('safe')}`)
  await service.advance(READY_MS)

  expect(status).toBe(200)
  expect(body).toBeUndefined()
  expect((await service.rest(`GET ${one('safe')}`)).status).toBe(404)
  expect(service.mistakes).toEqual([])
})

test('DELETE while a module is being allocated is accepted with 202, and provisioning ends', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('safe')}`, PLAIN)
  await service.advance(2_000)

  const { status } = await service.rest(`DELETE ${one('safe')}`)
  await service.advance(READY_MS)

  expect(status).toBe(202)
  expect((await service.rest(`GET ${one('safe')}`)).status).toBe(404)
  expect(service.mistakes).toEqual([])
})

test('DELETE of a module that is not there answers 204', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`DELETE ${one('safe')}`)

  expect(status).toBe(204)
  expect(body).toBeUndefined()
})

test('DELETE of a module that is being deleted answers 202 with the same operation', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const first = await service.rest(`DELETE ${one('safe')}`)
  const second = await service.rest(`DELETE ${one('safe')}`)

  expect(second.status).toBe(202)
  expect(second.headers.location).toBe(first.headers.location)
  expect(second.headers['vendor-asyncoperation']).toBe(first.headers['vendor-asyncoperation'])
})

test.each(['PUT', 'PATCH'])('%s on a module that is being deleted is refused', async (method) => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  await service.rest(`DELETE ${one('safe')}`)

  const { status, body } = await service.rest(`${method} ${one('safe')}`, { ...PLAIN, tags: {} })

  expect(status).toBe(409)
  expect(body.error.code).toBe('AnotherOperationInProgress')
  await service.advance(GONE_MS)
  expect((await service.rest(`GET ${one('safe')}`)).status).toBe(404)
})

test('a name is free again once its module is gone', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  await service.rest(`DELETE ${one('safe')}`)
  await service.advance(GONE_MS)

  const { status, body } = await service.rest(`PUT ${one('safe')}`, {
    ...PLAIN,
    location: 'eastus',
  })
  await service.advance(READY_MS)

  expect(status).toBe(201)
  expect(body.location).toBe('eastus')
  const { body: ready } = await service.rest(`GET ${one('safe')}`)
  expect(ready.properties.provisioningState).toBe('Succeeded')
})

test('a module beyond the quota of its location fails and says why, and elsewhere it does not', async () => {
  const service = await openForTest(subgraph)
  for (let n = 0; n < 100; n++) await service.rest(`PUT ${one(`safe-${n}`)}`, PLAIN)
  await service.advance(READY_MS)

  await service.rest(`PUT ${one('one-too-many')}`, { ...PLAIN, location: 'West US' })
  await service.rest(`PUT ${one('elsewhere')}`, { ...PLAIN, location: 'eastus' })
  await service.advance(READY_MS)

  const failed = await service.rest(`GET ${one('one-too-many')}`)
  expect(failed.body.properties).toEqual({
    provisioningState: 'Failed',
    statusMessage:
      'The subscription holds 100 modules in westus, which is its quota. Delete one and put this one again.',
  })
  const elsewhere = await service.rest(`GET ${one('elsewhere')}`)
  expect(elsewhere.body.properties.provisioningState).toBe('Succeeded')
})

test('a module that failed is provisioned anew by PUT, and removed at once by DELETE', async () => {
  const service = await openForTest(subgraph)
  for (let n = 0; n < 101; n++) await service.rest(`PUT ${one(`safe-${n}`)}`, PLAIN)
  await service.advance(READY_MS)
  const last = await service.rest(`GET ${one('safe-100')}`)

  const gone = await service.rest(`DELETE ${one('safe-100')}`)
  await service.rest(`PUT ${one('safe-100')}`, PLAIN)
  await service.advance(READY_MS)
  await service.rest(`DELETE ${one('safe-0')}`)
  await service.advance(GONE_MS)
  const again = await service.rest(`PUT ${one('safe-100')}`, PLAIN)
  await service.advance(READY_MS)

  expect(last.body.properties.provisioningState).toBe('Failed')
  expect(gone.status).toBe(200)
  expect(again.status).toBe(200)
  expect(again.body.properties).toEqual({ provisioningState: 'Provisioning' })
  const { body } = await service.rest(`GET ${one('safe-100')}`)
  expect(body.properties).toEqual({ provisioningState: 'Succeeded' })
})

test.each([
  ['sku.name', { ...PLAIN, sku: { name: 'Other' } }, 400, 'InvalidParameter'],
  ['location', { ...PLAIN, location: 'eastus' }, 409, 'InvalidResourceLocation'],
  ['zones', { ...PLAIN, zones: ['2'] }, 409, 'PropertyChangeNotAllowed'],
  ['stampId', { ...PLAIN, properties: { stampId: 'stamp2' } }, 409, 'PropertyChangeNotAllowed'],
  [
    'subnet',
    { ...PLAIN, properties: { networkProfile: { subnet: { id: `${SUBNET}2` } } } },
    409,
    'PropertyChangeNotAllowed',
  ],
  [
    'addresses',
    {
      ...PLAIN,
      properties: { networkProfile: { networkInterfaces: [{ privateIpAddress: '10.0.2.4' }] } },
    },
    409,
    'PropertyChangeNotAllowed',
  ],
])('%s of a module cannot be changed, by PUT or by PATCH', async (_part, sent, status, code) => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const before = await service.rest(`GET ${one('safe')}`)

  const put = await service.rest(`PUT ${one('safe')}`, { ...sent, tags: { lost: 'yes' } })
  const patch = await service.rest(`PATCH ${one('safe')}`, { ...sent, tags: { lost: 'yes' } })

  expect([put.status, put.body.error.code]).toEqual([status, code])
  expect([patch.status, patch.body.error.code]).toEqual([status, code])
  const after = await service.rest(`GET ${one('safe')}`)
  expect(after.body).toEqual(before.body)
  expect(after.headers.etag).toBe(before.headers.etag)
})

test('a refused change names what cannot be changed', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const { body } = await service.rest(`PUT ${one('safe')}`, { ...PLAIN, zones: ['1', '2'] })

  expect(body).toEqual({
    error: {
      code: 'PropertyChangeNotAllowed',
      message: 'zones of safe cannot be changed. Delete the module and create it anew.',
      target: 'zones',
    },
  })
})

test('what a client read can be sent back: other spellings of the same are no change', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const { body } = await service.rest(`GET ${one('safe')}`)

  const { status } = await service.rest(`PUT ${one('safe')}`, { ...body, location: 'West US' })

  expect(status).toBe(200)
  expect((await service.rest(`GET ${one('safe')}`)).body).toEqual(body)
})

test('what the system sets cannot be set by a client', async () => {
  const service = await openForTest(subgraph)

  const { body } = await service.rest(`PUT ${one('safe')}`, {
    ...PLAIN,
    id: '/subscriptions/x',
    name: 'other',
    type: 'Vendor.Other/things',
    systemData: { createdBy: 'me' },
    properties: {
      provisioningState: 'Succeeded',
      statusMessage: 'All is well.',
      networkProfile: { networkInterfaces: [{ id: '/mine', privateIpAddress: '10.0.0.1' }] },
    },
  })
  const patched = await service.rest(`PATCH ${one('safe')}`, {
    id: '/subscriptions/x',
    name: 'other',
    properties: { provisioningState: 'Succeeded', statusMessage: 'All is well.' },
  })

  const shown = {
    id: `${MANY}/safe`,
    name: 'safe',
    type: 'Vendor.HardwareSecurityModules/dedicatedHSMs',
    location: 'westus',
    sku: { name: 'Vendor Network HSM A790' },
    properties: {
      provisioningState: 'Provisioning',
      networkProfile: {
        networkInterfaces: [
          {
            id: `${GROUP}/providers/Vendor.Network/networkInterfaces/safe-nic1`,
            privateIpAddress: '10.0.0.1',
          },
        ],
      },
    },
  }
  expect(body).toEqual(shown)
  expect(patched.body).toEqual(shown)
})

const MALFORMED: [why: string, sent: object, target: string][] = [
  ['location is missing', { ...PLAIN, location: undefined }, 'parameters.location'],
  ['location is empty', { ...PLAIN, location: '' }, 'parameters.location'],
  ['location is a number', { ...PLAIN, location: 7 }, 'parameters.location'],
  ['location is a path', { ...PLAIN, location: 'west/us' }, 'parameters.location'],
  ['sku is missing', { ...PLAIN, sku: undefined }, 'parameters.sku'],
  ['sku has no name', { ...PLAIN, sku: {} }, 'parameters.sku.name'],
  ['sku is not known', { ...PLAIN, sku: { name: 'HSM' } }, 'parameters.sku.name'],
  ['properties are missing', { ...PLAIN, properties: undefined }, 'parameters.properties'],
  ['zones are no list', { ...PLAIN, zones: '1' }, 'parameters.zones'],
  ['a zone is not known', { ...PLAIN, zones: ['4'] }, 'parameters.zones.0'],
  ['a zone comes twice', { ...PLAIN, zones: ['1', '1'] }, 'parameters.zones'],
  ['tags are a list', { ...PLAIN, tags: ['a'] }, 'parameters.tags'],
  ['a tag is a number', { ...PLAIN, tags: { a: 1 } }, 'parameters.tags.a'],
  ['a tag name has a slash', { ...PLAIN, tags: { 'a/b': 'c' } }, 'parameters.tags'],
  [
    'there are more than 50 tags',
    { ...PLAIN, tags: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`t${n}`, ''])) },
    'parameters.tags',
  ],
  [
    'stampId is not known',
    { ...PLAIN, properties: { stampId: 'one' } },
    'parameters.properties.stampId',
  ],
  [
    'the subnet is no id',
    { ...PLAIN, properties: { networkProfile: { subnet: { id: 'net/hsm' } } } },
    'parameters.properties.networkProfile.subnet.id',
  ],
  [
    'an address is not valid',
    {
      ...PLAIN,
      properties: { networkProfile: { networkInterfaces: [{ privateIpAddress: '10.0.0.256' }] } },
    },
    'parameters.properties.networkProfile.networkInterfaces.0.privateIpAddress',
  ],
  [
    'an address comes twice',
    {
      ...PLAIN,
      properties: {
        networkProfile: {
          networkInterfaces: [{ privateIpAddress: '10.0.0.1' }, { privateIpAddress: '10.0.0.1' }],
        },
      },
    },
    'parameters.properties.networkProfile.networkInterfaces',
  ],
]

test('a malformed module is refused, and the refusal names what is wrong', async () => {
  const service = await openForTest(subgraph)

  for (const [why, sent, target] of MALFORMED) {
    const { status, body } = await service.rest(`PUT ${one('safe')}`, sent)

    expect(status, why).toBe(400)
    expect(body.error.code, why).toBe('InvalidParameter')
    expect(body.error.target, why).toBe(target)
    expect(body.error.details[0].target, why).toBe(target)
  }
  expect((await service.rest(`GET ${one('safe')}`)).status).toBe(404)
})

test('a name is 3 to 24 letters, digits or hyphens', async () => {
  const service = await openForTest(subgraph)

  for (const name of ['ab', 'a'.repeat(25), 'has_underscore', 'has%20space', 'has.dot']) {
    const { status, body } = await service.rest(`PUT ${one(name)}`, PLAIN)

    expect(status, name).toBe(400)
    expect(body.error.code, name).toBe('InvalidParameter')
    expect(body.error.message, name).toBe('name must be 3 to 24 letters, digits or hyphens.')
  }
  for (const name of ['abc', 'A-1', 'a'.repeat(24)]) {
    expect((await service.rest(`PUT ${one(name)}`, PLAIN)).status, name).toBe(201)
  }
})

test('a PUT without a body is refused', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`PUT ${one('safe')}`)

  expect(status).toBe(400)
  expect(body.error.message).toBe('parameters is required.')
})

test('a body that is not JSON is refused as InvalidRequestContent', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`PUT ${one('safe')}`, '{"location":')

  expect(status).toBe(400)
  expect(body.error.code).toBe('InvalidRequestContent')
})

test('the operations of the provider are listed', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET /${AREA}/operations?${VERSION}`)

  expect(status).toBe(200)
  expect(body).toEqual({
    value: [
      {
        name: 'Vendor.HardwareSecurityModules/dedicatedHSMs/read',
        display: {
          provider: 'Vendor.HardwareSecurityModules',
          resource: 'Dedicated hardware security modules',
          operation: 'Read modules',
          description: 'Reads one module or lists several.',
        },
      },
      {
        name: 'Vendor.HardwareSecurityModules/dedicatedHSMs/write',
        display: {
          provider: 'Vendor.HardwareSecurityModules',
          resource: 'Dedicated hardware security modules',
          operation: 'Write a module',
          description: 'Creates a module or changes its tags.',
        },
      },
      {
        name: 'Vendor.HardwareSecurityModules/dedicatedHSMs/delete',
        display: {
          provider: 'Vendor.HardwareSecurityModules',
          resource: 'Dedicated hardware security modules',
          operation: 'Delete a module',
          description: 'Deletes a module.',
        },
      },
    ],
  })
})

test('every operation is reached through the graph', async () => {
  const service = await openForTest(subgraph)
  const place = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Vaults"`
  const here = `${place}, name: "safe"`

  const put = await service.graphql(
    `mutation ($it: DedicatedHsmInput!) { putDedicatedHsm(${here}, parameters: $it) {
      id name type location sku { name } tags zones
      properties { provisioningState statusMessage stampId networkProfile {
        subnet { id } networkInterfaces { id privateIpAddress } } } } }`,
    { it: FULL },
  )
  await service.advance(READY_MS)
  const patched = await service.graphql(
    `mutation { patchDedicatedHsm(${here}, parameters: { tags: { owner: "ann" } }) {
      tags properties { provisioningState } } }`,
  )
  const read = await service.graphql(`{
    dedicatedHsm(${here}) { name tags }
    dedicatedHsmsByGroup(${place}) { value { name } nextLink skipToken }
    dedicatedHsms(subscriptionId: "${SUBSCRIPTION}", top: 5) { value { name } nextLink }
    hsmOperations { value { name display { provider resource operation description } } } }`)
  const removed = await service.graphql(`mutation { deleteDedicatedHsm(${here}) }`)
  const during = await service.graphql(
    `{ dedicatedHsm(${here}) { properties { provisioningState } } }`,
  )

  expect(put).toEqual({
    data: {
      putDedicatedHsm: {
        id: `${MANY}/safe`,
        name: 'safe',
        type: 'Vendor.HardwareSecurityModules/dedicatedHSMs',
        location: 'westus',
        sku: { name: 'Vendor Network HSM A790' },
        tags: { team: 'keys', stage: 'test' },
        zones: ['1'],
        properties: {
          provisioningState: 'Provisioning',
          statusMessage: null,
          stampId: 'stamp1',
          networkProfile: {
            subnet: { id: SUBNET },
            networkInterfaces: [
              {
                id: `${GROUP}/providers/Vendor.Network/networkInterfaces/safe-nic1`,
                privateIpAddress: '10.0.2.4',
              },
              {
                id: `${GROUP}/providers/Vendor.Network/networkInterfaces/safe-nic2`,
                privateIpAddress: '10.0.2.5',
              },
            ],
          },
        },
      },
    },
  })
  expect(patched.data.patchDedicatedHsm).toEqual({
    tags: { owner: 'ann' },
    properties: { provisioningState: 'Succeeded' },
  })
  expect(read.errors).toBeUndefined()
  expect(read.data.dedicatedHsm).toEqual({ name: 'safe', tags: { owner: 'ann' } })
  expect(read.data.dedicatedHsmsByGroup).toEqual({
    value: [{ name: 'safe' }],
    nextLink: null,
    skipToken: null,
  })
  expect(read.data.dedicatedHsms).toEqual({ value: [{ name: 'safe' }], nextLink: null })
  expect(read.data.hsmOperations.value).toHaveLength(3)
  expect(removed).toEqual({ data: { deleteDedicatedHsm: true } })
  expect(during.data.dedicatedHsm.properties.provisioningState).toBe('Deleting')
})

test('the graph refuses by the same rules and codes', async () => {
  const service = await openForTest(subgraph)
  const ask = async (subscriptionId: string, name: string) =>
    (
      await service.graphql(
        `{ dedicatedHsm(subscriptionId: "${subscriptionId}", resourceGroupName: "Vaults",
          name: "${name}") { id } }`,
      )
    ).errors?.[0].extensions

  const missing = await ask(SUBSCRIPTION, 'safe')
  const others = await ask(OTHER_SUBSCRIPTION, 'safe')
  const malformed = await ask(SUBSCRIPTION, 'a')

  expect(missing).toMatchObject({ code: 'ResourceNotFound', status: 404 })
  expect(others).toMatchObject({ code: 'SubscriptionNotFound', status: 404 })
  expect(malformed).toMatchObject({ code: 'Invalid', status: 400 })
})
