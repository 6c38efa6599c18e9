// Stores and all that belongs to them, as they are kept. Specification 3, service C.
//
// 1. What belongs to a store has a key that begins with the key of the store, so that it can be listed
//    and removed with it. No id of a store holds a line break, which therefore ends it.
// 2. A key-value is one of its store, its key and its label. Neither holds a control character, so
//    that one can stand between them: keys sort by key, then by label.
import { armKey, type ArmResource } from '../families/arm.ts'
import { AnotherOperationInProgress, ResourceNotFound } from '../families/arm-errors.ts'
import {
  checkSubscription,
  idAt,
  inGroup,
  ownSubscription,
  partsOf,
  type Input,
} from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { kind, textOf, type Kind, type Records } from '../kernel/store.ts'

export const VERSION = '2019-11-01-preview'
export const AREA = 'Vendor.AppConfiguration'
export const TYPE = `${AREA}/configurationStores`
export const ONE = `${inGroup(TYPE)}/{configStoreName}`
export const CONNECTION = `${ONE}/privateEndpointConnections/{privateEndpointConnectionName}`

export type SkuName = 'Free' | 'Standard'

export interface ConfigStore extends ArmResource {
  location: string
  sku: { name: SkuName }
  identity?: Identity | undefined
  properties: {
    provisioningState?: string
    creationDate: string
    encryption?: { keyVaultProperties: KeyVaultProperties } | undefined
  }
}

export interface Identity {
  type: string
  principalId?: string | undefined
  userAssignedIdentities?: Record<string, object> | undefined
}

export interface KeyVaultProperties {
  keyIdentifier?: string | undefined
  identityClientId?: string | undefined
}

export const stores = kind<ConfigStore>('config_stores', {
  key: armKey,
  columns: {
    name: textOf(({ name }) => name.toLowerCase()),
    freeIn: textOf(({ id, sku }) => (sku.name === 'Free' ? subscriptionOf(id) : null)),
  },
  indexes: [['name'], ['freeIn']],
})

/** The subscription of a store, in a form that can be compared. */
export const subscriptionOf = (id: string): string =>
  partsOf(ONE, id)!.subscriptionId!.toLowerCase()

export interface AccessKey {
  /** The key of the store that it opens. */
  store: string
  /** Which of the keys of a store it is, from 1. */
  place: number
  id: string
  name: string
  readOnly: boolean
  lastModified: string
  /** The secret, sealed for this id. */
  sealed: string
}

export const accessKeyAt = (store: string, place: number): string => `${store}\n${place}`

export const accessKeys = kind<AccessKey>('access_keys', {
  key: ({ store, place }) => accessKeyAt(store, place),
  columns: { id: textOf(({ id }) => id) },
  indexes: [['id']],
})

export interface KeyValue {
  /** The key of its store. */
  store: string
  key: string
  /** Absent is a label too: the one of a key-value without a label. */
  label?: string | undefined
  value: string
  contentType?: string | undefined
  tags?: Record<string, string> | undefined
  locked: boolean
  lastModified: string
  eTag: string
}

export const SEPARATOR = '\u0001'

export const keyValueAt = ({ store, key, label = '' }: Pick<KeyValue, 'store' | 'key' | 'label'>) =>
  `${store}\n${key}${SEPARATOR}${label}`

export const keyValues = kind<KeyValue>('key_values', {
  key: keyValueAt,
  columns: { label: textOf(({ label = '' }) => label) },
  indexes: [['label']],
})

/** What a key-value was from one change to the next. */
export interface Revision extends KeyValue {
  revisionId: string
}

export const revisions = kind<Revision>('key_value_revisions', {
  key: (revision) => `${keyValueAt(revision)}${SEPARATOR}${revision.revisionId}`,
})

export interface PrivateEndpointConnection extends ArmResource {
  properties: {
    provisioningState?: string
    privateEndpoint: { id: string }
    privateLinkServiceConnectionState: {
      status: ConnectionStatus
      description?: string | undefined
      actionsRequired: 'None' | 'Recreate'
    }
  }
}

export type ConnectionStatus = 'Pending' | 'Approved' | 'Rejected' | 'Disconnected'

export const connections = kind<PrivateEndpointConnection>('private_endpoint_connections', {
  key: armKey,
})

/** What the store with this key holds: each kind, and how the keys of its records begin. */
export const contentsOf = (store: string): { kind: Kind<any>; prefix: string }[] => [
  { kind: keyValues, prefix: `${store}\n` },
  { kind: revisions, prefix: `${store}\n` },
  { kind: connections, prefix: `${store}/` },
]

/** The store that a documented path names. Throws when there is none, or it is not the caller's. */
export async function findStore(
  sent: Input,
  ctx: Context,
  records: Records = ctx.store,
): Promise<ConfigStore> {
  const id = idAt(ONE, checkSubscription(sent, ctx))
  return storeAt(id, records)
}

/** The store with this id, in any case. Throws when there is none, or it is not the caller's. */
export async function findStoreById(
  id: string,
  ctx: Context,
  records: Records = ctx.store,
): Promise<ConfigStore> {
  const parts = partsOf(ONE, id)
  if (!parts || !ownSubscription(ctx, parts.subscriptionId!)) throw missing(id)
  return storeAt(id, records)
}

export async function storeAt(id: string, records: Records): Promise<ConfigStore> {
  const store = await records.get(stores, armKey({ id }))
  if (!store) throw missing(id)
  return store
}

/** Refuses to use a store whose contents are being removed. */
export function checkStays({ id, properties }: ConfigStore): void {
  if (properties.provisioningState !== 'Deleting') return
  throw AnotherOperationInProgress(
    `The store ${id} is being deleted. Wait until it is gone, then create it again.`,
  )
}

const missing = (id: string) => ResourceNotFound(`The resource ${id} was not found.`)
