// How often operations were asked and how long they took, for Prometheus.
import type { Performed } from './telemetry.ts'
import { addTo, histogramLines, newTimed, type Timed } from './timed.ts'

export type Door = 'rest' | 'graph'

/** One operation with one status at one door. */
interface Series extends Omit<Performed, 'ms'> {
  readonly door: Door
  readonly timed: Timed
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
    if (!one) all.push((one = { service, operation, status, door, timed: newTimed() }))
    return one
  }

  return {
    count(performed: Performed, door: Door): void {
      addTo(seriesOf(performed, door).timed, performed.ms)
    },

    /** In the text format of Prometheus. */
    text(): string {
      const all = Object.values(doors).flatMap((services) =>
        [...services.values()].flatMap((operations) => [...operations.values()].flat()),
      )
      return [
        '# HELP polygraph_requests_total Operations asked, by service, operation, door and status.',
        '# TYPE polygraph_requests_total counter',
        ...all.map((one) => `polygraph_requests_total{${labelsOf(one)}} ${one.timed.count}`),
        '# HELP polygraph_request_seconds How long they took; at the REST door, from the first byte to the last.',
        '# TYPE polygraph_request_seconds histogram',
        ...all.flatMap((one) =>
          histogramLines('polygraph_request_seconds', labelsOf(one), one.timed),
        ),
        '',
      ].join('\n')
    },
  }
}

const labelsOf = ({ service, operation, door, status }: Series): string =>
  `service="${service}",operation="${operation}",door="${door}",status="${status}"`
