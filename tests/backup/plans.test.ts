// Plans, their versions and their selections.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_ACCOUNT } from '../people.ts'
import { makePlan, makeVault, planOf, refusal, refused, ROLE, START_S, vaultArn } from './making.ts'

const RULE = {
  RuleName: 'nightly',
  TargetBackupVaultName: 'vault',
  ScheduleExpression: 'cron(30 2 ? * MON-FRI *)',
  ScheduleExpressionTimezone: 'Europe/Paris',
  StartWindowMinutes: 60,
  CompletionWindowMinutes: 180,
  Lifecycle: { MoveToColdStorageAfterDays: 10, DeleteAfterDays: 100 },
  RecoveryPointTags: { from: 'plan' },
  CopyActions: [
    { DestinationBackupVaultArn: vaultArn('copies'), Lifecycle: { DeleteAfterDays: 5 } },
  ],
}

test('a plan that was created is read back whole, with what was left out filled in', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const BackupPlan = {
    BackupPlanName: 'plan.1',
    Rules: [RULE, { RuleName: 'usual', TargetBackupVaultName: 'vault' }],
    AdvancedBackupSettings: [{ ResourceType: 'EC2', BackupOptions: { WindowsVSS: 'enabled' } }],
  }

  const created = await service.rest('PUT /backup/plans/', {
    BackupPlan,
    BackupPlanTags: { a: 'b' },
    CreatorRequestId: 'r',
  })
  const { BackupPlanId } = created.body
  const read = await service.rest(`GET /backup/plans/${BackupPlanId}?MaxScheduledRunsPreview=2`)
  const { data } = await service.graphql(
    `query ($id: ID!) { backupPlan(backupPlanId: $id) { id name type tags nextExecutionDate
       rules { ruleName scheduleExpression startWindowMinutes lifecycle { deleteAfterDays } } } }`,
    { id: BackupPlanId },
  )

  const BackupPlanArn = `arn:aws:backup:us-east-1:${ACCOUNT}:backup-plan:${BackupPlanId}`
  expect(created).toMatchObject({ status: 200 })
  expect(created.body).toEqual({
    BackupPlanId: expect.any(String),
    BackupPlanArn,
    CreationDate: START_S,
    VersionId: expect.any(String),
    AdvancedBackupSettings: BackupPlan.AdvancedBackupSettings,
  })
  expect(read.body).toEqual({
    ...created.body,
    CreatorRequestId: 'r',
    BackupPlan: {
      ...BackupPlan,
      Rules: [
        { ...RULE, RuleId: expect.any(String) },
        {
          RuleId: expect.any(String),
          RuleName: 'usual',
          TargetBackupVaultName: 'vault',
          ScheduleExpression: 'cron(0 5 ? * * *)',
          StartWindowMinutes: 480,
          CompletionWindowMinutes: 10_080,
        },
      ],
    },
    ScheduledRunsPreview: [
      {
        // 02:30 in Paris, on a Tuesday.
        ExecutionTime: START_S + 90 * 60,
        RuleId: expect.any(String),
        RuleExecutionType: 'SNAPSHOTS',
      },
      {
        ExecutionTime: START_S + 5 * 3_600,
        RuleId: expect.any(String),
        RuleExecutionType: 'SNAPSHOTS',
      },
    ],
  })
  expect(data.backupPlan).toEqual({
    id: BackupPlanArn,
    name: 'plan.1',
    type: 'AWS::Backup::BackupPlan',
    tags: { a: 'b' },
    nextExecutionDate: '2030-01-01T01:30:00.000Z',
    rules: [
      {
        ruleName: 'nightly',
        scheduleExpression: 'cron(30 2 ? * MON-FRI *)',
        startWindowMinutes: 60,
        lifecycle: { deleteAfterDays: 100 },
      },
      {
        ruleName: 'usual',
        scheduleExpression: 'cron(0 5 ? * * *)',
        startWindowMinutes: 480,
        lifecycle: null,
      },
    ],
  })
})

