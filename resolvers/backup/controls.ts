// Controls held against what is there: each looks at resources, plans, vaults or recovery points.
//
// What is evaluated is what is there at this moment. A control goes through LOOKED_AT_MAX things.
import type { Context } from '../kernel/context.ts'
import type { Control, ControlScope, Framework } from './audit-records.ts'
import { parameterOf } from './control-shapes.ts'
import {
  planArnOf,
  planKey,
  plans,
  protectedKey,
  protectedResources,
  recoveryPoints,
  selections,
  vaults,
  type Plan,
  type SelectionDocument,
  type Vault,
} from './kinds.ts'
import { batches } from './lists.ts'
import { schedulesOf } from './plan-documents.ts'
import { everyResource } from './resources.ts'
import { momentAfter } from './schedules.ts'
import { isSelected } from './selection-matches.ts'
import { settingsOf } from './setting-records.ts'
import { DAY_MS, HOUR_MS } from './shapes.ts'
import { tagsOf } from './tags.ts'
import { deniesEveryone } from './vault-policies.ts'

const LOOKED_AT_MAX = 10_000

export interface Evaluation {
  readonly ControlName: string
  readonly ComplianceStatus: 'COMPLIANT' | 'NON_COMPLIANT'
  readonly Resources: readonly Finding[]
}

export interface Finding {
  readonly ResourceArn: string
  readonly ResourceType: string
  readonly IsCompliant: boolean
}

/** What a control looks at. */
interface Subject {
  readonly arn: string
  readonly type: string
  readonly tags: Readonly<Record<string, string>> | null
}

interface Looking {
  readonly framework: Framework
  readonly control: Control
  readonly ctx: Context
}

interface Check<T extends Subject = any> {
  readonly subjects: (looking: Looking) => AsyncGenerator<T[]>
  readonly passes: (looking: Looking) => Promise<(subject: T) => boolean | Promise<boolean>>
}

const CHECKS: Readonly<Record<string, Check>> = {
  BACKUP_RESOURCES_PROTECTED_BY_BACKUP_PLAN: { subjects: resources, passes: isInPlan },
  BACKUP_RECOVERY_POINT_MINIMUM_RETENTION_CHECK: {
    subjects: points,
    passes: async ({ control }) => {
      const days = Number(parameterOf(control, 'requiredRetentionDays'))
      return ({ point }) => (point.Lifecycle?.DeleteAfterDays ?? Infinity) >= days
    },
  },
  BACKUP_RECOVERY_POINT_ENCRYPTED: {
    subjects: points,
    passes:
      async () =>
      ({ point }) =>
        point.IsEncrypted,
  },
  BACKUP_RECOVERY_POINT_MANUAL_DELETION_DISABLED: {
    subjects: allVaults,
    passes:
      async () =>
      ({ vault }) =>
        vault.Lock !== undefined || deniesEveryone(vault, 'backup:DeleteRecoveryPoint'),
  },
  BACKUP_PLAN_MIN_FREQUENCY_AND_MIN_RETENTION_CHECK: { subjects: allPlans, passes: isFrequent },
  BACKUP_RESOURCES_PROTECTED_BY_BACKUP_VAULT_LOCK: {
    subjects: resources,
    passes: async ({ framework, control, ctx }) => {
      const min = Number(parameterOf(control, 'minRetentionDays'))
      const max = Number(parameterOf(control, 'maxRetentionDays'))
      return inVault(framework, ctx, ({ Lock }) => {
        if (!Lock) return false
        const { MinRetentionDays = 0, MaxRetentionDays = Infinity } = Lock
        return MinRetentionDays >= min && MaxRetentionDays <= max
      })
    },
  },
  BACKUP_LAST_RECOVERY_POINT_CREATED: {
    subjects: resources,
    passes: async ({ framework, control, ctx }) => {
      const since = new Date(ctx.clock.now().getTime() - ageMsOf(control)).toISOString()
      return async ({ arn }) => {
        const key = protectedKey(framework.Account, '', arn)
        return ((await ctx.store.get(protectedResources, key))?.LastBackupTime ?? '') >= since
      }
    },
  },
  BACKUP_RESOURCES_IN_LOGICALLY_AIR_GAPPED_VAULT: {
    subjects: resources,
    passes: async ({ framework, control, ctx }) => {
      const since = ctx.clock.now().getTime() - ageMsOf(control)
      const isGapped = ({ VaultType }: { VaultType: string }) => VaultType !== 'BACKUP_VAULT'
      return inVault(framework, ctx, isGapped, since)
    },
  },
  RESTORE_TIME_FOR_RESOURCES_MEET_TARGET: {
    subjects: resources,
    passes: async ({ framework, control, ctx }) => {
      const most = Number(parameterOf(control, 'maxRestoreTime'))
      return async ({ arn }) => {
        const key = protectedKey(framework.Account, '', arn)
        const known = await ctx.store.get(protectedResources, key)
        return (known?.LatestRestoreExecutionTimeMinutes ?? Infinity) <= most
      }
    },
  },
}

/** Evaluates all controls of a framework. */
export async function evaluate(framework: Framework, ctx: Context): Promise<Evaluation[]> {
  const evaluations: Evaluation[] = []
  for (const control of framework.FrameworkControls) {
    evaluations.push(await evaluateControl({ framework, control, ctx }))
  }
  return evaluations
}

