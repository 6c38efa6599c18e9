// The life of plans, recovery points, holds and continuous backup on both engines.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest } from '../open.ts'
import {
  backUp,
  DAY_MS,
  HOUR_MS,
  makePlan,
  makeVault,
  planOf,
  pointPath,
  ROLE,
  vaultArn,
} from './making.ts'

test.each(engines)('a plan runs, copies, is held and restored on $engine', async ({ database }) => {
  const { open } = await database()
  const store = await open(kindsOf(subgraph), migrationsOf(subgraph))
  const service = await openForTest(subgraph, { store })
  await makeVault(service)
  await makeVault(service, 'copies')
  const plan = await makePlan(service, 'plan', {
    ScheduleExpression: 'cron(0 5 ? * * *)',
    Lifecycle: { DeleteAfterDays: 3 },
    CopyActions: [
      { DestinationBackupVaultArn: vaultArn('copies'), Lifecycle: { DeleteAfterDays: 1 } },
    ],
  })
  const path = `/backup/plans/${plan.BackupPlanId}`
  const { body: selection } = await service.rest(`PUT ${path}/selections/`, {
    BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: [plan.BackupPlanArn] },
  })
  const count = async (vault: string) =>
    (await service.rest(`GET /backup-vaults/${vault}`)).body.NumberOfRecoveryPoints

  await service.advance(10 * DAY_MS)
  const kept = [await count('vault'), await count('copies')]
  const { body: hold } = await service.rest('POST /legal-holds/', {
    Title: 't',
    Description: 'd',
    RecoveryPointSelection: { VaultNames: ['vault'] },
  })
  await service.advance(2 * DAY_MS)
  const held = await count('vault')
  await service.rest(`DELETE /legal-holds/${hold.LegalHoldId}?cancelDescription=over`)
  await service.advance(0)
  const released = await count('vault')
  const { body: listed } = await service.rest(
    'GET /backup-vaults/vault/recovery-points?maxResults=1',
  )
  const { RecoveryPointArn } = listed.RecoveryPoints[0]
  const before = await service.rest(`GET ${path}`)
  await service.rest(`DELETE ${path}/selections/${selection.SelectionId}`)
  await service.rest(`DELETE ${path}`)
  await service.rest('PUT /restore-jobs', { RecoveryPointArn, Metadata: {} })
  await service.advance(0)
  const after = await service.rest(`GET ${path}`)
  await service.rest(`DELETE ${pointPath('vault', RecoveryPointArn)}`)

  expect(kept).toEqual([3, 1])
  expect(held).toBe(5)
  expect(released).toBe(3)
  expect(after.body).toEqual(before.body)
  expect(await count('vault')).toBe(2)
  expect(service.mistakes).toEqual([])
})

test.each(engines)(
  'a continuous point keeps the states of its window on $engine',
  async ({ database }) => {
    const { open } = await database()
    const store = await open(kindsOf(subgraph), migrationsOf(subgraph))
    const service = await openForTest(subgraph, { store })
    await makeVault(service)
    const plan = await makePlan(service, 'plan', {
      ScheduleExpression: 'cron(0 1 1 1 ? 2030)',
      EnableContinuousBackup: true,
      Lifecycle: { DeleteAfterDays: 1 },
    })
    const watched = await makePlan(service, 'watched')
    await service.rest(`PUT /backup/plans/${plan.BackupPlanId}/selections/`, {
      BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, Resources: [watched.BackupPlanArn] },
    })

    await service.advance(HOUR_MS)
    for (const StartWindowMinutes of [61, 62, 63]) {
      await service.rest(`POST /backup/plans/${watched.BackupPlanId}`, {
        BackupPlan: planOf('watched', { StartWindowMinutes }),
      })
      await service.advance(HOUR_MS)
    }
    const many = await store.sql('SELECT version FROM blob_version')
    await service.advance(2 * DAY_MS)
    const few = await store.sql('SELECT version FROM blob_version')

    expect(many).toHaveLength(4)
    expect(few).toHaveLength(1)
    expect(service.mistakes).toEqual([])
  },
)

test.each(engines)('many jobs at once lose nothing on $engine', async ({ database }) => {
  const { open } = await database()
  const store = await open(kindsOf(subgraph), migrationsOf(subgraph))
  const service = await openForTest(subgraph, { store })
  await makeVault(service)
  const { BackupPlanArn: ResourceArn } = await makePlan(service)
  const start = () =>
    service.rest('PUT /backup-jobs', { BackupVaultName: 'vault', ResourceArn, IamRoleArn: ROLE })

  const started = await Promise.all(Array.from({ length: 20 }, start))
  service.opened.work.start()
  await expect
    .poll(
      async () => (await service.rest('GET /backup-jobs?state=COMPLETED')).body.BackupJobs.length,
      {
        timeout: 15_000,
      },
    )
    .toBe(20)
  await service.opened.work.stop()
  const { path } = await backUp(service, ResourceArn)
  await service.rest(`DELETE ${path}`)

  expect(started.every(({ status }) => status === 200)).toBe(true)
  const vault = await service.rest('GET /backup-vaults/vault')
  expect(vault.body.NumberOfRecoveryPoints).toBe(20)
  expect(service.mistakes).toEqual([])
})
