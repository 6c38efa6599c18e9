// Resources that are put into a group by name. Specification 3, service R.
//
// 1. Only groups of two types take them, and only of the types of resources that they allow.
// 2. An addition is pending while nobody can say whether it may be: the configuration is being
//    applied, or the service that keeps the resource does not answer. A step finishes it.
// 3. A resource that is gone is in no group, whatever is kept of it here.
import { z } from 'zod'
import { arnOfResource, findResources, idOfArn, signedTypeOf } from '../families/cloud-resources.ts'
import type { FoundResource } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { operation, post } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { allowedTypesOf, takesResources } from './configuration-items.ts'
import { asking, BadRequest } from './errors.ts'
import { failed, findResource, isArnIn, noneYet, type BatchResult } from './lookups.ts'
import {
  announceGroup,
  groupKey,
  groups,
  members,
  needGroup,
  type Group,
  type Member,
} from './records.ts'

export const MEMBERS_MAX = 1_000
const ARNS_MAX = 10
const SETTLE_MS = 1_000
const READ_AT_ONCE = 100
const STEP = 'settle group member'

export const resourceArns = z.array(text.max(2048)).min(1).max(ARNS_MAX)
const input = { Group: text, ResourceArns: resourceArns }
const answer = z.object({
  Succeeded: z.array(z.string()),
  Failed: z.array(z.object({ ResourceArn: z.string(), ErrorCode: z.string() })),
  Pending: z.array(z.object({ ResourceArn: z.string() })),
})
const missing = { 404: 'There is no such group.' }

export const operations = [
  operation({
    name: 'groupResources',
    rest: post('/group-resources', { answer }),
    input,
    needs: 'resource-groups:GroupResources',
    refuses: missing,
    run: groupResources,
  }),
  operation({
    name: 'ungroupResources',
    rest: post('/ungroup-resources', { answer }),
    input,
    needs: 'resource-groups:UngroupResources',
    refuses: missing,
    run: ungroupResources,
  }),
]

export const steps = { [STEP]: settle }

interface Sent {
  readonly Group: string
  readonly ResourceArns: readonly string[]
}

async function groupResources({ Group, ResourceArns }: Sent, ctx: Context): Promise<BatchResult> {
  const key = groupKey({ Group }, ctx)
  const { Account } = needTaking(await needGroup(ctx.store, key))
  const arns = [...new Set(ResourceArns)]
  const named = arns.filter((arn) => isArnIn(Account, arn))
  const found = await findNow(named, ctx)

  return ctx.store.transaction(async (tx) => {
    const group = needTaking(await needGroup(tx, key))
    const isKnown = found !== undefined && group.GroupConfiguration!.Status !== 'UPDATING'
    let room = MEMBERS_MAX - (await tx.count(members, { prefix: `${key}/` }))
    const result = noneYet()
    const added: string[] = []
    for (const arn of arns) {
      const resource = found?.get(arn)
      // Its service may know it by a spelling of its own.
      const ResourceArn = resource ? arnOfResource(Account, resource.id) : arn
      const member: Member = { Account, GroupName: group.Name, ResourceArn }
      const before = await tx.get(members, members.key(member))
      const isNamed = named.includes(arn)
      const verdict = judge({ group, before, resource, isNamed, isKnown, hasRoom: room > 0 })
      if (verdict === 'IN') {
        if (!before || before.pending) {
          await tx.save(members, { ...member, ResourceType: signedTypeOf(resource!) })
          added.push(ResourceArn)
        }
        result.Succeeded.push(arn)
      } else if (verdict === 'PENDING') {
        if (!before) await addLater(tx, member, ctx)
        result.Pending.push({ ResourceArn: arn })
      } else {
        result.Failed.push(failed(arn, verdict))
        continue
      }
      if (!before) room -= 1
    }
    await announceMembers(tx, ctx, group, { added })
    return result
  })
}

interface Case {
  readonly group: Group
  readonly before: Member | undefined
  readonly resource: FoundResource | undefined
  readonly isNamed: boolean
  readonly isKnown: boolean
  readonly hasRoom: boolean
}

function judge({ group, before, resource, isNamed, isKnown, hasRoom }: Case) {
  if (!isNamed) return 'INVALID_ARN'
  if (!before && !hasRoom) return 'RESOURCE_LIMIT_EXCEEDED'
  if (!isKnown) return before && !before.pending ? 'IN' : 'PENDING'
  if (!resource) return 'RESOURCE_NOT_FOUND'
  return isAllowed(group, resource) ? 'IN' : 'RESOURCE_TYPE_NOT_ALLOWED'
}

