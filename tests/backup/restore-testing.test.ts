// Restore testing: plans, selections, and the trials that they run on schedule.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT } from '../people.ts'
import {
  backUp,
  DAY_MS,
  HOUR_MS,
  makePoint,
  makeVault,
  refusal,
  refused,
  ROLE,
  START_S,
  vaultArn,
} from './making.ts'

const PLAN = {
  RestoreTestingPlanName: 'weekly',
  ScheduleExpression: 'cron(0 6 ? * * *)',
  RecoveryPointSelection: {
    Algorithm: 'LATEST_WITHIN_WINDOW',
    IncludeVaults: ['*'],
    RecoveryPointTypes: ['SNAPSHOT'],
  },
}
const TYPE = 'AWS::Backup::BackupPlan'
const SELECTION = {
  RestoreTestingSelectionName: 'all',
  ProtectedResourceType: TYPE,
  IamRoleArn: ROLE,
  ProtectedResourceArns: ['*'],
}
const planArn = `arn:aws:backup:us-east-1:${ACCOUNT}:restore-testing-plan:weekly`
const at = '/restore-testing/plans'

async function makeTesting(service: TestService, selection: object = SELECTION, plan: object = {}) {
  const made = await service.rest(`PUT ${at}`, { RestoreTestingPlan: { ...PLAN, ...plan } })
  const { status, body } = await service.rest(`PUT ${at}/weekly/selections`, {
    RestoreTestingSelection: selection,
  })
  if (status !== 200) throw new Error(JSON.stringify([made.body, body]))
}

const trialsOf = async (service: TestService) =>
  (await service.rest(`GET /restore-jobs?restoreTestingPlanArn=${encodeURIComponent(planArn)}`))
    .body.RestoreJobs

test('a plan and a selection are created in that order, read, listed, updated and deleted', async () => {
  const service = await openForTest(subgraph)

  const early = await service.rest(`PUT ${at}/weekly/selections`, {
    RestoreTestingSelection: SELECTION,
  })
  const plan = await service.rest(`PUT ${at}`, {
    RestoreTestingPlan: PLAN,
    CreatorRequestId: 'r',
    Tags: { a: 'b' },
  })
  const again = await service.rest(`PUT ${at}`, {
    RestoreTestingPlan: PLAN,
    CreatorRequestId: 'r',
    Tags: { a: 'b' },
  })
  const selection = await service.rest(`PUT ${at}/weekly/selections`, {
    RestoreTestingSelection: SELECTION,
    CreatorRequestId: 's',
  })
  const readPlan = await service.rest(`GET ${at}/weekly`)
  const readSelection = await service.rest(`GET ${at}/weekly/selections/all`)
  const plans = await service.rest(`GET ${at}`)
  const selections = await service.rest(`GET ${at}/weekly/selections`)
  await service.advance(1_000)
  const updatedPlan = await service.rest(`PUT ${at}/weekly`, {
    RestoreTestingPlan: { StartWindowHours: 2, ScheduleExpression: 'rate(7 days)' },
  })
  const updatedSelection = await service.rest(`PUT ${at}/weekly/selections/all`, {
    RestoreTestingSelection: {
      ProtectedResourceConditions: { StringEquals: [{ Key: 'aws:ResourceTag/a', Value: 'b' }] },
    },
  })
  const changed = await service.rest(`GET ${at}/weekly/selections/all`)
  const held = await service.rest(`DELETE ${at}/weekly`)
  const noSelection = await service.rest(`DELETE ${at}/weekly/selections/all`)
  const noPlan = await service.rest(`DELETE ${at}/weekly`)

  expect(refused(early)).toEqual(refusal('ResourceNotFoundException'))
  expect(plan.body).toEqual({
    CreationTime: START_S,
    RestoreTestingPlanArn: planArn,
    RestoreTestingPlanName: 'weekly',
  })
  expect(again.body).toEqual(plan.body)
  expect(selection.body).toEqual({ ...plan.body, RestoreTestingSelectionName: 'all' })
  expect(readPlan.body.RestoreTestingPlan).toEqual({
    ...plan.body,
    ScheduleExpression: PLAN.ScheduleExpression,
    StartWindowHours: 24,
    CreatorRequestId: 'r',
    RecoveryPointSelection: {
      ...PLAN.RecoveryPointSelection,
      ExcludeVaults: [],
      SelectionWindowDays: 30,
    },
  })
  expect(readSelection.body.RestoreTestingSelection).toEqual({
    ...SELECTION,
    CreationTime: START_S,
    RestoreTestingPlanName: 'weekly',
    CreatorRequestId: 's',
  })
  expect(plans.body.RestoreTestingPlans).toHaveLength(1)
  expect(selections.body.RestoreTestingSelections).toHaveLength(1)
  expect(updatedPlan.body).toEqual({ ...plan.body, UpdateTime: START_S + 1 })
  expect(updatedSelection.body).toEqual({ ...selection.body, UpdateTime: START_S + 1 })
  expect(changed.body.RestoreTestingSelection.ProtectedResourceArns).toBeUndefined()
  expect(refused(held)).toEqual(refusal('InvalidRequestException'))
  expect(noSelection).toMatchObject({ status: 200, body: undefined })
  expect(noPlan).toMatchObject({ status: 200, body: undefined })
  expect((await service.opened.work.counts()).parked).toBe(0)
})