test('a plan of a name that exists is refused, unless it is the same request again', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const create = (CreatorRequestId?: string) =>
    service.rest('PUT /backup/plans', { BackupPlan: planOf('plan'), CreatorRequestId })

  const first = await create('r')
  const again = await create('r')
  const second = await create('s')
  const inGraph = await service.graphql(
    `mutation ($plan: BackupPlanInput!) { createBackupPlan(backupPlan: $plan) { id } }`,
    {
      plan: { backupPlanName: 'plan', rules: [{ ruleName: 'r', targetBackupVaultName: 'vault' }] },
    },
  )

  expect(again.body).toEqual(first.body)
  expect(refused(second)).toEqual(refusal('AlreadyExistsException'))
  expect(second.body).toMatchObject({ Arn: first.body.BackupPlanArn, CreatorRequestId: 'r' })
  expect(inGraph.errors![0].extensions.code).toBe('AlreadyExistsException')
})

test('a plan that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const wrong: [object | undefined, string][] = [
    [undefined, 'MissingParameterValueException'],
    [{ Rules: [RULE] }, 'MissingParameterValueException'],
    [{ BackupPlanName: 'plan' }, 'MissingParameterValueException'],
    [planOf('plan', { TargetBackupVaultName: undefined }), 'MissingParameterValueException'],
    ...[
      { ...planOf('plan'), Rules: [] },
      { ...planOf('plan'), Rules: 'x' },
      { ...planOf('plan'), Rules: [RULE, RULE] },
      planOf('a b'),
      planOf('plan', { TargetBackupVaultName: 'nowhere' }),
      planOf('plan', { TargetLogicallyAirGappedBackupVaultArn: vaultArn('vault') }),
      planOf('plan', { ScheduleExpression: 'every day' }),
      planOf('plan', { ScheduleExpression: 'cron(0 5 * * * *)' }),
      planOf('plan', { ScheduleExpression: 'cron(0 5 ? * *)' }),
      planOf('plan', { ScheduleExpression: 'cron(0 25 ? * * *)' }),
      planOf('plan', { ScheduleExpression: 'cron(0 5 1 1 ? 2001)' }),
      planOf('plan', { ScheduleExpression: 'cron(* 5 ? * * *)' }),
      planOf('plan', { ScheduleExpression: 'rate(59 minutes)' }),
      planOf('plan', { ScheduleExpression: 'rate(0 days)' }),
      planOf('plan', { ScheduleExpressionTimezone: 'Moon/Sea' }),
      planOf('plan', { StartWindowMinutes: 59 }),
      planOf('plan', { StartWindowMinutes: 60, CompletionWindowMinutes: 119 }),
      planOf('plan', { Lifecycle: { DeleteAfterDays: 0 } }),
      planOf('plan', { Lifecycle: { MoveToColdStorageAfterDays: 1, DeleteAfterDays: 90 } }),
      planOf('plan', { CopyActions: [{ DestinationBackupVaultArn: 'arn:aws:s3:::bucket' }] }),
      planOf('plan', { EnableContinuousBackup: true }),
      planOf('plan', { EnableContinuousBackup: true, Lifecycle: { DeleteAfterDays: 36 } }),
    ].map((plan): [object, string] => [plan, 'InvalidParameterValueException']),
  ]

  for (const [BackupPlan, name] of wrong) {
    const answer = await service.rest('PUT /backup/plans/', { BackupPlan })
    expect({ BackupPlan, ...refused(answer) }).toEqual({ BackupPlan, ...refusal(name) })
  }

  expect((await service.rest('GET /backup/plans')).body.BackupPlansList).toEqual([])
})

