// Private endpoint connections, which an owner approves or rejects, and what they can lead to.
// Specification 3, service C.
import { z } from 'zod'
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { PropertyChangeNotAllowed, ResourceNotFound } from '../families/arm-errors.ts'
import { group, idAt, inGroup, partsOf, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, put } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import {
  ConnectionStateNotAllowed,
  PrivateEndpointInUse,
  QuotaExceeded,
  refuseInput,
  SkuNotSufficient,
} from './errors.ts'
import {
  checkStays,
  CONNECTION,
  connections,
  findStore,
  ONE,
  storeAt,
  TYPE,
  VERSION,
  type ConfigStore,
  type ConnectionStatus,
  type PrivateEndpointConnection,
} from './records.ts'
import {
  connectionAnswer,
  connectionListAnswer,
  linkAnswer,
  linkListAnswer,
  storeName,
} from './shapes.ts'
import { polling } from './stores.ts'

const CONNECTIONS = `${ONE}/privateEndpointConnections`
const LINKS = `${ONE}/privateLinkResources`
const LINK = `${LINKS}/{groupName}`
const ENDPOINT = `${inGroup('Vendor.Network/privateEndpoints')}/{privateEndpointName}`
/** The one thing of a store that endpoints connect to. */
const LINK_GROUP = 'configurationStores'
const DESCRIPTION_MAX = 512
/** Chosen: how many connections a store may have. */
const CONNECTIONS_MAX = 50

/** Chosen: what may become of a connection. One that was disconnected is only deleted. */
const NEXT: Readonly<Record<ConnectionStatus | 'new', readonly ConnectionStatus[]>> = {
  new: ['Pending', 'Approved'],
  Pending: ['Approved', 'Rejected'],
  Approved: ['Rejected', 'Disconnected'],
  Rejected: ['Approved', 'Disconnected'],
  Disconnected: [],
}

const sentConnection = z.object({
  properties: z.object({
    // Chosen: an endpoint is checked for its form alone, since no service here keeps networks.
    privateEndpoint: optional(
      z.object({
        id: text.refine(
          (id) => partsOf(ENDPOINT, id) !== undefined,
          `must have the form ${ENDPOINT}`,
        ),
      }),
    ),
    privateLinkServiceConnectionState: z.object({
      status: optional(oneOf(['Pending', 'Approved', 'Rejected', 'Disconnected'])),
      description: optional(text.max(DESCRIPTION_MAX)),
    }),
  }),
})

type SentConnection = z.output<typeof sentConnection>

export const connection = armResource<PrivateEndpointConnection>({
  type: `${TYPE}/privateEndpointConnections`,
  path: CONNECTION,
  version: VERSION,
  kind: connections,
  body: 'privateEndpointConnection',
  states: { creating: ['Creating', 'Succeeded'], updating: ['Updating', 'Succeeded'] },
  polling,
  announces: 'config-store.private-endpoint-connection',
  // Only a change of who may pass takes time.
  isChangedAtOnce: (before, after) => statusOf(before) === statusOf(after),
  // Chosen: a connection that nothing passes through goes at once.
  isRemovedAtOnce: (connection) => statusOf(connection) !== 'Approved',
  accept,
})

const store = { ...group, configStoreName: storeName }
const key = {
  ...store,
  privateEndpointConnectionName: text.regex(
    /^[a-zA-Z0-9_.-]{1,80}$/,
    'must be 1 to 80 letters, digits, underscores, periods or hyphens',
  ),
}
const body = { ...key, privateEndpointConnection: sentConnection }
const linkKey = { ...store, groupName: text }
const many = { ...store, $skipToken: optional(text) }

const one = { answer: connectionAnswer }
const page = { answer: connectionListAnswer }
const written = { ...one, status: [201, 200], body: 'privateEndpointConnection' }
const erased = { status: [202, 200, 204] }

export const operations = [
  operation({
    name: 'configStorePrivateEndpointConnections',
    rest: get(CONNECTIONS, page),
    input: many,
    run: listConnections,
  }),
  operation({
    name: 'configStorePrivateEndpointConnection',
    rest: get(CONNECTION, one),
    input: key,
    run: connection.get,
  }),
  operation({
    name: 'putConfigStorePrivateEndpointConnection',
    rest: put(CONNECTION, written),
    input: body,
    run: connection.put,
  }),
  operation({
    name: 'deleteConfigStorePrivateEndpointConnection',
    rest: del(CONNECTION, erased),
    input: key,
    run: connection.remove,
  }),
  operation({
    name: 'configStorePrivateLinkResources',
    rest: get(LINKS, { answer: linkListAnswer }),
    input: store,
    run: listLinks,
  }),
  operation({
    name: 'configStorePrivateLinkResource',
    rest: get(LINK, { answer: linkAnswer }),
    input: linkKey,
    run: readLink,
  }),
]

