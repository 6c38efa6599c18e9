// Plans, which say what is backed up when, with their versions. Specification 3, service K.
//
// A plan that is deleted stays as a record with its date: its versions before the last can be read on.
import { z } from 'zod'
import { accountOf, REGION } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, put } from '../kernel/operation.ts'
import { flag, optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import {
  AlreadyExists,
  InvalidParameterValue,
  InvalidRequest,
  LimitExceeded,
  ResourceNotFound,
} from './errors.ts'
import {
  deletedPlanKey,
  planArnOf,
  planKey,
  plans,
  planVersions,
  selections,
  type Plan,
  type PlanVersion,
} from './kinds.ts'
import { page, pageShown } from './lists.ts'
import { planInput, readPlan, schedulesOf, type SentPlan } from './plan-documents.ts'
import { waitForPlan } from './plan-moments.ts'
import { once } from './request-tokens.ts'
import { nextOf } from './schedules.ts'
import { only, paged, requestId, tagMap } from './shapes.ts'
import { setTags } from './tags.ts'

const PLANS_MAX = 1_000
const PREVIEW_MAX = 10

const MANY = '/backup/plans/'
const ONE = '/backup/plans/{BackupPlanId}'
const one = { BackupPlanId: text }

const made = (plan: PlanVersion) => ({
  ...only('BackupPlanId', 'CreationDate', 'VersionId')(plan),
  BackupPlanArn: planArnOf(plan),
  AdvancedBackupSettings: plan.BackupPlan.AdvancedBackupSettings ?? [],
})
const shown = (plan: PlanVersion) => ({
  ...made(plan),
  ...only('DeletionDate', 'LastExecutionDate', 'CreatorRequestId')(plan),
})
const listed = (plan: PlanVersion) => ({
  ...shown(plan),
  BackupPlanName: plan.BackupPlan.BackupPlanName,
})
const result = z.object({
  BackupPlanId: z.string(),
  BackupPlanArn: z.string(),
  VersionId: z.string(),
  CreationDate: z.number(),
  AdvancedBackupSettings: z.array(z.object({})),
})

export const operations = [
  operation({
    name: 'createBackupPlan',
    rest: put(MANY, { show: made, answer: result }),
    input: {
      BackupPlan: planInput,
      BackupPlanTags: optional(tagMap),
      CreatorRequestId: optional(requestId),
    },
    needs: 'backup:CreateBackupPlan',
    refuses: { 400: 'There is a plan of this name, or something sent is invalid.' },
    run: createPlan,
  }),
  operation({
    name: 'updateBackupPlan',
    rest: post(ONE, { isBeyond: true, show: made }),
    input: { ...one, BackupPlan: planInput },
    needs: 'backup:UpdateBackupPlan',
    run: updatePlan,
  }),
  operation({
    name: 'deleteBackupPlan',
    rest: del(ONE, {
      show: (plan: PlanVersion) => ({
        ...only('BackupPlanId', 'DeletionDate', 'VersionId')(plan),
        BackupPlanArn: planArnOf(plan),
      }),
      answer: z.object({ BackupPlanId: z.string(), DeletionDate: z.number() }),
    }),
    input: one,
    needs: 'backup:DeleteBackupPlan',
    refuses: { 400: 'There is no such plan, or it has selections.' },
    run: deletePlan,
  }),
  operation({
    name: 'backupPlan',
    rest: get(ONE, {
      isBeyond: true,
      show: (plan: PlanVersion & { ScheduledRunsPreview?: object }) => ({
        ...shown(plan),
        BackupPlan: plan.BackupPlan,
        ...only('ScheduledRunsPreview')(plan),
      }),
    }),
    input: {
      ...one,
      versionId: optional(text),
      MaxScheduledRunsPreview: optional(
        whole.refine((count) => count >= 0 && count <= PREVIEW_MAX, `must be 0 to ${PREVIEW_MAX}`),
      ),
    },
    needs: 'backup:GetBackupPlan',
    run: readOnePlan,
  }),
  operation({
    name: 'backupPlans',
    rest: get(MANY, { isBeyond: true, show: pageShown('BackupPlansList', listed) }),
    input: { includeDeleted: optional(flag), ...paged },
    needs: 'backup:ListBackupPlans',
    run: ({ includeDeleted, ...asked }, ctx) =>
      page(
        ctx,
        plans,
        asked,
        includeDeleted ? { prefix: `${accountOf(ctx)}/` } : { where: { active: accountOf(ctx) } },
      ),
  }),
  operation({
    name: 'backupPlanVersions',
    rest: get(`${ONE}/versions`, {
      isBeyond: true,
      show: pageShown('BackupPlanVersionsList', listed),
    }),
    input: { ...one, ...paged },
    needs: 'backup:ListBackupPlanVersions',
    async run({ BackupPlanId, ...asked }, ctx) {
      const { Account } = await needAnyPlan(ctx, BackupPlanId)
      return page(ctx, planVersions, asked, { prefix: `${planKey(Account, BackupPlanId)}/` })
    },
  }),
  operation({
    name: 'backupPlanFromJson',
    rest: post('/backup/template/json/toPlan', {
      isBeyond: true,
      show: (BackupPlan: object) => ({ BackupPlan }),
    }),
    input: { BackupPlanTemplateJson: text },
    needs: 'backup:GetBackupPlanFromJSON',
    run: ({ BackupPlanTemplateJson }, ctx) =>
      ctx.store.transaction((tx) => readPlan(tx, readTemplate(BackupPlanTemplateJson), ctx)),
  }),
  operation({
    name: 'backupPlanTemplate',
    rest: get(`${ONE}/toTemplate`, {
      isBeyond: true,
      show: (BackupPlanTemplateJson: string) => ({ BackupPlanTemplateJson }),
    }),
    input: one,
    needs: 'backup:ExportBackupPlanTemplate',
    async run({ BackupPlanId }, ctx) {
      const { BackupPlan } = await needPlan(ctx.store, ctx, BackupPlanId)
      const Rules = BackupPlan.Rules.map(({ RuleId: _, ...rule }) => rule)
      return JSON.stringify({ ...BackupPlan, Rules })
    },
  }),
]

interface Creation {
  readonly BackupPlan: SentPlan
  readonly BackupPlanTags?: Record<string, string> | undefined
  readonly CreatorRequestId?: string | undefined
}

export function createPlan(input: Creation, ctx: Context): Promise<Plan> {
  const Account = accountOf(ctx)
  const { CreatorRequestId } = input
  return once(ctx, {
    operation: 'createBackupPlan',
    token: CreatorRequestId,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      await checkName(tx, Account, input.BackupPlan.BackupPlanName)
      if ((await tx.count(plans, { where: { active: Account } })) >= PLANS_MAX) {
        throw LimitExceeded(`An account has at most ${PLANS_MAX} plans.`)
      }
      const plan: Plan = {
        Account,
        UserId: ctx.caller.userId,
        BackupPlanId: ctx.newId(),
        VersionId: ctx.newId(),
        CreationDate: ctx.clock.now().toISOString(),
        ...(CreatorRequestId !== undefined && { CreatorRequestId }),
        BackupPlan: await readPlan(tx, input.BackupPlan, ctx),
        DueMs: null,
      }
      await setTags(tx, planArnOf(plan), input.BackupPlanTags)
      return savePlan(tx, plan, 'created', ctx)
    },
  })
}

