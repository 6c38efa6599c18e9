// Recovery points: made by jobs, copied, restored, deleted and kept.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_ACCOUNT, people } from '../people.ts'
import {
  backUp,
  DAY_MS,
  makePlan,
  makePoint,
  makeVault,
  pointPath,
  refusal,
  refused,
  ROLE,
  START_S,
  vaultArn,
} from './making.ts'

const WEAK_ROLE = `arn:aws:iam::${ACCOUNT}:role/weak`

const putRole = (service: TestService, permissions: string[], roleName = 'weak') =>
  service.graphql(
    `mutation ($name: String!, $permissions: [String!]!) {
       putBackupRole(roleName: $name, permissions: $permissions) { roleArn permissions } }`,
    { name: roleName, permissions },
  )

test('a job makes a recovery point that says how large it is and that it is encrypted', async () => {
  const service = await openForTest(subgraph)
  const { plan, BackupJobId, RecoveryPointArn, path } = await makePoint(service, {
    Lifecycle: { MoveToColdStorageAfterDays: 1, DeleteAfterDays: 91 },
    RecoveryPointTags: { why: 'test' },
  })

  const job = await service.rest(`GET /backup-jobs/${BackupJobId}`)
  const point = await service.rest(`GET ${path}`)
  const { data } = await service.graphql(
    `query ($arn: ID!, $job: ID!) {
       backupRecoveryPoint(backupVaultName: "vault", recoveryPointArn: $arn) { sha256 backupSizeInBytes
         isContinuous storageClass }
       backupJob(backupJobId: $job) { state percentDone } backupTags(resourceArn: $arn) }`,
    { arn: RecoveryPointArn, job: BackupJobId },
  )

  expect(job.body).toMatchObject({
    AccountId: ACCOUNT,
    State: 'COMPLETED',
    PercentDone: '100.0',
    CreationDate: START_S,
    CompletionDate: START_S,
    StartBy: START_S + 8 * 3_600,
    ResourceArn: plan.BackupPlanArn,
    ResourceType: 'AWS::Backup::BackupPlan',
    ResourceName: 'plan',
    RecoveryPointArn,
    IsParent: false,
    IsEncrypted: true,
    MessageCategory: 'Success',
    VaultLockState: 'NONE',
  })
  expect(job.body.BackupSizeInBytes).toBeGreaterThan(100)
  expect(point.body).toEqual({
    RecoveryPointArn,
    BackupVaultName: 'vault',
    BackupVaultArn: vaultArn('vault'),
    VaultType: 'BACKUP_VAULT',
    ResourceArn: plan.BackupPlanArn,
    ResourceType: 'AWS::Backup::BackupPlan',
    ResourceName: 'plan',
    IamRoleArn: ROLE,
    Status: 'COMPLETED',
    CreationDate: START_S,
    InitiationDate: START_S,
    CompletionDate: START_S,
    BackupSizeInBytes: job.body.BackupSizeInBytes,
    Lifecycle: { MoveToColdStorageAfterDays: 1, DeleteAfterDays: 91 },
    CalculatedLifecycle: {
      MoveToColdStorageAt: START_S + 86_400,
      DeleteAt: START_S + 91 * 86_400,
    },
    EncryptionKeyArn: expect.any(String),
    EncryptionKeyType: 'AWS_OWNED_KMS_KEY',
    IsEncrypted: true,
    StorageClass: 'WARM',
  })
  expect(data).toEqual({
    backupRecoveryPoint: {
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      backupSizeInBytes: job.body.BackupSizeInBytes,
      isContinuous: false,
      storageClass: 'WARM',
    },
    backupJob: { state: 'COMPLETED', percentDone: '100.0' },
    backupTags: { why: 'test' },
  })
})

test('what is kept of a resource cannot be read in the store', async () => {
  const service = await openForTest(subgraph)
  await makePoint(service)

  const rows = await service.store.sql('SELECT bytes FROM blob_part')

  expect(rows).toHaveLength(1)
  expect(Buffer.from(rows[0]!.bytes).toString('latin1')).not.toContain('RuleName')
})

