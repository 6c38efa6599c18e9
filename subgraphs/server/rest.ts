// The REST door: finds the operation, proves the caller, gathers what was sent, performs.
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { NOBODY, type Caller, type Context } from '../../resolvers/kernel/context.ts'
import {
  Fault,
  Internal,
  Invalid,
  MethodNotAllowed,
  NotFound,
  TooLarge,
} from '../../resolvers/kernel/fault.ts'
import {
  perform,
  Reply,
  reply as replyOf,
  type Operation,
} from '../../resolvers/kernel/operation.ts'
import { bodyOf } from '../../resolvers/kernel/row-cache.ts'
import { arnPaths } from './arn-paths.ts'
import { gather } from './body.ts'
import { operationsOf } from './graphql.ts'
import { openApi } from './openapi.ts'
import { remoteOf } from './remote.ts'
import type { Credentials, Dialect, ProofGround, Shown, Subgraph } from './subgraph.ts'
import type { Telemetry } from './telemetry.ts'

const BODY_MAX = 1024 * 1024
/** An ARN in a path is longer than the router's default allows. */
const PARAMETER_MAX = 2048
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const NO_BYTES = Buffer.alloc(0)

declare module 'http' {
  interface IncomingMessage {
    /** The URL as the client sent it, where a prefix was cut off before the service saw it. */
    originalUrl?: string
    /** Where the service is reached, without a final slash. */
    address?: string
  }
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: string
  }
}

export interface RestDoor {
  readonly subgraph: Subgraph
  readonly credentials: Credentials
  readonly now: () => Date
  readonly newId: () => string
  readonly telemetry: Telemetry
  /** For schemes that keep credentials in the service's own store. */
  readonly own: Omit<ProofGround, 'remote'>
  contextFor(caller: Caller, request: ContextRequest): Context
}

export interface ContextRequest {
  readonly address: string
  readonly remote?: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A server without a port: it is given requests, or asked by `inject`. */
export function restDoor(door: RestDoor): FastifyInstance {
  const { subgraph, telemetry, newId } = door
  const { dialect } = subgraph
  const paths = operationsOf(subgraph).flatMap(({ rest }) =>
    rest ? [subgraph.basePath + rest.path] : [],
  )
  const app = Fastify({
    bodyLimit: BODY_MAX,
    rewriteUrl: arnPaths(paths),
    routerOptions: { maxParamLength: PARAMETER_MAX, caseSensitive: !dialect.ignoreCase },
    genReqId: (request) => requestIdOf(request.headers['x-request-id']) ?? newId(),
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
  })
  // The body stays as it came: a signature covers its bytes, and it is read after the caller is proved.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  app.addHook('onResponse', (request, reply, done) => {
    telemetry.answered({
      service: subgraph.name,
      operation: request.routeOptions.config.operation ?? 'none',
      status: reply.statusCode,
      ms: reply.elapsedTime,
      requestId: request.id,
    })
    done()
  })
  app.setErrorHandler(refuse)
  app.setNotFoundHandler((request, reply) =>
    refuse(NotFound(`Nothing is served at ${pathOf(request)}.`), request, reply),
  )

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const fault = faultOf(error, request.routeOptions.bodyLimit)
    if (fault.status >= 500) telemetry.mistake(error, { service: subgraph.name, id: request.id })
    const { status, headers, body } = dialect.refuse(fault)
    identify(reply, request, subgraph)
    void reply.status(status).headers(fault.headers).headers(headers)
    return sendBody(reply, body)
  }

  let document: string | undefined
  app.get('/openapi.json', (_request, reply) => {
    document ??= JSON.stringify(openApi(subgraph))
    return reply.type('application/json; charset=utf-8').send(document)
  })
  addRoutes(app, door)
  return app
}

function addRoutes(app: FastifyInstance, door: RestDoor): void {
  const { basePath } = door.subgraph
  const operations = operationsOf(door.subgraph).filter(({ rest }) => rest)
  const urlOf = ({ rest }: Operation) => routerPath(basePath + rest!.path)
  const byPath = Map.groupBy(operations, (operation) => namelessPath(urlOf(operation)))
  for (const [path, served] of byPath) {
    const isServed = (method: string) => served.some(({ rest }) => rest!.method === method)
    const add = (spell: (url: string) => string) => {
      for (const operation of served) {
        app.route({
          url: spell(urlOf(operation)),
          method: operation.rest!.method,
          exposeHeadRoute: !isServed('HEAD'),
          bodyLimit: operation.rest!.bodyMax ?? BODY_MAX,
          config: { operation: operation.name },
          handler: (request, reply) => answer(door, operation, request, reply),
        })
      }
      const allowed = METHODS.filter(
        (method) => isServed(method) || (method === 'HEAD' && isServed('GET')),
      )
      app.route({
        url: spell(urlOf(served[0]!)),
        method: METHODS.filter((method) => !allowed.includes(method)),
        handler(request) {
          throw MethodNotAllowed(
            `${request.method} is not served at ${pathOf(request)}; ${allowed.join(', ')} is.`,
            { headers: { allow: allowed.join(', ') } },
          )
        },
      })
    }
    add((url) => url)
    // Clients differ about a final slash: the other form works too, where it means nothing else.
    const other = otherSlash(path)
    if (other !== '' && !path.endsWith('*') && !byPath.has(other)) add(otherSlash)
  }
}

const otherSlash = (url: string): string => (url.endsWith('/') ? url.slice(0, -1) : `${url}/`)

