// Restore testing plans, which try on schedule whether recovery points could be restored. Spec. 3, K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, put, reply } from '../kernel/operation.ts'
import { oneOf, optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import {
  AlreadyExists,
  InvalidParameterValue,
  InvalidRequest,
  LimitExceeded,
  ResourceNotFound,
} from './errors.ts'
import { page, pageShown } from './lists.ts'
import { once } from './request-tokens.ts'
import { checkSchedule, momentAfter } from './schedules.ts'
import { nothing, only, pagedUpper, requestId, tagMap, testingName } from './shapes.ts'
import { setTags } from './tags.ts'
import { waitForTest } from './testing-moments.ts'
import {
  testingPlanArnOf,
  testingPlans,
  testingSelections,
  type PointChoice,
  type TestingPlan,
} from './testing-records.ts'

const PLANS_MAX = 100
const VAULTS_MAX = 100
const WINDOW_DAYS_MAX = 365
const WINDOW_DAYS_DEFAULT = 30
const START_HOURS_MAX = 168
const START_HOURS_DEFAULT = 24

const vaultPattern = text.regex(
  /^(\*|arn:[\w*-]+:backup:[\w*-]*:[\d*]*:backup-vault:[\w*-]{1,50})$/,
  'must be * or the ARN of a vault, in which * stands for any characters',
)
const choice = z.object({
  Algorithm: oneOf(['LATEST_WITHIN_WINDOW', 'RANDOM_WITHIN_WINDOW']),
  IncludeVaults: z.array(vaultPattern).min(1).max(VAULTS_MAX),
  ExcludeVaults: optional(z.array(vaultPattern).max(VAULTS_MAX)),
  RecoveryPointTypes: z
    .array(oneOf(['SNAPSHOT', 'CONTINUOUS']))
    .min(1)
    .max(2),
  SelectionWindowDays: optional(
    whole.refine((days) => days >= 1 && days <= WINDOW_DAYS_MAX, `must be 1 to ${WINDOW_DAYS_MAX}`),
  ),
})
const hours = whole.refine(
  (count) => count >= 1 && count <= START_HOURS_MAX,
  `must be 1 to ${START_HOURS_MAX}`,
)
const timing = {
  ScheduleExpressionTimezone: optional(text.max(64)),
  StartWindowHours: optional(hours),
}
const forCreate = z.object({
  RestoreTestingPlanName: testingName,
  RecoveryPointSelection: choice,
  ScheduleExpression: text.max(256),
  ...timing,
})
const forUpdate = z.object({
  RecoveryPointSelection: optional(choice),
  ScheduleExpression: optional(text.max(256)),
  ...timing,
})

const MANY = '/restore-testing/plans'
const ONE = `${MANY}/{RestoreTestingPlanName}`
const one = { RestoreTestingPlanName: text }
const made = only('CreationTime', 'RestoreTestingPlanArn', 'RestoreTestingPlanName')
const listed = only(
  'CreationTime',
  'RestoreTestingPlanArn',
  'RestoreTestingPlanName',
  'ScheduleExpression',
  'LastExecutionTime',
  'LastUpdateTime',
  'ScheduleExpressionTimezone',
  'StartWindowHours',
)

export const operations = [
  operation({
    name: 'createBackupRestoreTestingPlan',
    rest: put(MANY, {
      show: made,
      answer: z.object({ CreationTime: z.number(), RestoreTestingPlanName: z.string() }),
    }),
    input: {
      RestoreTestingPlan: forCreate,
      CreatorRequestId: optional(requestId),
      Tags: optional(tagMap),
    },
    needs: 'backup:CreateRestoreTestingPlan',
    refuses: { 400: 'There is a plan of this name, or something sent is invalid.' },
    run: createPlan,
  }),
  operation({
    name: 'updateBackupRestoreTestingPlan',
    rest: put(ONE, {
      isBeyond: true,
      show: (plan: TestingPlan) => ({
        ...made(plan),
        ...only('UpdateTime')({ UpdateTime: plan.LastUpdateTime }),
      }),
    }),
    input: { ...one, RestoreTestingPlan: forUpdate },
    needs: 'backup:UpdateRestoreTestingPlan',
    run: updatePlan,
  }),
  operation({
    name: 'deleteBackupRestoreTestingPlan',
    rest: del(ONE, nothing),
    input: one,
    needs: 'backup:DeleteRestoreTestingPlan',
    refuses: { 400: 'There is no such plan, or it has selections.' },
    run: deletePlan,
  }),
  operation({
    name: 'backupRestoreTestingPlan',
    rest: get(ONE, {
      isBeyond: true,
      show: (plan: TestingPlan) => ({
        RestoreTestingPlan: {
          ...listed(plan),
          ...only('CreatorRequestId', 'RecoveryPointSelection')(plan),
        },
      }),
    }),
    input: one,
    needs: 'backup:GetRestoreTestingPlan',
    run: ({ RestoreTestingPlanName }, ctx) =>
      needTestingPlan(ctx.store, ctx, RestoreTestingPlanName),
  }),
  operation({
    name: 'backupRestoreTestingPlans',
    rest: get(MANY, { isBeyond: true, show: pageShown('RestoreTestingPlans', listed) }),
    input: pagedUpper,
    needs: 'backup:ListRestoreTestingPlans',
    run: ({ MaxResults, NextToken }, ctx) =>
      page(
        ctx,
        testingPlans,
        { maxResults: MaxResults, nextToken: NextToken },
        { prefix: `${accountOf(ctx)}/` },
      ),
  }),
]

interface Creation {
  readonly RestoreTestingPlan: z.output<typeof forCreate>
  readonly CreatorRequestId?: string | undefined
  readonly Tags?: Record<string, string> | undefined
}

async function createPlan(input: Creation, ctx: Context): Promise<TestingPlan> {
  const Account = accountOf(ctx)
  const { RestoreTestingPlan: sent, CreatorRequestId } = input
  const { RestoreTestingPlanName, ScheduleExpressionTimezone } = sent
  const plan: TestingPlan = timed(
    {
      Account,
      UserId: ctx.caller.userId,
      RestoreTestingPlanName,
      RestoreTestingPlanArn: testingPlanArnOf(Account, RestoreTestingPlanName),
      RecoveryPointSelection: readChoice(sent.RecoveryPointSelection),
      ScheduleExpression: sent.ScheduleExpression,
      ...(ScheduleExpressionTimezone !== undefined && { ScheduleExpressionTimezone }),
      StartWindowHours: sent.StartWindowHours ?? START_HOURS_DEFAULT,
      ...(CreatorRequestId !== undefined && { CreatorRequestId }),
      CreationTime: ctx.clock.now().toISOString(),
    },
    ctx,
  )
  return once(ctx, {
    operation: 'createRestoreTestingPlan',
    token: CreatorRequestId,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      if (!(await tx.insert(testingPlans, plan))) {
        throw AlreadyExists(`There is a restore testing plan ${RestoreTestingPlanName} already.`, {
          details: { Arn: plan.RestoreTestingPlanArn },
        })
      }
      if ((await tx.count(testingPlans, { prefix: `${Account}/` })) > PLANS_MAX) {
        throw LimitExceeded(`An account has at most ${PLANS_MAX} restore testing plans.`)
      }
      await setTags(tx, plan.RestoreTestingPlanArn, input.Tags)
      await waitForTest(tx, plan, ctx)
      await announce(tx, 'created', plan, ctx)
      return plan
    },
  })
}