test('a recovery point goes to cold storage and ends by its lifecycle, on the clock', async () => {
  const service = await openForTest(subgraph)
  const { path } = await makePoint(service, {
    Lifecycle: { MoveToColdStorageAfterDays: 1, DeleteAfterDays: 91 },
  })

  await service.advance(DAY_MS)
  const cold = await service.rest(`GET ${path}`)
  const changed = await service.rest(`POST ${path}`, {
    Lifecycle: { MoveToColdStorageAfterDays: 2, DeleteAfterDays: 100 },
  })
  await service.advance(90 * DAY_MS - 1)
  const last = await service.rest(`GET ${path}`)
  await service.advance(1)
  const gone = await service.rest(`GET ${path}`)

  expect(cold.body.StorageClass).toBe('COLD')
  expect(refused(changed)).toEqual(refusal('InvalidRequestException'))
  expect(last.status).toBe(200)
  expect(refused(gone)).toEqual(refusal('ResourceNotFoundException'))
  expect(await service.store.sql('SELECT key FROM blob_part')).toEqual([])
})

test('a lifecycle is changed and taken back, and the moment that was set before passes', async () => {
  const service = await openForTest(subgraph)
  const { path, RecoveryPointArn } = await makePoint(service, { Lifecycle: { DeleteAfterDays: 1 } })

  const changed = await service.rest(`POST ${path}`, { Lifecycle: { DeleteAfterDays: 3 } })
  await service.advance(2 * DAY_MS)
  const there = await service.rest(`GET ${path}`)
  const endless = await service.graphql(
    `mutation ($arn: ID!) { updateBackupRecoveryPointLifecycle(backupVaultName: "vault",
       recoveryPointArn: $arn, lifecycle: { deleteAfterDays: -1 }) { lifecycle { deleteAfterDays }
       calculatedLifecycle { deleteAt } } }`,
    { arn: RecoveryPointArn },
  )
  await service.advance(500 * DAY_MS)
  const still = await service.rest(`GET ${path}`)
  const wrong = await service.rest(`POST ${path}`, {
    Lifecycle: { MoveToColdStorageAfterDays: 5, DeleteAfterDays: 94 },
  })

  expect(changed.body).toEqual({
    BackupVaultArn: vaultArn('vault'),
    RecoveryPointArn,
    Lifecycle: { DeleteAfterDays: 3 },
    CalculatedLifecycle: { DeleteAt: START_S + 3 * 86_400 },
  })
  expect(there.status).toBe(200)
  expect(endless.data.updateBackupRecoveryPointLifecycle).toEqual({
    lifecycle: null,
    calculatedLifecycle: null,
  })
  expect(still.status).toBe(200)
  expect(refused(wrong)).toEqual(refusal('InvalidParameterValueException'))
})

test('deleting with an insufficient role answers 200 and leaves the point EXPIRED', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn } = await makePlan(service)
  await putRole(service, ['backup:StartBackupJob', 'backup:GetBackupPlan'])
  const { path, RecoveryPointArn } = await backUp(service, BackupPlanArn, { IamRoleArn: WEAK_ROLE })

  const first = await service.rest(`DELETE ${path}`)
  const expired = await service.rest(`GET ${path}`)
  const restored = await service.rest('PUT /restore-jobs', { RecoveryPointArn, Metadata: {} })
  await putRole(service, ['backup:DeleteRecoveryPoint'])
  const second = await service.rest(`DELETE ${path}`)
  const still = await service.rest(`GET ${path}`)
  await putRole(service, ['backup:Delete*', 'iam:CreateServiceLinkedRole'])
  const third = await service.graphql(
    `mutation ($arn: ID!) { deleteBackupRecoveryPoint(backupVaultName: "vault", recoveryPointArn: $arn) }`,
    { arn: RecoveryPointArn },
  )
  const gone = await service.rest(`GET ${path}`)

  expect(first).toMatchObject({ status: 200, body: undefined })
  expect(expired.body).toMatchObject({ Status: 'EXPIRED', StatusMessage: expect.any(String) })
  expect(refused(restored)).toEqual(refusal('InvalidRequestException'))
  expect(second).toMatchObject({ status: 200, body: undefined })
  expect(still.body.Status).toBe('EXPIRED')
  expect(third.data.deleteBackupRecoveryPoint).toBe(true)
  expect(refused(gone)).toEqual(refusal('ResourceNotFoundException'))
})

