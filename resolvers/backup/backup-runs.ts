// How a backup job runs: it takes the state of its resource, and makes a recovery point of it.
//
// 1. A job begins within its start window or expires. What could not be reached is tried again until
//    then; what was refused fails the job at once.
// 2. The bytes are taken outside of any transaction; point, bytes and job are then written in one. A
//    step that runs twice finds the job ended.
import { sha256Of } from '../families/parts.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { captured, isStopped } from './continuous.ts'
import { addCopyJob, copyJobOf } from './copy-runs.ts'
import { backupJobs, type BackupJob } from './job-records.ts'
import { actorOf, failureOf, RETRY_MS } from './job-rules.ts'
import {
  pointArnOf,
  pointKey,
  recoveryPoints,
  vaults,
  type RecoveryPoint,
  type Vault,
} from './kinds.ts'
import { calculated, retentionProblem } from './lifecycles.ts'
import { notify } from './notifications.ts'
import { encrypt, keepBytes } from './point-bytes.ts'
import { addPoint } from './point-lives.ts'
import { InvalidRequest, ResourceNotFound } from './errors.ts'
import { takeBytes } from './resources.ts'
import { TAKE } from './roles.ts'

export const RUN_STEP = 'runBackupJob'

export const steps = { [RUN_STEP]: run }

async function run({ Key }: { Key: string }, ctx: Context): Promise<void> {
  const job = await begin(Key, ctx)
  if (!job) return
  let taken: Taken
  try {
    taken = await take(job, ctx)
  } catch (error) {
    const { isPassing, ...failure } = failureOf(error)
    if (isPassing) await waitOrExpire(job, failure, ctx)
    else await end(job, { ...failure, State: 'FAILED' }, ctx)
    return
  }
  await complete(job, taken, ctx)
}

/** The job as it is running now; undefined when it has ended, or is too late. */
async function begin(Key: string, ctx: Context): Promise<BackupJob | undefined> {
  const now = ctx.clock.now().toISOString()
  const job = await ctx.store.get(backupJobs, Key)
  if (!job || (job.State !== 'CREATED' && job.State !== 'RUNNING')) return undefined
  if (job.State === 'CREATED' && now > job.StartBy) {
    const StatusMessage = 'The job did not begin within its start window.'
    await end(job, { State: 'EXPIRED', StatusMessage }, ctx)
    return undefined
  }
  if (now > job.ExpectedCompletionDate) {
    const StatusMessage = 'The job did not end within its completion window.'
    await end(job, { State: 'ABORTED', StatusMessage }, ctx)
    return undefined
  }
  if (job.State === 'RUNNING') return job
  return ctx.store.transaction(async (tx) => {
    const still = await tx.get(backupJobs, Key)
    if (still?.State !== 'CREATED') return undefined
    const running: BackupJob = { ...still, State: 'RUNNING', InitiationDate: now }
    await tx.save(backupJobs, running)
    const vault = await tx.get(vaults, vaultOf(job))
    await notify(tx, vault, { event: 'BACKUP_JOB_STARTED', subject: job.BackupJobId }, ctx)
    return running
  })
}

interface Taken {
  readonly vault: Vault
  readonly bytes: Buffer
  readonly pointId: string
  readonly encrypted: Buffer
}

async function take(job: BackupJob, ctx: Context): Promise<Taken> {
  const vault = await ctx.store.get(vaults, vaultOf(job))
  if (!vault) throw ResourceNotFound(`The vault ${job.BackupVaultName} is gone.`)
  const problem = retentionProblem(vault.Lock ?? {}, job.RecoveryPointLifecycle)
  if (problem !== undefined) throw InvalidRequest(problem)
  const actor = await actorOf(job, TAKE, ctx)
  const bytes = await takeBytes(job, actor, ctx)
  const pointId = ctx.newId()
  const encrypted = encrypt(bytes, pointKey(job.AccountId, pointId), vault, ctx)
  return { vault, bytes, pointId, encrypted }
}

async function complete(job: BackupJob, taken: Taken, ctx: Context): Promise<void> {
  const CompletionDate = ctx.clock.now().toISOString()
  await ctx.store.transaction(async (tx) => {
    const still = await tx.get(backupJobs, backupJobs.key(job))
    const vault = await tx.get(vaults, vaultOf(job))
    // The job was stopped while the bytes were taken.
    if (still?.State !== 'RUNNING') return
    if (vault?.CreationDate !== taken.vault.CreationDate) {
      const StatusMessage = `The vault ${job.BackupVaultName} is gone.`
      return finish(tx, { ...still, State: 'FAILED', StatusMessage, CompletionDate }, vault, ctx)
    }
    const isContinuous = job.IsContinuous === true && !(await isStopped(tx, job))
    const snapshot = pointOf(job, taken, ctx)
    const point = isContinuous
      ? await captured(tx, { snapshot, bytes: taken.bytes, vault, job }, ctx)
      : snapshot
    if (!isContinuous) {
      await keepBytes(tx, recoveryPoints.key(point), taken.encrypted, ctx)
      await addPoint(tx, point, { tags: job.RecoveryPointTags, ctx })
    }
    const ended: BackupJob = {
      ...job,
      State: 'COMPLETED',
      PercentDone: '100.0',
      CompletionDate,
      RecoveryPointArn: point.RecoveryPointArn,
      BackupSizeInBytes: taken.bytes.length,
      BytesTransferred: taken.bytes.length,
      EncryptionKeyArn: point.EncryptionKeyArn,
      IsEncrypted: true,
      MessageCategory: 'Success',
      ...(isContinuous && { BackupType: 'CONTINUOUS' }),
    }
    await finish(tx, ended, vault, ctx)
    if (isContinuous) return
    for (const action of job.CopyActions ?? []) {
      await addCopyJob(tx, copyJobOf(ended, point, action, ctx), ctx)
    }
  })
}

