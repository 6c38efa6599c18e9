// Restore testing plans as they run by themselves: a trial restore for every resource they select.
import { randomInt } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import { uuidOf } from './copy-runs.ts'
import {
  protectedKey,
  protectedResources,
  recoveryPoints,
  type ProtectedResource,
  type RecoveryPoint,
} from './kinds.ts'
import { batches } from './lists.ts'
import { addRestoreJob, newRestoreJob } from './restore-runs.ts'
import { metadataOf } from './recovery-points.ts'
import { momentAfter } from './schedules.ts'
import { isLike } from './selection-matches.ts'
import { DAY_MS, HOUR_MS } from './shapes.ts'
import { TEST_STEP, waitForTest } from './testing-moments.ts'
import {
  testingPlans,
  testingSelections,
  type TestingPlan,
  type TestingSelection,
} from './testing-records.ts'

const SELECTION_STEP = 'runBackupRestoreTestingSelection'
const SELECTIONS_MAX = 30
const RESOURCES_MAX = 1_000
const POINTS_MAX = 1_000
const RESOURCE_TAG = 'aws:ResourceTag/'

export const steps = { [TEST_STEP]: runPlan, [SELECTION_STEP]: runSelection }

async function runPlan({ Key, DueMs }: { Key: string; DueMs: number }, ctx: Context) {
  const now = ctx.clock.now()
  await ctx.store.transaction(async (tx) => {
    const plan = await tx.get(testingPlans, Key)
    if (plan?.DueMs !== DueMs) return
    const { ScheduleExpression: expression, ScheduleExpressionTimezone: timezone } = plan
    const schedule = { expression, timezone, sinceMs: Date.parse(plan.CreationTime) }
    const next: TestingPlan = {
      ...plan,
      LastExecutionTime: now.toISOString(),
      DueMs: momentAfter(schedule, Math.max(now.getTime(), DueMs)) ?? null,
    }
    await tx.save(testingPlans, next)
    await waitForTest(tx, next, ctx)
    // What could not begin within its window, because nothing ran here, is left out.
    if (now.getTime() > DueMs + plan.StartWindowHours * HOUR_MS) return
    const { items } = await tx.list(testingSelections, { prefix: `${Key}/`, limit: SELECTIONS_MAX })
    for (const selection of items) {
      const Selection = testingSelections.key(selection)
      await ctx.work.later(tx, 0, SELECTION_STEP, { Key, DueMs, Selection })
    }
  })
}

async function runSelection(
  { Key, DueMs, Selection }: { Key: string; DueMs: number; Selection: string },
  ctx: Context,
): Promise<void> {
  const [plan, selection] = [
    await ctx.store.get(testingPlans, Key),
    await ctx.store.get(testingSelections, Selection),
  ]
  if (!plan || !selection) return
  for (const resource of await resourcesOf(selection, ctx)) {
    const point = await choose(plan, resource, ctx)
    if (!point) continue
    const { ValidationWindowHours = 0, RestoreMetadataOverrides = {} } = selection
    const validMs = ctx.clock.now().getTime() + ValidationWindowHours * HOUR_MS
    const { restoreTime: _, ...usual } = metadataOf(point)
    const { resourceId = usual['resourceId']! } = RestoreMetadataOverrides
    const job = {
      ...newRestoreJob(
        point,
        { UserId: plan.UserId, IamRoleArn: selection.IamRoleArn, Metadata: { resourceId } },
        ctx,
      ),
      // The same id again, when the step runs for the second time.
      RestoreJobId: uuidOf(`${Selection} ${plan.CreationTime} ${DueMs} ${resource.ResourceArn}`),
      CreatedBy: { RestoreTestingPlanArn: plan.RestoreTestingPlanArn },
      ValidUntil: new Date(validMs).toISOString(),
    }
    await ctx.store.transaction((tx) => addRestoreJob(tx, job, ctx))
  }
}

async function resourcesOf(
  selection: TestingSelection,
  ctx: Context,
): Promise<ProtectedResource[]> {
  const { Account, ProtectedResourceType: type, ProtectedResourceArns: arns } = selection
  const isFitting = (one: ProtectedResource) => type === '*' || one.ResourceType === type
  if (arns && !arns.includes('*')) {
    const keys = arns.map((arn) => protectedKey(Account, '', arn))
    const found = await ctx.store.getMany(protectedResources, keys)
    return found.filter((one) => one !== undefined && isFitting(one)) as ProtectedResource[]
  }
  const all: ProtectedResource[] = []
  for await (const some of batches(ctx, protectedResources, {
    prefix: protectedKey(Account, '', ''),
  })) {
    all.push(...some.filter((one) => isFitting(one) && meets(selection, one)))
    if (all.length >= RESOURCES_MAX) break
  }
  return all.slice(0, RESOURCES_MAX)
}

/** Chosen: conditions are held against the tags that a resource had when it was last backed up. */
function meets(
  { ProtectedResourceConditions: conditions }: TestingSelection,
  { ResourceTags: tags = {} }: ProtectedResource,
): boolean {
  if (!conditions) return true
  const valueOf = (key: string) =>
    tags[key.startsWith(RESOURCE_TAG) ? key.slice(RESOURCE_TAG.length) : key]
  const { StringEquals = [], StringNotEquals = [] } = conditions
  return (
    StringEquals.every(({ Key, Value }) => valueOf(Key) === Value) &&
    StringNotEquals.every(({ Key, Value }) => valueOf(Key) !== Value)
  )
}

/** The recovery point of a resource that a plan tries; undefined when none is in its window. */
async function choose(
  { RecoveryPointSelection: choice }: TestingPlan,
  { Account, ResourceArn }: ProtectedResource,
  ctx: Context,
): Promise<RecoveryPoint | undefined> {
  const { Algorithm, IncludeVaults, ExcludeVaults, RecoveryPointTypes } = choice
  const fromMs = ctx.clock.now().getTime() - choice.SelectionWindowDays * DAY_MS
  const from = new Date(fromMs).toISOString()
  const { items } = await ctx.store.list(recoveryPoints, {
    where: { resource: `${Account}/${ResourceArn}` },
    order: 'createdMs',
    descending: true,
    limit: POINTS_MAX,
  })
  const eligible = items.filter(
    ({ BackupVaultArn, Continuous, Status, CreationDate, CompletionDate }) =>
      Status !== 'EXPIRED' &&
      (Continuous ? CompletionDate : CreationDate) >= from &&
      RecoveryPointTypes.includes(Continuous ? 'CONTINUOUS' : 'SNAPSHOT') &&
      IncludeVaults.some((pattern) => isLike(pattern, BackupVaultArn)) &&
      !ExcludeVaults.some((pattern) => isLike(pattern, BackupVaultArn)),
  )
  if (Algorithm === 'LATEST_WITHIN_WINDOW' || eligible.length === 0) return eligible[0]
  return eligible[randomInt(eligible.length)]
}
