// Availability group listeners, through both doors.
import { expect, test } from 'vitest'
import { listeners } from '../../resolvers/sql-vm/kinds.ts'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  AREA,
  FULL_LISTENER,
  GONE_MS,
  group,
  GROUP_ID,
  listener,
  LISTENERS,
  machine,
  MACHINES,
  PLACE,
  PLAIN,
  PLAIN_GROUP,
  putCluster,
  putReady,
  READY_MS,
  VERSION,
} from './cluster.ts'

const TYPE = 'Vendor.SqlVirtualMachine/sqlVirtualMachineGroups/availabilityGroupListeners'

test('PUT creates a listener with 201, and it becomes ready', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)

  const { status, headers, body } = await service.rest(`PUT ${listener('Front')}`, FULL_LISTENER)
  await service.advance(READY_MS)
  const ready = await service.rest(`GET ${listener('front')}`)

  expect(status).toBe(201)
  expect(headers['retry-after']).toBe('1')
  expect(body).toEqual({
    id: `${LISTENERS}/Front`,
    name: 'Front',
    type: TYPE,
    properties: { provisioningState: 'Creating', ...FULL_LISTENER.properties },
  })
  expect(ready.status).toBe(200)
  expect(ready.headers['retry-after']).toBeUndefined()
  expect(ready.body).toEqual({
    ...body,
    properties: { ...body.properties, provisioningState: 'Succeeded' },
  })
})

test('PUT on a listener that is there answers 200 and replaces it as a whole', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, listener('front'), FULL_LISTENER)

  const { status, body } = await service.rest(`PUT ${listener('front')}`, {
    properties: { port: 1434 },
  })
  await service.advance(READY_MS)
  const same = await service.rest(`PUT ${listener('front')}`, { properties: { port: 1434 } })

  expect(status).toBe(200)
  expect(body.properties).toEqual({ provisioningState: 'Updating', port: 1434 })
  expect(same.body.properties).toEqual({ provisioningState: 'Succeeded', port: 1434 })
})

test('machines are named in any case, and shown as they are spelled', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)

  const { body } = await service.rest(`PUT ${listener('front')}`, {
    properties: {
      loadBalancerConfigurations: [
        { sqlVirtualMachineInstances: [`${MACHINES}/SQL-1`.toUpperCase()] },
        {},
      ],
    },
  })

  expect(body.properties.loadBalancerConfigurations).toEqual([
    { sqlVirtualMachineInstances: [`${MACHINES}/sql-1`] },
    {},
  ])
})

test.each([
  ['is not there', `${MACHINES}/none`],
  ['is in no group', `${MACHINES}/alone`],
  ['is of another subscription', `${MACHINES}/sql-1`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)],
  ['is being deleted', `${MACHINES}/going`],
  ['is a group', GROUP_ID],
  ['is no id', 'sql-1'],
])('a listener that names a machine which %s is refused', async (_why, id) => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await service.rest(`PUT ${machine('alone')}`, PLAIN)
  await putReady(service, machine('going'), {
    ...PLAIN,
    properties: { sqlVirtualMachineGroupResourceId: GROUP_ID },
  })
  await service.rest(`DELETE ${machine('going')}`)

  const { status, body } = await service.rest(`PUT ${listener('front')}`, {
    properties: {
      loadBalancerConfigurations: [{ sqlVirtualMachineInstances: [`${MACHINES}/sql-1`, id] }],
    },
  })

  expect(status).toBe(400)
  expect(body.error).toEqual({
    code: 'InvalidResourceReference',
    message: `${id} is no machine of the group cluster.`,
    target: 'properties.loadBalancerConfigurations.0.sqlVirtualMachineInstances',
  })
  expect((await service.rest(`GET ${listener('front')}`)).status).toBe(404)
})

test('a listener of an unknown group is 404, whatever is asked but a removal', async () => {
  const service = await openForTest(subgraph)

  const put = await service.rest(`PUT ${listener('front')}`, FULL_LISTENER)
  const list = await service.rest(`GET ${LISTENERS}?${VERSION}`)
  const read = await service.rest(`GET ${listener('front')}`)
  const removed = await service.rest(`DELETE ${listener('front')}`)

  for (const { status, body } of [put, list]) {
    expect(status).toBe(404)
    expect(body.error).toEqual({
      code: 'ParentResourceNotFound',
      message: `There is no SQL virtual machine group ${GROUP_ID}.`,
    })
  }
  expect([read.status, read.body.error.code]).toEqual([404, 'ResourceNotFound'])
  expect(removed.status).toBe(204)
})

test('DELETE answers 202 for a listener that is ready, 200 before it is, 204 when there is none', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, listener('old'), {})
  await service.rest(`PUT ${listener('new')}`, {})

  const old = await service.rest(`DELETE ${listener('old')}`)
  const during = await service.rest(`GET ${listener('old')}`)
  const fresh = await service.rest(`DELETE ${listener('new')}`)
  const none = await service.rest(`DELETE ${listener('none')}`)
  await service.advance(GONE_MS)

  expect([old.status, fresh.status, none.status]).toEqual([202, 200, 204])
  // A listener has no location of its own.
  expect(old.headers.location).toContain(`/${AREA}/locations/global/operationResults/`)
  expect(during.body.properties.provisioningState).toBe('Deleting')
  expect((await service.rest(`GET ${listener('old')}`)).status).toBe(404)
})

test('a condition that does not hold is 412 and changes nothing', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, listener('front'), {})
  const stale = { headers: { 'if-match': '"stale"' } }
  const before = await service.rest(`GET ${listener('front')}`)

  const put = await service.rest(`PUT ${listener('front')}`, { properties: { port: 1 } }, stale)
  const removed = await service.rest(`DELETE ${listener('front')}`, undefined, stale)

  expect([put.status, put.body.error.code]).toEqual([412, 'PreconditionFailed'])
  expect([removed.status, removed.body.error.code]).toEqual([412, 'PreconditionFailed'])
  expect((await service.rest(`GET ${listener('front')}`)).headers.etag).toBe(before.headers.etag)
})