test('a point that ends by itself becomes EXPIRED where its role does not permit to delete it', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn } = await makePlan(service)
  await putRole(service, ['backup:StartBackupJob', 'backup:GetBackupPlan'])
  const { path } = await backUp(service, BackupPlanArn, {
    IamRoleArn: WEAK_ROLE,
    Lifecycle: { DeleteAfterDays: 1 },
  })

  await service.advance(DAY_MS)

  expect((await service.rest(`GET ${path}`)).body.Status).toBe('EXPIRED')
})

test('a role is listed and deleted, and a job of a role that permits nothing fails', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn } = await makePlan(service)
  await putRole(service, [])

  const job = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn: BackupPlanArn,
    IamRoleArn: WEAK_ROLE,
  })
  await service.advance(0)
  const ended = await service.rest(`GET /backup-jobs/${job.body.BackupJobId}`)
  const listed = await service.graphql('{ backupRoles { nodes { roleName roleArn permissions } } }')
  const deleted = await service.graphql('mutation { deleteBackupRole(roleName: "weak") }')
  const again = await service.graphql('mutation { deleteBackupRole(roleName: "weak") }')

  expect(ended.body).toMatchObject({ State: 'FAILED', MessageCategory: 'AccessDenied' })
  expect(listed.data.backupRoles.nodes).toEqual([
    { roleName: 'weak', roleArn: WEAK_ROLE, permissions: [] },
  ])
  expect(deleted.data.deleteBackupRole).toBe(true)
  expect(again.errors![0].extensions.code).toBe('ResourceNotFoundException')
})

test('a job that cannot begin is refused and not stored', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn: ResourceArn } = await makePlan(service)
  const start = { BackupVaultName: 'vault', ResourceArn, IamRoleArn: ROLE }
  const wrong: [object, string][] = [
    [{}, 'MissingParameterValueException'],
    [{ ...start, BackupVaultName: 'none' }, 'ResourceNotFoundException'],
    [{ ...start, ResourceArn: 'plan' }, 'InvalidParameterValueException'],
    [{ ...start, ResourceArn: `${ResourceArn}x` }, 'ResourceNotFoundException'],
    [
      { ...start, ResourceArn: ResourceArn.replace(ACCOUNT, OTHER_ACCOUNT) },
      'ResourceNotFoundException',
    ],
    [{ ...start, IamRoleArn: WEAK_ROLE }, 'InvalidParameterValueException'],
    [{ ...start, StartWindowMinutes: 10 }, 'InvalidParameterValueException'],
    [
      { ...start, LogicallyAirGappedBackupVaultArn: vaultArn('vault') },
      'ResourceNotFoundException',
    ],
  ]

  for (const [sent, name] of wrong) {
    const answer = await service.rest('PUT /backup-jobs', sent)
    expect({ sent, ...refused(answer) }).toEqual({ sent, ...refusal(name) })
  }

  expect((await service.rest('GET /backup-jobs')).body.BackupJobs).toEqual([])
  expect(refused(await service.rest('GET /backup-jobs/none'))).toEqual(
    refusal('ResourceNotFoundException'),
  )
})

test('the same job asked for twice is started once, and can be stopped before it ran', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn } = await makePlan(service)
  const start = `mutation ($arn: String!, $role: String!) { startBackupJob(backupVaultName: "vault",
    resourceArn: $arn, iamRoleArn: $role, idempotencyToken: "t") { backupJobId state } }`
  const variables = { arn: BackupPlanArn, role: ROLE }

  const first = await service.graphql(start, variables)
  const again = await service.graphql(start, variables)
  const other = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn: BackupPlanArn,
    IamRoleArn: ROLE,
    IdempotencyToken: 't',
    Lifecycle: { DeleteAfterDays: 1 },
  })
  const { backupJobId } = first.data.startBackupJob
  const stopped = await service.rest(`POST /backup-jobs/${backupJobId}`, {})
  await service.advance(0)
  const read = await service.rest(`GET /backup-jobs/${backupJobId}`)
  const twice = await service.graphql('mutation ($id: ID!) { stopBackupJob(backupJobId: $id) }', {
    id: backupJobId,
  })

  expect(first.data.startBackupJob.state).toBe('CREATED')
  expect(again.data).toEqual(first.data)
  expect(refused(other)).toEqual(refusal('InvalidParameterValueException'))
  expect(stopped).toMatchObject({ status: 200, body: undefined })
  expect(read.body).toMatchObject({ State: 'ABORTED' })
  expect(read.body.RecoveryPointArn).toBeUndefined()
  expect(twice.errors![0].extensions.code).toBe('InvalidRequestException')
})

