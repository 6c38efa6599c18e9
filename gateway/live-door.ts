// /graphql/live over HTTP: a query whose answer is sent again when what it read has changed, as
// server-sent events. It is asked as any query is, each time: the same door, the same caller.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getOperationAST, parse, type DocumentNode } from 'graphql'
import type { Caller } from '../resolvers/kernel/context.ts'
import { Fault, fault, Invalid, MethodNotAllowed } from '../resolvers/kernel/fault.ts'
import type { News } from '../resolvers/kernel/news.ts'
import type { Soon } from '../resolvers/kernel/soon.ts'
import { remoteOf } from '../subgraphs/server/remote.ts'
import type { Telemetry } from '../subgraphs/server/telemetry.ts'
import type { GatewayContext } from './callers.ts'
import { TOKENS_MAX } from './cost-measured.ts'
import type { Asked, Gateway } from './gateway.ts'
import {
  ANSWER_HEADERS,
  begin,
  BODY_MAX,
  FAILED,
  isJson,
  MEMBERS,
  refusal,
  tooLarge,
  type GraphRequest,
  type Reply,
} from './graph-door.ts'
import { LIVE_PATH, type LiveDoor } from './live.ts'
import type { LiveAnswer, Timing } from './live-stream.ts'
import { openStreams, type LiveLimits } from './live-streams.ts'

const MEDIA_TYPE = 'text/event-stream'

const NotAcceptable = fault('NotAcceptable', 406)

export interface LiveDoorOptions {
  readonly gateway: Pick<Gateway, 'answerWithStatus'>
  readonly contextOf: (request: GraphRequest) => Soon<GatewayContext>
  readonly news: News
  readonly limits: LiveLimits
  readonly telemetry: Telemetry
  readonly newId: () => string
  /** Where it is not to be as usual. */
  readonly timing?: Partial<Timing> | undefined
}

export function liveDoor(options: LiveDoorOptions): LiveDoor {
  const { gateway, contextOf, news, limits, telemetry, timing } = options
  const mistake = (error: unknown) =>
    telemetry.mistake(error, { service: 'gateway', at: LIVE_PATH })
  const streams = openStreams({ news, limits, timing, mistake })
  telemetry.watch('polygraph_live_streams', 'Live queries that are open.', async (set) =>
    set({}, streams.count),
  )

  /** Undefined once the stream has begun. */
  async function openStream(request: GraphRequest, response: ServerResponse) {
    const asked = askedIn(request)
    checkOperation(asked)
    const prove = async () => contextOf(request)
    const context = await prove()
    const stream = await streams.open(keyOf(context.caller, request.raw), {
      response,
      headers: { ...STREAM_HEADERS, 'x-request-id': request.id },
      prove,
      ask: (context) => answerOf(gateway, asked, context),
      lastNumber: numberOf(request.raw.headers['last-event-id']),
    })
    const refused = await stream.begin(context)
    return (
      refused && { status: refused.refused!, headers: ANSWER_HEADERS, text: `${refused.text}\n` }
    )
  }

  return {
    answer(raw, response) {
      const { id, answered } = begin(options, LIVE_PATH)
      const finish = (reply: Reply | undefined) => {
        if (reply && !response.headersSent) write(response, reply, { 'x-request-id': id })
        answered(reply?.status ?? 200)
      }
      raw.gather(BODY_MAX, (body) => {
        if (!body) return finish(tooLarge(BODY_MAX))
        openStream({ id, raw, body }, response).then(finish, (error: unknown) => {
          if (error instanceof Fault) return finish(refusalOf(error))
          mistake(error)
          finish(FAILED)
        })
      })
    },
    close: streams.close,
  }
}

const STREAM_HEADERS = {
  'content-type': `${MEDIA_TYPE}; charset=utf-8`,
  'cache-control': 'no-store',
  // A connection that carried a stream is not used again, so that a process that stops can close it.
  connection: 'close',
  // Some proxies would keep events until they have many.
  'x-accel-buffering': 'no',
}

function write(response: ServerResponse, reply: Reply, more: Record<string, string>): void {
  response.writeHead(reply.status, { ...reply.headers, ...more })
  response.end(reply.text)
}

