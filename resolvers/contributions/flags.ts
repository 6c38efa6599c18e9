// Flags, by which people point moderators to a contribution. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import { connect } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'
import { FULL, isInJurisdiction, maySee, personOf } from './access.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { contributions, type Contribution } from './records.ts'
import { id, line } from './shapes.ts'

const NOTES_CHARS_MAX = 5_000
const FLAGS_MAX = 10

export interface Flag {
  readonly id: string
  readonly contribution: string
  readonly user: string
  readonly type?: string | undefined
  readonly notes?: string | undefined
  readonly email?: string | undefined
  readonly date: string
}

export const flags = kind<Flag>('flag', {
  key: ({ contribution, user, id }) => `${contribution}/${user}/${id}`,
})
export const kinds = [flags]

const words = z.string().optional()

export const operations = [
  operation({
    name: 'flagContribution',
    rest: post('/contributions/{id}/flag', {
      show: ({ id, type, notes, email, date }: Flag) => ({ id, type, notes, email, date }),
      answer: z.object({
        id: z.string(),
        type: words,
        notes: words,
        email: words,
        date: z.string(),
      }),
    }),
    refuses: { 404: 'There is no such contribution.' },
    needs: FULL,
    input: {
      id,
      type: optional(line),
      notes: optional(text.max(NOTES_CHARS_MAX)),
      email: optional(z.email()),
    },
    run: flagContribution,
  }),
]

export const fields = {
  Contribution: {
    flags: (contribution: Contribution, args: any, ctx: Context) =>
      isInJurisdiction(contribution, ctx.caller)
        ? connect(ctx, flags, { ...args, prefix: `${contribution.id}/` })
        : null,
  },
  ContributionFlag: { user: ({ user }: Flag) => ({ __typename: 'User', id: user }) },
}

async function flagContribution(
  { id: contribution, type, notes, email }: Pick<Flag, 'id' | 'type' | 'notes' | 'email'>,
  ctx: Context,
): Promise<Flag> {
  const user = personOf(ctx)
  return ctx.store.transaction(async (tx) => {
    if (!maySee(await tx.get(contributions, contribution), ctx)) {
      throw missing('contribution', contribution)
    }
    if ((await tx.count(flags, { prefix: `${contribution}/${user}/` })) >= FLAGS_MAX) {
      throw invalidField('id', `names a contribution that you flagged ${FLAGS_MAX} times already`)
    }
    const date = ctx.clock.now().toISOString()
    const flag: Flag = { id: ctx.newId(), contribution, user, type, notes, email, date }
    await meet(tx, ctx)
    await tx.insert(flags, flag)
    await ctx.events.announce(tx, {
      type: 'contributions.contribution.flagged',
      subject: contribution,
      body: { id: contribution, flag: flag.id },
    })
    return flag
  })
}
