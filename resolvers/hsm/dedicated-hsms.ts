// Dedicated hardware security modules. Specification 3, service H.
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { PropertyChangeNotAllowed } from '../families/arm-errors.ts'
import { armOperations, statusAnswer } from '../families/arm-operations.ts'
import {
  group,
  idAt,
  inGroup,
  inSubscription,
  paging,
  partsOf,
  plainLocation,
  subscription,
} from '../families/arm-paths.ts'
import { del, get, operation, patch, put } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import {
  module,
  moduleAnswer,
  moduleListAnswer,
  modulePatch,
  operationListAnswer,
  type DedicatedHsm,
  type Module,
  type NetworkProfile,
  type SentNetworkProfile,
} from './shapes.ts'

export const VERSION = '2018-10-31-preview'
const AREA = 'Vendor.HardwareSecurityModules'
const TYPE = `${AREA}/dedicatedHSMs`
const OPERATIONS = `/providers/${AREA}/operations`
const ALL = inSubscription(TYPE)
const MANY = inGroup(TYPE)
const ONE = `${MANY}/{name}`
const INTERFACE = `${inGroup('Vendor.Network/networkInterfaces')}/{interfaceName}`

/** Chosen: how many modules a subscription may hold in one location. */
const QUOTA = 100

const CREATING = ['Provisioning', 'CheckingQuota', 'Allocating', 'Connecting', 'Succeeded']
/** The states in which hardware is set aside for the module. */
const ALLOCATED = new Set(['Allocating', 'Connecting', 'Succeeded', 'Deleting'])

export const modules = kind<DedicatedHsm>('dedicated_hsms', {
  key: armKey,
  columns: {
    subscriptionId: textOf((hsm) => placeOf(hsm).subscriptionId),
    location: textOf((hsm) => placeOf(hsm).location),
    isAllocated: numberOf((hsm) => (isAllocated(hsm) ? 1 : 0)),
  },
  indexes: [['subscriptionId', 'location', 'isAllocated']],
})

const polling = armOperations({ area: AREA, version: VERSION })

export const hsm = armResource<DedicatedHsm>({
  type: TYPE,
  path: ONE,
  version: VERSION,
  kind: modules,
  body: 'parameters',
  announces: 'hsm.module',
  // Only tags change after creation, and they need no provisioning.
  states: { creating: CREATING, updating: ['Succeeded'] },
  polling,
  // Chosen: a module without hardware, whose allocation failed or has not begun, goes at once.
  isRemovedAtOnce: (hsm) => !isAllocated(hsm),
  accept,
  enter: checkQuota,
})

export const key = {
  ...group,
  name: text.regex(/^[a-zA-Z0-9-]{3,24}$/, 'must be 3 to 24 letters, digits or hyphens'),
}
const body = { ...key, parameters: module }
const change = { ...key, parameters: modulePatch }
const inOneGroup = { ...group, ...paging }
const inAll = { ...subscription, ...paging }
const { statusPath: STATUS, resultPath: RESULT, input: polledKey } = polling

const verbs = { answer: operationListAnswer }
const written = { status: [201, 200], body: 'parameters', answer: moduleAnswer }
const changed = { body: 'parameters', answer: moduleAnswer }
const erased = { status: [202, 200, 204] }
const one = { answer: moduleAnswer }
const page = { answer: moduleListAnswer }
const polled = { answer: statusAnswer, isBeyond: true }
const ended = { status: [200, 202, 204], show: polling.showResult, isBeyond: true }

export const operations = [
  operation({ name: 'hsmOperations', rest: get(OPERATIONS, verbs), input: {}, run: listVerbs }),
  operation({ name: 'putDedicatedHsm', rest: put(ONE, written), input: body, run: hsm.put }),
  operation({
    name: 'patchDedicatedHsm',
    rest: patch(ONE, changed),
    input: change,
    run: hsm.patch,
  }),
  operation({ name: 'deleteDedicatedHsm', rest: del(ONE, erased), input: key, run: hsm.remove }),
  operation({ name: 'dedicatedHsm', rest: get(ONE, one), input: key, run: hsm.get }),
  operation({
    name: 'dedicatedHsmsByGroup',
    rest: get(MANY, page),
    input: inOneGroup,
    run: hsm.listByGroup,
  }),
  operation({
    name: 'dedicatedHsms',
    rest: get(ALL, page),
    input: inAll,
    run: hsm.listBySubscription,
  }),
  operation({
    name: 'hsmOperationStatus',
    rest: get(STATUS, polled),
    input: polledKey,
    run: polling.status,
  }),
  operation({
    name: 'hsmOperationResult',
    rest: get(RESULT, ended),
    input: polledKey,
    run: polling.result,
  }),
]