export const kinds = [connections]
export const steps = connection.steps

async function listConnections(input: Input, ctx: Context) {
  await findStore(input, ctx)
  return connection.listByGroup(input, ctx)
}

async function accept(
  sent: SentConnection,
  at: Acceptance<PrivateEndpointConnection>,
): Promise<Accepted<PrivateEndpointConnection>> {
  const { id, before, tx } = at
  const store = await storeAt(idAt(ONE, partsOf(CONNECTION, id)!), tx)
  checkStays(store)
  const { privateEndpoint, privateLinkServiceConnectionState: state } = sent.properties
  const status = state.status ?? (before ? statusOf(before) : 'Pending')
  checkTransition(status, before)
  const endpoint = before
    ? sameEndpoint(privateEndpoint, before)
    : await newEndpoint(privateEndpoint, store, at)
  return {
    properties: {
      privateEndpoint: endpoint,
      privateLinkServiceConnectionState: {
        status,
        description: state.description,
        actionsRequired: status === 'Disconnected' ? 'Recreate' : 'None',
      },
    },
  }
}

function checkTransition(status: ConnectionStatus, before: PrivateEndpointConnection | undefined) {
  const from = before ? statusOf(before) : 'new'
  if (status === from || NEXT[from].includes(status)) return
  const allowed = NEXT[from].join(' or ') || 'nothing else'
  throw ConnectionStateNotAllowed(
    `A connection that is ${from} can become ${allowed}, and not ${status}.`,
    { details: { target: 'properties.privateLinkServiceConnectionState.status' } },
  )
}

function sameEndpoint(
  sent: { id: string } | undefined,
  { name, properties }: PrivateEndpointConnection,
) {
  const { privateEndpoint } = properties
  if (!sent || isSame(sent, privateEndpoint)) return privateEndpoint
  throw PropertyChangeNotAllowed(
    `properties.privateEndpoint of ${name} cannot be changed. Delete the connection and create it anew.`,
    { details: { target: 'properties.privateEndpoint' } },
  )
}

async function newEndpoint(
  sent: { id: string } | undefined,
  store: ConfigStore,
  { tx }: Acceptance<PrivateEndpointConnection>,
) {
  if (!sent) throw refuseInput('properties.privateEndpoint.id', 'is required')
  if (store.sku.name === 'Free') {
    throw SkuNotSufficient(`${store.name} is a Free store, which has no private endpoints.`)
  }
  const others = await tx.list(connections, {
    prefix: `${armKey(store)}/`,
    limit: CONNECTIONS_MAX,
  })
  if (others.items.length === CONNECTIONS_MAX) {
    throw QuotaExceeded(`${store.name} has ${CONNECTIONS_MAX} connections. Delete one first.`)
  }
  const same = others.items.find(({ properties }) => isSame(sent, properties.privateEndpoint))
  if (!same) return sent
  throw PrivateEndpointInUse(
    `The endpoint is connected to ${store.name} already, as ${same.name}.`,
    {
      details: { target: 'properties.privateEndpoint.id' },
    },
  )
}

const isSame = (one: { id: string }, other: { id: string }): boolean =>
  one.id.toLowerCase() === other.id.toLowerCase()

const statusOf = ({ properties }: Accepted<PrivateEndpointConnection>): ConnectionStatus =>
  properties.privateLinkServiceConnectionState.status

async function listLinks(input: Input, ctx: Context) {
  return { value: [linkOf(await findStore(input, ctx))] }
}

async function readLink(input: Input, ctx: Context) {
  const link = linkOf(await findStore(input, ctx))
  if (input.groupName.toLowerCase() === link.name.toLowerCase()) return link
  throw ResourceNotFound(`A store has no private link resource '${input.groupName}'.`)
}

const linkOf = ({ id }: ConfigStore) => ({
  id: `${id}/privateLinkResources/${LINK_GROUP}`,
  name: LINK_GROUP,
  type: `${TYPE}/privateLinkResources`,
  properties: { groupId: LINK_GROUP, requiredMembers: [LINK_GROUP] },
})
