// Groups as the graph joins on them: by ARN, in their account, and of any resource of any service.
import { arnOfResource, findResources } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { load, loadBy } from '../kernel/load.ts'
import { connect, connection, readPaging, type PagingArguments } from '../kernel/paging.ts'
import { asking } from './errors.ts'
import { isAmong, prepare } from './evaluation.ts'
import { GROUPS_MAX } from './groups.ts'
import { readQuery } from './queries.ts'
import { groupArn, groups, members, ownGroupKey, type Group } from './records.ts'

export { expectedDocuments as asks } from '../families/cloud-resources.ts'

interface Reference {
  readonly id: string
}

export const entities = {
  async ResourceGroup({ id }: Reference, ctx: Context) {
    const key = ownGroupKey(id, ctx)
    return key === undefined ? null : ((await load(ctx, groups, key)) ?? null)
  },
  CloudAccount: ({ id }: Reference, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
  // Whose it is shows when it is looked for: what the caller may not see is in no group.
  CloudResource: byId,
  BackupVault: byId,
  BackupPlan: byId,
}

export const fields = {
  CloudAccount: {
    resourceGroups: ({ id }: Reference, { first, after }: PagingArguments, ctx: Context) =>
      connect(ctx, groups, { first, after, prefix: `${id}/` }),
  },
  CloudResource: { groups: groupsOfResource },
  BackupVault: { groups: groupsOfResource },
  BackupPlan: { groups: groupsOfResource },
}

function byId({ id }: Reference): Reference {
  return { id }
}

async function groupsOfResource({ id }: Reference, sent: PagingArguments, ctx: Context) {
  const { first, after } = readPaging(sent)
  const list = JSON.stringify(['groups of', id])
  const from = after === undefined ? '' : ctx.cursors.open(list, after)
  const all = await loadBy(ctx, groupsOfAll, (ids: readonly string[]) => groupsOfAll(ctx, ids), id)
  const rest = all.filter((group) => groupArn(group) > from)
  return connection(rest.slice(0, first), rest.length > first, (group) =>
    ctx.cursors.seal(list, groupArn(group)),
  )
}

/** Of each resource the groups that it is in. Groups and resources are read once for all. */
async function groupsOfAll(ctx: Context, ids: readonly string[]): Promise<Group[][]> {
  const found = await asking(() => findResources(ctx.graph, ids))
  const groupsOf = new Map(ids.map((id) => [id, [] as Group[]]))
  for (const { id: account, kind } of ctx.caller.accounts) {
    if (kind !== 'ACCOUNT') continue
    const { items } = await ctx.store.list(groups, { prefix: `${account}/`, limit: GROUPS_MAX })
    const queries = await Promise.all(
      items.map(
        ({ ResourceQuery }) => ResourceQuery && prepare(ctx, account, readQuery(ResourceQuery)),
      ),
    )
    const named = await namesOfGroups(ctx, account, [...found.keys()])
    for (const [id, resource] of found) {
      const names = named.get(id)!
      groupsOf
        .get(id)!
        .push(
          ...items.filter(
            ({ Name }, i) => names.has(Name) || (queries[i] && isAmong(queries[i], resource)),
          ),
        )
    }
  }
  return ids.map((id) => groupsOf.get(id)!.toSorted((a, b) => (groupArn(a) < groupArn(b) ? -1 : 1)))
}

/** Of each resource the names of the groups that it was put into. */
async function namesOfGroups(
  ctx: Context,
  account: string,
  ids: readonly string[],
): Promise<Map<string, Set<string>>> {
  const queries = ids.map((id) => ({
    where: { account, arn: arnOfResource(account, id) },
    limit: GROUPS_MAX,
  }))
  const pages = ids.length === 0 ? [] : await ctx.store.listMany(members, queries)
  return new Map(
    pages.map(({ items }, i) => [
      ids[i]!,
      new Set(items.filter(({ pending }) => !pending).map(({ GroupName }) => GroupName)),
    ]),
  )
}
