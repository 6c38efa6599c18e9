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
  /** How many since the last success. */
  let pauses = 0
  let pausedUntilMs = 0
  let isFindingOut = false
  return {
    pauseMs() {
      if (pauses === 0) return 0
      const nowMs = clock.now().getTime()
      if (nowMs < pausedUntilMs) return pausedUntilMs - nowMs
      // Whoever comes now finds out; the others go on as if it had failed until that is known.
      isFindingOut = true
      pausedUntilMs = nowMs + lengthOf(pauses)
      return 0
    },
    succeeded() {
      failures = 0
      pauses = 0
      isFindingOut = false
    },
    failed() {
      failures += 1
      // Those that were on their way when the pause began tell nothing new, however many they are.
      if (failures < FAILURES_MAX || (pauses > 0 && !isFindingOut)) return
      isFindingOut = false
      pauses += 1
      pausedUntilMs = clock.now().getTime() + lengthOf(pauses)
    },
  }
}

/** Twice as long each time that it failed again. */
const lengthOf = (pauses: number): number => Math.min(PAUSE_MS * 2 ** (pauses - 1), PAUSE_MAX_MS)
