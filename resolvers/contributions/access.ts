// Who may do what with whose contributions.
import { isPermitted, type Caller, type Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { isPublic } from './lines.ts'
import type { Assignment, Contribution } from './records.ts'

/** The scopes of a token: `full` for everything that writes, `moderate` for decisions alone. */
export const FULL = 'full'
export const MODERATE = 'moderate'
export const SCOPES = [FULL, MODERATE] as const

/** The person who asks. A service that acts by itself is no person. */
export function personOf({ caller }: Context): string {
  if (caller.kind !== 'user') throw Forbidden('Only a person can do this.')
  return caller.userId
}

type Jurisdiction =
  Pick<Contribution, 'owner' | 'moderator'> | Pick<Assignment, 'owner' | 'moderator'>

/** Whether something is in the caller's jurisdiction: as owner, as appointed moderator, or for all. */
export const isInJurisdiction = (
  { owner, moderator }: Jurisdiction,
  { isAdmin, userId, credentialId, kind }: Caller,
): boolean =>
  isAdmin ||
  (kind === 'user' && (owner === userId || moderator === userId || moderator === credentialId))

/** Whether the caller may decide about contributions in their jurisdiction. */
export const mayDecide = ({ caller }: Context): boolean =>
  isPermitted(caller, FULL) || isPermitted(caller, MODERATE)

/** Whether the caller sees more of a contribution than the public does. */
export const isInsider = (contribution: Contribution, { caller }: Context): boolean =>
  (caller.kind === 'user' && contribution.user === caller.userId) ||
  isInJurisdiction(contribution, caller)

/** What was deleted is seen by nobody. */
export const maySee = (contribution: Contribution | undefined, ctx: Context): boolean =>
  contribution !== undefined &&
  contribution.removed === undefined &&
  (isPublic(contribution, ctx.clock.now()) || isInsider(contribution, ctx))