async function evaluateControl(looking: Looking): Promise<Evaluation> {
  const { ControlName, ControlScope } = looking.control
  const { subjects, passes } = CHECKS[ControlName]!
  const isGood = await passes(looking)
  const found: Finding[] = []
  for await (const some of subjects(looking)) {
    for (const subject of some.filter((one) => isInScope(ControlScope, one))) {
      const IsCompliant = await isGood(subject)
      found.push({ ResourceArn: subject.arn, ResourceType: subject.type, IsCompliant })
    }
    if (found.length >= LOOKED_AT_MAX) break
  }
  const isCompliant = found.every(({ IsCompliant }) => IsCompliant)
  return {
    ControlName,
    ComplianceStatus: isCompliant ? 'COMPLIANT' : 'NON_COMPLIANT',
    Resources: found.slice(0, LOOKED_AT_MAX),
  }
}

function isInScope(scope: ControlScope | undefined, { arn, type, tags }: Subject): boolean {
  const { ComplianceResourceIds: ids, ComplianceResourceTypes: types, Tags = {} } = scope ?? {}
  return (
    (!ids?.length || ids.includes(arn)) &&
    (!types?.length || types.includes(type)) &&
    // A tag without a value asks for its key alone.
    Object.entries(Tags).every(([key, value]) =>
      value === '' ? tags !== null && key in tags : tags?.[key] === value,
    )
  )
}

async function* resources({ framework, ctx }: Looking) {
  const { Account: account, UserId: userId, Permissions: permissions } = framework
  for await (const page of everyResource({ account, userId, permissions }, ctx)) {
    yield page.map((one) => ({
      arn: one.ResourceArn,
      type: one.ResourceType,
      tags: one.tags,
      typeName: one.TypeName,
    }))
  }
}

async function* points({ framework, ctx }: Looking) {
  const query = { where: { account: framework.Account }, order: 'createdMs', descending: true }
  for await (const some of batches(ctx, recoveryPoints, query)) {
    yield Promise.all(
      some.map(async (point) => ({
        point,
        arn: point.RecoveryPointArn,
        type: 'AWS::Backup::RecoveryPoint',
        tags: await tagsOf(ctx, point.RecoveryPointArn),
      })),
    )
  }
}

async function* allVaults({ framework, ctx }: Looking) {
  for await (const some of batches(ctx, vaults, { prefix: `${framework.Account}/` })) {
    yield Promise.all(
      some.map(async (vault) => ({
        vault,
        arn: vault.BackupVaultArn,
        type: 'AWS::Backup::BackupVault',
        tags: await tagsOf(ctx, vault.BackupVaultArn),
      })),
    )
  }
}

async function* allPlans({ framework, ctx }: Looking) {
  for await (const some of batches(ctx, plans, { where: { active: framework.Account } })) {
    yield Promise.all(
      some.map(async (plan) => ({
        plan,
        arn: planArnOf(plan),
        type: 'AWS::Backup::BackupPlan',
        tags: await tagsOf(ctx, planArnOf(plan)),
      })),
    )
  }
}

async function isInPlan({ framework, ctx }: Looking) {
  const chosen: SelectionDocument[] = []
  const { ResourceTypeOptInPreference } = await settingsOf(ctx.store, framework.Account)
  for await (const some of batches(ctx, plans, { where: { active: framework.Account } })) {
    for (const plan of some) {
      const prefix = `${planKey(plan.Account, plan.BackupPlanId)}/`
      for await (const page of batches(ctx, selections, { prefix })) {
        chosen.push(...page.map(({ BackupSelection }) => BackupSelection))
      }
    }
  }
  return ({ arn, type, tags, typeName }: Subject & { typeName: string }) => {
    const candidate = { ResourceArn: arn, ResourceType: type, TypeName: typeName, tags }
    return chosen.some((one) => isSelected(one, candidate, ResourceTypeOptInPreference))
  }
}

/** A rule is frequent enough when the time between its next two moments is no longer than asked. */
async function isFrequent({ control, ctx }: Looking) {
  const unitMs = parameterOf(control, 'requiredFrequencyUnit') === 'hours' ? HOUR_MS : DAY_MS
  const everyMs = Number(parameterOf(control, 'requiredFrequencyValue')) * unitMs
  const days = Number(parameterOf(control, 'requiredRetentionDays'))
  const nowMs = ctx.clock.now().getTime()
  return ({ plan }: Subject & { plan: Plan }) =>
    schedulesOf(plan.BackupPlan, plan.CreationDate).some((schedule) => {
      const first = momentAfter(schedule, nowMs)
      const second = first === undefined ? undefined : momentAfter(schedule, first)
      const retention = schedule.rule.Lifecycle?.DeleteAfterDays ?? Infinity
      return second !== undefined && second - first! <= everyMs && retention >= days
    })
}

/** Whether a resource has a recovery point, since a moment, in a vault of which something holds. */
async function inVault(
  { Account }: Framework,
  ctx: Context,
  holds: (vault: Vault) => boolean,
  sinceMs = 0,
) {
  const names: string[] = []
  for await (const some of batches(ctx, vaults, { prefix: `${Account}/` })) {
    names.push(...some.filter(holds).map((vault) => vault.BackupVaultName))
  }
  const since = new Date(sinceMs).toISOString()
  return async ({ arn }: Subject) => {
    const keys = names.map((name) => protectedKey(Account, name, arn))
    const found = await ctx.store.getMany(protectedResources, keys)
    return found.some((one) => one !== undefined && one.LastBackupTime >= since)
  }
}

function ageMsOf(control: Control): number {
  const unitMs = parameterOf(control, 'recoveryPointAgeUnit') === 'hours' ? HOUR_MS : DAY_MS
  return Number(parameterOf(control, 'recoveryPointAgeValue')) * unitMs
}