async function ungroupResources({ Group, ResourceArns }: Sent, ctx: Context): Promise<BatchResult> {
  const key = groupKey({ Group }, ctx)
  return ctx.store.transaction(async (tx) => {
    const group = needTaking(await needGroup(tx, key))
    const result = noneYet()
    for (const ResourceArn of new Set(ResourceArns)) {
      const isRemoved = await tx.remove(members, `${key}/${ResourceArn}`)
      if (isRemoved) result.Succeeded.push(ResourceArn)
      else result.Failed.push(failed(ResourceArn, 'RESOURCE_NOT_IN_GROUP'))
    }
    await announceMembers(tx, ctx, group, { removed: result.Succeeded })
    return result
  })
}

/** The resources by ARN. Undefined when their services cannot say now. */
async function findNow(
  arns: readonly string[],
  { graph }: Context,
): Promise<Map<string, FoundResource | undefined> | undefined> {
  try {
    const found = await asking(() => findResources(graph, arns.map(idOfArn)))
    return new Map(arns.map((arn) => [arn, found.get(idOfArn(arn))]))
  } catch (error) {
    if (error instanceof Fault && error.status >= 500) return undefined
    throw error
  }
}

async function addLater(tx: Records, member: Member, ctx: Context): Promise<void> {
  const { userId, permissions } = ctx.caller
  await tx.save(members, { ...member, pending: { userId, permissions } })
  await ctx.work.later(tx, SETTLE_MS, STEP, { key: members.key(member) })
}

async function settle({ key }: { key: string }, ctx: Context): Promise<void> {
  const member = await ctx.store.get(members, key)
  if (!member?.pending) return
  const { Account, GroupName, ResourceArn, pending } = member
  const id = idOfArn(ResourceArn)
  const graph = ctx.graph.as(pending.userId, pending.permissions)
  const resource = (await findResources(graph, [id])).get(id)
  await ctx.store.transaction(async (tx) => {
    const group = await tx.get(groups, `${Account}/${GroupName}`)
    // Ungrouped meanwhile, or deleted with its group.
    if (!group || !(await tx.get(members, key))?.pending) return
    if (group.GroupConfiguration?.Status === 'UPDATING') {
      return ctx.work.later(tx, SETTLE_MS, STEP, { key })
    }
    const { Configuration = [] } = group.GroupConfiguration ?? {}
    await tx.remove(members, key)
    if (!resource || !takesResources(Configuration) || !isAllowed(group, resource)) return
    const own = arnOfResource(Account, resource.id)
    const ResourceType = signedTypeOf(resource)
    await tx.save(members, { Account, GroupName, ResourceArn: own, ResourceType })
    await announceMembers(tx, ctx, group, { added: [own] })
  })
}

/** Of these members those that are pending, and those whose resources are there. */
export async function present(ctx: Context, kept: readonly Member[]): Promise<Member[]> {
  const there = await Promise.all(
    kept.map(({ pending, ResourceArn }) => pending ?? findResource(ctx, ResourceArn)),
  )
  return kept.filter((_, i) => there[i])
}

/** The keys of members whose resources are gone. Undefined when others are in the group too. */
export async function allGone(ctx: Context, key: string): Promise<Set<string> | undefined> {
  const gone = new Set<string>()
  let after: string | undefined
  do {
    const page = await ctx.store.list(members, { prefix: `${key}/`, limit: READ_AT_ONCE, after })
    if ((await present(ctx, page.items)).length > 0) return undefined
    for (const member of page.items) gone.add(members.key(member))
    after = page.next
  } while (after !== undefined)
  return gone
}

function needTaking(group: Group): Group {
  if (takesResources(group.GroupConfiguration?.Configuration ?? [])) return group
  throw BadRequest(
    'Only groups of type AWS::EC2::HostManagement or AWS::EC2::CapacityReservationPool take resources by name.',
  )
}

function isAllowed({ GroupConfiguration }: Group, resource: FoundResource): boolean {
  const allowed = allowedTypesOf(GroupConfiguration?.Configuration ?? [])
  return allowed?.includes(signedTypeOf(resource)) ?? true
}

async function announceMembers(
  tx: Records,
  ctx: Context,
  group: Group,
  changes: { readonly added?: string[]; readonly removed?: string[] },
): Promise<void> {
  if (Object.values(changes).flat().length > 0) {
    await announceGroup(tx, ctx, 'changed', group, changes)
  }
}
