// SQL virtual machines, through both doors.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  BASE,
  below,
  FULL,
  GONE_MS,
  group,
  GROUP_ID,
  listener,
  machine,
  MACHINES,
  MEMBER,
  PLACE,
  PLAIN,
  PLAIN_GROUP,
  putCluster,
  putReady,
  READY_MS,
  SETTINGS,
  SUB,
  VERSION,
} from './cluster.ts'

const expanded = (name: string, expand: string) =>
  `${machine(name)}&$expand=${encodeURIComponent(expand)}`

test('PUT creates a machine with 201 and shows what was sent, without secrets', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`PUT ${machine('Sql-1')}`, FULL)

  expect(status).toBe(201)
  expect(headers['retry-after']).toBe('1')
  expect(body).toEqual({
    id: `${MACHINES}/Sql-1`,
    name: 'Sql-1',
    type: 'Vendor.SqlVirtualMachine/sqlVirtualMachines',
    location: 'westus',
    tags: { team: 'data' },
    identity: { type: 'SystemAssigned', principalId: body.identity.principalId },
    properties: { provisioningState: 'Creating', ...BASE, ...SETTINGS },
  })
})

test('GET shows the settings that $expand names, and none without it', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)
  const shownBy = async (expand: string) => {
    const { body } = await service.rest(`GET ${expanded('sql-1', expand)}`)
    return Object.keys(body.properties).filter((name) => name.endsWith('Settings'))
  }

  const bare = await service.rest(`GET ${machine('sql-1')}`)
  const whole = await service.rest(`GET ${expanded('sql-1', '*')}`)

  expect(bare.body.properties).toEqual({ provisioningState: 'Succeeded', ...BASE })
  expect(whole.body.properties).toEqual({ provisioningState: 'Succeeded', ...BASE, ...SETTINGS })
  expect(await shownBy('autoPatchingSettings')).toEqual(['autoPatchingSettings'])
  expect(await shownBy('AutoBackupSettings, storageconfigurationsettings')).toEqual([
    'autoBackupSettings',
    'storageConfigurationSettings',
  ])
  expect(await shownBy('')).toEqual([])
})

test('$expand of something that is no part of a machine is 400', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), PLAIN)

  for (const expand of ['disks', 'autoPatchingSettings,disks', 'wsfcDomainCredentials']) {
    const { status, body } = await service.rest(`GET ${expanded('sql-1', expand)}`)

    expect([status, body.error.target], expand).toEqual([400, '$expand'])
    expect(body.error.message, expand).toBe(
      '$expand must be * or some of autoPatchingSettings, autoBackupSettings, keyVaultCredentialSettings, serverConfigurationsManagementSettings, storageConfigurationSettings.',
    )
  }
})

test('no password and no key is shown or kept, at any door', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  const sent = { ...FULL, properties: { ...FULL.properties, ...MEMBER.properties } }
  const answers = [
    await service.rest(`PUT ${machine('sql-1')}`, sent),
    await service.rest(`GET ${expanded('sql-1', '*')}`),
    await service.rest(`PATCH ${machine('sql-1')}`, { tags: {} }),
    await service.rest(`GET ${MACHINES}?${VERSION}`),
    await service.rest(`GET ${GROUP_ID}/sqlVirtualMachines?${VERSION}`),
  ]

  expect(answers.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200])
  for (const { body } of answers) expect(JSON.stringify(body)).not.toContain('top-secret')
  const kept = await service.store.sql('SELECT body FROM sql_virtual_machines')
  const announced = await service.store.sql('SELECT body FROM event')
  expect(JSON.stringify([kept, announced])).not.toContain('top-secret')
})

test('PUT on a machine replaces it, and keeps the settings that it leaves out', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)
  const autoPatchingSettings = { enable: false }

  const { status, body } = await service.rest(`PUT ${machine('sql-1')}`, {
    location: 'westus',
    properties: { sqlServerLicenseType: 'AHUB', autoPatchingSettings },
  })

  expect(status).toBe(200)
  expect(body).toEqual({
    id: `${MACHINES}/sql-1`,
    name: 'sql-1',
    type: 'Vendor.SqlVirtualMachine/sqlVirtualMachines',
    location: 'westus',
    properties: {
      provisioningState: 'Updating',
      virtualMachineResourceId: below('sql-1'),
      sqlServerLicenseType: 'AHUB',
      ...SETTINGS,
      autoPatchingSettings,
    },
  })
  await service.advance(READY_MS)
  const ready = await service.rest(`GET ${machine('sql-1')}`)
  expect(ready.body.properties.provisioningState).toBe('Succeeded')
})

