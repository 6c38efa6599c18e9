// Frameworks and their controls, report plans and their reports.
import { expect, test } from 'vitest'
import { csvOf } from '../../resolvers/backup/report-rows.ts'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT } from '../people.ts'
import {
  backUp,
  DAY_MS,
  makePlan,
  makePoint,
  makeVault,
  refusal,
  refused,
  START_S,
} from './making.ts'

const CONTROL = { ControlName: 'BACKUP_RECOVERY_POINT_ENCRYPTED' }
const arnOf = (kind: string, name: string) => `arn:aws:backup:us-east-1:${ACCOUNT}:${kind}:${name}`

async function makeFramework(service: TestService, FrameworkControls: object[] = [CONTROL]) {
  const sent = { FrameworkName: 'f', FrameworkControls }
  const { status, body } = await service.rest('POST /audit/frameworks', sent)
  if (status !== 200) throw new Error(JSON.stringify(body))
  await service.advance(5_000)
  return body.FrameworkArn as string
}

test('a framework is created, deployed, read, listed, updated and deleted', async () => {
  const service = await openForTest(subgraph)
  const FrameworkControls = [
    {
      ControlName: 'BACKUP_RECOVERY_POINT_MINIMUM_RETENTION_CHECK',
      ControlInputParameters: [{ ParameterName: 'requiredRetentionDays', ParameterValue: '10' }],
      ControlScope: { Tags: { env: 'prod' } },
    },
  ]
  const sent = {
    FrameworkName: 'first_1',
    FrameworkControls,
    FrameworkDescription: 'd',
    FrameworkTags: { a: 'b' },
    IdempotencyToken: 't',
  }

  const created = await service.rest('POST /audit/frameworks', sent)
  const again = await service.rest('POST /audit/frameworks', sent)
  const early = await service.rest('DELETE /audit/frameworks/first_1')
  await service.advance(5_000)
  const read = await service.rest('GET /audit/frameworks/first_1')
  const listed = await service.rest('GET /audit/frameworks')
  const updated = await service.rest('PUT /audit/frameworks/first_1', {
    FrameworkDescription: 'other',
    FrameworkControls: [CONTROL],
  })
  const updating = await service.rest('GET /audit/frameworks/first_1')
  await service.advance(5_000)
  const deleted = await service.rest('DELETE /audit/frameworks/first_1')
  const gone = await service.rest('GET /audit/frameworks/first_1')

  expect(created).toMatchObject({ status: 200 })
  expect(created.body).toEqual({
    FrameworkName: 'first_1',
    FrameworkArn: arnOf('framework', 'first_1'),
  })
  expect(again.body).toEqual(created.body)
  expect(refused(early)).toEqual(refusal('ConflictException', 409))
  expect(read.body).toEqual({
    ...created.body,
    FrameworkDescription: 'd',
    FrameworkControls,
    CreationTime: START_S,
    DeploymentStatus: 'COMPLETED',
    FrameworkStatus: 'ACTIVE',
    IdempotencyToken: 't',
  })
  expect(listed.body.Frameworks).toEqual([
    {
      ...created.body,
      FrameworkDescription: 'd',
      CreationTime: START_S,
      DeploymentStatus: 'COMPLETED',
      NumberOfControls: 1,
    },
  ])
  expect(updated.body).toEqual({ ...created.body, CreationTime: START_S })
  expect(updating.body).toMatchObject({
    DeploymentStatus: 'UPDATE_IN_PROGRESS',
    FrameworkDescription: 'other',
  })
  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(refused(gone)).toEqual(refusal('ResourceNotFoundException'))
})

