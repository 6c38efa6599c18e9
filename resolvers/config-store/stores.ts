// Configuration stores: their life, their names and what can be done with them. Specification 3,
// service C.
import { z } from 'zod'
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { PropertyChangeNotAllowed } from '../families/arm-errors.ts'
import type { ListResult } from '../families/arm-lists.ts'
import { armOperations, statusAnswer } from '../families/arm-operations.ts'
import {
  checkSubscription,
  group,
  inGroup,
  inSubscription,
  subscription,
  type Input,
} from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, patch, post, put } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { ensureAccessKeys, removeAccessKeys } from './access-keys.ts'
import { NameUnavailable, QuotaExceeded, refuseInput, SkuNotSufficient } from './errors.ts'
import {
  AREA,
  contentsOf,
  ONE,
  stores,
  subscriptionOf,
  TYPE,
  VERSION,
  type ConfigStore,
  type Identity,
  type SkuName,
} from './records.ts'
import {
  isStoreName,
  nameAnswer,
  store as storeShape,
  storeAnswer,
  storeListAnswer,
  storeName,
  storePatch,
  type SentIdentity,
  type Store,
} from './shapes.ts'

const AVAILABILITY = inSubscription(`${AREA}/checkNameAvailability`)
const ALL = inSubscription(TYPE)
const MANY = inGroup(TYPE)

/** Chosen: as the vendor gives away one free store to each of its customers. */
const FREE_STORES_MAX = 1
/** How much of one kind a step of a removal removes. */
const BATCH_MAX = 500

export const polling = armOperations({ area: AREA, version: VERSION })

export const configStore = armResource<ConfigStore>({
  type: TYPE,
  path: ONE,
  version: VERSION,
  kind: stores,
  body: 'configStoreCreationParameters',
  states: { creating: ['Creating', 'Succeeded'], updating: ['Updating', 'Succeeded'] },
  polling,
  patchAccepted: 201,
  announces: 'config-store.store',
  isChangedAtOnce: (before, after) => fixtureOf(before) === fixtureOf(after),
  isRemovedAtOnce: isEmpty,
  clear,
  accept,
  enter: furnish,
})

export const key = { ...group, configStoreName: storeName }
const token = { $skipToken: optional(text) }
const body = { ...key, configStoreCreationParameters: storeShape }
const change = { ...key, configStoreUpdateParameters: storePatch }
const inOneGroup = { ...group, ...token }
const inAll = { ...subscription, ...token }
const asked = {
  ...subscription,
  checkNameAvailabilityParameters: z.object({ name: text, type: oneOf([TYPE]) }),
}
const { statusPath: STATUS, resultPath: RESULT, input: polledKey } = polling

const one = { answer: storeAnswer, show: showStore }
const page = { answer: storeListAnswer, show: showStores }
const written = { ...one, status: [201, 200], body: 'configStoreCreationParameters' }
const changed = { ...one, status: [200, 201], body: 'configStoreUpdateParameters' }
const erased = { status: [202, 200, 204] }
const checked = { body: 'checkNameAvailabilityParameters', answer: nameAnswer }
const polled = { answer: statusAnswer, isBeyond: true }
const ended = { status: [200, 202, 204], show: polling.showResult, isBeyond: true }
const { listByGroup, listBySubscription } = configStore

export const operations = [
  operation({
    name: 'configStoreNameAvailability',
    rest: post(AVAILABILITY, checked),
    input: asked,
    run: checkName,
  }),
  operation({ name: 'configStores', rest: get(ALL, page), input: inAll, run: listBySubscription }),
  operation({
    name: 'configStoresByGroup',
    rest: get(MANY, page),
    input: inOneGroup,
    run: listByGroup,
  }),
  operation({ name: 'configStore', rest: get(ONE, one), input: key, run: configStore.get }),
  operation({ name: 'putConfigStore', rest: put(ONE, written), input: body, run: configStore.put }),
  operation({
    name: 'patchConfigStore',
    rest: patch(ONE, changed),
    input: change,
    run: patchStore,
  }),
  operation({
    name: 'deleteConfigStore',
    rest: del(ONE, erased),
    input: key,
    run: configStore.remove,
  }),
  operation({
    name: 'configStoreOperationStatus',
    rest: get(STATUS, polled),
    input: polledKey,
    run: polling.status,
  }),
  operation({
    name: 'configStoreOperationResult',
    rest: get(RESULT, ended),
    input: polledKey,
    run: polling.result,
  }),
]

export const kinds = [stores, ...polling.kinds]
export const steps = { ...configStore.steps, ...polling.steps }

/** PATCH has a body of its own name and the rules of PUT. */
async function patchStore({ configStoreUpdateParameters, ...at }: Input, ctx: Context) {
  return configStore.patch(
    { ...at, configStoreCreationParameters: configStoreUpdateParameters },
    ctx,
  )
}

// Chosen: all stores are served at the address of the service, and an access key tells which is
// meant. The address is where the caller reached the service, so that it is not kept.
function showStore({ properties, ...store }: ConfigStore, { address }: Context) {
  return { ...store, properties: { ...properties, endpoint: address } }
}

function showStores({ value, nextLink }: ListResult<ConfigStore>, ctx: Context) {
  return { value: value.map((store) => showStore(store, ctx)), nextLink }
}

