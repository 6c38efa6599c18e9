// What is seen of the gateway from outside: the plan of a query, figures, and traces.
import type { AddressInfo } from 'node:net'
import { execute, parse } from 'graphql'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import type { GatewayContext } from '../../gateway/callers.ts'
import { openFront } from '../../gateway/front.ts'
import { openGateway } from '../../gateway/gateway.ts'
import { graphFigures } from '../../gateway/graph-figures.ts'
import { overHttp } from '../../gateway/over-http.ts'
import { openTraces } from '../../gateway/traces.ts'
import { watched } from '../../gateway/watched-source.ts'
import { wallClock } from '../../resolvers/kernel/clock.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import { openCollector } from './collector.ts'
import { schemas, supergraph } from './library.ts'

const log = pino({ level: 'silent' })
const BOOKS = '{ books(first: 5) { title stars } }'
const SHOW = { 'polygraph-plan': 'show' }
const ADMINISTRATOR = { authorization: 'administrator' }

interface Making {
  readonly isIntrospectable?: boolean
  /** The subgraph that does not answer. */
  readonly away?: string
}

/** A gateway over the library on a port of its own. Its fetches are answered in process. */
async function openLibrary({ isIntrospectable = false, away }: Making = {}) {
  const ran: string[] = []
  const gateway = await openGateway({
    isIntrospectable,
    supergraph,
    sourceOf: (name) => ({
      prepare: (query) => (variableValues) => {
        ran.push(name)
        if (name === away) throw new Error('away')
        return execute({ schema: schemas[name]!, document: parse(query), variableValues }) as any
      },
    }),
  })
  const telemetry = openTelemetry(log)
  telemetry.add(gateway.figures.text)
  let ids = 0
  const front = await openFront<GatewayContext>({
    services: [],
    isAlone: false,
    apollo: gateway.server,
    shortly: gateway.shortly,
    contextOf: async ({ raw, id }) => ({
      caller: raw.headers.authorization ? serviceCaller('test') : NOBODY,
      publicUrl: '',
      requestId: id,
      headers: {},
    }),
    telemetry,
    publicUrl: undefined,
    hasPage: false,
    newId: () => `r${(ids += 1)}`,
  })
  await front.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await front.close()
    await gateway.server.stop()
  })
  const url = `http://127.0.0.1:${(front.server.address() as AddressInfo).port}`

  return {
    ran,
    async send(query: string, headers: Record<string, string> = {}) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query }),
      })
      return { status: response.status, ...((await response.json()) as any) }
    },
    async figures(): Promise<Record<string, number>> {
      const text = await (await fetch(`${url}/metrics`)).text()
      const lines = [...text.matchAll(/^polygraph_((?:graph|fetch)\w+\{.*\}) (\S+)$/gm)]
      return Object.fromEntries(lines.map(([, name, value]) => [name, Number(value)]))
    },
  }
}

