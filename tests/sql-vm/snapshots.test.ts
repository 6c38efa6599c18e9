// Machines and groups that are taken as a whole and put back.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest, type TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'
import {
  FULL,
  FULL_GROUP,
  FULL_LISTENER,
  GONE_MS,
  group,
  GROUP_ID,
  GROUPS,
  listener,
  LISTENERS,
  machine,
  MACHINES,
  MEMBER,
  putCluster,
  putReady,
  READY_MS,
  SETTINGS,
  VERSION,
} from './cluster.ts'

const foreign = (id: string) => id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

async function remove(service: TestService, id: string) {
  await service.rest(`DELETE ${id}?${VERSION}`)
  await service.advance(GONE_MS)
}

describe('a machine', () => {
  snapshotCases({
    type: 'SqlVirtualMachine',
    open: () => openForTest(subgraph),
    make: (service) =>
      service.rest(`PUT ${machine('sql-9')}`, {
        ...FULL,
        properties: { sqlImageOffer: 'SQL2017-WS2016', ...SETTINGS },
      }),
    remove,
    id: `${MACHINES}/sql-9`,
    vacantId: `${MACHINES}/other`,
    foreignId: foreign(`${MACHINES}/sql-9`),
    shown: `location tags identity { type } properties { provisioningState sqlImageOffer
      autoPatchingSettings { enable dayOfWeek } autoBackupSettings { enable retentionPeriod }
      storageConfigurationSettings { sqlDataSettings { luns } } }`,
    readyMs: READY_MS,
    announces: 'sql-vm.machine',
  })
})

describe('a group', () => {
  snapshotCases({
    type: 'SqlVirtualMachineGroup',
    open: () => openForTest(subgraph),
    make: (service) => service.rest(`PUT ${group('cluster')}`, FULL_GROUP),
    remove,
    id: GROUP_ID,
    vacantId: `${GROUPS}/other`,
    foreignId: foreign(GROUP_ID),
    shown: `location tags properties { provisioningState sqlImageOffer sqlImageSku clusterManagerType
      wsfcDomainProfile { domainFqdn ouPath } }`,
    readyMs: READY_MS,
    announces: 'sql-vm.group',
  })
})

test('a cluster that is gone is put back with its members and its listener: the group, then the machines', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, listener('orders'), FULL_LISTENER)
  const before = (await service.rest(`GET ${listener('orders')}`)).body
  const whole = await take(service, 'SqlVirtualMachineGroup', GROUP_ID)
  const first = await take(service, 'SqlVirtualMachine', `${MACHINES}/sql-1`)
  const second = await take(service, 'SqlVirtualMachine', `${MACHINES}/sql-2`)
  for (const id of [`${LISTENERS}/orders`, `${MACHINES}/sql-1`, `${MACHINES}/sql-2`, GROUP_ID]) {
    await remove(service, id)
  }
  const machineOf = (name: string) => ({ type: 'SqlVirtualMachine', id: `${MACHINES}/${name}` })

  const early = await restorePart(service, { ...machineOf('sql-1'), bytes: first.bytes })
  await restore(service, { type: 'SqlVirtualMachineGroup', id: GROUP_ID, bytes: whole.bytes })
  await restore(service, { ...machineOf('sql-1'), bytes: first.bytes })
  await restore(service, { ...machineOf('sql-2'), bytes: second.bytes })
  await service.advance(READY_MS)

  expect(refusalOf(early)).toEqual([400, 'InvalidResourceReference'])
  expect((await service.rest(`GET ${listener('orders')}`)).body).toEqual(before)
  const { body } = await service.rest(`GET ${GROUP_ID}/sqlVirtualMachines?${VERSION}`)
  expect(body.value.map(({ name }: any) => name)).toEqual(['sql-1', 'sql-2'])
  const named = await service.rest(`DELETE ${machine('sql-1')}`)
  expect(named.body.error.code).toBe('CannotDeleteResource')
})

test('a copy of a group has no listeners, and a machine has no second of the virtual machine below', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, listener('orders'), FULL_LISTENER)
  await putReady(service, machine('sql-3'), {
    ...FULL,
    properties: { ...FULL.properties, ...MEMBER.properties },
  })
  const whole = await take(service, 'SqlVirtualMachineGroup', GROUP_ID)
  const third = await take(service, 'SqlVirtualMachine', `${MACHINES}/sql-3`)

  await restore(service, {
    type: 'SqlVirtualMachineGroup',
    id: `${GROUPS}/copy`,
    bytes: whole.bytes,
  })
  const below = await restorePart(service, {
    type: 'SqlVirtualMachine',
    id: `${MACHINES}/copy`,
    bytes: third.bytes,
  })

  const { body } = await service.rest(`GET ${GROUPS}/copy/availabilityGroupListeners?${VERSION}`)
  expect(body.value).toEqual([])
  expect(refusalOf(below)).toEqual([409, 'Conflict'])
})

test('a machine that was put back has the identity that it had, and a copy one of its own', async () => {
  const service = await openForTest(subgraph)
  const plain = { location: 'westus', identity: { type: 'SystemAssigned' }, properties: {} }
  await putReady(service, machine('sql-9'), plain)
  const principalOf = async (name: string) =>
    (await service.rest(`GET ${machine(name)}`)).body.identity.principalId
  const before = await principalOf('sql-9')
  const type = 'SqlVirtualMachine'
  const { bytes } = await take(service, type, `${MACHINES}/sql-9`)
  await remove(service, `${MACHINES}/sql-9`)

  await restore(service, { type, id: `${MACHINES}/sql-9`, bytes })
  await restore(service, { type, id: `${MACHINES}/copy`, bytes })

  expect(await principalOf('sql-9')).toBe(before)
  expect(await principalOf('copy')).toMatch(/^[0-9a-f-]{36}$/)
  expect(await principalOf('copy')).not.toBe(before)
})
