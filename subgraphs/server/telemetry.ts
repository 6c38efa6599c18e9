// What an operator sees: one log line per request, and figures for Prometheus.
import type { Logger } from 'pino'
import { Gauge, Registry } from 'prom-client'
import { requestFigures } from './request-figures.ts'

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
  readonly contentType: string
  /** In the text format of Prometheus. */
  figures(): Promise<string>
  /** A request at a REST door, or to the gateway, was answered. */
  answered(answer: Answered): void
  /** An operation was performed for the graph. */
  performed(performed: Performed): void
  /** Something that is our fault: logged whole, told to nobody. */
  mistake(error: unknown, where: Record<string, unknown>): void
  /** Figures that are counted elsewhere, in the text format of Prometheus. */
  add(text: () => string): void
  /** Figures that are read when they are asked for. */
  watch(name: string, help: string, read: (set: SetFigure) => Promise<void>): void
}

export type SetFigure = (labels: Record<string, string>, value: number) => void

/**
 * `write` takes a line of the log as it is, beside what the logger writes: a line for every request is
 * written by hand, since the logger would add a quarter to what a bare request costs.
 */
export function openTelemetry(
  log: Logger,
  write: (line: () => string) => void = () => {},
): Telemetry {
  const registry = new Registry()
  const requests = requestFigures()
  const texts = [requests.text]
  const level = log.levels.values.info!
  const isLogged = log.isLevelEnabled('info')

  return {
    log,
    contentType: registry.contentType,
    figures: async () => (await registry.metrics()) + texts.map((text) => text()).join(''),
    performed: (performed) => requests.count(performed, 'graph'),
    answered(answer) {
      requests.count(answer, 'rest')
      if (!isLogged) return
      const timeMs = Date.now()
      write(() => {
        const { service, operation, status, ms, requestId } = answer
        // None of these holds a character that JSON would have to escape.
        return `{"level":${level},"time":${timeMs},"service":"${service}","operation":"${operation}","status":${status},"ms":${Math.round(ms * 10) / 10},"requestId":"${requestId}","msg":"answered"}\n`
      })
    },
    mistake(error, where) {
      log.error({ ...where, err: error }, 'failed')
    },
    add: (text) => void texts.push(text),
    watch(name, help, read) {
      const gauge = new Gauge({
        name,
        help,
        labelNames: ['service', 'state'],
        registers: [registry],
        collect: () => read((labels, value) => gauge.set(labels, value)),
      })
    },
  }
}