test('backup jobs are listed newest first, and narrowed', async () => {
  const service = await openForTest(subgraph)
  const { plan, BackupJobId: first } = await makePoint(service)
  await makeVault(service, 'other')
  await service.advance(1_000)
  const { BackupJobId: second } = await backUp(service, plan.BackupPlanArn, {
    BackupVaultName: 'other',
  })

  const ids = async (query: string) =>
    (await service.rest(`GET /backup-jobs${query}`)).body.BackupJobs.map(
      (job: any) => job.BackupJobId,
    )
  expect(await ids('')).toEqual([second, first])
  expect(await ids('?backupVaultName=vault')).toEqual([first])
  expect(await ids('?state=COMPLETED&resourceType=AWS::Backup::BackupPlan')).toEqual([
    second,
    first,
  ])
  expect(await ids('?state=FAILED')).toEqual([])
  expect(
    await ids(`?resourceArn=${encodeURIComponent(plan.BackupPlanArn)}&backupVaultName=other`),
  ).toEqual([second])
  expect(await ids(`?createdAfter=2030-01-01T00:00:01Z`)).toEqual([second])
  expect(await ids(`?createdBefore=${START_S + 1}`)).toEqual([first])
  expect(await ids(`?completeBefore=2030-01-01T00:00:01Z`)).toEqual([first])
  expect(await ids(`?accountId=${OTHER_ACCOUNT}`)).toEqual([])
  expect(refused(await service.rest('GET /backup-jobs?state=LOST'))).toEqual(
    refusal('InvalidParameterValueException'),
  )
  const paged = await service.graphql(
    '{ backupJobs(maxResults: 1) { nodes { backupJobId } pageInfo { endCursor } } }',
  )
  expect(paged.data.backupJobs.nodes).toEqual([{ backupJobId: second }])
  expect(await ids(`?maxResults=1&nextToken=${paged.data.backupJobs.pageInfo.endCursor}`)).toEqual([
    first,
  ])
})

test('a copy is a point of its own under another key, with the same bytes', async () => {
  const service = await openForTest(subgraph)
  const { RecoveryPointArn } = await makePoint(service, { Lifecycle: { DeleteAfterDays: 10 } })
  await makeVault(service, 'copies')
  const DestinationBackupVaultArn = vaultArn('copies')
  const sent = {
    RecoveryPointArn,
    SourceBackupVaultName: 'vault',
    DestinationBackupVaultArn,
    IamRoleArn: ROLE,
    IdempotencyToken: 't',
  }

  const started = await service.rest('PUT /copy-jobs', sent)
  const again = await service.rest('PUT /copy-jobs', sent)
  await service.advance(0)
  const job = await service.rest(`GET /copy-jobs/${started.body.CopyJobId}`)
  const copyArn = job.body.CopyJob.DestinationRecoveryPointArn
  const copy = await service.rest(`GET ${pointPath('copies', copyArn)}`)
  const { data } = await service.graphql(
    `query ($one: ID!, $two: ID!, $job: ID!) {
       one: backupRecoveryPoint(backupVaultName: "vault", recoveryPointArn: $one) { sha256 encryptionKeyArn }
       two: backupRecoveryPoint(backupVaultName: "copies", recoveryPointArn: $two) { sha256 encryptionKeyArn }
       backupCopyJob(copyJobId: $job) { state } backupCopyJobs { nodes { copyJobId } } }`,
    { one: RecoveryPointArn, two: copyArn, job: started.body.CopyJobId },
  )

  expect(again.body).toEqual(started.body)
  expect(started.body).toEqual({
    CopyJobId: expect.any(String),
    CreationDate: START_S,
    IsParent: false,
  })
  expect(job.body.CopyJob).toMatchObject({
    State: 'COMPLETED',
    SourceRecoveryPointArn: RecoveryPointArn,
    DestinationBackupVaultArn,
    DestinationRecoveryPointLifecycle: { DeleteAfterDays: 10 },
    BackupSizeInBytes: expect.any(Number),
    CompletionDate: START_S,
  })
  expect(copy.body).toMatchObject({
    SourceBackupVaultArn: vaultArn('vault'),
    CalculatedLifecycle: { DeleteAt: START_S + 10 * 86_400 },
  })
  expect(data.one.sha256).toBe(data.two.sha256)
  expect(data.one.encryptionKeyArn).not.toBe(data.two.encryptionKeyArn)
  expect(data.backupCopyJob.state).toBe('COMPLETED')
  expect(data.backupCopyJobs.nodes).toEqual([{ copyJobId: started.body.CopyJobId }])
})

