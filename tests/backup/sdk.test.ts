// The published client, unmodified, against a listening service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-backup'
import { expect, onTestFinished, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest } from '../open.ts'
import { ACCOUNT, signingKeyOf } from '../people.ts'
import { DAY_MS, ROLE, vaultArn } from './making.ts'

/** The service's clock is in every answer, as the wall clock is in a real one. */
async function listen(config: sdk.BackupClientConfig = {}) {
  const service = await openForTest(subgraph)
  await service.opened.rest.ready()
  const server = createServer((request, answer) => {
    answer.setHeader('date', service.clock.now().toUTCString())
    service.opened.rest.routing(request, answer)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const client = new sdk.BackupClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    credentials: signingKeyOf('alice'),
    ...config,
  })
  onTestFinished(async () => {
    client.destroy()
    await new Promise((done) => server.close(done))
  })
  const refusal = (command: any): Promise<any> =>
    client.send(command).catch((error: unknown) => error)
  return { service, client, refusal }
}

const PLAN = {
  BackupPlanName: 'plan',
  Rules: [
    {
      RuleName: 'daily',
      TargetBackupVaultName: 'vault',
      ScheduleExpression: 'cron(0 5 ? * * *)',
      Lifecycle: { DeleteAfterDays: 35 },
    },
  ],
}

test('a vault, a plan, a selection, jobs, a copy and a restore, as a client sees them', async () => {
  const { service, client } = await listen()
  const BackupVaultName = 'vault'

  const vault = await client.send(
    new sdk.CreateBackupVaultCommand({ BackupVaultName, BackupVaultTags: { a: 'b' } }),
  )
  await client.send(new sdk.CreateBackupVaultCommand({ BackupVaultName: 'copies' }))
  const plan = await client.send(new sdk.CreateBackupPlanCommand({ BackupPlan: PLAN }))
  const { BackupPlanId, BackupPlanArn } = plan
  const selection = await client.send(
    new sdk.CreateBackupSelectionCommand({
      BackupPlanId,
      BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: [BackupPlanArn!] },
    }),
  )
  const started = await client.send(
    new sdk.StartBackupJobCommand({
      BackupVaultName,
      ResourceArn: BackupPlanArn,
      IamRoleArn: ROLE,
    }),
  )
  await service.advance(0)
  const job = await client.send(
    new sdk.DescribeBackupJobCommand({ BackupJobId: started.BackupJobId }),
  )
  const { RecoveryPointArn } = job
  const point = await client.send(
    new sdk.DescribeRecoveryPointCommand({ BackupVaultName, RecoveryPointArn }),
  )
  const copy = await client.send(
    new sdk.StartCopyJobCommand({
      RecoveryPointArn,
      SourceBackupVaultName: BackupVaultName,
      DestinationBackupVaultArn: vaultArn('copies'),
      IamRoleArn: ROLE,
    }),
  )
  await service.advance(0)
  const copied = await client.send(new sdk.DescribeCopyJobCommand({ CopyJobId: copy.CopyJobId }))
  const lifecycle = await client.send(
    new sdk.UpdateRecoveryPointLifecycleCommand({
      BackupVaultName,
      RecoveryPointArn,
      Lifecycle: { DeleteAfterDays: 7 },
    }),
  )
  const resource = await client.send(
    new sdk.DescribeProtectedResourceCommand({ ResourceArn: BackupPlanArn }),
  )
  await client.send(
    new sdk.DeleteBackupSelectionCommand({ BackupPlanId, SelectionId: selection.SelectionId }),
  )
  const deleted = await client.send(new sdk.DeleteBackupPlanCommand({ BackupPlanId }))
  const restore = await client.send(
    new sdk.StartRestoreJobCommand({ RecoveryPointArn, Metadata: {} }),
  )
  await service.advance(0)
  const restored = await client.send(
    new sdk.DescribeRestoreJobCommand({ RestoreJobId: restore.RestoreJobId }),
  )
  const back = await client.send(new sdk.GetBackupPlanCommand({ BackupPlanId }))
  const tags = await client.send(new sdk.ListTagsCommand({ ResourceArn: vault.BackupVaultArn }))
  await client.send(new sdk.DeleteRecoveryPointCommand({ BackupVaultName, RecoveryPointArn }))
  const emptied = await client.send(new sdk.DescribeBackupVaultCommand({ BackupVaultName }))
  await client.send(new sdk.DeleteBackupVaultCommand({ BackupVaultName }))

  const start = new Date('2030-01-01T00:00:00Z')
  expect(vault).toMatchObject({ BackupVaultArn: vaultArn('vault'), CreationDate: start })
  expect(plan.CreationDate).toEqual(start)
  expect(job).toMatchObject({ State: 'COMPLETED', CompletionDate: start, PercentDone: '100.0' })
  expect(point).toMatchObject({ Status: 'COMPLETED', CreationDate: start, IsEncrypted: true })
  expect(copied.CopyJob).toMatchObject({ State: 'COMPLETED', CreationDate: start })
  expect(lifecycle.CalculatedLifecycle?.DeleteAt).toEqual(new Date('2030-01-08T00:00:00Z'))
  expect(resource.LastRecoveryPointArn).toBe(RecoveryPointArn)
  expect(deleted.DeletionDate).toEqual(start)
  expect(restored).toMatchObject({ Status: 'COMPLETED', CreatedResourceArn: BackupPlanArn })
  expect(back.BackupPlan?.Rules?.[0]).toMatchObject(PLAN.Rules[0]!)
  expect(tags.Tags).toEqual({ a: 'b' })
  expect(emptied).toMatchObject({ NumberOfRecoveryPoints: 0, Locked: false })
})

