// The words of this service's inputs and answers: names, times, lifecycles. Specification 3, service K.
import { z } from 'zod'
import { epochSecondsOf } from '../families/aws.ts'
import { Invalid } from '../kernel/fault.ts'
import { flag, optional, text, whole } from '../kernel/shape.ts'

export const DAY_MS = 24 * 60 * 60_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
/** A hundred years. */
export const DAYS_MAX = 36_500
export const MINUTES_MAX = DAYS_MAX * 24 * 60
const TAGS_MAX = 50
/** Beside what a key has before and after it. */
const ARN_MAX = 900

const pattern = (form: RegExp, words: string) => text.regex(form, `must be ${words}`)

export const vaultName = pattern(
  /^[a-zA-Z0-9_-]{2,50}$/,
  '2 to 50 letters, digits, hyphens or underscores',
)
/** Of plans, rules, selections and requests. */
export const label = pattern(
  /^[a-zA-Z0-9_.-]{1,50}$/,
  '1 to 50 letters, digits, hyphens, underscores or dots',
)
export const requestId = label
/** Of frameworks and report plans. */
export const auditName = pattern(
  /^[a-zA-Z][a-zA-Z0-9_]{0,255}$/,
  'a letter, then at most 255 letters, digits or underscores',
)
export const testingName = pattern(/^[a-zA-Z0-9_]{1,50}$/, '1 to 50 letters, digits or underscores')
export const note = text.max(1024)
export const arn = pattern(/^arn:[^\s]{1,895}$/, `an ARN of at most ${ARN_MAX} characters`)
export const roleArn = pattern(
  /^arn:aws[a-z-]{0,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
  'the ARN of a role, such as arn:aws:iam::123456789012:role/name',
)
export const keyArn = pattern(
  /^arn:aws[a-z-]{0,20}:kms:[a-z0-9-]{1,40}:\d{12}:key\/[\w-]{1,128}$/,
  'the ARN of a key, such as arn:aws:kms:us-east-1:123456789012:key/name',
)

export const tagMap = z
  .record(
    z.string().min(1).max(128).refine(isPlain, 'must not contain the null character'),
    z.string().max(256).refine(isPlain, 'must not contain the null character'),
  )
  .refine((tags) => Object.keys(tags).length <= TAGS_MAX, `must have at most ${TAGS_MAX} tags`)

/** Settings by name. */
export const textMap = z
  .record(z.string().max(128), z.string().max(1024).refine(isPlain))
  .refine((map) => Object.keys(map).length <= TAGS_MAX, `must have at most ${TAGS_MAX} members`)

function isPlain(value: string): boolean {
  return !value.includes('\0')
}

/** A moment: seconds since 1970, or as a query string and the graph write it; kept in RFC 3339. */
export const moment = z
  .preprocess(readMoment, z.iso.datetime({ error: 'must be a moment' }))
  .meta({ type: 'number', description: 'Seconds since 1970.' })

const MOMENT_MS_MAX = 8_640_000_000_000_000 / 1_000

function readMoment(sent: unknown): unknown {
  const ms =
    typeof sent === 'number' || (typeof sent === 'string' && /^\d{1,12}(\.\d{1,9})?$/.test(sent))
      ? Number(sent) * 1_000
      : sent instanceof Date
        ? sent.getTime()
        : typeof sent === 'string'
          ? Date.parse(sent)
          : Number.NaN
  return Math.abs(ms) <= MOMENT_MS_MAX ? new Date(ms).toISOString() : undefined
}

export const days = whole.refine((count) => count >= 1 && count <= DAYS_MAX, {
  message: `must be 1 to ${DAYS_MAX}`,
})
/** -1 takes back what was set before. */
const lifecycleDays = whole.refine(
  (count) => count === -1 || (count >= 1 && count <= DAYS_MAX),
  `must be 1 to ${DAYS_MAX}, or -1 for never`,
)

export const lifecycle = z.object({
  MoveToColdStorageAfterDays: optional(lifecycleDays),
  DeleteAfterDays: optional(lifecycleDays),
  OptInToArchiveForSupportedResources: optional(flag),
})
export type SentLifecycle = z.output<typeof lifecycle>

/** The inputs of lists in lower case, as most are, and as those of audits and tests are. */
const pageSize = whole.refine((size) => size >= 1 && size <= 1_000, 'must be 1 to 1000')
export const paged = { nextToken: optional(text), maxResults: optional(pageSize) }
export const pagedUpper = { NextToken: optional(text), MaxResults: optional(pageSize) }

/** The members that are times, wherever they stand. */
const TIMES = new Set([
  'BackupDate',
  'CancellationDate',
  'CompletionDate',
  'CompletionTime',
  'CreationDate',
  'CreationTime',
  'DeleteAt',
  'DeletionDate',
  'ExecutionTime',
  'ExpectedCompletionDate',
  'FromDate',
  'InitiationDate',
  'LastAttemptedExecutionTime',
  'LastBackupTime',
  'LastExecutionDate',
  'LastExecutionTime',
  'LastRestoreTime',
  'LastSuccessfulExecutionTime',
  'LastUpdateTime',
  'LatestRestoreJobCreationDate',
  'LatestRestoreRecoveryPointCreationDate',
  'LockDate',
  'MoveToColdStorageAt',
  'RecoveryPointCreationDate',
  'RetainRecordUntil',
  'StartBy',
  'ToDate',
  'UpdateTime',
])
/** The members in which times stand below; in a map of tags, a time would only look like one. */
const HOLD_TIMES = new Set([
  'CalculatedLifecycle',
  'RecoveryPointSelection',
  'DateRange',
  'ScheduledRunsPreview',
])

/** Shows the named members of a record as the REST interface writes them. */
export const only =
  (...members: readonly string[]) =>
  (record: object): Record<string, unknown> => {
    const shown: Record<string, unknown> = {}
    for (const member of members) {
      const value = (record as Record<string, unknown>)[member]
      if (value !== undefined && value !== null) shown[member] = worded(member, value)
    }
    return shown
  }

function worded(member: string, value: unknown): unknown {
  if (TIMES.has(member) && typeof value === 'string') return epochSecondsOf(value)
  if (!HOLD_TIMES.has(member)) return value
  if (Array.isArray(value)) return value.map((one) => worded(member, one))
  return Object.fromEntries(
    Object.entries(value as object).map(([name, inner]) => [name, worded(name, inner)]),
  )
}

/** For operations that answer nothing. */
export const nothing = { show: () => undefined }

/** Refuses a schedule, a time zone or anything else that a pattern cannot tell. */
export const refuse = (field: string, what: string) => Invalid(`${field} ${what}.`)
