// What goes away: at once for those who look, and in the background for all that hangs on it.
//
// 1. A contribution that was deleted is out of every list and answers to nobody, from the same moment
//    on. Its likes, flags, answers and files follow, a batch in each transaction, its record last: a
//    crash in between leaves a step that goes on.
// 2. The contributions of a deleted assignment are deleted like that, some in each step.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { flags } from './flags.ts'
import { formResponses } from './form-records.ts'
import { likes } from './like-records.ts'
import { dropLine, scopeOf } from './lines.ts'
import { removeMedia } from './media.ts'
import { contributions, type Contribution } from './records.ts'

const CONTRIBUTIONS_AT_ONCE = 50
const RECORDS_AT_ONCE = 500
const REMOVAL_STEP = 'finishContributionRemoval'
export const CONTRIBUTIONS_STEP = 'removeContributionsOfAssignment'
export const RESPONSES_STEP = 'removeResponsesOfForm'

export const steps = {
  [REMOVAL_STEP]: finishRemoval,
  [CONTRIBUTIONS_STEP]: removeContributionsOf,
  [RESPONSES_STEP]: removeResponsesOf,
}

/** Deletes a contribution for everyone who looks. */
export async function removeContribution(
  tx: Records,
  contribution: Contribution,
  ctx: Context,
): Promise<void> {
  const { id } = contribution
  await dropLine(tx, contribution)
  await tx.save(contributions, { ...contribution, removed: ctx.clock.now().toISOString() })
  await ctx.work.later(tx, 0, REMOVAL_STEP, { id })
  await ctx.events.announce(tx, {
    type: 'contributions.contribution.deleted',
    subject: id,
    body: { id },
  })
}

async function finishRemoval({ id }: { id: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, id)
    if (!contribution?.removed) return
    const removed = [
      await tx.removeMany(likes, { prefix: `${id}/`, limit: RECORDS_AT_ONCE }),
      await tx.removeMany(flags, { prefix: `${id}/`, limit: RECORDS_AT_ONCE }),
      await tx.removeMany(formResponses, { where: { contribution: id }, limit: RECORDS_AT_ONCE }),
    ]
    const [file, ...others] = contribution.media
    if (file !== undefined) await removeMedia(tx, file, ctx)
    const isDone = others.length === 0 && removed.every((count) => count < RECORDS_AT_ONCE)
    if (isDone) {
      await tx.remove(contributions, id)
      return
    }
    await tx.save(contributions, { ...contribution, media: others })
    await ctx.work.later(tx, 0, REMOVAL_STEP, { id })
  })
}

async function removeContributionsOf(
  { assignment }: { assignment: string },
  ctx: Context,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const rows = await tx.sql('SELECT id FROM contribution_line WHERE assignment = ? LIMIT ?', [
      assignment,
      CONTRIBUTIONS_AT_ONCE,
    ])
    const ids = rows.map((row) => row['id'] as string)
    for (const contribution of await tx.getMany(contributions, ids)) {
      await removeContribution(tx, contribution!, ctx)
    }
    if (ids.length > 0) {
      await ctx.work.later(tx, 0, CONTRIBUTIONS_STEP, { assignment })
      return
    }
    const scope = scopeOf.assignment(assignment)
    await tx.sql('DELETE FROM contribution_count WHERE scope = ?', [scope])
    await tx.sql('DELETE FROM contribution_total WHERE scope = ?', [scope])
  })
}

async function removeResponsesOf({ form }: { form: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const removed = await tx.removeMany(formResponses, { where: { form }, limit: RECORDS_AT_ONCE })
    if (removed === RECORDS_AT_ONCE) await ctx.work.later(tx, 0, RESPONSES_STEP, { form })
  })
}
