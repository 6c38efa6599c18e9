// Collections, jobs and history as they are sent and as they are shown. Specification 3, service J.
import { z } from 'zod'
import { resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { oneOf, optional, tags, text, whole } from '../kernel/shape.ts'

const INTERVAL_MAX = 1_000
const COUNT_MAX = 1_000_000
const URI_MAX = 2_048
const HEADERS_MAX = 50
const HEADER_NAME_MAX = 128
const HEADER_VALUE_MAX = 4_096
const NAME_MAX = 256
const RETRIES_MAX = 20
const OCCURRENCES_MAX = 35

const between = (least: number, most: number) =>
  whole.refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`)

/** RFC 3339 with its zone; the graph hands over what it has read. Without a zone it is UTC. */
const moment = z.preprocess(
  (value) => (value instanceof Date ? value.toISOString() : value),
  z.iso
    .datetime({ offset: true, local: true, error: 'must be a moment such as 2030-01-01T09:00:00Z' })
    .max(40),
)

const FREQUENCIES = ['Minute', 'Hour', 'Day', 'Week', 'Month'] as const
export const DAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const
const STATES = ['Enabled', 'Disabled', 'Faulted', 'Completed'] as const
const ACTIONS = ['Http', 'Https', 'StorageQueue', 'ServiceBusQueue', 'ServiceBusTopic'] as const
const SKUS = ['Standard', 'Free', 'P10Premium', 'P20Premium'] as const

const numbers = (least: number, most: number) =>
  optional(
    z
      .array(between(least, most))
      .min(1)
      .max(most - least + 1),
  )

const schedule = z.object({
  minutes: numbers(0, 59),
  hours: numbers(0, 23),
  weekDays: optional(z.array(oneOf(DAYS)).min(1).max(7)),
  monthDays: optional(
    z
      .array(between(-31, 31).refine((day) => day !== 0, 'must not be 0'))
      .min(1)
      .max(62),
  ),
  monthlyOccurrences: optional(
    z
      .array(
        z.object({
          day: oneOf(DAYS),
          Occurrence: optional(
            between(-5, 5).refine((n) => n !== 0, 'must not be 0: 1 is the first, -1 the last'),
          ),
        }),
      )
      .min(1)
      .max(OCCURRENCES_MAX),
  ),
})

const maxRecurrence = z.object({
  frequency: oneOf(FREQUENCIES),
  interval: optional(between(1, INTERVAL_MAX)),
})

const quota = z.object({
  maxJobCount: optional(between(1, COUNT_MAX)),
  maxJobOccurrence: optional(between(1, COUNT_MAX)),
  maxRecurrence: optional(maxRecurrence),
})

/** The body of PUT and PATCH of a collection. */
export const collectionBody = z.object({
  location: optional(resourceLocation),
  tags: optional(resourceTags),
  properties: optional(
    z.object({
      sku: optional(z.object({ name: oneOf(SKUS) })),
      quota: optional(quota),
      state: optional(oneOf(['Enabled', 'Disabled', 'Suspended', 'Deleted'])),
    }),
  ),
})

const authentication = z.object({
  type: oneOf(['NotSpecified', 'ClientCertificate', 'ActiveDirectoryOAuth', 'Basic']),
  username: optional(text.max(NAME_MAX)),
  password: optional(text.max(NAME_MAX)),
})

const headers = tags
  .refine((all) => Object.keys(all).length <= HEADERS_MAX, `must be at most ${HEADERS_MAX} headers`)
  .refine(
    (all) => Object.keys(all).every((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name)),
    'must have names that HTTP allows',
  )
  .refine(
    (all) =>
      Object.entries(all).every(
        ([name, value]) =>
          name.length <= HEADER_NAME_MAX &&
          value.length <= HEADER_VALUE_MAX &&
          /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
      ),
    `must have names of at most ${HEADER_NAME_MAX} characters and values of at most ${HEADER_VALUE_MAX}, in one line`,
  )

const request = z.object({
  method: optional(oneOf(['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])),
  uri: optional(text.max(URI_MAX)),
  headers: optional(headers),
  body: optional(text),
  authentication: optional(authentication),
})

const retryPolicy = z.object({
  retryType: optional(oneOf(['None', 'Fixed'])),
  retryInterval: optional(text.max(40)),
  retryCount: optional(between(1, RETRIES_MAX)),
})

// What the actions on queues carry is not read: they are refused, see actions.ts.
const errorAction = z.object({
  type: optional(oneOf(ACTIONS)),
  request: optional(request),
  retryPolicy: optional(retryPolicy),
})

/** The body of PUT and PATCH of a job. What it must have is checked when a PATCH is merged. */
export const jobBody = z.object({
  properties: optional(
    z.object({
      startTime: optional(moment),
      action: optional(errorAction.extend({ errorAction: optional(errorAction) })),
      recurrence: optional(
        z.object({
          frequency: optional(oneOf(FREQUENCIES)),
          interval: optional(between(1, INTERVAL_MAX)),
          count: optional(between(1, COUNT_MAX)),
          endTime: optional(moment),
          schedule: optional(schedule),
        }),
      ),
      state: optional(oneOf(STATES)),
    }),
  ),
})

export type SentCollection = z.output<typeof collectionBody>
export type SentJob = z.output<typeof jobBody>
type SentProperties = NonNullable<SentJob['properties']>
export type SentAction = NonNullable<SentProperties['action']>
export type SentErrorAction = z.output<typeof errorAction>
export type SentRecurrence = NonNullable<SentProperties['recurrence']>
export type Schedule = z.output<typeof schedule>
export type Frequency = (typeof FREQUENCIES)[number]
export type MaxRecurrence = { frequency: Frequency; interval: number }

export interface Quota {
  maxJobCount: number
  maxJobOccurrence?: number | undefined
  maxRecurrence: MaxRecurrence
}

export interface Recurrence {
  frequency: Frequency
  interval: number
  count?: number | undefined
  endTime?: string | undefined
  schedule?: Schedule | undefined
}

export interface RetryPolicy {
  retryType: 'None' | 'Fixed'
  retryInterval?: string | undefined
  retryCount?: number | undefined
}

export interface ErrorAction {
  type: 'Http' | 'Https'
  request: {
    method: string
    uri: string
    headers?: Record<string, string> | undefined
    body?: string | undefined
    authentication?: { type: 'Basic' | 'NotSpecified'; username?: string | undefined } | undefined
  }
  retryPolicy: RetryPolicy
}

export interface Action extends ErrorAction {
  errorAction?: ErrorAction | undefined
}

const resource = { id: text, name: text, type: text }

export const collectionAnswer = z.object({
  ...resource,
  location: text.optional(),
  tags: tags.optional(),
  properties: z.object({
    sku: z.object({ name: oneOf(SKUS) }),
    state: oneOf(['Enabled', 'Disabled', 'Deleted']),
    quota: z.object({
      maxJobCount: z.int(),
      maxJobOccurrence: z.int().optional(),
      maxRecurrence: z.object({ frequency: oneOf(FREQUENCIES), interval: z.int() }),
    }),
  }),
})

const errorActionAnswer = z.object({
  type: oneOf(['Http', 'Https']),
  request: z.object({
    method: text,
    uri: text,
    headers: tags.optional(),
    body: text.optional(),
    authentication: z.strictObject({ type: text, username: text.optional() }).optional(),
  }),
  retryPolicy: z.object({
    retryType: oneOf(['None', 'Fixed']),
    retryInterval: text.optional(),
    retryCount: z.int().optional(),
  }),
})

export const jobAnswer = z.strictObject({
  ...resource,
  properties: z.strictObject({
    startTime: text,
    action: errorActionAnswer.extend({ errorAction: errorActionAnswer.optional() }),
    recurrence: z
      .object({
        frequency: oneOf(FREQUENCIES),
        interval: z.int(),
        count: z.int().optional(),
        endTime: text.optional(),
        schedule: z
          .object({
            minutes: z.array(z.int()).optional(),
            hours: z.array(z.int()).optional(),
            weekDays: z.array(oneOf(DAYS)).optional(),
            monthDays: z.array(z.int()).optional(),
            monthlyOccurrences: z
              .array(z.object({ day: oneOf(DAYS), Occurrence: z.int().optional() }))
              .optional(),
          })
          .optional(),
      })
      .optional(),
    state: oneOf(STATES),
    status: z.object({
      executionCount: z.int(),
      failureCount: z.int(),
      faultedCount: z.int(),
      lastExecutionTime: text.optional(),
      nextExecutionTime: text.optional(),
    }),
  }),
})

export const historyAnswer = z.strictObject({
  ...resource,
  properties: z.strictObject({
    actionName: oneOf(['MainAction', 'ErrorAction']),
    status: oneOf(['Completed', 'Failed', 'Postponed']),
    startTime: text,
    endTime: text,
    expectedExecutionTime: text,
    message: text,
    retryCount: z.int(),
    repeatCount: z.int(),
  }),
})

export const listAnswer = <T extends z.ZodType>(of: T) =>
  z.object({ value: z.array(of), nextLink: text.optional() })