test('a framework lives in the graph too', async () => {
  const service = await openForTest(subgraph)

  const created = await service.graphql(
    `mutation { createBackupFramework(frameworkName: "f", frameworkControls: [
       { controlName: "BACKUP_RECOVERY_POINT_ENCRYPTED" }]) { frameworkArn deploymentStatus } }`,
  )
  await service.advance(5_000)
  const updated = await service.graphql(
    'mutation { updateBackupFramework(frameworkName: "f", frameworkDescription: "x") { frameworkDescription } }',
  )
  await service.advance(5_000)
  const read = await service.graphql(
    '{ backupFramework(frameworkName: "f") { deploymentStatus } backupFrameworks { nodes { numberOfControls } } }',
  )
  const deleted = await service.graphql('mutation { deleteBackupFramework(frameworkName: "f") }')

  expect(created.data.createBackupFramework.deploymentStatus).toBe('CREATE_IN_PROGRESS')
  expect(updated.data.updateBackupFramework.frameworkDescription).toBe('x')
  expect(read.data).toEqual({
    backupFramework: { deploymentStatus: 'COMPLETED' },
    backupFrameworks: { nodes: [{ numberOfControls: 1 }] },
  })
  expect(deleted.data.deleteBackupFramework).toBe(true)
})

test('a framework that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  const f = { FrameworkName: 'f', FrameworkControls: [CONTROL] }
  const parameter = { ParameterName: 'requiredRetentionDays', ParameterValue: 'x' }
  const wrong: [object, string][] = [
    [{ FrameworkName: 'f' }, 'MissingParameterValueException'],
    [{ FrameworkControls: [CONTROL] }, 'MissingParameterValueException'],
    ...[
      { ...f, FrameworkName: '1f' },
      { ...f, FrameworkControls: [] },
      { ...f, FrameworkControls: [CONTROL, CONTROL] },
      { ...f, FrameworkControls: [{ ControlName: 'SOMETHING' }] },
      { ...f, FrameworkControls: [{ ...CONTROL, ControlInputParameters: [parameter] }] },
    ].map((sent): [object, string] => [sent, 'InvalidParameterValueException']),
  ]

  for (const [sent, name] of wrong) {
    const answer = await service.rest('POST /audit/frameworks', sent)
    expect({ sent, ...refused(answer) }).toEqual({ sent, ...refusal(name) })
  }
  await makeFramework(service)
  const twice = await service.rest('POST /audit/frameworks', f)
  const missing = await service.rest('DELETE /audit/frameworks/none')

  expect(refused(twice)).toEqual(refusal('AlreadyExistsException'))
  expect(refused(missing)).toEqual(refusal('ResourceNotFoundException'))
})

test('controls are held against what is there, within their scope', async () => {
  const service = await openForTest(subgraph)
  const { plan, RecoveryPointArn } = await makePoint(service, {
    Lifecycle: { DeleteAfterDays: 20 },
  })
  await service.rest('PUT /backup-vaults/locked', {})
  await service.rest('PUT /backup-vaults/locked/vault-lock', { MinRetentionDays: 1 })
  const frequent = await makePlan(service, 'frequent', {
    ScheduleExpression: 'rate(6 hours)',
    Lifecycle: { DeleteAfterDays: 35 },
  })
  const days = (ParameterValue: string) => [
    { ParameterName: 'requiredRetentionDays', ParameterValue },
  ]
  await makeFramework(service, [
    { ControlName: 'BACKUP_RECOVERY_POINT_ENCRYPTED' },
    {
      ControlName: 'BACKUP_RECOVERY_POINT_MINIMUM_RETENTION_CHECK',
      ControlInputParameters: days('21'),
    },
    { ControlName: 'BACKUP_RECOVERY_POINT_MANUAL_DELETION_DISABLED' },
    { ControlName: 'BACKUP_PLAN_MIN_FREQUENCY_AND_MIN_RETENTION_CHECK' },
  ])

  const { data } = await service.graphql(
    `{ backupFramework(frameworkName: "f") { evaluations { controlName complianceStatus
       resources { resourceArn isCompliant } } } }`,
  )

  const of = (evaluation: any) =>
    Object.fromEntries(evaluation.resources.map((one: any) => [one.resourceArn, one.isCompliant]))
  const [encrypted, retention, deletion, frequency] = data.backupFramework.evaluations
  expect(encrypted.complianceStatus).toBe('COMPLIANT')
  expect(of(encrypted)).toEqual({ [RecoveryPointArn]: true })
  expect(retention.complianceStatus).toBe('NON_COMPLIANT')
  expect(of(retention)).toEqual({ [RecoveryPointArn]: false })
  expect(of(deletion)).toEqual({
    [arnOf('backup-vault', 'vault')]: false,
    [arnOf('backup-vault', 'locked')]: true,
  })
  expect(of(frequency)).toEqual({
    [plan.BackupPlanArn]: false,
    [frequent.BackupPlanArn]: true,
  })
})