test('an update gives a new version, and the rules that stay keep their ids', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanId, VersionId } = await makePlan(service)
  const before = await service.rest(`GET /backup/plans/${BackupPlanId}`)
  await service.advance(1_000)

  const updated = await service.rest(`POST /backup/plans/${BackupPlanId}`, {
    BackupPlan: planOf('renamed', { StartWindowMinutes: 61 }),
  })
  const after = await service.rest(`GET /backup/plans/${BackupPlanId}`)
  const old = await service.rest(`GET /backup/plans/${BackupPlanId}?versionId=${VersionId}`)
  const versions = await service.rest(`GET /backup/plans/${BackupPlanId}/versions`)
  const inGraph = await service.graphql(
    `mutation ($id: ID!, $plan: BackupPlanInput!) {
       updateBackupPlan(backupPlanId: $id, backupPlan: $plan) { backupPlanName } }`,
    {
      id: BackupPlanId,
      plan: { backupPlanName: 'again', rules: [{ ruleName: 'r', targetBackupVaultName: 'vault' }] },
    },
  )
  const listed = await service.graphql(
    `query ($id: ID!) { backupPlanVersions(backupPlanId: $id) { nodes { backupPlanName } } }`,
    { id: BackupPlanId },
  )

  expect(updated.body).toMatchObject({ BackupPlanId, CreationDate: START_S + 1 })
  expect(updated.body.VersionId).not.toBe(VersionId)
  expect(after.body.BackupPlan.Rules[0].RuleId).toBe(before.body.BackupPlan.Rules[0].RuleId)
  expect(after.body.BackupPlan.BackupPlanName).toBe('renamed')
  expect(old.body).toMatchObject({ VersionId, BackupPlan: { BackupPlanName: 'plan' } })
  expect(versions.body.BackupPlanVersionsList.map((one: any) => one.BackupPlanName)).toEqual([
    'plan',
    'renamed',
  ])
  expect(inGraph.data.updateBackupPlan.backupPlanName).toBe('again')
  expect(listed.data.backupPlanVersions.nodes).toHaveLength(3)
})

test('only a plan without selections is deleted, and only its current version goes', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanId, VersionId, BackupPlanArn } = await makePlan(service)
  const { body: current } = await service.rest(`POST /backup/plans/${BackupPlanId}`, {
    BackupPlan: planOf('plan'),
  })
  const { body: selection } = await service.rest(`PUT /backup/plans/${BackupPlanId}/selections/`, {
    BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: ['*'] },
  })

  const held = await service.rest(`DELETE /backup/plans/${BackupPlanId}`)
  await service.rest(`DELETE /backup/plans/${BackupPlanId}/selections/${selection.SelectionId}`)
  const deleted = await service.rest(`DELETE /backup/plans/${BackupPlanId}`)

  const read = (path: string) => service.rest(`GET /backup/plans${path}`)
  const list = async (path: string) => (await read(path)).body.BackupPlansList
  expect(refused(held)).toEqual(refusal('InvalidRequestException'))
  expect(deleted.body).toEqual({
    BackupPlanId,
    BackupPlanArn,
    VersionId: current.VersionId,
    DeletionDate: START_S,
  })
  expect(refused(await read(`/${BackupPlanId}`))).toEqual(refusal('ResourceNotFoundException'))
  expect((await read(`/${BackupPlanId}?versionId=${VersionId}`)).status).toBe(200)
  expect((await read(`/${BackupPlanId}?versionId=${current.VersionId}`)).status).toBe(400)
  expect((await read(`/${BackupPlanId}/versions`)).body.BackupPlanVersionsList).toHaveLength(1)
  expect(await list('')).toEqual([])
  expect(await list('?includeDeleted=true')).toMatchObject([
    { BackupPlanId, DeletionDate: START_S },
  ])
  const again = await service.graphql(
    `mutation ($id: ID!) { deleteBackupPlan(backupPlanId: $id) { id } }`,
    { id: BackupPlanId },
  )
  expect(again.errors![0].extensions.code).toBe('ResourceNotFoundException')
})

test('plans are paged, and are the account’s own', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  for (const name of ['a', 'b', 'c']) await makePlan(service, name)

  const first = await service.rest('GET /backup/plans/?maxResults=2')
  const rest = await service.rest(`GET /backup/plans?nextToken=${first.body.NextToken}`)
  const foreign = await service.rest('GET /backup/plans', undefined, { credential: 'bob' })
  const { data } = await service.graphql('{ backupPlans { nodes { name } } }')

  const names = ({ body }: any) => body.BackupPlansList.map((one: any) => one.BackupPlanName)
  expect([...names(first), ...names(rest)]).toEqual(['a', 'b', 'c'])
  expect(names(foreign)).toEqual([])
  expect(data.backupPlans.nodes).toHaveLength(3)
})

