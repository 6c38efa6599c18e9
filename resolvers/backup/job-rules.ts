// What jobs of all three sorts have in common: who they act for, and how they fail.
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { AccessDenied } from './errors.ts'
import type { MessageCategory } from './job-records.ts'
import type { Vault } from './kinds.ts'
import type { Actor } from './resources.ts'
import { roleAt, roleMay } from './roles.ts'

/** How long a job waits before it tries again what could not be reached. */
export const RETRY_MS = 10 * 60_000
const MESSAGE_MAX = 1_000

interface Acting {
  readonly AccountId: string
  readonly UserId: string
  readonly IamRoleArn: string
}

/** As whom a job acts. Refuses a role that is gone, or that does not permit what the job does. */
export async function actorOf(
  { AccountId, UserId, IamRoleArn }: Acting,
  permission: string,
  ctx: Context,
): Promise<Actor> {
  const role = await roleAt(ctx.store, IamRoleArn)
  if (!role || !(await roleMay(ctx.store, IamRoleArn, permission))) {
    throw AccessDenied(`The role ${IamRoleArn} does not permit ${permission}.`)
  }
  return { account: AccountId, userId: UserId, permissions: role.Permissions }
}

export interface Failure {
  readonly StatusMessage: string
  readonly MessageCategory: MessageCategory
  /** Whether the same may succeed later. */
  readonly isPassing: boolean
}

/** What a refusal says of a job. Anything else is our mistake, and the step is tried again. */
export function failureOf(error: unknown): Failure {
  if (!(error instanceof Fault)) throw error
  const isPassing = error.status === 503
  return {
    StatusMessage: error.message.slice(0, MESSAGE_MAX),
    MessageCategory:
      error.status === 403 ? 'AccessDenied' : isPassing ? 'Unavailable' : 'InvalidParameters',
    isPassing,
  }
}

/** How a vault is locked at a moment. */
export function lockStateOf({ Lock }: Vault, now: Date): string {
  if (!Lock) return 'NONE'
  if (Lock.LockDate === undefined) return 'GOVERNANCE'
  return Date.parse(Lock.LockDate) <= now.getTime() ? 'COMPLIANCE' : 'GOVERNANCE'
}