test('a machine that is put as it is shown stays as it is', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)
  const before = await service.rest(`GET ${expanded('sql-1', '*')}`)
  const { body: bare } = await service.rest(`GET ${machine('sql-1')}`)

  const { status } = await service.rest(`PUT ${machine('sql-1')}`, bare)

  expect(status).toBe(200)
  expect((await service.rest(`GET ${expanded('sql-1', '*')}`)).body).toEqual(before.body)
})

test('PATCH replaces the tags as a whole and leaves the rest', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)

  const { status, body } = await service.rest(`PATCH ${machine('sql-1')}`, {
    tags: { owner: 'ann' },
    properties: { sqlServerLicenseType: 'DR' },
  })

  expect(status).toBe(200)
  expect(body.tags).toEqual({ owner: 'ann' })
  expect(body.properties).toEqual({ provisioningState: 'Succeeded', ...BASE, ...SETTINGS })
})

test('GET and PATCH of a machine that is not there are 404', async () => {
  const service = await openForTest(subgraph)

  const read = await service.rest(`GET ${machine('sql-1')}`)
  const changed = await service.rest(`PATCH ${machine('sql-1')}`, { tags: {} })

  for (const { status, body } of [read, changed]) {
    expect([status, body.error.code]).toEqual([404, 'ResourceNotFound'])
  }
})

test('an identity of its own stays with a machine for as long as it is asked for', async () => {
  const service = await openForTest(subgraph)
  const identity = { type: 'SystemAssigned', principalId: 'mine', tenantId: 'mine' }
  const first = await service.rest(`PUT ${machine('sql-1')}`, { ...PLAIN, identity })

  const second = await service.rest(`PUT ${machine('sql-1')}`, { ...PLAIN, identity })
  const without = await service.rest(`PUT ${machine('sql-1')}`, PLAIN)
  const anew = await service.rest(`PUT ${machine('sql-1')}`, { ...PLAIN, identity })

  expect(first.body.identity).toEqual({
    type: 'SystemAssigned',
    principalId: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
  })
  expect(second.body.identity).toEqual(first.body.identity)
  expect(without.body).not.toHaveProperty('identity')
  expect(anew.body.identity.principalId).not.toBe(first.body.identity.principalId)
})

test('a machine names its group in any case, and the name becomes that of the group', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)

  const { status, body } = await service.rest(`PUT ${machine('sql-1')}`, {
    ...PLAIN,
    properties: { sqlVirtualMachineGroupResourceId: GROUP_ID.toUpperCase() },
  })

  expect(status).toBe(201)
  expect(body.properties.sqlVirtualMachineGroupResourceId).toBe(GROUP_ID)
})

test.each([
  ['is not there', `${GROUP_ID}2`],
  ['is of another subscription', GROUP_ID.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)],
  ['is no group', `${MACHINES}/sql-2`],
  ['is no id', 'cluster'],
])('a machine whose group %s is refused', async (_why, sqlVirtualMachineGroupResourceId) => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await service.rest(
    `PUT ${group('cluster').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)}`,
    PLAIN_GROUP,
    { credential: 'bob' },
  )

  const { status, body } = await service.rest(`PUT ${machine('sql-1')}`, {
    ...PLAIN,
    properties: { sqlVirtualMachineGroupResourceId },
  })

  expect(status).toBe(400)
  expect(body.error).toEqual({
    code: 'InvalidResourceReference',
    message: `There is no SQL virtual machine group ${sqlVirtualMachineGroupResourceId} in the subscription of the machine.`,
    target: 'properties.sqlVirtualMachineGroupResourceId',
  })
  expect((await service.rest(`GET ${machine('sql-1')}`)).status).toBe(404)
})

