// Jobs: what is called, and when. Specification 3, service J.
import { isDeepStrictEqual } from 'node:util'
import { armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { AnotherOperationInProgress, ResourceNotFound } from '../families/arm-errors.ts'
import type { FilterFields } from '../families/arm-filter.ts'
import { under } from '../families/arm-lists.ts'
import { checkSubscription, idAt, type Input } from '../families/arm-paths.ts'
import { filtering, scanAt } from '../families/arm-scan.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, patch, put, type Reply } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { acceptAction } from './actions.ts'
import { JobStateNotAllowed, refuse } from './errors.ts'
import { collectionKey, findCollection } from './job-collections.ts'
import {
  collectionKeyOf,
  collections,
  isLeaving,
  isRunning,
  JOB,
  JOB_TYPE,
  JOBS,
  jobs,
  shownNameOf,
  VERSION,
  type Job,
  type JobCollection,
  type JobState,
  type Plan,
} from './kinds.ts'
import { resumedMoment, waitFor } from './plans.ts'
import { clearJob } from './removals.ts'
import { checkJobCount, checkRecurrence, quotaOf } from './quotas.ts'
import { acceptRecurrence, offsetOf, wholeSeconds, zoned, type Timing } from './recurrences.ts'
import { jobAnswer, jobBody, listAnswer, type SentJob } from './shapes.ts'

const PAGE_MAX = 100

export const jobKey = {
  ...collectionKey,
  jobName: text.regex(
    /^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,99}$/,
    'must be 1 to 100 letters, digits, underscores or hyphens, and must not begin with a hyphen',
  ),
}

/** The inputs of a list that is filtered: a page is of 1 to 100. */
export const filtered = {
  ...filtering,
  $top: optional(
    whole.refine((top) => top >= 1 && top <= PAGE_MAX, `must be from 1 to ${PAGE_MAX}`),
  ),
}

export const job = armResource<Job>({
  type: JOB_TYPE,
  path: JOB,
  version: VERSION,
  kind: jobs,
  body: 'job',
  announces: 'scheduler.job',
  accept,
  clear: clearJob,
})

const body = { ...jobKey, job: jobBody }
const one = { answer: jobAnswer, show: showJob }
const changed = { ...one, body: 'job' }
const written = { ...changed, status: [201, 200] }
const page = { answer: listAnswer(jobAnswer), show: showJobs }

export const operations = [
  operation({ name: 'putSchedulerJob', rest: put(JOB, written), input: body, run: job.put }),
  operation({ name: 'patchSchedulerJob', rest: patch(JOB, changed), input: body, run: job.patch }),
  operation({ name: 'schedulerJob', rest: get(JOB, one), input: jobKey, run: job.get }),
  operation({ name: 'deleteSchedulerJob', rest: del(JOB), input: jobKey, run: removeJob }),
  operation({
    name: 'schedulerJobs',
    rest: get(JOBS, page),
    input: { ...collectionKey, ...filtered },
    run: listJobs,
  }),
]

export const kinds = [jobs]
export const steps = job.steps

const fields: FilterFields<Job> = {
  state: { type: 'text', of: ({ properties }) => properties.state },
}

async function listJobs(input: Input, ctx: Context) {
  await findCollection(input, ctx)
  const select = (named: Input) => under(JOBS, named)
  return scanAt({ kind: jobs, version: VERSION }, { path: JOBS, select, fields }, input, ctx)
}

/** Chosen: 404 where there is none, since 204 is not documented here. */
async function removeJob(input: Input, ctx: Context) {
  const removed = (await job.remove(input, ctx)) as Reply
  if (removed.status === 204) throw missing(idAt(JOB, checkSubscription(input, ctx)))
  return removed
}

export async function findJob(input: Input, ctx: Context): Promise<Job> {
  const id = idAt(JOB, checkSubscription(input, ctx))
  const found = await ctx.store.get(jobs, id.toLowerCase())
  if (!found) throw missing(id)
  return found
}

const missing = (id: string) => ResourceNotFound(`The resource ${id} was not found.`)

/** A job as answers show it. */
function showJob(job: Job) {
  const { id, type } = job
  return { id, name: shownNameOf(id), type, properties: showProperties(job) }
}

export function showProperties({ properties, plan, counts }: Job) {
  const { startTime, action, recurrence, state } = properties
  const { executionCount, failureCount, faultedCount, lastExecutionTime } = counts
  const nextExecutionTime = plan.due === null ? undefined : new Date(plan.due).toISOString()
  const times = { lastExecutionTime, nextExecutionTime }
  const status = { executionCount, failureCount, faultedCount, ...times }
  return { startTime, action, recurrence, state, status }
}