test('a report plan is created, read, listed, updated and deleted with its reports', async () => {
  const service = await openForTest(subgraph)
  const sent = {
    ReportPlanName: 'jobs',
    ReportDeliveryChannel: { S3BucketName: 'bucket', S3KeyPrefix: 'p', Formats: ['CSV', 'JSON'] },
    ReportSetting: { ReportTemplate: 'BACKUP_JOB_REPORT' },
    ReportPlanDescription: 'd',
    ReportPlanTags: { a: 'b' },
    IdempotencyToken: 't',
  }

  const created = await service.rest('POST /audit/report-plans', sent)
  const again = await service.rest('POST /audit/report-plans', sent)
  const twice = await service.rest('POST /audit/report-plans', { ...sent, IdempotencyToken: 'u' })
  await service.advance(DAY_MS)
  const read = await service.rest('GET /audit/report-plans/jobs')
  const listed = await service.rest('GET /audit/report-plans')
  const updated = await service.rest('PUT /audit/report-plans/jobs', {
    ReportDeliveryChannel: { S3BucketName: 'other' },
    ReportSetting: { ReportTemplate: 'COPY_JOB_REPORT' },
  })
  const jobs = await service.rest('GET /audit/report-jobs?ReportPlanName=jobs')
  const deleted = await service.rest('DELETE /audit/report-plans/jobs')
  await service.advance(0)
  const left = await service.rest('GET /audit/report-jobs')

  expect(created.body).toEqual({
    ReportPlanName: 'jobs',
    ReportPlanArn: arnOf('report-plan', 'jobs'),
    CreationTime: START_S,
  })
  expect(again.body).toEqual(created.body)
  expect(refused(twice)).toEqual(refusal('AlreadyExistsException'))
  expect(read.body.ReportPlan).toEqual({
    ...created.body,
    ReportPlanDescription: 'd',
    ReportSetting: sent.ReportSetting,
    ReportDeliveryChannel: sent.ReportDeliveryChannel,
    DeploymentStatus: 'COMPLETED',
    LastAttemptedExecutionTime: START_S + 86_400,
    LastSuccessfulExecutionTime: START_S + 86_400,
  })
  expect(listed.body.ReportPlans).toEqual([read.body.ReportPlan])
  expect(updated.body).toEqual(created.body)
  expect(jobs.body.ReportJobs).toHaveLength(1)
  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(left.body.ReportJobs).toEqual([])
  expect(await service.store.sql("SELECT key FROM blob_version WHERE key LIKE 'report/%'")).toEqual(
    [],
  )
  expect(refused(await service.rest('DELETE /audit/report-plans/jobs'))).toEqual(
    refusal('ResourceNotFoundException'),
  )
})