test('the same in the graph', async () => {
  const service = await openForTest(subgraph)

  const created = await service.graphql(
    `mutation ($role: String!) {
       createBackupRestoreTestingPlan(restoreTestingPlan: { restoreTestingPlanName: "weekly",
         scheduleExpression: "rate(7 days)", recoveryPointSelection: { algorithm: RANDOM_WITHIN_WINDOW,
         includeVaults: ["*"], recoveryPointTypes: [SNAPSHOT, CONTINUOUS] } }) { restoreTestingPlanArn }
       createBackupRestoreTestingSelection(restoreTestingPlanName: "weekly", restoreTestingSelection: {
         restoreTestingSelectionName: "all", protectedResourceType: "*", iamRoleArn: $role,
         protectedResourceConditions: { stringEquals: [{ key: "a", value: "b" }] } }) { protectedResourceType }
       updateBackupRestoreTestingPlan(restoreTestingPlanName: "weekly",
         restoreTestingPlan: { startWindowHours: 3 }) { startWindowHours }
       updateBackupRestoreTestingSelection(restoreTestingPlanName: "weekly", restoreTestingSelectionName: "all",
         restoreTestingSelection: { validationWindowHours: 5 }) { validationWindowHours } }`,
    { role: ROLE },
  )
  const read = await service.graphql(
    `{ backupRestoreTestingPlan(restoreTestingPlanName: "weekly") { recoveryPointSelection { algorithm } }
       backupRestoreTestingPlans { nodes { restoreTestingPlanName } }
       backupRestoreTestingSelection(restoreTestingPlanName: "weekly", restoreTestingSelectionName: "all") {
         protectedResourceConditions { stringEquals { key value } } }
       backupRestoreTestingSelections(restoreTestingPlanName: "weekly") { nodes { restoreTestingSelectionName } } }`,
  )
  const deleted = await service.graphql(
    `mutation { deleteBackupRestoreTestingSelection(restoreTestingPlanName: "weekly", restoreTestingSelectionName: "all")
       deleteBackupRestoreTestingPlan(restoreTestingPlanName: "weekly") }`,
  )

  expect(created.errors).toBeUndefined()
  expect(created.data).toMatchObject({
    createBackupRestoreTestingSelection: { protectedResourceType: '*' },
    updateBackupRestoreTestingPlan: { startWindowHours: 3 },
    updateBackupRestoreTestingSelection: { validationWindowHours: 5 },
  })
  expect(read.data).toEqual({
    backupRestoreTestingPlan: { recoveryPointSelection: { algorithm: 'RANDOM_WITHIN_WINDOW' } },
    backupRestoreTestingPlans: { nodes: [{ restoreTestingPlanName: 'weekly' }] },
    backupRestoreTestingSelection: {
      protectedResourceConditions: { stringEquals: [{ key: 'a', value: 'b' }] },
    },
    backupRestoreTestingSelections: { nodes: [{ restoreTestingSelectionName: 'all' }] },
  })
  expect(deleted.data).toEqual({
    deleteBackupRestoreTestingSelection: true,
    deleteBackupRestoreTestingPlan: true,
  })
})

