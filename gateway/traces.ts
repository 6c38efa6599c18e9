// Traces for OpenTelemetry: a span for each request to the graph, and below it one for each fetch.
//
// A span says which subgraph was asked and how it went; never what was asked, nor by whom. Loaded only
// where traces are wanted.
import {
  isSpanContextValid,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Logger } from 'pino'
import type { FetchOutcome } from './graph-figures.ts'

const TIME_MS = 5_000
/** How long spans are gathered, so that many are sent at once. */
const GATHERED_MS = 1_000

/** A request, as those see it who act within it. */
export interface Trace {
  /** Begins a fetch. */
  fetch(subgraph: string, representations: number): FetchSpan
  end(status: number): void
}

export interface FetchSpan {
  /** The header by which who is asked continues the trace. */
  readonly traceparent: string
  end(outcome: FetchOutcome): void
}

export interface Traces {
  /** Begins a request, as part of the trace that it came with. */
  begin(request: TracedRequest): Trace
  /** Sends what was gathered. */
  close(): Promise<void>
}

interface TracedRequest {
  readonly method: string
  readonly route: string
  readonly requestId: string
  readonly traceparent: string | undefined
}

interface TracesOptions {
  readonly url: string
  /** What this process is called. */
  readonly service: string
  readonly log: Logger
}

export function openTraces({ url, service, log }: TracesOptions): Traces {
  const attributes = { 'service.name': service }
  const provider = new TracerProvider({
    resource: {
      attributes,
      getRawAttributes: () => Object.entries(attributes),
      merge() {
        return this
      },
    },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingExporter(url, log),
        scheduledDelayMillis: GATHERED_MS,
      }),
    ],
  })
  const tracer = provider.getTracer('polygraph')

  return {
    begin({ method, route, requestId, traceparent }) {
      const span = tracer.startSpan(
        `${method} ${route}`,
        {
          kind: SpanKind.SERVER,
          attributes: {
            'http.request.method': method,
            'http.route': route,
            'polygraph.request_id': requestId,
          },
        },
        contextFrom(traceparent),
      )
      const own = trace.setSpan(ROOT_CONTEXT, span)
      return {
        fetch(subgraph, representations) {
          const attributes = {
            'polygraph.subgraph': subgraph,
            'polygraph.representations': representations,
          }
          const options = { kind: SpanKind.CLIENT, attributes }
          return fetchSpan(tracer.startSpan(`fetch ${subgraph}`, options, own))
        },
        end(status) {
          span.setAttribute('http.response.status_code', status)
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          span.end()
        },
      }
    },
    close: () => provider.shutdown(),
  }
}

const fetchSpan = (span: Span): FetchSpan => ({
  traceparent: traceparentOf(span),
  end(outcome) {
    span.setAttribute('polygraph.outcome', outcome)
    if (outcome !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR })
    span.end()
  },
})

/** Says in the log when nobody takes the spans, which are then lost. */
function tellingExporter(url: string, log: Logger) {
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: TIME_MS })
  return {
    export: (...[spans, done]: Parameters<OTLPTraceExporter['export']>) =>
      exporter.export(spans, (result) => {
        if (result.error) log.warn({ err: result.error, url }, 'traces are not taken')
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?=$|-)/

/** A trace that is worded wrongly is none, and a new one begins. */
function contextFrom(traceparent = ''): Context {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent) ?? []
  const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-0${traceFlags}`
}
