// Controls as a client sends them: which there are, and what each can be told. Specification 3, service K.
import { z } from 'zod'
import { optional, text } from '../kernel/shape.ts'
import type { Control } from './audit-records.ts'
import { InvalidParameterValue } from './errors.ts'
import { tagMap } from './shapes.ts'

const SCOPE_MAX = 100
const NUMBER = /^[1-9]\d{0,5}$/
const UNIT = /^(hours|days)$/

/**
 * The controls that can be evaluated, with their parameters: what a value must be, and the usual one.
 * Chosen: the two about other regions and other accounts are not among them, for there is one region,
 * and copies in other accounts are not this account's to see.
 */
const CONTROLS: Readonly<Record<string, Readonly<Record<string, [RegExp, string]>>>> = {
  BACKUP_RESOURCES_PROTECTED_BY_BACKUP_PLAN: {},
  BACKUP_RECOVERY_POINT_MINIMUM_RETENTION_CHECK: { requiredRetentionDays: [NUMBER, '35'] },
  BACKUP_RECOVERY_POINT_MANUAL_DELETION_DISABLED: {},
  BACKUP_RECOVERY_POINT_ENCRYPTED: {},
  BACKUP_PLAN_MIN_FREQUENCY_AND_MIN_RETENTION_CHECK: {
    requiredFrequencyUnit: [UNIT, 'days'],
    requiredFrequencyValue: [NUMBER, '1'],
    requiredRetentionDays: [NUMBER, '35'],
  },
  BACKUP_RESOURCES_PROTECTED_BY_BACKUP_VAULT_LOCK: {
    minRetentionDays: [NUMBER, '1'],
    maxRetentionDays: [NUMBER, '36500'],
  },
  BACKUP_LAST_RECOVERY_POINT_CREATED: {
    recoveryPointAgeUnit: [UNIT, 'days'],
    recoveryPointAgeValue: [NUMBER, '1'],
  },
  BACKUP_RESOURCES_IN_LOGICALLY_AIR_GAPPED_VAULT: {
    recoveryPointAgeUnit: [UNIT, 'days'],
    recoveryPointAgeValue: [NUMBER, '1'],
  },
  RESTORE_TIME_FOR_RESOURCES_MEET_TARGET: { maxRestoreTime: [NUMBER, '720'] },
}

export const control = z.object({
  ControlName: text.max(256),
  ControlInputParameters: optional(
    z.array(z.object({ ParameterName: text.max(256), ParameterValue: text.max(1024) })).max(20),
  ),
  ControlScope: optional(
    z.object({
      ComplianceResourceIds: optional(z.array(text.max(1024)).max(SCOPE_MAX)),
      ComplianceResourceTypes: optional(z.array(text.max(256)).max(SCOPE_MAX)),
      Tags: optional(tagMap),
    }),
  ),
})
export type SentControl = z.output<typeof control>

/** The controls of a framework. Refuses one that is not known, and a value that it cannot have. */
export function readControls(sent: readonly SentControl[]): Control[] {
  const names = sent.map(({ ControlName }) => ControlName)
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw InvalidParameterValue(`FrameworkControls has ${twice} twice.`)
  return sent.map(readControl)
}

function readControl(sent: SentControl): Control {
  const { ControlName, ControlInputParameters, ControlScope } = sent
  const parameters = Object.hasOwn(CONTROLS, ControlName) ? CONTROLS[ControlName] : undefined
  if (!parameters) {
    throw InvalidParameterValue(
      `${ControlName} is not a control that can be evaluated; these are: ${Object.keys(CONTROLS).join(', ')}.`,
    )
  }
  for (const { ParameterName, ParameterValue } of ControlInputParameters ?? []) {
    const known = Object.hasOwn(parameters, ParameterName) ? parameters[ParameterName] : undefined
    if (!known?.[0].test(ParameterValue)) {
      throw InvalidParameterValue(
        `${ControlName} cannot have the parameter ${ParameterName} with the value ${ParameterValue}.`,
      )
    }
  }
  const { ComplianceResourceIds: ids, ComplianceResourceTypes: types, Tags } = ControlScope ?? {}
  const scope = {
    ...(ids && { ComplianceResourceIds: ids }),
    ...(types && { ComplianceResourceTypes: types }),
    ...(Tags && { Tags }),
  }
  return {
    ControlName,
    ...(ControlInputParameters && { ControlInputParameters }),
    ...(ControlScope && { ControlScope: scope }),
  }
}

/** The value of a parameter of a control, or the usual one. */
export function parameterOf(
  { ControlName, ControlInputParameters }: Control,
  name: string,
): string {
  const given = ControlInputParameters?.find(({ ParameterName }) => ParameterName === name)
  return given?.ParameterValue ?? CONTROLS[ControlName]![name]![1]
}
