// What an alarm does with a message, and with what people do about it. Specification 3, service T:
// the transitions of alarms. Pure.
import { readPart } from './definitions.ts'
import { InvalidRequest } from './errors.ts'
import {
  BadExpression,
  noReferences,
  readTemplate,
  type Evaluate,
  type References,
  type Scope,
} from './expressions.ts'
import type { Alarm, AlarmState, AlarmStateName } from './instances.ts'
import type { AlarmCapabilities, AlarmNotification, AlarmRule, OPERATORS } from './shapes.ts'
import { asText, isEqual } from './values.ts'

type Operator = (typeof OPERATORS)[number]

export interface Rule {
  readonly property: Evaluate
  readonly operator: Operator
  readonly threshold: Evaluate
  readonly isDisabledAtFirst: boolean
  readonly hasAcknowledgeFlow: boolean
  /** The text of each notification. */
  readonly texts: readonly ((scope: Scope) => string)[]
}

/** What a text can say of its alarm. */
const SAID = ['alarmModelName', 'keyValue', 'severity', 'inputPropertyValue', 'thresholdValue']

interface AlarmDefinition {
  readonly alarmRule: AlarmRule
  readonly alarmCapabilities?: AlarmCapabilities | undefined
  readonly alarmNotification?: AlarmNotification | undefined
}

/** Reads a rule. Refuses one that could not be evaluated, and says where it is wrong. */
export function readRule(definition: AlarmDefinition): { rule: Rule; refers: References } {
  const { simpleRule } = definition.alarmRule
  const { initializationConfiguration, acknowledgeFlow } = definition.alarmCapabilities ?? {}
  const refers = noReferences()
  const property = readPart('The input property', simpleRule.inputProperty, refers)
  if (refers.attributes.size === 0) {
    throw InvalidRequest('The input property must read an attribute, such as $input.pump.pressure.')
  }
  const threshold = readPart('The threshold', simpleRule.threshold, refers)
  const texts = (definition.alarmNotification?.voiceNotifications ?? []).map(({ text }) =>
    readText(text, refers),
  )
  checkReferences(refers)
  return {
    refers,
    rule: {
      property,
      operator: simpleRule.comparisonOperator,
      threshold,
      // Chosen: an alarm is on from its first message, unless its model says otherwise.
      isDisabledAtFirst: initializationConfiguration?.disabledOnInitialization ?? false,
      hasAcknowledgeFlow: acknowledgeFlow?.enabled ?? false,
      texts,
    },
  }
}

function readText(text: string, refers: References) {
  try {
    return readTemplate(text, refers)
  } catch (error) {
    if (error instanceof BadExpression) {
      throw InvalidRequest(`An expression in the text ${error.message}: ${text}`)
    }
    throw error
  }
}

/** A rule sees one message at a time, and neither variables nor timers. */
function checkReferences({ inputs, variables, timers, alarm }: References): void {
  if (inputs.size > 1) {
    throw InvalidRequest(`An alarm reads one input, and this one reads ${[...inputs].join(', ')}.`)
  }
  const [variable] = variables
  if (variable !== undefined)
    throw InvalidRequest(`$variable.${variable}: alarms have no variables.`)
  const [timer] = timers
  if (timer !== undefined) throw InvalidRequest(`timeout("${timer}"): alarms have no timers.`)
  const unknown = [...alarm].find((name) => !SAID.includes(name))
  if (unknown !== undefined) {
    throw InvalidRequest(`$alarm.${unknown} is none of ${SAID.join(', ')}.`)
  }
}

const COMPARE: Readonly<Record<Operator, (one: any, other: any) => boolean>> = {
  GREATER: (one, other) => one > other,
  GREATER_OR_EQUAL: (one, other) => one >= other,
  LESS: (one, other) => one < other,
  LESS_OR_EQUAL: (one, other) => one <= other,
  EQUAL: isEqual,
  NOT_EQUAL: (one, other) => !isEqual(one, other),
}

