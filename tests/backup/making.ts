// What tests of backup make again and again: vaults, a plan, recovery points of that plan.
import type { TestService } from '../open.ts'
import { ACCOUNT } from '../people.ts'

export const ROLE = `arn:aws:iam::${ACCOUNT}:role/service-role/AWSBackupDefaultServiceRole`
export const DAY_MS = 24 * 60 * 60_000
export const HOUR_MS = 60 * 60_000
export const START_S = Date.parse('2030-01-01T00:00:00Z') / 1_000

export const vaultArn = (name: string) => `arn:aws:backup:us-east-1:${ACCOUNT}:backup-vault:${name}`

export async function makeVault(service: TestService, name = 'vault'): Promise<string> {
  const { status } = await service.rest(`PUT /backup-vaults/${name}`, {})
  if (status !== 200) throw new Error(`the vault was not made: ${status}`)
  return vaultArn(name)
}

/** A plan that never runs in a test unless it is told when. */
export const planOf = (name: string, rule: object = {}) => ({
  BackupPlanName: name,
  Rules: [
    {
      RuleName: 'rule',
      TargetBackupVaultName: 'vault',
      ScheduleExpression: 'cron(0 5 1 1 ? 2090)',
      ...rule,
    },
  ],
})

/** A plan is a resource that can be backed up without any other service. */
export async function makePlan(service: TestService, name = 'plan', rule: object = {}) {
  const { status, body } = await service.rest('PUT /backup/plans/', {
    BackupPlan: planOf(name, rule),
  })
  if (status !== 200) throw new Error(`the plan was not made: ${JSON.stringify(body)}`)
  return body as { BackupPlanId: string; BackupPlanArn: string; VersionId: string }
}

export interface Made {
  readonly BackupJobId: string
  readonly RecoveryPointArn: string
  readonly path: string
}

/** Backs a resource up, and waits for the recovery point. */
export async function backUp(
  service: TestService,
  ResourceArn: string,
  more: Record<string, unknown> = {},
): Promise<Made> {
  const { status, body } = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn,
    IamRoleArn: ROLE,
    ...more,
  })
  if (status !== 200) throw new Error(`the job did not begin: ${JSON.stringify(body)}`)
  await service.advance(0)
  const job = await service.rest(`GET /backup-jobs/${body.BackupJobId}`)
  if (job.body.State !== 'COMPLETED') throw new Error(`the job failed: ${job.body.StatusMessage}`)
  const { RecoveryPointArn, BackupVaultName } = job.body
  return { ...body, RecoveryPointArn, path: pointPath(BackupVaultName, RecoveryPointArn) }
}

export const pointPath = (vault: string, arn: string) =>
  `/backup-vaults/${vault}/recovery-points/${encodeURIComponent(arn)}`

/** A vault, a plan and a recovery point of the plan in the vault. */
export async function makePoint(service: TestService, more: Record<string, unknown> = {}) {
  await makeVault(service)
  const plan = await makePlan(service)
  const point = await backUp(service, plan.BackupPlanArn, more)
  return { plan, ...point }
}

/** What was refused: the status, the name and whether it is said in words. */
export const refused = ({
  status,
  headers,
  body,
}: {
  status: number
  headers: any
  body: any
}) => ({
  status,
  name: headers['x-amzn-errortype'],
  code: body?.Code,
})

export const refusal = (name: string, status = 400) => ({ status, name, code: name })
