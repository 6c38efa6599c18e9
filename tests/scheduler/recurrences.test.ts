// When jobs run. 2030-01-01 is a Tuesday.
import { describe, expect, test } from 'vitest'
import {
  acceptRecurrence,
  firstMoment,
  momentAfter,
  shortestGapMs,
  zoned,
  type Timing,
} from '../../resolvers/scheduler/recurrences.ts'
import type { Recurrence } from '../../resolvers/scheduler/shapes.ts'

const START = '2030-01-01T09:00:00Z'

/** The first moments of a job after its start. */
function momentsOf(timing: Timing, count: number, from = timing.startTime): string[] {
  const moments: string[] = []
  let after = Date.parse(from) - 1
  while (moments.length < count) {
    const next = momentAfter(timing, after)
    if (next === undefined) break
    moments.push(new Date(next).toISOString().replace(':00.000Z', 'Z'))
    after = next
  }
  return moments
}

const recurring = (
  frequency: Recurrence['frequency'],
  more: object = {},
  startTime = START,
): Timing => ({ startTime, recurrence: { frequency, interval: 1, ...more } as Recurrence })

const scheduled = (frequency: Recurrence['frequency'], schedule: object, more: object = {}) =>
  recurring(frequency, { schedule, ...more })

describe('what recurs runs', () => {
  test.each<[string, Timing, string[]]>([
    [
      'every 20 minutes',
      recurring('Minute', { interval: 20 }),
      ['2030-01-01T09:00Z', '2030-01-01T09:20Z', '2030-01-01T09:40Z'],
    ],
    [
      'every 5 hours',
      recurring('Hour', { interval: 5 }),
      ['2030-01-01T09:00Z', '2030-01-01T14:00Z', '2030-01-01T19:00Z'],
    ],
    [
      'every other day',
      recurring('Day', { interval: 2 }),
      ['2030-01-01T09:00Z', '2030-01-03T09:00Z'],
    ],
    ['every week', recurring('Week'), ['2030-01-01T09:00Z', '2030-01-08T09:00Z']],
    [
      'every month, but for those without the day',
      recurring('Month', {}, '2030-01-31T09:00:00Z'),
      ['2030-01-31T09:00Z', '2030-03-31T09:00Z', '2030-05-31T09:00Z'],
    ],
    [
      'at minutes of every hour',
      scheduled('Hour', { minutes: [15, 45] }),
      ['2030-01-01T09:15Z', '2030-01-01T09:45Z', '2030-01-01T10:15Z'],
    ],
    [
      'at hours and minutes of every day',
      scheduled('Day', { hours: [5, 17], minutes: [0, 30] }),
      ['2030-01-01T17:00Z', '2030-01-01T17:30Z', '2030-01-02T05:00Z', '2030-01-02T05:30Z'],
    ],
    [
      'in some hours of the day, every quarter of an hour',
      scheduled('Minute', { hours: [10] }, { interval: 15 }),
      [
        '2030-01-01T10:00Z',
        '2030-01-01T10:15Z',
        '2030-01-01T10:30Z',
        '2030-01-01T10:45Z',
        '2030-01-02T10:00Z',
      ],
    ],
    [
      'on days of every other week',
      scheduled('Week', { weekDays: ['Wednesday', 'Monday'] }, { interval: 2 }),
      ['2030-01-02T09:00Z', '2030-01-14T09:00Z', '2030-01-16T09:00Z', '2030-01-28T09:00Z'],
    ],
    [
      'on the first and the last day of every month',
      scheduled('Month', { monthDays: [1, -1], hours: [6] }),
      ['2030-01-31T06:00Z', '2030-02-01T06:00Z', '2030-02-28T06:00Z', '2030-03-01T06:00Z'],
    ],
    [
      'on the second Friday and the last Monday of every month',
      scheduled('Month', {
        monthlyOccurrences: [
          { day: 'Friday', Occurrence: 2 },
          { day: 'Monday', Occurrence: -1 },
        ],
      }),
      ['2030-01-11T09:00Z', '2030-01-28T09:00Z', '2030-02-08T09:00Z', '2030-02-25T09:00Z'],
    ],
    [
      'on every Tuesday of every third month',
      scheduled('Month', { monthlyOccurrences: [{ day: 'Tuesday' }] }, { interval: 3 }),
      [
        '2030-01-01T09:00Z',
        '2030-01-08T09:00Z',
        '2030-01-15T09:00Z',
        '2030-01-22T09:00Z',
        '2030-01-29T09:00Z',
        '2030-04-02T09:00Z',
      ],
    ],
    [
      'until its end, which belongs to it',
      recurring('Day', { endTime: '2030-01-02T09:00:00Z' }),
      ['2030-01-01T09:00Z', '2030-01-02T09:00Z'],
    ],
  ])('%s', (_, timing, expected) => {
    const isEnding = timing.recurrence?.endTime !== undefined

    expect(momentsOf(timing, isEnding ? 10 : expected.length)).toEqual(expected)
  })
})

test('a leap day comes every four years, and eight where a century has none', () => {
  const timing = recurring('Month', { interval: 12 }, '2092-02-29T00:00:00Z')

  expect(momentsOf(timing, 3)).toEqual([
    '2092-02-29T00:00Z',
    '2096-02-29T00:00Z',
    '2104-02-29T00:00Z',
  ])
})

