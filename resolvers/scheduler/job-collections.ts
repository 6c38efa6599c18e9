// Job collections: what jobs are kept in, with a quota. Specification 3, service J.
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { AnotherOperationInProgress, ResourceNotFound } from '../families/arm-errors.ts'
import {
  armOperations,
  beginOperation,
  endOperation,
  runningOperation,
  statusAnswer,
} from '../families/arm-operations.ts'
import {
  checkSubscription,
  group,
  idAt,
  inSubscription,
  paging,
  plainLocation,
  subscription,
  type Input,
} from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { checkIfMatch } from '../kernel/etag.ts'
import { del, get, operation, patch, post, put, reply, type Reply } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { refuse } from './errors.ts'
import {
  AREA,
  COLLECTION,
  COLLECTION_TYPE,
  COLLECTIONS,
  collections,
  executions,
  isLeaving,
  isRunning,
  jobs,
  VERSION,
  type Job,
  type JobCollection,
} from './kinds.ts'
import { resumedMoment, waitFor } from './plans.ts'
import { checkQuota, quotaOf } from './quotas.ts'
import { clearCollection } from './removals.ts'
import { collectionAnswer, collectionBody, listAnswer, type SentCollection } from './shapes.ts'

const ALL = inSubscription(COLLECTION_TYPE)
const SETTLE_STEP = 'settle jobs'
const SETTLE_MAX = 100

export const collectionKey = {
  ...group,
  jobCollectionName: text.regex(
    /^[a-zA-Z][a-zA-Z0-9_-]{0,99}$/,
    'must be a letter, then at most 99 letters, digits, underscores or hyphens',
  ),
}

const polling = armOperations({ area: AREA, version: VERSION })

export const collection = armResource<JobCollection>({
  type: COLLECTION_TYPE,
  path: COLLECTION,
  version: VERSION,
  kind: collections,
  body: 'jobCollection',
  announces: 'scheduler.jobCollection',
  polling,
  isRemovedAtOnce: async (found, tx) => !(await hasJobs(found, tx)),
  clear: clearCollection,
  accept,
})

const body = { ...collectionKey, jobCollection: collectionBody }
const one = { answer: collectionAnswer, show: showCollection }
const changed = { ...one, body: 'jobCollection' }
const written = { ...changed, status: [201, 200] }
const page = { answer: listAnswer(collectionAnswer), show: showCollections }
const accepted = { status: [200, 202] }
const { statusPath: STATUS, resultPath: RESULT, input: polledKey } = polling
const polled = { answer: statusAnswer, isBeyond: true }
const ended = { status: [200, 202, 204], show: polling.showResult, isBeyond: true }

export const operations = [
  operation({
    name: 'jobCollections',
    rest: get(ALL, page),
    input: { ...subscription, ...paging },
    run: collection.listBySubscription,
  }),
  operation({
    name: 'jobCollectionsByGroup',
    rest: get(COLLECTIONS, page),
    input: { ...group, ...paging },
    run: collection.listByGroup,
  }),
  operation({
    name: 'jobCollection',
    rest: get(COLLECTION, one),
    input: collectionKey,
    run: collection.get,
  }),
  operation({
    name: 'putJobCollection',
    rest: put(COLLECTION, written),
    input: body,
    run: collection.put,
  }),
  operation({
    name: 'patchJobCollection',
    rest: patch(COLLECTION, changed),
    input: body,
    run: collection.patch,
  }),
  operation({
    name: 'deleteJobCollection',
    rest: del(COLLECTION, accepted),
    input: collectionKey,
    run: removeCollection,
  }),
  operation({
    name: 'enableJobCollection',
    rest: post(`${COLLECTION}/enable`, accepted),
    input: collectionKey,
    run: (input, ctx) => turn('Enabled', input, ctx),
  }),
  operation({
    name: 'disableJobCollection',
    rest: post(`${COLLECTION}/disable`, accepted),
    input: collectionKey,
    run: (input, ctx) => turn('Disabled', input, ctx),
  }),
  operation({
    name: 'schedulerOperationStatus',
    rest: get(STATUS, polled),
    input: polledKey,
    run: polling.status,
  }),
  operation({
    name: 'schedulerOperationResult',
    rest: get(RESULT, ended),
    input: polledKey,
    run: polling.result,
  }),
]

export const kinds = [collections, ...polling.kinds]
export const steps = { ...collection.steps, ...polling.steps, [SETTLE_STEP]: settleJobs }

async function accept(
  sent: SentCollection,
  { id, before, tx, ctx }: Acceptance<JobCollection>,
): Promise<Accepted<JobCollection>> {
  const asked: Partial<NonNullable<SentCollection['properties']>> = sent.properties ?? {}
  // Chosen: what is left out is Standard and Enabled at first, and later stays as it is.
  const sku = asked.sku ?? before?.properties.sku ?? { name: 'Standard' }
  const is = before?.properties.state
  const state = asked.state ?? is ?? 'Enabled'
  if (state !== 'Enabled' && state !== 'Disabled') {
    throw refuse('properties.state', 'must be Enabled or Disabled, since the rest is not asked for')
  }
  const quota = asked.quota && completed(asked.quota)
  await checkQuota({ sku, quota }, id, tx)
  if (is && is !== state) await settleJobsLater(armKey({ id }), { tx, ctx })
  const location = sent.location ?? before?.location
  return { ...(location && { location }), tags: sent.tags, properties: { sku, quota, state } }
}

type SentQuota = NonNullable<NonNullable<SentCollection['properties']>['quota']>

