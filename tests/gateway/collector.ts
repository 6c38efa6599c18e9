// A server that keeps what it is sent, such as the spans of traces, and answers what it is told to.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Got {
  readonly path: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: any
}

export interface Span {
  readonly service: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, string | number>>
}

export async function openCollector(answer: object = {}) {
  const got: Got[] = []
  let tell = () => {}
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    got.push({ path: request.url!, headers: request.headers, body })
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
    tell()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The spans of a trace, once one of the name has come. */
    async spansOf(traceId: string, name: string): Promise<Span[]> {
      for (;;) {
        const spans = got.flatMap(({ body }) => body.resourceSpans.flatMap(spansIn))
        const own = spans.filter((span: Span) => span.traceId === traceId)
        if (own.some((span: Span) => span.name === name)) return own
        await new Promise<void>((resolve) => (tell = resolve))
      }
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

const spansIn = ({ resource, scopeSpans }: any): Span[] =>
  scopeSpans.flatMap(({ spans }: any) =>
    spans.map(({ name, traceId, spanId, parentSpanId, attributes }: any) => ({
      service: valuesOf(resource.attributes)['service.name'],
      name,
      traceId,
      spanId,
      parentSpanId,
      attributes: valuesOf(attributes),
    })),
  )

const valuesOf = (attributes: any[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
