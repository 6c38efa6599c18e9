// Backup jobs: started by hand here, and by plans. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { get, operation, post, put, reply } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { RUN_STEP } from './backup-runs.ts'
import { InvalidParameterValue, InvalidRequest, ResourceNotFound } from './errors.ts'
import { backupJobs, type BackupJob } from './job-records.ts'
import { jobFilters, jobPage, type JobListing } from './job-lists.ts'
import { lockStateOf } from './job-rules.ts'
import { vaultKey, vaults, type CopyAction, type Creator, type Vault } from './kinds.ts'
import { readLifecycle, type Lifecycle } from './lifecycles.ts'
import { pageShown } from './lists.ts'
import { readVaultArn, readWindows, windows } from './plan-documents.ts'
import { once } from './request-tokens.ts'
import { needResource, type Resource } from './resources.ts'
import { checkRole } from './roles.ts'
import {
  arn,
  lifecycle,
  MINUTE_MS,
  nothing,
  only,
  requestId,
  roleArn,
  tagMap,
  textMap,
  type SentLifecycle,
} from './shapes.ts'
import { checkAccess } from './vault-policies.ts'
import { needVault } from './vaults.ts'

const JOB_STATES = [
  'CREATED',
  'PENDING',
  'RUNNING',
  'ABORTING',
  'ABORTED',
  'COMPLETED',
  'FAILED',
  'EXPIRED',
  'PARTIAL',
] as const

const shown = only(
  'AccountId',
  'BackupJobId',
  'BackupVaultName',
  'BackupVaultArn',
  'VaultType',
  'VaultLockState',
  'RecoveryPointArn',
  'RecoveryPointLifecycle',
  'EncryptionKeyArn',
  'IsEncrypted',
  'ResourceArn',
  'CreationDate',
  'CompletionDate',
  'State',
  'StatusMessage',
  'PercentDone',
  'BackupSizeInBytes',
  'IamRoleArn',
  'CreatedBy',
  'ExpectedCompletionDate',
  'StartBy',
  'ResourceType',
  'BytesTransferred',
  'BackupOptions',
  'BackupType',
  'IsParent',
  'ResourceName',
  'InitiationDate',
  'MessageCategory',
)

const ONE = '/backup-jobs/{BackupJobId}'
const one = { BackupJobId: text }

export const operations = [
  operation({
    name: 'backupJob',
    rest: get(ONE, {
      show: shown,
      answer: z.object({
        BackupJobId: z.string(),
        CreationDate: z.number(),
        PercentDone: z.string(),
      }),
    }),
    input: one,
    needs: 'backup:DescribeBackupJob',
    refuses: { 400: 'There is no such job.' },
    run: ({ BackupJobId }, ctx) => needJob(ctx.store, ctx, BackupJobId),
  }),
  operation({
    name: 'backupJobs',
    rest: get('/backup-jobs', { isBeyond: true, show: pageShown('BackupJobs', shown) }),
    input: {
      ...jobFilters,
      state: optional(oneOf(JOB_STATES)),
      backupVaultName: optional(text),
    },
    needs: 'backup:ListBackupJobs',
    run: (asked: JobListing & { backupVaultName?: string | undefined }, ctx) =>
      jobPage(ctx, backupJobs, asked, {
        narrowed:
          asked.backupVaultName === undefined
            ? undefined
            : { vault: vaultKey(accountOf(ctx), asked.backupVaultName) },
        state: ({ State }) => State,
      }),
  }),
  operation({
    name: 'startBackupJob',
    rest: put('/backup-jobs', {
      isBeyond: true,
      show: only('BackupJobId', 'RecoveryPointArn', 'CreationDate', 'IsParent'),
    }),
    input: {
      BackupVaultName: text,
      ResourceArn: arn,
      IamRoleArn: roleArn,
      LogicallyAirGappedBackupVaultArn: optional(text),
      IdempotencyToken: optional(requestId),
      StartWindowMinutes: windows.StartWindowMinutes,
      CompleteWindowMinutes: windows.CompletionWindowMinutes,
      Lifecycle: optional(lifecycle),
      RecoveryPointTags: optional(tagMap),
      BackupOptions: optional(textMap),
    },
    needs: 'backup:StartBackupJob',
    run: startBackupJob,
  }),
  operation({
    name: 'stopBackupJob',
    rest: post(ONE, { isBeyond: true, ...nothing }),
    input: one,
    needs: 'backup:StopBackupJob',
    run: stopJob,
  }),
]

interface Start {
  readonly BackupVaultName: string
  readonly ResourceArn: string
  readonly IamRoleArn: string
  readonly LogicallyAirGappedBackupVaultArn?: string | undefined
  readonly IdempotencyToken?: string | undefined
  readonly StartWindowMinutes?: number | undefined
  readonly CompleteWindowMinutes?: number | undefined
  readonly Lifecycle?: SentLifecycle | undefined
  readonly RecoveryPointTags?: Readonly<Record<string, string>> | undefined
  readonly BackupOptions?: Readonly<Record<string, string>> | undefined
}