const completed = ({ maxRecurrence, ...quota }: SentQuota) => ({
  ...quota,
  maxRecurrence: maxRecurrence && { ...maxRecurrence, interval: maxRecurrence.interval ?? 1 },
})

/** Chosen: 404 where there is none, since 204 is not documented here. */
async function removeCollection(input: Input, ctx: Context) {
  const removed = (await collection.remove(input, ctx)) as Reply
  if (removed.status === 204) throw missing(idAt(COLLECTION, checkSubscription(input, ctx)))
  return removed
}

/**
 * Enables or disables. It holds from this moment on; where there are jobs to be planned anew or
 * freed of their plan, that goes on (202).
 */
async function turn(state: 'Enabled' | 'Disabled', input: Input, ctx: Context) {
  const asked = checkSubscription(input, ctx)
  const id = idAt(COLLECTION, asked)
  const key = armKey({ id })
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(collections, key)
    if (!before) throw missing(id)
    checkIfMatch(ctx.headers['if-match'], before)
    if (isLeaving(before)) {
      throw AnotherOperationInProgress(`The job collection ${before.name} is being deleted.`)
    }
    const running = await runningOperation(tx, key)
    const isThere = before.properties.state === state
    // Asking again is answered with what is under way.
    if (isThere) return running ? reply(202, null, polling.headers(ctx, running)) : reply(200)
    if (running) {
      throw AnotherOperationInProgress(
        `The job collection ${before.name} is being ${before.properties.state.toLowerCase()}. Wait until that has ended.`,
      )
    }
    await tx.save(collections, { ...before, properties: { ...before.properties, state } })
    const { name, type } = before
    await ctx.events.announce(tx, {
      type: 'scheduler.jobCollection.changed',
      subject: before.id,
      body: { id: before.id, name, type },
    })
    if (!(await hasJobs(before, tx))) return reply(200)
    const location = plainLocation(before.location ?? 'global')
    const { subscriptionId } = asked as { subscriptionId: string }
    const begun = await beginOperation(tx, ctx, { subscriptionId, location, target: key })
    await settleJobsLater(key, { tx, ctx })
    return reply(202, null, polling.headers(ctx, begun))
  })
}

/** Plans the jobs of a collection, such as those that were just put back. */
export const settleJobsLater = (
  key: string,
  { tx, ctx }: { tx: Records; ctx: Context },
): Promise<void> => ctx.work.later(tx, 0, SETTLE_STEP, { key })

async function hasJobs({ id }: JobCollection, tx: Records): Promise<boolean> {
  const { items } = await tx.list(jobs, { prefix: `${armKey({ id })}/`, limit: 1 })
  return items.length > 0
}

interface Settling {
  readonly key: string
  readonly after?: string | undefined
}

/** Plans the jobs of a collection as its state has it, a batch in each step. */
async function settleJobs({ key, after }: Settling, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const found = await tx.get(collections, key)
    // Its removal ends what is under way.
    if (!found || isLeaving(found)) return
    const { items, next } = await tx.list(jobs, { prefix: `${key}/`, after, limit: SETTLE_MAX })
    for (const job of items) await settleJob(job, found, { tx, ctx })
    if (next !== undefined) return ctx.work.later(tx, 0, SETTLE_STEP, { key, after: next })
    const running = await runningOperation(tx, key)
    if (running) await endOperation(tx, ctx, running)
  })
}

/**
 * Chosen: what fell due while the collection was disabled is not made up for, but for a job that is
 * to run once.
 */
async function settleJob(
  job: Job,
  collection: JobCollection,
  { tx, ctx }: { tx: Records; ctx: Context },
): Promise<void> {
  const { plan, properties } = job
  if (properties.state !== 'Enabled') return
  if (!isRunning(collection)) {
    if (plan.due !== null) await tx.save(jobs, { ...job, plan: { ...plan, due: null } })
    return
  }
  const nowMs = ctx.clock.now().getTime()
  // The step of a later moment still waits. That of an earlier one may have come in vain.
  if (plan.due !== null && plan.due > nowMs) return
  const due = plan.due ?? resumedMoment(job, nowMs)
  if (due !== undefined) {
    const after = { ...job, plan: { ...plan, due } }
    await tx.save(jobs, after)
    await waitFor(after, { tx, ctx })
    return
  }
  // Its end passed meanwhile, unless its last run is still under way and ends it.
  const { items } = await tx.list(executions, { prefix: `${armKey(job)}/`, limit: 1 })
  if (items.length > 0) return
  await tx.save(jobs, { ...job, properties: { ...properties, state: 'Completed' } })
}

export async function findCollection(input: Input, ctx: Context): Promise<JobCollection> {
  const id = idAt(COLLECTION, checkSubscription(input, ctx))
  const found = await ctx.store.get(collections, armKey({ id }))
  if (!found) throw missing(id)
  return found
}

const missing = (id: string) => ResourceNotFound(`The resource ${id} was not found.`)

/** A collection as answers show it. */
function showCollection(found: JobCollection) {
  const { id, name, type, location, tags } = found
  return { id, name, type, location, tags, properties: showProperties(found) }
}

export function showProperties(found: JobCollection) {
  const { sku, state } = found.properties
  return { sku, state: isLeaving(found) ? 'Deleted' : state, quota: quotaOf(found.properties) }
}

function showCollections({ value, nextLink }: { value: JobCollection[]; nextLink?: string }) {
  return { value: value.map(showCollection), nextLink }
}