test.each([[undefined], [''], [null]])(
  'a machine leaves its group when it is put with the group %j',
  async (sqlVirtualMachineGroupResourceId) => {
    const service = await openForTest(subgraph)
    await putCluster(service)

    const { body } = await service.rest(`PUT ${machine('sql-1')}`, {
      ...PLAIN,
      properties: { sqlVirtualMachineGroupResourceId },
    })

    expect(body.properties).not.toHaveProperty('sqlVirtualMachineGroupResourceId')
    const members = await service.rest(`GET ${GROUP_ID}/sqlVirtualMachines?${VERSION}`)
    expect(members.body.value.map(({ name }: any) => name)).toEqual(['sql-2'])
  },
)

const naming = (name: string) => ({
  properties: {
    loadBalancerConfigurations: [{ sqlVirtualMachineInstances: [`${MACHINES}/${name}`] }],
  },
})

test('a machine that a listener names is neither deleted nor taken from its group', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, listener('front'), naming('sql-1'))
  const before = await service.rest(`GET ${machine('sql-1')}`)

  const removed = await service.rest(`DELETE ${machine('sql-1')}`)
  const moved = await service.rest(`PUT ${machine('sql-1')}`, PLAIN)
  const other = await service.rest(`DELETE ${machine('sql-2')}`)

  const message = `The listener ${listener('front').split('?')[0]} names sql-1. Change or delete it first.`
  expect(removed.status).toBe(409)
  expect(removed.body.error).toEqual({ code: 'CannotDeleteResource', message })
  expect(moved.status).toBe(409)
  expect(moved.body.error).toEqual({ code: 'PropertyChangeNotAllowed', message })
  expect(other.status).toBe(202)
  expect((await service.rest(`GET ${machine('sql-1')}`)).body).toEqual(before.body)
})

test('a machine that no listener names any more is free', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, listener('front'), naming('sql-1'))
  await putReady(service, listener('front'), naming('sql-2'))

  const moved = await service.rest(`PUT ${machine('sql-1')}`, PLAIN)

  expect(moved.status).toBe(200)
})

test('a virtual machine has one SQL virtual machine in its subscription', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)
  const twin = {
    ...PLAIN,
    properties: { virtualMachineResourceId: below('SQL-1') },
  }

  const { status, body } = await service.rest(`PUT ${machine('sql-2')}`, twin)
  const others = await service.rest(
    `PUT ${machine('sql-2').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)}`,
    twin,
    { credential: 'bob' },
  )

  expect(status).toBe(409)
  expect(body.error).toEqual({
    code: 'Conflict',
    message: `${below('SQL-1')} is the virtual machine of ${MACHINES}/sql-1 already.`,
  })
  expect(others.status).toBe(201)
})

test('the virtual machine below cannot be changed, and the location neither', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)
  const before = await service.rest(`GET ${machine('sql-1')}`)

  const changed = await service.rest(`PUT ${machine('sql-1')}`, {
    ...PLAIN,
    properties: { virtualMachineResourceId: below('sql-9') },
  })
  const moved = await service.rest(`PUT ${machine('sql-1')}`, { location: 'eastus' })

  expect([changed.status, changed.body.error.code]).toEqual([409, 'PropertyChangeNotAllowed'])
  expect(changed.body.error.target).toBe('properties.virtualMachineResourceId')
  expect([moved.status, moved.body.error.code]).toEqual([409, 'InvalidResourceLocation'])
  expect((await service.rest(`GET ${machine('sql-1')}`)).headers.etag).toBe(before.headers.etag)
})

test('DELETE answers 202 for a machine that is ready, 200 before it is, 204 when there is none', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('old'), PLAIN)
  await service.rest(`PUT ${machine('new')}`, PLAIN)

  const old = await service.rest(`DELETE ${machine('old')}`)
  const during = await service.rest(`GET ${machine('old')}`)
  const changed = await service.rest(`PATCH ${machine('old')}`, { tags: {} })
  const fresh = await service.rest(`DELETE ${machine('new')}`)
  const none = await service.rest(`DELETE ${machine('none')}`)
  await service.advance(GONE_MS)

  expect([old.status, fresh.status, none.status]).toEqual([202, 200, 204])
  expect(during.body.properties.provisioningState).toBe('Deleting')
  expect([changed.status, changed.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect((await service.rest(`GET ${machine('old')}`)).status).toBe(404)
  expect((await service.rest(`GET ${machine('new')}`)).status).toBe(404)
  expect(service.mistakes).toEqual([])
})