test('a plan is exported as a template, from which another is read', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanId } = await makePlan(service)

  const exported = await service.rest(`GET /backup/plans/${BackupPlanId}/toTemplate`)
  const { BackupPlanTemplateJson } = exported.body
  const read = await service.rest('POST /backup/template/json/toPlan', { BackupPlanTemplateJson })
  const wrong = await service.rest('POST /backup/template/json/toPlan', {
    BackupPlanTemplateJson: '{"Rules":[]}',
  })
  const broken = await service.rest('POST /backup/template/json/toPlan', {
    BackupPlanTemplateJson: '{',
  })
  const inGraph = await service.graphql(
    `query ($id: ID!, $json: String!) { backupPlanTemplate(backupPlanId: $id)
       backupPlanFromJson(backupPlanTemplateJson: $json) { backupPlanName rules { ruleName } } }`,
    { id: BackupPlanId, json: BackupPlanTemplateJson },
  )

  expect(JSON.parse(BackupPlanTemplateJson)).toMatchObject({ BackupPlanName: 'plan' })
  expect(BackupPlanTemplateJson).not.toContain('RuleId')
  expect(read.body.BackupPlan).toMatchObject({
    BackupPlanName: 'plan',
    Rules: [{ RuleName: 'rule' }],
  })
  expect(refused(wrong)).toEqual(refusal('InvalidParameterValueException'))
  expect(refused(broken)).toEqual(refusal('InvalidParameterValueException'))
  expect(inGraph.data).toEqual({
    backupPlanTemplate: BackupPlanTemplateJson,
    backupPlanFromJson: { backupPlanName: 'plan', rules: [{ ruleName: 'rule' }] },
  })
})

async function withPlan(): Promise<{ service: TestService; path: string; id: string }> {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanId: id } = await makePlan(service)
  return { service, id, path: `/backup/plans/${id}/selections` }
}

test('a selection that was added is read, listed and deleted', async () => {
  const { service, id, path } = await withPlan()
  const BackupSelection = {
    SelectionName: 'all',
    IamRoleArn: ROLE,
    Resources: ['arn:aws:backup:us-east-1:111111111111:*'],
    NotResources: ['arn:aws:backup:us-east-1:111111111111:backup-plan:x'],
    ListOfTags: [{ ConditionType: 'STRINGEQUALS', ConditionKey: 'a', ConditionValue: 'b' }],
    Conditions: {
      StringLike: [{ ConditionKey: 'aws:ResourceTag/c', ConditionValue: 'd*' }],
    },
  }

  const created = await service.rest(`PUT ${path}`, { BackupSelection, CreatorRequestId: 'r' })
  const again = await service.rest(`PUT ${path}/`, { BackupSelection, CreatorRequestId: 'r' })
  const { SelectionId } = created.body
  const read = await service.rest(`GET ${path}/${SelectionId}`)
  const listed = await service.rest(`GET ${path}/`)
  const inGraph = await service.graphql(
    `query ($id: ID!, $one: ID!) {
       backupSelection(backupPlanId: $id, selectionId: $one) { selectionName plan { name }
         conditions { stringLike { conditionKey } } }
       backupSelections(backupPlanId: $id) { nodes { selectionId } } }`,
    { id, one: SelectionId },
  )
  const deleted = await service.rest(`DELETE ${path}/${SelectionId}`)
  const gone = await service.rest(`DELETE ${path}/${SelectionId}`)

  expect(created.body).toEqual({
    SelectionId: expect.any(String),
    BackupPlanId: id,
    CreationDate: START_S,
  })
  expect(again.body).toEqual(created.body)
  expect(read.body).toEqual({ ...created.body, BackupSelection, CreatorRequestId: 'r' })
  expect(listed.body.BackupSelectionsList).toEqual([
    { ...created.body, SelectionName: 'all', IamRoleArn: ROLE, CreatorRequestId: 'r' },
  ])
  expect(inGraph.data).toEqual({
    backupSelection: {
      selectionName: 'all',
      plan: { name: 'plan' },
      conditions: { stringLike: [{ conditionKey: 'aws:ResourceTag/c' }] },
    },
    backupSelections: { nodes: [{ selectionId: SelectionId }] },
  })
  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(refused(gone)).toEqual(refusal('ResourceNotFoundException'))
})

