// Groups, in which machines form a cluster. Specification 3, service V.
import { isDeepStrictEqual } from 'node:util'
import { armKey, armResource, type Accepted } from '../families/arm.ts'
import { CannotDeleteResource, ParentResourceNotFound } from '../families/arm-errors.ts'
import {
  group as inResourceGroup,
  idAt,
  inGroup,
  inSubscription,
  paging,
  subscription,
  type Input,
} from '../families/arm-paths.ts'
import { del, get, operation, patch, put } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import {
  group as groupBody,
  groupAnswer,
  listOf,
  resourceName,
  tagsPatch,
  type Group,
} from './group-shapes.ts'
import {
  GROUP,
  GROUP_TYPE,
  groups,
  isUnbegun,
  listeners,
  machines,
  STATES,
  VERSION,
  type SqlVirtualMachineGroup,
} from './kinds.ts'
import { withoutSecrets } from './machine-shapes.ts'
import { polling } from './operations.ts'

const ALL = inSubscription(GROUP_TYPE)
const MANY = inGroup(GROUP_TYPE)

export const group = armResource<SqlVirtualMachineGroup>({
  type: GROUP_TYPE,
  path: GROUP,
  version: VERSION,
  kind: groups,
  body: 'parameters',
  announces: 'sql-vm.group',
  states: STATES,
  polling,
  // Chosen: a group whose cluster has not been set up goes at once.
  isRemovedAtOnce: isUnbegun,
  isChangedAtOnce: isUnchanged,
  accept,
  checkRemoval,
})

export const key = { ...inResourceGroup, sqlVirtualMachineGroupName: resourceName }
const body = { ...key, parameters: groupBody }
const change = { ...key, parameters: tagsPatch }
const inOne = { ...inResourceGroup, ...paging }
const inAll = { ...subscription, ...paging }

const one = { answer: groupAnswer }
const page = { answer: listOf(groupAnswer) }
const written = { status: [201, 200], body: 'parameters', answer: groupAnswer }
const changed = { body: 'parameters', answer: groupAnswer }
const erased = { status: [202, 200, 204] }

export const operations = [
  operation({ name: 'sqlVirtualMachineGroup', rest: get(GROUP, one), input: key, run: group.get }),
  operation({
    name: 'putSqlVirtualMachineGroup',
    rest: put(GROUP, written),
    input: body,
    run: group.put,
  }),
  operation({
    name: 'patchSqlVirtualMachineGroup',
    rest: patch(GROUP, changed),
    input: change,
    run: group.patch,
  }),
  operation({
    name: 'deleteSqlVirtualMachineGroup',
    rest: del(GROUP, erased),
    input: key,
    run: group.remove,
  }),
  operation({
    name: 'sqlVirtualMachineGroupsByResourceGroup',
    rest: get(MANY, page),
    input: inOne,
    run: group.listByGroup,
  }),
  operation({
    name: 'sqlVirtualMachineGroups',
    rest: get(ALL, page),
    input: inAll,
    run: group.listBySubscription,
  }),
]

export const kinds = [groups]
export const steps = group.steps

/** Refuses what is asked of a group that is not there. */
export async function checkGroup(place: Input, records: Records): Promise<SqlVirtualMachineGroup> {
  const id = idAt(GROUP, place)
  const found = await records.get(groups, armKey({ id }))
  if (found) return found
  throw ParentResourceNotFound(`There is no SQL virtual machine group ${id}.`)
}

function accept({ location, tags, properties }: Group): Accepted<SqlVirtualMachineGroup> {
  const { sqlImageOffer, sqlImageSku, wsfcDomainProfile } = properties ?? {}
  return {
    location,
    tags,
    properties: {
      // The only cluster that there is.
      clusterManagerType: 'WSFC',
      clusterConfiguration: 'Domainful',
      scaleType: 'HA',
      sqlImageOffer,
      sqlImageSku,
      wsfcDomainProfile: withoutSecrets(wsfcDomainProfile),
    },
  }
}

/** Tags need no provisioning. */
export function isUnchanged(
  before: { properties: object },
  after: { properties: object },
): boolean {
  const plain = ({ properties }: { properties: object }) => {
    const { provisioningState: _, ...rest } = properties as { provisioningState?: string }
    return JSON.parse(JSON.stringify(rest)) as object
  }
  return isDeepStrictEqual(plain(before), plain(after))
}

async function checkRemoval(group: SqlVirtualMachineGroup, tx: Records): Promise<void> {
  const groupKey = armKey(group)
  const { items: members } = await tx.list(machines, { where: { groupKey }, limit: 1 })
  const { items: heard } = await tx.list(listeners, { prefix: `${groupKey}/`, limit: 1 })
  const [held] = [...heard, ...members]
  if (!held) return
  throw CannotDeleteResource(
    `The group ${group.name} holds ${held.id}. Delete its listeners and machines, or move the machines, before it.`,
  )
}