function pointOf(job: BackupJob, { vault, bytes, pointId }: Taken, ctx: Context): RecoveryPoint {
  const CalculatedLifecycle = calculated(job.RecoveryPointLifecycle, job.CreationDate)
  return {
    Account: job.AccountId,
    RecoveryPointId: pointId,
    RecoveryPointArn: pointArnOf(job.AccountId, pointId),
    BackupVaultName: vault.BackupVaultName,
    BackupVaultArn: vault.BackupVaultArn,
    VaultType: vault.VaultType,
    ResourceArn: job.ResourceArn,
    ResourceType: job.ResourceType,
    ResourceName: job.ResourceName,
    TypeName: job.TypeName,
    ...(job.ResourceTags && { ResourceTags: job.ResourceTags }),
    ...(job.CreatedBy && { CreatedBy: job.CreatedBy }),
    IamRoleArn: job.IamRoleArn,
    Status: 'COMPLETED',
    CreationDate: job.CreationDate,
    InitiationDate: job.InitiationDate!,
    CompletionDate: ctx.clock.now().toISOString(),
    BackupSizeInBytes: bytes.length,
    Sha256: sha256Of(bytes),
    ...(job.RecoveryPointLifecycle && { Lifecycle: job.RecoveryPointLifecycle }),
    ...(CalculatedLifecycle && { CalculatedLifecycle }),
    EncryptionKeyArn: vault.EncryptionKeyArn,
    EncryptionKeyType: vault.EncryptionKeyType,
    IsEncrypted: true,
    StorageClass: 'WARM',
  }
}

async function waitOrExpire(
  job: BackupJob,
  failure: Pick<BackupJob, 'StatusMessage' | 'MessageCategory'>,
  ctx: Context,
): Promise<void> {
  if (ctx.clock.now().getTime() + RETRY_MS > Date.parse(job.StartBy)) {
    return end(job, { ...failure, State: 'EXPIRED' }, ctx)
  }
  const Key = backupJobs.key(job)
  await ctx.store.transaction(async (tx) => {
    const still = await tx.get(backupJobs, Key)
    if (still?.State !== 'RUNNING') return
    const { InitiationDate: _, ...waiting } = still
    await tx.save(backupJobs, { ...waiting, ...failure, State: 'CREATED' })
    await ctx.work.later(tx, RETRY_MS, RUN_STEP, { Key })
  })
}

/** Ends a job without a recovery point, unless it has ended meanwhile. */
async function end(
  job: BackupJob,
  how: Pick<BackupJob, 'State' | 'StatusMessage' | 'MessageCategory'>,
  ctx: Context,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const still = await tx.get(backupJobs, backupJobs.key(job))
    if (still?.State !== 'CREATED' && still?.State !== 'RUNNING') return
    const CompletionDate = ctx.clock.now().toISOString()
    const vault = await tx.get(vaults, vaultOf(job))
    await finish(tx, { ...still, ...how, CompletionDate }, vault, ctx)
  })
}

async function finish(
  tx: Records,
  job: BackupJob,
  vault: Vault | undefined,
  ctx: Context,
): Promise<void> {
  await tx.save(backupJobs, job)
  const { BackupJobId: subject, State } = job
  await ctx.events.announce(tx, {
    type: `backup.backup-job.${State.toLowerCase()}`,
    subject,
    body: { ResourceArn: job.ResourceArn, RecoveryPointArn: job.RecoveryPointArn },
  })
  await notify(tx, vault, { event: 'BACKUP_JOB_COMPLETED', subject }, ctx)
  const event =
    State === 'COMPLETED'
      ? 'BACKUP_JOB_SUCCESSFUL'
      : State === 'EXPIRED'
        ? 'BACKUP_JOB_EXPIRED'
        : 'BACKUP_JOB_FAILED'
  await notify(tx, vault, { event, subject }, ctx)
}

const vaultOf = ({ AccountId, BackupVaultName }: BackupJob) => `${AccountId}/${BackupVaultName}`
