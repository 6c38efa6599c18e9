// Opens one service for a test: a store of its own, a clock that the test moves, no port.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import aws4 from 'aws4'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { stillClock, type VirtualClock } from '../resolvers/kernel/clock.ts'
import { NOBODY, type Caller, type Context } from '../resolvers/kernel/context.ts'
import { noGraph, type GraphPort } from '../resolvers/kernel/graph.ts'
import type { News } from '../resolvers/kernel/news.ts'
import { closedOutbound, type Outbound } from '../resolvers/kernel/outbound.ts'
import { openSecrets } from '../resolvers/kernel/secrets.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import type { Store } from '../resolvers/kernel/store.ts'
import { advanceTo } from '../resolvers/kernel/work.ts'
import { apolloDoor } from '../subgraphs/server/apollo.ts'
import { kindsOf, migrationsOf, open } from '../subgraphs/server/open.ts'
import { openApi } from '../subgraphs/server/openapi.ts'
import type { Credentials, Subgraph } from '../subgraphs/server/subgraph.ts'
import { openTelemetry } from '../subgraphs/server/telemetry.ts'
import { answerChecker } from './answers.ts'
import {
  keyOf,
  passwordOf,
  people,
  signingKeyOf,
  testCredentials,
  tokenOf,
  type Person,
} from './people.ts'

export const START = '2030-01-01T00:00:00.000Z'
export const HOST = 'polygraph.test'
const REGION = 'us-east-1'

export interface OpenOptions {
  readonly store?: Store
  /** Wraps the store, to count what is read. */
  readonly wrap?: (store: Store) => Store
  readonly outbound?: Outbound
  readonly credentials?: Credentials
  readonly graph?: GraphPort
  /** A clock that several services share, and how it is moved for all of them. */
  readonly clock?: VirtualClock
  readonly advance?: Context['advance']
  readonly news?: News
}

export interface SendOptions {
  readonly headers?: Record<string, string>
  /** Who asks: alice unless said; null shows no credential. */
  readonly credential?: Person | null
}

export type TestService = Awaited<ReturnType<typeof openForTest>>

/** The service closes itself when the test ends. */
export async function openForTest(subgraph: Subgraph, options: OpenOptions = {}) {
  const store = options.store ?? (await openTestStore(subgraph))
  const clock = options.clock ?? stillClock(START)
  const mistakes: unknown[] = []
  const telemetry = openTelemetry(pino({ level: 'silent' }))
  const opened = await open(subgraph, {
    store: options.wrap?.(store) ?? store,
    clock,
    wallClock: clock,
    credentials: options.credentials ?? testCredentials,
    telemetry: { ...telemetry, mistake: (error) => mistakes.push(error) },
    outbound: options.outbound ?? closedOutbound,
    graph: options.graph ?? noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
    advance,
    ...(options.news && { news: options.news }),
  })
  let apollo: ReturnType<typeof apolloDoor> | undefined
  const checkAnswer = checkerOf(subgraph)
  onTestFinished(async () => {
    await (await apollo)?.stop()
    await opened.close()
  })

  async function advance(byMs: number) {
    if (options.advance) return options.advance(byMs)
    const target = new Date(clock.now().getTime() + byMs)
    const stepsRun = await advanceTo(target, clock, [opened.work])
    return { now: clock.now(), stepsRun }
  }

  /** `rest('PUT /things/a', { size: 1 })`: the body may also be text or bytes, sent as they are. */
  async function rest(request: string, body?: unknown, options: SendOptions = {}) {
    const [method, url] = request.split(/ (.*)/, 2) as [string, string]
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
        ? body
        : JSON.stringify(body)
    const headers: Record<string, string> = {
      host: HOST,
      ...(payload !== undefined && { 'content-type': 'application/json' }),
      ...options.headers,
    }
    const { credential = 'alice' } = options
    if (credential) Object.assign(headers, prove({ method, url, headers, payload, credential }))
    const answer = await opened.rest.inject({
      method: method as 'GET',
      url,
      headers,
      ...(payload !== undefined && { payload }),
    })
    const isJson = answer.headers['content-type']?.toString().includes('json')
    const text = answer.payload
    const shown = isJson ? JSON.parse(text) : text === '' ? undefined : answer.rawPayload
    checkAnswer({ method, path: url.split('?')[0]!, status: answer.statusCode, body: shown })
    return {
      status: answer.statusCode,
      headers: answer.headers as Record<string, string | undefined>,
      body: shown,
    }
  }

  function prove({ method, url, headers, payload, credential }: any): Record<string, string> {
    const { scheme } = subgraph
    const person = credential as Person
    switch (scheme.kind) {
      case 'api-key':
        return { [scheme.header]: keyOf(person) }
      case 'bearer':
        return { authorization: `Bearer ${tokenOf(person)}` }
      case 'basic': {
        const shown = Buffer.from(`${person}:${passwordOf(person)}`).toString('base64')
        return { authorization: `Basic ${shown}` }
      }
      case 'sigv4': {
        const date = clock
          .now()
          .toISOString()
          .replace(/[-:]|\.\d+/g, '')
        const request = {
          method,
          host: HOST,
          path: url,
          service: scheme.signingName ?? subgraph.name,
          region: REGION,
          headers: { ...headers, 'X-Amz-Date': date },
          ...(payload !== undefined && { body: payload }),
        }
        const signed = aws4.sign(request, signingKeyOf(person)).headers as Record<string, string>
        return Object.fromEntries(
          Object.entries(signed).map(([name, value]) => [name.toLowerCase(), String(value)]),
        )
      }
    }
  }

  async function graphql(
    query: string,
    variables: Record<string, any> = {},
    { credential = 'alice', headers = {} }: SendOptions = {},
  ): Promise<{ data: any; errors?: any[] }> {
    return graphqlAs(credential ? people[credential] : NOBODY, query, variables, headers)
  }

  async function graphqlAs(
    caller: Caller,
    query: string,
    variables: Record<string, any> = {},
    headers: Record<string, string> = {},
  ): Promise<{ data: any; errors?: any[] }> {
    const contextValue = opened.contextFor(caller, { address: `http://${HOST}`, headers })
    apollo ??= apolloDoor(opened, { introspection: true })
    const answer = await (await apollo).executeOperation({ query, variables }, { contextValue })
    // As a client receives it: plain JSON.
    return JSON.parse(JSON.stringify((answer.body as any).singleResult))
  }

  return {
    rest,
    graphql,
    graphqlAs,
    advance,
    store,
    clock,
    opened,
    /** What was logged as a mistake of ours. */
    mistakes,
    /** Serves on a free port of this machine, for clients that insist on one. */
    listen: () => opened.rest.listen({ host: '127.0.0.1', port: 0 }),
  }
}

const checkers = new Map<Subgraph, ReturnType<typeof answerChecker>>()

/** Made once for all tests of a file, since compiling what is described takes time. */
function checkerOf(subgraph: Subgraph): ReturnType<typeof answerChecker> {
  let checker = checkers.get(subgraph)
  if (!checker) checkers.set(subgraph, (checker = answerChecker(openApi(subgraph) as any)))
  return checker
}

async function openTestStore(subgraph: Subgraph): Promise<Store> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return openSqlite({
    file: join(folder, `${subgraph.name}.db`),
    kinds: kindsOf(subgraph),
    migrations: migrationsOf(subgraph),
    synchronous: 'OFF',
  })
}
