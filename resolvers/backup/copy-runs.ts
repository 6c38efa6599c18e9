// How a copy job runs: it reads a recovery point, and writes it under the key of another vault.
import { createHash } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { InvalidRequest, ResourceNotFound } from './errors.ts'
import { copyJobs, type BackupJob, type CopyJob } from './job-records.ts'
import { actorOf, failureOf, lockStateOf } from './job-rules.ts'
import {
  pointArnOf,
  pointKey,
  recoveryPoints,
  vaultKey,
  vaults,
  type CopyAction,
  type RecoveryPoint,
  type Vault,
} from './kinds.ts'
import { calculated, retentionProblem } from './lifecycles.ts'
import { notify } from './notifications.ts'
import { readVaultArn } from './plan-documents.ts'
import { encrypt, keepBytes, readBytes } from './point-bytes.ts'
import { addPoint } from './point-lives.ts'
import { COPY } from './roles.ts'
import { isCrossAccount } from './setting-records.ts'
import { tagsIn } from './tags.ts'
import { letsIn } from './vault-policies.ts'

const COPY_STEP = 'runBackupCopyJob'

export const steps = { [COPY_STEP]: run }

/** The copy that a plan wants of a point that a job made. */
export function copyJobOf(
  job: BackupJob,
  point: RecoveryPoint,
  { DestinationBackupVaultArn, Lifecycle = point.Lifecycle }: CopyAction,
  ctx: Context,
): CopyJob {
  const named = `${job.BackupJobId} ${DestinationBackupVaultArn}`
  return {
    ...newCopyJob({ point, UserId: job.UserId, IamRoleArn: job.IamRoleArn }, ctx),
    CopyJobId: uuidOf(named),
    DestinationBackupVaultArn,
    CreatedByBackupJobId: job.BackupJobId,
    ...(job.CreatedBy && { CreatedBy: job.CreatedBy }),
    ...(Lifecycle && { DestinationRecoveryPointLifecycle: Lifecycle }),
  }
}

/** An id that is the same for the same name, so that what is made twice is there once. */
export function uuidOf(name: string): string {
  const digest = createHash('sha256').update(name).digest('hex')
  const parts = [8, 4, 4, 4, 12].map((length, i, all) => {
    const from = all.slice(0, i).reduce((sum, one) => sum + one, 0)
    return digest.slice(from, from + length)
  })
  return parts.join('-')
}

export const newCopyJob = (
  { point, UserId, IamRoleArn }: { point: RecoveryPoint; UserId: string; IamRoleArn: string },
  ctx: Context,
) => ({
  AccountId: point.Account,
  UserId,
  SourceBackupVaultArn: point.BackupVaultArn,
  SourceRecoveryPointArn: point.RecoveryPointArn,
  ResourceArn: point.ResourceArn,
  ResourceType: point.ResourceType,
  ResourceName: point.ResourceName,
  TypeName: point.TypeName,
  CreationDate: ctx.clock.now().toISOString(),
  State: 'CREATED' as const,
  IamRoleArn,
  IsParent: false as const,
})

export async function addCopyJob(tx: Records, job: CopyJob, ctx: Context): Promise<CopyJob> {
  if (await tx.insert(copyJobs, job)) {
    await ctx.work.later(tx, 0, COPY_STEP, { Key: copyJobs.key(job) })
    const source = await tx.get(vaults, sourceVaultOf(job))
    await notify(tx, source, { event: 'COPY_JOB_STARTED', subject: job.CopyJobId }, ctx)
  }
  return job
}

async function run({ Key }: { Key: string }, ctx: Context): Promise<void> {
  const job = await ctx.store.get(copyJobs, Key)
  if (!job || job.State === 'COMPLETED' || job.State === 'FAILED') return
  let copied: Copied
  try {
    copied = await copy(job, ctx)
  } catch (error) {
    const { StatusMessage, MessageCategory } = failureOf(error)
    return end(job, { State: 'FAILED', StatusMessage, MessageCategory }, ctx)
  }
  if (!(await keep(copied, ctx))) {
    const StatusMessage = `The vault ${copied.vault.BackupVaultName} is gone.`
    return end(job, { State: 'FAILED', StatusMessage }, ctx)
  }
  const { point, vault } = copied
  const about: Partial<CopyJob> = {
    State: 'COMPLETED',
    DestinationRecoveryPointArn: point.RecoveryPointArn,
    DestinationEncryptionKeyArn: point.EncryptionKeyArn,
    DestinationVaultType: vault.VaultType,
    DestinationVaultLockState: lockStateOf(vault, ctx.clock.now()),
    BackupSizeInBytes: point.BackupSizeInBytes,
    MessageCategory: 'Success',
  }
  await end(job, about, ctx)
}