export const kinds = [modules, ...polling.kinds]
export const steps = { ...hsm.steps, ...polling.steps }

function accept(sent: Module, { id, before }: Acceptance<DedicatedHsm>): Accepted<DedicatedHsm> {
  if (before) return acceptChange(sent, before)
  const { location, sku, tags, zones } = sent
  const { networkProfile, stampId } = sent.properties
  const properties = { networkProfile: networkProfile && connect(networkProfile, id), stampId }
  return { location, sku, tags, zones, properties }
}

/** Chosen: a module is hardware in a place, so that nothing but its tags changes once it is put. */
function acceptChange(sent: Module, before: DedicatedHsm): Accepted<DedicatedHsm> {
  for (const [target, part] of Object.entries(FIXED)) {
    const asked = part(sent)
    // What is left out stays as it is.
    if (asked !== undefined && asked !== part(before)) {
      throw PropertyChangeNotAllowed(
        `${target} of ${before.name} cannot be changed. Delete the module and create it anew.`,
        { details: { target } },
      )
    }
  }
  const { location, sku, zones } = before
  // A module that failed tries again, and what it failed of is forgotten.
  const { networkProfile, stampId } = before.properties
  return { location, sku, tags: sent.tags, zones, properties: { networkProfile, stampId } }
}

/** What of a module stays as it was created, in a form that can be compared. */
const FIXED: Record<string, (of: Module | DedicatedHsm) => string | undefined> = {
  'sku.name': ({ sku }) => sku.name,
  zones: ({ zones }) => zones?.toSorted().join(),
  'properties.stampId': ({ properties }) => properties.stampId,
  'properties.networkProfile.subnet.id': ({ properties }) =>
    properties.networkProfile?.subnet?.id.toLowerCase(),
  'properties.networkProfile.networkInterfaces': ({ properties }) =>
    properties.networkProfile?.networkInterfaces
      ?.map(({ privateIpAddress }) => privateIpAddress ?? 'any')
      .join(),
}

/** Gives every network interface its id, in the group of its module. */
export function connect(
  { subnet, networkInterfaces }: SentNetworkProfile,
  id: string,
): NetworkProfile {
  const place = partsOf(ONE, id)!
  const interfaces = networkInterfaces?.map(({ privateIpAddress }, index) => ({
    id: idAt(INTERFACE, { ...place, interfaceName: `${place.name}-nic${index + 1}` }),
    privateIpAddress,
  }))
  return { subnet, networkInterfaces: interfaces }
}

/** Fails a module that is about to be allocated where the subscription holds its quota already. */
async function checkQuota(hsm: DedicatedHsm, tx: Records): Promise<DedicatedHsm> {
  if (hsm.properties.provisioningState !== 'Allocating') return hsm
  const place = placeOf(hsm)
  const held = await tx.count(modules, { where: { ...place, isAllocated: 1 } })
  if (held < QUOTA) return hsm
  const statusMessage = `The subscription holds ${held} modules in ${place.location}, which is its quota. Delete one and put this one again.`
  return { ...hsm, properties: { ...hsm.properties, provisioningState: 'Failed', statusMessage } }
}

function placeOf({ id, location }: DedicatedHsm) {
  const { subscriptionId } = partsOf(ONE, id)!
  return { subscriptionId: subscriptionId!.toLowerCase(), location: plainLocation(location) }
}

function isAllocated({ properties }: DedicatedHsm): boolean {
  return ALLOCATED.has(properties.provisioningState ?? '')
}

async function listVerbs() {
  const resource = 'Dedicated hardware security modules'
  const rows = [
    ['read', 'Read modules', 'Reads one module or lists several.'],
    ['write', 'Write a module', 'Creates a module or changes its tags.'],
    ['delete', 'Delete a module', 'Deletes a module.'],
  ] as const
  return {
    value: rows.map(([verb, operation, description]) => ({
      name: `${TYPE}/${verb}`,
      display: { provider: AREA, resource, operation, description },
    })),
  }
}
