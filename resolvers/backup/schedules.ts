// Schedules: when something falls due, by cron or by rate. Specification 3, service K.
//
// 1. A cron expression has six fields: minutes, hours, days of the month, months, days of the week
//    (1 is Sunday) and years. One of the two kinds of days is `?`.
// 2. A rate counts from the moment at which the schedule was made.
// 3. An hour that a zone skips in spring is moved behind the gap, as the library does it.
import { Cron } from 'croner'
import { DAY_MS, HOUR_MS, MINUTE_MS, refuse } from './shapes.ts'

const RATE = /^rate\((\d{1,6}) (minute|hour|day)s?\)$/
const CRON = /^cron\(([^()]{1,200})\)$/
const UNIT_MS: Readonly<Record<string, number>> = {
  minute: MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
}
const GAPS_LOOKED_AT = 4
const CRONS_MAX = 500
export const SCHEDULE_DEFAULT = 'cron(0 5 ? * * *)'

export interface Schedule {
  readonly expression: string
  readonly timezone?: string | undefined
  /** What a rate counts from. */
  readonly sinceMs: number
}

/** The first moment after another; undefined when there is none any more. */
export function momentAfter({ expression, timezone, sinceMs }: Schedule, afterMs: number) {
  const rate = RATE.exec(expression)
  if (!rate) return cronOf(expression, timezone).nextRun(new Date(afterMs))?.getTime()
  const stepMs = Number(rate[1]) * UNIT_MS[rate[2]!]!
  return sinceMs + (Math.max(Math.floor((afterMs - sinceMs) / stepMs), 0) + 1) * stepMs
}

/** The earliest of several schedules, with those that are due then. */
export function nextOf<T extends Schedule>(
  schedules: readonly T[],
  afterMs: number,
): { dueMs: number; due: T[] } | undefined {
  const moments = schedules.map((schedule) => momentAfter(schedule, afterMs))
  const dueMs = Math.min(...moments.map((moment) => moment ?? Infinity))
  if (dueMs === Infinity) return undefined
  return { dueMs, due: schedules.filter((_, i) => moments[i] === dueMs) }
}

/**
 * Refuses what is no schedule, and one that falls due more often than once an hour.
 * Chosen: the hour, as public clients know it.
 */
export function checkSchedule(
  field: string,
  {
    expression,
    timezone,
    nowMs,
  }: { expression: string; timezone?: string | undefined; nowMs: number },
): void {
  checkZone(`${field}Timezone`, timezone)
  const rate = RATE.exec(expression)
  if (!rate && !CRON.test(expression)) {
    throw refuse(field, 'must be a schedule such as cron(0 5 ? * * *) or rate(12 hours)')
  }
  if (rate && Number(rate[1]) < 1) throw refuse(field, 'must have a rate of at least 1')
  const schedule = { expression, timezone, sinceMs: nowMs }
  let before: number | undefined
  try {
    before = momentAfter(schedule, nowMs)
  } catch (error) {
    // The library throws, with its own words, what the expression has wrong.
    throw refuse(field, `is not a cron expression: ${(error as Error).message.replace(/\.$/, '')}`)
  }
  if (before === undefined) throw refuse(field, 'must fall due in the future')
  for (let gap = 0; gap < GAPS_LOOKED_AT; gap += 1) {
    const next = momentAfter(schedule, before!)
    if (next === undefined) return
    if (next - before! < HOUR_MS) throw refuse(field, 'must not fall due more than once an hour')
    before = next
  }
}

function checkZone(field: string, timezone: string | undefined): void {
  if (timezone === undefined) return
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    // The only thing that can be wrong here is the name.
    throw refuse(field, 'must be the name of a time zone, such as Europe/Paris')
  }
}

// Reading an expression takes longer than finding its next moment.
const crons = new Map<string, Cron>()

function cronOf(expression: string, timezone = 'UTC'): Cron {
  const name = `${timezone} ${expression}`
  let cron = crons.get(name)
  if (!cron) {
    const fields = CRON.exec(expression)![1]!.trim().split(/\s+/)
    if (fields.length !== 6) throw new Error('six fields are needed')
    if ((fields[2] === '?') === (fields[4] === '?')) {
      throw new Error('one of the days of the month and the days of the week must be ?, not both')
    }
    const pattern = `0 ${fields.map((field) => (field === '?' ? '*' : field)).join(' ')}`
    cron = new Cron(pattern, { paused: true, mode: '7-part', alternativeWeekdays: true, timezone })
    if (crons.size >= CRONS_MAX) crons.clear()
    crons.set(name, cron)
  }
  return cron
}