/** Returns false, and keeps nothing, when the vault was deleted meanwhile. */
const keep = ({ vault, point, encrypted, tags }: Copied, ctx: Context): Promise<boolean> =>
  ctx.store.transaction(async (tx) => {
    const still = await tx.get(vaults, vaults.key(vault))
    if (still?.CreationDate !== vault.CreationDate) return false
    const key = recoveryPoints.key(point)
    // It is there already when the step runs for the second time.
    if (await tx.get(recoveryPoints, key)) return true
    await keepBytes(tx, key, encrypted, ctx)
    await addPoint(tx, point, { tags, ctx })
    return true
  })

interface Copied {
  readonly vault: Vault
  readonly point: RecoveryPoint
  readonly encrypted: Buffer
  readonly tags: Readonly<Record<string, string>>
}

async function copy(job: CopyJob, ctx: Context): Promise<Copied> {
  const source = await ctx.store.get(recoveryPoints, sourceOf(job))
  if (!source) throw ResourceNotFound(`The recovery point ${job.SourceRecoveryPointArn} is gone.`)
  const vault = await destinationOf(job, ctx)
  const Lifecycle = job.DestinationRecoveryPointLifecycle
  const problem = retentionProblem(vault.Lock ?? {}, Lifecycle)
  if (problem !== undefined) throw InvalidRequest(problem)
  await actorOf(job, COPY, ctx)
  const bytes = await readBytes(source, ctx)
  if (!bytes) throw ResourceNotFound(`The recovery point ${job.SourceRecoveryPointArn} is gone.`)
  // The same id again, when the step runs for the second time.
  const id = uuidOf(`${job.CopyJobId} copied`)
  const key = pointKey(vault.Account, id)
  const { Lifecycle: _, CalculatedLifecycle: __, LastRestoreTime: ___, ...rest } = source
  const CalculatedLifecycle = calculated(Lifecycle, source.CreationDate)
  const now = ctx.clock.now().toISOString()
  const point: RecoveryPoint = {
    ...rest,
    Account: vault.Account,
    RecoveryPointId: id,
    RecoveryPointArn: pointArnOf(vault.Account, id),
    BackupVaultName: vault.BackupVaultName,
    BackupVaultArn: vault.BackupVaultArn,
    VaultType: vault.VaultType,
    SourceBackupVaultArn: source.BackupVaultArn,
    EncryptionKeyArn: vault.EncryptionKeyArn,
    EncryptionKeyType: vault.EncryptionKeyType,
    IamRoleArn: job.IamRoleArn,
    Status: 'COMPLETED',
    StorageClass: 'WARM',
    InitiationDate: job.CreationDate,
    CompletionDate: now,
    ...(Lifecycle && { Lifecycle }),
    ...(CalculatedLifecycle && { CalculatedLifecycle }),
  }
  const tags = await tagsIn(ctx.store, source.RecoveryPointArn)
  return { vault, point, encrypted: encrypt(bytes, key, vault, ctx), tags }
}

/** The vault that is copied to. Another account's must let this one in, and this one must want it. */
async function destinationOf(job: CopyJob, ctx: Context): Promise<Vault> {
  const { account, name } = readVaultArn(job.DestinationBackupVaultArn)!
  const vault = await ctx.store.get(vaults, vaultKey(account, name))
  const isOwn = account === job.AccountId
  const action = 'backup:CopyIntoBackupVault'
  const resource = job.DestinationBackupVaultArn
  const mayEnter =
    vault &&
    (isOwn ||
      ((await isCrossAccount(ctx.store, job.AccountId)) &&
        letsIn({ vault, action, resource }, job.AccountId)))
  if (!mayEnter) {
    throw ResourceNotFound(`There is no vault ${job.DestinationBackupVaultArn} to copy to.`)
  }
  if (vault.VaultState === 'AVAILABLE') return vault
  throw InvalidRequest(`The vault ${vault.BackupVaultName} is being created.`)
}

async function end(job: CopyJob, how: Partial<CopyJob>, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const still = await tx.get(copyJobs, copyJobs.key(job))
    if (!still || still.State === 'COMPLETED' || still.State === 'FAILED') return
    const CompletionDate = ctx.clock.now().toISOString()
    const ended: CopyJob = { ...still, ...how, CompletionDate }
    await tx.save(copyJobs, ended)
    const subject = job.CopyJobId
    await ctx.events.announce(tx, {
      type: `backup.copy-job.${ended.State.toLowerCase()}`,
      subject,
      body: { DestinationRecoveryPointArn: ended.DestinationRecoveryPointArn },
    })
    const vault = await tx.get(vaults, sourceVaultOf(job))
    const event = ended.State === 'COMPLETED' ? 'COPY_JOB_SUCCESSFUL' : 'COPY_JOB_FAILED'
    await notify(tx, vault, { event, subject }, ctx)
  })
}

const sourceOf = ({ AccountId, SourceRecoveryPointArn }: CopyJob) =>
  pointKey(AccountId, SourceRecoveryPointArn.split(':recovery-point:')[1]!)

function sourceVaultOf({ SourceBackupVaultArn }: CopyJob): string {
  const { account, name } = readVaultArn(SourceBackupVaultArn)!
  return vaultKey(account, name)
}
