// Plans as they run by themselves on the clock.
//
// 1. The step of a plan moves it on to its next moment, whatever becomes of this one, and stores a
//    step for the rules that are due.
// 2. That step finds the resources and stores a job for each. The ids of the jobs follow from plan,
//    rule, moment and resource, so that it may run twice. What cannot be reached is tried again within
//    the start window.
// 3. A plan that missed moments, while nothing ran here, runs for the one that it waited for. Its jobs
//    expire where their window has passed.
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { addBackupJob, newBackupJob } from './backup-jobs.ts'
import { uuidOf } from './copy-runs.ts'
import { ResourceNotFound } from './errors.ts'
import { RETRY_MS } from './job-rules.ts'
import {
  planArnOf,
  planKey,
  plans,
  selections,
  vaultKey,
  vaults,
  type Creator,
  type Plan,
  type Rule,
  type Selection,
  type Vault,
} from './kinds.ts'
import { readVaultArn, schedulesOf } from './plan-documents.ts'
import { PLAN_STEP, waitForPlan, type DuePlan } from './plan-moments.ts'
import { everyResource, resourcesAt, type Resource } from './resources.ts'
import { roleAt } from './roles.ts'
import { momentAfter, nextOf } from './schedules.ts'
import { isSelected, namedArns } from './selection-matches.ts'
import { settingsOf } from './setting-records.ts'
import { MINUTE_MS } from './shapes.ts'

const RULES_STEP = 'runBackupRules'
const SELECTIONS_MAX = 100
const RESOURCES_MAX = 10_000
const JOBS_AT_ONCE = 50

export const steps = { [PLAN_STEP]: moveOn, [RULES_STEP]: runRules }

interface DueRules extends DuePlan {
  readonly RuleIds: readonly string[]
}

async function moveOn(due: DuePlan, ctx: Context): Promise<void> {
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.transaction(async (tx) => {
    const plan = await tx.get(plans, due.Key)
    if (!isWaiting(plan, due)) return
    const schedules = schedulesOf(plan.BackupPlan, plan.CreationDate)
    const RuleIds = schedules
      .filter((schedule) => momentAfter(schedule, due.DueMs - 1) === due.DueMs)
      .map(({ rule }) => rule.RuleId)
    const next: Plan = {
      ...plan,
      LastExecutionDate: new Date(nowMs).toISOString(),
      DueMs: nextOf(schedules, Math.max(nowMs, due.DueMs))?.dueMs ?? null,
    }
    await tx.save(plans, next)
    await waitForPlan(tx, next, ctx)
    await ctx.work.later(tx, 0, RULES_STEP, { ...due, RuleIds })
  })
}

const isWaiting = (plan: Plan | undefined, due: DuePlan): plan is Plan =>
  plan !== undefined && plan.VersionId === due.VersionId && plan.DueMs === due.DueMs

async function runRules(due: DueRules, ctx: Context): Promise<void> {
  const plan = await ctx.store.get(plans, due.Key)
  // A new version runs by its own moments.
  if (plan?.VersionId !== due.VersionId) return
  const rules = plan.BackupPlan.Rules.filter(({ RuleId }) => due.RuleIds.includes(RuleId))
  const prefix = `${planKey(plan.Account, plan.BackupPlanId)}/`
  const chosen = await ctx.store.list(selections, { prefix, limit: SELECTIONS_MAX })
  let isWhole = true
  for (const selection of chosen.items) {
    try {
      const resources = await selected(selection, plan, ctx)
      for (const rule of rules) await addJobs({ plan, rule, selection, resources, due }, ctx)
    } catch (error) {
      // A selection that cannot be read now must not keep the others from running.
      if (!(error instanceof Fault)) throw error
      isWhole = false
    }
  }
  if (!isWhole) await tryLater(due, rules, ctx)
}