test('a copy that cannot be is refused, or fails where the other vault does not take it', async () => {
  const service = await openForTest(subgraph)
  const { RecoveryPointArn } = await makePoint(service)
  await makeVault(service, 'locked')
  await service.rest('PUT /backup-vaults/locked/vault-lock', { MaxRetentionDays: 5 })
  const start = (more: object) =>
    service.rest('PUT /copy-jobs', {
      RecoveryPointArn,
      SourceBackupVaultName: 'vault',
      DestinationBackupVaultArn: vaultArn('locked'),
      IamRoleArn: ROLE,
      ...more,
    })

  const failed = await start({})
  const taken = await start({ Lifecycle: { DeleteAfterDays: 5 } })
  const nowhere = await start({ DestinationBackupVaultArn: vaultArn('none') })
  await service.advance(0)

  const state = async ({ body }: any) =>
    (await service.rest(`GET /copy-jobs/${body.CopyJobId}`)).body.CopyJob.State
  expect(await state(failed)).toBe('FAILED')
  expect(await state(taken)).toBe('COMPLETED')
  expect(await state(nowhere)).toBe('FAILED')
  expect(refused(await start({ DestinationBackupVaultArn: vaultArn('vault') }))).toEqual(
    refusal('InvalidRequestException'),
  )
  expect(refused(await start({ DestinationBackupVaultArn: 'vault' }))).toEqual(
    refusal('InvalidParameterValueException'),
  )
  expect(refused(await start({ RecoveryPointArn: `${RecoveryPointArn}x` }))).toEqual(
    refusal('ResourceNotFoundException'),
  )
  expect(refused(await service.rest('GET /copy-jobs/none'))).toEqual(
    refusal('ResourceNotFoundException'),
  )
  const listed = await service.rest('GET /copy-jobs?state=FAILED')
  expect(listed.body.CopyJobs).toHaveLength(2)
})

test('another account’s vault takes copies where both accounts want it', async () => {
  const service = await openForTest(subgraph)
  const { RecoveryPointArn } = await makePoint(service)
  const asBob = { credential: 'bob' } as const
  await service.rest('PUT /backup-vaults/theirs', {}, asBob)
  const copy = async () => {
    const { data, errors } = await service.graphql(
      `mutation ($point: ID!, $to: String!, $role: String!) { startBackupCopyJob(recoveryPointArn: $point,
         sourceBackupVaultName: "vault", destinationBackupVaultArn: $to, iamRoleArn: $role) { copyJobId } }`,
      {
        point: RecoveryPointArn,
        to: vaultArn('theirs').replace(ACCOUNT, OTHER_ACCOUNT),
        role: ROLE,
      },
    )
    expect(errors).toBeUndefined()
    await service.advance(0)
    const job = await service.rest(`GET /copy-jobs/${data.startBackupCopyJob.copyJobId}`)
    return job.body.CopyJob.State
  }

  const closed = await copy()
  await service.rest('PUT /global-settings', {
    GlobalSettings: { isCrossAccountBackupEnabled: 'true' },
  })
  const unwanted = await copy()
  const statement = {
    Effect: 'Allow',
    Principal: { AWS: ACCOUNT },
    Action: 'backup:CopyIntoBackupVault',
    Resource: '*',
  }
  await service.rest(
    'PUT /backup-vaults/theirs/access-policy',
    { Policy: JSON.stringify({ Statement: [statement] }) },
    asBob,
  )
  const open = await copy()

  expect([closed, unwanted, open]).toEqual(['FAILED', 'FAILED', 'COMPLETED'])
  const theirs = await service.rest('GET /backup-vaults/theirs/recovery-points', undefined, asBob)
  expect(theirs.body.RecoveryPoints).toHaveLength(1)
})

