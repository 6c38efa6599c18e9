// Plans as they run by themselves on the clock: schedules, windows, copies, continuous backup.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT } from '../people.ts'
import {
  DAY_MS,
  HOUR_MS,
  makePlan,
  makeVault,
  planOf,
  pointPath,
  refusal,
  refused,
  ROLE,
  START_S,
  vaultArn,
} from './making.ts'

/** A plan that backs itself up, since that needs no other service. */
async function makeRunning(service: TestService, rule: object, selection: object = {}) {
  await makeVault(service)
  const plan = await makePlan(service, 'plan', rule)
  const created = await service.rest(`PUT /backup/plans/${plan.BackupPlanId}/selections/`, {
    BackupSelection: {
      SelectionName: 's',
      IamRoleArn: ROLE,
      Resources: [plan.BackupPlanArn],
      ...selection,
    },
  })
  if (created.status !== 200) throw new Error(JSON.stringify(created.body))
  return plan
}

const jobsOf = async (service: TestService, query = '') =>
  (await service.rest(`GET /backup-jobs${query}`)).body.BackupJobs

const pointsOf = async (service: TestService, vault = 'vault') => {
  const all: any[] = []
  let token = ''
  do {
    const { body } = await service.rest(`GET /backup-vaults/${vault}/recovery-points${token}`)
    all.push(...body.RecoveryPoints)
    token = body.NextToken ? `?nextToken=${body.NextToken}` : ''
  } while (token !== '')
  return all
}

test('a year of a daily plan with 35 days of retention leaves exactly the points it should', async () => {
  const service = await openForTest(subgraph)
  await makeRunning(service, {
    ScheduleExpression: 'cron(0 5 ? * * *)',
    Lifecycle: { DeleteAfterDays: 35 },
  })

  await service.advance(365 * DAY_MS)

  const points = await pointsOf(service)
  const days = points.map(({ CreationDate }) => (CreationDate - START_S - 5 * 3_600) / 86_400)
  expect(days).toEqual(Array.from({ length: 35 }, (_, i) => 364 - i))
  expect(points.every(({ Status }) => Status === 'COMPLETED')).toBe(true)
  const { data } = await service.graphql(
    '{ backupVault(backupVaultName: "vault") { numberOfRecoveryPoints } }',
  )
  expect(data.backupVault.numberOfRecoveryPoints).toBe(35)
  const [{ blobs }] = (await service.store.sql('SELECT count(*) AS blobs FROM blob_version')) as any
  const counts = await service.opened.work.counts()
  expect(Number(blobs)).toBe(35)
  // One step for the plan, and one for the end of every point.
  expect(counts).toEqual({ waiting: 36, parked: 0 })
  expect(service.mistakes).toEqual([])
}, 60_000)

test('a run notes what it was made by, and when the plan ran and will run', async () => {
  const service = await openForTest(subgraph)
  const plan = await makeRunning(service, {
    ScheduleExpression: 'rate(12 hours)',
    RecoveryPointTags: { by: 'plan' },
  })

  await service.advance(12 * HOUR_MS)

  const [job] = await jobsOf(service)
  const [point] = await pointsOf(service)
  const read = await service.rest(`GET /backup/plans/${plan.BackupPlanId}`)
  const creator = {
    BackupPlanId: plan.BackupPlanId,
    BackupPlanArn: plan.BackupPlanArn,
    BackupPlanName: 'plan',
    BackupPlanVersion: plan.VersionId,
    BackupRuleId: read.body.BackupPlan.Rules[0].RuleId,
    BackupRuleName: 'rule',
    BackupRuleCron: 'rate(12 hours)',
    BackupRuleTimezone: 'UTC',
  }
  expect(job).toMatchObject({
    State: 'COMPLETED',
    CreatedBy: creator,
    CreationDate: START_S + 43_200,
  })
  expect(point).toMatchObject({ CreatedBy: creator, RecoveryPointArn: job.RecoveryPointArn })
  expect(read.body.LastExecutionDate).toBe(START_S + 43_200)
  const filtered = await service.rest(
    `GET /backup-vaults/vault/recovery-points?backupPlanId=${plan.BackupPlanId}`,
  )
  expect(filtered.body.RecoveryPoints).toHaveLength(1)
  const tags = await service.rest(`GET /tags/${encodeURIComponent(point.RecoveryPointArn)}`)
  expect(tags.body.Tags).toEqual({ by: 'plan' })
  const { data } = await service.graphql(
    `query ($id: ID!) { backupPlanById(id: $id) { nextExecutionDate protection { lastBackupTime
       lastRecoveryPoint { status } } recoveryPoints { nodes { status createdBy { plan { name } } } }
       backupJobs { nodes { state } } selections { nodes { selectionName } } } }`,
    { id: plan.BackupPlanArn },
  )
  expect(data.backupPlanById).toEqual({
    nextExecutionDate: '2030-01-02T00:00:00.000Z',
    protection: {
      lastBackupTime: '2030-01-01T12:00:00.000Z',
      lastRecoveryPoint: { status: 'COMPLETED' },
    },
    recoveryPoints: { nodes: [{ status: 'COMPLETED', createdBy: { plan: { name: 'plan' } } }] },
    backupJobs: { nodes: [{ state: 'COMPLETED' }] },
    selections: { nodes: [{ selectionName: 's' }] },
  })
})

