// Stops asking a service that does not answer, and asks again after a while whether it does.
//
// Without it every query would wait for a service that is down until its time is over, and hold what it
// holds meanwhile. With it the fields of that service fail at once, and the others are answered.
import type { Clock } from '../resolvers/kernel/clock.ts'

const FAILURES_MAX = 5
const PAUSE_MS = 1_000
const PAUSE_MAX_MS = 30_000

export interface Breaker {
  /** How long nothing is asked; 0 when something may be. After a pause one request may find out. */
  pauseMs(): number
  succeeded(): void
  failed(): void
}

export function openBreaker(clock: Clock): Breaker {
  let failures = 0
  let closedUntilMs = 0
  return {
    pauseMs() {
      if (failures < FAILURES_MAX) return 0
      const nowMs = clock.now().getTime()
      if (nowMs < closedUntilMs) return closedUntilMs - nowMs
      // Whoever comes now finds out; the others go on as if it had failed until that is known.
      closedUntilMs = nowMs + pauseAfter(failures)
      return 0
    },
    succeeded() {
      failures = 0
    },
    failed() {
      failures += 1
      if (failures >= FAILURES_MAX) closedUntilMs = clock.now().getTime() + pauseAfter(failures)
    },
  }
}

/** Twice as long each time that it failed again. */
const pauseAfter = (failures: number): number =>
  Math.min(PAUSE_MS * 2 ** (failures - FAILURES_MAX), PAUSE_MAX_MS)
