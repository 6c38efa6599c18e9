// Groups, and the queries that say what is in them. Specification 3, service R.
import { z } from 'zod'
import { accountOf, resourceTags } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { configuration, isProtected, readConfiguration } from './configuration-items.ts'
import { BadRequest } from './errors.ts'
import { allGone, MEMBERS_MAX } from './members.ts'
import { readQuery, resourceQuery } from './queries.ts'
import {
  announceGroup,
  changeGroup,
  groupArn,
  groupKey,
  groups,
  members,
  needGroup,
  type Group,
  type Named,
} from './records.ts'
import { groupInput } from './shapes.ts'

export const GROUPS_MAX = 1_000
const NAME = /^[A-Za-z0-9_.-]{1,300}$/
const RESERVED_NAME = /^aws/i

const about = {
  Description: optional(text.max(1024)),
  Criticality: optional(whole.refine((n) => n >= 1 && n <= 10, 'must be between 1 and 10')),
  Owner: optional(text.min(1).max(300)),
  DisplayName: optional(text.min(1).max(300)),
}
const groupShape = z.object({ GroupArn: z.string(), Name: z.string() })
const shown = {
  show: (group: Group) => ({ Group: documented(group) }),
  answer: z.object({ Group: groupShape }),
}
const queryShown = {
  answer: z.object({
    GroupQuery: z.object({ GroupName: z.string(), ResourceQuery: resourceQuery }),
  }),
  show: (GroupQuery: object) => ({ GroupQuery }),
}
const missing = { 404: 'There is no such group.' }

export const operations = [
  operation({
    name: 'createResourceGroup',
    rest: post('/groups', {
      show: (group: Group) => ({
        Group: documented(group),
        ResourceQuery: group.ResourceQuery,
        Tags: group.Tags,
        GroupConfiguration: group.GroupConfiguration,
      }),
      answer: z.object({ Group: groupShape, Tags: z.record(z.string(), z.string()) }),
    }),
    input: {
      Name: text,
      ...about,
      ResourceQuery: optional(resourceQuery),
      Tags: optional(resourceTags),
      Configuration: optional(configuration),
    },
    needs: 'resource-groups:CreateGroup',
    run: createGroup,
  }),
  operation({
    name: 'deleteResourceGroup',
    rest: post('/delete-group', shown),
    input: groupInput,
    needs: 'resource-groups:DeleteGroup',
    refuses: missing,
    run: deleteGroup,
  }),
  operation({
    name: 'resourceGroup',
    rest: post('/get-group', shown),
    input: groupInput,
    needs: 'resource-groups:GetGroup',
    refuses: missing,
    run: (input, ctx) => needGroup(ctx.store, groupKey(input, ctx)),
  }),
  operation({
    name: 'updateResourceGroup',
    rest: post('/update-group', shown),
    input: { ...groupInput, ...about },
    needs: 'resource-groups:UpdateGroup',
    refuses: missing,
    run: ({ Group, GroupName, ...sent }, ctx) =>
      changeGroup(ctx, groupKey({ Group, GroupName }, ctx), (group) => ({
        ...group,
        ...given(sent),
      })),
  }),
  operation({
    name: 'resourceGroupQuery',
    rest: post('/get-group-query', queryShown),
    input: groupInput,
    needs: 'resource-groups:GetGroupQuery',
    refuses: missing,
    async run(input, ctx) {
      const { Name, ResourceQuery } = await needGroup(ctx.store, groupKey(input, ctx))
      if (!ResourceQuery) throw BadRequest(`The group ${Name} has no query.`)
      return { GroupName: Name, ResourceQuery }
    },
  }),
  operation({
    name: 'updateResourceGroupQuery',
    rest: post('/update-group-query', queryShown),
    input: { ...groupInput, ResourceQuery: resourceQuery },
    needs: 'resource-groups:UpdateGroupQuery',
    refuses: missing,
    async run({ ResourceQuery, ...named }, ctx) {
      readQuery(ResourceQuery)
      const { Name } = await changeGroup(ctx, groupKey(named, ctx), (group) => {
        if (!group.GroupConfiguration) return { ...group, ResourceQuery }
        throw BadRequest('A group has a query or a configuration, and this one has the latter.')
      })
      return { GroupName: Name, ResourceQuery }
    },
  }),
  operation({
    name: 'resourceGroups',
    input: paging,
    needs: 'resource-groups:ListGroups',
    run: ({ first, after }, ctx) =>
      connect(ctx, groups, { first, after, prefix: `${accountOf(ctx)}/` }),
  }),
]

