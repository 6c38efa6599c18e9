// Continuous backup: one recovery point of a resource that is captured again and again.
//
// Chosen: the services tell nobody of their changes as they happen, so that a continuous point is
// captured every hour. It keeps every state that it was seen in within its retention, and a restore
// takes the state as it was last seen at a moment. It goes on while its plan has the rule.
import { createHash } from 'node:crypto'
import { sha256Of } from '../families/parts.ts'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import type { Records } from '../kernel/store.ts'
import { isStopped as isMarked } from './continuous-records.ts'
import type { BackupJob } from './job-records.ts'
import { actorOf } from './job-rules.ts'
import {
  planKey,
  plans,
  pointArnOf,
  pointKey,
  recoveryPoints,
  vaultKey,
  vaults,
  type RecoveryPoint,
  type Vault,
} from './kinds.ts'
import { notify } from './notifications.ts'
import { encrypt, forgetBefore, keepBytes } from './point-bytes.ts'
import { addPoint, changePoint, stopCapture } from './point-lives.ts'
import { noteLatest } from './protected-resources.ts'
import { takeBytes } from './resources.ts'
import { TAKE } from './roles.ts'
import { DAY_MS, HOUR_MS } from './shapes.ts'

const CAPTURE_MS = HOUR_MS
const CAPTURE_STEP = 'captureBackupResource'

export const steps = { [CAPTURE_STEP]: capture }

/** Whether the continuous backup of a job's resource was stopped by deleting its point. */
export const isStopped = async (
  tx: Records,
  { AccountId: Account, CreatedBy, ResourceArn }: BackupJob,
): Promise<boolean> =>
  CreatedBy !== undefined && (await isMarked(tx, { Account, CreatedBy, ResourceArn }))

/** The point of a resource in a vault: the same again for the same two. */
const idOf = ({ BackupVaultName, ResourceArn }: RecoveryPoint): string => {
  const digest = createHash('sha256').update(`${BackupVaultName} ${ResourceArn}`).digest('hex')
  return `continuous:${digest.slice(0, 32)}`
}

interface Captured {
  /** The point as it would be of this moment alone. */
  readonly snapshot: RecoveryPoint
  readonly bytes: Buffer
  readonly vault: Vault
  readonly job: BackupJob
}

/** Begins a continuous point with what a job took, or adds it to the one that is there. */
export async function captured(
  tx: Records,
  { snapshot, bytes, vault, job }: Captured,
  ctx: Context,
): Promise<RecoveryPoint> {
  const id = idOf(snapshot)
  const key = pointKey(snapshot.Account, id)
  const before = await tx.get(recoveryPoints, key)
  const DueMs = ctx.clock.now().getTime() + CAPTURE_MS
  const { CalculatedLifecycle: _, ...rest } = snapshot
  const point: RecoveryPoint = {
    ...rest,
    RecoveryPointId: id,
    RecoveryPointArn: pointArnOf(snapshot.Account, id),
    Status: 'AVAILABLE',
    CreationDate: before?.CreationDate ?? snapshot.CreationDate,
    Continuous: { UserId: job.UserId, DueMs: before?.Continuous?.DueMs ?? DueMs },
  }
  if (before?.Sha256 !== point.Sha256) {
    await keepBytes(tx, key, encrypt(bytes, key, vault, ctx), ctx)
  }
  if (before) {
    await changePoint(tx, point, ctx)
    await noteLatest(tx, point)
  } else await addPoint(tx, point, { tags: job.RecoveryPointTags, ctx })
  if (!before?.Continuous?.DueMs) {
    await ctx.work.later(tx, CAPTURE_MS, CAPTURE_STEP, { Key: key, DueMs })
  }
  return point
}

async function capture(
  { Key, DueMs }: { Key: string; DueMs: number },
  ctx: Context,
): Promise<void> {
  const point = await ctx.store.get(recoveryPoints, Key)
  if (point?.Continuous?.DueMs !== DueMs) return
  const vault = await ctx.store.get(vaults, vaultKey(point.Account, point.BackupVaultName))
  const bytes = (await hasRule(point, ctx)) ? await takeAgain(point, ctx) : 'gone'
  const isNew = bytes instanceof Buffer && sha256Of(bytes) !== point.Sha256
  const encrypted = isNew && vault ? encrypt(bytes, Key, vault, ctx) : undefined
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.transaction(async (tx) => {
    const still = await tx.get(recoveryPoints, Key)
    if (still?.Continuous?.DueMs !== DueMs) return
    if (bytes === 'gone') {
      await stopCapture(tx, still, ctx)
      const subject = still.RecoveryPointArn
      return notify(tx, vault, { event: 'CONTINUOUS_BACKUP_INTERRUPTED', subject }, ctx)
    }
    const seen: RecoveryPoint = {
      ...still,
      Continuous: { ...still.Continuous, DueMs: nowMs + CAPTURE_MS },
      // When the state is unknown, the point is as old as it was.
      ...(bytes !== 'unknown' && { CompletionDate: new Date(nowMs).toISOString() }),
    }
    if (encrypted && bytes instanceof Buffer) {
      await keepBytes(tx, Key, encrypted, ctx)
      const about = { BackupSizeInBytes: bytes.length, Sha256: sha256Of(bytes) }
      await changePoint(tx, { ...seen, ...about }, ctx)
    } else await tx.save(recoveryPoints, seen)
    await noteLatest(tx, seen)
    await forgetBefore(tx, still, nowMs - still.Lifecycle!.DeleteAfterDays! * DAY_MS, ctx)
    await ctx.work.later(tx, CAPTURE_MS, CAPTURE_STEP, { Key, DueMs: nowMs + CAPTURE_MS })
  })
}

const planOf = ({ Account, CreatedBy }: RecoveryPoint) => planKey(Account, CreatedBy!.BackupPlanId)

async function hasRule(point: RecoveryPoint, ctx: Context): Promise<boolean> {
  const plan = await ctx.store.get(plans, planOf(point))
  const rule = plan?.BackupPlan.Rules.find(({ RuleId }) => RuleId === point.CreatedBy!.BackupRuleId)
  return rule?.EnableContinuousBackup === true
}

/** The state now; `gone` when there is no such resource any more, `unknown` when nobody could say. */
async function takeAgain(point: RecoveryPoint, ctx: Context): Promise<Buffer | 'gone' | 'unknown'> {
  const { Account: AccountId, IamRoleArn, Continuous } = point
  try {
    const acting = { AccountId, UserId: Continuous!.UserId, IamRoleArn }
    return await takeBytes(point, await actorOf(acting, TAKE, ctx), ctx)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return error.status === 503 ? 'unknown' : 'gone'
  }
}
