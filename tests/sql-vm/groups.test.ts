// Groups of SQL virtual machines, through both doors.
import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  AREA,
  FULL_GROUP,
  GONE_MS,
  group,
  GROUP_ID,
  GROUPS,
  listener,
  machine,
  MEMBER,
  PLACE,
  PLAIN,
  PLAIN_GROUP,
  putCluster,
  putReady,
  READY_MS,
} from './cluster.ts'

const { storageAccountPrimaryKey: _, ...PROFILE } = FULL_GROUP.properties.wsfcDomainProfile

test('PUT creates a group with 201 and shows what was sent, without the key, and what the system set', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`PUT ${group('Cluster')}`, FULL_GROUP)

  expect(status).toBe(201)
  expect(headers['retry-after']).toBe('1')
  expect(headers.etag).toMatch(/^".+"$/)
  expect(body).toEqual({
    id: `${GROUPS}/Cluster`,
    name: 'Cluster',
    type: 'Vendor.SqlVirtualMachine/sqlVirtualMachineGroups',
    location: 'westus',
    tags: { team: 'data' },
    properties: {
      provisioningState: 'Creating',
      clusterManagerType: 'WSFC',
      clusterConfiguration: 'Domainful',
      scaleType: 'HA',
      sqlImageOffer: 'SQL2017-WS2016',
      sqlImageSku: 'Enterprise',
      wsfcDomainProfile: PROFILE,
    },
  })
})

test('a group is created, then ready; changed, then ready again', async () => {
  const service = await openForTest(subgraph)
  const stateNow = async () =>
    (await service.rest(`GET ${group('cluster')}`)).body.properties.provisioningState

  await service.rest(`PUT ${group('cluster')}`, PLAIN_GROUP)
  const states = [await stateNow()]
  await service.advance(READY_MS)
  states.push(await stateNow())
  const changed = await service.rest(`PUT ${group('cluster')}`, FULL_GROUP)
  states.push(await stateNow())
  await service.advance(READY_MS)
  states.push(await stateNow())

  expect(changed.status).toBe(200)
  expect(states).toEqual(['Creating', 'Succeeded', 'Updating', 'Succeeded'])
})

test('PUT on a group that is there replaces it as a whole', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), FULL_GROUP)

  const { status, body } = await service.rest(`PUT ${group('cluster')}`, { location: 'West US' })

  expect(status).toBe(200)
  expect(body).toEqual({
    id: GROUP_ID,
    name: 'cluster',
    type: 'Vendor.SqlVirtualMachine/sqlVirtualMachineGroups',
    location: 'West US',
    properties: {
      provisioningState: 'Updating',
      clusterManagerType: 'WSFC',
      clusterConfiguration: 'Domainful',
      scaleType: 'HA',
    },
  })
})

test('PATCH replaces the tags as a whole, leaves the rest and needs no provisioning', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), FULL_GROUP)

  const { status, body } = await service.rest(`PATCH ${group('cluster')}`, {
    tags: { owner: 'ann' },
    properties: { sqlImageSku: 'Developer' },
  })
  const untouched = await service.rest(`PATCH ${group('cluster')}`, {})

  expect(status).toBe(200)
  expect(body.tags).toEqual({ owner: 'ann' })
  expect(body.properties).toMatchObject({
    provisioningState: 'Succeeded',
    sqlImageSku: 'Enterprise',
    wsfcDomainProfile: PROFILE,
  })
  expect(untouched.body).toEqual(body)
})

test('GET and PATCH of a group that is not there are 404', async () => {
  const service = await openForTest(subgraph)

  const read = await service.rest(`GET ${group('cluster')}`)
  const changed = await service.rest(`PATCH ${group('cluster')}`, { tags: {} })

  for (const { status, body } of [read, changed]) {
    expect(status).toBe(404)
    expect(body.error).toEqual({
      code: 'ResourceNotFound',
      message: `The resource ${GROUP_ID} was not found.`,
    })
  }
})

