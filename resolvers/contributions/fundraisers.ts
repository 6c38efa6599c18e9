// The fundraiser that an assignment supports. The bank keeps fundraisers; here is the link alone.
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { dataOf } from '../kernel/graph.ts'
import { operation } from '../kernel/operation.ts'
import { connect, type PagingArguments } from '../kernel/paging.ts'
import { optional } from '../kernel/shape.ts'
import { FULL, personOf } from './access.ts'
import { logChange } from './change-log.ts'
import { missing } from './errors.ts'
import { assignments, type Assignment } from './records.ts'
import { id } from './shapes.ts'

/** The pages of the graph's lists. A person has one fundraiser for each of their users of the bank. */
const OWN_MAX = 100
const OWN = `{ me { fundraiserProfiles(first: ${OWN_MAX}) { nodes { id } } } }`

export const operations = [
  operation({
    name: 'supportFundraiser',
    needs: FULL,
    input: { assignment: id, fundraiser: optional(id) },
    run: supportFundraiser,
  }),
]

export const entities = {
  // Whose it is the bank knows. That assignments support it is told to all who see those.
  FundraiserProfile: ({ id }: { id: string }) => ({ id }),
}

export const fields = {
  Assignment: {
    fundraiser: ({ fundraiser }: Assignment) =>
      fundraiser === undefined ? null : { __typename: 'FundraiserProfile', id: fundraiser },
  },
  FundraiserProfile: {
    assignments: ({ id }: { id: string }, { first, after }: PagingArguments, ctx: Context) =>
      connect(ctx, assignments, { first, after, where: { fundraiser: id }, descending: true }),
  },
}

export async function supportFundraiser(
  { assignment, fundraiser }: { assignment: string; fundraiser?: string | undefined },
  ctx: Context,
): Promise<Assignment> {
  const owner = personOf(ctx)
  const before = await ctx.store.get(assignments, assignment)
  if (!before) throw missing('assignment', assignment)
  if (before.owner !== owner) {
    throw Forbidden('Only the owner of an assignment says which fundraiser it supports.')
  }
  // Asked before the transaction, since what answers may be this very service.
  if (fundraiser !== undefined && !(await ownFundraisers(ctx)).includes(fundraiser)) {
    throw missing('fundraiser of yours', fundraiser)
  }
  return ctx.store.transaction(async (tx) => {
    const still = await tx.get(assignments, assignment)
    if (!still) throw missing('assignment', assignment)
    const { fundraiser: _before, ...others } = still
    const after: Assignment = { ...others, ...(fundraiser !== undefined && { fundraiser }) }
    await tx.save(assignments, after)
    const title = `Assignment ${after.name} supports ${fundraiser === undefined ? 'no fundraiser' : `the fundraiser ${fundraiser}`}`
    await logChange(tx, ctx, { owner, title })
    return after
  })
}

/** The fundraisers of the person who asks. */
export async function ownFundraisers(ctx: Context): Promise<string[]> {
  const { me } = dataOf(await ctx.graph.ask(OWN))
  return me.fundraiserProfiles.nodes.map(({ id }: { id: string }) => id)
}
