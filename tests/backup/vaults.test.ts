// Vaults, their locks, policies and notifications.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest } from '../open.ts'
import { ACCOUNT, OTHER_ACCOUNT } from '../people.ts'
import {
  backUp,
  DAY_MS,
  makePlan,
  makePoint,
  makeVault,
  refusal,
  refused,
  ROLE,
  START_S,
  vaultArn,
} from './making.ts'

test('a vault that was created can be read at both doors', async () => {
  const service = await openForTest(subgraph)

  const created = await service.rest('PUT /backup-vaults/first_vault-1', {
    BackupVaultTags: { team: 'a' },
    CreatorRequestId: 'one',
  })
  const read = await service.rest('GET /backup-vaults/first_vault-1')
  const { data } = await service.graphql(
    `{ backupVault(backupVaultName: "first_vault-1") { id name type location tags vaultType vaultState
       numberOfRecoveryPoints locked creatorRequestId } }`,
  )

  expect(created).toMatchObject({ status: 200 })
  expect(created.body).toEqual({
    BackupVaultName: 'first_vault-1',
    BackupVaultArn: vaultArn('first_vault-1'),
    CreationDate: START_S,
  })
  expect(read.body).toEqual({
    ...created.body,
    VaultType: 'BACKUP_VAULT',
    VaultState: 'AVAILABLE',
    EncryptionKeyArn: expect.stringMatching(/^arn:aws:kms:us-east-1:111111111111:key\//),
    EncryptionKeyType: 'AWS_OWNED_KMS_KEY',
    CreatorRequestId: 'one',
    NumberOfRecoveryPoints: 0,
    Locked: false,
  })
  expect(data.backupVault).toEqual({
    id: vaultArn('first_vault-1'),
    name: 'first_vault-1',
    type: 'AWS::Backup::BackupVault',
    location: 'us-east-1',
    tags: { team: 'a' },
    vaultType: 'BACKUP_VAULT',
    vaultState: 'AVAILABLE',
    numberOfRecoveryPoints: 0,
    locked: false,
    creatorRequestId: 'one',
  })
})

test('a vault is created in the graph, and the same request twice gives the same vault', async () => {
  const service = await openForTest(subgraph)
  const create = (more = '') =>
    service.graphql(
      `mutation { createBackupVault(backupVaultName: "aa", creatorRequestId: "r"${more}) { id encryptionKeyArn } }`,
    )

  const first = await create()
  const again = await create()
  const other = await create(', backupVaultTags: { a: "b" }')

  expect(first.data.createBackupVault.id).toBe(vaultArn('aa'))
  expect(again.data).toEqual(first.data)
  expect(other.errors![0].extensions).toMatchObject({ code: 'AlreadyExistsException', status: 400 })
})

test('a second vault of the same name is refused, with the ARN of the first', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)

  const answer = await service.rest('PUT /backup-vaults/vault', {})

  expect(refused(answer)).toEqual(refusal('AlreadyExistsException'))
  expect(answer.body).toMatchObject({ Arn: vaultArn('vault'), Message: expect.any(String) })
})

test('a vault that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  const wrong: [string, object][] = [
    ['a', {}],
    ['a b', {}],
    ['vault', { EncryptionKeyArn: 'key' }],
    ['vault', { BackupVaultTags: { a: 1 } }],
    ['vault', { BackupVaultTags: 'a' }],
  ]

  for (const [vault, body] of wrong) {
    const answer = await service.rest(`PUT /backup-vaults/${encodeURIComponent(vault)}`, body)
    expect({ vault, body, ...refused(answer) }).toEqual({
      vault,
      body,
      ...refusal('InvalidParameterValueException'),
    })
  }

  expect((await service.rest('GET /backup-vaults')).body.BackupVaultList).toEqual([])
})

test('a vault that is not there, or not the caller’s, is not found', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)

  const missing = await service.rest('GET /backup-vaults/other')
  const foreign = await service.rest('GET /backup-vaults/vault', undefined, { credential: 'bob' })
  const named = await service.rest(`GET /backup-vaults/vault?backupVaultAccountId=${OTHER_ACCOUNT}`)
  const own = await service.rest(`GET /backup-vaults/vault?backupVaultAccountId=${ACCOUNT}`)
  const deleted = await service.rest('DELETE /backup-vaults/vault', undefined, {
    credential: 'bob',
  })
  const byId = await service.graphql(
    `query ($id: ID!) { backupVaultById(id: $id) { id } }`,
    { id: vaultArn('vault') },
    { credential: 'bob' },
  )

  for (const answer of [missing, foreign, named, deleted]) {
    expect(refused(answer)).toEqual(refusal('ResourceNotFoundException'))
  }
  expect(own.status).toBe(200)
  expect(byId.data.backupVaultById).toBeNull()
})