test('a condition that does not hold is 412 and changes nothing', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), PLAIN)
  const stale = { headers: { 'if-match': '"stale"' } }
  const before = await service.rest(`GET ${machine('sql-1')}`)

  const answers = [
    await service.rest(`PUT ${machine('sql-1')}`, FULL, stale),
    await service.rest(`PATCH ${machine('sql-1')}`, { tags: { a: 'b' } }, stale),
    await service.rest(`DELETE ${machine('sql-1')}`, undefined, stale),
  ]

  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([412, 'PreconditionFailed'])
  }
  expect((await service.rest(`GET ${machine('sql-1')}`)).headers.etag).toBe(before.headers.etag)
})

const sentWith = (properties: object) => ({ location: 'westus', properties })
const patching = (settings: object) => sentWith({ autoPatchingSettings: settings })
const backup = (settings: object) => sentWith({ autoBackupSettings: settings })
const server = (settings: object) => sentWith({ serverConfigurationsManagementSettings: settings })
const storage = (settings: object) => sentWith({ storageConfigurationSettings: settings })

const MALFORMED: [body: unknown, target: string][] = [
  [{}, 'location'],
  [{ ...PLAIN, tags: ['a'] }, 'tags'],
  [{ ...PLAIN, identity: { type: 'UserAssigned' } }, 'identity.type'],
  [sentWith({ virtualMachineResourceId: 'sql-1' }), 'properties.virtualMachineResourceId'],
  [
    sentWith({ virtualMachineResourceId: below('x'.repeat(1024)) }),
    'properties.virtualMachineResourceId',
  ],
  [sentWith({ virtualMachineResourceId: below('\ud800') }), 'properties.virtualMachineResourceId'],
  [
    sentWith({ sqlVirtualMachineGroupResourceId: 5 }),
    'properties.sqlVirtualMachineGroupResourceId',
  ],
  [sentWith({ sqlImageSku: 'Datacenter' }), 'properties.sqlImageSku'],
  [sentWith({ sqlServerLicenseType: 'payg' }), 'properties.sqlServerLicenseType'],
  [sentWith({ sqlManagement: 'None' }), 'properties.sqlManagement'],
  [patching({ enable: 'yes' }), 'properties.autoPatchingSettings.enable'],
  [patching({ dayOfWeek: 'Funday' }), 'properties.autoPatchingSettings.dayOfWeek'],
  [
    patching({ maintenanceWindowStartingHour: 24 }),
    'properties.autoPatchingSettings.maintenanceWindowStartingHour',
  ],
  [
    patching({ maintenanceWindowDuration: 29 }),
    'properties.autoPatchingSettings.maintenanceWindowDuration',
  ],
  [
    patching({ maintenanceWindowDuration: 181 }),
    'properties.autoPatchingSettings.maintenanceWindowDuration',
  ],
  [backup({ retentionPeriod: 0 }), 'properties.autoBackupSettings.retentionPeriod'],
  [backup({ retentionPeriod: 31 }), 'properties.autoBackupSettings.retentionPeriod'],
  [backup({ fullBackupStartTime: -1 }), 'properties.autoBackupSettings.fullBackupStartTime'],
  [backup({ fullBackupWindowHours: 24 }), 'properties.autoBackupSettings.fullBackupWindowHours'],
  [backup({ logBackupFrequency: 4 }), 'properties.autoBackupSettings.logBackupFrequency'],
  [backup({ logBackupFrequency: '30' }), 'properties.autoBackupSettings.logBackupFrequency'],
  [backup({ fullBackupFrequency: 'Hourly' }), 'properties.autoBackupSettings.fullBackupFrequency'],
  [backup({ backupScheduleType: 'Auto' }), 'properties.autoBackupSettings.backupScheduleType'],
  [backup({ storageAccountUrl: 'store' }), 'properties.autoBackupSettings.storageAccountUrl'],
  [backup({ password: 5 }), 'properties.autoBackupSettings.password'],
  [
    sentWith({ keyVaultCredentialSettings: { vendorKeyVaultUrl: 'vault' } }),
    'properties.keyVaultCredentialSettings.vendorKeyVaultUrl',
  ],
  [
    server({ sqlConnectivityUpdateSettings: { port: 65_536 } }),
    'properties.serverConfigurationsManagementSettings.sqlConnectivityUpdateSettings.port',
  ],
  [
    server({ sqlConnectivityUpdateSettings: { connectivityType: 'Public' } }),
    'properties.serverConfigurationsManagementSettings.sqlConnectivityUpdateSettings.connectivityType',
  ],
  [
    server({ sqlWorkloadTypeUpdateSettings: { sqlWorkloadType: 'X' } }),
    'properties.serverConfigurationsManagementSettings.sqlWorkloadTypeUpdateSettings.sqlWorkloadType',
  ],
  [
    server({ sqlStorageUpdateSettings: { diskCount: 0 } }),
    'properties.serverConfigurationsManagementSettings.sqlStorageUpdateSettings.diskCount',
  ],
  [
    storage({ diskConfigurationType: 'SHRINK' }),
    'properties.storageConfigurationSettings.diskConfigurationType',
  ],
  [
    storage({ sqlDataSettings: { luns: [64] } }),
    'properties.storageConfigurationSettings.sqlDataSettings.luns.0',
  ],
  [
    storage({ sqlLogSettings: { luns: [1, 1] } }),
    'properties.storageConfigurationSettings.sqlLogSettings.luns',
  ],
  [
    sentWith({ wsfcDomainCredentials: { sqlServiceAccountPassword: ['x'] } }),
    'properties.wsfcDomainCredentials.sqlServiceAccountPassword',
  ],
]

