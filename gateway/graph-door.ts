// /graphql over HTTP: the short way for queries that came before, the server for all others.
//
// It stands on Node's own server, since a framework's would take longer than most queries.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HeaderMap, type ApolloServer, type BaseContext } from '@apollo/server'
import { GraphQLError } from 'graphql'
import { Fault } from '../resolvers/kernel/fault.ts'
import { goOn, type Soon } from '../resolvers/kernel/soon.ts'
import type { Telemetry } from '../subgraphs/server/telemetry.ts'
import { PLAN_HEADER, type GatewayContext } from './callers.ts'
import { COST_HEADER } from './cost.ts'
import type { Asked, Gateway } from './gateway.ts'
import { graphiqlPage, wantsPage } from './graphiql.ts'
import type { Trace, Traces } from './traces.ts'
import type { WholeBody } from './whole-body.ts'

export const BODY_MAX = 1024 * 1024
const PATH = '/graphql'

/** A request to the graph, as whoever proves its caller is told of it. */
export interface GraphRequest {
  readonly id: string
  readonly raw: IncomingMessage
  /** As it came: a signature covers the bytes. */
  readonly body: Buffer
  /** What it says, if it is JSON. */
  readonly json?: unknown
  /** Where traces are wanted. */
  readonly trace?: Trace | undefined
}

export interface GraphDoor<C extends BaseContext> {
  readonly apollo: ApolloServer<C>
  /** The short way for queries that came before; see gateway.ts. */
  readonly shortly?: Gateway['shortly'] | undefined
  readonly contextOf: (request: GraphRequest) => Soon<C>
  readonly telemetry: Telemetry
  readonly traces?: Traces | undefined
  /** A service alone does not answer what is asked of several. */
  readonly isAlone: boolean
  readonly hasPage: boolean
  readonly newId: () => string
}

export type Headers = Readonly<Record<string, string>>
export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string | AsyncIterable<string>
}

export function graphDoor<C extends BaseContext>(door: GraphDoor<C>) {
  const { telemetry, traces } = door
  const { headers, body } = graphiqlPage({ hasExamples: !door.isAlone })
  const page = { status: 200, headers, text: body }
  return (raw: WholeBody, response: ServerResponse): void => {
    const { id, answered } = begin(door, PATH)
    const trace = traces?.begin({
      method: raw.method!,
      route: PATH,
      requestId: id,
      traceparent: raw.headers.traceparent as string | undefined,
    })
    const finish = ({ status, headers, text }: Reply) => {
      if (typeof text === 'string') {
        // With its length known, an answer goes out in one piece.
        const length = Buffer.byteLength(text)
        response.writeHead(status, { ...headers, 'x-request-id': id, 'content-length': length })
        // What has a byte for each character is the same in both, and copied faster so.
        response.end(text, length === text.length ? 'latin1' : 'utf8')
      } else {
        response.writeHead(status, { ...headers, 'x-request-id': id })
        void writeParts(text, response)
      }
      answered(status)
      trace?.end(status)
    }
    const fail = (error: unknown) => {
      telemetry.mistake(error, { service: 'gateway', id })
      finish(FAILED)
    }
    if (door.hasPage && raw.method === 'GET' && wantsPage(raw.headers.accept)) {
      return finish(page)
    }
    raw.gather(BODY_MAX, (body) => {
      if (!body) return finish(tooLarge(BODY_MAX))
      let reply: Soon<Reply>
      try {
        reply = answer(door, { id, raw, body, trace })
      } catch (error) {
        return fail(error)
      }
      if (reply instanceof Promise) reply.then(finish, fail)
      else finish(reply)
    })
  }
}

/** Names a request of the gateway's own, and tells of it when it was answered. */
export function begin(
  { telemetry, newId }: Pick<GraphDoor<any>, 'telemetry' | 'newId'>,
  operation: string,
) {
  const startedMs = performance.now()
  const requestId = newId()
  return {
    id: requestId,
    answered(status: number): void {
      const ms = performance.now() - startedMs
      telemetry.answered({ service: 'gateway', operation, status, ms, requestId })
    },
  }
}