const refusalOf = ({ status, code, message, headers }: Fault): Reply =>
  refusal(status, code, message, headers)

/** What the request asks, if it can be a live query at all. */
function askedIn({ raw, body }: GraphRequest): Asked {
  const { method, headers } = raw
  if (method !== 'POST' && method !== 'GET') {
    throw MethodNotAllowed('Ask by GET or POST.', { headers: { allow: 'GET, POST' } })
  }
  if (!headers.accept?.includes(MEDIA_TYPE)) {
    throw NotAcceptable(`The answer is a stream of events. Send the header Accept: ${MEDIA_TYPE}.`)
  }
  const sent = method === 'POST' ? bodyIn(headers, body) : searchIn(raw)
  for (const name in sent) {
    if (!MEMBERS.has(name)) {
      throw Invalid(
        `There is no ${name}: send query, variables and operationName; a token in the header Authorization.`,
      )
    }
  }
  const { query, variables = null, operationName = null } = sent
  if (typeof query !== 'string') throw Invalid('query must be the text of a query.')
  if (typeof variables !== 'object' || Array.isArray(variables)) {
    throw Invalid('variables must be an object.')
  }
  if (operationName !== null && typeof operationName !== 'string') {
    throw Invalid('operationName must be text.')
  }
  return { query, variables: variables as Asked['variables'], operationName }
}

function bodyIn(headers: IncomingMessage['headers'], body: Buffer): Record<string, unknown> {
  if (!isJson(headers)) throw Invalid('Send the query as JSON, with content-type application/json.')
  const sent = jsonIn(body.toString(), 'The body')
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    throw Invalid('The body must be an object with query, variables and operationName.')
  }
  return sent as Record<string, unknown>
}

function searchIn({ headers, url = '' }: IncomingMessage): Record<string, unknown> {
  // A page of another site can have a browser send this, though it cannot read what is answered.
  const { 'sec-fetch-site': from = 'none', authorization } = headers
  if (authorization === undefined && from !== 'same-origin' && from !== 'none') {
    throw Invalid('Pages of other sites ask by POST, with content-type application/json.')
  }
  const sent: Record<string, unknown> = Object.fromEntries(
    new URLSearchParams(url.slice(LIVE_PATH.length)),
  )
  if (typeof sent.variables === 'string') sent.variables = jsonIn(sent.variables, 'variables')
  return sent
}

function jsonIn(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw Invalid(`${what} is no JSON: ${(error as Error).message}.`)
  }
}

/** A query with a name. What is no operation at all is left to the graph, which says what is wrong. */
function checkOperation({ query, operationName }: Asked): void {
  let document: DocumentNode
  try {
    document = parse(query, { noLocation: true, maxTokens: TOKENS_MAX })
  } catch {
    return
  }
  const operation = getOperationAST(document, operationName)
  if (!operation) return
  if (operation.operation !== 'query') {
    throw Invalid(
      `A ${operation.operation} cannot be live: only queries are asked again. Send it to /graphql.`,
    )
  }
  if (!operation.name) throw Invalid('A live query needs a name: query Vaults { … }.')
}

/** Whose streams are counted together. Those who show nothing are told apart by their address. */
const keyOf = ({ kind, userId, credentialId }: Caller, raw: IncomingMessage): string =>
  kind === 'nobody' ? `nobody ${remoteOf(raw)}` : `${kind} ${userId || credentialId}`

/** Numbers go on where a client that comes again left off. */
function numberOf(lastEventId: string | string[] | undefined): number {
  const number = Number(lastEventId)
  return Number.isSafeInteger(number) && number > 0 ? number : 0
}

async function answerOf(
  gateway: Pick<Gateway, 'answerWithStatus'>,
  asked: Asked,
  context: GatewayContext,
): Promise<LiveAnswer> {
  const { answer, status } = await gateway.answerWithStatus(asked, context)
  const text = JSON.stringify(answer)
  const isExecuted = answer.data !== undefined
  return isExecuted ? { text } : { text, refused: status === 200 ? 400 : status }
}