test('a plan that was deleted comes back as it was, selections, tags and all', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const plan = await makePlan(service)
  const path = `/backup/plans/${plan.BackupPlanId}`
  const { body: selection } = await service.rest(`PUT ${path}/selections/`, {
    BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: ['*'] },
  })
  await service.rest(`POST /tags/${encodeURIComponent(plan.BackupPlanArn)}`, { Tags: { a: 'b' } })
  const before = await service.rest(`GET ${path}`)
  const { RecoveryPointArn } = await backUp(service, plan.BackupPlanArn)
  await service.rest(`DELETE ${path}/selections/${selection.SelectionId}`)
  await service.rest(`DELETE ${path}`)

  const started = await service.rest('PUT /restore-jobs', { RecoveryPointArn, Metadata: {} })
  await service.advance(0)
  const job = await service.rest(`GET /restore-jobs/${started.body.RestoreJobId}`)
  const after = await service.rest(`GET ${path}`)
  const selections = await service.rest(`GET ${path}/selections`)
  const tags = await service.rest(`GET /tags/${encodeURIComponent(plan.BackupPlanArn)}`)
  const again = await backUp(service, plan.BackupPlanArn)
  const { data } = await service.graphql(
    `query ($one: ID!, $two: ID!) {
       one: backupRecoveryPoint(backupVaultName: "vault", recoveryPointArn: $one) { sha256 lastRestoreTime }
       two: backupRecoveryPoint(backupVaultName: "vault", recoveryPointArn: $two) { sha256 } }`,
    { one: RecoveryPointArn, two: again.RecoveryPointArn },
  )

  expect(job.body).toMatchObject({
    Status: 'COMPLETED',
    PercentDone: '100.0',
    CreatedResourceArn: plan.BackupPlanArn,
    SourceResourceArn: plan.BackupPlanArn,
    RecoveryPointArn,
  })
  expect(after.body).toEqual(before.body)
  expect(selections.body.BackupSelectionsList).toMatchObject([
    { SelectionId: selection.SelectionId },
  ])
  expect(tags.body).toEqual({ Tags: { a: 'b' } })
  expect(data.two.sha256).toBe(data.one.sha256)
  expect(data.one.lastRestoreTime).toBe('2030-01-01T00:00:00.000Z')
})

test('a restore replaces nothing, and brings back a copy under another id', async () => {
  const service = await openForTest(subgraph)
  const { plan, RecoveryPointArn } = await makePoint(service)
  const start = (Metadata: object, more: object = {}) =>
    service.rest('PUT /restore-jobs', { RecoveryPointArn, Metadata, ...more })
  const resourceId = plan.BackupPlanArn.replace(plan.BackupPlanId, 'copy-1')

  const same = await start({})
  const copy = await start(
    { resourceId },
    { IamRoleArn: ROLE, ResourceType: 'AWS::Backup::BackupPlan' },
  )
  await service.advance(0)

  const jobOf = async ({ body }: any) =>
    (await service.rest(`GET /restore-jobs/${body.RestoreJobId}`)).body
  expect(await jobOf(same)).toMatchObject({ Status: 'FAILED', StatusMessage: expect.any(String) })
  expect(await jobOf(copy)).toMatchObject({ Status: 'COMPLETED', CreatedResourceArn: resourceId })
  expect((await service.rest('GET /backup/plans/copy-1')).body.BackupPlan).toMatchObject({
    BackupPlanName: 'copy-1',
    Rules: [{ RuleName: 'rule' }],
  })
  const metadata = await service.rest(`GET /restore-jobs/${copy.body.RestoreJobId}/metadata`)
  expect(metadata.body).toEqual({ RestoreJobId: copy.body.RestoreJobId, Metadata: { resourceId } })
  for (const answer of [
    await start({ unknown: 'x' }),
    await start({ restoreTime: '2030-01-01T00:00:00Z' }),
    await start({}, { ResourceType: 'EBS' }),
    await start({}, { IamRoleArn: WEAK_ROLE }),
  ]) {
    expect(refused(answer)).toEqual(refusal('InvalidParameterValueException'))
  }
  expect(refused(await service.rest('PUT /restore-jobs', { RecoveryPointArn }))).toEqual(
    refusal('MissingParameterValueException'),
  )
  const nothing = await service.rest('PUT /restore-jobs', {
    RecoveryPointArn: `${RecoveryPointArn}x`,
    Metadata: {},
  })
  expect(refused(nothing)).toEqual(refusal('ResourceNotFoundException'))
})