test('vaults are listed by name, a page at a time and by type', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['bb', 'aa', 'cc']) await makeVault(service, name)
  await service.rest('PUT /logically-air-gapped-backup-vaults/dd', {
    MinRetentionDays: 7,
    MaxRetentionDays: 30,
  })

  const first = await service.rest('GET /backup-vaults?maxResults=2')
  const second = await service.rest(
    `GET /backup-vaults?maxResults=2&nextToken=${first.body.NextToken}`,
  )
  const gapped = await service.rest(
    'GET /backup-vaults?vaultType=LOGICALLY_AIR_GAPPED_BACKUP_VAULT',
  )
  const shared = await service.rest('GET /backup-vaults?shared=true')
  const foreign = await service.rest(`GET /backup-jobs?nextToken=${first.body.NextToken}`)
  const none = await service.rest('GET /backup-vaults?maxResults=0')
  const { data } = await service.graphql(
    '{ backupVaults(maxResults: 1) { nodes { name } pageInfo { hasNextPage } } }',
  )

  const names = ({ body }: any) => body.BackupVaultList.map((one: any) => one.BackupVaultName)
  expect(names(first)).toEqual(['aa', 'bb'])
  expect(names(second)).toEqual(['cc', 'dd'])
  expect(second.body.NextToken).toBeUndefined()
  expect(names(gapped)).toEqual(['dd'])
  expect(names(shared)).toEqual([])
  expect(refused(foreign)).toEqual(refusal('InvalidParameterValueException'))
  expect(refused(none)).toEqual(refusal('InvalidParameterValueException'))
  expect(data.backupVaults).toEqual({
    nodes: [{ name: 'aa' }],
    pageInfo: { hasNextPage: true },
  })
})

test('a vault that holds recovery points is not deleted, and an empty one is', async () => {
  const service = await openForTest(subgraph)
  const { path } = await makePoint(service)

  const full = await service.rest('DELETE /backup-vaults/vault')
  await service.rest(`DELETE ${path}`)
  const empty = await service.rest('DELETE /backup-vaults/vault')
  const again = await service.graphql('mutation { deleteBackupVault(backupVaultName: "vault") }')

  expect(refused(full)).toEqual(refusal('InvalidRequestException'))
  expect(empty).toMatchObject({ status: 200, body: undefined })
  expect(again.errors![0].extensions.code).toBe('ResourceNotFoundException')
})

test('an air-gapped vault is created, becomes available and is locked from the start', async () => {
  const service = await openForTest(subgraph)
  const sent = { MinRetentionDays: 7, MaxRetentionDays: 30 }

  const created = await service.rest('PUT /logically-air-gapped-backup-vaults/gapped', sent)
  await service.advance(5_000)
  const read = await service.rest('GET /backup-vaults/gapped')
  const unlocked = await service.rest('DELETE /backup-vaults/gapped/vault-lock')
  const inGraph = await service.graphql(
    `mutation { createLogicallyAirGappedBackupVault(backupVaultName: "other", minRetentionDays: 8,
       maxRetentionDays: 9) { vaultState minRetentionDays maxRetentionDays locked } }`,
  )

  expect(created.body).toEqual({
    BackupVaultName: 'gapped',
    BackupVaultArn: vaultArn('gapped'),
    CreationDate: START_S,
    VaultState: 'CREATING',
  })
  expect(read.body).toMatchObject({
    VaultType: 'LOGICALLY_AIR_GAPPED_BACKUP_VAULT',
    VaultState: 'AVAILABLE',
    Locked: true,
    LockDate: START_S,
    ...sent,
  })
  expect(refused(unlocked)).toEqual(refusal('InvalidRequestException'))
  expect(inGraph.data.createLogicallyAirGappedBackupVault).toEqual({
    vaultState: 'CREATING',
    minRetentionDays: 8,
    maxRetentionDays: 9,
    locked: true,
  })
})

