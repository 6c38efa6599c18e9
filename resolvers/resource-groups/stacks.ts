// Stacks: resources that belong together, by a tag that each of them bears.
//
// Chosen: the documents let groups ask for the resources of a stack and do not say where stacks come
// from. Here they are made in the graph, and a resource is in a stack as long as it bears the tag with
// the stack's ARN, which its own service keeps. Tags that begin with aws: nobody may write.
import { accountOf, arnOf, readArn, REGION } from '../families/aws.ts'
import { listResources, tagResource, untagResource } from '../families/cloud-resources.ts'
import type { FoundResource } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { load, loadBy } from '../kernel/load.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { BadRequest, NotFound } from './errors.ts'
import { canBeTagged, failed, findResource, isArnIn, noneYet, type BatchResult } from './lookups.ts'
import { resourceArns } from './members.ts'
import { STACK_TAG, tagOf } from './queries.ts'

const STACKS_MAX = 1_000
const NAME = /^[A-Za-z][A-Za-z0-9-]{0,127}$/
const RELEASED_AT_ONCE = 200
const STEP = 'release resources of stack'
/** A deleted stack is known by its ARN for a while, as one that is not active any more. */
const KEPT_MS = 90 * 24 * 60 * 60_000
const LAST_STEP = 'forget stack'

export interface Stack {
  readonly Account: string
  readonly StackName: string
  /** Its ARN ends with this. */
  readonly Uuid: string
  readonly Description?: string
  readonly StackStatus: 'CREATE_COMPLETE' | 'DELETE_IN_PROGRESS' | 'DELETE_COMPLETE'
  readonly CreationTime: string
}

/** Stacks of one name follow each other: at most the last is not deleted. */
const stacks = kind<Stack>('resource_stack', {
  key: ({ Account, StackName, Uuid }) => `${Account}/${StackName}/${Uuid}`,
})
export const kinds = [stacks]

const named = { StackName: text }

export const operations = [
  operation({
    name: 'createResourceStack',
    input: { ...named, Description: optional(text.max(1024)) },
    needs: 'cloudformation:CreateStack',
    run: createStack,
  }),
  operation({
    name: 'deleteResourceStack',
    input: named,
    needs: 'cloudformation:DeleteStack',
    run: deleteStack,
  }),
  operation({
    name: 'addToResourceStack',
    input: { ...named, ResourceArns: resourceArns },
    needs: 'cloudformation:UpdateStack',
    async run({ StackName, ResourceArns }, ctx) {
      const stack = await needLive(ctx.store, accountOf(ctx), StackName)
      return eachResource({ stack, ResourceArns }, ctx, async (resource) => {
        if (!canBeTagged(ctx, resource)) return 'RESOURCE_WITHOUT_TAGS'
        await tagResource(ctx.graph, resource, { [STACK_TAG]: stackArn(stack) })
        return undefined
      })
    },
  }),
  operation({
    name: 'removeFromResourceStack',
    input: { ...named, ResourceArns: resourceArns },
    needs: 'cloudformation:UpdateStack',
    async run({ StackName, ResourceArns }, ctx) {
      const stack = await needLive(ctx.store, accountOf(ctx), StackName)
      return eachResource({ stack, ResourceArns }, ctx, async (resource) => {
        if (tagOf(resource, STACK_TAG) !== stackArn(stack)) return 'RESOURCE_NOT_IN_STACK'
        await untagResource(ctx.graph, resource, [STACK_TAG])
        return undefined
      })
    },
  }),
  operation({
    name: 'resourceStack',
    input: named,
    needs: 'cloudformation:DescribeStacks',
    async run({ StackName }, ctx) {
      const stack = await findStack(ctx, accountOf(ctx), StackName)
      if (!stack) throw NotFound(`There is no stack named ${StackName}.`)
      return stack
    },
  }),
  operation({
    name: 'resourceStacks',
    input: paging,
    needs: 'cloudformation:DescribeStacks',
    run: ({ first, after }, ctx) =>
      connect(ctx, stacks, { first, after, prefix: `${accountOf(ctx)}/` }),
  }),
]

export const fields = { ResourceStack: { stackId: stackArn } }
export const steps = { [STEP]: release, [LAST_STEP]: forget }

export function stackArn({ Account, StackName, Uuid }: Stack): string {
  const resource = `stack/${StackName}/${Uuid}`
  return arnOf({ service: 'cloudformation', account: Account, resource })
}

export const isActive = ({ StackStatus }: Stack): boolean => StackStatus === 'CREATE_COMPLETE'

/** The stack of an ARN, or the last one of a name. */
export async function findStack(
  ctx: Context,
  account: string,
  identifier: string,
): Promise<Stack | undefined> {
  const arn = readArn(identifier)
  if (!arn) return loadBy(ctx, stacks.name, lastOf(ctx.store), `${account}/${identifier}/`)
  const key = /^stack\/([^/]+\/[^/]+)$/.exec(arn.resource)?.[1]
  const isOwn = arn.service === 'cloudformation' && arn.region === REGION && arn.account === account
  return isOwn && key !== undefined ? load(ctx, stacks, `${account}/${key}`) : undefined
}

const lastOf = (records: Records) => async (prefixes: readonly string[]) => {
  const queries = prefixes.map((prefix) => ({ prefix, descending: true, limit: 1 }))
  return (await records.listMany(stacks, queries)).map(({ items }) => items[0])
}