test('reports are written every day in CSV and JSON, of the jobs of that day', async () => {
  const service = await openForTest(subgraph)
  const { plan, BackupJobId } = await makePoint(service)
  await service.graphql(
    `mutation { createBackupReportPlan(reportPlanName: "jobs", reportSetting: { reportTemplate: "BACKUP_JOB_REPORT" },
       reportDeliveryChannel: { s3BucketName: "bucket", formats: [CSV, JSON] }) { reportPlanArn } }`,
  )
  await service.advance(DAY_MS)
  const { BackupJobId: later } = await backUp(service, plan.BackupPlanArn)
  await service.advance(DAY_MS)

  const { data } = await service.graphql(
    '{ backupReportJobs { nodes { reportJobId status reportDestination { s3Keys } } } backupReportPlans { nodes { reportPlanName } } backupReportPlan(reportPlanName: "jobs") { reportPlanArn } }',
  )
  const [second, first] = data.backupReportJobs.nodes
  const file = (job: any, format: string) =>
    service.rest(`GET /audit/report-jobs/${job.reportJobId}/files/${format}`)
  const csv = await file(first, 'CSV')
  const json = await file(second, 'JSON')
  const inGraph = await service.graphql(
    `query ($id: ID!) { backupReport(reportJobId: $id, format: JSON) { text sizeBytes }
       backupReportJob(reportJobId: $id) { status } }`,
    { id: second.reportJobId },
  )
  const missing = await file({ reportJobId: 'none' }, 'CSV')

  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8')
  const [names, row] = csv.body.toString().split('\r\n')
  expect(names).toMatch(/^Report Account,Report Region,BackupJobId,State,/)
  expect(row).toContain(`${ACCOUNT},us-east-1,${BackupJobId},COMPLETED`)
  const items = json.body.reportItems
  expect(items.map((item: any) => item.BackupJobId)).toEqual([later])
  expect(JSON.parse(inGraph.data.backupReport.text)).toEqual(json.body)
  expect(inGraph.data.backupReportJob.status).toBe('COMPLETED')
  expect(first.reportDestination.s3Keys).toEqual([
    `Backup/${ACCOUNT}/us-east-1/2030/01/02/jobs_${first.reportJobId}.csv`,
    `Backup/${ACCOUNT}/us-east-1/2030/01/02/jobs_${first.reportJobId}.json`,
  ])
  expect(refused(missing)).toEqual(refusal('ResourceNotFoundException'))
})

test('a report of compliance says what the controls of its frameworks found', async () => {
  const service = await openForTest(subgraph)
  const { RecoveryPointArn } = await makePoint(service)
  const FrameworkArn = await makeFramework(service)
  const report = async (ReportTemplate: string, ReportPlanName: string) => {
    await service.rest('POST /audit/report-plans', {
      ReportPlanName,
      ReportDeliveryChannel: { S3BucketName: 'bucket', Formats: ['JSON'] },
      ReportSetting: { ReportTemplate, FrameworkArns: [FrameworkArn] },
    })
    const started = await service.rest(`POST /audit/report-jobs/${ReportPlanName}`, {})
    await service.advance(0)
    const job = await service.rest(`GET /audit/report-jobs/${started.body.ReportJobId}`)
    expect(job.body.ReportJob).toMatchObject({ Status: 'COMPLETED', ReportTemplate })
    const file = await service.rest(`GET /audit/report-jobs/${started.body.ReportJobId}/files/JSON`)
    return file.body.reportItems
  }

  const byControl = await report('CONTROL_COMPLIANCE_REPORT', 'controls')
  const byResource = await report('RESOURCE_COMPLIANCE_REPORT', 'resources')

  const about = {
    'Report Account': ACCOUNT,
    'Report Region': 'us-east-1',
    FrameworkName: 'f',
    ControlName: CONTROL.ControlName,
    ComplianceStatus: 'COMPLIANT',
  }
  expect(byControl).toEqual([{ ...about, Evaluated: 1, NonCompliant: 0 }])
  expect(byResource).toEqual([
    { ...about, ResourceArn: RecoveryPointArn, ResourceType: 'AWS::Backup::RecoveryPoint' },
  ])
})

