// Runs: exactly one for every moment that falls due. Specification 3, service J.
//
// 1. A run is claimed in a transaction on the job's record, which takes the moment away, plans the
//    next one and notes the execution, whose key is the job and the moment.
// 2. A step that runs again after a crash finds the execution that it claimed and goes on with it.
//    Another step of the same moment, or of an earlier plan, finds nothing to claim.
// 3. The outcome of an attempt is recorded once, in the transaction that ends the execution or puts
//    it off until the next attempt.
// 4. A call that was made and whose outcome was not recorded before a crash is made again, with the
//    same tag: nothing can tell whether it arrived. The history shows it once.
import type { Context } from '../kernel/context.ts'
import { operation, post, reply } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import { armKey } from '../families/arm.ts'
import { ResourceNotFound } from '../families/arm-errors.ts'
import { checkSubscription, idAt } from '../families/arm-paths.ts'
import { actionOf, carryOut, retryMsOf, type Outcome } from './actions.ts'
import { JobCollectionNotEnabled, JobStateNotAllowed } from './errors.ts'
import { keep } from './history.ts'
import {
  collectionKeyOf,
  collections,
  executions,
  isRunning,
  JOB,
  jobs,
  type Execution,
  type Job,
} from './kinds.ts'
import { followingMoment, RUN_STEP, waitFor, type DueRun } from './plans.ts'
import { jobKey } from './jobs.ts'

const ATTEMPT_STEP = 'attempt execution'

const STOPPED: Outcome = {
  isDone: false,
  mayRetry: false,
  message: 'The job or its collection was disabled before this attempt.',
}

export const operations = [
  operation({
    name: 'runSchedulerJob',
    rest: post(`${JOB}/run`),
    input: jobKey,
    run: runNow,
  }),
]

export const kinds = [executions]
export const steps = { [RUN_STEP]: runDue, [ATTEMPT_STEP]: runAttempt }

interface At {
  readonly tx: Records
  readonly ctx: Context
}

/** Runs a job at its moment. */
async function runDue(run: DueRun, ctx: Context): Promise<void> {
  const execution = await ctx.store.transaction((tx) => claim(run, { tx, ctx }))
  if (execution) await attempt(execution, ctx)
}

async function claim(run: DueRun, { tx, ctx }: At): Promise<Execution | undefined> {
  const job = await tx.get(jobs, run.job)
  if (!job || job.incarnation !== run.incarnation) return undefined
  const key = executionKeyOf(run.job, nameOf(run.due))
  const isDue = job.properties.state === 'Enabled' && job.plan.due === run.due
  if (!isDue || !isRunning(await tx.get(collections, collectionKeyOf(run.job)))) {
    const begun = await tx.get(executions, key)
    // What waits for its next attempt has a step of its own.
    return begun?.claim === run.claim && begun.retryCount === 0 ? begun : undefined
  }
  const plan = { ...job.plan, runs: job.plan.runs + 1, last: run.due }
  const nowMs = ctx.clock.now().getTime()
  const due = followingMoment({ ...job, plan }, nowMs) ?? null
  const execution: Execution = {
    key,
    job: run.job,
    incarnation: run.incarnation,
    claim: run.claim,
    expected: run.due,
    actionName: 'MainAction',
    retryCount: 0,
    repeatCount: job.plan.runs,
    ends: due === null ? plan.serial : undefined,
  }
  const after: Job = { ...job, plan: { ...plan, due }, counts: begin(job, ctx) }
  await tx.insert(executions, execution)
  await tx.save(jobs, after)
  await waitFor(after, { tx, ctx })
  return execution
}

/** Runs a job because someone asks for it, beside its plan. */
async function runNow(input: Record<string, any>, ctx: Context) {
  const id = idAt(JOB, checkSubscription(input, ctx))
  const key = armKey({ id })
  return ctx.store.transaction(async (tx) => {
    const job = await tx.get(jobs, key)
    if (!job) throw ResourceNotFound(`The resource ${id} was not found.`)
    // Chosen: a job that has ended can be run again; one that is disabled must be enabled first.
    if (job.properties.state === 'Disabled') {
      throw JobStateNotAllowed(`The job ${job.name} is disabled. Enable it, then run it.`)
    }
    if (!isRunning(await tx.get(collections, collectionKeyOf(key)))) {
      throw JobCollectionNotEnabled(`The job collection of ${job.name} is not enabled.`)
    }
    const nowMs = ctx.clock.now().getTime()
    const execution: Execution = {
      key: executionKeyOf(key, `${nameOf(nowMs)}-run-${ctx.newId()}`),
      job: key,
      incarnation: job.incarnation,
      claim: '',
      expected: nowMs,
      actionName: 'MainAction',
      retryCount: 0,
      repeatCount: job.plan.runs,
    }
    await tx.insert(executions, execution)
    await tx.save(jobs, { ...job, counts: begin(job, ctx) })
    await attemptLater(execution, 0, { tx, ctx })
    return reply(200)
  })
}