test('an air-gapped vault that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  const wrong: [object, string][] = [
    [{}, 'MissingParameterValueException'],
    [{ MinRetentionDays: 7 }, 'MissingParameterValueException'],
    [{ MinRetentionDays: 6, MaxRetentionDays: 30 }, 'InvalidParameterValueException'],
    [{ MinRetentionDays: 30, MaxRetentionDays: 29 }, 'InvalidParameterValueException'],
    [{ MinRetentionDays: 'x', MaxRetentionDays: 29 }, 'InvalidParameterValueException'],
  ]

  for (const [sent, name] of wrong) {
    const answer = await service.rest('PUT /logically-air-gapped-backup-vaults/gapped', sent)
    expect({ sent, ...refused(answer) }).toEqual({ sent, ...refusal(name) })
  }

  expect((await service.rest('GET /backup-vaults/gapped')).status).toBe(400)
})

test('an air-gapped vault takes only what is kept as long as it says, and keeps it', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  await service.rest('PUT /logically-air-gapped-backup-vaults/gapped', {
    MinRetentionDays: 7,
    MaxRetentionDays: 30,
  })
  await service.advance(5_000)
  const { BackupPlanArn } = await makePlan(service)
  const LogicallyAirGappedBackupVaultArn = vaultArn('gapped')
  const start = (Lifecycle?: object) =>
    service.rest('PUT /backup-jobs', {
      BackupVaultName: 'vault',
      ResourceArn: BackupPlanArn,
      IamRoleArn: ROLE,
      LogicallyAirGappedBackupVaultArn,
      Lifecycle,
    })

  const short = await start({ DeleteAfterDays: 6 })
  const endless = await start()
  const point = await backUp(service, BackupPlanArn, {
    LogicallyAirGappedBackupVaultArn,
    Lifecycle: { DeleteAfterDays: 7 },
  })
  const deleted = await service.rest(`DELETE ${point.path}`)
  const direct = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'gapped',
    ResourceArn: BackupPlanArn,
    IamRoleArn: ROLE,
  })
  await service.advance(7 * DAY_MS)
  const after = await service.rest(`GET ${point.path}`)

  for (const { body } of [short, endless]) {
    const job = await service.rest(`GET /backup-jobs/${body.BackupJobId}`)
    expect(job.body).toMatchObject({ State: 'FAILED', MessageCategory: 'InvalidParameters' })
  }
  expect(point.path).toContain('/backup-vaults/gapped/')
  expect(refused(deleted)).toEqual(refusal('InvalidRequestException'))
  expect(refused(direct)).toEqual(refusal('InvalidRequestException'))
  expect(refused(after)).toEqual(refusal('ResourceNotFoundException'))
})

test('a governance lock fails jobs of other retentions, keeps points, and can be taken off', async () => {
  const service = await openForTest(subgraph)
  const { path, plan } = await makePoint(service, { Lifecycle: { DeleteAfterDays: 50 } })

  const locked = await service.rest('PUT /backup-vaults/vault/vault-lock', {
    MinRetentionDays: 10,
    MaxRetentionDays: 20,
  })
  const read = await service.rest('GET /backup-vaults/vault')
  const deleted = await service.rest(`DELETE ${path}`)
  const changed = await service.rest(`POST ${path}`, { Lifecycle: { DeleteAfterDays: 15 } })
  const job = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn: plan.BackupPlanArn,
    IamRoleArn: ROLE,
    Lifecycle: { DeleteAfterDays: 21 },
  })
  await service.advance(1_000 * DAY_MS)
  const ended = await service.rest(`GET /backup-jobs/${job.body.BackupJobId}`)
  const unlocked = await service.graphql(
    'mutation { deleteBackupVaultLock(backupVaultName: "vault") }',
  )
  const free = await service.rest('GET /backup-vaults/vault')

  expect(locked).toMatchObject({ status: 200, body: undefined })
  expect(read.body).toMatchObject({ Locked: true, MinRetentionDays: 10, MaxRetentionDays: 20 })
  expect(read.body.LockDate).toBeUndefined()
  expect(refused(deleted)).toEqual(refusal('InvalidRequestException'))
  expect(refused(changed)).toEqual(refusal('InvalidRequestException'))
  expect(ended.body).toMatchObject({ State: 'FAILED', VaultLockState: 'GOVERNANCE' })
  expect(unlocked.data.deleteBackupVaultLock).toBe(true)
  expect(free.body).toMatchObject({ Locked: false, NumberOfRecoveryPoints: 0 })
})