test('several rules of one plan run each at its moment, and together where those are the same', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const rule = { TargetBackupVaultName: 'vault' }
  const { body: plan } = await service.rest('PUT /backup/plans/', {
    BackupPlan: {
      BackupPlanName: 'plan',
      Rules: [
        { ...rule, RuleName: 'six', ScheduleExpression: 'cron(0 */6 * * ? *)' },
        { ...rule, RuleName: 'noon', ScheduleExpression: 'cron(0 12 ? * TUE *)' },
      ],
    },
  })
  await service.rest(`PUT /backup/plans/${plan.BackupPlanId}/selections/`, {
    BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: [plan.BackupPlanArn] },
  })

  await service.advance(DAY_MS - 1)

  const runs = (await jobsOf(service)).map((job: any) => [
    (job.CreationDate - START_S) / 3_600,
    job.CreatedBy.BackupRuleName,
  ])
  expect(runs.toSorted()).toEqual([
    [12, 'noon'],
    [12, 'six'],
    [18, 'six'],
    [6, 'six'],
  ])
  expect((await service.opened.work.counts()).waiting).toBe(1)
})

test('a plan that is updated or deleted runs by its old moments no more', async () => {
  const service = await openForTest(subgraph)
  const plan = await makeRunning(service, { ScheduleExpression: 'rate(1 hour)' })
  await service.rest(`POST /backup/plans/${plan.BackupPlanId}`, {
    BackupPlan: planOf('plan', { ScheduleExpression: 'rate(5 hours)' }),
  })

  await service.advance(5 * HOUR_MS)
  const updated = await jobsOf(service)
  const { body } = await service.rest(`GET /backup/plans/${plan.BackupPlanId}/selections`)
  const { SelectionId } = body.BackupSelectionsList[0]
  await service.rest(`DELETE /backup/plans/${plan.BackupPlanId}/selections/${SelectionId}`)
  await service.rest(`DELETE /backup/plans/${plan.BackupPlanId}`)
  await service.advance(10 * HOUR_MS)

  expect(updated).toHaveLength(1)
  expect(await jobsOf(service)).toHaveLength(1)
  expect((await service.opened.work.counts()).waiting).toBe(0)
})

test('a rule copies every point that it makes, with a lifecycle of its own or that of the point', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service, 'short')
  await makeVault(service, 'same')
  await makeRunning(service, {
    ScheduleExpression: 'rate(1 day)',
    Lifecycle: { DeleteAfterDays: 10 },
    CopyActions: [
      { DestinationBackupVaultArn: vaultArn('short'), Lifecycle: { DeleteAfterDays: 2 } },
      { DestinationBackupVaultArn: vaultArn('same') },
    ],
  })

  await service.advance(DAY_MS)
  const [job] = await jobsOf(service)
  const copies = (await service.rest('GET /copy-jobs')).body.CopyJobs
  const kept = [await pointsOf(service, 'short'), await pointsOf(service, 'same')]
  await service.advance(2 * DAY_MS)

  expect(copies.map((copy: any) => [copy.State, copy.CreatedByBackupJobId])).toEqual([
    ['COMPLETED', job.BackupJobId],
    ['COMPLETED', job.BackupJobId],
  ])
  expect(kept.map(([point]) => point.Lifecycle)).toEqual([
    { DeleteAfterDays: 2 },
    { DeleteAfterDays: 10 },
  ])
  // Three days were backed up; the copies of two have ended.
  expect(await pointsOf(service, 'short')).toHaveLength(2)
  expect(await pointsOf(service, 'same')).toHaveLength(3)
})