test('a schedule is read in the zone of startTime', () => {
  const inTokyo = recurring('Day', { schedule: { hours: [8] } }, '2030-01-01T09:00:00+09:00')
  const inNewfoundland = recurring(
    'Week',
    { schedule: { weekDays: ['Monday'], hours: [23], minutes: [0] } },
    '2030-01-01T00:00:00-03:30',
  )

  // 9 o'clock of the first is after 8, so that the job begins on the second.
  expect(momentsOf(inTokyo, 2)).toEqual(['2030-01-01T23:00Z', '2030-01-02T23:00Z'])
  expect(momentsOf(inNewfoundland, 2)).toEqual(['2030-01-08T02:30Z', '2030-01-15T02:30Z'])
})

test('a month turns where the job lives, and not in UTC', () => {
  const timing = recurring(
    'Month',
    { schedule: { monthDays: [1], hours: [0], minutes: [30] } },
    '2030-01-01T00:00:00+02:00',
  )

  expect(momentsOf(timing, 2)).toEqual(['2029-12-31T22:30Z', '2030-01-31T22:30Z'])
})

test('a moment without a zone is in UTC', () => {
  expect(zoned('2030-01-01T09:00:00')).toBe('2030-01-01T09:00:00Z')
  expect(zoned('2030-01-01T09:00:00+09:00')).toBe('2030-01-01T09:00:00+09:00')
})

test('moments keep the seconds of startTime', () => {
  const timing = recurring(
    'Day',
    { schedule: { hours: [5], minutes: [7] } },
    '2030-01-01T00:00:42Z',
  )

  expect(new Date(momentAfter(timing, 0)!).toISOString()).toBe('2030-01-01T05:07:42.000Z')
})

test.each([
  ['minutely', recurring('Minute'), '2040-01-01T00:00:01Z', '2040-01-01T00:01:00.000Z'],
  [
    'three-daily',
    recurring('Day', { interval: 3 }),
    '2040-01-01T00:00:00Z',
    '2040-01-03T09:00:00.000Z',
  ],
  [
    'minutely in one hour',
    scheduled('Minute', { hours: [3] }),
    '2040-01-01T00:00:00Z',
    '2040-01-01T03:00:00.000Z',
  ],
  ['monthly', recurring('Month'), '2130-01-02T00:00:00Z', '2130-02-01T09:00:00.000Z'],
])('a %s job that began years ago finds its next moment at once', (_, timing, from, expected) => {
  const beganMs = performance.now()
  const moment = momentAfter(timing, Date.parse(from))

  expect(new Date(moment!).toISOString()).toBe(expected)
  expect(performance.now() - beganMs).toBeLessThan(1_000)
})

test('a day that no month of the rule has is never', () => {
  const timing = recurring(
    'Month',
    { interval: 12, schedule: { monthDays: [30] } },
    '2030-02-01T00:00:00Z',
  )

  expect(momentAfter(timing, Date.parse('2030-02-01T00:00:00Z'))).toBeUndefined()
})

test('what runs once and is late runs at once, and what recurs begins with what is not past', () => {
  const now = Date.parse('2030-01-05T10:00:00.500Z')

  expect(firstMoment({ startTime: START }, now)).toBe(Date.parse(START))
  expect(firstMoment({ startTime: START }, now, Date.parse(START))).toBeUndefined()
  expect(firstMoment(recurring('Day'), now)).toBe(Date.parse('2030-01-06T09:00:00Z'))
  expect(firstMoment(recurring('Hour'), now)).toBe(Date.parse('2030-01-05T10:00:00Z'))
  expect(firstMoment(recurring('Hour'), now, Date.parse('2030-01-05T10:00:00Z'))).toBe(
    Date.parse('2030-01-05T11:00:00Z'),
  )
})

test.each<[string, number, Recurrence['frequency'], object]>([
  ['5 minutes', 5, 'Minute', { interval: 5 }],
  ['2 hours', 120, 'Hour', { interval: 2 }],
  ['20 minutes within an hour', 20, 'Hour', { schedule: { minutes: [0, 40] } }],
  ['half an hour over midnight', 30, 'Day', { schedule: { hours: [0, 23], minutes: [0, 30] } }],
  ['a day', 1_440, 'Week', { schedule: { weekDays: ['Monday', 'Friday'] } }],
  ['a week', 10_080, 'Week', { schedule: { weekDays: ['Monday'] } }],
  ['28 days', 40_320, 'Month', { schedule: { monthDays: [3] } }],
])('the shortest time between two runs is %s', (_, minutes, frequency, more) => {
  const recurrence = { frequency, interval: 1, ...more } as Recurrence

  expect(shortestGapMs(recurrence) / 60_000).toBe(minutes)
})

test('what is left out of a recurrence is an interval of 1', () => {
  expect(acceptRecurrence({ frequency: 'Day' } as any, START)).toEqual({
    frequency: 'Day',
    interval: 1,
    count: undefined,
    endTime: undefined,
    schedule: undefined,
  })
})
