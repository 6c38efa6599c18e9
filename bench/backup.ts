// A year of daily plans on the virtual clock, and a hundred thousand recovery points in one vault.
// It takes a while, and so runs by itself: node bench/backup.ts [points]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { plans, recoveryPoints, vaults, type RecoveryPoint } from '../resolvers/backup/kinds.ts'
import { planInput } from '../resolvers/backup/plan-documents.ts'
import { createPlan } from '../resolvers/backup/plans.ts'
import { defaultRoleArn } from '../resolvers/backup/roles.ts'
import { createSelection, selectionInput } from '../resolvers/backup/selections.ts'
import { createVault } from '../resolvers/backup/vaults.ts'
import { stillClock } from '../resolvers/kernel/clock.ts'
import { noGraph } from '../resolvers/kernel/graph.ts'
import { closedOutbound } from '../resolvers/kernel/outbound.ts'
import { openSecrets } from '../resolvers/kernel/secrets.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import { advanceTo } from '../resolvers/kernel/work.ts'
import { subgraph } from '../subgraphs/backup.ts'
import { kindsOf, migrationsOf, open, type Opened } from '../subgraphs/server/open.ts'
import { openTelemetry } from '../subgraphs/server/telemetry.ts'
import { people, testCredentials } from '../tests/people.ts'

const POINTS = 100_000
const PLANS = 10
const DAYS = 365
const RETENTION_DAYS = 35
const DAY_MS = 24 * 60 * 60_000
const YEAR_SECONDS_MAX = 60
const LIST_MS_MAX = 100

type Context = ReturnType<Opened['contextFor']>

async function openBackup(folder: string) {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const store = await openSqlite({
    file: join(folder, 'backup.db'),
    kinds: kindsOf(subgraph),
    migrations: migrationsOf(subgraph),
    synchronous: 'FULL',
  })
  const opened = await open(subgraph, {
    store,
    clock,
    wallClock: clock,
    credentials: testCredentials,
    telemetry: openTelemetry(pino({ level: 'silent' })),
    outbound: closedOutbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
  })
  const ctx = opened.contextFor(people.alice, { address: '', headers: {} })
  return { opened, clock, store, ctx }
}

/** Plans that back themselves up every day, since that needs no other service. */
async function makePlans(ctx: Context) {
  await createVault({ BackupVaultName: 'daily' }, ctx)
  for (let n = 0; n < PLANS; n += 1) {
    const BackupPlan = planInput.parse({
      BackupPlanName: `plan-${n}`,
      Rules: [
        {
          RuleName: 'daily',
          TargetBackupVaultName: 'daily',
          ScheduleExpression: 'cron(0 5 ? * * *)',
          Lifecycle: { DeleteAfterDays: RETENTION_DAYS },
        },
      ],
    })
    const { Account, BackupPlanId } = await createPlan({ BackupPlan }, ctx)
    const BackupSelection = selectionInput.parse({
      SelectionName: 's',
      IamRoleArn: defaultRoleArn(Account),
      Resources: [`arn:aws:backup:us-east-1:${Account}:backup-plan:${BackupPlanId}`],
    })
    await createSelection({ BackupPlanId, BackupSelection }, ctx)
  }
}

async function fill(ctx: Context, count: number): Promise<void> {
  const [plan] = (await ctx.store.list(plans, { limit: 1 })).items
  const [one] = (await ctx.store.list(recoveryPoints, { limit: 1 })).items
  const made = await createVault({ BackupVaultName: 'large' }, ctx)
  const batch = 1_000
  for (let from = 0; from < count; from += batch) {
    await ctx.store.transaction(async (tx) => {
      for (let n = from; n < Math.min(from + batch, count); n += 1) {
        const id = `bench-${n}`
        const point: RecoveryPoint = {
          ...one!,
          RecoveryPointId: id,
          RecoveryPointArn: `arn:aws:backup:us-east-1:${plan!.Account}:recovery-point:${id}`,
          BackupVaultName: made.BackupVaultName,
          CreationDate: new Date(n * 1_000).toISOString(),
        }
        await tx.insert(recoveryPoints, point)
      }
    })
  }
}

export async function benchBackup(points = POINTS): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  const { opened, clock, store, ctx } = await openBackup(folder)
  await makePlans(ctx)
  const began = performance.now()
  const steps = await advanceTo(new Date(clock.now().getTime() + DAYS * DAY_MS), clock, [
    opened.work,
  ])
  const seconds = (performance.now() - began) / 1_000
  const kept = await store.count(recoveryPoints, {
    where: { vault: `${people.alice.accounts[1]!.id}/daily` },
  })
  const isExact = kept === PLANS * RETENTION_DAYS
  const perRunMs = (seconds * 1_000) / (PLANS * DAYS)

  await fill(ctx, points)
  const key = vaults.key((await store.get(vaults, `${people.alice.accounts[1]!.id}/large`))!)
  const beganList = performance.now()
  const page = await store.list(recoveryPoints, {
    where: { vault: key },
    order: 'createdMs',
    descending: true,
    limit: 100,
  })
  const listMs = performance.now() - beganList
  const beganCount = performance.now()
  const counted = await store.count(recoveryPoints, { where: { vault: key } })
  const countMs = performance.now() - beganCount
  await opened.close()
  await rm(folder, { recursive: true, force: true })
  const isGood = isExact && seconds / PLANS < YEAR_SECONDS_MAX && listMs < LIST_MS_MAX
  console.log(
    `${isGood ? 'ok    ' : 'MISSED'} ${PLANS} daily plans over a year: ${kept} points left, ` +
      `${steps} steps in ${seconds.toFixed(1)} s (${perRunMs.toFixed(1)} ms a run); of ${counted} points ` +
      `in one vault the newest ${page.items.length} in ${listMs.toFixed(1)} ms, counted in ${countMs.toFixed(1)} ms`,
  )
  return isGood
}

if (import.meta.main) process.exit((await benchBackup(Number(process.argv[2] ?? POINTS))) ? 0 : 1)
