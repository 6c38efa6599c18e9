// Configurations of groups, which are applied after they were accepted. Specification 3, service R.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, post, reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import {
  allowedTypesOf,
  configuration,
  readConfiguration,
  takesResources,
  type ConfigurationItem,
} from './configuration-items.ts'
import { BadRequest } from './errors.ts'
import { MEMBERS_MAX, present } from './members.ts'
import {
  announceGroup,
  changeGroup,
  groupKey,
  groups,
  members,
  needGroup,
  type GroupConfiguration,
} from './records.ts'

const APPLY_MS = 2_000
const STEP = 'apply group configuration'
const missing = { 404: 'There is no such group.' }

export const operations = [
  operation({
    name: 'resourceGroupConfiguration',
    rest: post('/get-group-configuration', {
      show: (GroupConfiguration: GroupConfiguration) => ({ GroupConfiguration }),
      answer: z.object({ GroupConfiguration: z.object({ Status: z.string() }) }),
    }),
    input: { Group: optional(text) },
    needs: 'resource-groups:GetGroupConfiguration',
    refuses: missing,
    async run(input, ctx) {
      const { GroupConfiguration } = await needGroup(ctx.store, groupKey(input, ctx))
      if (!GroupConfiguration) throw BadRequest('The group has no configuration.')
      return GroupConfiguration
    },
  }),
  operation({
    name: 'putResourceGroupConfiguration',
    rest: post('/put-group-configuration', { status: [202] }),
    input: { Group: optional(text), Configuration: optional(configuration) },
    needs: 'resource-groups:PutGroupConfiguration',
    refuses: missing,
    async run({ Group, Configuration = [] }, ctx) {
      await propose({ key: groupKey({ Group }, ctx), items: readConfiguration(Configuration) }, ctx)
      return reply(202)
    },
  }),
]

export const steps = { [STEP]: apply }

/** Chosen: a configuration that comes while another is being applied takes its place. */
async function propose(
  { key, items }: { key: string; items: readonly ConfigurationItem[] },
  ctx: Context,
): Promise<void> {
  const ChangeId = ctx.newId()
  const { userId, permissions } = ctx.caller
  await changeGroup(ctx, key, async (group, tx) => {
    if (group.ResourceQuery) {
      throw BadRequest('A group has a query or a configuration, and this one has a query.')
    }
    await ctx.work.later(tx, APPLY_MS, STEP, { key, ChangeId, userId, permissions })
    const GroupConfiguration: GroupConfiguration = {
      Configuration: group.GroupConfiguration?.Configuration ?? [],
      ProposedConfiguration: items,
      Status: 'UPDATING',
    }
    return { ...group, GroupConfiguration, ChangeId }
  })
}

interface Change {
  readonly key: string
  readonly ChangeId: string
  /** On whose behalf it is seen what the group holds. */
  readonly userId: string
  readonly permissions: readonly string[]
}

async function apply({ key, ChangeId, userId, permissions }: Change, ctx: Context): Promise<void> {
  const kept = await ctx.store.list(members, { prefix: `${key}/`, limit: MEMBERS_MAX })
  const graph = ctx.graph.as(userId, permissions)
  const there = await present({ ...ctx, graph }, kept.items)
  const gone = new Set(kept.items.filter((member) => !there.includes(member)).map(members.key))
  await ctx.store.transaction(async (tx) => {
    const group = await tx.get(groups, key)
    const proposed = group?.GroupConfiguration?.ProposedConfiguration
    // The group is gone, or another configuration has taken the place of this one.
    if (!group || group.ChangeId !== ChangeId || !proposed) return
    const reason = await obstacle(tx, { key, proposed, gone })
    const GroupConfiguration: GroupConfiguration =
      reason === undefined
        ? { Configuration: proposed, Status: 'UPDATE_COMPLETE' }
        : {
            Configuration: group.GroupConfiguration!.Configuration,
            Status: 'UPDATE_FAILED',
            FailureReason: reason,
          }
    const changed = { ...group, GroupConfiguration }
    await tx.save(groups, changed)
    await announceGroup(tx, ctx, 'changed', changed)
  })
}

interface Held {
  readonly key: string
  readonly proposed: readonly ConfigurationItem[]
  /** The keys of members whose resources are not there any more. */
  readonly gone: ReadonlySet<string>
}

/** Why a configuration does not fit what the group holds. Undefined when it does. */
async function obstacle(tx: Records, { key, proposed, gone }: Held): Promise<string | undefined> {
  const kept = await tx.list(members, { prefix: `${key}/`, limit: MEMBERS_MAX })
  const held = kept.items.filter((member) => !gone.has(members.key(member)))
  if (held.length === 0) return undefined
  if (!takesResources(proposed)) {
    return `The group holds ${held.length} resources, which only its type allows. Ungroup them first.`
  }
  const allowed = allowedTypesOf(proposed)
  const other = held.find(
    ({ ResourceType }) => allowed && ResourceType && !allowed.includes(ResourceType),
  )
  return other && `The group holds ${other.ResourceArn}, which is of type ${other.ResourceType}.`
}
