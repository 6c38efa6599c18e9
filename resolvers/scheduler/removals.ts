// What goes with a job, and with a collection. Specification 3, service J.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { armKey } from '../families/arm.ts'
import { executions, history, jobs, type Job, type JobCollection } from './kinds.ts'

const BATCH_MAX = 1_000
const JOBS_MAX = 20
/** More than a job keeps. */
const HISTORY_READ_MAX = 2_000

/** Removes what a job leaves behind. A step that still waits for it finds nothing to do. */
export async function clearJob({ id }: Pick<Job, 'id'>, tx: Records): Promise<boolean> {
  const prefix = `${armKey({ id })}/`
  await tx.removeMany(executions, { prefix, limit: BATCH_MAX })
  await tx.removeMany(history, { prefix, limit: HISTORY_READ_MAX })
  return true
}

/** Removes a batch of a collection's jobs with all that is theirs. Returns whether none is left. */
export async function clearCollection(
  { id }: JobCollection,
  tx: Records,
  ctx: Context,
): Promise<boolean> {
  const prefix = `${armKey({ id })}/`
  const { items } = await tx.list(jobs, { prefix, limit: JOBS_MAX })
  for (const job of items) {
    await tx.remove(jobs, armKey(job))
    const { id, name, type } = job
    await ctx.events.announce(tx, {
      type: 'scheduler.job.deleted',
      subject: id,
      body: { id, name, type },
    })
  }
  if (items.length > 0) return false
  // With its job, what was under way has nothing to write to, so that this comes to an end.
  const entries = await tx.removeMany(history, { prefix, limit: BATCH_MAX })
  const begun = await tx.removeMany(executions, { prefix, limit: BATCH_MAX })
  return entries < BATCH_MAX && begun < BATCH_MAX
}