test('a report plan that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  const plan = {
    ReportPlanName: 'p',
    ReportDeliveryChannel: { S3BucketName: 'bucket' },
    ReportSetting: { ReportTemplate: 'BACKUP_JOB_REPORT' },
  }
  const setting = (more: object) => ({ ...plan, ReportSetting: { ...plan.ReportSetting, ...more } })
  const wrong: [object, string][] = [
    [{}, 'MissingParameterValueException'],
    [{ ...plan, ReportDeliveryChannel: {} }, 'MissingParameterValueException'],
    ...[
      { ...plan, ReportPlanName: 'a-b' },
      { ...plan, ReportDeliveryChannel: { S3BucketName: 'bucket', Formats: ['PDF'] } },
      setting({ ReportTemplate: 'OTHER' }),
      setting({ ReportTemplate: 'CONTROL_COMPLIANCE_REPORT' }),
      setting({ FrameworkArns: [arnOf('framework', 'f')] }),
      setting({
        ReportTemplate: 'CONTROL_COMPLIANCE_REPORT',
        FrameworkArns: [arnOf('framework', 'none')],
      }),
      setting({ Accounts: ['999999999999'] }),
    ].map((sent): [object, string] => [sent, 'InvalidParameterValueException']),
  ]

  for (const [sent, name] of wrong) {
    const answer = await service.rest('POST /audit/report-plans', sent)
    expect({ sent, ...refused(answer) }).toEqual({ sent, ...refusal(name) })
  }
  const start = await service.graphql(
    'mutation { startBackupReportJob(reportPlanName: "none") { reportJobId } }',
  )
  const update = await service.graphql(
    'mutation { updateBackupReportPlan(reportPlanName: "none") { reportPlanArn } }',
  )
  const deleted = await service.graphql(
    'mutation { deleteBackupReportPlan(reportPlanName: "none") }',
  )

  for (const { errors } of [start, update, deleted]) {
    expect(errors![0].extensions.code).toBe('ResourceNotFoundException')
  }
  expect((await service.rest('GET /audit/report-plans')).body.ReportPlans).toEqual([])
})

test('old jobs, old reports and old tokens of requests are forgotten', async () => {
  const service = await openForTest(subgraph)
  await makePoint(service, { IdempotencyToken: 't' })
  await service.rest('POST /audit/report-plans', {
    ReportPlanName: 'r',
    ReportDeliveryChannel: { S3BucketName: 'bucket' },
    ReportSetting: { ReportTemplate: 'BACKUP_JOB_REPORT' },
  })
  await service.advance(DAY_MS)
  const counts = async () => {
    const tables = ['backup_job', 'backup_report_job', 'backup_request_token']
    const rows = tables.map((table) => service.store.sql(`SELECT key FROM "${table}"`))
    return (await Promise.all(rows)).map((found) => found.length)
  }
  await service.rest('DELETE /audit/report-plans/r')
  const before = await counts()
  service.clock.moveTo(new Date('2032-02-01T00:00:00Z'))

  await service.opened.sweep()

  expect(before).toEqual([1, 1, 1])
  expect(await counts()).toEqual([0, 0, 0])
})

test('a cell that a program would take for a formula is written so that it does not', () => {
  const csv = csvOf([{ name: '=1+1', text: 'a "b", c', count: -1 }])

  expect(csv).toBe(`name,text,count\r\n'=1+1,"a ""b"", c",-1\r\n`)
})

test('a vault and the service’s own plan are looked at without any other service', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  await makeFramework(service, [{ ControlName: 'BACKUP_RECOVERY_POINT_MANUAL_DELETION_DISABLED' }])
  await service.rest('PUT /backup-vaults/vault/access-policy', {
    Policy: JSON.stringify({
      Statement: [{ Effect: 'Deny', Principal: '*', Action: ['backup:Delete*'], Resource: '*' }],
    }),
  })

  const { data } = await service.graphql(
    '{ backupFramework(frameworkName: "f") { evaluations { complianceStatus } } }',
  )

  expect(data.backupFramework.evaluations).toEqual([{ complianceStatus: 'COMPLIANT' }])
})