test('two hundred and fifty vaults are paged through by the client’s own paginator', async () => {
  const { client } = await listen()
  const names = Array.from({ length: 250 }, (_, n) => `vault-${String(n).padStart(3, '0')}`)
  for (const BackupVaultName of names) {
    await client.send(new sdk.CreateBackupVaultCommand({ BackupVaultName }))
  }

  const seen: string[] = []
  let pages = 0
  for await (const page of sdk.paginateListBackupVaults({ client, pageSize: 100 }, {})) {
    pages += 1
    seen.push(...page.BackupVaultList!.map((vault) => vault.BackupVaultName!))
  }

  expect(pages).toBe(3)
  expect(seen).toEqual(names)
}, 60_000)

test('the rest of the documented operations', async () => {
  const { service, client } = await listen()
  await client.send(
    new sdk.CreateLogicallyAirGappedBackupVaultCommand({
      BackupVaultName: 'gapped',
      MinRetentionDays: 7,
      MaxRetentionDays: 9,
    }),
  )
  await client.send(new sdk.CreateBackupVaultCommand({ BackupVaultName: 'vault' }))
  const named = { BackupVaultName: 'vault' }
  await client.send(
    new sdk.PutBackupVaultLockConfigurationCommand({ ...named, MinRetentionDays: 1 }),
  )
  await client.send(new sdk.DeleteBackupVaultLockConfigurationCommand(named))
  await client.send(
    new sdk.PutBackupVaultNotificationsCommand({
      ...named,
      SNSTopicArn: `arn:aws:sns:us-east-1:${ACCOUNT}:t`,
      BackupVaultEvents: ['BACKUP_JOB_COMPLETED'],
    }),
  )
  const notifications = await client.send(new sdk.GetBackupVaultNotificationsCommand(named))
  await client.send(new sdk.DeleteBackupVaultNotificationsCommand(named))
  const Policy = JSON.stringify({
    Statement: [{ Effect: 'Deny', Principal: '*', Action: 'backup:X', Resource: '*' }],
  })
  await client.send(new sdk.PutBackupVaultAccessPolicyCommand({ ...named, Policy }))
  const policy = await client.send(new sdk.GetBackupVaultAccessPolicyCommand(named))
  await client.send(new sdk.DeleteBackupVaultAccessPolicyCommand(named))
  const hold = await client.send(
    new sdk.CreateLegalHoldCommand({
      Title: 't',
      Description: 'd',
      RecoveryPointSelection: {
        VaultNames: ['vault'],
        DateRange: { FromDate: new Date(1_000), ToDate: new Date(2_000) },
      },
    }),
  )
  await client.send(
    new sdk.CancelLegalHoldCommand({
      LegalHoldId: hold.LegalHoldId,
      CancelDescription: 'over',
      RetainRecordInDays: 1,
    }),
  )
  const held = await client.send(new sdk.GetLegalHoldCommand({ LegalHoldId: hold.LegalHoldId }))
  const framework = await client.send(
    new sdk.CreateFrameworkCommand({
      FrameworkName: 'f',
      FrameworkControls: [{ ControlName: 'BACKUP_RECOVERY_POINT_ENCRYPTED' }],
    }),
  )
  await service.advance(5_000)
  const described = await client.send(new sdk.DescribeFrameworkCommand({ FrameworkName: 'f' }))
  const report = await client.send(
    new sdk.CreateReportPlanCommand({
      ReportPlanName: 'r',
      ReportDeliveryChannel: { S3BucketName: 'bucket' },
      ReportSetting: {
        ReportTemplate: 'CONTROL_COMPLIANCE_REPORT',
        FrameworkArns: [framework.FrameworkArn!],
      },
    }),
  )
  await service.advance(DAY_MS)
  const reports = await client.send(new sdk.ListReportJobsCommand({ ByReportPlanName: 'r' }))
  await client.send(new sdk.DeleteReportPlanCommand({ ReportPlanName: 'r' }))
  await client.send(new sdk.DeleteFrameworkCommand({ FrameworkName: 'f' }))
  const testing = { RestoreTestingPlanName: 'p' }
  await client.send(
    new sdk.CreateRestoreTestingPlanCommand({
      RestoreTestingPlan: {
        ...testing,
        ScheduleExpression: 'rate(1 day)',
        RecoveryPointSelection: {
          Algorithm: 'LATEST_WITHIN_WINDOW',
          IncludeVaults: ['*'],
          RecoveryPointTypes: ['SNAPSHOT'],
        },
      },
    }),
  )
  const selection = { ...testing, RestoreTestingSelectionName: 's' }
  await client.send(
    new sdk.CreateRestoreTestingSelectionCommand({
      ...testing,
      RestoreTestingSelection: {
        RestoreTestingSelectionName: 's',
        ProtectedResourceType: 'AWS::Backup::BackupPlan',
        ProtectedResourceArns: ['*'],
        IamRoleArn: ROLE,
      },
    }),
  )
  const tested = await client.send(new sdk.GetRestoreTestingSelectionCommand(selection))
  await client.send(new sdk.DeleteRestoreTestingSelectionCommand(selection))
  await client.send(new sdk.DeleteRestoreTestingPlanCommand(testing))
  await client.send(
    new sdk.UpdateGlobalSettingsCommand({
      GlobalSettings: { isCrossAccountBackupEnabled: 'true' },
    }),
  )
  const settings = await client.send(new sdk.DescribeGlobalSettingsCommand({}))

  expect(notifications.BackupVaultEvents).toEqual(['BACKUP_JOB_COMPLETED'])
  expect(policy.Policy).toBe(Policy)
  expect(hold.RecoveryPointSelection?.DateRange?.ToDate).toEqual(new Date(2_000))
  expect(held).toMatchObject({ Status: 'CANCELING', CancelDescription: 'over' })
  expect(described).toMatchObject({ DeploymentStatus: 'COMPLETED', FrameworkStatus: 'ACTIVE' })
  expect(report.ReportPlanArn).toContain(':report-plan:r')
  expect(reports.ReportJobs).toMatchObject([
    { Status: 'COMPLETED', ReportTemplate: 'CONTROL_COMPLIANCE_REPORT' },
  ])
  expect(tested.RestoreTestingSelection?.ProtectedResourceArns).toEqual(['*'])
  expect(settings.GlobalSettings).toEqual({ isCrossAccountBackupEnabled: 'true' })
})

