// SQL virtual machines. Specification 3, service V.
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import {
  AnotherOperationInProgress,
  CannotDeleteResource,
  InvalidResourceReference,
  PropertyChangeNotAllowed,
} from '../families/arm-errors.ts'
import { listAt, type ListResult } from '../families/arm-lists.ts'
import {
  checkSubscription,
  group as inResourceGroup,
  inGroup,
  inSubscription,
  paging,
  partsOf,
  subscription,
  type Input,
} from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { Conflict, Invalid } from '../kernel/fault.ts'
import { del, get, operation, patch, put, reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { listOf, resourceName, tagsPatch } from './group-shapes.ts'
import { checkGroup, isUnchanged, key as groupKey } from './groups.ts'
import {
  belowOf,
  GROUP,
  groupKeyOf,
  groups,
  isUnbegun,
  MACHINE,
  MACHINE_TYPE,
  machines,
  STATES,
  VERSION,
  type SqlVirtualMachine,
} from './kinds.ts'
import { listenerNaming } from './listeners.ts'
import {
  CHILDREN,
  machine as machineBody,
  machineAnswer,
  withoutSecrets,
  type Child,
  type Machine,
  type MachineProperties,
} from './machine-shapes.ts'
import { polling } from './operations.ts'

const ALL = inSubscription(MACHINE_TYPE)
const MANY = inGroup(MACHINE_TYPE)
const OF_GROUP = `${GROUP}/sqlVirtualMachines`

export const machine = armResource<SqlVirtualMachine>({
  type: MACHINE_TYPE,
  path: MACHINE,
  version: VERSION,
  kind: machines,
  body: 'parameters',
  announces: 'sql-vm.machine',
  states: STATES,
  polling,
  // Chosen: a machine whose database engine has not been set up goes at once.
  isRemovedAtOnce: isUnbegun,
  isChangedAtOnce: isUnchanged,
  accept,
  checkRemoval: (machine, tx) => checkUnnamed(machine, CannotDeleteResource, tx),
})

export const key = { ...inResourceGroup, sqlVirtualMachineName: resourceName }
const body = { ...key, parameters: machineBody }
const change = { ...key, parameters: tagsPatch }
const inOne = { ...inResourceGroup, ...paging }
const inAll = { ...subscription, ...paging }
const inOneGroup = { ...groupKey, ...paging }

const one = { answer: machineAnswer, show: showExpanded }
const page = { answer: listOf(machineAnswer), show: showList }
const written = { status: [201, 200], body: 'parameters', answer: machineAnswer }
const changed = { body: 'parameters', answer: machineAnswer }
const erased = { status: [202, 200, 204] }

export const operations = [
  operation({
    name: 'sqlVirtualMachinesOfGroup',
    rest: get(OF_GROUP, page),
    input: inOneGroup,
    run: listMembers,
  }),
  operation({
    name: 'sqlVirtualMachines',
    rest: get(ALL, page),
    input: inAll,
    run: machine.listBySubscription,
  }),
  operation({
    name: 'sqlVirtualMachine',
    rest: get(MACHINE, one),
    input: { ...key, $expand: optional(text) },
    run: read,
  }),
  operation({
    name: 'putSqlVirtualMachine',
    rest: put(MACHINE, written),
    input: body,
    run: machine.put,
  }),
  operation({
    name: 'patchSqlVirtualMachine',
    rest: patch(MACHINE, changed),
    input: change,
    run: machine.patch,
  }),
  operation({
    name: 'deleteSqlVirtualMachine',
    rest: del(MACHINE, erased),
    input: key,
    run: machine.remove,
  }),
  operation({
    name: 'sqlVirtualMachinesByResourceGroup',
    rest: get(MANY, page),
    input: inOne,
    run: machine.listByGroup,
  }),
]

export const kinds = [machines]
export const steps = machine.steps

async function listMembers(sent: Input, ctx: Context) {
  const input = checkSubscription(sent, ctx)
  const where = { groupKey: armKey(await checkGroup(input, ctx.store)) }
  return listAt(
    { kind: machines, version: VERSION },
    { path: OF_GROUP, select: () => ({ where }) },
    input,
    ctx,
  )
}

interface Expanded extends SqlVirtualMachine {
  /** Which settings REST shows. The graph shows what is asked for. */
  readonly expanded: readonly Child[]
}

async function read({ $expand, ...at }: Input, ctx: Context) {
  const expanded = childrenIn($expand)
  const { result, headers } = await machine.get(at, ctx)
  return reply(200, { ...(result as SqlVirtualMachine), expanded } satisfies Expanded, headers)
}

/** The settings that $expand names, in any case; `*` names all. */
function childrenIn($expand = ''): readonly Child[] {
  const asked = $expand.split(',').map((name: string) => name.trim().toLowerCase())
  if (asked.includes('*')) return CHILDREN
  const known = CHILDREN.filter((child) => asked.includes(child.toLowerCase()))
  const unknown = asked.find(
    (name: string) => name && !known.some((it) => it.toLowerCase() === name),
  )
  if (unknown === undefined) return known
  const field = { name: '$expand', message: `must be * or some of ${CHILDREN.join(', ')}` }
  throw Invalid(`${field.name} ${field.message}.`, { details: { fields: [field] } })
}

function showExpanded({ expanded, ...machine }: Expanded) {
  const shown = Object.entries(machine.properties).filter(
    ([name]) => !CHILDREN.includes(name as Child) || expanded.includes(name as Child),
  )
  return { ...machine, properties: Object.fromEntries(shown) }
}

function showList({ value, ...link }: ListResult<SqlVirtualMachine>) {
  return { value: value.map((machine) => showExpanded({ ...machine, expanded: [] })), ...link }
}

async function accept(
  sent: Machine,
  at: Acceptance<SqlVirtualMachine>,
): Promise<Accepted<SqlVirtualMachine>> {
  const { before, tx } = at
  const { location, tags } = sent
  const properties = propertiesOf(sent, before)
  await checkBelow(properties, at)
  const group = properties.sqlVirtualMachineGroupResourceId
  // No group, spelled as no text, is how older clients take a machine out of its group.
  properties.sqlVirtualMachineGroupResourceId = group ? await groupFor(group, at) : undefined
  const isMoved = before && groupKeyOf(before) !== groupKeyOf({ properties })
  if (isMoved) await checkUnnamed(before, PropertyChangeNotAllowed, tx)
  return { location, tags, identity: identityOf(sent, at), properties }
}

/**
 * What is to be kept. Chosen: settings that are left out stay as they are, since a GET without
 * $expand leaves them out and clients send back what they got; and so does the machine below.
 */
function propertiesOf({ properties }: Machine, before: SqlVirtualMachine | undefined) {
  const { wsfcDomainCredentials: _, ...sent } = withoutSecrets(properties) ?? {}
  const { provisioningState: __, ...kept } = before?.properties ?? {}
  const stays = Object.entries(kept).filter(([name]) => STAYS.has(name))
  const given = Object.entries(sent).filter(([, value]) => value !== undefined)
  return Object.fromEntries([...stays, ...given]) as MachineProperties
}

const STAYS: ReadonlySet<string> = new Set([...CHILDREN, 'virtualMachineResourceId'])

/** An identity that the system assigned stays the same for as long as the machine has it. */
function identityOf({ identity }: Machine, { before, ctx }: Acceptance<SqlVirtualMachine>) {
  if (!identity?.type) return undefined
  return before?.identity ?? { type: identity.type, principalId: ctx.newId() }
}

type Place = Pick<Acceptance<SqlVirtualMachine>, 'id' | 'before' | 'tx'>

/** Chosen: a virtual machine has one SQL virtual machine, which stays with it. */
export async function checkBelow(
  { virtualMachineResourceId: below }: MachineProperties,
  { id, before, tx }: Place,
): Promise<void> {
  if (below === undefined) return
  const earlier = before?.properties.virtualMachineResourceId
  if (earlier !== undefined && earlier.toLowerCase() !== below.toLowerCase()) {
    const target = 'properties.virtualMachineResourceId'
    throw PropertyChangeNotAllowed(
      `${target} of ${before!.name} cannot be changed. Delete the machine and create it anew.`,
      { details: { target } },
    )
  }
  const { items } = await tx.list(machines, { where: { below: belowOf(id, below)! }, limit: 2 })
  const other = items.find((machine) => armKey(machine) !== armKey({ id }))
  if (other) throw Conflict(`${below} is the virtual machine of ${other.id} already.`)
}

/** The id of the group that a machine is to be in, spelled as the group is. */
export async function groupFor(
  groupId: string,
  { id, tx }: Pick<Place, 'id' | 'tx'>,
): Promise<string> {
  const target = 'properties.sqlVirtualMachineGroupResourceId'
  const subscriptionOf = (form: string, id: string) =>
    partsOf(form, id)?.subscriptionId?.toLowerCase()
  // Chosen: a machine is in the subscription of its group, so that who sees one may see the other.
  const isNear = subscriptionOf(GROUP, groupId) === subscriptionOf(MACHINE, id)
  const found = isNear ? await tx.get(groups, armKey({ id: groupId })) : undefined
  if (!found) {
    throw InvalidResourceReference(
      `There is no SQL virtual machine group ${groupId} in the subscription of the machine.`,
      { details: { target } },
    )
  }
  if (found.properties.provisioningState !== 'Deleting') return found.id
  throw AnotherOperationInProgress(`The group ${found.name} is being deleted.`)
}

/** Refuses to take a machine from the group in which a listener names it. */
async function checkUnnamed(
  machine: SqlVirtualMachine,
  refuse: typeof CannotDeleteResource,
  tx: Records,
): Promise<void> {
  const group = groupKeyOf(machine)
  const naming = group && (await listenerNaming(armKey(machine), group, tx))
  if (!naming) return
  throw refuse(`The listener ${naming.id} names ${machine.name}. Change or delete it first.`)
}
