// What the graph joins on: collections, jobs and the accounts that hold them. Specification 3, service J.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import { skipTokenOf } from '../families/arm-lists.ts'
import { armKey } from '../families/arm.ts'
import { collection, showProperties as showCollectionProperties } from './job-collections.ts'
import { job, showProperties as showJobProperties } from './jobs.ts'
import {
  collectionKeyOf,
  collections,
  history,
  jobs,
  shownNameOf,
  type Job,
  type JobCollection,
} from './kinds.ts'

interface Page {
  readonly first?: number | null
  readonly after?: string | null
}

export const entities = {
  /** The id may be spelled in any case. Null when it is not the caller's, or nobody's. */
  async JobCollection({ id }: { id: string }, ctx: Context) {
    const key = collection.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, collections, key)) ?? null)
  },

  async SchedulerJob({ id }: { id: string }, ctx: Context) {
    const key = job.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, jobs, key)) ?? null)
  },

  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

// What a resolver is handed was read for this caller, so that what hangs on it is theirs too.
export const fields = {
  CloudAccount: { jobCollections: collection.ofAccount },
  JobCollection: {
    properties: showCollectionProperties,
    jobs: (parent: JobCollection, { first, after }: Page, ctx: Context) =>
      connect(ctx, jobs, {
        prefix: `${armKey(parent)}/`,
        first: first ?? undefined,
        after: after ?? undefined,
      }),
  },
  SchedulerJob: {
    name: ({ id }: Job) => shownNameOf(id),
    properties: showJobProperties,
    jobCollection: ({ id }: Job, _: unknown, ctx: Context) =>
      load(ctx, collections, collectionKeyOf(id)),
    history: (parent: Job, { first, after }: Page, ctx: Context) =>
      connect(ctx, history, {
        prefix: `${armKey(parent)}/`,
        descending: true,
        first: first ?? undefined,
        after: after ?? undefined,
      }),
  },
  JobCollectionList: { skipToken: skipTokenOf },
  SchedulerJobList: { skipToken: skipTokenOf },
  SchedulerJobHistoryList: { skipToken: skipTokenOf },
}