async function updatePlan(
  { BackupPlanId, BackupPlan }: { BackupPlanId: string; BackupPlan: SentPlan },
  ctx: Context,
): Promise<Plan> {
  return ctx.store.transaction(async (tx) => {
    const before = await needPlan(tx, ctx, BackupPlanId)
    if (BackupPlan.BackupPlanName !== before.BackupPlan.BackupPlanName) {
      await checkName(tx, before.Account, BackupPlan.BackupPlanName)
    }
    const plan: Plan = {
      ...before,
      VersionId: ctx.newId(),
      CreationDate: ctx.clock.now().toISOString(),
      BackupPlan: await readPlan(tx, BackupPlan, ctx, before.BackupPlan),
      // Who changes a plan answers for what it does from now on.
      UserId: ctx.caller.userId,
    }
    return savePlan(tx, plan, 'changed', ctx)
  })
}

/** Keeps a new version, and lets a step wait for its first moment. */
export async function savePlan(
  tx: Records,
  plan: Plan,
  happened: string,
  ctx: Context,
): Promise<Plan> {
  const nowMs = ctx.clock.now().getTime()
  const next = nextOf(schedulesOf(plan.BackupPlan, plan.CreationDate), nowMs)
  const waiting: Plan = { ...plan, DueMs: next?.dueMs ?? null }
  const { DueMs: _, UserId: __, ...version } = waiting
  await tx.save(plans, waiting)
  await tx.save(planVersions, version)
  await waitForPlan(tx, waiting, ctx)
  await announce(tx, happened, waiting, ctx)
  return waiting
}

async function deletePlan({ BackupPlanId }: { BackupPlanId: string }, ctx: Context) {
  return ctx.store.transaction(async (tx) => {
    const plan = await needPlan(tx, ctx, BackupPlanId)
    const key = plans.key(plan)
    const { items } = await tx.list(selections, { prefix: `${key}/`, limit: 1 })
    if (items.length > 0) {
      throw InvalidRequest(`The plan ${BackupPlanId} has selections. Delete them first.`)
    }
    const deleted: Plan = { ...plan, DeletionDate: ctx.clock.now().toISOString(), DueMs: null }
    await tx.remove(plans, key)
    await tx.save(plans, deleted)
    await tx.remove(planVersions, `${key}/${plan.VersionId}`)
    await setTags(tx, planArnOf(plan))
    await announce(tx, 'deleted', deleted, ctx)
    return deleted
  })
}