function answer<C extends BaseContext>(
  door: GraphDoor<C>,
  { id, raw, body, trace }: GraphRequest,
): Soon<Reply> {
  let json: unknown
  if (isJson(raw.headers) && body.length > 0) {
    try {
      json = JSON.parse(body.toString())
    } catch (error) {
      return refusal(400, 'BAD_REQUEST', `The body is no JSON: ${(error as Error).message}.`)
    }
  }
  const request = { id, raw, body, json, trace }
  const { shortly } = door
  const asked = shortly && plainlyAsked(raw, json)
  if (!asked) return answerAtLength(door, request)
  return goOn(proved(door, request), (context) => {
    if (!context) return answerAtLength(door, request)
    return goOn(shortly(asked, context), (outcome) =>
      outcome?.data
        ? dataReply(outcome.data)
        : answerAtLength(door, request, outcome?.context as C | undefined),
    )
  })
}

/** Undefined where the caller is refused, which the server words. */
function proved(
  { contextOf }: Pick<GraphDoor<any>, 'contextOf'>,
  request: GraphRequest,
): Soon<GatewayContext | undefined> {
  try {
    const context = contextOf(request)
    return context instanceof Promise ? context.catch(() => undefined) : context
  } catch {
    return undefined
  }
}

async function answerAtLength<C extends BaseContext>(
  { apollo, contextOf }: GraphDoor<C>,
  request: GraphRequest,
  context?: C,
): Promise<Reply> {
  const { raw, json } = request
  const { method = '', headers, url = '' } = raw
  const sent = new HeaderMap()
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) sent.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  const search = url.includes('?') ? url.slice(url.indexOf('?')) : ''
  const answered = await apollo.executeHTTPGraphQLRequest({
    httpGraphQLRequest: { method, headers: sent, search, body: json },
    context: async () => context ?? wordFaults(() => contextOf(request)),
  })
  const { status = 200, headers: shown, body: written } = answered
  return {
    status,
    headers: Object.fromEntries(shown),
    text: written.kind === 'complete' ? written.string : written.asyncIterator,
  }
}

async function writeParts(parts: AsyncIterable<string>, response: ServerResponse): Promise<void> {
  for await (const part of parts) response.write(part)
  response.end()
}

const dataReply = (data: object): Reply => ({
  status: 200,
  headers: ANSWER_HEADERS,
  text: `${JSON.stringify({ data })}\n`,
})

/** As the server writes it. */
export const ANSWER_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
}

export const refusal = (
  status: number,
  code: string,
  message: string,
  headers: Headers = {},
): Reply => ({
  status,
  headers: { ...ANSWER_HEADERS, ...headers },
  text: `${JSON.stringify({ errors: [{ message, extensions: { code } }] })}\n`,
})

// What is left of a body that is too large is not read, so the connection cannot be used again.
export const tooLarge = (bytesMax: number): Reply =>
  refusal(
    413,
    'BODY_TOO_LARGE',
    `A request may have at most ${bytesMax} bytes. Send less at once.`,
    { connection: 'close' },
  )
export const FAILED = refusal(500, 'INTERNAL_SERVER_ERROR', 'The gateway failed to answer.')

/** What a request to the graph may say. */
export const MEMBERS = new Set(['query', 'variables', 'operationName'])
export const isJson = ({ 'content-type': type }: IncomingMessage['headers']) =>
  type?.startsWith('application/json') === true

/** A query in the body of a request that asks for nothing else, such as another media type. */
function plainlyAsked({ method, headers }: IncomingMessage, body: unknown): Asked | undefined {
  if (method !== 'POST' || typeof body !== 'object' || body === null || Array.isArray(body))
    return undefined
  if (PLAN_HEADER in headers || COST_HEADER in headers) return undefined
  const { accept = '*/*' } = headers
  if (!/^(application\/json|\*\/\*)(?=$|[,;])/.test(accept)) return undefined
  for (const member in body) if (!MEMBERS.has(member)) return undefined
  const { query, variables = null, operationName = null } = body as Record<string, unknown>
  const isPlain =
    typeof query === 'string' &&
    (operationName === null || typeof operationName === 'string') &&
    (variables === null || (typeof variables === 'object' && !Array.isArray(variables)))
  return isPlain ? ({ query, variables, operationName } as Asked) : undefined
}

/** A refusal to prove the caller, with the status that HTTP has for it. */
async function wordFaults<C>(prove: () => Soon<C>): Promise<C> {
  try {
    return await prove()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const http = { status: error.status, headers: new Map(Object.entries(error.headers)) }
    throw new GraphQLError(error.message, { extensions: { code: error.code, http } })
  }
}