test('a malformed machine is refused, and the refusal names what is wrong', async () => {
  const service = await openForTest(subgraph)

  for (const [sent, target] of MALFORMED) {
    const { status, body } = await service.rest(`PUT ${machine('sql-1')}`, sent)

    expect([status, body.error.code], target).toEqual([400, 'InvalidParameter'])
    expect(body.error.target).toBe(`parameters.${target}`)
  }
  expect((await service.rest(`GET ${machine('sql-1')}`)).status).toBe(404)
  expect(service.mistakes).toEqual([])
})

test("another's machine is as unknown as its subscription", async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), FULL)
  const asBob = { credential: 'bob' } as const

  const answers = [
    await service.rest(`GET ${machine('sql-1')}`, undefined, asBob),
    await service.rest(`PUT ${machine('sql-1')}`, PLAIN, asBob),
    await service.rest(`PATCH ${machine('sql-1')}`, { tags: {} }, asBob),
    await service.rest(`DELETE ${machine('sql-1')}`, undefined, asBob),
    await service.rest(
      `GET ${SUB}/providers/Vendor.SqlVirtualMachine/sqlVirtualMachines?${VERSION}`,
      undefined,
      asBob,
    ),
  ]

  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  }
})

const everySetting = `autoPatchingSettings { enable dayOfWeek maintenanceWindowStartingHour maintenanceWindowDuration }
  autoBackupSettings { enable enableEncryption retentionPeriod storageAccountUrl backupSystemDbs
    backupScheduleType fullBackupFrequency fullBackupStartTime fullBackupWindowHours logBackupFrequency }
  keyVaultCredentialSettings { enable credentialName vendorKeyVaultUrl servicePrincipalName }
  serverConfigurationsManagementSettings {
    sqlConnectivityUpdateSettings { connectivityType port sqlAuthUpdateUserName }
    sqlWorkloadTypeUpdateSettings { sqlWorkloadType }
    sqlStorageUpdateSettings { diskCount startingDeviceId diskConfigurationType }
    additionalFeaturesServerConfigurations { isRServicesEnabled } }
  storageConfigurationSettings { sqlDataSettings { luns defaultFilePath }
    sqlLogSettings { luns defaultFilePath } sqlTempDbSettings { luns defaultFilePath }
    diskConfigurationType storageWorkloadType }`

