// What the graph joins on: stores, and the cloud accounts that hold them. Specification 3, service C.
import { armKey } from '../families/arm.ts'
import { skipTokenOf } from '../families/arm-lists.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { keysOf } from './access-keys.ts'
import { keyValuesOf } from './program-reads.ts'
import { stores, type ConfigStore, type Identity } from './records.ts'
import { configStore } from './stores.ts'

export const entities = {
  /** The id may be spelled in any case. Null when it is not the caller's, or nobody's. */
  async ConfigStore({ id }: { id: string }, ctx: Context) {
    const key = configStore.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, stores, key)) ?? null)
  },

  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

export const fields = {
  CloudAccount: { configStores: configStore.ofAccount },
  ConfigStore: {
    // Whoever came by the store, only its owner sees what opens it.
    keys: (store: ConfigStore, _args: object, ctx: Context) =>
      configStore.keyOfOwn(store.id, ctx) === undefined ? null : keysOf(armKey(store), ctx),
    keyValues: keyValuesOf,
  },
  ConfigStoreIdentity: {
    userAssignedIdentities: ({ userAssignedIdentities: given }: Identity) =>
      given ? Object.keys(given).map((id) => ({ id })) : null,
  },
  ConfigStoreProperties: {
    endpoint: (_parent: object, _args: object, ctx: Context) => ctx.address,
  },
  ConfigStoreList: { skipToken: skipTokenOf },
  ConfigStorePrivateEndpointConnectionList: { skipToken: skipTokenOf },
}