test('a plan or a selection that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  const choice = PLAN.RecoveryPointSelection
  const plans: [object, string][] = [
    [{ ...PLAN, RecoveryPointSelection: undefined }, 'MissingParameterValueException'],
    [{ ...PLAN, ScheduleExpression: undefined }, 'MissingParameterValueException'],
    ...[
      { ...PLAN, RestoreTestingPlanName: 'a-b' },
      { ...PLAN, ScheduleExpression: 'weekly' },
      { ...PLAN, StartWindowHours: 169 },
      { ...PLAN, RecoveryPointSelection: { ...choice, Algorithm: 'ANY' } },
      { ...PLAN, RecoveryPointSelection: { ...choice, IncludeVaults: [] } },
      { ...PLAN, RecoveryPointSelection: { ...choice, IncludeVaults: ['vault'] } },
      { ...PLAN, RecoveryPointSelection: { ...choice, ExcludeVaults: ['*'] } },
      { ...PLAN, RecoveryPointSelection: { ...choice, SelectionWindowDays: 366 } },
    ].map((plan): [object, string] => [plan, 'InvalidParameterValueException']),
  ]
  for (const [RestoreTestingPlan, name] of plans) {
    const answer = await service.rest(`PUT ${at}`, { RestoreTestingPlan })
    expect({ RestoreTestingPlan, ...refused(answer) }).toEqual({
      RestoreTestingPlan,
      ...refusal(name),
    })
  }
  await service.rest(`PUT ${at}`, { RestoreTestingPlan: PLAN })
  const twice = await service.rest(`PUT ${at}`, { RestoreTestingPlan: PLAN })
  expect(refused(twice)).toEqual(refusal('AlreadyExistsException'))

  const conditions = { StringEquals: [{ Key: 'a', Value: 'b' }] }
  const arns = Array.from({ length: 31 }, (_, i) => `arn:aws:backup:us-east-1:${ACCOUNT}:x${i}`)
  const selections: [object, string][] = [
    [{ ...SELECTION, ProtectedResourceType: undefined }, 'MissingParameterValueException'],
    [{ ...SELECTION, IamRoleArn: undefined }, 'MissingParameterValueException'],
    ...[
      { ...SELECTION, ProtectedResourceArns: undefined },
      { ...SELECTION, ProtectedResourceConditions: conditions },
      { ...SELECTION, ProtectedResourceArns: arns },
      { ...SELECTION, ProtectedResourceArns: ['*', arns[0]] },
      { ...SELECTION, ProtectedResourceType: '*' },
      { ...SELECTION, RestoreTestingSelectionName: 'a b' },
      { ...SELECTION, IamRoleArn: `arn:aws:iam::${ACCOUNT}:role/none` },
      { ...SELECTION, ValidationWindowHours: 169 },
    ].map((selection): [object, string] => [selection, 'InvalidParameterValueException']),
  ]
  for (const [RestoreTestingSelection, name] of selections) {
    const answer = await service.rest(`PUT ${at}/weekly/selections`, { RestoreTestingSelection })
    expect({ RestoreTestingSelection, ...refused(answer) }).toEqual({
      RestoreTestingSelection,
      ...refusal(name),
    })
  }
  await service.rest(`PUT ${at}/weekly/selections`, { RestoreTestingSelection: SELECTION })
  const second = await service.rest(`PUT ${at}/weekly/selections`, {
    RestoreTestingSelection: SELECTION,
  })
  expect(refused(second)).toEqual(refusal('AlreadyExistsException'))
  const thirty = await service.rest(`PUT ${at}/weekly/selections`, {
    RestoreTestingSelection: {
      ...SELECTION,
      RestoreTestingSelectionName: 'thirty',
      ProtectedResourceArns: arns.slice(1),
    },
  })
  expect(thirty.status).toBe(200)
  for (const path of [`${at}/none`, `${at}/weekly/selections/none`, `${at}/none/selections/x`]) {
    expect(refused(await service.rest(`DELETE ${path}`))).toEqual(
      refusal('ResourceNotFoundException'),
    )
  }
})

test('a trial is run on schedule, its success recorded and nothing left of it', async () => {
  const service = await openForTest(subgraph)
  const { plan, RecoveryPointArn } = await makePoint(service)
  await service.advance(HOUR_MS)
  const { RecoveryPointArn: latest } = await backUp(service, plan.BackupPlanArn)
  await makeTesting(service, { ...SELECTION, ValidationWindowHours: 1 })
  const before = (await service.rest('GET /backup/plans')).body

  await service.advance(5 * HOUR_MS)

  const [trial, ...more] = await trialsOf(service)
  expect(more).toEqual([])
  expect(trial).toMatchObject({
    Status: 'COMPLETED',
    RecoveryPointArn: latest,
    CreatedBy: { RestoreTestingPlanArn: planArn },
    ValidationStatus: 'SUCCESSFUL',
    DeletionStatus: 'SUCCESSFUL',
    CreationDate: START_S + 6 * 3_600,
  })
  expect(trial.RecoveryPointArn).not.toBe(RecoveryPointArn)
  expect(trial.CreatedResourceArn).toBeUndefined()
  expect((await service.rest('GET /backup/plans')).body).toEqual(before)
  const readPlan = await service.rest(`GET ${at}/weekly`)
  expect(readPlan.body.RestoreTestingPlan.LastExecutionTime).toBe(START_S + 6 * 3_600)
  const validated = await service.rest(`PUT /restore-jobs/${trial.RestoreJobId}/validations`, {
    ValidationStatus: 'FAILED',
    ValidationStatusMessage: 'a row is missing',
  })
  await service.advance(2 * HOUR_MS)
  const late = await service.graphql(
    `mutation ($id: ID!) { putBackupRestoreValidationResult(restoreJobId: $id, validationStatus: SUCCESSFUL) }`,
    { id: trial.RestoreJobId },
  )
  expect(validated.status).toBe(204)
  expect(late.errors![0].extensions.code).toBe('InvalidRequestException')
  expect(await trialsOf(service)).toMatchObject([
    { ValidationStatus: 'FAILED', ValidationStatusMessage: 'a row is missing' },
  ])
})

