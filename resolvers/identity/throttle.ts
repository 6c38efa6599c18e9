// How often someone may be wrong before they must wait.
import type { Context } from '../kernel/context.ts'
import { TooMany } from '../kernel/fault.ts'
import { kind, numberOf } from '../kernel/store.ts'
import { hashOf } from './secret-text.ts'

const WINDOW_MS = 15 * 60_000
const SWEEP_MAX = 1_000

interface Failures {
  readonly name: string
  readonly count: number
  readonly untilMs: number
}

export const failures = kind<Failures>('failure', {
  key: ({ name }) => name,
  columns: { until: numberOf(({ untilMs }) => untilMs) },
  indexes: [['until']],
})

export const kinds = [failures]

/** What is counted, and how many failures are allowed in a quarter of an hour. */
export interface Guessed {
  readonly what: string
  readonly max: number
}

type Ground = Pick<Context, 'store' | 'wallClock'>

/** Refuses when one of these was wrong too often. */
export async function checkGuesses(ground: Ground, guessed: readonly Guessed[]): Promise<void> {
  const nowMs = ground.wallClock.now().getTime()
  const counted = await ground.store.getMany(
    failures,
    guessed.map(({ what }) => hashOf(what)),
  )
  const untilMs = counted.reduce((latest, record, i) => {
    const isOver = record && record.untilMs > nowMs && record.count >= guessed[i]!.max
    return isOver ? Math.max(latest, record.untilMs) : latest
  }, 0)
  if (untilMs === 0) return
  const seconds = Math.ceil((untilMs - nowMs) / 1000)
  throw TooMany(
    `There were too many failed attempts. Try again in ${Math.ceil(seconds / 60)} min.`,
    {
      headers: { 'retry-after': String(seconds) },
    },
  )
}

export async function countFailure(ground: Ground, guessed: readonly Guessed[]): Promise<void> {
  const nowMs = ground.wallClock.now().getTime()
  await ground.store.transaction(async (tx) => {
    for (const { what } of guessed) {
      const name = hashOf(what)
      const before = await tx.get(failures, name)
      const isOpen = before && before.untilMs > nowMs
      const next = isOpen
        ? { ...before, count: before.count + 1 }
        : { name, count: 1, untilMs: nowMs + WINDOW_MS }
      await tx.save(failures, next)
    }
  })
}

export async function sweepFailures({ store, wallClock }: Ground): Promise<void> {
  const query = { order: 'until', below: wallClock.now().getTime(), limit: SWEEP_MAX }
  while ((await store.removeMany(failures, query)) === SWEEP_MAX);
}
