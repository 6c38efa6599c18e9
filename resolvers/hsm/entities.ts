// What the graph joins on: modules, and the cloud accounts that hold them. Specification 3, service H.
import { skipTokenOf } from '../families/arm-lists.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { hsm, modules } from './dedicated-hsms.ts'

export const entities = {
  /** The id may be spelled in any case. Null when it is not the caller's, or nobody's. */
  async DedicatedHsm({ id }: { id: string }, ctx: Context) {
    const key = hsm.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, modules, key)) ?? null)
  },

  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

export const fields = {
  CloudAccount: { dedicatedHsms: hsm.ofAccount },
  DedicatedHsmList: { skipToken: skipTokenOf },
}
