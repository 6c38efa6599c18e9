// Removes what a model left behind when it was changed or deleted: all that its last revision made.
import type { Context } from '../kernel/context.ts'
import type { Kind, Records } from '../kernel/store.ts'
import { alarms, detectors, notifications, watches } from './instances.ts'

const REMOVED_MAX = 500
const REMOVE_STEP = 'removeInstances'

/** Nobody finds these any more, since what is found is under the model's present revision. */
export const leaveBehind = (
  tx: Records,
  type: 'detector' | 'alarm',
  scope: string,
  ctx: Context,
): Promise<void> => ctx.work.later(tx, 0, REMOVE_STEP, { type, scope })

export const steps = { [REMOVE_STEP]: removeSome }

/** Removes some, and comes back for the rest. */
async function removeSome(
  { type, scope }: { type: 'detector' | 'alarm'; scope: string },
  ctx: Context,
): Promise<void> {
  const kinds: readonly Kind<any>[] = type === 'detector' ? [detectors] : [notifications, alarms]
  await ctx.store.transaction(async (tx) => {
    let removed = 0
    for (const kind of kinds) {
      const limit = REMOVED_MAX - removed
      if (limit > 0) removed += await tx.removeMany(kind, { prefix: `${scope}/`, limit })
    }
    const limit = REMOVED_MAX - removed
    if (type === 'alarm' && limit > 0) {
      removed += await tx.removeMany(watches, { where: { scope }, limit })
    }
    if (removed >= REMOVED_MAX) await ctx.work.later(tx, 0, REMOVE_STEP, { type, scope })
  })
}