test('DELETE is accepted with 202, and the group goes later', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)

  const { status, headers, body } = await service.rest(`DELETE ${group('cluster')}`)
  const during = await service.rest(`GET ${group('cluster')}`)
  const again = await service.rest(`DELETE ${group('cluster')}`)
  const changed = await service.rest(`PUT ${group('cluster')}`, PLAIN_GROUP)
  await service.advance(GONE_MS)

  expect([status, body]).toEqual([202, undefined])
  expect(headers['retry-after']).toBe('1')
  expect(headers.location).toContain(`/${AREA}/locations/westus/operationResults/`)
  expect(headers['vendor-asyncoperation']).toContain(`/${AREA}/locations/westus/operationStatuses/`)
  expect(during.body.properties.provisioningState).toBe('Deleting')
  expect([again.status, again.headers.location]).toEqual([202, headers.location])
  expect([changed.status, changed.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect((await service.rest(`GET ${group('cluster')}`)).status).toBe(404)
})

test('DELETE of a group that is not set up yet is done at once with 200, and of none with 204', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${group('cluster')}`, PLAIN_GROUP)

  const first = await service.rest(`DELETE ${group('cluster')}`)
  const again = await service.rest(`DELETE ${group('cluster')}`)
  await service.advance(READY_MS)

  expect([first.status, first.body]).toEqual([200, undefined])
  expect([again.status, again.body]).toEqual([204, undefined])
  expect((await service.rest(`GET ${group('cluster')}`)).status).toBe(404)
  expect(service.mistakes).toEqual([])
})

test('a group that holds machines is not deleted', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, machine('sql-1'), MEMBER)

  const refused = await service.rest(`DELETE ${group('cluster')}`)
  await service.rest(`PUT ${machine('sql-1')}`, PLAIN)
  const accepted = await service.rest(`DELETE ${group('cluster')}`)

  expect(refused.status).toBe(409)
  expect(refused.body.error).toEqual({
    code: 'CannotDeleteResource',
    message: `The group cluster holds ${machine('sql-1').split('?')[0]}. Delete its listeners and machines, or move the machines, before it.`,
  })
  expect(accepted.status).toBe(202)
})

test('a group that holds listeners is not deleted', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, listener('front'), {})

  const refused = await service.rest(`DELETE ${group('cluster')}`)
  await service.rest(`DELETE ${listener('front')}`)
  const tooEarly = await service.rest(`DELETE ${group('cluster')}`)
  await service.advance(GONE_MS)
  const accepted = await service.rest(`DELETE ${group('cluster')}`)

  expect([refused.status, refused.body.error.code]).toEqual([409, 'CannotDeleteResource'])
  expect([tooEarly.status, tooEarly.body.error.code]).toEqual([409, 'CannotDeleteResource'])
  expect(accepted.status).toBe(202)
})

test('a group that is going takes no machine and no listener', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await service.rest(`DELETE ${group('cluster')}`)

  const joining = await service.rest(`PUT ${machine('sql-1')}`, MEMBER)
  const listening = await service.rest(`PUT ${listener('front')}`, {})
  await service.advance(GONE_MS)

  expect([joining.status, joining.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect([listening.status, listening.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect((await service.rest(`GET ${machine('sql-1')}`)).status).toBe(404)
  expect((await service.rest(`GET ${group('cluster')}`)).status).toBe(404)
})

test('a condition that does not hold is 412 and changes nothing', async () => {
  const service = await openForTest(subgraph)
  const { headers } = await service.rest(`PUT ${group('cluster')}`, PLAIN_GROUP)
  await service.advance(READY_MS)
  const stale = { headers: { 'if-match': headers.etag! } }
  const before = await service.rest(`GET ${group('cluster')}`)

  const answers = [
    await service.rest(`PUT ${group('cluster')}`, FULL_GROUP, stale),
    await service.rest(`PATCH ${group('cluster')}`, { tags: { a: 'b' } }, stale),
    await service.rest(`DELETE ${group('cluster')}`, undefined, stale),
    await service.rest(`PUT ${group('cluster')}`, FULL_GROUP, {
      headers: { 'if-none-match': '*' },
    }),
  ]
  const current = { headers: { 'if-match': before.headers.etag! } }
  const held = await service.rest(`PATCH ${group('cluster')}`, { tags: { a: 'b' } }, current)

  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([412, 'PreconditionFailed'])
  }
  expect([held.status, held.body.tags]).toEqual([200, { a: 'b' }])
})

test('paths and names are read in any case, and an id keeps its own', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('Cluster'), PLAIN_GROUP)

  const { status, body } = await service.rest(
    `GET ${group('CLUSTER').replace('/sqlVirtualMachineGroups/', '/SQLVIRTUALMACHINEGROUPS/').replace('/Data/', '/dATA/')}`,
  )

  expect([status, body.id]).toEqual([200, `${GROUPS}/Cluster`])
})

const MALFORMED: [why: string, body: unknown, target: string][] = [
  ['location is missing', {}, 'location'],
  ['location is no place', { location: '!' }, 'location'],
  ['tags are text', { ...PLAIN_GROUP, tags: 'x' }, 'tags'],
  ['a tag is a number', { ...PLAIN_GROUP, tags: { a: 1 } }, 'tags.a'],
  ['properties are text', { location: 'westus', properties: 'x' }, 'properties'],
  [
    'the sku is one of machines alone',
    { location: 'westus', properties: { sqlImageSku: 'Express' } },
    'properties.sqlImageSku',
  ],
  [
    'the offer is too long',
    { location: 'westus', properties: { sqlImageOffer: 'x'.repeat(129) } },
    'properties.sqlImageOffer',
  ],
  [
    'an address is none',
    { location: 'westus', properties: { wsfcDomainProfile: { storageAccountUrl: 'store' } } },
    'properties.wsfcDomainProfile.storageAccountUrl',
  ],
  [
    'a key is a number',
    { location: 'westus', properties: { wsfcDomainProfile: { storageAccountPrimaryKey: 1 } } },
    'properties.wsfcDomainProfile.storageAccountPrimaryKey',
  ],
]

test('a malformed group is refused, and the refusal names what is wrong', async () => {
  const service = await openForTest(subgraph)

  for (const [why, sent, target] of MALFORMED) {
    const { status, body } = await service.rest(`PUT ${group('cluster')}`, sent)

    expect([status, body.error.code], why).toEqual([400, 'InvalidParameter'])
    expect(body.error.target, why).toBe(`parameters.${target}`)
  }
  expect((await service.rest(`GET ${group('cluster')}`)).status).toBe(404)
})

test('a name is 1 to 80 of certain characters', async () => {
  const service = await openForTest(subgraph)

  for (const name of ['-a', 'a-', 'a.', 'a%20b', 'a%2Fb', 'ä', 'a'.repeat(81)]) {
    const { status, body } = await service.rest(`PUT ${group(name)}`, PLAIN_GROUP)

    expect([status, body.error.target], name).toEqual([400, 'sqlVirtualMachineGroupName'])
  }
  for (const name of ['a', '1', 'a.b_c-d_', 'a'.repeat(80)]) {
    expect((await service.rest(`PUT ${group(name)}`, PLAIN_GROUP)).status, name).toBe(201)
  }
})

test('a group does not move', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)

  const { status, body } = await service.rest(`PUT ${group('cluster')}`, { location: 'eastus' })

  expect([status, body.error.code]).toEqual([409, 'InvalidResourceLocation'])
})

test("another's group is as unknown as its subscription", async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  const asBob = { credential: 'bob' } as const

  const answers = [
    await service.rest(`GET ${group('cluster')}`, undefined, asBob),
    await service.rest(`PUT ${group('cluster')}`, FULL_GROUP, asBob),
    await service.rest(`PATCH ${group('cluster')}`, { tags: {} }, asBob),
    await service.rest(`DELETE ${group('cluster')}`, undefined, asBob),
    await service.rest(`GET ${group('cluster').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)}`),
  ]

  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  }
  expect((await service.rest(`GET ${group('cluster')}`)).body.properties.provisioningState).toBe(
    'Succeeded',
  )
})

test('what is created, changed and deleted is announced', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, listener('front'), {})

  await service.rest(`PATCH ${machine('sql-1')}`, { tags: { a: 'b' } })
  await service.rest(`DELETE ${listener('front')}`)
  await service.rest(`DELETE ${machine('sql-1')}`)
  await service.rest(`DELETE ${machine('sql-2')}`)
  await service.advance(GONE_MS)
  await service.rest(`DELETE ${group('cluster')}`)
  await service.advance(GONE_MS)

  const events = await readEvents(service.store, { after: 0, limit: 20 })
  expect(events.map(({ type, subject }) => `${type} ${subject.split('/').at(-1)}`)).toEqual([
    'sql-vm.group.created cluster',
    'sql-vm.group.succeeded cluster',
    'sql-vm.machine.created sql-1',
    'sql-vm.machine.created sql-2',
    'sql-vm.machine.succeeded sql-1',
    'sql-vm.machine.succeeded sql-2',
    'sql-vm.listener.created front',
    'sql-vm.listener.succeeded front',
    'sql-vm.machine.changed sql-1',
    'sql-vm.listener.deleting front',
    'sql-vm.machine.deleting sql-1',
    'sql-vm.machine.deleting sql-2',
    'sql-vm.listener.deleted front',
    'sql-vm.machine.deleted sql-1',
    'sql-vm.machine.deleted sql-2',
    'sql-vm.group.deleting cluster',
    'sql-vm.group.deleted cluster',
  ])
})

test('every operation on groups is reached through the graph', async () => {
  const service = await openForTest(subgraph)
  const here = `${PLACE}, sqlVirtualMachineGroupName: "cluster"`

  const put = await service.graphql(
    `mutation ($it: SqlVirtualMachineGroupInput!) { putSqlVirtualMachineGroup(${here}, parameters: $it) {
      id name type location tags properties { provisioningState clusterManagerType
        clusterConfiguration scaleType sqlImageOffer sqlImageSku wsfcDomainProfile { domainFqdn ouPath
        clusterBootstrapAccount clusterOperatorAccount sqlServiceAccount fileShareWitnessPath
        storageAccountUrl } } } }`,
    { it: FULL_GROUP },
  )
  await service.advance(READY_MS)
  const patched = await service.graphql(
    `mutation { patchSqlVirtualMachineGroup(${here}, parameters: { tags: { owner: "ann" } }) { tags } }`,
  )
  const read = await service.graphql(`{
    sqlVirtualMachineGroup(${here}) { name tags }
    sqlVirtualMachineGroupsByResourceGroup(${PLACE}) { value { name } nextLink skipToken }
    sqlVirtualMachineGroups(subscriptionId: "${SUBSCRIPTION}", top: 5) { value { name } nextLink } }`)
  const removed = await service.graphql(`mutation { deleteSqlVirtualMachineGroup(${here}) }`)

  expect(put).toEqual({
    data: {
      putSqlVirtualMachineGroup: {
        id: GROUP_ID,
        name: 'cluster',
        type: 'Vendor.SqlVirtualMachine/sqlVirtualMachineGroups',
        location: 'westus',
        tags: { team: 'data' },
        properties: {
          provisioningState: 'Creating',
          clusterManagerType: 'WSFC',
          clusterConfiguration: 'Domainful',
          scaleType: 'HA',
          sqlImageOffer: 'SQL2017-WS2016',
          sqlImageSku: 'Enterprise',
          wsfcDomainProfile: PROFILE,
        },
      },
    },
  })
  expect(patched.data.patchSqlVirtualMachineGroup.tags).toEqual({ owner: 'ann' })
  expect(read).toEqual({
    data: {
      sqlVirtualMachineGroup: { name: 'cluster', tags: { owner: 'ann' } },
      sqlVirtualMachineGroupsByResourceGroup: {
        value: [{ name: 'cluster' }],
        nextLink: null,
        skipToken: null,
      },
      sqlVirtualMachineGroups: { value: [{ name: 'cluster' }], nextLink: null },
    },
  })
  expect(removed).toEqual({ data: { deleteSqlVirtualMachineGroup: true } })
})

test('the operations of the provider are listed, also through the graph', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(
    `GET /${AREA}/operations?api-version=2017-03-01-preview`,
  )
  const { data } = await service.graphql(`{ sqlVmOperations { value {
    name origin display { provider resource operation description } } } }`)

  expect(status).toBe(200)
  expect(body.value).toHaveLength(9)
  expect(body.value[5]).toEqual({
    name: 'Vendor.SqlVirtualMachine/sqlVirtualMachineGroups/availabilityGroupListeners/delete',
    origin: 'user',
    display: {
      provider: 'Vendor.SqlVirtualMachine',
      resource: 'Availability group listeners',
      operation: 'Delete a listener',
      description: 'Deletes a listener.',
    },
  })
  expect(data.sqlVmOperations).toEqual(body)
})