/** Where an alarm goes when its threshold is breached, and when it is not. */
const EVALUATED: Readonly<
  Partial<Record<AlarmStateName, { breached: AlarmStateName; kept: AlarmStateName }>>
> = {
  NORMAL: { breached: 'ACTIVE', kept: 'NORMAL' },
  ACTIVE: { breached: 'ACTIVE', kept: 'NORMAL' },
  LATCHED: { breached: 'ACTIVE', kept: 'LATCHED' },
  ACKNOWLEDGED: { breached: 'ACKNOWLEDGED', kept: 'NORMAL' },
}

/**
 * The state of an alarm after a message. It is the same object when nothing changed: when the alarm
 * is off, or when the message does not hold what the rule compares.
 */
export function evaluateAlarm(state: AlarmState, rule: Rule, message: Scope): AlarmState {
  const next = EVALUATED[state.stateName]
  if (!next) return state
  const property = rule.property(message)
  const threshold = rule.threshold(message)
  if (asText(property) === undefined || typeof property !== typeof threshold) return state
  const isBreached = COMPARE[rule.operator](property, threshold)
  const mustBeAcknowledged = rule.hasAcknowledgeFlow && state.stateName === 'ACTIVE'
  const stateName = isBreached ? next.breached : mustBeAcknowledged ? 'LATCHED' : next.kept
  const ruleEvaluation = {
    simpleRuleEvaluation: {
      inputPropertyValue: String(property),
      operator: rule.operator,
      thresholdValue: String(threshold),
    },
  }
  if (stateName !== state.stateName) return { stateName, ruleEvaluation }
  const { inputPropertyValue, thresholdValue } = state.ruleEvaluation?.simpleRuleEvaluation ?? {}
  const isSame = inputPropertyValue === String(property) && thresholdValue === String(threshold)
  return isSame ? state : { ...state, ruleEvaluation }
}

export const firstState = ({ isDisabledAtFirst }: Rule): AlarmState => ({
  stateName: isDisabledAtFirst ? 'DISABLED' : 'NORMAL',
})

export type ActionName = 'ACKNOWLEDGE' | 'DISABLE' | 'ENABLE' | 'RESET' | 'SNOOZE'

/** From any state, as the documents have it. */
export const NEXT_STATE: Readonly<Record<ActionName, AlarmStateName>> = {
  ACKNOWLEDGE: 'ACKNOWLEDGED',
  DISABLE: 'DISABLED',
  ENABLE: 'NORMAL',
  RESET: 'NORMAL',
  SNOOZE: 'SNOOZE_DISABLED',
}

/** The state of an alarm after what a caller did. */
export function actOn(
  { ruleEvaluation }: AlarmState,
  actionName: ActionName,
  configuration: { note?: string | undefined; snoozeDuration?: number | undefined },
): AlarmState {
  return {
    stateName: NEXT_STATE[actionName],
    ruleEvaluation,
    customerAction: {
      actionName,
      [`${actionName.toLowerCase()}ActionConfiguration`]: configuration,
    },
  }
}

/** The state of an alarm when its snooze is over. */
export const endOfSnooze = ({ ruleEvaluation }: AlarmState): AlarmState => ({
  stateName: 'NORMAL',
  ruleEvaluation,
  systemEvent: {
    eventType: 'STATE_CHANGE',
    stateChangeConfiguration: { triggerType: 'SNOOZE_TIMEOUT' },
  },
})

/** What the texts of notifications can say of an alarm. */
export const saidOf = ({ modelName, keyValue, severity, alarmState }: Alarm): Scope['alarm'] => ({
  alarmModelName: modelName,
  keyValue,
  severity,
  inputPropertyValue: alarmState.ruleEvaluation?.simpleRuleEvaluation.inputPropertyValue,
  thresholdValue: alarmState.ruleEvaluation?.simpleRuleEvaluation.thresholdValue,
})