test('every operation on machines is reached through the graph, and settings need no expand', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  const here = `${PLACE}, sqlVirtualMachineName: "sql-1"`
  const it = { ...FULL, properties: { ...FULL.properties, ...MEMBER.properties } }

  const put = await service.graphql(
    `mutation ($it: SqlVirtualMachineInput!) { putSqlVirtualMachine(${here}, parameters: $it) {
      id name type location tags identity { type } properties { provisioningState
        virtualMachineResourceId sqlImageOffer sqlImageSku sqlServerLicenseType sqlManagement
        ${everySetting} } } }`,
    { it },
  )
  await service.advance(READY_MS)
  const patched = await service.graphql(
    `mutation { patchSqlVirtualMachine(${here}, parameters: { tags: { owner: "ann" } }) { tags } }`,
  )
  const read = await service.graphql(`{
    sqlVirtualMachine(${here}, expand: "*") { name properties { provisioningState
      autoPatchingSettings { dayOfWeek } } group { name } }
    bare: sqlVirtualMachine(${here}) { properties { autoPatchingSettings { dayOfWeek } } }
    sqlVirtualMachinesOfGroup(${PLACE}, sqlVirtualMachineGroupName: "cluster") {
      value { name properties { autoPatchingSettings { dayOfWeek } } } nextLink skipToken }
    sqlVirtualMachinesByResourceGroup(${PLACE}) { value { name } nextLink }
    sqlVirtualMachines(subscriptionId: "${SUBSCRIPTION}") { value { name } nextLink } }`)
  const removed = await service.graphql(`mutation { deleteSqlVirtualMachine(${here}) }`)

  expect(put.errors).toBeUndefined()
  expect(put.data.putSqlVirtualMachine).toEqual({
    id: `${MACHINES}/sql-1`,
    name: 'sql-1',
    type: 'Vendor.SqlVirtualMachine/sqlVirtualMachines',
    location: 'westus',
    tags: { team: 'data' },
    identity: { type: 'SystemAssigned' },
    properties: { provisioningState: 'Creating', ...BASE, ...SETTINGS },
  })
  expect(patched.data.patchSqlVirtualMachine.tags).toEqual({ owner: 'ann' })
  const autoPatchingSettings = { dayOfWeek: 'Sunday' }
  expect(read).toEqual({
    data: {
      sqlVirtualMachine: {
        name: 'sql-1',
        properties: { provisioningState: 'Succeeded', autoPatchingSettings },
        group: { name: 'cluster' },
      },
      bare: { properties: { autoPatchingSettings } },
      sqlVirtualMachinesOfGroup: {
        value: [{ name: 'sql-1', properties: { autoPatchingSettings } }],
        nextLink: null,
        skipToken: null,
      },
      sqlVirtualMachinesByResourceGroup: { value: [{ name: 'sql-1' }], nextLink: null },
      sqlVirtualMachines: { value: [{ name: 'sql-1' }], nextLink: null },
    },
  })
  expect(removed).toEqual({ data: { deleteSqlVirtualMachine: true } })
})

test('the graph refuses by the same rules and codes', async () => {
  const service = await openForTest(subgraph)
  const refusalOf = async (query: string) => (await service.graphql(query)).errors?.[0].extensions

  expect(await refusalOf(readBy('none'))).toMatchObject({
    code: 'ResourceNotFound',
    status: 404,
  })
  expect(
    await refusalOf(
      `{ sqlVirtualMachine(${PLACE}, sqlVirtualMachineName: "a", expand: "x") { id } }`,
    ),
  ).toMatchObject({ code: 'Invalid', status: 400 })
  expect(
    await refusalOf(`mutation { putSqlVirtualMachine(${PLACE}, sqlVirtualMachineName: "a", parameters: {
      location: "westus", properties: { sqlVirtualMachineGroupResourceId: "${GROUP_ID}" } }) { id } }`),
  ).toMatchObject({ code: 'InvalidResourceReference', status: 400 })
  expect(await refusalOf(readBy('none').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION))).toMatchObject({
    code: 'SubscriptionNotFound',
    status: 404,
  })
})

const readBy = (name: string) =>
  `{ sqlVirtualMachine(${PLACE}, sqlVirtualMachineName: "${name}") { id } }`