test('refusals are the classes that the client has for them', async () => {
  const { service, client, refusal } = await listen()
  await client.send(new sdk.CreateBackupVaultCommand({ BackupVaultName: 'vault' }))
  const plan = await client.send(new sdk.CreateBackupPlanCommand({ BackupPlan: PLAN }))
  const { BackupPlanId } = plan
  await client.send(
    new sdk.CreateBackupSelectionCommand({
      BackupPlanId,
      BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: ['*'] },
    }),
  )
  const hold = await client.send(new sdk.CreateLegalHoldCommand({ Title: 't', Description: 'd' }))
  const LegalHoldId = hold.LegalHoldId
  await client.send(new sdk.CancelLegalHoldCommand({ LegalHoldId, CancelDescription: 'x' }))
  await client.send(
    new sdk.CreateFrameworkCommand({
      FrameworkName: 'f',
      FrameworkControls: [{ ControlName: 'BACKUP_RECOVERY_POINT_ENCRYPTED' }],
    }),
  )

  const exists = await refusal(new sdk.CreateBackupPlanCommand({ BackupPlan: PLAN }))
  const missing = await refusal(new sdk.DescribeBackupVaultCommand({ BackupVaultName: 'none' }))
  const wrong = await refusal(
    new sdk.CreateBackupPlanCommand({ BackupPlan: { ...PLAN, BackupPlanName: 'a b' } }),
  )
  const absent = await refusal(
    new sdk.CreateBackupPlanCommand({ BackupPlan: { BackupPlanName: 'x', Rules: undefined } }),
  )
  const state = await refusal(new sdk.DeleteBackupPlanCommand({ BackupPlanId }))
  const cancelled = await refusal(
    new sdk.CancelLegalHoldCommand({ LegalHoldId, CancelDescription: 'x' }),
  )
  const conflict = await refusal(new sdk.DeleteFrameworkCommand({ FrameworkName: 'f' }))

  expect(exists).toBeInstanceOf(sdk.AlreadyExistsException)
  expect(exists).toMatchObject({
    Arn: plan.BackupPlanArn,
    Code: 'AlreadyExistsException',
    $metadata: { httpStatusCode: 400, requestId: expect.any(String) },
  })
  expect(missing).toBeInstanceOf(sdk.ResourceNotFoundException)
  expect(missing.message).toBe('There is no vault named none.')
  expect(wrong).toBeInstanceOf(sdk.InvalidParameterValueException)
  expect(absent).toBeInstanceOf(sdk.MissingParameterValueException)
  expect(state).toBeInstanceOf(sdk.InvalidRequestException)
  expect(cancelled).toBeInstanceOf(sdk.InvalidResourceStateException)
  expect(conflict).toBeInstanceOf(sdk.ConflictException)
  expect(service.mistakes).toEqual([])
})

test('what asks for the whole graph fails by name where there is none', async () => {
  // The first attempt sets the clock.
  const { refusal } = await listen({ maxAttempts: 2 })

  const error = await refusal(new sdk.GetSupportedResourceTypesCommand({}))

  expect(error).toBeInstanceOf(sdk.ServiceUnavailableException)
})
