// Machines, their groups and the listeners of a group, as they are kept. Specification 3, service V.
//
// 1. A machine is in the subscription of its group, and a listener is under its group, so that who
//    may read one may read the other.
// 2. Passwords and keys are checked and then dropped: nothing here needs them, and what is not kept
//    is not shown.
import { armKey, type ArmResource } from '../families/arm.ts'
import { inGroup, partsOf } from '../families/arm-paths.ts'
import { kind, textOf } from '../kernel/store.ts'
import type { GroupProperties, ListenerProperties } from './group-shapes.ts'
import type { MachineProperties } from './machine-shapes.ts'

export const VERSION = '2017-03-01-preview'
export const AREA = 'Vendor.SqlVirtualMachine'

export const GROUP_TYPE = `${AREA}/sqlVirtualMachineGroups`
export const GROUP = `${inGroup(GROUP_TYPE)}/{sqlVirtualMachineGroupName}`
export const LISTENER = `${GROUP}/availabilityGroupListeners/{availabilityGroupListenerName}`
export const MACHINE_TYPE = `${AREA}/sqlVirtualMachines`
export const MACHINE = `${inGroup(MACHINE_TYPE)}/{sqlVirtualMachineName}`

export interface SqlVirtualMachineGroup extends ArmResource {
  location: string
  properties: GroupProperties & {
    provisioningState?: string
    clusterManagerType: 'WSFC'
    clusterConfiguration: 'Domainful'
    scaleType: 'HA'
  }
}

export interface AvailabilityGroupListener extends ArmResource {
  properties: ListenerProperties & { provisioningState?: string }
}

export interface SqlVirtualMachine extends ArmResource {
  location: string
  identity?: { type: 'SystemAssigned'; principalId: string } | undefined
  properties: MachineProperties & { provisioningState?: string }
}

export const groups = kind<SqlVirtualMachineGroup>('sql_vm_groups', { key: armKey })
export const listeners = kind<AvailabilityGroupListener>('sql_vm_listeners', { key: armKey })
export const machines = kind<SqlVirtualMachine>('sql_virtual_machines', {
  key: armKey,
  columns: {
    groupKey: textOf(groupKeyOf),
    /** The virtual machine below, as one subscription names it. */
    below: textOf(({ id, properties }) => belowOf(id, properties.virtualMachineResourceId)),
  },
  indexes: [['groupKey'], ['below']],
})

/** The key of the group that a machine is in. */
export function groupKeyOf({
  properties,
}: Pick<SqlVirtualMachine, 'properties'>): string | undefined {
  return properties.sqlVirtualMachineGroupResourceId?.toLowerCase()
}

export function belowOf(id: string, virtualMachineId: string | undefined): string | undefined {
  const { subscriptionId } = partsOf(MACHINE, id)!
  return virtualMachineId && `${subscriptionId} ${virtualMachineId}`.toLowerCase()
}

/** Whether nothing was set up yet, or nothing could be. */
export const isUnbegun = ({ properties }: ArmResource): boolean =>
  properties.provisioningState === 'Creating' || properties.provisioningState === 'Failed'

export const STATES = { creating: ['Creating', 'Succeeded'], updating: ['Updating', 'Succeeded'] }
