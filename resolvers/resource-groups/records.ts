// Groups and their members as they are kept. Specification 3, service R.
import { accountOf, arnOf, isOwnArn, readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import type { ConfigurationItem } from './configuration-items.ts'
import { BadRequest, NotFound } from './errors.ts'
import type { ResourceQuery } from './queries.ts'

const RESOURCE = 'group/'

export interface Group {
  readonly Account: string
  readonly Name: string
  readonly Description?: string
  readonly Criticality?: number
  readonly Owner?: string
  readonly DisplayName?: string
  readonly Tags: Readonly<Record<string, string>>
  /** A group has this or a configuration, or neither. */
  readonly ResourceQuery?: ResourceQuery
  readonly GroupConfiguration?: GroupConfiguration
  /** Names the change of the configuration that is under way, or was last. */
  readonly ChangeId?: string
}

export interface GroupConfiguration {
  readonly Configuration: readonly ConfigurationItem[]
  readonly ProposedConfiguration?: readonly ConfigurationItem[]
  readonly Status: 'UPDATING' | 'UPDATE_COMPLETE' | 'UPDATE_FAILED'
  readonly FailureReason?: string
}

/** A resource that was put into a group by name. */
export interface Member {
  readonly Account: string
  readonly GroupName: string
  readonly ResourceArn: string
  /** Unknown while the addition is pending. */
  readonly ResourceType?: string
  /** On whose behalf the addition is finished, while it is pending. */
  readonly pending?: { readonly userId: string; readonly permissions: readonly string[] }
}

export const groups = kind<Group>('resource_group', {
  key: ({ Account, Name }) => `${Account}/${Name}`,
})

export const members = kind<Member>('resource_group_member', {
  key: ({ Account, GroupName, ResourceArn }) => `${Account}/${GroupName}/${ResourceArn}`,
  columns: {
    account: textOf(({ Account }) => Account),
    arn: textOf((member) => member.ResourceArn),
  },
  indexes: [['account', 'arn']],
})

export const kinds = [groups, members]

export const groupArn = ({ Account, Name }: Pick<Group, 'Account' | 'Name'>): string =>
  arnOf({ service: 'resource-groups', account: Account, resource: RESOURCE + Name })

/** The key of the group that an ARN names, if it is one of the caller's. */
export function ownGroupKey(arn: string, ctx: Context): string | undefined {
  const read = readArn(arn)
  if (!read || !isOwnArn(ctx, read, 'resource-groups')) return undefined
  return read.resource.startsWith(RESOURCE)
    ? `${read.account}/${read.resource.slice(RESOURCE.length)}`
    : undefined
}

export interface Named {
  readonly Group?: string | undefined
  readonly GroupName?: string | undefined
}

/** The key of the group that a request names, in one of two ways or in both alike. */
export function groupKey({ Group, GroupName }: Named, ctx: Context): string {
  const keys = [Group, GroupName]
    .filter((name) => name !== undefined)
    .map((name) => {
      const key = name.startsWith('arn:') ? ownGroupKey(name, ctx) : `${accountOf(ctx)}/${name}`
      if (key === undefined) throw NotFound(`There is no group ${name}.`)
      return key
    })
  if (keys[0] === undefined) throw BadRequest('Group is required: the name or the ARN of a group.')
  if (keys.some((key) => key !== keys[0])) throw BadRequest('Group and GroupName differ. Send one.')
  return keys[0]
}

export async function needGroup(records: Records, key: string): Promise<Group> {
  const group = await records.get(groups, key)
  if (group) return group
  throw NotFound(`There is no group named ${key.slice(key.indexOf('/') + 1)}.`)
}

/** Replaces a group by what `to` makes of it, and says so. */
export async function changeGroup(
  ctx: Context,
  key: string,
  to: (group: Group, tx: Records) => Group | Promise<Group>,
): Promise<Group> {
  return ctx.store.transaction(async (tx) => {
    const changed = await to(await needGroup(tx, key), tx)
    await tx.save(groups, changed)
    await announceGroup(tx, ctx, 'changed', changed)
    return changed
  })
}

export const announceGroup = (
  tx: Records,
  ctx: Context,
  happened: 'created' | 'changed' | 'deleted',
  { Account, Name }: Group,
  body: object = {},
): Promise<void> =>
  ctx.events.announce(tx, {
    type: `resource-groups.group.${happened}`,
    subject: groupArn({ Account, Name }),
    body: { Account, Name, ...body },
  })
