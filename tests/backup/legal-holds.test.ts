// Legal holds: what they keep, until they are cancelled.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest } from '../open.ts'
import { countingReads } from '../reads.ts'
import { backUp, DAY_MS, makePoint, makeVault, refusal, refused, START_S } from './making.ts'

const HOLD = { Title: 'case 1', Description: 'as the court asked' }

test('a hold is created, read, listed and cancelled', async () => {
  const service = await openForTest(subgraph)
  const RecoveryPointSelection = {
    VaultNames: ['vault'],
    ResourceIdentifiers: ['arn:aws:backup:us-east-1:111111111111:backup-plan:x'],
    DateRange: { FromDate: START_S, ToDate: START_S + 60.5 },
  }
  const sent = { ...HOLD, RecoveryPointSelection, Tags: { a: 'b' }, IdempotencyToken: 't' }

  const created = await service.rest('POST /legal-holds/', sent)
  const again = await service.rest('POST /legal-holds', sent)
  const path = `/legal-holds/${created.body.LegalHoldId}`
  const read = await service.rest(`GET ${path}`)
  const listed = await service.rest('GET /legal-holds')
  const tags = await service.rest(`GET /tags/${encodeURIComponent(created.body.LegalHoldArn)}`)
  const cancelled = await service.rest(`DELETE ${path}?cancelDescription=over&retainRecordInDays=1`)
  const canceling = await service.rest(`GET ${path}`)
  await service.advance(0)
  const canceled = await service.rest(`GET ${path}`)
  const twice = await service.rest(`DELETE ${path}?cancelDescription=over`)
  await service.advance(DAY_MS)
  const forgotten = await service.rest(`GET ${path}`)

  expect(created).toMatchObject({ status: 200 })
  expect(created.body).toEqual({
    ...HOLD,
    Status: 'ACTIVE',
    LegalHoldId: expect.any(String),
    LegalHoldArn: expect.stringMatching(/^arn:aws:backup:us-east-1:111111111111:legal-hold:/),
    CreationDate: START_S,
    RecoveryPointSelection,
  })
  expect(again.body).toEqual(created.body)
  expect(read.body).toEqual(created.body)
  expect(listed.body.LegalHolds).toHaveLength(1)
  expect(tags.body.Tags).toEqual({ a: 'b' })
  expect(cancelled).toMatchObject({ status: 200, body: undefined })
  expect(canceling.body).toMatchObject({
    Status: 'CANCELING',
    CancelDescription: 'over',
    CancellationDate: START_S,
    RetainRecordUntil: START_S + 86_400,
  })
  expect(canceled.body.Status).toBe('CANCELED')
  expect(refused(twice)).toEqual(refusal('InvalidResourceStateException'))
  expect(refused(forgotten)).toEqual(refusal('ResourceNotFoundException'))
})

test('a hold keeps what it covers from deletion, and no more once it is cancelled', async () => {
  const service = await openForTest(subgraph)
  const { path, plan } = await makePoint(service)
  await makeVault(service, 'other')
  const elsewhere = await backUp(service, plan.BackupPlanArn, { BackupVaultName: 'other' })
  const { body: hold } = await service.rest('POST /legal-holds/', {
    ...HOLD,
    RecoveryPointSelection: { VaultNames: ['vault'] },
  })

  const held = await service.rest(`DELETE ${path}`)
  const free = await service.rest(`DELETE ${elsewhere.path}`)
  const covered = await service.rest(`GET /legal-holds/${hold.LegalHoldId}/recovery-points`)
  const inGraph = await service.graphql(
    `query ($id: ID!) { backupRecoveryPointsByLegalHold(legalHoldId: $id) { nodes { backupVaultName } } }`,
    { id: hold.LegalHoldId },
  )
  await service.rest(`DELETE /legal-holds/${hold.LegalHoldId}?cancelDescription=over`)
  const released = await service.rest(`DELETE ${path}`)

  expect(refused(held)).toEqual(refusal('InvalidResourceStateException'))
  expect(free.status).toBe(200)
  expect(covered.body.RecoveryPoints).toEqual([
    {
      RecoveryPointArn: expect.any(String),
      ResourceArn: plan.BackupPlanArn,
      ResourceType: 'AWS::Backup::BackupPlan',
      BackupVaultName: 'vault',
    },
  ])
  expect(inGraph.data.backupRecoveryPointsByLegalHold.nodes).toEqual([{ backupVaultName: 'vault' }])
  expect(released.status).toBe(200)
  expect((await service.rest(`GET ${path}`)).status).toBe(400)
})

