// Plans: when a job runs next, and the step that waits for that moment. Specification 3, service J.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { armKey } from '../families/arm.ts'
import type { Job, Plan } from './kinds.ts'
import { firstMoment, momentAfter } from './recurrences.ts'

export const RUN_STEP = 'run job'

/** What the step knows of the run that it waits for. */
export interface DueRun {
  readonly job: string
  readonly incarnation: string
  readonly due: number
  readonly claim: string
}

interface At {
  readonly tx: Records
  readonly ctx: Context
}

type Planned = Pick<Job, 'properties'> & { readonly plan: Plan }

/** The moment at which a plan goes on, seen from now; undefined when it has come to its end. */
export function resumedMoment({ properties, plan }: Planned, nowMs: number): number | undefined {
  return isSpent({ properties, plan }) ? undefined : firstMoment(properties, nowMs, plan.last)
}

/**
 * The moment after a run.
 * Chosen: a job that missed moments, while nothing ran here, has run once for all of them and goes
 * on from now.
 */
export function followingMoment({ properties, plan }: Planned, nowMs: number): number | undefined {
  return isSpent({ properties, plan })
    ? undefined
    : momentAfter(properties, Math.max(nowMs, plan.due ?? 0))
}

const isSpent = ({ properties: { recurrence }, plan }: Planned): boolean =>
  plan.runs >= (recurrence ? (recurrence.count ?? Infinity) : 1)

/** Lets a step wait for the moment that is planned. */
export async function waitFor(
  { id, incarnation, plan }: Pick<Job, 'id' | 'incarnation' | 'plan'>,
  { tx, ctx }: At,
): Promise<void> {
  if (plan.due === null) return
  const run: DueRun = { job: armKey({ id }), incarnation, due: plan.due, claim: ctx.newId() }
  const delayMs = Math.max(0, plan.due - ctx.clock.now().getTime())
  await ctx.work.later(tx, delayMs, RUN_STEP, run)
}