function showJobs({ value, nextLink }: { value: Job[]; nextLink?: string }) {
  return { value: value.map(showJob), nextLink }
}

async function accept(sent: SentJob, at: Acceptance<Job>): Promise<Accepted<Job>> {
  const { id, before, tx, ctx } = at
  const collection = await holderOf(id, tx)
  if (!before) await checkJobCount(collection, tx)
  const asked: Partial<NonNullable<SentJob['properties']>> = sent.properties ?? {}
  const now = new Date(wholeSeconds(ctx.clock.now().getTime())).toISOString()
  const startTime = zoned(asked.startTime ?? before?.properties.startTime ?? now)
  const recurrence = asked.recurrence && acceptRecurrence(asked.recurrence, startTime)
  checkRecurrence(recurrence, quotaOf(collection.properties), id.slice(id.lastIndexOf('/') + 1))
  const kept = { action: before?.properties.action, passwords: before?.passwords ?? {} }
  const { action, passwords } = acceptAction(asked.action, { id, before: kept, ctx })
  const isReplanned = !before || !isSame({ startTime, recurrence }, before.properties)
  const state = stateOf(asked.state, { before, isReplanned })
  const properties = { startTime, action, recurrence, state }
  const plan = planOf(properties, { before, isReplanned, collection, ctx })
  const incarnation = before?.incarnation ?? ctx.newId()
  const none = { executionCount: 0, failureCount: 0, faultedCount: 0, history: 0 }
  const isMoved = plan.due !== before?.plan.due
  if (isMoved) await waitFor({ id, incarnation, plan }, { tx, ctx })
  return { properties, passwords, incarnation, plan, counts: before?.counts ?? none }
}

/** The collection that a job is in or is to be in. */
export async function holderOf(jobId: string, tx: Records): Promise<JobCollection> {
  const holder = await tx.get(collections, collectionKeyOf(jobId))
  if (!holder) throw missing(jobId.slice(0, jobId.lastIndexOf('/jobs/')))
  if (!isLeaving(holder)) return holder
  throw AnotherOperationInProgress(`The job collection ${holder.name} is being deleted.`)
}

/** Whether two say the same, however their moments are spelled and where nothing is spelled out. */
const isSame = (one: Timing, other: Timing) => isDeepStrictEqual(plainly(one), plainly(other))

const plainly = ({ startTime, recurrence }: Timing): unknown => {
  const endTime = recurrence?.endTime && Date.parse(recurrence.endTime)
  const start = [Date.parse(startTime), offsetOf(startTime)]
  return JSON.parse(JSON.stringify({ start, recurrence: recurrence && { ...recurrence, endTime } }))
}

const ENDED: ReadonlySet<JobState> = new Set(['Completed', 'Faulted'])

interface Change {
  readonly before: Job | undefined
  /** Whether the job is to run at other moments than before. */
  readonly isReplanned: boolean
}

/**
 * The state that a job is to have. What is left out stays; a job that has ended and gets another
 * plan begins anew.
 */
function stateOf(asked: JobState | undefined, { before, isReplanned }: Change): JobState {
  const is = before?.properties.state
  if (asked === undefined || asked === is) {
    return is && !(isReplanned && ENDED.has(is)) ? is : 'Enabled'
  }
  if (ENDED.has(asked)) {
    throw JobStateNotAllowed(`A job becomes ${asked} by its runs alone. Send Enabled or Disabled.`)
  }
  if (asked === 'Disabled' && is && ENDED.has(is) && !isReplanned) {
    throw JobStateNotAllowed(`The job is ${is} and has no run ahead that could be disabled.`)
  }
  return asked
}

function planOf(
  properties: Job['properties'],
  { before, isReplanned, collection, ctx }: Change & { collection: JobCollection; ctx: Context },
): Plan {
  const { state } = properties
  const nowMs = ctx.clock.now().getTime()
  if (before && !isReplanned && before.properties.state === state) return before.plan
  const isRestarted = isReplanned || (before && ENDED.has(before.properties.state))
  const { last } = before?.plan ?? {}
  const plan: Plan = isRestarted
    ? { due: null, runs: 0, last, serial: ctx.newId() }
    : { ...before!.plan, due: null }
  const moment = resumedMoment({ properties, plan }, nowMs)
  if (moment === undefined && (state === 'Enabled' || isReplanned)) {
    if (isReplanned) throw refuse('properties.recurrence', 'leaves no moment at which to run')
    throw JobStateNotAllowed(
      'The job has no run ahead. Change startTime or recurrence, or ask for a run.',
    )
  }
  const isToRun = state === 'Enabled' && isRunning(collection)
  return { ...plan, due: isToRun ? moment! : null }
}
