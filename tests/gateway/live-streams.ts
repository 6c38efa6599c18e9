// Live queries as clients see them, and a small graph that is asked by them over HTTP.
import { once } from 'node:events'
import { createServer, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { callerOf } from '../../gateway/callers.ts'
import { WholeBody } from '../../gateway/whole-body.ts'
import { openFront } from '../../gateway/front.ts'
import { liveDoor, type LiveDoorOptions } from '../../gateway/live-door.ts'
import { newsInProcess } from '../../resolvers/kernel/news.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { subgraph as voice } from '../../subgraphs/voice.ts'
import { openGraphForTest } from '../open-graph.ts'
import { testCredentials, tokenOf, type Person } from '../people.ts'

/** Quick, since the tests wait for it. */
const TIMING = { gatherMs: 5, pauseMs: 0 }
const LIMITS = { streamsMax: 10, callerStreamsMax: 5 }

export interface LiveEvent {
  readonly id?: string
  readonly event: string
  readonly data: any
}

export interface Events {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The whole body, of an answer that is no stream. */
  json(): Promise<any>
  /** The next event; undefined at the end. A comment is an event without a name. */
  next(): Promise<LiveEvent | undefined>
  close(): void
}

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** Each on a connection of its own, which is closed with it. */
export async function openEvents(url: string, sent: Sent = {}): Promise<Events> {
  const { method = 'GET', headers = {}, body } = sent
  const asking = request(url, { method, headers, agent: false }).end(body)
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const parts = response.setEncoding('utf8')[Symbol.asyncIterator]()
  let text = ''
  return {
    status: response.statusCode!,
    headers: response.headers,
    async json() {
      for await (const part of parts) text += part
      return JSON.parse(text)
    },
    async next() {
      for (;;) {
        const end = text.indexOf('\n\n')
        if (end >= 0) {
          const event = text.slice(0, end)
          text = text.slice(end + 2)
          return eventOf(event)
        }
        const { value, done } = await parts.next()
        if (done) return undefined
        text += value
      }
    },
    close: () => response.destroy(),
  }
}

function eventOf(text: string): LiveEvent {
  const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s)))
  const { id, event = '', data } = fields
  return { ...(id !== undefined && { id }), event, data: data && JSON.parse(data) }
}

type Options = Partial<Pick<LiveDoorOptions, 'limits' | 'timing'>>

/** Identity, hsm and voice, joined and on a port. Credentials can be revoked. */
export async function openLiveGraph({ limits = LIMITS, timing = TIMING }: Options = {}) {
  const news = newsInProcess()
  const revoked = new Set<string>()
  const credentials = {
    ...testCredentials,
    byToken: async (service: string, token: string) =>
      revoked.has(token) ? undefined : testCredentials.byToken(service, token),
  }
  const graph = await openGraphForTest([hsm, voice], { news })
  const { gateway } = graph
  const contextOf = async ({ raw }: { raw: { headers: IncomingHttpHeaders } }) => ({
    caller: await callerOf(raw.headers, credentials),
    publicUrl: '',
    requestId: '',
    headers: {},
  })
  const telemetry = openTelemetry(pino({ level: 'silent' }))
  const own = { telemetry, contextOf, newId: () => 'one' }
  const front = await openFront<any>({
    ...own,
    services: ['identity', 'hsm', 'voice'].map((name) => graph.service(name).opened),
    isAlone: false,
    apollo: gateway.server,
    shortly: gateway.shortly,
    publicUrl: undefined,
    hasPage: false,
    live: liveDoor({ ...own, gateway, news, limits, timing }),
  })
  await front.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    if (front.server.listening) await front.close()
  })
  const url = `http://127.0.0.1:${(front.server.address() as AddressInfo).port}`
  const bearer = (person: Person | null): Record<string, string> =>
    person ? { authorization: `Bearer ${tokenOf(person)}` } : {}

  return {
    ...graph,
    url,
    front,
    news,
    telemetry,
    revoke: (person: Person) => void revoked.add(tokenOf(person)),
    fetches: (service: string) => gateway.figures.fetchesOf(service).ok.count,
    live: (query: string, person: Person | null = 'alice', more: object = {}) =>
      openEvents(`${url}/graphql/live`, {
        method: 'POST',
        headers: {
          accept: 'text/event-stream',
          'content-type': 'application/json',
          ...bearer(person),
        },
        body: JSON.stringify({ query, ...more }),
      }),
    get: (search: Record<string, string>, headers: Record<string, string> = {}) =>
      openEvents(`${url}/graphql/live?${new URLSearchParams(search)}`, {
        headers: { accept: 'text/event-stream', ...headers },
      }),
    /** Changes something at a REST door. */
    async rest(line: string, body?: object, person: Person = 'alice') {
      const [method = '', path = ''] = line.split(' ')
      const { status } = await fetch(`${url}${path}`, {
        method,
        headers: { 'content-type': 'application/json', ...bearer(person) },
        ...(body && { body: JSON.stringify(body) }),
      })
      return status
    },
  }
}

/** A door over a graph that answers whatever is given, to tell how it treats its clients. */
export async function openLiveDoor(
  answer: () => object,
  timing: LiveDoorOptions['timing'],
  service: string,
) {
  const news = newsInProcess()
  const door = liveDoor({
    gateway: {
      async answerWithStatus(_asked, { reads }) {
        reads?.add(service, {}, {})
        return { answer: { data: answer() as Record<string, unknown> }, status: 200 }
      },
    },
    contextOf: async ({ raw }) => ({
      caller: await callerOf(raw.headers, testCredentials),
      publicUrl: '',
      requestId: '',
      headers: {},
    }),
    news,
    limits: LIMITS,
    timing,
    telemetry: openTelemetry(pino({ level: 'silent' })),
    newId: () => 'one',
  })
  const server = createServer({ IncomingMessage: WholeBody }, door.answer).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => {
    door.close()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { news, server, url: `http://127.0.0.1:${port}/graphql/live?query=query+Any{any}` }
}