const configured = (configuration: object) => ({
  properties: { loadBalancerConfigurations: [configuration] },
})
const FIRST = 'properties.loadBalancerConfigurations.0'

const MALFORMED: [body: unknown, target: string][] = [
  [{ properties: 'x' }, 'properties'],
  [{ properties: { port: 0 } }, 'properties.port'],
  [{ properties: { port: 65_536 } }, 'properties.port'],
  [{ properties: { port: '1433' } }, 'properties.port'],
  [{ properties: { availabilityGroupName: 'x'.repeat(129) } }, 'properties.availabilityGroupName'],
  [
    { properties: { createDefaultAvailabilityGroupIfNotExist: 'no' } },
    'properties.createDefaultAvailabilityGroupIfNotExist',
  ],
  [
    { properties: { loadBalancerConfigurations: Array.from({ length: 9 }, () => ({})) } },
    'properties.loadBalancerConfigurations',
  ],
  [configured({ probePort: 70_000 }), `${FIRST}.probePort`],
  [
    configured({ privateIpAddress: { ipAddress: '10.0.0' } }),
    `${FIRST}.privateIpAddress.ipAddress`,
  ],
  [
    configured({ privateIpAddress: { subnetResourceId: 'net' } }),
    `${FIRST}.privateIpAddress.subnetResourceId`,
  ],
  [configured({ loadBalancerResourceId: GROUP_ID }), `${FIRST}.loadBalancerResourceId`],
  [configured({ publicIpAddressResourceId: 'x' }), `${FIRST}.publicIpAddressResourceId`],
  [
    configured({ sqlVirtualMachineInstances: Array(10).fill(`${MACHINES}/a`) }),
    `${FIRST}.sqlVirtualMachineInstances`,
  ],
  [configured({ sqlVirtualMachineInstances: [5] }), `${FIRST}.sqlVirtualMachineInstances.0`],
]

test('a malformed listener is refused, and the refusal names what is wrong', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)

  for (const [sent, target] of MALFORMED) {
    const { status, body } = await service.rest(`PUT ${listener('front')}`, sent)

    expect([status, body.error.code], target).toEqual([400, 'InvalidParameter'])
    expect(body.error.target).toBe(`parameters.${target}`)
  }
  expect((await service.rest(`GET ${listener('front')}`)).status).toBe(404)
})

test('a group has at most 100 listeners, of which each can still be changed', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await service.store.transaction(async (tx) => {
    for (let n = 0; n < 100; n++) {
      const properties = { provisioningState: 'Succeeded' } as any
      await tx.insert(listeners, {
        id: `${LISTENERS}/l${n}`,
        name: `l${n}`,
        type: TYPE,
        properties,
      })
    }
  })

  const more = await service.rest(`PUT ${listener('one-more')}`, {})
  const changed = await service.rest(`PUT ${listener('l99')}`, { properties: { port: 1433 } })

  expect(more.status).toBe(409)
  expect(more.body.error).toEqual({
    code: 'Conflict',
    message: 'A group has at most 100 listeners.',
  })
  expect(changed.status).toBe(200)
})

test("another's listener is as unknown as its subscription", async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, listener('front'), {})
  const asBob = { credential: 'bob' } as const

  const answers = [
    await service.rest(`GET ${listener('front')}`, undefined, asBob),
    await service.rest(`PUT ${listener('front')}`, {}, asBob),
    await service.rest(`DELETE ${listener('front')}`, undefined, asBob),
    await service.rest(`GET ${LISTENERS}?${VERSION}`, undefined, asBob),
  ]

  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  }
})

test('every operation on listeners is reached through the graph', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  const inGroup = `${PLACE}, sqlVirtualMachineGroupName: "cluster"`
  const here = `${inGroup}, availabilityGroupListenerName: "front"`

  const put = await service.graphql(
    `mutation ($it: AvailabilityGroupListenerInput!) { putAvailabilityGroupListener(${here}, parameters: $it) {
      id name type properties { provisioningState availabilityGroupName
        createDefaultAvailabilityGroupIfNotExist port loadBalancerConfigurations {
          privateIpAddress { ipAddress subnetResourceId } publicIpAddressResourceId
          loadBalancerResourceId probePort sqlVirtualMachineInstances } } } }`,
    { it: FULL_LISTENER },
  )
  await service.advance(READY_MS)
  const read = await service.graphql(`{
    availabilityGroupListener(${here}) { name group { name }
      properties { loadBalancerConfigurations { machines { name } } } }
    availabilityGroupListeners(${inGroup}, top: 5) { value { name } nextLink skipToken } }`)
  const removed = await service.graphql(`mutation { deleteAvailabilityGroupListener(${here}) }`)

  expect(put).toEqual({
    data: {
      putAvailabilityGroupListener: {
        id: `${LISTENERS}/front`,
        name: 'front',
        type: TYPE,
        properties: { provisioningState: 'Creating', ...FULL_LISTENER.properties },
      },
    },
  })
  expect(read).toEqual({
    data: {
      availabilityGroupListener: {
        name: 'front',
        group: { name: 'cluster' },
        properties: {
          loadBalancerConfigurations: [{ machines: [{ name: 'sql-1' }, { name: 'sql-2' }] }],
        },
      },
      availabilityGroupListeners: { value: [{ name: 'front' }], nextLink: null, skipToken: null },
    },
  })
  expect(removed).toEqual({ data: { deleteAvailabilityGroupListener: true } })
})
