// How a restore job runs: the bytes of a recovery point go back to the service of their resource.
import { idOfArn } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { ResourceNotFound } from './errors.ts'
import { restoreJobs, type RestoreJob } from './job-records.ts'
import { actorOf, failureOf, RETRY_MS } from './job-rules.ts'
import {
  pointKey,
  protectedKey,
  protectedResources,
  recoveryPoints,
  vaultKey,
  vaults,
  type RecoveryPoint,
} from './kinds.ts'
import { notify } from './notifications.ts'
import { readBytes } from './point-bytes.ts'
import { putBytes, tryBytes } from './resources.ts'
import { RESTORE } from './roles.ts'
import { DAY_MS, MINUTE_MS } from './shapes.ts'

const RESTORE_STEP = 'runBackupRestoreJob'
/** For how long a restore tries again what it could not reach. */
const TRIES_MS = DAY_MS

export const steps = { [RESTORE_STEP]: run }

export const newRestoreJob = (
  point: RecoveryPoint,
  about: Pick<RestoreJob, 'UserId' | 'IamRoleArn' | 'Metadata'>,
  ctx: Context,
): Omit<RestoreJob, 'RestoreJobId'> => ({
  AccountId: point.Account,
  RecoveryPointArn: point.RecoveryPointArn,
  RecoveryPointCreationDate: point.CreationDate,
  BackupVaultArn: point.BackupVaultArn,
  ResourceArn: point.ResourceArn,
  ResourceType: point.ResourceType,
  ResourceName: point.ResourceName,
  TypeName: point.TypeName,
  CreationDate: ctx.clock.now().toISOString(),
  Status: 'PENDING',
  PercentDone: '0.0',
  IsParent: false,
  ...about,
})

export async function addRestoreJob(
  tx: Records,
  job: RestoreJob,
  ctx: Context,
): Promise<RestoreJob> {
  if (await tx.insert(restoreJobs, job)) {
    await ctx.work.later(tx, 0, RESTORE_STEP, { Key: restoreJobs.key(job) })
    await notifyOf(tx, job, 'RESTORE_JOB_STARTED', ctx)
  }
  return job
}

async function run({ Key }: { Key: string }, ctx: Context): Promise<void> {
  const job = await ctx.store.get(restoreJobs, Key)
  if (!job || (job.Status !== 'PENDING' && job.Status !== 'RUNNING')) return
  const id = job.Metadata['resourceId'] ?? idOfArn(job.ResourceArn)
  try {
    const { bytes, size } = await read(job, ctx)
    const actor = await actorOf(job, RESTORE, ctx)
    const restoring = { TypeName: job.TypeName, id, bytes }
    if (job.CreatedBy) {
      await tryBytes(restoring, actor, ctx)
      const verdict = { ValidationStatus: 'SUCCESSFUL', DeletionStatus: 'SUCCESSFUL' } as const
      await end(job, { ...verdict, Status: 'COMPLETED', BackupSizeInBytes: size }, ctx)
    } else {
      const CreatedResourceArn = await putBytes(restoring, actor, ctx)
      await end(job, { Status: 'COMPLETED', CreatedResourceArn, BackupSizeInBytes: size }, ctx)
    }
  } catch (error) {
    const { isPassing, StatusMessage } = failureOf(error)
    const isLate = ctx.clock.now().getTime() > Date.parse(job.CreationDate) + TRIES_MS
    if (isPassing && !isLate) {
      await ctx.store.transaction((tx) => ctx.work.later(tx, RETRY_MS, RESTORE_STEP, { Key }))
      return
    }
    const verdict = job.CreatedBy && {
      ValidationStatus: 'FAILED' as const,
      ValidationStatusMessage: StatusMessage,
    }
    await end(job, { ...verdict, Status: 'FAILED', StatusMessage }, ctx)
  }
}

async function read(job: RestoreJob, ctx: Context): Promise<{ bytes: Buffer; size: number }> {
  const point = await ctx.store.get(recoveryPoints, pointOf(job))
  const { restoreTime } = job.Metadata
  const at = restoreTime === undefined ? undefined : new Date(restoreTime)
  const bytes = point && (await readBytes(point, ctx, at))
  if (bytes) return { bytes, size: bytes.length }
  throw ResourceNotFound(
    `The recovery point ${job.RecoveryPointArn} holds nothing${at ? ' of that moment' : ' any more'}.`,
  )
}

async function end(job: RestoreJob, how: Partial<RestoreJob>, ctx: Context): Promise<void> {
  const now = ctx.clock.now()
  await ctx.store.transaction(async (tx) => {
    const still = await tx.get(restoreJobs, restoreJobs.key(job))
    if (!still || still.Status === 'COMPLETED' || still.Status === 'FAILED') return
    const isDone = how.Status === 'COMPLETED'
    const ended: RestoreJob = {
      ...still,
      ...how,
      CompletionDate: now.toISOString(),
      ...(isDone && { PercentDone: '100.0' }),
    }
    await tx.save(restoreJobs, ended)
    if (isDone) await noteRestore(tx, ended, now)
    await ctx.events.announce(tx, {
      type: `backup.restore-job.${ended.Status.toLowerCase()}`,
      subject: job.RestoreJobId,
      body: {
        RecoveryPointArn: job.RecoveryPointArn,
        CreatedResourceArn: ended.CreatedResourceArn,
      },
    })
    await notifyOf(tx, job, 'RESTORE_JOB_COMPLETED', ctx)
    await notifyOf(tx, job, isDone ? 'RESTORE_JOB_SUCCESSFUL' : 'RESTORE_JOB_FAILED', ctx)
  })
}

/** Notes on the point and on its resource when it was last restored. */
async function noteRestore(tx: Records, job: RestoreJob, now: Date): Promise<void> {
  const point = await tx.get(recoveryPoints, pointOf(job))
  if (point) await tx.save(recoveryPoints, { ...point, LastRestoreTime: now.toISOString() })
  const key = protectedKey(job.AccountId, '', job.ResourceArn)
  const resource = await tx.get(protectedResources, key)
  if (!resource) return
  const tookMs = now.getTime() - Date.parse(job.CreationDate)
  await tx.save(protectedResources, {
    ...resource,
    LatestRestoreExecutionTimeMinutes: Math.ceil(tookMs / MINUTE_MS),
    LatestRestoreJobCreationDate: job.CreationDate,
    LatestRestoreRecoveryPointCreationDate: job.RecoveryPointCreationDate,
  })
}

const pointOf = ({ AccountId, RecoveryPointArn }: RestoreJob) =>
  pointKey(AccountId, RecoveryPointArn.split(':recovery-point:')[1]!)

async function notifyOf(
  tx: Records,
  { AccountId, BackupVaultArn, RestoreJobId: subject }: RestoreJob,
  event: Parameters<typeof notify>[2]['event'],
  ctx: Context,
): Promise<void> {
  const name = BackupVaultArn.split(':backup-vault:')[1]!
  await notify(tx, await tx.get(vaults, vaultKey(AccountId, name)), { event, subject }, ctx)
}