export const fields = {
  ResourceGroup: {
    id: groupArn,
    groupArn,
    configuration: ({ GroupConfiguration }: Group) => GroupConfiguration,
  },
}

interface Sent {
  readonly Name: string
  readonly Description?: string | undefined
  readonly Criticality?: number | undefined
  readonly Owner?: string | undefined
  readonly DisplayName?: string | undefined
  readonly ResourceQuery?: Group['ResourceQuery'] | undefined
  readonly Tags?: Record<string, string> | undefined
  readonly Configuration?: Parameters<typeof readConfiguration>[0] | undefined
}

/** Chosen: a group may have neither query nor configuration; it is empty until it gets one. */
export async function createGroup(sent: Sent, ctx: Context): Promise<Group> {
  const { Name, Tags = {}, ResourceQuery, Configuration, ...others } = sent
  if (!NAME.test(Name) || RESERVED_NAME.test(Name)) {
    throw BadRequest(
      'Name must be 1 to 300 letters, digits, hyphens, periods or underscores, and not begin with aws.',
    )
  }
  if (ResourceQuery && Configuration) {
    throw BadRequest('Send a ResourceQuery or a Configuration, but not both.')
  }
  if (ResourceQuery) readQuery(ResourceQuery)
  const group: Group = {
    Account: accountOf(ctx),
    Name,
    ...given(others),
    Tags,
    ...(ResourceQuery && { ResourceQuery }),
    ...(Configuration && {
      GroupConfiguration: {
        Configuration: readConfiguration(Configuration),
        Status: 'UPDATE_COMPLETE' as const,
      },
    }),
  }
  await ctx.store.transaction(async (tx) => {
    if (!(await tx.insert(groups, group))) {
      throw BadRequest(`There is a group named ${Name} already.`)
    }
    if ((await tx.count(groups, { prefix: `${group.Account}/` })) > GROUPS_MAX) {
      throw BadRequest(`An account has at most ${GROUPS_MAX} groups.`)
    }
    await announceGroup(tx, ctx, 'created', group)
  })
  return group
}

async function deleteGroup(named: Named, ctx: Context): Promise<Group> {
  const key = groupKey(named, ctx)
  const kept = { prefix: `${key}/`, limit: MEMBERS_MAX }
  const isGuarded = ({ GroupConfiguration }: Group) =>
    isProtected(GroupConfiguration?.Configuration ?? [])
  // What is left of resources that are gone keeps no group.
  const gone = isGuarded(await needGroup(ctx.store, key)) ? await allGone(ctx, key) : undefined
  return ctx.store.transaction(async (tx) => {
    const group = await needGroup(tx, key)
    if (isGuarded(group)) {
      const { items } = await tx.list(members, kept)
      if (items.some((member) => !gone?.has(members.key(member)))) {
        throw BadRequest('The group is protected from deletion while it holds resources.')
      }
    }
    await tx.remove(groups, key)
    await tx.removeMany(members, kept)
    await announceGroup(tx, ctx, 'deleted', group)
    return group
  })
}

/** What the documents show of a group. */
export function documented(group: Group) {
  const { Name, Description, Criticality, Owner, DisplayName } = group
  return { GroupArn: groupArn(group), Name, Description, Criticality, Owner, DisplayName }
}

/** The members that were sent. */
const given = <T extends object>(sent: T) =>
  Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
