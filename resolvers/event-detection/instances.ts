// What models make: detectors and alarms, one for each key value. Their records.
//
// They stand under the revision of the model that made them (models.ts).
import { createHash } from 'node:crypto'
import { idOfArn } from '../families/cloud-resources.ts'
import { kind, textOf } from '../kernel/store.ts'
import type { DetectorState } from './machine.ts'
import { instanceKey, scopeOf } from './models.ts'

interface Instance {
  readonly account: string
  readonly modelName: string
  readonly version: string
  readonly revision: string
  /** Empty where the model has no key. */
  readonly keyValue: string
  readonly creationTime: string
  readonly lastUpdateTime: string
}

export interface Detector extends Instance, DetectorState {
  /** For when a step of work is stored that looks at the timers; absent where none is. */
  readonly wakeMs?: number | undefined
}

export type AlarmStateName =
  'NORMAL' | 'ACTIVE' | 'ACKNOWLEDGED' | 'DISABLED' | 'SNOOZE_DISABLED' | 'LATCHED'

export interface Alarm extends Instance {
  readonly severity?: number | undefined
  readonly alarmState: AlarmState
  /** When a snooze ends. */
  readonly snoozeUntilMs?: number | undefined
}

export interface AlarmState {
  readonly stateName: AlarmStateName
  /** What the rule last compared. */
  readonly ruleEvaluation?: { readonly simpleRuleEvaluation: SimpleRuleEvaluation } | undefined
  /** What a caller did to bring the alarm into its state, where one did. */
  readonly customerAction?: Readonly<Record<string, unknown>> | undefined
  /** What happened by itself to bring it there. */
  readonly systemEvent?: Readonly<Record<string, unknown>> | undefined
}

export interface SimpleRuleEvaluation {
  readonly inputPropertyValue: string
  readonly operator: string
  readonly thresholdValue: string
}

/** A message that is said, or to be said, because an alarm became active. */
export interface Notification {
  readonly alarmKey: string
  /** The alarm as other services name it. */
  readonly alarmId: string
  readonly notificationId: string
  readonly destinationPhoneNumber: string
  readonly originationPhoneNumber?: string | undefined
  readonly configurationSetName?: string | undefined
  readonly languageCode?: string | undefined
  readonly voiceId?: string | undefined
  readonly text: string
  readonly requestedTime: string
  readonly status: 'PENDING' | 'SENT' | 'FAILED'
  readonly attempts: number
  /** Of the voice service, once it has accepted the message. */
  readonly messageId?: string | undefined
  /** Why it was not, or not yet, accepted. */
  readonly reason?: string | undefined
  /** Whose message it is, and what the credential permitted that made the alarm model. */
  readonly userId: string
  readonly permissions: readonly string[]
}

/** That an alarm watches a resource. */
export interface Watch {
  readonly account: string
  readonly resourceId: string
  readonly alarmKey: string
  /** Of the alarm, for its removal. */
  readonly scope: string
}

export const detectors = kind<Detector>('detector', {
  key: (detector) => instanceKey(detector, detector.keyValue),
  columns: {
    scope: textOf((detector) => scopeOf(detector)),
    stateName: textOf(({ stateName }) => stateName),
  },
  indexes: [['scope', 'stateName']],
})

export const alarms = kind<Alarm>('alarm', {
  key: (alarm) => instanceKey(alarm, alarm.keyValue),
})

export const notifications = kind<Notification>('alarm_notification', {
  key: ({ alarmKey, notificationId }) => `${alarmKey}/${notificationId}`,
})

export const watches = kind<Watch>('alarm_watch', {
  key: ({ account, resourceId, alarmKey }) => `${watchPrefix(account, resourceId)}${alarmKey}`,
  columns: { scope: textOf(({ scope }) => scope) },
  indexes: [['scope']],
})

export const kinds = [detectors, alarms, notifications, watches]

/**
 * An id may be longer than a key, so a digest stands for it. Ids that are paths are the same in any
 * case, and an ARN that only wraps an id is the same as that.
 */
export function watchPrefix(account: string, resourceId: string): string {
  const id = idOfArn(resourceId)
  const plain = id.startsWith('/') ? id.toLowerCase() : id
  return `${account}/${createHash('sha256').update(plain).digest('hex')}/`
}
