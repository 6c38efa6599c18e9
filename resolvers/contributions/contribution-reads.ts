// One contribution, for those who may see it.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { maySee } from './access.ts'
import { missing } from './errors.ts'
import { contributions, type Contribution } from './records.ts'

/** What may not be seen is not there. */
export async function readContribution(
  { id }: { id: string },
  ctx: Context,
): Promise<Contribution> {
  const contribution = await load(ctx, contributions, id)
  if (!contribution || !maySee(contribution, ctx)) throw missing('contribution', id)
  return contribution
}