test('a selection is added and deleted in the graph', async () => {
  const { service, id } = await withPlan()

  const created = await service.graphql(
    `mutation ($id: ID!, $s: BackupSelectionInput!) {
       createBackupSelection(backupPlanId: $id, backupSelection: $s) { selectionId } }`,
    { id, s: { selectionName: 's', iamRoleArn: ROLE, resources: ['*'] } },
  )
  const { selectionId } = created.data.createBackupSelection
  const deleted = await service.graphql(
    `mutation ($id: ID!, $one: ID!) { deleteBackupSelection(backupPlanId: $id, selectionId: $one) }`,
    { id, one: selectionId },
  )

  expect(deleted.data.deleteBackupSelection).toBe(true)
})

test('a selection that is wrong is refused and not added', async () => {
  const { service, path } = await withPlan()
  const all = { SelectionName: 's', IamRoleArn: ROLE, Resources: ['*'] }
  const wild = Array.from({ length: 31 }, (_, i) => `arn:aws:backup:us-east-1:1:x${i}*`)
  const wrong: [object, string][] = [
    [{}, 'MissingParameterValueException'],
    [{ SelectionName: 's', IamRoleArn: ROLE }, 'InvalidParameterValueException'],
    [{ ...all, IamRoleArn: 'role' }, 'InvalidParameterValueException'],
    [{ ...all, IamRoleArn: `arn:aws:iam::${ACCOUNT}:role/none` }, 'InvalidParameterValueException'],
    [
      { ...all, IamRoleArn: ROLE.replace(ACCOUNT, OTHER_ACCOUNT) },
      'InvalidParameterValueException',
    ],
    [{ ...all, Resources: ['arn:aws:s3:::*-logs'] }, 'InvalidParameterValueException'],
    [{ ...all, Resources: wild }, 'InvalidParameterValueException'],
    [
      { ...all, Conditions: { StringEquals: [{ ConditionKey: 'a', ConditionValue: 'b' }] } },
      'InvalidParameterValueException',
    ],
    [
      { ...all, ListOfTags: [{ ConditionType: 'LIKE', ConditionKey: 'a', ConditionValue: 'b' }] },
      'InvalidParameterValueException',
    ],
  ]

  for (const [BackupSelection, name] of wrong) {
    const answer = await service.rest(`PUT ${path}/`, { BackupSelection })
    expect({ BackupSelection, ...refused(answer) }).toEqual({ BackupSelection, ...refusal(name) })
  }
  const nowhere = await service.rest('PUT /backup/plans/none/selections/', { BackupSelection: all })
  await service.rest(`PUT ${path}/`, { BackupSelection: all })
  const twice = await service.rest(`PUT ${path}/`, { BackupSelection: all })

  expect(refused(nowhere)).toEqual(refusal('ResourceNotFoundException'))
  expect(refused(twice)).toEqual(refusal('AlreadyExistsException'))
  expect((await service.rest(`GET ${path}`)).body.BackupSelectionsList).toHaveLength(1)
})

test('who may not pass a role on cannot name one', async () => {
  const { service, id } = await withPlan()
  const { people } = await import('../people.ts')
  const weak = { ...people.alice, permissions: ['backup:*'] }

  const answer = await service.graphqlAs(
    weak,
    `mutation ($id: ID!, $s: BackupSelectionInput!) {
       createBackupSelection(backupPlanId: $id, backupSelection: $s) { selectionId } }`,
    { id, s: { selectionName: 's', iamRoleArn: ROLE, resources: ['*'] } },
  )
  const role = await service.graphqlAs(
    weak,
    'mutation { putBackupRole(roleName: "strong", permissions: ["*"]) { roleArn } }',
  )

  expect(answer.errors![0].extensions).toMatchObject({ code: 'Forbidden', status: 403 })
  expect(role.errors![0].extensions).toMatchObject({ code: 'Forbidden', status: 403 })
})