export async function startBackupJob(input: Start, ctx: Context): Promise<BackupJob> {
  const { IamRoleArn, ResourceArn } = input
  const { Permissions: permissions } = await checkRole(IamRoleArn, ctx)
  const AccountId = accountOf(ctx)
  const UserId = ctx.caller.userId
  const vault = await needTarget(input, ctx)
  const { BackupVaultArn: resource } = vault
  checkAccess({ vault, action: 'backup:StartBackupJob', resource }, ctx)
  const within = readWindows({
    StartWindowMinutes: input.StartWindowMinutes,
    CompletionWindowMinutes: input.CompleteWindowMinutes,
  })
  const Lifecycle = readLifecycle(input.Lifecycle)
  const actor = { account: AccountId, userId: UserId, permissions }
  const found = await needResource(ResourceArn, actor, ctx)
  return once(ctx, {
    operation: 'startBackupJob',
    token: input.IdempotencyToken,
    input,
    refuse: InvalidParameterValue,
    make: (tx) =>
      addBackupJob(
        tx,
        newBackupJob(
          { ...within, AccountId, UserId, IamRoleArn, vault, Lifecycle, resource: found },
          { id: ctx.newId(), scheduledMs: ctx.clock.now().getTime(), input },
          ctx,
        ),
        ctx,
      ),
  })
}

async function needTarget(input: Start, ctx: Context): Promise<Vault> {
  const vault = await needVault(ctx.store, ctx, input)
  const { LogicallyAirGappedBackupVaultArn: gappedArn } = input
  if (gappedArn === undefined) {
    if (vault.VaultType === 'BACKUP_VAULT') return vault
    throw InvalidRequest(
      'Name an air-gapped vault by LogicallyAirGappedBackupVaultArn, beside a vault of the usual type.',
    )
  }
  const named = readVaultArn(gappedArn)
  const target =
    named?.account === vault.Account &&
    (await ctx.store.get(vaults, vaultKey(named.account, named.name)))
  if (!target || target.VaultType === 'BACKUP_VAULT') {
    throw ResourceNotFound(`There is no air-gapped vault ${gappedArn}.`)
  }
  if (target.VaultState === 'AVAILABLE') return target
  throw InvalidRequest(`The vault ${target.BackupVaultName} is being created. Try again.`)
}

interface Beginning {
  readonly AccountId: string
  readonly UserId: string
  readonly IamRoleArn: string
  readonly vault: Vault
  readonly resource: Resource
  readonly Lifecycle: Lifecycle | undefined
  readonly StartWindowMinutes: number
  readonly CompletionWindowMinutes: number
}

interface Extras {
  readonly id: string
  /** The moment from which the windows count. */
  readonly scheduledMs: number
  readonly input?: Pick<Start, 'RecoveryPointTags' | 'BackupOptions'>
  readonly CreatedBy?: Creator
  readonly CopyActions?: readonly CopyAction[] | undefined
  readonly isContinuous?: boolean
}

export function newBackupJob(begin: Beginning, extras: Extras, ctx: Context): BackupJob {
  const { AccountId, UserId, IamRoleArn, vault, resource, Lifecycle } = begin
  const { RecoveryPointTags, BackupOptions } = extras.input ?? {}
  const { CreatedBy, CopyActions } = extras
  const after = (minutes: number) =>
    new Date(extras.scheduledMs + minutes * MINUTE_MS).toISOString()
  return {
    AccountId,
    UserId,
    BackupJobId: extras.id,
    BackupVaultName: vault.BackupVaultName,
    BackupVaultArn: vault.BackupVaultArn,
    VaultType: vault.VaultType,
    VaultLockState: lockStateOf(vault, ctx.clock.now()),
    ResourceArn: resource.ResourceArn,
    ResourceType: resource.ResourceType,
    ResourceName: resource.ResourceName,
    TypeName: resource.TypeName,
    ...(resource.tags && { ResourceTags: resource.tags }),
    IamRoleArn,
    CreationDate: ctx.clock.now().toISOString(),
    StartBy: after(begin.StartWindowMinutes),
    ExpectedCompletionDate: after(begin.CompletionWindowMinutes),
    State: 'CREATED',
    PercentDone: '0.0',
    IsParent: false,
    ...(Lifecycle && { RecoveryPointLifecycle: Lifecycle }),
    ...(RecoveryPointTags && { RecoveryPointTags }),
    ...(BackupOptions && { BackupOptions }),
    ...(CreatedBy && { CreatedBy }),
    ...(CopyActions?.length && { CopyActions }),
    ...(extras.isContinuous && { IsContinuous: true as const }),
  }
}

/** Stores a job and the step that runs it. Changes nothing when the job is there already. */
export async function addBackupJob(tx: Records, job: BackupJob, ctx: Context): Promise<BackupJob> {
  if (await tx.insert(backupJobs, job)) {
    await ctx.work.later(tx, 0, RUN_STEP, { Key: backupJobs.key(job) })
    await ctx.events.announce(tx, {
      type: 'backup.backup-job.created',
      subject: job.BackupJobId,
      body: { ResourceArn: job.ResourceArn, BackupVaultName: job.BackupVaultName },
    })
  }
  return job
}

async function stopJob({ BackupJobId }: { BackupJobId: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const job = await needJob(tx, ctx, BackupJobId)
    if (job.State !== 'CREATED' && job.State !== 'RUNNING') {
      throw InvalidRequest(`The job has ended already, as ${job.State}.`)
    }
    const CompletionDate = ctx.clock.now().toISOString()
    const StatusMessage = 'The job was stopped.'
    await tx.save(backupJobs, { ...job, State: 'ABORTED', CompletionDate, StatusMessage })
  })
  return reply(200)
}

async function needJob(from: Records, ctx: Context, id: string): Promise<BackupJob> {
  const job = await from.get(backupJobs, `${accountOf(ctx)}/${id}`)
  if (job) return job
  throw ResourceNotFound(`There is no backup job ${id}.`)
}
