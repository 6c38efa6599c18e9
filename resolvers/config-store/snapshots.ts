// Stores by their id: read, tagged, taken as a whole and put back. Specification 3, service C.
//
// 1. A store is taken with its key-values, its private endpoint connections and its access keys, whose
//    secrets stay sealed. Programs that hold a key read a store that was put back as before. A copy
//    has keys of its own: who holds one of the first store must not open the second.
// 2. A key-value keeps its eTag and its moment, for it is the same. Its revisions are not taken: they
//    are what the store was, and it begins anew.
import type { Accepted, At } from '../families/arm.ts'
import { armKey } from '../families/arm.ts'
import { armById, armSnapshot, type Make, type Taken } from '../families/arm-snapshots.ts'
import { everyOf, snapshots, type Restored } from '../families/snapshots.ts'
import { ensureAccessKeys } from './access-keys.ts'
import { connection } from './private-endpoints.ts'
import {
  accessKeys,
  connections,
  keyValues,
  type AccessKey,
  type ConfigStore,
  type Identity,
  type KeyValue,
  type PrivateEndpointConnection,
} from './records.ts'
import { checkNameIsFree, checkSku, configStore, key } from './stores.ts'

const TYPE = 'ConfigStore'

interface State {
  readonly store: Accepted<ConfigStore>
  readonly keyValues: readonly Omit<KeyValue, 'store'>[]
  readonly connections: readonly Pick<PrivateEndpointConnection, 'name' | 'properties'>[]
}

interface Own {
  readonly creationDate: string
  readonly principalId?: string | undefined
  readonly accessKeys: readonly Omit<AccessKey, 'store'>[]
}

const taken = snapshots(armSnapshot({ type: TYPE, resource: configStore, names: key, take, put }))

export const operations = [...armById(TYPE, configStore), ...taken.operations]
export const { kinds, steps } = taken

async function take(kept: Accepted<ConfigStore>, store: ConfigStore, { tx }: At): Promise<Taken> {
  const at = armKey(store)
  const { creationDate, ...properties } = kept.properties
  const { principalId, ...identity } = kept.identity ?? {}
  const opened = await everyOf(tx, accessKeys, `${at}\n`)
  const own: Own = { creationDate, principalId, accessKeys: opened.map(without('store')) }
  const state = {
    store: { ...kept, properties, identity: kept.identity && identity },
    keyValues: (await everyOf(tx, keyValues, `${at}\n`)).map(without('store')),
    connections: (await everyOf(tx, connections, `${at}/`)).map(({ name, properties }) => ({
      name,
      properties: without('provisioningState')(properties),
    })),
  }
  return { state, own }
}

async function put(restored: Restored<State, Own>, make: Make<ConfigStore>, at: At): Promise<void> {
  const { id, state, isCopy } = restored
  const { tx, ctx } = at
  const own = isCopy ? undefined : restored.own!
  const { store } = state
  await checkNameIsFree(id.slice(id.lastIndexOf('/') + 1), tx)
  await checkSku(store.sku.name, { id, before: undefined, tx })
  const creationDate = own?.creationDate ?? ctx.clock.now().toISOString()
  const made = await make({
    ...store,
    properties: { ...store.properties, creationDate },
    identity: store.identity && identityOf(store.identity, own?.principalId ?? ctx.newId()),
  })
  if (isCopy) await ensureAccessKeys(armKey(made), tx, ctx)
  for (const kept of own?.accessKeys ?? []) {
    await tx.insert(accessKeys, { ...kept, store: armKey(made) })
  }
  for (const kept of state.keyValues) await tx.insert(keyValues, { ...kept, store: armKey(made) })
  for (const { name, properties } of state.connections) {
    await connection.revive(`${id}/privateEndpointConnections/${name}`, { properties }, at)
  }
}

const identityOf = (identity: Identity, principalId: string): Identity => ({
  ...identity,
  ...(identity.type.includes('SystemAssigned') && { principalId }),
})

const without =
  <Name extends string>(name: Name) =>
  <T extends object>(record: T): Omit<T, Name> => {
    const { [name]: _, ...rest } = record as T & Record<Name, unknown>
    return rest as unknown as Omit<T, Name>
  }
