// The step that waits for the next moment of a plan: one for each plan, and none for later moments.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { plans, type Plan } from './kinds.ts'

export const PLAN_STEP = 'runBackupPlan'

/** What the step knows of the moment that it waits for. */
export interface DuePlan {
  readonly Key: string
  readonly VersionId: string
  readonly DueMs: number
}

export async function waitForPlan(tx: Records, plan: Plan, ctx: Context): Promise<void> {
  if (plan.DueMs === null) return
  const { VersionId, DueMs } = plan
  const due: DuePlan = { Key: plans.key(plan), VersionId, DueMs }
  await ctx.work.later(tx, Math.max(0, DueMs - ctx.clock.now().getTime()), PLAN_STEP, due)
}
