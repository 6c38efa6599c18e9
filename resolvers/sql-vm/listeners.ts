// Listeners, by which clients reach the databases of a group. Specification 3, service V.
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { AnotherOperationInProgress, InvalidResourceReference } from '../families/arm-errors.ts'
import { listAt, under } from '../families/arm-lists.ts'
import { checkSubscription, paging, partsOf, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { Conflict } from '../kernel/fault.ts'
import { del, get, operation, put } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import {
  listener as listenerBody,
  listenerAnswer,
  listOf,
  resourceName,
  type Listener,
} from './group-shapes.ts'
import { checkGroup, isUnchanged, key as groupKey } from './groups.ts'
import {
  GROUP,
  GROUP_TYPE,
  groupKeyOf,
  isUnbegun,
  LISTENER,
  listeners,
  MACHINE,
  machines,
  STATES,
  VERSION,
  type AvailabilityGroupListener,
  type SqlVirtualMachineGroup,
} from './kinds.ts'
import { polling } from './operations.ts'

const MANY = `${GROUP}/availabilityGroupListeners`
/** Chosen: so many that whether one of them names a machine is one read. */
const LISTENERS_MAX = 100

export const listener = armResource<AvailabilityGroupListener>({
  type: `${GROUP_TYPE}/availabilityGroupListeners`,
  path: LISTENER,
  version: VERSION,
  kind: listeners,
  body: 'parameters',
  announces: 'sql-vm.listener',
  states: STATES,
  polling,
  isRemovedAtOnce: isUnbegun,
  isChangedAtOnce: isUnchanged,
  accept,
})

const key = { ...groupKey, availabilityGroupListenerName: resourceName }
const body = { ...key, parameters: listenerBody }

const one = { answer: listenerAnswer }
const page = { answer: listOf(listenerAnswer) }
const written = { status: [201, 200], body: 'parameters', answer: listenerAnswer }
const erased = { status: [202, 200, 204] }

export const operations = [
  operation({
    name: 'availabilityGroupListener',
    rest: get(LISTENER, one),
    input: key,
    run: listener.get,
  }),
  operation({
    name: 'putAvailabilityGroupListener',
    rest: put(LISTENER, written),
    input: body,
    run: listener.put,
  }),
  operation({
    name: 'deleteAvailabilityGroupListener',
    rest: del(LISTENER, erased),
    input: key,
    run: listener.remove,
  }),
  operation({
    name: 'availabilityGroupListeners',
    rest: get(MANY, page),
    input: { ...groupKey, ...paging },
    run: list,
  }),
]

export const kinds = [listeners]
export const steps = listener.steps

async function list(sent: Input, ctx: Context) {
  const input = checkSubscription(sent, ctx)
  await checkGroup(input, ctx.store)
  const at = { path: MANY, select: (input: Input) => under(MANY, input) }
  return listAt({ kind: listeners, version: VERSION }, at, input, ctx)
}

/** The listener of a group that names a machine, if one does. */
export async function listenerNaming(
  machineKey: string,
  group: string,
  records: Records,
): Promise<AvailabilityGroupListener | undefined> {
  const { items } = await records.list(listeners, { prefix: `${group}/`, limit: LISTENERS_MAX })
  return items.find(({ properties }) =>
    properties.loadBalancerConfigurations?.some(({ sqlVirtualMachineInstances }) =>
      sqlVirtualMachineInstances?.some((id) => armKey({ id }) === machineKey),
    ),
  )
}

async function accept(
  { properties = {} as NonNullable<Listener['properties']> }: Listener,
  { id, before, tx }: Acceptance<AvailabilityGroupListener>,
): Promise<Accepted<AvailabilityGroupListener>> {
  const group = await checkGroup(partsOf(LISTENER, id)!, tx)
  if (group.properties.provisioningState === 'Deleting') {
    throw AnotherOperationInProgress(`The group ${group.name} is being deleted.`)
  }
  if (!before) await checkRoom(armKey(group), tx)
  const loadBalancerConfigurations = []
  for (const [index, sent] of (properties.loadBalancerConfigurations ?? []).entries()) {
    const target = `properties.loadBalancerConfigurations.${index}.sqlVirtualMachineInstances`
    const sqlVirtualMachineInstances =
      sent.sqlVirtualMachineInstances &&
      (await membersOf(group, { ids: sent.sqlVirtualMachineInstances, target }, tx))
    loadBalancerConfigurations.push({ ...sent, sqlVirtualMachineInstances })
  }
  const isSent = properties.loadBalancerConfigurations !== undefined
  return { properties: { ...properties, ...(isSent && { loadBalancerConfigurations }) } }
}

async function checkRoom(group: string, tx: Records): Promise<void> {
  if ((await tx.count(listeners, { prefix: `${group}/` })) < LISTENERS_MAX) return
  throw Conflict(`A group has at most ${LISTENERS_MAX} listeners.`)
}

/** The machines that a listener names, spelled as they are, if all are in its group. */
async function membersOf(
  group: SqlVirtualMachineGroup,
  { ids, target }: { ids: readonly string[]; target: string },
  tx: Records,
): Promise<string[]> {
  const keys = ids.map((id) => (partsOf(MACHINE, id) ? armKey({ id }) : ''))
  const found = await tx.getMany(machines, keys)
  return found.map((machine, index) => {
    const isMember = machine && groupKeyOf(machine) === armKey(group)
    if (isMember && machine.properties.provisioningState !== 'Deleting') return machine.id
    throw InvalidResourceReference(`${ids[index]} is no machine of the group ${group.name}.`, {
      details: { target },
    })
  })
}