test('an administrator sees the plan of a query, and what each fetch of it took', async () => {
  const { send } = await openLibrary()

  const first = await send(BOOKS)
  const again = await send(BOOKS)
  const shown = await send(BOOKS, { ...SHOW, ...ADMINISTRATOR })

  expect([first, again].map(Object.keys)).toEqual([
    ['status', 'data'],
    ['status', 'data'],
  ])
  expect(shown.data).toEqual(first.data)
  const { text, fetches } = shown.extensions.plan
  expect(text).toMatch(/^QueryPlan \{\n {2}Sequence \{\n {4}Fetch\(service: "books"\)/)
  expect(fetches).toEqual([
    { service: 'books', outcome: 'ok', ms: expect.any(Number), representations: 0 },
    { service: 'ratings', outcome: 'ok', ms: expect.any(Number), representations: 5 },
  ])
})

test('a plan is shown beside errors too, with the fetch that had them', async () => {
  const { send } = await openLibrary({ isIntrospectable: true, away: 'ratings' })

  const failed = await send(BOOKS, SHOW)
  const refused = await send('{ book(id: "1") { torn } }', SHOW)
  const wrong = await send('{ nothing }', SHOW)

  expect(failed.extensions.plan.fetches).toMatchObject([
    { service: 'books', outcome: 'ok' },
    { service: 'ratings', outcome: 'failed' },
  ])
  expect(refused.extensions.plan.fetches).toMatchObject([{ service: 'books', outcome: 'error' }])
  // What is no query has no plan.
  expect(wrong).not.toHaveProperty('extensions')
})

test('a plan is shown to anyone where anyone may read the schema', async () => {
  const { send } = await openLibrary({ isIntrospectable: true })

  const shown = await send(BOOKS, SHOW)
  const schema = await send('{ __schema { queryType { name } } }', SHOW)

  expect(shown.extensions.plan.fetches).toHaveLength(2)
  expect(schema.extensions.plan).toEqual({ text: 'QueryPlan {}', fetches: [] })
})

test.each([
  [
    'to whom it is not shown',
    SHOW,
    { status: 403, code: 'FORBIDDEN' },
    'polygraph-plan is for administrators. Leave it out.',
  ],
  [
    'by another word',
    { 'polygraph-plan': 'yes', ...ADMINISTRATOR },
    { status: 400, code: 'BAD_REQUEST' },
    'polygraph-plan must be show.',
  ],
])('who asks for a plan %s is refused, and nothing runs', async (_, headers, refusal, message) => {
  const { send, ran } = await openLibrary()
  await send(BOOKS)
  ran.length = 0

  const answer = await send(BOOKS, headers)

  expect(answer).toEqual({
    status: refusal.status,
    errors: [{ message, extensions: { code: refusal.code } }],
  })
  expect(ran).toEqual([])
})

test('fetches, plans and ways are counted', async () => {
  const { send, figures } = await openLibrary({ away: 'people' })

  for (const _ of [1, 2, 3]) await send(BOOKS)
  await send('{ book(id: "1") { torn } }')
  await send('{ people { name } }')
  await send('{ nothing }')
  const counted = await figures()

  expect(counted).toMatchObject({
    'graph_queries_total{way="short"}': 2,
    'graph_queries_total{way="long"}': 4,
    'graph_plans_total{plan="ready"}': 2,
    'graph_plans_total{plan="made"}': 3,
    'graph_plans_total{plan="uncompiled"}': 0,
    'fetches_total{subgraph="books",outcome="ok"}': 3,
    'fetches_total{subgraph="books",outcome="error"}': 1,
    'fetches_total{subgraph="ratings",outcome="ok"}': 3,
    'fetches_total{subgraph="people",outcome="failed"}': 1,
    'fetch_seconds_count{subgraph="ratings",outcome="ok"}': 3,
    'fetch_seconds_bucket{le="+Inf",subgraph="ratings",outcome="ok"}': 3,
  })
  expect(counted['fetch_seconds_sum{subgraph="ratings",outcome="ok"}']).toBeGreaterThan(0)
})

test('a trace goes on in a subgraph elsewhere, below the fetch that asked it', async () => {
  const [collector, subgraph] = [
    await openCollector(),
    await openCollector({ index: 0, answer: { data: { all: [] } } }),
  ]
  const { begin, close } = openTraces({ url: collector.url, service: 'gateway', log })
  const notes = openNotes(Buffer.alloc(32, 1), wallClock)
  const source = overHttp({ name: 'books', urls: [subgraph.url], notes })
  const ask = watched('books', source, graphFigures()).prepare('{ all { id } }', undefined)
  // What is worded wrongly is no trace, so that a new one begins.
  const trace = begin({
    method: 'POST',
    route: '/graphql',
    requestId: 'r',
    traceparent: '00-1-2-3',
  })

  const context = { caller: NOBODY, publicUrl: '', requestId: 'r', headers: {}, trace }
  const answer = await ask({}, context)
  trace.end(200)
  await close()
  await Promise.all([collector.close(), subgraph.close()])

  const [{ traceparent }] = subgraph.got[0]!.body
  const [, traceId, spanId] = /^00-([\da-f]{32})-([\da-f]{16})-01$/.exec(traceparent)!
  const spans = await collector.spansOf(traceId!, 'POST /graphql')
  const request = spans.find(({ name }) => name === 'POST /graphql')!
  expect(answer).toEqual({ data: { all: [] } })
  expect(request.parentSpanId).toBeUndefined()
  expect(spans.find(({ name }) => name === 'fetch books')).toMatchObject({
    spanId,
    parentSpanId: request.spanId,
    attributes: { 'polygraph.subgraph': 'books', 'polygraph.outcome': 'ok' },
  })
})