async function accept(sent: Store, at: Acceptance<ConfigStore>): Promise<Accepted<ConfigStore>> {
  const { id, before, tx, ctx } = at
  const { location, sku, tags } = sent
  if (!before) await checkNameIsFree(id.slice(id.lastIndexOf('/') + 1), tx)
  await checkSku(sku.name, at)
  const identity = acceptIdentity(sent.identity, before?.identity, ctx)
  const key = sent.properties?.encryption?.keyVaultProperties
  if (key?.keyIdentifier) checkEncryption(sku.name, identity)
  const properties = {
    creationDate: before?.properties.creationDate ?? ctx.clock.now().toISOString(),
    encryption: key ? { keyVaultProperties: key } : undefined,
  }
  return { location: before?.location ?? location, sku, tags, identity, properties }
}

/** What of a store takes time to change, in a form that can be compared. */
const fixtureOf = ({ sku, identity, properties }: Accepted<ConfigStore>): string =>
  JSON.stringify([sku, identity, properties.encryption])

export async function checkNameIsFree(name: string, tx: Records): Promise<void> {
  if (!(await isTaken(name, tx))) return
  throw NameUnavailable(`The name '${name}' is in use already. Choose another.`, {
    details: { target: 'configStoreName' },
  })
}

/** Names are taken across all subscriptions, in any case, until their store is gone. */
async function isTaken(name: string, records: Records): Promise<boolean> {
  const { items } = await records.list(stores, { where: { name: name.toLowerCase() }, limit: 1 })
  return items.length > 0
}

/** Refuses a Free store that may not be, or not become, one. */
export async function checkSku(
  sku: SkuName,
  { id, before, tx }: Pick<Acceptance<ConfigStore>, 'id' | 'before' | 'tx'>,
): Promise<void> {
  if (sku === 'Standard' || before?.sku.name === 'Free') return
  if (before) {
    throw PropertyChangeNotAllowed(`${before.name} is a Standard store and cannot become Free.`, {
      details: { target: 'sku.name' },
    })
  }
  const held = await tx.count(stores, { where: { freeIn: subscriptionOf(id) } })
  if (held < FREE_STORES_MAX) return
  throw QuotaExceeded(
    `The subscription has ${held} Free store already, which is all it may have. Make this one Standard.`,
    { details: { target: 'sku.name' } },
  )
}

/** What the system gives an identity stays as long as it is of that type. */
function acceptIdentity(
  sent: SentIdentity | undefined,
  before: Identity | undefined,
  ctx: Context,
): Identity | undefined {
  const { type = 'None' } = sent ?? {}
  const given = Object.entries(sent?.userAssignedIdentities ?? {}).filter(([, it]) => it !== null)
  const isUserAssigned = type.includes('UserAssigned')
  if (isUserAssigned && given.length === 0) {
    throw refuseInput('identity.userAssignedIdentities', `must name an identity for '${type}'`)
  }
  // A PATCH that turns to another type leaves the identities of the old one behind.
  if (type === 'None') return undefined
  return {
    type,
    ...(type.includes('SystemAssigned') && { principalId: before?.principalId ?? ctx.newId() }),
    ...(isUserAssigned && {
      userAssignedIdentities: Object.fromEntries(given.map(([id]) => [id, {}])),
    }),
  }
}

function checkEncryption(sku: SkuName, identity: Identity | undefined): void {
  if (sku === 'Free') {
    throw SkuNotSufficient(
      'A Free store cannot be encrypted with your own key. Make it Standard.',
      {
        details: { target: 'properties.encryption' },
      },
    )
  }
  if (identity) return
  throw refuseInput('properties.encryption', 'needs a store with an identity that may use the key')
}

/** Gives a store that is ready its access keys. */
async function furnish(store: ConfigStore, tx: Records, ctx: Context): Promise<ConfigStore> {
  if (store.properties.provisioningState === 'Succeeded') {
    await ensureAccessKeys(armKey(store), tx, ctx)
  }
  return store
}

/** Chosen: a store that holds nothing goes at once. Its access keys are little. */
async function isEmpty(store: ConfigStore, tx: Records): Promise<boolean> {
  for (const { kind, prefix } of contentsOf(armKey(store))) {
    const { items } = await tx.list(kind, { prefix, limit: 1 })
    if (items.length > 0) return false
  }
  return true
}

async function clear(store: ConfigStore, tx: Records): Promise<boolean> {
  const key = armKey(store)
  for (const { kind, prefix } of contentsOf(key)) {
    const removed = await tx.removeMany(kind, { prefix, limit: BATCH_MAX })
    if (removed === BATCH_MAX) return false
  }
  await removeAccessKeys(key, tx)
  return true
}

async function checkName(sent: Input, ctx: Context) {
  const { name } = checkSubscription(sent, ctx).checkNameAvailabilityParameters
  if (!isStoreName(name)) {
    const message = 'A name is 5 to 50 letters, digits, underscores or hyphens.'
    return { nameAvailable: false, reason: 'Invalid', message }
  }
  if (!(await isTaken(name, ctx.store))) return { nameAvailable: true }
  const message = `The name '${name}' is in use already.`
  return { nameAvailable: false, reason: 'AlreadyExists', message }
}
