// Machines and groups by their id: read, tagged, taken as a whole and put back. Specification 3,
// service V.
//
// 1. A machine is put back into the group that it was in, which must be there.
// 2. A group is taken with its listeners. They name machines, which are put back after their group and
//    are then named again. A copy of a group begins without: those machines are of the first.
import { armKey, type Accepted, type At } from '../families/arm.ts'
import { armById, armSnapshot, type Make, type Taken } from '../families/arm-snapshots.ts'
import { everyOf, snapshots, type Restored } from '../families/snapshots.ts'
import { group, key as groupKey } from './groups.ts'
import {
  listeners,
  type AvailabilityGroupListener,
  type SqlVirtualMachine,
  type SqlVirtualMachineGroup,
} from './kinds.ts'
import { listener } from './listeners.ts'
import { checkBelow, groupFor, key as machineKey, machine } from './machines.ts'

interface MachineOwn {
  readonly principalId?: string | undefined
}

interface GroupOwn {
  readonly listeners: readonly Pick<AvailabilityGroupListener, 'name' | 'properties'>[]
}

const taken = snapshots(
  armSnapshot<SqlVirtualMachine>({
    type: 'SqlVirtualMachine',
    resource: machine,
    names: machineKey,
    take: takeMachine,
    put: putMachine,
  }),
  armSnapshot<SqlVirtualMachineGroup>({
    type: 'SqlVirtualMachineGroup',
    resource: group,
    names: groupKey,
    take: takeGroup,
    put: putGroup,
  }),
)

export const operations = [
  ...armById('SqlVirtualMachine', machine),
  ...armById('SqlVirtualMachineGroup', group),
  ...taken.operations,
]
export const { kinds, steps } = taken

async function takeMachine({ identity, ...kept }: Accepted<SqlVirtualMachine>): Promise<Taken> {
  const { principalId, ...assigned } = identity ?? {}
  return { state: { ...kept, identity: identity && assigned }, own: { principalId } }
}

async function putMachine(
  { id, state, own, isCopy }: Restored<Accepted<SqlVirtualMachine>, MachineOwn>,
  make: Make<SqlVirtualMachine>,
  { tx, ctx }: At,
): Promise<void> {
  const { properties, identity } = state
  await checkBelow(properties, { id, before: undefined, tx })
  const named = properties.sqlVirtualMachineGroupResourceId
  const principalId = isCopy ? ctx.newId() : own!.principalId!
  await make({
    ...state,
    identity: identity && { ...identity, principalId },
    properties: {
      ...properties,
      sqlVirtualMachineGroupResourceId: named && (await groupFor(named, { id, tx })),
    },
  })
}

async function takeGroup(
  kept: Accepted<SqlVirtualMachineGroup>,
  found: SqlVirtualMachineGroup,
  { tx }: At,
): Promise<Taken> {
  const heard = await everyOf(tx, listeners, `${armKey(found)}/`)
  const own: GroupOwn = {
    listeners: heard.map(({ name, properties }) => {
      const { provisioningState: _, ...rest } = properties
      return { name, properties: rest }
    }),
  }
  return { state: kept, own }
}

async function putGroup(
  { id, state, own, isCopy }: Restored<Accepted<SqlVirtualMachineGroup>, GroupOwn>,
  make: Make<SqlVirtualMachineGroup>,
  at: At,
): Promise<void> {
  await make(state)
  if (isCopy) return
  for (const { name, properties } of own!.listeners) {
    await listener.revive(`${id}/availabilityGroupListeners/${name}`, { properties }, at)
  }
}