test('a recovery point tells which holds keep it, and many ask for the holds once', async () => {
  const { counted, wrap } = countingReads(['listMany'], 'backup_legal_hold')
  const service = await openForTest(subgraph, { wrap })
  const { plan } = await makePoint(service)
  await makeVault(service, 'other')
  await backUp(service, plan.BackupPlanArn, { BackupVaultName: 'other' })
  for (const [Title, VaultNames] of [
    ['both', undefined],
    ['one', ['vault']],
  ] as const) {
    await service.rest('POST /legal-holds/', {
      ...HOLD,
      Title,
      RecoveryPointSelection: { VaultNames },
    })
  }

  const { data } = await service.graphql(
    `query ($id: ID!) { backupPlanById(id: $id) { recoveryPoints { nodes {
       backupVaultName legalHolds { title status } } } } }`,
    { id: plan.BackupPlanArn },
  )

  const both = { title: 'both', status: 'ACTIVE' }
  expect(data.backupPlanById.recoveryPoints.nodes).toEqual([
    { backupVaultName: 'other', legalHolds: [both] },
    { backupVaultName: 'vault', legalHolds: [both, { title: 'one', status: 'ACTIVE' }] },
  ])
  expect(counted.reads).toBe(1)
})

test('a point that a hold kept beyond its end goes when the hold is cancelled', async () => {
  const service = await openForTest(subgraph)
  const { path, plan } = await makePoint(service, { Lifecycle: { DeleteAfterDays: 1 } })
  const { data } = await service.graphql(
    `mutation ($arn: String!) { createBackupLegalHold(title: "t", description: "d",
       recoveryPointSelection: { resourceIdentifiers: [$arn] }) { legalHoldId status } }`,
    { arn: plan.BackupPlanArn },
  )

  await service.advance(5 * DAY_MS)
  const kept = await service.rest(`GET ${path}`)
  const cancelled = await service.graphql(
    `mutation ($id: ID!) { cancelBackupLegalHold(legalHoldId: $id, cancelDescription: "over") }`,
    { id: data.createBackupLegalHold.legalHoldId },
  )
  await service.advance(0)
  const { data: after } = await service.graphql(
    `query ($id: ID!) { backupLegalHold(legalHoldId: $id) { status } backupLegalHolds { nodes { title } } }`,
    { id: data.createBackupLegalHold.legalHoldId },
  )

  expect(kept.status).toBe(200)
  expect(cancelled.data.cancelBackupLegalHold).toBe(true)
  expect((await service.rest(`GET ${path}`)).status).toBe(400)
  expect(after).toEqual({
    backupLegalHold: { status: 'CANCELED' },
    backupLegalHolds: { nodes: [{ title: 't' }] },
  })
})

test('a hold covers only what was made within its dates, and everything where it names nothing', async () => {
  const service = await openForTest(subgraph)
  const { path } = await makePoint(service)
  const hold = (RecoveryPointSelection?: object) =>
    service.rest('POST /legal-holds/', { ...HOLD, RecoveryPointSelection })

  await hold({ DateRange: { FromDate: START_S + 1, ToDate: START_S + 10 } })
  await hold({ DateRange: { FromDate: START_S, ToDate: START_S }, VaultNames: ['other'] })
  const { body: all } = await hold()
  const held = await service.rest(`DELETE ${path}`)
  await service.rest(`DELETE /legal-holds/${all.LegalHoldId}?cancelDescription=x`)
  const free = await service.rest(`DELETE ${path}`)

  expect(refused(held)).toEqual(refusal('InvalidResourceStateException'))
  expect(free.status).toBe(200)
})

test('a hold that is wrong is refused and not created', async () => {
  const service = await openForTest(subgraph)
  const wrong: [object, string][] = [
    [{ Title: 't' }, 'MissingParameterValueException'],
    [{ Description: 'd' }, 'MissingParameterValueException'],
    [{ ...HOLD, Title: '' }, 'InvalidParameterValueException'],
    [{ ...HOLD, RecoveryPointSelection: { VaultNames: 'x' } }, 'InvalidParameterValueException'],
    [
      { ...HOLD, RecoveryPointSelection: { DateRange: { FromDate: 2, ToDate: 1 } } },
      'InvalidParameterValueException',
    ],
    [
      { ...HOLD, RecoveryPointSelection: { DateRange: { FromDate: 'never', ToDate: 1 } } },
      'InvalidParameterValueException',
    ],
  ]

  for (const [sent, name] of wrong) {
    const answer = await service.rest('POST /legal-holds/', sent)
    expect({ sent, ...refused(answer) }).toEqual({ sent, ...refusal(name) })
  }

  expect((await service.rest('GET /legal-holds')).body.LegalHolds).toEqual([])
})

test('to cancel needs a hold, a description and a number of days that can be', async () => {
  const service = await openForTest(subgraph)
  const { body } = await service.rest('POST /legal-holds/', HOLD)
  const path = `/legal-holds/${body.LegalHoldId}`

  const silent = await service.rest(`DELETE ${path}`)
  const early = await service.rest(`DELETE ${path}?cancelDescription=x&retainRecordInDays=-1`)
  const foreign = await service.rest(`DELETE ${path}?cancelDescription=x`, undefined, {
    credential: 'bob',
  })
  const missing = await service.rest('DELETE /legal-holds/none?cancelDescription=x')

  expect(refused(silent)).toEqual(refusal('MissingParameterValueException'))
  expect(refused(early)).toEqual(refusal('InvalidParameterValueException'))
  expect(refused(foreign)).toEqual(refusal('ResourceNotFoundException'))
  expect(refused(missing)).toEqual(refusal('ResourceNotFoundException'))
  expect((await service.rest(`GET ${path}`)).body.Status).toBe('ACTIVE')
})