test('restore jobs are listed and narrowed, at both doors', async () => {
  const service = await openForTest(subgraph)
  const { plan, RecoveryPointArn } = await makePoint(service)
  const { data } = await service.graphql(
    `mutation ($arn: ID!) { startBackupRestoreJob(recoveryPointArn: $arn, metadata: {}) { restoreJobId status } }`,
    { arn: RecoveryPointArn },
  )
  await service.advance(0)

  const { restoreJobId, status } = data.startBackupRestoreJob
  const arn = encodeURIComponent(plan.BackupPlanArn)
  const ids = async (path: string) =>
    (await service.rest(`GET ${path}`)).body.RestoreJobs.map((job: any) => job.RestoreJobId)
  expect(status).toBe('PENDING')
  expect(await ids('/restore-jobs')).toEqual([restoreJobId])
  expect(await ids('/restore-jobs?status=FAILED')).toEqual([restoreJobId])
  expect(await ids('/restore-jobs?restoreTestingPlanArn=arn')).toEqual([])
  expect(await ids(`/resources/${arn}/restore-jobs`)).toEqual([restoreJobId])
  expect(await ids(`/resources/${arn}/restore-jobs?status=COMPLETED`)).toEqual([])
  expect(refused(await service.rest('GET /restore-jobs/none'))).toEqual(
    refusal('ResourceNotFoundException'),
  )
  const inGraph = await service.graphql(
    `query ($id: ID!, $arn: ID!) {
       backupRestoreJob(restoreJobId: $id) { status } backupRestoreJobMetadata(restoreJobId: $id) { metadata }
       backupRestoreJobs { nodes { restoreJobId } }
       backupRestoreJobsByResource(resourceArn: $arn) { nodes { restoreJobId } } }`,
    { id: restoreJobId, arn: plan.BackupPlanArn },
  )
  expect(inGraph.data).toEqual({
    backupRestoreJob: { status: 'FAILED' },
    backupRestoreJobMetadata: { metadata: { resourceId: plan.BackupPlanArn } },
    backupRestoreJobs: { nodes: [{ restoreJobId }] },
    backupRestoreJobsByResource: { nodes: [{ restoreJobId }] },
  })
})

test('recovery points are listed by vault and by resource, and narrowed', async () => {
  const service = await openForTest(subgraph)
  const { plan, RecoveryPointArn: first } = await makePoint(service)
  await service.advance(1_000)
  const { RecoveryPointArn: second } = await backUp(service, plan.BackupPlanArn)

  const arn = encodeURIComponent(plan.BackupPlanArn)
  const arns = async (path: string) =>
    (await service.rest(`GET ${path}`)).body.RecoveryPoints.map(
      (point: any) => point.RecoveryPointArn,
    )
  const inVault = '/backup-vaults/vault/recovery-points'
  expect(await arns(inVault)).toEqual([second, first])
  expect(await arns(`${inVault}?resourceArn=${arn}&createdBefore=2030-01-01T00:00:01Z`)).toEqual([
    first,
  ])
  expect(await arns(`${inVault}?createdAfter=2030-01-01T00:00:01Z`)).toEqual([second])
  expect(await arns(`${inVault}?resourceType=EBS`)).toEqual([])
  expect(await arns(`${inVault}?backupPlanId=x`)).toEqual([])
  expect(await arns(`/resources/${arn}/recovery-points?managedByAWSBackupOnly=true`)).toEqual([
    second,
    first,
  ])
  const metadata = await service.rest(`GET ${pointPath('vault', first)}/restore-metadata`)
  expect(metadata.body).toEqual({
    BackupVaultArn: vaultArn('vault'),
    RecoveryPointArn: first,
    ResourceType: 'AWS::Backup::BackupPlan',
    RestoreMetadata: { resourceId: plan.BackupPlanArn },
  })
  const inGraph = await service.graphql(
    `query ($arn: ID!, $point: ID!) {
       backupRecoveryPointsByVault(backupVaultName: "vault", maxResults: 1) { nodes { recoveryPointArn } }
       backupRecoveryPointsByResource(resourceArn: $arn) { nodes { recoveryPointArn } }
       backupRecoveryPointRestoreMetadata(backupVaultName: "vault", recoveryPointArn: $point) { restoreMetadata } }`,
    { arn: plan.BackupPlanArn, point: first },
  )
  expect(inGraph.data).toEqual({
    backupRecoveryPointsByVault: { nodes: [{ recoveryPointArn: second }] },
    backupRecoveryPointsByResource: {
      nodes: [{ recoveryPointArn: second }, { recoveryPointArn: first }],
    },
    backupRecoveryPointRestoreMetadata: { restoreMetadata: { resourceId: plan.BackupPlanArn } },
  })
  const foreign = await service.rest(`GET ${pointPath('vault', first)}`, undefined, {
    credential: 'bob',
  })
  expect(refused(foreign)).toEqual(refusal('ResourceNotFoundException'))
})

