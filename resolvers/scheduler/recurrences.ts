// When a job runs: moments by arithmetic where the calendar has no say, by a library where it has.
// Specification 3, service J.
//
// 1. A job lives in the zone that its startTime is written in, UTC if none: hours and days of a
//    schedule are read there. The documents know no named zones, only offsets, so no hour is ever
//    skipped or repeated and every day has 24 hours.
// 2. Moments are whole seconds, and those of startTime: a schedule says hours and minutes alone.
// 3. A day that a month does not have is left out, and not moved.
import { RRuleTemporal } from 'rrule-temporal'
import { refuse } from './errors.ts'
import type { Frequency, Recurrence, Schedule, SentRecurrence } from './shapes.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** How long a period lasts at least. */
export const PERIOD_MS: Readonly<Record<Frequency, number>> = {
  Minute: MINUTE_MS,
  Hour: HOUR_MS,
  Day: DAY_MS,
  Week: 7 * DAY_MS,
  Month: 28 * DAY_MS,
}

/** How many periods the library looks through for a moment before it gives up. */
const PERIODS_MAX = 10_000

const RULE_FREQUENCIES: Readonly<Record<Frequency, string>> = {
  Minute: 'MINUTELY',
  Hour: 'HOURLY',
  Day: 'DAILY',
  Week: 'WEEKLY',
  Month: 'MONTHLY',
}

/** What decides when a job runs. */
export interface Timing {
  readonly startTime: string
  readonly recurrence?: Recurrence | undefined
}

export const wholeSeconds = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS

/** A moment as a text with its zone; what names none is in UTC. */
export const zoned = (moment: string): string =>
  /(?:Z|[+-]\d\d:?\d\d)$/i.test(moment) ? moment : `${moment}Z`

/** The first moment of a job after another; undefined when there is none. */
export function momentAfter({ startTime, recurrence }: Timing, afterMs: number) {
  const startMs = wholeSeconds(Date.parse(startTime))
  if (!recurrence) return startMs > afterMs ? startMs : undefined
  const { frequency, interval, schedule, endTime } = recurrence
  const found =
    schedule || frequency === 'Month'
      ? calendarMomentAfter({ startTime, recurrence }, Math.max(afterMs, startMs - 1))
      : steppedMomentAfter(startMs, interval * PERIOD_MS[frequency], afterMs)
  return found === undefined || (endTime && found > Date.parse(endTime)) ? undefined : found
}

/**
 * The moment at which a plan begins or goes on, seen from now; undefined when there is none. No
 * moment is given twice: `last` is the latest at which the job has run.
 *
 * Chosen: what is to run once and is late runs at once. What recurs begins with the first moment
 * that is not past, as if it had run by its plan all along.
 */
export function firstMoment(timing: Timing, nowMs: number, last = -Infinity): number | undefined {
  if (!timing.recurrence) return momentAfter(timing, last)
  return momentAfter(timing, Math.max(wholeSeconds(nowMs) - 1, last))
}

function steppedMomentAfter(startMs: number, stepMs: number, afterMs: number): number {
  if (startMs > afterMs) return startMs
  return startMs + (Math.floor((afterMs - startMs) / stepMs) + 1) * stepMs
}

function calendarMomentAfter(
  { startTime, recurrence }: Required<Timing>,
  afterMs: number,
): number | undefined {
  const offsetMs = offsetOf(startTime)
  // The zone is taken out, since one with a fixed offset counts as UTC does.
  const start = new Date(wholeSeconds(Date.parse(startTime)) + offsetMs).toISOString()
  const begin = start.replace(/\.\d+|[-:]/g, '')
  const rule = new RRuleTemporal({
    rruleString: `DTSTART:${begin}\nRRULE:${ruleOf(recurrence!)}`,
    maxIterations: PERIODS_MAX,
  })
  const found = nextOf(rule, new Date(afterMs + offsetMs))
  return found === undefined ? undefined : found - offsetMs
}

