// Lists of jobs, newest first, narrowed by what public clients can narrow them by.
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import type { Connection } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Kind } from '../kernel/store.ts'
import { filteredPage, type Asked } from './lists.ts'
import { arn, moment, paged } from './shapes.ts'

export const jobFilters = {
  ...paged,
  resourceArn: optional(arn),
  createdBefore: optional(moment),
  createdAfter: optional(moment),
  completeBefore: optional(moment),
  completeAfter: optional(moment),
  resourceType: optional(text),
  accountId: optional(text),
}

export interface JobListing extends Asked {
  readonly resourceArn?: string | undefined
  readonly state?: string | undefined
  readonly createdBefore?: string | undefined
  readonly createdAfter?: string | undefined
  readonly completeBefore?: string | undefined
  readonly completeAfter?: string | undefined
  readonly resourceType?: string | undefined
  readonly accountId?: string | undefined
}

interface Listed {
  readonly AccountId: string
  readonly ResourceArn: string
  readonly ResourceType: string
  readonly CreationDate: string
  readonly CompletionDate?: string
}

interface Narrowing<T> {
  /** An index beside the usual ones, with its value. */
  readonly narrowed?: Readonly<Record<string, string>> | undefined
  readonly state: (job: T) => string
  /** What else must hold, and what it depends on. */
  readonly more?: { readonly filters: object; readonly isHit: (job: T) => boolean }
}

/** One page. The narrowest index is gone through, and what it does not tell is looked at. */
export function jobPage<T extends Listed>(
  ctx: Context,
  kind: Kind<T>,
  asked: JobListing,
  { narrowed, state: stateOf, more }: Narrowing<T>,
): Promise<Connection<T>> {
  const account = accountOf(ctx)
  const { resourceArn, state, resourceType, accountId = account } = asked
  const { createdBefore, createdAfter, completeBefore, completeAfter } = asked
  const where =
    resourceArn !== undefined
      ? { resource: `${account}/${resourceArn}` }
      : (narrowed ?? (state !== undefined ? { state: `${account}/${state}` } : { account }))
  const query = {
    where,
    order: 'createdMs',
    descending: true,
    ...(createdAfter !== undefined && { from: Date.parse(createdAfter) }),
    ...(createdBefore !== undefined && { below: Date.parse(createdBefore) }),
  }
  const filters = {
    ...more?.filters,
    // What the index tells needs no look.
    state: 'state' in where ? undefined : state,
    narrowed: resourceArn === undefined || !narrowed ? undefined : narrowed,
    resourceType,
    completeBefore,
    completeAfter,
    accountId: accountId === account ? undefined : accountId,
  }
  return filteredPage(ctx, kind, asked, query, {
    filters,
    isHit: (job) =>
      accountId === account &&
      (state === undefined || stateOf(job) === state) &&
      (resourceType === undefined || job.ResourceType === resourceType) &&
      (completeAfter === undefined || (job.CompletionDate ?? '') >= completeAfter) &&
      (completeBefore === undefined || (job.CompletionDate ?? '~') < completeBefore) &&
      Object.entries(filters.narrowed ?? {}).every(
        ([column, value]) => kind.columns[column]!.of(job) === value,
      ) &&
      (more?.isHit(job) ?? true),
  })
}
