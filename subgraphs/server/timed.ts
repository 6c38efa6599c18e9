// How often something happened and how long it took, as Prometheus wants to read it.
//
// Counted by hand, since it happens with every request: the client library spends more time on
// looking a series up and checking its labels than a small request takes in all.

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]
const MS = SECONDS.map((seconds) => seconds * 1000)

export interface Timed {
  count: number
  ms: number
  /** How many took at most so many seconds, each counted where it first fits. */
  readonly fits: number[]
}

export const newTimed = (): Timed => ({
  count: 0,
  ms: 0,
  fits: Array<number>(SECONDS.length).fill(0),
})

export function addTo(timed: Timed, ms: number): void {
  timed.count += 1
  timed.ms += ms
  for (let at = 0; at < MS.length; at += 1) {
    if (ms <= MS[at]!) {
      timed.fits[at]! += 1
      return
    }
  }
}

/** The lines of a histogram. */
export function histogramLines(name: string, labels: string, { count, ms, fits }: Timed): string[] {
  let fitting = 0
  return [
    ...SECONDS.map((seconds, i) => {
      fitting += fits[i]!
      return `${name}_bucket{le="${seconds}",${labels}} ${fitting}`
    }),
    `${name}_bucket{le="+Inf",${labels}} ${count}`,
    `${name}_sum{${labels}} ${ms / 1000}`,
    `${name}_count{${labels}} ${count}`,
  ]
}
