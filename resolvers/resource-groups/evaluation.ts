// Queries evaluated over the resources of all services, as they are now.
//
// 1. Nothing of the resources is kept here: every evaluation lists them anew, through the graph.
// 2. Evaluations that are asked for in the same tick share one listing.
// 3. A group of an account has the account's resources, and those of the person's subscriptions and
//    projects; what the person has in other accounts of the signed services is not in it.
import {
  arnOfResource,
  listResources,
  resourceTypes,
  signedTypeOf,
  type FoundResource,
} from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import type { Graph } from '../kernel/graph.ts'
import { loadBy } from '../kernel/load.ts'
import { asking } from './errors.ts'
import { isArnIn } from './lookups.ts'
import { isMatch, STACK_TAG, typeNamesOf, unknownTypesOf, type ReadQuery } from './queries.ts'
import { findStack, isActive, stackArn } from './stacks.ts'

export interface QueryError {
  readonly ErrorCode:
    | 'CLOUDFORMATION_STACK_INACTIVE'
    | 'CLOUDFORMATION_STACK_NOT_EXISTING'
    | 'RESOURCE_TYPE_NOT_SUPPORTED'
  readonly Message: string
}

/** A query whose stack was found. */
export interface Prepared {
  readonly account: string
  /** Absent when nothing can match. */
  readonly query?: ReadQuery
  readonly QueryErrors: readonly QueryError[]
}

/** Looks up what a query names. A stack is asked for by the tag of its resources. */
export async function prepare(ctx: Context, account: string, query: ReadQuery): Promise<Prepared> {
  const known = resourceTypes(ctx.graph).map(({ name }) => name)
  const QueryErrors: QueryError[] = unknownTypesOf(query, known).map((type) => ({
    ErrorCode: 'RESOURCE_TYPE_NOT_SUPPORTED',
    Message: `No service has resources of type ${type}.`,
  }))
  const { StackIdentifier, ...others } = query
  if (StackIdentifier === undefined) return { account, query, QueryErrors }
  const stack = await findStack(ctx, account, StackIdentifier)
  if (stack && isActive(stack)) {
    const TagFilters = [{ Key: STACK_TAG, Values: [stackArn(stack)] }]
    return { account, query: { ...others, TagFilters }, QueryErrors }
  }
  QueryErrors.push(
    stack
      ? {
          ErrorCode: 'CLOUDFORMATION_STACK_INACTIVE',
          Message: `The stack ${StackIdentifier} has been deleted.`,
        }
      : {
          ErrorCode: 'CLOUDFORMATION_STACK_NOT_EXISTING',
          Message: `There is no stack ${StackIdentifier}.`,
        },
  )
  return { account, QueryErrors }
}

/** Whether a resource is among what a prepared query asks for. */
export const isAmong = ({ account, query }: Prepared, resource: FoundResource): boolean =>
  query !== undefined &&
  isArnIn(account, arnOfResource(account, resource.id)) &&
  isMatch(query, resource)

export interface Identified {
  readonly ResourceArn: string
  readonly ResourceType: string
}

interface Asked extends Prepared {
  /** The page begins behind this ARN. */
  readonly after: string | undefined
  readonly limit: number
}

export interface Evaluated {
  /** By ARN. */
  readonly items: readonly Identified[]
  readonly hasMore: boolean
}

/** One page of the resources that a prepared query asks for. */
export const evaluate = (ctx: Context, asked: Asked): Promise<Evaluated> =>
  asked.query
    ? loadBy(
        ctx,
        evaluateAll,
        (all: readonly Asked[]) => asking(() => evaluateAll(ctx.graph, all)),
        asked,
      )
    : Promise.resolve({ items: [], hasMore: false })

async function evaluateAll(graph: Graph, all: readonly Asked[]): Promise<Evaluated[]> {
  const pages = all.map(({ limit }) => firstOf(limit + 1))
  const names = all.map(({ query }) => typeNamesOf(query!))
  const types = names.every((own) => own !== undefined) ? [...new Set(names.flat())] : undefined
  for await (const resources of listResources(graph, { types })) {
    for (const [i, asked] of all.entries()) {
      for (const resource of resources) {
        const ResourceArn = arnOfResource(asked.account, resource.id)
        if (asked.after !== undefined && ResourceArn <= asked.after) continue
        if (!isAmong(asked, resource)) continue
        pages[i]!.add({ ResourceArn, ResourceType: signedTypeOf(resource) })
      }
    }
  }
  return all.map(({ limit }, i) => {
    const items = pages[i]!.items()
    return { items: items.slice(0, limit), hasMore: items.length > limit }
  })
}

const SPARE = 500

/** Keeps the first by ARN of however many are added. */
function firstOf(count: number) {
  let kept: Identified[] = []
  const cut = () => {
    kept.sort((a, b) => (a.ResourceArn < b.ResourceArn ? -1 : 1))
    return (kept = kept.slice(0, count))
  }
  return {
    items: cut,
    add(item: Identified) {
      kept.push(item)
      if (kept.length > count + SPARE) cut()
    },
  }
}