test('selections by tag and by condition take what is so tagged at the moment of the run', async () => {
  const service = await openForTest(subgraph)
  await makeRunning(
    service,
    { ScheduleExpression: 'rate(1 hour)' },
    {
      Resources: undefined,
      ListOfTags: [
        { ConditionType: 'STRINGEQUALS', ConditionKey: 'backup', ConditionValue: 'yes' },
      ],
      Conditions: {
        StringNotLike: [{ ConditionKey: 'aws:ResourceTag/env', ConditionValue: 'dev*' }],
      },
    },
  )
  const tag = async (name: string, Tags: object) => {
    const { BackupPlanArn } = await makePlan(service, name)
    await service.rest(`POST /tags/${encodeURIComponent(BackupPlanArn)}`, { Tags })
  }
  await tag('wanted', { backup: 'yes', env: 'prod' })
  await tag('unwanted', { backup: 'yes', env: 'dev-1' })
  await tag('untagged', { env: 'prod' })

  await service.advance(HOUR_MS)

  // Without a gateway the other services cannot be asked, so that the run waits for them.
  expect(await jobsOf(service)).toEqual([])
  // Four plans wait for their moments, and the run to be tried again.
  expect((await service.opened.work.counts()).waiting).toBe(5)
})

test('jobs that could not begin within their window expire, and the plan goes on from now', async () => {
  const service = await openForTest(subgraph)
  await makeRunning(service, { ScheduleExpression: 'cron(0 5 ? * * *)', StartWindowMinutes: 60 })

  // Nothing runs here for two days.
  service.clock.moveTo(new Date(service.clock.now().getTime() + 2 * DAY_MS))
  await service.advance(0)
  const late = await jobsOf(service)
  await service.advance(5 * HOUR_MS)
  const all = await jobsOf(service)

  expect(late).toMatchObject([{ State: 'EXPIRED', StatusMessage: expect.any(String) }])
  expect(all.map((job: any) => job.State)).toEqual(['COMPLETED', 'EXPIRED'])
})

test('a rule whose vault is gone makes no job, and does not stop the plan', async () => {
  const service = await openForTest(subgraph)
  await makeRunning(service, { ScheduleExpression: 'rate(1 day)', StartWindowMinutes: 60 })
  await service.rest('DELETE /backup-vaults/vault')

  await service.advance(DAY_MS + HOUR_MS)
  await makeVault(service)
  await service.advance(DAY_MS)

  expect(await jobsOf(service)).toMatchObject([{ State: 'COMPLETED' }])
  expect(service.mistakes).toEqual([])
})

async function makeContinuous(service: TestService) {
  const plan = await makeRunning(service, {
    ScheduleExpression: 'rate(1 day)',
    EnableContinuousBackup: true,
    Lifecycle: { DeleteAfterDays: 2 },
  })
  await service.advance(DAY_MS)
  const [point] = await pointsOf(service)
  return { plan, point, path: pointPath('vault', point.RecoveryPointArn) }
}

const retag = (service: TestService, arn: string, version: string) =>
  service.rest(`POST /tags/${encodeURIComponent(arn)}`, { Tags: { version } })

test('a continuous point is one for a resource, and is restored as it was at a moment', async () => {
  const service = await openForTest(subgraph)
  const { plan, point } = await makeContinuous(service)
  await retag(service, plan.BackupPlanArn, '1')
  await service.advance(HOUR_MS)
  await retag(service, plan.BackupPlanArn, '2')
  await service.advance(HOUR_MS)
  const restore = async (restoreTime: string, name: string) => {
    const resourceId = plan.BackupPlanArn.replace(plan.BackupPlanId, name)
    const started = await service.rest('PUT /restore-jobs', {
      RecoveryPointArn: point.RecoveryPointArn,
      Metadata: { resourceId, restoreTime },
    })
    await service.advance(0)
    const job = await service.rest(`GET /restore-jobs/${started.body.RestoreJobId}`)
    const tags = await service.rest(`GET /tags/${encodeURIComponent(resourceId)}`)
    return [job.body.Status, tags.body.Tags?.version]
  }

  const latest = await restore('latest', 'latest')
  const earlier = await restore('2030-01-02T01:30:00Z', 'earlier')
  const before = await restore('2030-01-01T12:00:00Z', 'before')
  await service.advance(DAY_MS)

  expect(point).toMatchObject({
    Status: 'AVAILABLE',
    RecoveryPointArn: expect.stringContaining(':continuous:'),
  })
  expect(latest).toEqual(['COMPLETED', '2'])
  expect(earlier).toEqual(['COMPLETED', '1'])
  expect(before[0]).toBe('FAILED')
  expect((await pointsOf(service)).map((one) => one.RecoveryPointArn)).toEqual([
    point.RecoveryPointArn,
  ])
  const jobs = (await jobsOf(service)).filter(
    (job: any) => job.CreatedBy.BackupPlanId === plan.BackupPlanId,
  )
  expect(jobs.map((job: any) => job.BackupType)).toEqual(['CONTINUOUS', 'CONTINUOUS'])
})