/** The resources of a selection. None, where its role is gone. */
async function selected(
  { BackupSelection, Account }: Selection,
  { UserId }: Plan,
  ctx: Context,
): Promise<Resource[]> {
  const role = await roleAt(ctx.store, BackupSelection.IamRoleArn)
  if (!role) return []
  const actor = { account: Account, userId: UserId, permissions: role.Permissions }
  const { ResourceTypeOptInPreference: optIns } = await settingsOf(ctx.store, Account)
  const fits = (resource: Resource) => isSelected(BackupSelection, resource, optIns)
  const arns = namedArns(BackupSelection)
  if (arns) return [...(await resourcesAt(arns, actor, ctx)).values()].filter(fits)
  const found: Resource[] = []
  for await (const page of everyResource(actor, ctx)) {
    found.push(...page.filter(fits))
    if (found.length >= RESOURCES_MAX) break
  }
  return found.slice(0, RESOURCES_MAX)
}

/** Tries again what could not be reached, as long as the jobs could still begin. */
async function tryLater(due: DueRules, rules: readonly Rule[], ctx: Context): Promise<void> {
  const windowMs = Math.max(...rules.map((rule) => rule.StartWindowMinutes)) * MINUTE_MS
  const isLate = ctx.clock.now().getTime() + RETRY_MS > due.DueMs + windowMs
  await ctx.store.transaction(async (tx) => {
    if (!isLate) return ctx.work.later(tx, RETRY_MS, RULES_STEP, due)
    const body = { DueMs: due.DueMs, RuleIds: due.RuleIds }
    await ctx.events.announce(tx, { type: 'backup.plan.missed', subject: due.Key, body })
  })
}

interface Running {
  readonly plan: Plan
  readonly rule: Rule
  readonly selection: Selection
  readonly resources: readonly Resource[]
  readonly due: Pick<DueRules, 'DueMs'>
}

/** Stores the jobs of a rule for these resources, and the steps that run them. */
export async function addJobs(running: Running, ctx: Context): Promise<void> {
  const { plan, rule, selection, resources, due } = running
  const vault = await targetOf(plan, rule, ctx)
  if (!vault) throw ResourceNotFound(`The vault of the rule ${rule.RuleName} is gone.`)
  const options = plan.BackupPlan.AdvancedBackupSettings ?? []
  for (let at = 0; at < resources.length; at += JOBS_AT_ONCE) {
    await ctx.store.transaction(async (tx) => {
      for (const resource of resources.slice(at, at + JOBS_AT_ONCE)) {
        const { ResourceArn, ResourceType } = resource
        const BackupOptions = options.find(
          (one) => one.ResourceType === ResourceType,
        )?.BackupOptions
        const job = newBackupJob(
          {
            AccountId: plan.Account,
            UserId: plan.UserId,
            IamRoleArn: selection.BackupSelection.IamRoleArn,
            vault,
            resource,
            Lifecycle: rule.Lifecycle,
            StartWindowMinutes: rule.StartWindowMinutes,
            CompletionWindowMinutes: rule.CompletionWindowMinutes,
          },
          {
            id: uuidOf(`${plan.VersionId} ${rule.RuleId} ${due.DueMs} ${ResourceArn}`),
            scheduledMs: due.DueMs,
            input: { RecoveryPointTags: rule.RecoveryPointTags, BackupOptions },
            CreatedBy: creatorOf(plan, rule),
            CopyActions: rule.CopyActions,
            isContinuous: rule.EnableContinuousBackup === true,
          },
          ctx,
        )
        await addBackupJob(tx, job, ctx)
      }
    })
  }
}

async function targetOf(plan: Plan, rule: Rule, ctx: Context): Promise<Vault | undefined> {
  const gapped = rule.TargetLogicallyAirGappedBackupVaultArn
  const name = gapped === undefined ? rule.TargetBackupVaultName : readVaultArn(gapped)!.name
  return ctx.store.get(vaults, vaultKey(plan.Account, name))
}

const creatorOf = (plan: Plan, rule: Rule): Creator => ({
  BackupPlanId: plan.BackupPlanId,
  BackupPlanArn: planArnOf(plan),
  BackupPlanName: plan.BackupPlan.BackupPlanName,
  BackupPlanVersion: plan.VersionId,
  BackupRuleId: rule.RuleId,
  BackupRuleName: rule.RuleName,
  BackupRuleCron: rule.ScheduleExpression,
  BackupRuleTimezone: rule.ScheduleExpressionTimezone ?? 'UTC',
})