async function updatePlan(
  input: { RestoreTestingPlanName: string; RestoreTestingPlan: z.output<typeof forUpdate> },
  ctx: Context,
): Promise<TestingPlan> {
  const { RecoveryPointSelection, ScheduleExpression } = input.RestoreTestingPlan
  const { ScheduleExpressionTimezone, StartWindowHours } = input.RestoreTestingPlan
  return ctx.store.transaction(async (tx) => {
    const before = await needTestingPlan(tx, ctx, input.RestoreTestingPlanName)
    const plan = timed(
      {
        ...before,
        // Who changes a plan answers for what it does from now on.
        UserId: ctx.caller.userId,
        ...(RecoveryPointSelection && {
          RecoveryPointSelection: readChoice(RecoveryPointSelection),
        }),
        ...(ScheduleExpression !== undefined && { ScheduleExpression }),
        ...(ScheduleExpressionTimezone !== undefined && { ScheduleExpressionTimezone }),
        ...(StartWindowHours !== undefined && { StartWindowHours }),
        LastUpdateTime: ctx.clock.now().toISOString(),
      },
      ctx,
    )
    await tx.save(testingPlans, plan)
    if (plan.DueMs !== before.DueMs) await waitForTest(tx, plan, ctx)
    await announce(tx, 'changed', plan, ctx)
    return plan
  })
}

/** A plan with its next moment. Refuses a schedule that has none. */
function timed(plan: Omit<TestingPlan, 'DueMs'>, ctx: Context): TestingPlan {
  const nowMs = ctx.clock.now().getTime()
  const { ScheduleExpression: expression, ScheduleExpressionTimezone: timezone } = plan
  checkSchedule('ScheduleExpression', { expression, timezone, nowMs })
  const sinceMs = Date.parse(plan.CreationTime)
  return { ...plan, DueMs: momentAfter({ expression, timezone, sinceMs }, nowMs) ?? null }
}

function readChoice(sent: z.output<typeof choice>): PointChoice {
  const { Algorithm, IncludeVaults, ExcludeVaults = [], RecoveryPointTypes } = sent
  if (ExcludeVaults.includes('*')) {
    throw InvalidParameterValue('RecoveryPointSelection.ExcludeVaults must leave a vault.')
  }
  return {
    Algorithm,
    IncludeVaults,
    ExcludeVaults,
    RecoveryPointTypes: [...new Set(RecoveryPointTypes)],
    SelectionWindowDays: sent.SelectionWindowDays ?? WINDOW_DAYS_DEFAULT,
  }
}

async function deletePlan(
  { RestoreTestingPlanName: name }: { RestoreTestingPlanName: string },
  ctx: Context,
) {
  await ctx.store.transaction(async (tx) => {
    const plan = await needTestingPlan(tx, ctx, name)
    const prefix = `${testingPlans.key(plan)}/`
    if ((await tx.list(testingSelections, { prefix, limit: 1 })).items.length > 0) {
      throw InvalidRequest(`The restore testing plan ${name} has selections. Delete them first.`)
    }
    await tx.remove(testingPlans, testingPlans.key(plan))
    await setTags(tx, plan.RestoreTestingPlanArn)
    await announce(tx, 'deleted', plan, ctx)
  })
  return reply(200)
}

export async function needTestingPlan(
  from: Records,
  ctx: Context,
  name: string,
): Promise<TestingPlan> {
  const plan = await from.get(testingPlans, `${accountOf(ctx)}/${name}`)
  if (plan) return plan
  throw ResourceNotFound(`There is no restore testing plan ${name}.`)
}

const announce = (tx: Records, happened: string, plan: TestingPlan, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.restore-testing-plan.${happened}`,
    subject: plan.RestoreTestingPlanArn,
    body: { RestoreTestingPlanName: plan.RestoreTestingPlanName },
  })