const begin = ({ counts }: Job, ctx: Context): Job['counts'] => ({
  ...counts,
  executionCount: counts.executionCount + 1,
  lastExecutionTime: ctx.clock.now().toISOString(),
})

/** A moment as a name that sorts by time. */
const nameOf = (ms: number) =>
  new Date(ms)
    .toISOString()
    .replace(/\.\d+|[-:]/g, '')
    .toLowerCase()

const executionKeyOf = (job: string, name: string) => `${job}/executions/${name}`

interface Attempt {
  readonly key: string
  readonly retryCount: number
}

const attemptLater = ({ key, retryCount }: Execution, delayMs: number, { tx, ctx }: At) =>
  ctx.work.later(tx, delayMs, ATTEMPT_STEP, { key, retryCount } satisfies Attempt)

async function runAttempt({ key, retryCount }: Attempt, ctx: Context): Promise<void> {
  const execution = await ctx.store.get(executions, key)
  if (execution?.retryCount === retryCount) await attempt(execution, ctx)
}

async function attempt(execution: Execution, ctx: Context): Promise<void> {
  const [job, collection] = await Promise.all([
    ctx.store.get(jobs, execution.job),
    ctx.store.get(collections, collectionKeyOf(execution.job)),
  ])
  const startTime = ctx.clock.now().toISOString()
  // Whoever disables a job wants its calls to stop, those of a run that has begun too.
  const isOwn = job?.incarnation === execution.incarnation
  const mayRun = isOwn && job.properties.state !== 'Disabled' && isRunning(collection)
  const outcome = mayRun ? await carryOut(job, execution, ctx) : STOPPED
  await ctx.store.transaction((tx) => record(execution, { ...outcome, startTime }, { tx, ctx }))
}

type Ended = Outcome & { readonly startTime: string }

async function record(execution: Execution, outcome: Ended, { tx, ctx }: At): Promise<void> {
  const { key, retryCount, actionName } = execution
  const current = await tx.get(executions, key)
  // Another run of this step recorded it.
  if (current?.retryCount !== retryCount) return
  const job = await tx.get(jobs, execution.job)
  if (job?.incarnation !== execution.incarnation) {
    await tx.remove(executions, key)
    return
  }
  const action = actionOf(job.properties.action, actionName)
  const retryMs =
    !outcome.isDone && outcome.mayRetry && action ? retryMsOf(action, retryCount) : undefined
  const hasEnded = retryMs === undefined
  const status = outcome.isDone ? 'Completed' : hasEnded ? 'Failed' : 'Postponed'
  const kept = await keep(job, execution, { ...outcome, status }, { tx, ctx })
  if (hasEnded) {
    await tx.remove(executions, key)
    await followUp(job, execution, status, { tx, ctx })
  } else {
    const next = { ...current, retryCount: retryCount + 1 }
    await tx.save(executions, next)
    await attemptLater(next, retryMs, { tx, ctx })
  }
  await tx.save(jobs, { ...(await settled(job, execution, status, { tx, ctx })), counts: kept })
}

/** Calls the error action of a run that failed for good. */
async function followUp(job: Job, execution: Execution, status: string, at: At): Promise<void> {
  const isToRun = status === 'Failed' && execution.actionName === 'MainAction'
  if (!isToRun || !job.properties.action.errorAction) return
  const { ends: _, ...run } = execution
  const next: Execution = {
    ...run,
    key: `${execution.key}-error`,
    actionName: 'ErrorAction',
    retryCount: 0,
  }
  await at.tx.insert(executions, next)
  await attemptLater(next, 0, at)
}

/** A job ends with the last run of its plan: Completed, or Faulted where that run failed. */
async function settled(job: Job, execution: Execution, status: string, { tx, ctx }: At) {
  const { ends, actionName } = execution
  const isLast = ends !== undefined && ends === job.plan.serial && actionName === 'MainAction'
  if (!isLast || status === 'Postponed' || job.properties.state !== 'Enabled') return job
  const state = status === 'Completed' ? ('Completed' as const) : ('Faulted' as const)
  const { id, name, type } = job
  await ctx.events.announce(tx, {
    type: `scheduler.job.${state.toLowerCase()}`,
    subject: id,
    body: { id, name, type },
  })
  return { ...job, properties: { ...job.properties, state } }
}
