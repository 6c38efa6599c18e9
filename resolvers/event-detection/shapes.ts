// The words that event detection's inputs are written in, and the names that it gives out.
import { z } from 'zod'
import { flag, oneOf, optional, text, whole } from '../kernel/shape.ts'
import { EXPRESSION_LENGTH_MAX } from './expressions.ts'

const BATCH_MAX = 100
const NOTE_LENGTH_MAX = 256
const DESCRIPTION_LENGTH_MAX = 1024
const ATTRIBUTES_MAX = 200
const STATES_MAX = 100
const EVENTS_MAX = 50
const ACTIONS_MAX = 20
const STATE_LENGTH_MAX = 128
const NOTIFICATIONS_MAX = 10
const NOTIFICATION_LENGTH_MAX = 1000
const VOICE_WORD_LENGTH_MAX = 64
const WATCHED_MAX = 10
const RESOURCE_ID_LENGTH_MAX = 1024

const named = (pattern: RegExp, words: string) => text.regex(pattern, `must be 1 to 128 ${words}`)

export const inputName = named(
  /^[A-Za-z][A-Za-z0-9_]{0,127}$/,
  'letters, digits or underscores, the first a letter',
)
export const modelName = named(/^[A-Za-z0-9_-]{1,128}$/, 'letters, digits, hyphens or underscores')
export const variableName = inputName
export const timerName = named(
  /^[A-Za-z0-9][A-Za-z0-9 _.:-]{0,127}$/,
  'letters, digits, spaces or any of _.:-, the first a letter or a digit',
)
const stateName = text.min(1).max(STATE_LENGTH_MAX)
const expression = text.min(1).max(EXPRESSION_LENGTH_MAX)

/** Names of members and places in lists, from the top of a message: `sensor.values[0]`. */
export const attributePath = text
  .max(256)
  .regex(
    /^[A-Za-z_]\w*(\[\d{1,6}\])*(\.[A-Za-z_]\w*(\[\d{1,6}\])*)*$/,
    'must be a path such as sensor.values[0]',
  )

export const description = optional(text.max(DESCRIPTION_LENGTH_MAX))

export const inputDefinition = z.object({
  attributes: z
    .array(z.object({ jsonPath: attributePath }))
    .min(1)
    .max(ATTRIBUTES_MAX),
})

const action = z.object({
  setVariable: optional(z.object({ variableName, value: expression })),
  setTimer: optional(
    z.object({
      timerName,
      seconds: optional(whole),
      durationExpression: optional(expression),
    }),
  ),
  clearTimer: optional(z.object({ timerName })),
  resetTimer: optional(z.object({ timerName })),
})
const actions = optional(z.array(action).max(ACTIONS_MAX))
const event = z.object({ eventName: stateName, condition: optional(expression), actions })
const events = optional(z.array(event).max(EVENTS_MAX))
const transitionEvent = z.object({
  eventName: stateName,
  condition: expression,
  actions,
  nextState: text,
})

export const detectorModelDefinition = z.object({
  states: z
    .array(
      z.object({
        stateName,
        onInput: optional(
          z.object({
            events,
            transitionEvents: optional(z.array(transitionEvent).max(EVENTS_MAX)),
          }),
        ),
        onEnter: optional(z.object({ events })),
        onExit: optional(z.object({ events })),
      }),
    )
    .min(1)
    .max(STATES_MAX),
  initialStateName: text,
})

export type DetectorModelDefinition = z.output<typeof detectorModelDefinition>
export type StateDefinition = DetectorModelDefinition['states'][number]
export type EventDefinition = z.output<typeof event>
export type TransitionDefinition = z.output<typeof transitionEvent>
export type ActionDefinition = z.output<typeof action>

export const evaluationMethod = oneOf(['BATCH', 'SERIAL'])

export const OPERATORS = [
  'GREATER',
  'GREATER_OR_EQUAL',
  'LESS',
  'LESS_OR_EQUAL',
  'EQUAL',
  'NOT_EQUAL',
] as const

export const alarmRule = z.object({
  simpleRule: z.object({
    inputProperty: expression,
    comparisonOperator: oneOf(OPERATORS),
    threshold: expression,
  }),
})

export const alarmCapabilities = z.object({
  initializationConfiguration: optional(z.object({ disabledOnInitialization: flag })),
  acknowledgeFlow: optional(z.object({ enabled: flag })),
})

/** What the voice service will judge. */
const voiceWord = text.max(VOICE_WORD_LENGTH_MAX)

export const alarmNotification = z.object({
  voiceNotifications: z
    .array(
      z.object({
        destinationPhoneNumber: text.regex(
          /^\+[1-9]\d{1,14}$/,
          'must be in E.164 form, such as +12065550142',
        ),
        originationPhoneNumber: optional(voiceWord),
        configurationSetName: optional(voiceWord),
        languageCode: optional(voiceWord),
        voiceId: optional(voiceWord),
        text: text.min(1).max(NOTIFICATION_LENGTH_MAX),
      }),
    )
    .max(NOTIFICATIONS_MAX),
})

export type AlarmRule = z.output<typeof alarmRule>
export type AlarmCapabilities = z.output<typeof alarmCapabilities>
export type AlarmNotification = z.output<typeof alarmNotification>

export const severity = whole.refine((value) => value >= 0 && value <= 2_147_483_647, {
  message: 'must be 0 to 2147483647',
})

export const watchedResourceIds = z.array(text.min(1).max(RESOURCE_ID_LENGTH_MAX)).max(WATCHED_MAX)

/** The name that a caller gives one item of a batch, by which its refusal is found again. */
export const itemId = text.regex(
  /^[A-Za-z0-9_-]{1,64}$/,
  'must be 1 to 64 letters, digits, hyphens or underscores',
)
export const note = optional(text.max(NOTE_LENGTH_MAX))
export const batchOf = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(BATCH_MAX)

export const keyValue = optional(text)

/** What a key value can be, so that it can stand in a key of the store and in an address. */
export const isKeyValue = (value: string): boolean => /^[A-Za-z0-9_:-]{1,128}$/.test(value)