interface Reading {
  readonly BackupPlanId: string
  readonly versionId?: string | undefined
  readonly MaxScheduledRunsPreview?: number | undefined
}

async function readOnePlan(
  { BackupPlanId, versionId, MaxScheduledRunsPreview }: Reading,
  ctx: Context,
) {
  const current = await needAnyPlan(ctx, BackupPlanId)
  const isCurrent = versionId === undefined || versionId === current.VersionId
  if (isCurrent && current.DeletionDate !== undefined) throw noPlan(BackupPlanId)
  const key = `${planKey(current.Account, BackupPlanId)}/${versionId}`
  const plan = isCurrent ? current : await ctx.store.get(planVersions, key)
  if (!plan) throw ResourceNotFound(`The plan ${BackupPlanId} has no version ${versionId}.`)
  if (!MaxScheduledRunsPreview) return plan
  const nowMs = ctx.clock.now().getTime()
  return { ...plan, ScheduledRunsPreview: previewOf(plan, nowMs, MaxScheduledRunsPreview) }
}

function previewOf({ BackupPlan, CreationDate }: PlanVersion, nowMs: number, count: number) {
  const schedules = schedulesOf(BackupPlan, CreationDate)
  const runs: object[] = []
  let next = nextOf(schedules, nowMs)
  while (next && runs.length < count) {
    const ExecutionTime = new Date(next.dueMs).toISOString()
    for (const { rule } of next.due) {
      const { RuleId, EnableContinuousBackup } = rule
      const RuleExecutionType = EnableContinuousBackup ? 'CONTINUOUS' : 'SNAPSHOTS'
      if (runs.length < count) runs.push({ ExecutionTime, RuleId, RuleExecutionType })
    }
    next = nextOf(schedules, next.dueMs)
  }
  return runs
}

export const fields = {
  BackupPlan: {
    id: (plan: PlanVersion) => planArnOf(plan),
    name: ({ BackupPlan }: PlanVersion) => BackupPlan.BackupPlanName,
    type: () => 'AWS::Backup::BackupPlan',
    location: () => REGION,
    backupPlanArn: (plan: PlanVersion) => planArnOf(plan),
    backupPlanName: ({ BackupPlan }: PlanVersion) => BackupPlan.BackupPlanName,
    rules: ({ BackupPlan }: PlanVersion) => BackupPlan.Rules,
    advancedBackupSettings: ({ BackupPlan }: PlanVersion) =>
      BackupPlan.AdvancedBackupSettings ?? [],
    nextExecutionDate: ({ DueMs }: Plan) =>
      typeof DueMs === 'number' ? new Date(DueMs).toISOString() : null,
  },
}

/** Chosen: a plan exists already when the account has one of its name that is not deleted. */
export async function checkName(tx: Records, account: string, name: string): Promise<void> {
  const { items } = await tx.list(plans, { where: { name: `${account}/${name}` }, limit: 1 })
  const existing = items[0]
  if (!existing) return
  throw AlreadyExists(`There is a plan named ${name} already.`, {
    details: { Arn: planArnOf(existing), CreatorRequestId: existing.CreatorRequestId },
  })
}

export async function needPlan(from: Records, ctx: Context, id: string): Promise<Plan> {
  const plan = await from.get(plans, planKey(accountOf(ctx), id))
  if (plan) return plan
  throw noPlan(id)
}

/** The same also for a plan that is deleted, of which versions may be left. */
async function needAnyPlan(ctx: Context, id: string): Promise<Plan> {
  const account = accountOf(ctx)
  const [plan, deleted] = await ctx.store.getMany(plans, [
    planKey(account, id),
    deletedPlanKey(account, id),
  ])
  const found = plan ?? deleted
  if (found) return found
  throw noPlan(id)
}

const noPlan = (id: string) => ResourceNotFound(`There is no plan ${id}.`)

const announce = (tx: Records, happened: string, plan: Plan, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.plan.${happened}`,
    subject: planArnOf(plan),
    body: { BackupPlanName: plan.BackupPlan.BackupPlanName, VersionId: plan.VersionId },
  })

/** A plan document from the text that `backupPlanTemplate` gives. */
function readTemplate(json: string): SentPlan {
  let sent: unknown
  try {
    sent = JSON.parse(json)
  } catch {
    // Whatever the parser says, the text is not what it should be.
    throw InvalidParameterValue('BackupPlanTemplateJson must be JSON.')
  }
  const read = planInput.safeParse(sent)
  if (read.success) return read.data
  const { path, message } = read.error.issues[0]!
  throw InvalidParameterValue(
    `BackupPlanTemplateJson has a mistake at ${path.join('.')}: ${message}.`,
  )
}
