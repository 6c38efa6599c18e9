// Likes of contributions. A person likes a contribution once, however often they say so.
// Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { connect } from '../kernel/paging.ts'
import { FULL, maySee, personOf } from './access.ts'
import { meet } from './contributors.ts'
import { readContribution } from './contribution-reads.ts'
import { missing } from './errors.ts'
import { likes, type Like } from './like-records.ts'
import { listed, listPage, showEach } from './lists.ts'
import { contributions, type Contribution } from './records.ts'
import { id, pages } from './shapes.ts'

export const operations = [
  operation({
    name: 'likeContribution',
    rest: post('/contributions/{id}/like', {
      show: ({ likes }: Contribution) => likes,
      answer: z.number(),
    }),
    refuses: { 404: 'There is no such contribution.' },
    needs: FULL,
    input: { id },
    run: likeContribution,
  }),
  operation({
    name: 'contributionLikes',
    rest: get('/contributions/{id}/likes', {
      show: showEach(({ user }: Like) => user),
      answer: z.array(z.string()),
    }),
    refuses: { 404: 'There is no such contribution.' },
    input: { id, ...pages },
    async run({ id, ...page }, ctx) {
      await readContribution({ id }, ctx)
      return listed(await listPage(ctx, likes, { prefix: `${id}/` }, page))
    },
  }),
]

export const fields = {
  ContributionLike: { user: ({ user }: Like) => ({ __typename: 'User', id: user }) },
  Contribution: {
    likedBy: ({ id }: Contribution, args: any, ctx: Context) =>
      connect(ctx, likes, { ...args, prefix: `${id}/` }),
  },
}

export async function likeContribution(
  { id }: { id: string },
  ctx: Context,
): Promise<Contribution> {
  const user = personOf(ctx)
  return ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, id)
    if (!contribution || !maySee(contribution, ctx)) throw missing('contribution', id)
    const date = ctx.clock.now().toISOString()
    if (!(await tx.insert(likes, { contribution: id, user, date }))) return contribution
    const liked = { ...contribution, likes: contribution.likes + 1 }
    await meet(tx, ctx)
    await tx.save(contributions, liked)
    await ctx.events.announce(tx, {
      type: 'contributions.contribution.liked',
      subject: id,
      body: { id, user },
    })
    return liked
  })
}