test('a compliance lock can be changed and taken off until its date, and never after', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const lock = (sent: object) => service.rest('PUT /backup-vaults/vault/vault-lock', sent)

  await lock({ MinRetentionDays: 1, ChangeableForDays: 3 })
  const read = await service.rest('GET /backup-vaults/vault')
  await service.advance(3 * DAY_MS - 1)
  const changed = await lock({ MinRetentionDays: 2, ChangeableForDays: 3 })
  await service.advance(3 * DAY_MS)
  const late = await lock({ MinRetentionDays: 3 })
  const deleted = await service.rest('DELETE /backup-vaults/vault/vault-lock')

  expect(read.body.LockDate).toBe(START_S + 3 * 86_400)
  expect(changed.status).toBe(200)
  expect(refused(late)).toEqual(refusal('InvalidRequestException'))
  expect(refused(deleted)).toEqual(refusal('InvalidRequestException'))
  expect((await service.rest('GET /backup-vaults/vault')).body).toMatchObject({
    MinRetentionDays: 2,
    Locked: true,
  })
})

test('a lock that is wrong is refused, and one is put in the graph too', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const wrong = [
    { ChangeableForDays: 2 },
    { ChangeableForDays: 36_501 },
    { MinRetentionDays: 0 },
    { MinRetentionDays: 5, MaxRetentionDays: 4 },
  ]

  for (const sent of wrong) {
    const answer = await service.rest('PUT /backup-vaults/vault/vault-lock', sent)
    expect({ sent, ...refused(answer) }).toEqual({
      sent,
      ...refusal('InvalidParameterValueException'),
    })
  }
  const free = await service.rest('GET /backup-vaults/vault')
  const put = await service.graphql(
    'mutation { putBackupVaultLock(backupVaultName: "vault", minRetentionDays: 3) }',
  )
  const locked = await service.rest('GET /backup-vaults/vault')

  expect(free.body.Locked).toBe(false)
  expect(put.data.putBackupVaultLock).toBe(true)
  expect(locked.body).toMatchObject({ Locked: true, MinRetentionDays: 3 })
})

const DENY_DELETE = JSON.stringify({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Deny', Principal: '*', Action: 'backup:DeleteRecovery*', Resource: '*' }],
})

test('an access policy is read back, heeded and deleted', async () => {
  const service = await openForTest(subgraph)
  const { path } = await makePoint(service)
  const policyPath = '/backup-vaults/vault/access-policy'

  const before = await service.rest(`GET ${policyPath}`)
  const put = await service.rest(`PUT ${policyPath}`, { Policy: DENY_DELETE })
  const read = await service.rest(`GET ${policyPath}`)
  const denied = await service.rest(`DELETE ${path}`)
  const { data } = await service.graphql(
    '{ backupVaultAccessPolicy(backupVaultName: "vault") { policy backupVaultArn } }',
  )
  const deleted = await service.rest(`DELETE ${policyPath}`)
  const gone = await service.rest(`DELETE ${path}`)

  expect(refused(before)).toEqual(refusal('ResourceNotFoundException'))
  expect(put).toMatchObject({ status: 200, body: undefined })
  expect(read.body).toEqual({
    BackupVaultName: 'vault',
    BackupVaultArn: vaultArn('vault'),
    Policy: DENY_DELETE,
  })
  expect(refused(denied)).toEqual(refusal('AccessDeniedException', 403))
  expect(data.backupVaultAccessPolicy).toEqual({
    policy: DENY_DELETE,
    backupVaultArn: vaultArn('vault'),
  })
  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(gone.status).toBe(200)
})

test('a policy that is wrong is refused', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const statement = { Effect: 'Deny', Principal: '*', Action: '*', Resource: '*' }
  const wrong: [string | undefined, string][] = [
    [undefined, 'MissingParameterValueException'],
    ['{', 'InvalidParameterValueException'],
    ['{}', 'InvalidParameterValueException'],
    [
      JSON.stringify({ Statement: [{ ...statement, Condition: { Bool: {} } }] }),
      'InvalidParameterValueException',
    ],
  ]

  for (const [Policy, name] of wrong) {
    const answer = await service.rest('PUT /backup-vaults/vault/access-policy', { Policy })
    expect({ Policy, ...refused(answer) }).toEqual({ Policy, ...refusal(name) })
  }

  expect((await service.rest('GET /backup-vaults/vault/access-policy')).status).toBe(400)
})

test('a policy can be put and deleted in the graph', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)

  const put = await service.graphql(
    `mutation ($policy: String) { putBackupVaultAccessPolicy(backupVaultName: "vault", policy: $policy) }`,
    { policy: DENY_DELETE },
  )
  const deleted = await service.graphql(
    'mutation { deleteBackupVaultAccessPolicy(backupVaultName: "vault") }',
  )

  expect(put.data.putBackupVaultAccessPolicy).toBe(true)
  expect(deleted.data.deleteBackupVaultAccessPolicy).toBe(true)
})

