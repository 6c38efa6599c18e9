// Restore jobs: recovery points brought back, by hand here and in tests of restoring.
import { accountOf } from '../families/aws.ts'
import { idOfArn } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { get, operation, put, reply } from '../kernel/operation.ts'
import { flag, oneOf, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { InvalidParameterValue, InvalidRequest, ResourceNotFound } from './errors.ts'
import { jobFilters, jobPage } from './job-lists.ts'
import { restoreJobs, type RestoreJob } from './job-records.ts'
import { vaultKey, vaults, type RecoveryPoint } from './kinds.ts'
import { filteredPage, pageShown } from './lists.ts'
import { pointAt } from './recovery-points.ts'
import { once } from './request-tokens.ts'
import { addRestoreJob, newRestoreJob } from './restore-runs.ts'
import { checkRole, defaultRoleArn } from './roles.ts'
import { arn, moment, nothing, only, paged, requestId, roleArn, textMap } from './shapes.ts'
import { checkAccess } from './vault-policies.ts'

const STATUSES = ['PENDING', 'RUNNING', 'COMPLETED', 'ABORTED', 'FAILED'] as const
/** What a restore can be told. */
const METADATA = ['resourceId', 'restoreTime']

const shown = (job: RestoreJob) => ({
  ...only(
    'AccountId',
    'RestoreJobId',
    'RecoveryPointArn',
    'BackupVaultArn',
    'CreationDate',
    'CompletionDate',
    'Status',
    'StatusMessage',
    'PercentDone',
    'BackupSizeInBytes',
    'IamRoleArn',
    'CreatedResourceArn',
    'ResourceType',
    'RecoveryPointCreationDate',
    'CreatedBy',
    'ValidationStatus',
    'ValidationStatusMessage',
    'DeletionStatus',
    'IsParent',
  )(job),
  SourceResourceArn: job.ResourceArn,
})

const ONE = '/restore-jobs/{RestoreJobId}'
const one = { RestoreJobId: text }

export const operations = [
  operation({
    name: 'startBackupRestoreJob',
    rest: put('/restore-jobs', { isBeyond: true, show: only('RestoreJobId') }),
    input: {
      RecoveryPointArn: text,
      Metadata: textMap,
      IamRoleArn: optional(roleArn),
      IdempotencyToken: optional(requestId),
      ResourceType: optional(text),
      // Chosen: the tags of a resource are part of its state, and always come back with it.
      CopySourceTagsToRestoredResource: optional(flag),
    },
    needs: 'backup:StartRestoreJob',
    run: startRestoreJob,
  }),
  operation({
    name: 'backupRestoreJob',
    rest: get(ONE, { isBeyond: true, show: shown }),
    input: one,
    needs: 'backup:DescribeRestoreJob',
    run: ({ RestoreJobId }, ctx) => needRestoreJob(ctx.store, ctx, RestoreJobId),
  }),
  operation({
    name: 'backupRestoreJobMetadata',
    rest: get(`${ONE}/metadata`, {
      isBeyond: true,
      show: ({ RestoreJobId, Metadata }: RestoreJob) => ({ RestoreJobId, Metadata }),
    }),
    input: one,
    needs: 'backup:GetRestoreJobMetadata',
    run: ({ RestoreJobId }, ctx) => needRestoreJob(ctx.store, ctx, RestoreJobId),
  }),
  operation({
    name: 'backupRestoreJobs',
    rest: get('/restore-jobs', { isBeyond: true, show: pageShown('RestoreJobs', shown) }),
    input: {
      ...jobFilters,
      status: optional(oneOf(STATUSES)),
      restoreTestingPlanArn: optional(text),
    },
    needs: 'backup:ListRestoreJobs',
    run({ status, restoreTestingPlanArn, ...asked }, ctx) {
      return jobPage(
        ctx,
        restoreJobs,
        { ...asked, state: status },
        {
          state: ({ Status }) => Status,
          more: {
            filters: { restoreTestingPlanArn },
            isHit: ({ CreatedBy }) =>
              restoreTestingPlanArn === undefined ||
              CreatedBy?.RestoreTestingPlanArn === restoreTestingPlanArn,
          },
        },
      )
    },
  }),
  operation({
    name: 'backupRestoreJobsByResource',
    rest: get('/resources/{ResourceArn}/restore-jobs', {
      isBeyond: true,
      show: pageShown('RestoreJobs', shown),
    }),
    input: {
      ResourceArn: arn,
      status: optional(oneOf(STATUSES)),
      recoveryPointCreationDateAfter: optional(moment),
      recoveryPointCreationDateBefore: optional(moment),
      ...paged,
    },
    needs: 'backup:ListRestoreJobsByProtectedResource',
    run(asked, ctx) {
      const { ResourceArn, status } = asked
      const { recoveryPointCreationDateAfter: after, recoveryPointCreationDateBefore: before } =
        asked
      const where = { resource: `${accountOf(ctx)}/${ResourceArn}` }
      const query = { where, order: 'createdMs', descending: true }
      return filteredPage(ctx, restoreJobs, asked, query, {
        filters: { status, after, before },
        isHit: ({ Status, RecoveryPointCreationDate: date }) =>
          (status ?? Status) === Status &&
          (after === undefined || date >= after) &&
          (before === undefined || date < before),
      })
    },
  }),
  operation({
    name: 'putBackupRestoreValidationResult',
    rest: put(`${ONE}/validations`, { isBeyond: true, status: [204], ...nothing }),
    input: {
      ...one,
      ValidationStatus: oneOf(['FAILED', 'SUCCESSFUL', 'TIMED_OUT', 'VALIDATING']),
      ValidationStatusMessage: optional(text.max(1024)),
    },
    needs: 'backup:PutRestoreValidationResult',
    run: putValidation,
  }),
]

interface Start {
  readonly RecoveryPointArn: string
  readonly Metadata: Readonly<Record<string, string>>
  readonly IamRoleArn?: string | undefined
  readonly IdempotencyToken?: string | undefined
  readonly ResourceType?: string | undefined
}

async function startRestoreJob(input: Start, ctx: Context): Promise<RestoreJob> {
  const account = accountOf(ctx)
  const { RecoveryPointArn, IamRoleArn = defaultRoleArn(account), ResourceType } = input
  await checkRole(IamRoleArn, ctx)
  const point = await pointAt(ctx.store, RecoveryPointArn, account)
  if (!point) throw ResourceNotFound(`There is no recovery point ${RecoveryPointArn}.`)
  const vault = (await ctx.store.get(vaults, vaultKey(account, point.BackupVaultName)))!
  checkAccess({ vault, action: 'backup:StartRestoreJob', resource: RecoveryPointArn }, ctx)
  if (point.Status === 'EXPIRED') {
    throw InvalidRequest('The recovery point is EXPIRED, and is not restored.')
  }
  if (ResourceType !== undefined && ResourceType !== point.ResourceType) {
    throw InvalidParameterValue(`The recovery point is of a ${point.ResourceType}.`)
  }
  const Metadata = readMetadata(input.Metadata, point)
  return once(ctx, {
    operation: 'startRestoreJob',
    token: input.IdempotencyToken,
    input,
    refuse: InvalidParameterValue,
    make: (tx) => {
      const about = { UserId: ctx.caller.userId, IamRoleArn, Metadata }
      return addRestoreJob(
        tx,
        { ...newRestoreJob(point, about, ctx), RestoreJobId: ctx.newId() },
        ctx,
      )
    },
  })
}

/** What a restore is told, with what was left out as the recovery point has it. */
function readMetadata(
  sent: Readonly<Record<string, string>>,
  point: RecoveryPoint,
): Readonly<Record<string, string>> {
  const unknown = Object.keys(sent).find((name) => !METADATA.includes(name))
  if (unknown !== undefined) {
    throw InvalidParameterValue(`Metadata.${unknown} is not known; ${METADATA.join(', ')} are.`)
  }
  const { resourceId = idOfArn(point.ResourceArn), restoreTime } = sent
  if (restoreTime === undefined || restoreTime === 'latest') return { resourceId }
  if (!point.Continuous) {
    throw InvalidParameterValue('Metadata.restoreTime is for continuous recovery points alone.')
  }
  const ms = Date.parse(restoreTime)
  if (Number.isNaN(ms)) throw InvalidParameterValue('Metadata.restoreTime must be a moment.')
  return { resourceId, restoreTime: new Date(ms).toISOString() }
}

/** What a person found out about a test; later than the window allows, it is refused. */
async function putValidation(
  sent: {
    RestoreJobId: string
    ValidationStatus: NonNullable<RestoreJob['ValidationStatus']>
    ValidationStatusMessage?: string | undefined
  },
  ctx: Context,
) {
  const { RestoreJobId, ValidationStatus, ValidationStatusMessage } = sent
  await ctx.store.transaction(async (tx) => {
    const job = await needRestoreJob(tx, ctx, RestoreJobId)
    const isOpen = (job.ValidUntil ?? '') >= ctx.clock.now().toISOString()
    if (!job.CreatedBy || job.Status !== 'COMPLETED' || !isOpen) {
      throw InvalidRequest('Only a restore test is validated, and within its validation window.')
    }
    const { ValidationStatusMessage: _, ...rest } = job
    await tx.save(restoreJobs, {
      ...rest,
      ValidationStatus,
      ...(ValidationStatusMessage !== undefined && { ValidationStatusMessage }),
    })
  })
  return reply(204)
}

async function needRestoreJob(from: Records, ctx: Context, id: string): Promise<RestoreJob> {
  const job = await from.get(restoreJobs, `${accountOf(ctx)}/${id}`)
  if (job) return job
  throw ResourceNotFound(`There is no restore job ${id}.`)
}
