// Copy jobs: started by hand here, and by plans. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { get, operation, put } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import { addCopyJob, newCopyJob } from './copy-runs.ts'
import { InvalidParameterValue, InvalidRequest, ResourceNotFound } from './errors.ts'
import { jobFilters, jobPage } from './job-lists.ts'
import { copyJobs, type CopyJob } from './job-records.ts'
import { readLifecycle } from './lifecycles.ts'
import { pageShown } from './lists.ts'
import { readVaultArn } from './plan-documents.ts'
import { needPoint } from './recovery-points.ts'
import { once } from './request-tokens.ts'
import { checkRole } from './roles.ts'
import { lifecycle, only, requestId, roleArn, type SentLifecycle } from './shapes.ts'
import { checkAccess } from './vault-policies.ts'

const shown = only(
  'AccountId',
  'CopyJobId',
  'SourceBackupVaultArn',
  'SourceRecoveryPointArn',
  'DestinationBackupVaultArn',
  'DestinationVaultType',
  'DestinationVaultLockState',
  'DestinationRecoveryPointArn',
  'DestinationEncryptionKeyArn',
  'DestinationRecoveryPointLifecycle',
  'ResourceArn',
  'CreationDate',
  'CompletionDate',
  'State',
  'StatusMessage',
  'BackupSizeInBytes',
  'IamRoleArn',
  'CreatedBy',
  'CreatedByBackupJobId',
  'ResourceType',
  'IsParent',
  'ResourceName',
  'MessageCategory',
)

export const operations = [
  operation({
    name: 'backupCopyJob',
    rest: get('/copy-jobs/{CopyJobId}', {
      show: (job: CopyJob) => ({ CopyJob: shown(job) }),
      answer: z.object({ CopyJob: z.object({ CopyJobId: z.string(), CreationDate: z.number() }) }),
    }),
    input: { CopyJobId: text },
    needs: 'backup:DescribeCopyJob',
    refuses: { 400: 'There is no such job.' },
    async run({ CopyJobId }, ctx) {
      const job = await ctx.store.get(copyJobs, `${accountOf(ctx)}/${CopyJobId}`)
      if (job) return job
      throw ResourceNotFound(`There is no copy job ${CopyJobId}.`)
    },
  }),
  operation({
    name: 'backupCopyJobs',
    rest: get('/copy-jobs', { isBeyond: true, show: pageShown('CopyJobs', shown) }),
    input: {
      ...jobFilters,
      state: optional(oneOf(['CREATED', 'RUNNING', 'COMPLETED', 'FAILED', 'PARTIAL'])),
      destinationVaultArn: optional(text),
      sourceRecoveryPointArn: optional(text),
    },
    needs: 'backup:ListCopyJobs',
    run({ destinationVaultArn, sourceRecoveryPointArn, ...asked }, ctx) {
      return jobPage(ctx, copyJobs, asked, {
        state: ({ State }) => State,
        more: {
          filters: { destinationVaultArn, sourceRecoveryPointArn },
          isHit: (job) =>
            (destinationVaultArn ?? job.DestinationBackupVaultArn) ===
              job.DestinationBackupVaultArn &&
            (sourceRecoveryPointArn ?? job.SourceRecoveryPointArn) === job.SourceRecoveryPointArn,
        },
      })
    },
  }),
  operation({
    name: 'startBackupCopyJob',
    rest: put('/copy-jobs', {
      isBeyond: true,
      show: only('CopyJobId', 'CreationDate', 'IsParent'),
    }),
    input: {
      RecoveryPointArn: text,
      SourceBackupVaultName: text,
      DestinationBackupVaultArn: text,
      IamRoleArn: roleArn,
      IdempotencyToken: optional(requestId),
      Lifecycle: optional(lifecycle),
    },
    needs: 'backup:StartCopyJob',
    run: startCopyJob,
  }),
]

interface Start {
  readonly RecoveryPointArn: string
  readonly SourceBackupVaultName: string
  readonly DestinationBackupVaultArn: string
  readonly IamRoleArn: string
  readonly IdempotencyToken?: string | undefined
  readonly Lifecycle?: SentLifecycle | undefined
}

export async function startCopyJob(input: Start, ctx: Context): Promise<CopyJob> {
  const { RecoveryPointArn, DestinationBackupVaultArn, IamRoleArn } = input
  await checkRole(IamRoleArn, ctx)
  const { vault, point } = await needPoint(ctx.store, ctx, {
    BackupVaultName: input.SourceBackupVaultName,
    RecoveryPointArn,
  })
  checkAccess({ vault, action: 'backup:StartCopyJob', resource: RecoveryPointArn }, ctx)
  if (!readVaultArn(DestinationBackupVaultArn)) {
    throw InvalidParameterValue('DestinationBackupVaultArn must be the ARN of a vault.')
  }
  if (DestinationBackupVaultArn === vault.BackupVaultArn) {
    throw InvalidRequest('A recovery point is copied to another vault than its own.')
  }
  if (point.Continuous || point.Status !== 'COMPLETED') {
    throw InvalidRequest(
      point.Continuous
        ? 'A continuous recovery point is not copied: it has no last state.'
        : `The recovery point is ${point.Status}, and is not copied.`,
    )
  }
  // Without one, a copy lives as long as what it was made of.
  const Lifecycle = input.Lifecycle ? readLifecycle(input.Lifecycle) : point.Lifecycle
  return once(ctx, {
    operation: 'startCopyJob',
    token: input.IdempotencyToken,
    input,
    refuse: InvalidParameterValue,
    make: (tx) =>
      addCopyJob(
        tx,
        {
          ...newCopyJob({ point, UserId: ctx.caller.userId, IamRoleArn }, ctx),
          CopyJobId: ctx.newId(),
          DestinationBackupVaultArn,
          ...(Lifecycle && { DestinationRecoveryPointLifecycle: Lifecycle }),
        },
        ctx,
      ),
  })
}
