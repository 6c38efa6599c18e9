// Time as services see it.

export interface Clock {
  now(): Date
}

export const wallClock: Clock = { now: () => new Date() }

/** A clock that runs beside the wall clock, ahead of it by what it was advanced. */
export interface VirtualClock extends Clock {
  readonly aheadMs: number
  /** Moves the clock to a moment. It never goes back, since records already carry the later time. */
  moveTo(moment: Date): void
}

export function virtualClock({ base = wallClock, aheadMs = 0 } = {}): VirtualClock {
  let ahead = aheadMs
  return {
    get aheadMs() {
      return ahead
    },
    now: () => new Date(base.now().getTime() + ahead),
    moveTo(moment) {
      ahead = Math.max(ahead, moment.getTime() - base.now().getTime())
    },
  }
}

/** A clock that stands still until it is moved. */
export function stillClock(start: string): VirtualClock {
  const base = new Date(start)
  return virtualClock({ base: { now: () => base } })
}
