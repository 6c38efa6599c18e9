// Plan documents: what a client sends as a plan, checked and filled in. Specification 3, service K.
import { z } from 'zod'
import { accountOf, isOwnArn, readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { flag, optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { InvalidParameterValue } from './errors.ts'
import { vaultKey, vaults, type CopyAction, type PlanDocument, type Rule } from './kinds.ts'
import { readLifecycle } from './lifecycles.ts'
import { checkSchedule, SCHEDULE_DEFAULT, type Schedule } from './schedules.ts'
import { arn, label, lifecycle, MINUTES_MAX, tagMap, textMap, vaultName } from './shapes.ts'

const RULES_MAX = 10
const COPIES_MAX = 5
const START_MINUTES_MIN = 60
const START_MINUTES_DEFAULT = 8 * 60
const COMPLETION_MINUTES_DEFAULT = 7 * 24 * 60
/** How much longer than its start a job may take at least. */
const COMPLETION_MINUTES_MORE = 60

const startMinutes = whole.refine(
  (count) => count >= START_MINUTES_MIN && count <= MINUTES_MAX,
  `must be ${START_MINUTES_MIN} to ${MINUTES_MAX}`,
)
const minutes = whole.refine(
  (count) => count >= 1 && count <= MINUTES_MAX,
  `must be 1 to ${MINUTES_MAX}`,
)
export const windows = {
  StartWindowMinutes: optional(startMinutes),
  CompletionWindowMinutes: optional(minutes),
}

const rule = z.object({
  RuleName: label,
  TargetBackupVaultName: vaultName,
  TargetLogicallyAirGappedBackupVaultArn: optional(arn),
  ScheduleExpression: optional(text.max(256)),
  ScheduleExpressionTimezone: optional(text.max(64)),
  ...windows,
  Lifecycle: optional(lifecycle),
  RecoveryPointTags: optional(tagMap),
  CopyActions: optional(
    z
      .array(z.object({ DestinationBackupVaultArn: arn, Lifecycle: optional(lifecycle) }))
      .max(COPIES_MAX),
  ),
  EnableContinuousBackup: optional(flag),
})

export const planInput = z.object({
  BackupPlanName: label,
  Rules: z.array(rule).min(1).max(RULES_MAX),
  AdvancedBackupSettings: optional(
    z
      .array(z.object({ ResourceType: optional(text.max(64)), BackupOptions: optional(textMap) }))
      .max(RULES_MAX),
  ),
})
export type SentPlan = z.output<typeof planInput>
type SentRule = SentPlan['Rules'][number]

/** The windows of a job in minutes. Refuses those that cannot be met. */
export function readWindows(sent: {
  StartWindowMinutes?: number | undefined
  CompletionWindowMinutes?: number | undefined
}) {
  const { StartWindowMinutes = START_MINUTES_DEFAULT } = sent
  const least = StartWindowMinutes + COMPLETION_MINUTES_MORE
  const { CompletionWindowMinutes = Math.max(COMPLETION_MINUTES_DEFAULT, least) } = sent
  if (CompletionWindowMinutes < least) {
    throw InvalidParameterValue(
      `The completion window must be at least ${COMPLETION_MINUTES_MORE} minutes longer than the start window.`,
    )
  }
  return { StartWindowMinutes, CompletionWindowMinutes }
}

/**
 * A plan as it is kept. The vaults that it names must be there. Rules that had the same name in the
 * version before keep their ids.
 */
export async function readPlan(
  tx: Records,
  sent: SentPlan,
  ctx: Context,
  before?: PlanDocument,
): Promise<PlanDocument> {
  const names = sent.Rules.map(({ RuleName }) => RuleName)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) {
    throw InvalidParameterValue(`BackupPlan.Rules has the rule ${twice} twice.`)
  }
  const Rules: Rule[] = []
  for (const one of sent.Rules) {
    const known = before?.Rules.find(({ RuleName }) => RuleName === one.RuleName)
    Rules.push(await readRule(tx, one, known?.RuleId ?? ctx.newId(), ctx))
  }
  return {
    BackupPlanName: sent.BackupPlanName,
    Rules,
    ...(sent.AdvancedBackupSettings && {
      AdvancedBackupSettings: sent.AdvancedBackupSettings.map(
        ({ ResourceType, BackupOptions }) => ({
          ...(ResourceType !== undefined && { ResourceType }),
          ...(BackupOptions && { BackupOptions }),
        }),
      ),
    }),
  }
}

async function readRule(tx: Records, sent: SentRule, RuleId: string, ctx: Context): Promise<Rule> {
  const { TargetBackupVaultName, ScheduleExpressionTimezone: timezone } = sent
  const { ScheduleExpression: expression = SCHEDULE_DEFAULT } = sent
  const isContinuous = sent.EnableContinuousBackup === true
  checkSchedule('ScheduleExpression', { expression, timezone, nowMs: ctx.clock.now().getTime() })
  await checkTargets(tx, sent, ctx)
  const Lifecycle = readLifecycle(sent.Lifecycle, { isContinuous })
  const copies = sent.CopyActions?.map((copy): CopyAction => {
    checkDestination(copy.DestinationBackupVaultArn)
    const copied = readLifecycle(copy.Lifecycle)
    const { DestinationBackupVaultArn } = copy
    return { DestinationBackupVaultArn, ...(copied && { Lifecycle: copied }) }
  })
  if (isContinuous && copies?.length) {
    throw InvalidParameterValue('A continuous recovery point is not copied: it has no last state.')
  }
  const gapped = sent.TargetLogicallyAirGappedBackupVaultArn
  return {
    RuleId,
    RuleName: sent.RuleName,
    TargetBackupVaultName,
    ...(gapped !== undefined && { TargetLogicallyAirGappedBackupVaultArn: gapped }),
    ScheduleExpression: expression,
    ...(timezone !== undefined && { ScheduleExpressionTimezone: timezone }),
    ...readWindows(sent),
    ...(Lifecycle && { Lifecycle }),
    ...(sent.RecoveryPointTags && { RecoveryPointTags: sent.RecoveryPointTags }),
    ...(copies && { CopyActions: copies }),
    ...(isContinuous && { EnableContinuousBackup: true }),
  }
}

async function checkTargets(tx: Records, sent: SentRule, ctx: Context): Promise<void> {
  const { TargetBackupVaultName: name, TargetLogicallyAirGappedBackupVaultArn: gapped } = sent
  const vault = await tx.get(vaults, vaultKey(accountOf(ctx), name))
  if (!vault) throw InvalidParameterValue(`TargetBackupVaultName: there is no vault named ${name}.`)
  if (gapped === undefined) return
  const parts = readArn(gapped)
  const own = parts && isOwnArn(ctx, parts, 'backup') && parts
  const target = own && (await tx.get(vaults, vaultKey(own.account, vaultNameIn(own.resource))))
  if (!target || target.VaultType !== 'LOGICALLY_AIR_GAPPED_BACKUP_VAULT') {
    throw InvalidParameterValue(
      'TargetLogicallyAirGappedBackupVaultArn must be an air-gapped vault of this account.',
    )
  }
}

const VAULT_RESOURCE = 'backup-vault:'
const vaultNameIn = (resource: string): string =>
  resource.startsWith(VAULT_RESOURCE) ? resource.slice(VAULT_RESOURCE.length) : ''

/** Where a vault is, by its ARN; undefined for any other ARN. */
export function readVaultArn(text: string): { account: string; name: string } | undefined {
  const parts = readArn(text)
  const name = parts?.service === 'backup' ? vaultNameIn(parts.resource) : ''
  return parts && name !== '' ? { account: parts.account, name } : undefined
}

function checkDestination(text: string): void {
  if (readVaultArn(text)) return
  throw InvalidParameterValue(`DestinationBackupVaultArn must be the ARN of a vault, not ${text}.`)
}

/** When the rules of a plan fall due; a rate counts from the version. */
export const schedulesOf = (
  { Rules }: PlanDocument,
  creationDate: string,
): (Schedule & { readonly rule: Rule })[] =>
  Rules.map((rule) => ({
    rule,
    expression: rule.ScheduleExpression,
    timezone: rule.ScheduleExpressionTimezone,
    sinceMs: Date.parse(creationDate),
  }))