/** Two methods of one path may name what is in it differently. */
const namelessPath = (url: string): string => url.replace(/(?<!:):\w+/g, ':')

/** `{name}` takes one segment, or the part before a colon; `{name+}` takes the rest of the path. */
function routerPath(path: string): string {
  return path
    .replaceAll(':', '::')
    .replace(/\{(\w+)\}(?=::)/g, ':$1(^[^/:]+)')
    .replace(/\{\w+\+\}$/, '*')
    .replace(/\{(\w+)\}/g, ':$1')
}

async function answer(
  door: RestDoor,
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { subgraph } = door
  const query = queryOf(operation, request, subgraph.dialect)
  const body = (request.body as Buffer | undefined) ?? NO_BYTES
  const reached: ContextRequest = {
    address: addressOf(request),
    remote: remoteOf(request.raw),
    headers: request.headers as Record<string, string | undefined>,
  }
  const caller = await prove(door, operation, reached, {
    service: subgraph.name,
    method: request.method,
    url: request.raw.originalUrl ?? request.raw.url!,
    headers: request.headers,
    body,
    now: door.now(),
  })
  if (!operation.rest!.scheme) subgraph.dialect.admit?.(query, subgraph)
  const contentType = request.headers['content-type']
  const params = paramsOf(operation, request)
  const { headers } = request
  const sent = gather(operation, { params, query, headers, body, contentType })
  const ctx = door.contextFor(caller, reached)
  const performed = await perform(operation, sent, ctx)
  identify(reply, request, subgraph)
  return write(operation, performed, ctx, reply)
}

/** Where case does not matter, a name in the query is read as the operation spells it. */
function queryOf(
  { input }: Operation,
  request: FastifyRequest,
  { ignoreCase }: Dialect,
): Record<string, unknown> {
  const query = request.query as Record<string, unknown>
  if (!ignoreCase) return query
  const respelled: Record<string, unknown> = {}
  for (const [name, sent] of Object.entries(query)) {
    const plain = name.toLowerCase()
    const own = Object.hasOwn(input, name)
      ? name
      : Object.keys(input).find((own) => own.toLowerCase() === plain)
    respelled[own ?? name] = sent
  }
  return respelled
}

async function prove(
  { subgraph, credentials, own, contextFor }: RestDoor,
  { access, rest }: Operation,
  reached: ContextRequest,
  shown: Shown,
): Promise<Caller> {
  if (access === 'anyone') return NOBODY
  if (rest!.scheme) return rest!.scheme.prove(shown, contextFor(NOBODY, reached))
  return subgraph.scheme.prove(shown, credentials, { ...own, remote: reached.remote })
}

/** The router calls the rest of a path `*`; the operation has a name for it. */
function paramsOf({ rest }: Operation, request: FastifyRequest): Record<string, unknown> {
  const params = request.params as Record<string, unknown>
  if (!rest!.path.endsWith('+}')) return params
  const { '*': remainder, ...others } = params
  return { ...others, [/\{(\w+)\+\}$/.exec(rest!.path)![1]!]: remainder }
}

/** Puts the request id where the service's clients look for it, and where everyone can. */
function identify(reply: FastifyReply, { id }: FastifyRequest, { dialect }: Subgraph): void {
  void reply.header('x-request-id', id)
  if (dialect.requestIdHeader) void reply.header(dialect.requestIdHeader, id)
}

function write(
  { name, rest }: Operation,
  performed: unknown,
  ctx: Context,
  reply: FastifyReply,
): FastifyReply | Promise<FastifyReply> {
  const { status, result, headers } =
    performed instanceof Reply ? performed : replyOf(rest!.status[0]!, performed)
  // A status that nobody documented is our mistake, even when the body is right.
  if (!rest!.status.includes(status)) throw new Error(`${name} answered an undocumented ${status}`)
  void reply.status(status).headers(headers)
  if (result === null || result === undefined) return reply.send()
  const shown = rest!.show ? rest!.show(result, ctx) : result
  if (shown instanceof Promise) return shown.then((body) => sendBody(reply, body))
  return sendBody(reply, shown)
}

function sendBody(reply: FastifyReply, body: unknown): FastifyReply {
  if (body === null || body === undefined) return reply.send()
  if (body instanceof Uint8Array || (typeof body === 'string' && reply.hasHeader('content-type'))) {
    return reply.send(body)
  }
  if (!reply.hasHeader('content-type')) void reply.type('application/json; charset=utf-8')
  return reply.send((typeof body === 'object' && bodyOf(body)) || JSON.stringify(body))
}

function faultOf(error: unknown, bodyMax: number): Fault {
  if (error instanceof Fault) return error
  const { statusCode = 500, message = '' } = error as { statusCode?: number; message?: string }
  if (statusCode === 413) return TooLarge(`The body must not exceed ${bodyMax} bytes.`)
  // What else the framework refuses is malformed: a broken percent sign, a parameter too long.
  if (statusCode < 500) return Invalid(`${message}.`)
  return Internal('The service failed to answer.')
}

/** Where the client came to. */
export const addressOf = (request: FastifyRequest): string =>
  request.raw.address ?? `${request.protocol}://${request.host}`

const requestIdOf = (sent: unknown): string | undefined =>
  typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : undefined

const pathOf = (request: FastifyRequest): string => {
  const url = request.raw.originalUrl ?? request.raw.url ?? ''
  return url.split('?', 1)[0]!
}
