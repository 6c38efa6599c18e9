// Every step run twice, as after a crash: nothing is made, copied, restored or reported twice.
import { expect, test } from 'vitest'
import type { Context } from '../../resolvers/kernel/context.ts'
import { subgraph } from '../../subgraphs/backup.ts'
import type { Resource, Subgraph } from '../../subgraphs/server/subgraph.ts'
import { openForTest } from '../open.ts'
import { backUp, DAY_MS, makePlan, makeVault, ROLE, vaultArn } from './making.ts'

const twice: Subgraph = {
  ...subgraph,
  resources: (subgraph.resources as readonly Resource[]).map(({ steps = {}, ...resource }) => ({
    ...resource,
    steps: Object.fromEntries(
      Object.entries(steps).map(([name, step]) => [
        name,
        async (input: any, ctx: Context) => {
          await step(input, ctx)
          await step(input, ctx)
        },
      ]),
    ),
  })),
}

test('three days of everything leave what they should', async () => {
  const service = await openForTest(twice)
  await makeVault(service)
  await makeVault(service, 'copies')
  const plan = await makePlan(service, 'plan', {
    ScheduleExpression: 'rate(1 day)',
    Lifecycle: { DeleteAfterDays: 2 },
    CopyActions: [{ DestinationBackupVaultArn: vaultArn('copies') }],
  })
  await service.rest(`PUT /backup/plans/${plan.BackupPlanId}/selections/`, {
    BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: [plan.BackupPlanArn] },
  })
  await service.rest('POST /audit/report-plans', {
    ReportPlanName: 'r',
    ReportDeliveryChannel: { S3BucketName: 'bucket' },
    ReportSetting: { ReportTemplate: 'BACKUP_JOB_REPORT' },
  })
  await service.rest('PUT /restore-testing/plans', {
    RestoreTestingPlan: {
      RestoreTestingPlanName: 't',
      ScheduleExpression: 'rate(1 day)',
      RecoveryPointSelection: {
        Algorithm: 'LATEST_WITHIN_WINDOW',
        IncludeVaults: [vaultArn('vault')],
        RecoveryPointTypes: ['SNAPSHOT'],
      },
    },
  })
  await service.rest('PUT /restore-testing/plans/t/selections', {
    RestoreTestingSelection: {
      RestoreTestingSelectionName: 's',
      ProtectedResourceType: 'AWS::Backup::BackupPlan',
      ProtectedResourceArns: ['*'],
      IamRoleArn: ROLE,
    },
  })

  await service.advance(3 * DAY_MS)
  const { body: hold } = await service.rest('POST /legal-holds/', { Title: 't', Description: 'd' })
  await service.advance(DAY_MS)
  await service.rest(`DELETE /legal-holds/${hold.LegalHoldId}?cancelDescription=over`)
  await service.advance(0)

  const listed = async (path: string, name: string) =>
    (await service.rest(`GET ${path}`)).body[name]
  const states = (jobs: any[], name = 'State') => jobs.map((job) => job[name])
  expect(states(await listed('/backup-jobs', 'BackupJobs'))).toEqual(Array(4).fill('COMPLETED'))
  expect(states(await listed('/copy-jobs', 'CopyJobs'))).toEqual(Array(4).fill('COMPLETED'))
  // On the first day there was nothing to try yet when the test began.
  const trials = await listed('/restore-jobs', 'RestoreJobs')
  expect(states(trials, 'Status').every((status) => status === 'COMPLETED')).toBe(true)
  expect([3, 4]).toContain(trials.length)
  expect(await listed('/audit/report-jobs', 'ReportJobs')).toHaveLength(4)
  expect(await listed('/backup-vaults/vault/recovery-points', 'RecoveryPoints')).toHaveLength(2)
  expect(await listed('/backup-vaults/copies/recovery-points', 'RecoveryPoints')).toHaveLength(2)
  expect(await service.opened.work.counts()).toMatchObject({ parked: 0 })
  expect(service.mistakes).toEqual([])
})

test('a restore, a continuous point and an air-gapped vault come once', async () => {
  const service = await openForTest(twice)
  await makeVault(service)
  await service.rest('PUT /logically-air-gapped-backup-vaults/gapped', {
    MinRetentionDays: 7,
    MaxRetentionDays: 9,
  })
  const watched = await makePlan(service, 'watched')
  const plan = await makePlan(service, 'plan', {
    ScheduleExpression: 'rate(1 day)',
    EnableContinuousBackup: true,
    Lifecycle: { DeleteAfterDays: 2 },
  })
  await service.rest(`PUT /backup/plans/${plan.BackupPlanId}/selections/`, {
    BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: [watched.BackupPlanArn] },
  })

  await service.advance(5 * DAY_MS)
  const { RecoveryPointArn } = await backUp(service, watched.BackupPlanArn)
  await service.rest(`DELETE /backup/plans/${watched.BackupPlanId}`)
  const { body } = await service.rest('PUT /restore-jobs', { RecoveryPointArn, Metadata: {} })
  await service.advance(0)

  const job = await service.rest(`GET /restore-jobs/${body.RestoreJobId}`)
  expect(job.body.Status).toBe('COMPLETED')
  expect((await service.rest(`GET /backup/plans/${watched.BackupPlanId}`)).status).toBe(200)
  expect((await service.rest('GET /backup-vaults/gapped')).body.VaultState).toBe('AVAILABLE')
  const points = await service.rest('GET /backup-vaults/vault/recovery-points')
  expect(points.body.RecoveryPoints.map((point: any) => point.Status).toSorted()).toEqual([
    'AVAILABLE',
    'COMPLETED',
  ])
  const captures = "SELECT id FROM work WHERE step = 'captureBackupResource'"
  expect(await service.store.sql(captures)).toHaveLength(1)
  expect(service.mistakes).toEqual([])
})