function nextOf(rule: RRuleTemporal, after: Date): number | undefined {
  try {
    return rule.next(after)?.epochMilliseconds
  } catch (error) {
    // A rule that nothing fits, such as the 30th of every twelfth month from February.
    if (/Maximum iterations/.test(String(error))) return undefined
    throw error
  }
}

function ruleOf({ frequency, interval, schedule }: Recurrence): string {
  const { minutes, hours, weekDays, monthDays, monthlyOccurrences } =
    schedule ?? ({} as Partial<Schedule>)
  const dayOf = (day: string) => day.slice(0, 2).toUpperCase()
  const days =
    weekDays?.map(dayOf) ??
    monthlyOccurrences?.map(({ day, Occurrence }) => `${Occurrence ?? ''}${dayOf(day)}`)
  const parts: [string, readonly unknown[] | undefined][] = [
    ['BYDAY', days],
    ['BYMONTHDAY', monthDays],
    ['BYHOUR', hours],
    ['BYMINUTE', minutes],
  ]
  const by = parts.flatMap(([name, values]) => (values ? `;${name}=${values.join()}` : []))
  return `FREQ=${RULE_FREQUENCIES[frequency]};INTERVAL=${interval}${by.join('')}`
}

/** How far a moment's zone is ahead of UTC. */
export function offsetOf(moment: string): number {
  const [, sign, hours, minutes] = /([+-])(\d\d):?(\d\d)$/.exec(moment) ?? []
  if (!sign) return 0
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS)
}

/** A recurrence with what was left out filled in. Refuses one that contradicts itself. */
export function acceptRecurrence(sent: SentRecurrence, startTime: string): Recurrence {
  const place = 'properties.recurrence'
  const { frequency, interval = 1, count } = sent
  if (!frequency) throw refuse(`${place}.frequency`, 'is required')
  const schedule = sent.schedule && acceptSchedule(sent.schedule, frequency)
  const endTime = sent.endTime && zoned(sent.endTime)
  if (endTime && Date.parse(endTime) < Date.parse(startTime)) {
    throw refuse(`${place}.endTime`, 'must not be before properties.startTime')
  }
  return { frequency, interval, count, endTime, schedule }
}

function acceptSchedule(schedule: Schedule, frequency: Frequency): Schedule | undefined {
  const place = 'properties.recurrence.schedule'
  const only = { weekDays: 'Week', monthDays: 'Month', monthlyOccurrences: 'Month' } as const
  for (const [name, fitting] of Object.entries(only) as [keyof typeof only, Frequency][]) {
    if (schedule[name] && frequency !== fitting) {
      throw refuse(`${place}.${name}`, `goes with the frequency ${fitting} alone`)
    }
  }
  if (schedule.monthDays && schedule.monthlyOccurrences) {
    throw refuse(`${place}.monthlyOccurrences`, 'does not go with monthDays: give one of them')
  }
  return Object.values(schedule).some((part) => part !== undefined) ? schedule : undefined
}

/** The shortest time that may pass between two runs. It may be less than ever passes, never more. */
export function shortestGapMs({ frequency, interval, schedule }: Recurrence): number {
  const periodMs = interval * PERIOD_MS[frequency]
  if (!schedule || frequency === 'Minute') return periodMs
  const { minutes = [0], hours = [0] } = schedule
  // Without hours, an hourly job runs at its minutes in every hour.
  const isHourly = frequency === 'Hour'
  const times = isHourly
    ? minutes.map((minute) => minute * MINUTE_MS)
    : hours.flatMap((hour) => minutes.map((minute) => hour * HOUR_MS + minute * MINUTE_MS))
  const roundMs = isHourly ? HOUR_MS : DAY_MS
  const sorted = [...new Set(times)].toSorted((a, b) => a - b)
  if (sorted.length > 1) {
    const gaps = sorted.map((time, i) => (sorted[i + 1] ?? sorted[0]! + roundMs) - time)
    return Math.min(...gaps)
  }
  const { weekDays, monthDays, monthlyOccurrences } = schedule
  const isOnSeveralDays =
    [weekDays, monthDays].some((days) => days && days.length > 1) || monthlyOccurrences
  return isOnSeveralDays ? DAY_MS : periodMs
}