test('a resource is protected while it has recovery points, by the latest of them', async () => {
  const service = await openForTest(subgraph)
  const { plan, RecoveryPointArn: first, path } = await makePoint(service)
  const at = `/resources/${encodeURIComponent(plan.BackupPlanArn)}`
  const raw = await service.rest(`GET /resources/${plan.BackupPlanArn}`)
  await service.advance(1_000)
  const second = await backUp(service, plan.BackupPlanArn)

  const both = await service.rest(`GET ${at}`)
  await service.rest(`DELETE ${second.path}`)
  const one = await service.rest(`GET ${at}`)
  const listed = await service.rest('GET /resources')
  const inVault = await service.rest('GET /backup-vaults/vault/resources')
  const { data } = await service.graphql(
    `query ($arn: ID!) { backupProtectedResource(resourceArn: $arn) { lastRecoveryPointArn }
       backupProtectedResources { nodes { resourceArn } }
       backupProtectedResourcesByVault(backupVaultName: "vault") { nodes { resourceArn } } }`,
    { arn: plan.BackupPlanArn },
  )
  await service.rest(`DELETE ${path}`)
  const none = await service.rest(`GET ${at}`)

  expect(raw.body.LastRecoveryPointArn).toBe(first)
  expect(both.body).toEqual({
    ResourceArn: plan.BackupPlanArn,
    ResourceType: 'AWS::Backup::BackupPlan',
    ResourceName: 'plan',
    LastBackupTime: START_S + 1,
    LastBackupVaultArn: vaultArn('vault'),
    LastRecoveryPointArn: second.RecoveryPointArn,
  })
  expect(one.body.LastRecoveryPointArn).toBe(first)
  expect(listed.body.Results).toEqual([one.body])
  expect(inVault.body.Results).toEqual([one.body])
  expect(data).toEqual({
    backupProtectedResource: { lastRecoveryPointArn: first },
    backupProtectedResources: { nodes: [{ resourceArn: plan.BackupPlanArn }] },
    backupProtectedResourcesByVault: { nodes: [{ resourceArn: plan.BackupPlanArn }] },
  })
  expect(refused(none)).toEqual(refusal('ResourceNotFoundException'))
  expect((await service.rest('GET /resources')).body.Results).toEqual([])
})

test('a job of a resource that is gone fails, and so does one whose vault is gone', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  await makeVault(service, 'short')
  const { BackupPlanId, BackupPlanArn } = await makePlan(service)
  const start = (BackupVaultName: string) =>
    service.rest('PUT /backup-jobs', {
      BackupVaultName,
      ResourceArn: BackupPlanArn,
      IamRoleArn: ROLE,
    })

  const first = await start('short')
  await service.rest('DELETE /backup-vaults/short')
  const second = await start('vault')
  await service.rest(`DELETE /backup/plans/${BackupPlanId}`)
  await service.advance(0)

  for (const { body } of [first, second]) {
    const job = await service.rest(`GET /backup-jobs/${body.BackupJobId}`)
    expect(job.body.State).toBe('FAILED')
  }
})

test('a credential that permits little does little', async () => {
  const service = await openForTest(subgraph)
  const weak = { ...people.alice, permissions: ['backup:List*'] }

  const list = await service.graphqlAs(weak, '{ backupVaults { nodes { name } } }')
  const create = await service.graphqlAs(
    weak,
    'mutation { createBackupVault(backupVaultName: "vault") { id } }',
  )
  const nobody = await service.rest('GET /global-settings', undefined, { credential: null })

  expect(list.data.backupVaults.nodes).toEqual([])
  expect(create.errors![0].extensions.code).toBe('Forbidden')
  expect(refused(nobody)).toEqual(refusal('MissingAuthenticationTokenException', 403))
})