test('a trial of a resource that is gone is of the resource itself, and compared byte by byte', async () => {
  const service = await openForTest(subgraph)
  const { plan } = await makePoint(service)
  await makeTesting(service)
  await service.rest(`DELETE /backup/plans/${plan.BackupPlanId}`)

  await service.advance(DAY_MS)

  expect(await trialsOf(service)).toMatchObject([
    { Status: 'COMPLETED', ValidationStatus: 'SUCCESSFUL' },
  ])
  expect((await service.rest(`GET /backup/plans/${plan.BackupPlanId}`)).status).toBe(400)
})

test('a trial that cannot be restored is recorded as failed', async () => {
  const service = await openForTest(subgraph)
  await makePoint(service)
  await service.graphql(
    'mutation { putBackupRole(roleName: "weak", permissions: ["backup:StartBackupJob"]) { roleArn } }',
  )
  await makeTesting(service, { ...SELECTION, IamRoleArn: `arn:aws:iam::${ACCOUNT}:role/weak` })

  await service.advance(DAY_MS)

  expect(await trialsOf(service)).toMatchObject([
    { Status: 'FAILED', ValidationStatus: 'FAILED', ValidationStatusMessage: expect.any(String) },
  ])
})

test('only points of the wanted vaults, types and days are tried', async () => {
  const service = await openForTest(subgraph)
  const { plan } = await makePoint(service)
  await makeVault(service, 'other')
  await service.advance(3 * DAY_MS)
  const choice = PLAN.RecoveryPointSelection
  const trials = async (RecoveryPointSelection: object) => {
    await service.rest(`PUT ${at}/weekly`, { RestoreTestingPlan: { RecoveryPointSelection } })
    const before = (await trialsOf(service)).length
    await service.advance(DAY_MS)
    return (await trialsOf(service)).length - before
  }
  await makeTesting(service)

  const counts = [
    await trials({ ...choice, IncludeVaults: [vaultArn('oth*')] }),
    await trials({ ...choice, ExcludeVaults: [vaultArn('vault')] }),
    await trials({ ...choice, RecoveryPointTypes: ['CONTINUOUS'] }),
    await trials({ ...choice, SelectionWindowDays: 2 }),
    await trials({ ...choice, Algorithm: 'RANDOM_WITHIN_WINDOW' }),
  ]

  expect(counts).toEqual([0, 0, 0, 0, 1])
  expect(plan.BackupPlanArn).toContain('backup-plan')
})

test('a selection by condition tries what was so tagged when it was backed up', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { body } = await service.rest('PUT /backup/plans/', {
    BackupPlan: {
      BackupPlanName: 'p',
      Rules: [
        {
          RuleName: 'r',
          TargetBackupVaultName: 'vault',
          ScheduleExpression: 'cron(0 5 1 1 ? 2090)',
        },
      ],
    },
    BackupPlanTags: { env: 'prod' },
  })
  await backUp(service, body.BackupPlanArn)
  const by = (Value: string) => ({
    ...SELECTION,
    ProtectedResourceType: '*',
    ProtectedResourceArns: undefined,
    RestoreTestingSelectionName: Value,
    ProtectedResourceConditions: { StringEquals: [{ Key: 'aws:ResourceTag/env', Value }] },
  })
  await makeTesting(service, by('prod'))
  await service.rest(`PUT ${at}/weekly/selections`, { RestoreTestingSelection: by('dev') })

  await service.advance(DAY_MS)

  expect(await trialsOf(service)).toHaveLength(1)
})

test('a test that missed its window is left out, and the plan goes on', async () => {
  const service = await openForTest(subgraph)
  await makePoint(service)
  await makeTesting(service, SELECTION, { StartWindowHours: 1 })

  service.clock.moveTo(new Date(service.clock.now().getTime() + 8 * HOUR_MS))
  await service.advance(0)
  const missed = await trialsOf(service)
  await service.advance(DAY_MS)

  expect(missed).toEqual([])
  expect(await trialsOf(service)).toHaveLength(1)
})