async function needLive(records: Records, account: string, name: string): Promise<Stack> {
  const [stack] = await lastOf(records)([`${account}/${name}/`])
  if (stack && isActive(stack)) return stack
  throw NotFound(`There is no stack named ${name}.`)
}

async function createStack(
  { StackName, Description }: { StackName: string; Description?: string | undefined },
  ctx: Context,
): Promise<Stack> {
  if (!NAME.test(StackName)) {
    throw BadRequest('StackName must be a letter and up to 127 letters, digits and hyphens.')
  }
  const stack: Stack = {
    Account: accountOf(ctx),
    StackName,
    Uuid: ctx.newId(),
    ...(Description !== undefined && { Description }),
    StackStatus: 'CREATE_COMPLETE',
    CreationTime: ctx.clock.now().toISOString(),
  }
  await ctx.store.transaction(async (tx) => {
    const prefix = `${stack.Account}/`
    const [last] = await lastOf(tx)([`${prefix}${StackName}/`])
    if (last && last.StackStatus !== 'DELETE_COMPLETE') {
      throw BadRequest(`There is a stack named ${StackName} already.`)
    }
    if ((await tx.count(stacks, { prefix })) >= STACKS_MAX) {
      throw BadRequest(`An account has at most ${STACKS_MAX} stacks, deleted ones included.`)
    }
    await tx.insert(stacks, stack)
    await announce(tx, ctx, 'created', stack)
  })
  return stack
}

/** Its resources stay, and lose the tag. */
async function deleteStack({ StackName }: { StackName: string }, ctx: Context): Promise<Stack> {
  const { userId, permissions } = ctx.caller
  return ctx.store.transaction(async (tx) => {
    const stack = await needLive(tx, accountOf(ctx), StackName)
    const leaving: Stack = { ...stack, StackStatus: 'DELETE_IN_PROGRESS' }
    await tx.save(stacks, leaving)
    await ctx.work.later(tx, 0, STEP, { key: stacks.key(stack), userId, permissions })
    await announce(tx, ctx, 'changed', leaving)
    return leaving
  })
}

interface Release {
  readonly key: string
  readonly userId: string
  readonly permissions: readonly string[]
}

/** Takes the tag from some resources, and comes again until none bears it. */
async function release(work: Release, ctx: Context): Promise<void> {
  const stack = await ctx.store.get(stacks, work.key)
  if (stack?.StackStatus !== 'DELETE_IN_PROGRESS') return
  const graph = ctx.graph.as(work.userId, work.permissions)
  const bearing: FoundResource[] = []
  for await (const page of listResources(graph)) {
    bearing.push(...page.filter((resource) => tagOf(resource, STACK_TAG) === stackArn(stack)))
    if (bearing.length >= RELEASED_AT_ONCE) break
  }
  let isAnyReleased = false
  for (const resource of bearing) {
    try {
      await untagResource(graph, resource, [STACK_TAG])
      isAnyReleased = true
    } catch (error) {
      // A resource whose service refuses, or that is gone, does not hold up the rest.
      if (!(error instanceof Fault) || error.status >= 500) throw error
    }
  }
  await ctx.store.transaction(async (tx) => {
    if (isAnyReleased && bearing.length >= RELEASED_AT_ONCE) {
      return ctx.work.later(tx, 0, STEP, work)
    }
    const deleted: Stack = { ...stack, StackStatus: 'DELETE_COMPLETE' }
    await tx.save(stacks, deleted)
    await ctx.work.later(tx, KEPT_MS, LAST_STEP, { key: work.key })
    await announce(tx, ctx, 'deleted', deleted)
  })
}

async function forget({ key }: { key: string }, { store }: Context): Promise<void> {
  await store.remove(stacks, key)
}

type Failure = Parameters<typeof failed>[1]

/** Does something to each resource, and says of each how it went. */
async function eachResource(
  { stack, ResourceArns }: { stack: Stack; ResourceArns: readonly string[] },
  ctx: Context,
  act: (resource: FoundResource) => Promise<Failure | undefined>,
): Promise<BatchResult> {
  const result = noneYet()
  for (const arn of new Set(ResourceArns)) {
    const resource = isArnIn(stack.Account, arn) ? await findResource(ctx, arn) : undefined
    try {
      const failure = resource ? await act(resource) : 'RESOURCE_NOT_FOUND'
      if (failure) result.Failed.push(failed(arn, failure))
      else result.Succeeded.push(arn)
    } catch (error) {
      // What its service refuses is the result of this resource alone.
      if (!(error instanceof Fault) || error.status >= 500) throw error
      const { code: ErrorCode, message: ErrorMessage } = error
      result.Failed.push({ ResourceArn: arn, ErrorCode, ErrorMessage })
    }
  }
  if (result.Succeeded.length > 0) {
    await ctx.store.transaction((tx) => announce(tx, ctx, 'changed', stack))
  }
  return result
}

const announce = (
  tx: Records,
  ctx: Context,
  happened: 'created' | 'changed' | 'deleted',
  stack: Stack,
): Promise<void> =>
  ctx.events.announce(tx, {
    type: `resource-groups.stack.${happened}`,
    subject: stackArn(stack),
    body: { Account: stack.Account, StackName: stack.StackName },
  })