test('a vault publishes what it is told to, and nothing once that is deleted', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn } = await makePlan(service)
  const at = '/backup-vaults/vault/notification-configuration'
  const sent = {
    SNSTopicArn: 'arn:aws:sns:us-east-1:111111111111:topic',
    BackupVaultEvents: ['BACKUP_JOB_STARTED', 'BACKUP_JOB_SUCCESSFUL'],
  }

  const before = await service.rest(`GET ${at}`)
  const put = await service.rest(`PUT ${at}`, sent)
  const read = await service.rest(`GET ${at}`)
  const { BackupJobId } = await backUp(service, BackupPlanArn)
  const inGraph = await service.graphql(
    `{ backupVaultNotifications(backupVaultName: "vault") { snsTopicArn backupVaultEvents }
       backupVault(backupVaultName: "vault") { notifications { nodes { event subject snsTopicArn } } } }`,
  )
  const deleted = await service.rest(`DELETE ${at}`)
  await backUp(service, BackupPlanArn)
  const after = await service.graphql(
    '{ backupVault(backupVaultName: "vault") { notifications { nodes { event } } } }',
  )

  expect(refused(before)).toEqual(refusal('ResourceNotFoundException'))
  expect(put).toMatchObject({ status: 200, body: undefined })
  expect(read.body).toMatchObject(sent)
  expect(inGraph.data.backupVaultNotifications).toEqual({
    snsTopicArn: sent.SNSTopicArn,
    backupVaultEvents: sent.BackupVaultEvents,
  })
  expect(inGraph.data.backupVault.notifications.nodes).toEqual([
    { event: 'BACKUP_JOB_STARTED', subject: BackupJobId, snsTopicArn: sent.SNSTopicArn },
    { event: 'BACKUP_JOB_SUCCESSFUL', subject: BackupJobId, snsTopicArn: sent.SNSTopicArn },
  ])
  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(after.data.backupVault.notifications.nodes).toHaveLength(2)
})

test('notifications are put and deleted in the graph, and bad ones refused', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)

  const put = await service.graphql(
    `mutation { putBackupVaultNotifications(backupVaultName: "vault",
       snsTopicArn: "arn:aws:sns:us-east-1:111111111111:topic", backupVaultEvents: [COPY_JOB_FAILED]) }`,
  )
  const deleted = await service.graphql(
    'mutation { deleteBackupVaultNotifications(backupVaultName: "vault") }',
  )
  const bad = await service.rest('PUT /backup-vaults/vault/notification-configuration', {
    SNSTopicArn: 'topic',
    BackupVaultEvents: ['SOMETHING'],
  })

  expect(put.data.putBackupVaultNotifications).toBe(true)
  expect(deleted.data.deleteBackupVaultNotifications).toBe(true)
  expect(refused(bad)).toEqual(refusal('InvalidParameterValueException'))
})

test('what a deleted vault published is forgotten, and a new vault of its name begins anew', async () => {
  const service = await openForTest(subgraph)
  const { path } = await makePoint(service)
  await service.rest('PUT /backup-vaults/vault/notification-configuration', {
    SNSTopicArn: 'arn:aws:sns:us-east-1:111111111111:topic',
    BackupVaultEvents: ['RECOVERY_POINT_MODIFIED'],
  })
  await service.rest(`POST ${path}`, { Lifecycle: { DeleteAfterDays: 2 } })
  await service.rest(`DELETE ${path}`)

  await service.rest('DELETE /backup-vaults/vault')
  await service.advance(0)
  await makeVault(service)

  const { data } = await service.graphql(
    '{ backupVault(backupVaultName: "vault") { notifications { nodes { event } } } }',
  )
  expect(data.backupVault.notifications.nodes).toEqual([])
})

test('a vault is tagged and untagged by its ARN in the graph', async () => {
  const service = await openForTest(subgraph)
  const id = await makeVault(service)

  const tagged = await service.graphql(
    'mutation ($id: ID!) { tagBackupVault(id: $id, tags: { a: "1", b: "2" }) { tags } }',
    { id },
  )
  const untagged = await service.graphql(
    'mutation ($id: ID!) { untagBackupVault(id: $id, keys: ["a"]) { tags } }',
    { id },
  )

  expect(tagged.data.tagBackupVault.tags).toEqual({ a: '1', b: '2' })
  expect(untagged.data.untagBackupVault.tags).toEqual({ b: '2' })
})
