// Forgets what nobody asks for any more: old jobs, old reports, old tokens of requests.
import type { Context } from '../kernel/context.ts'
import { reportJobs } from './audit-records.ts'
import { backupJobs, copyJobs, restoreJobs } from './job-records.ts'
import { forgetJob } from './report-jobs.ts'
import { sweepTokens } from './request-tokens.ts'
import { DAY_MS } from './shapes.ts'

/** Chosen: a job can be read for two years after it was made; clients expect thirty days. */
const KEPT_MS = 730 * DAY_MS
const BATCH = 1_000
const REPORTS_BATCH = 50

export async function sweep(ctx: Context): Promise<void> {
  await sweepTokens(ctx)
  const old = { order: 'createdMs', below: ctx.clock.now().getTime() - KEPT_MS }
  for (const kind of [backupJobs, copyJobs, restoreJobs]) {
    while ((await ctx.store.removeMany<any>(kind, { ...old, limit: BATCH })) === BATCH);
  }
  let found: number
  do {
    found = await ctx.store.transaction(async (tx) => {
      const { items } = await tx.list(reportJobs, { ...old, limit: REPORTS_BATCH })
      for (const job of items) await forgetJob(tx, job, ctx)
      return items.length
    })
  } while (found === REPORTS_BATCH)
}
