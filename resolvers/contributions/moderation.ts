// Moderation: decisions about contributions, and a record of each. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { isInJurisdiction, MODERATE, mayDecide, maySee, personOf } from './access.ts'
import { logChange } from './change-log.ts'
import { invalidField, missing } from './errors.ts'
import { changeLine } from './lines.ts'
import { ACTIONS, isAction } from './moderation-states.ts'
import { contributions, type Contribution } from './records.ts'
import { id } from './shapes.ts'

const NOTES_CHARS_MAX = 5_000
const DECISIONS_MAX = 200
const EMBARGO_STEP = 'endEmbargo'

export const operations = [
  operation({
    name: 'moderateContribution',
    rest: post('/contributions/{id}/moderate', {
      show: ({ state }: Contribution) => state,
      answer: z.string(),
    }),
    refuses: {
      400: 'There is no such action.',
      401: 'The request is not correctly authorised.',
      403: 'The contribution is not in your jurisdiction.',
      404: 'There is no such contribution.',
      500: 'The service failed.',
    },
    input: {
      id,
      action: z.object({ id }),
      notes: optional(text.max(NOTES_CHARS_MAX)),
    },
    run: moderate,
  }),
  operation({
    name: 'moderationActions',
    input: {},
    run: async () => Object.values(ACTIONS),
  }),
]

export const steps = { [EMBARGO_STEP]: endEmbargo }

interface Submission {
  readonly id: string
  readonly action: { readonly id: string }
  readonly notes?: string | undefined
}

/** Applies an action. The answer is the state that it leads to. */
export async function moderate(
  { id, action, notes }: Submission,
  ctx: Context,
): Promise<Contribution> {
  const by = personOf(ctx)
  if (!isAction(action.id)) {
    throw invalidField('action', `must be one of ${Object.keys(ACTIONS).join(', ')}`)
  }
  const { resultingState, label } = ACTIONS[action.id]
  return ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, id)
    if (!contribution || !maySee(contribution, ctx)) throw missing('contribution', id)
    if (!mayDecide(ctx)) throw Forbidden(`The credential does not permit ${MODERATE}.`)
    if (!isInJurisdiction(contribution, ctx.caller)) {
      throw Forbidden('Only the owner of the assignment, or its moderator, decides about this.')
    }
    if (contribution.history.length >= DECISIONS_MAX) {
      throw invalidField('id', `names a contribution with ${DECISIONS_MAX} decisions already`)
    }
    const date = ctx.clock.now().toISOString()
    const decision = { date, action: action.id, ...(notes !== undefined && { notes }), by }
    const decided: Contribution = {
      ...contribution,
      state: resultingState.id,
      history: [...contribution.history, decision],
    }
    await tx.save(contributions, decided)
    await logChange(tx, ctx, {
      owner: contribution.owner,
      title: `${label}: ${contribution.headline}`,
      description: notes,
    })
    await ctx.events.announce(tx, {
      type: 'contributions.contribution.moderated',
      subject: id,
      body: { id, action: action.id, state: resultingState.id },
    })
    await publish(tx, decided, ctx)
    return decided
  })
}

/** Lets the lists know, and the world once the public may see it. */
async function publish(tx: Records, contribution: Contribution, ctx: Context): Promise<void> {
  const { id, state, embargo } = contribution
  const now = ctx.clock.now()
  const changed = await changeLine(tx, contribution, now)
  const announce = (what: string) =>
    ctx.events.announce(tx, {
      type: `contributions.contribution.${what}`,
      subject: id,
      body: { id },
    })
  if (changed?.isPublic && !changed.wasPublic) await announce('published')
  if (state === 'rejected') await announce('rejected')
  const waitMs = embargo === undefined ? 0 : Date.parse(embargo) - now.getTime()
  if (state === 'approved' && waitMs > 0) await ctx.work.later(tx, waitMs, EMBARGO_STEP, { id })
}

function endEmbargo({ id }: { id: string }, ctx: Context): Promise<void> {
  return ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, id)
    const isWaiting = contribution?.state === 'approved' && contribution.removed === undefined
    if (isWaiting) await publish(tx, contribution, ctx)
  })
}
