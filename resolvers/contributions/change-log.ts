// The change log: what was done to what is in one's jurisdiction, and by whom. Specification 1,
// service S2.
//
// Chosen: each owner has a log of their own, of assignments, tags, forms and decisions; contributions
// themselves are in the lists. An entry is kept for a year.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { personOf } from './access.ts'
import { listed, listPage, showEach } from './lists.ts'
import { pages } from './shapes.ts'

const KEPT_MS = 365 * 24 * 60 * 60_000
const SWEPT_MAX = 1_000

export interface Change {
  readonly id: string
  readonly owner: string
  readonly by: string
  readonly title: string
  readonly date: string
  readonly description?: string | undefined
}

export const changes = kind<Change>('change', {
  key: ({ owner, id }) => `${owner}/${id}`,
  columns: { date: textOf(({ date }) => date) },
  indexes: [['date']],
})
export const kinds = [changes]

const showChange = ({ title, date, description }: Change) => ({
  title,
  date,
  ...(description !== undefined && { description }),
})

export const operations = [
  operation({
    name: 'contributionChangeLog',
    rest: get('/change-log', {
      show: showEach(showChange),
      answer: z.array(
        z.object({ title: z.string(), date: z.string(), description: z.string().optional() }),
      ),
    }),
    input: pages,
    run: async (page, ctx) =>
      listed(await listPage(ctx, changes, { prefix: `${personOf(ctx)}/`, descending: true }, page)),
  }),
]

export const fields = {
  ContributionChange: { by: ({ by }: Change) => ({ __typename: 'User', id: by }) },
}

/** Notes what the caller did, in the log of the one whose it is. */
export async function logChange(
  tx: Records,
  ctx: Context,
  { owner, title, description }: Pick<Change, 'owner' | 'title' | 'description'>,
): Promise<void> {
  await tx.insert(changes, {
    id: ctx.newId(),
    owner,
    by: ctx.caller.userId,
    title,
    date: ctx.clock.now().toISOString(),
    ...(description !== undefined && { description }),
  })
}

/** Forgets what is older than a log needs to be. */
export async function sweepChanges(ctx: Context): Promise<void> {
  const below = new Date(ctx.clock.now().getTime() - KEPT_MS).toISOString()
  await ctx.store.removeMany(changes, { order: 'date', below, limit: SWEPT_MAX })
}