test('a continuous point forgets the states that are older than its retention', async () => {
  const service = await openForTest(subgraph)
  const { plan } = await makeContinuous(service)
  for (const version of ['1', '2', '3']) {
    await retag(service, plan.BackupPlanArn, version)
    await service.advance(HOUR_MS)
  }
  const versions = async () => (await service.store.sql('SELECT version FROM blob_version')).length

  const many = await versions()
  await service.advance(10 * DAY_MS)

  expect(many).toBe(4)
  // The plan itself changes when it runs, once a day: two days ago, a day ago and now.
  expect(await versions()).toBe(3)
})

test('deleting a continuous point stops continuous backup, until the plan has a new version', async () => {
  const service = await openForTest(subgraph)
  const { plan, path } = await makeContinuous(service)

  const deleted = await service.rest(`DELETE ${path}`)
  await service.advance(DAY_MS)
  const kinds = (await pointsOf(service)).map((point) => point.Status)
  await service.rest(`POST /backup/plans/${plan.BackupPlanId}`, {
    BackupPlan: planOf('plan', {
      ScheduleExpression: 'rate(1 day)',
      EnableContinuousBackup: true,
      Lifecycle: { DeleteAfterDays: 2 },
    }),
  })
  await service.advance(DAY_MS)

  expect(deleted.status).toBe(200)
  expect(kinds).toEqual(['COMPLETED'])
  expect((await pointsOf(service)).map((point) => point.Status)).toContain('AVAILABLE')
})

test('a continuous point that is disassociated is captured no more and ends by its lifecycle', async () => {
  const service = await openForTest(subgraph)
  const { path, point } = await makeContinuous(service)

  const stopped = await service.rest(`POST ${path}/disassociate`, {})
  const read = await service.rest(`GET ${path}`)
  const again = await service.graphql(
    `mutation ($arn: ID!) { disassociateBackupRecoveryPoint(backupVaultName: "vault", recoveryPointArn: $arn) }`,
    { arn: point.RecoveryPointArn },
  )

  expect(stopped).toMatchObject({ status: 200, body: undefined })
  expect(read.body).toMatchObject({
    Status: 'STOPPED',
    CalculatedLifecycle: { DeleteAt: START_S + 3 * 86_400 },
  })
  expect(again.errors![0].extensions.code).toBe('InvalidResourceStateException')
  const plain = await makePlan(service, 'plain')
  const { body } = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn: plain.BackupPlanArn,
    IamRoleArn: ROLE,
  })
  await service.advance(0)
  const job = await service.rest(`GET /backup-jobs/${body.BackupJobId}`)
  const snapshot = await service.rest(
    `POST ${pointPath('vault', job.body.RecoveryPointArn)}/disassociate`,
    {},
  )
  expect(refused(snapshot)).toEqual(refusal('InvalidRequestException'))
  const copied = await service.rest('PUT /copy-jobs', {
    RecoveryPointArn: point.RecoveryPointArn,
    SourceBackupVaultName: 'vault',
    DestinationBackupVaultArn: `arn:aws:backup:us-east-1:${ACCOUNT}:backup-vault:other`,
    IamRoleArn: ROLE,
  })
  expect(refused(copied)).toEqual(refusal('InvalidRequestException'))
})

test('a continuous point whose plan no longer wants it stops by itself', async () => {
  const service = await openForTest(subgraph)
  const { plan, path } = await makeContinuous(service)
  await service.rest(`POST /backup/plans/${plan.BackupPlanId}`, { BackupPlan: planOf('plan') })

  await service.advance(HOUR_MS)
  const stopped = await service.rest(`GET ${path}`)
  await service.advance(2 * DAY_MS)

  expect(stopped.body.Status).toBe('STOPPED')
  expect(refused(await service.rest(`GET ${path}`))).toEqual(refusal('ResourceNotFoundException'))
})
