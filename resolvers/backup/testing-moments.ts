// The step that waits for the next moment of a restore testing plan.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { testingPlans, type TestingPlan } from './testing-records.ts'

export const TEST_STEP = 'runBackupRestoreTests'

export async function waitForTest(tx: Records, plan: TestingPlan, ctx: Context): Promise<void> {
  if (plan.DueMs === null) return
  const due = { Key: testingPlans.key(plan), DueMs: plan.DueMs }
  await ctx.work.later(tx, Math.max(0, plan.DueMs - ctx.clock.now().getTime()), TEST_STEP, due)
}
