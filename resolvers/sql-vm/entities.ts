// What the graph joins on: machines, groups and the cloud accounts that hold them.
// Specification 3, service V.
import { armKey } from '../families/arm.ts'
import { skipTokenOf } from '../families/arm-lists.ts'
import { idAt, partsOf } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import { group } from './groups.ts'
import {
  GROUP,
  groupKeyOf,
  groups,
  LISTENER,
  listeners,
  machines,
  type AvailabilityGroupListener,
  type SqlVirtualMachine,
  type SqlVirtualMachineGroup,
} from './kinds.ts'
import { machine } from './machines.ts'

export const entities = {
  /** An id may be spelled in any case. Null when it is not the caller's, or nobody's. */
  async SqlVirtualMachine({ id }: { id: string }, ctx: Context) {
    const key = machine.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, machines, key)) ?? null)
  },

  async SqlVirtualMachineGroup({ id }: { id: string }, ctx: Context) {
    const key = group.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, groups, key)) ?? null)
  },

  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

// A machine is in the subscription of its group and a listener under its group, so that who was
// shown one may be shown the other.
export const fields = {
  CloudAccount: {
    sqlVirtualMachines: machine.ofAccount,
    sqlVirtualMachineGroups: group.ofAccount,
  },
  SqlVirtualMachineList: { skipToken: skipTokenOf },
  SqlVirtualMachineGroupList: { skipToken: skipTokenOf },
  AvailabilityGroupListenerList: { skipToken: skipTokenOf },
  SqlVirtualMachine: {
    group(of: SqlVirtualMachine, _: object, ctx: Context) {
      const key = groupKeyOf(of)
      return key === undefined ? null : load(ctx, groups, key)
    },
  },
  SqlVirtualMachineGroup: {
    machines: (of: SqlVirtualMachineGroup, { first, after }: Page, ctx: Context) =>
      connect(ctx, machines, {
        where: { groupKey: armKey(of) },
        first: first ?? undefined,
        after: after ?? undefined,
      }),
    listeners: (of: SqlVirtualMachineGroup, { first, after }: Page, ctx: Context) =>
      connect(ctx, listeners, {
        prefix: `${armKey(of)}/`,
        first: first ?? undefined,
        after: after ?? undefined,
      }),
  },
  AvailabilityGroupListener: {
    group: ({ id }: AvailabilityGroupListener, _: object, ctx: Context) =>
      load(ctx, groups, armKey({ id: idAt(GROUP, partsOf(LISTENER, id)!) })),
  },
  SqlVmLoadBalancerConfiguration: {
    async machines({ sqlVirtualMachineInstances = [] }: Configuration, _: object, ctx: Context) {
      const keys = sqlVirtualMachineInstances.map((id) => armKey({ id }))
      const found = await Promise.all(keys.map((key) => load(ctx, machines, key)))
      return found.filter((machine) => machine !== undefined)
    },
  },
}

interface Page {
  readonly first?: number | null
  readonly after?: string | null
}

interface Configuration {
  readonly sqlVirtualMachineInstances?: readonly string[]
}
