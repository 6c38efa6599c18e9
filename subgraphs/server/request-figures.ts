// How often operations were asked and how long they took, for Prometheus.
//
// Counted by hand, since it happens with every request: the client library spends more time on
// looking a series up and checking its labels than a small request takes in all.
import type { Performed } from './telemetry.ts'

export type Door = 'rest' | 'graph'

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

/** One operation with one status at one door. */
interface Series extends Omit<Performed, 'ms'> {
  readonly door: Door
  count: number
  ms: number
  /** How many took at most so many seconds, each counted where it first fits. */
  readonly fits: number[]
}

export function requestFigures() {
  // Nested, so that finding a series makes no new text.
  const doors: Record<Door, Map<string, Map<string, Series[]>>> = {
    rest: new Map(),
    graph: new Map(),
  }

  function seriesOf({ service, operation, status }: Performed, door: Door): Series {
    let operations = doors[door].get(service)
    if (!operations) doors[door].set(service, (operations = new Map()))
    let all = operations.get(operation)
    if (!all) operations.set(operation, (all = []))
    let one = all.find((series) => series.status === status)
    if (!one) {
      const fits = Array<number>(SECONDS.length).fill(0)
      all.push((one = { service, operation, status, door, count: 0, ms: 0, fits }))
    }
    return one
  }

  return {
    count(performed: Performed, door: Door): void {
      const series = seriesOf(performed, door)
      series.count += 1
      series.ms += performed.ms
      const at = SECONDS.findIndex((seconds) => performed.ms <= seconds * 1000)
      if (at >= 0) series.fits[at]! += 1
    },

    /** In the text format of Prometheus. */
    text(): string {
      const all = Object.values(doors).flatMap((services) =>
        [...services.values()].flatMap((operations) => [...operations.values()].flat()),
      )
      return [
        '# HELP polygraph_requests_total Operations asked, by service, operation, door and status.',
        '# TYPE polygraph_requests_total counter',
        ...all.map((one) => `polygraph_requests_total{${labelsOf(one)}} ${one.count}`),
        '# HELP polygraph_request_seconds How long they took; at the REST door, from the first byte to the last.',
        '# TYPE polygraph_request_seconds histogram',
        ...all.flatMap(histogramOf),
        '',
      ].join('\n')
    },
  }
}

const labelsOf = ({ service, operation, door, status }: Series): string =>
  `service="${service}",operation="${operation}",door="${door}",status="${status}"`

function histogramOf(series: Series): string[] {
  const labels = labelsOf(series)
  let fitting = 0
  return [
    ...SECONDS.map((seconds, i) => {
      fitting += series.fits[i]!
      return `polygraph_request_seconds_bucket{le="${seconds}",${labels}} ${fitting}`
    }),
    `polygraph_request_seconds_bucket{le="+Inf",${labels}} ${series.count}`,
    `polygraph_request_seconds_sum{${labels}} ${series.ms / 1000}`,
    `polygraph_request_seconds_count{${labels}} ${series.count}`,
  ]
}
