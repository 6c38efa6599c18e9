// Groups listed a page at a time, by what they are for. Specification 3, service R.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { positionOf } from '../kernel/store.ts'
import { allowedTypesOf } from './configuration-items.ts'
import { documented } from './groups.ts'
import { readQuery, takesType } from './queries.ts'
import { groups, type Group } from './records.ts'
import { filtersOf, limitOf, pageSize } from './shapes.ts'

const READ_AT_ONCE = 100

/** By name of the filter: whether a group fits one of its values. */
const FITS = {
  'resource-type': canHold,
  'configuration-type': ({ GroupConfiguration }: Group, type: string) =>
    GroupConfiguration?.Configuration.some(({ Type }) => Type === type) ?? false,
  owner: ({ Owner }: Group, owner: string) => Owner === owner,
  'display-name': ({ DisplayName }: Group, name: string) => DisplayName === name,
  criticality: ({ Criticality }: Group, level: string) => String(Criticality) === level,
}
const filters = filtersOf([
  'resource-type',
  'configuration-type',
  'owner',
  'display-name',
  'criticality',
])

export const operations = [
  operation({
    name: 'resourceGroupPage',
    rest: post('/groups-list', {
      query: ['maxResults', 'nextToken'],
      show: ({ Groups, ...next }: { Groups: Group[] }) => ({
        GroupIdentifiers: Groups.map(documented).map(({ Name, ...others }) => ({
          GroupName: Name,
          ...others,
        })),
        Groups: Groups.map(documented),
        ...next,
      }),
      answer: z.object({
        GroupIdentifiers: z.array(z.object({ GroupName: z.string(), GroupArn: z.string() })),
        Groups: z.array(z.object({ Name: z.string(), GroupArn: z.string() })),
        NextToken: z.string().optional(),
      }),
    }),
    input: { maxResults: pageSize, nextToken: optional(text), Filters: filters },
    needs: 'resource-groups:ListGroups',
    run: listGroups,
  }),
]

interface Asked {
  readonly maxResults: number | undefined
  readonly nextToken: string | undefined
  readonly Filters: readonly { Name: keyof typeof FITS; Values: readonly string[] }[] | undefined
}

/** A group has to fit every filter, by one of its values. */
async function listGroups({ maxResults, nextToken, Filters = [] }: Asked, ctx: Context) {
  const prefix = `${accountOf(ctx)}/`
  const limit = limitOf(maxResults)
  const list = JSON.stringify(['groups', prefix, Filters])
  const fitting: Group[] = []
  let after = nextToken === undefined ? undefined : ctx.cursors.open(list, nextToken)
  do {
    const page = await ctx.store.list(groups, { prefix, limit: READ_AT_ONCE, after })
    fitting.push(
      ...page.items.filter((group) =>
        Filters.every(({ Name, Values }) => Values.some((value) => FITS[Name](group, value))),
      ),
    )
    after = page.next
  } while (after !== undefined && fitting.length <= limit)
  const Groups = fitting.slice(0, limit)
  if (fitting.length <= limit) return { Groups }
  return { Groups, NextToken: ctx.cursors.seal(list, positionOf(groups, Groups.at(-1)!)) }
}

/** Whether resources of a type could be in the group. */
function canHold({ ResourceQuery, GroupConfiguration }: Group, type: string): boolean {
  if (ResourceQuery) return takesType(readQuery(ResourceQuery).ResourceTypeFilters, type)
  return allowedTypesOf(GroupConfiguration?.Configuration ?? [])?.includes(type) ?? false
}
