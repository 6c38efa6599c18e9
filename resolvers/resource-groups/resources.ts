// What is in a group, and what a search finds. Specification 3, service R.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import {
  connect,
  connection,
  readPaging,
  type Connection,
  type PagingArguments,
} from '../kernel/paging.ts'
import { BadRequest } from './errors.ts'
import { evaluate, prepare, type Identified, type QueryError } from './evaluation.ts'
import { present } from './members.ts'
import { readQuery, resourceQuery, takesType, type ReadQuery } from './queries.ts'
import { groupKey, members, needGroup, type Group, type Member } from './records.ts'
import { filtersOf, groupInput, limitOf, pageInput } from './shapes.ts'

/** To see what a query finds, one must be allowed to see what it looks at. */
const READING = [
  'cloudformation:DescribeStacks',
  'cloudformation:ListStackResources',
  'tag:GetResources',
]

const identifier = z.object({ ResourceArn: z.string(), ResourceType: z.string().optional() })
const answer = {
  ResourceIdentifiers: z.array(identifier),
  NextToken: z.string().optional(),
  QueryErrors: z.array(z.object({ ErrorCode: z.string(), Message: z.string() })),
}

export const operations = [
  operation({
    name: 'resourceGroupResources',
    rest: post('/list-group-resources', {
      answer: z.object({ Resources: z.array(z.object({ Identifier: identifier })), ...answer }),
    }),
    input: { ...groupInput, Filters: filtersOf(['resource-type']), ...pageInput },
    needs: ['resource-groups:ListGroupResources', ...READING],
    refuses: { 404: 'There is no such group.' },
    run: listGroupResources,
  }),
  operation({
    name: 'resourceSearch',
    rest: post('/resources/search', { answer: z.object(answer) }),
    input: { ResourceQuery: resourceQuery, ...pageInput },
    needs: ['resource-groups:SearchResources', ...READING],
    async run({ ResourceQuery, MaxResults, NextToken }, ctx) {
      const asked = { first: limitOf(MaxResults), after: NextToken }
      const account = accountOf(ctx)
      const found = await queried(ctx, { account, query: readQuery(ResourceQuery) }, asked)
      const { page, QueryErrors } = found
      return { ResourceIdentifiers: page.nodes, ...nextOf(page), QueryErrors }
    },
  }),
]

export const fields = {
  ResourceGroup: {
    resources: async (group: Group, sent: PagingArguments, ctx: Context) =>
      (await contents(ctx, group, readPaging(sent))).page,
  },
  ResourceGroupMember: {
    status: ({ pending }: Partial<Member>) => (pending ? 'PENDING' : null),
  },
}

interface Listed {
  readonly Group?: string | undefined
  readonly GroupName?: string | undefined
  readonly Filters?: readonly { readonly Values: readonly string[] }[] | undefined
  readonly MaxResults?: number | undefined
  readonly NextToken?: string | undefined
}

async function listGroupResources(sent: Listed, ctx: Context) {
  const { Filters = [], MaxResults, NextToken, ...named } = sent
  const group = await needGroup(ctx.store, groupKey(named, ctx))
  const asked = { first: limitOf(MaxResults), after: NextToken }
  // A resource has to be of one of the types of every filter.
  const types = Filters[0]?.Values.filter((type) => Filters.every((f) => f.Values.includes(type)))
  const { page, QueryErrors } = await contents(ctx, group, asked, types)
  const Resources = page.nodes.map(({ ResourceArn, ResourceType, pending }) => ({
    Identifier: { ResourceArn, ResourceType },
    ...(pending && { Status: { Name: 'PENDING' } }),
  }))
  const ResourceIdentifiers = Resources.map(({ Identifier }) => Identifier)
  return { Resources, ResourceIdentifiers, ...nextOf(page), QueryErrors }
}

const nextOf = ({ pageInfo }: Connection<unknown>) =>
  pageInfo.hasNextPage ? { NextToken: pageInfo.endCursor! } : {}

interface Content extends Partial<Identified> {
  readonly ResourceArn: string
  readonly pending?: Member['pending']
}

interface Contents {
  readonly page: Connection<Content>
  readonly QueryErrors: readonly QueryError[]
}

interface Page {
  readonly first: number
  readonly after: string | undefined
}

/** One page of what is in a group; of some types alone, where `types` are given. */
async function contents(
  ctx: Context,
  { Account, Name, ResourceQuery }: Group,
  { first, after }: Page,
  types?: readonly string[],
): Promise<Contents> {
  if (ResourceQuery) {
    const query = readQuery(ResourceQuery)
    const narrowed = types ? { ...query, ResourceTypeFilters: narrow(query, types) } : query
    return queried(ctx, { account: Account, query: narrowed }, { first, after })
  }
  const prefix = `${Account}/${Name}/`
  const { edges, pageInfo } = await connect(ctx, members, { first, after, prefix })
  const there = await present(
    ctx,
    edges.map(({ node }) => node),
  )
  const shown = edges.filter(
    ({ node }) => there.includes(node) && (types?.includes(node.ResourceType ?? '') ?? true),
  )
  // Chosen: a page may be shorter than asked for, since clients follow the token.
  const page = { edges: shown, nodes: shown.map(({ node }) => node), pageInfo }
  return { page, QueryErrors: [] }
}

/** Types that the group's own query leaves out cannot be asked for. */
function narrow({ ResourceTypeFilters }: ReadQuery, types: readonly string[]): readonly string[] {
  const outside = types.filter((type) => !takesType(ResourceTypeFilters, type))
  if (outside.length === 0) return types
  throw BadRequest(
    `The resource types specified as filters are not part of the group's query: ${outside.join(', ')}.`,
  )
}

async function queried(
  ctx: Context,
  { account, query }: { account: string; query: ReadQuery },
  { first, after }: Page,
): Promise<Contents> {
  const list = JSON.stringify(['resources', account, query])
  const from = after === undefined ? undefined : ctx.cursors.open(list, after)
  const prepared = await prepare(ctx, account, query)
  const { items, hasMore } = await evaluate(ctx, { ...prepared, after: from, limit: first })
  const page = connection(items, hasMore, ({ ResourceArn }) => ctx.cursors.seal(list, ResourceArn))
  return { page, QueryErrors: prepared.QueryErrors }
}
