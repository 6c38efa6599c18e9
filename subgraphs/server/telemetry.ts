// What an operator sees: one log line per request, and figures for Prometheus.
import type { Logger } from 'pino'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

const SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5]

export interface Performed {
  readonly service: string
  readonly operation: string
  readonly status: number
  readonly ms: number
}

export interface Answered extends Performed {
  readonly requestId: string
}

export interface Telemetry {
  readonly log: Logger
  readonly registry: Registry
  /** A request at a REST door, or to the gateway, was answered. */
  answered(answer: Answered): void
  /** An operation was performed for the graph. */
  performed(performed: Performed): void
  /** Something that is our fault: logged whole, told to nobody. */
  mistake(error: unknown, where: Record<string, unknown>): void
  /** Figures that are read when they are asked for. */
  watch(name: string, help: string, read: (set: SetFigure) => Promise<void>): void
}

export type SetFigure = (labels: Record<string, string>, value: number) => void

export function openTelemetry(log: Logger): Telemetry {
  const registry = new Registry()
  const registers = [registry]
  const requests = new Counter({
    name: 'polygraph_requests_total',
    help: 'Operations asked, by service, operation, door and status.',
    labelNames: ['service', 'operation', 'door', 'status'],
    registers,
  })
  const durations = new Histogram({
    name: 'polygraph_request_seconds',
    help: 'How long they took; at the REST door, from the first byte to the last.',
    labelNames: ['service', 'operation', 'door'],
    buckets: SECONDS,
    registers,
  })

  // Looking a series up by its labels costs more than counting, so each is looked up once.
  const series = new Map<
    string,
    { requests: Counter.Internal; durations: Histogram.Internal<string> }
  >()
  function count({ service, operation, status, ms }: Performed, door: 'rest' | 'graph'): void {
    const name = `${door} ${service} ${operation} ${status}`
    let own = series.get(name)
    if (!own) {
      own = {
        requests: requests.labels({ service, operation, door, status }),
        durations: durations.labels({ service, operation, door }),
      }
      series.set(name, own)
    }
    own.requests.inc()
    own.durations.observe(ms / 1000)
  }

  return {
    log,
    registry,
    performed: (performed) => count(performed, 'graph'),
    answered(answer) {
      count(answer, 'rest')
      const { service, operation, status, ms, requestId } = answer
      log.info({ service, operation, status, ms: Math.round(ms * 10) / 10, requestId }, 'answered')
    },
    mistake(error, where) {
      log.error({ ...where, err: error }, 'failed')
    },
    watch(name, help, read) {
      const gauge = new Gauge({
        name,
        help,
        labelNames: ['service', 'state'],
        registers,
        collect: () => read((labels, value) => gauge.set(labels, value)),
      })
    },
  }
}
