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
import { gather } from './body.ts'
import { operationsOf } from './graphql.ts'
import { openApi } from './openapi.ts'
import type { Credentials, Subgraph } from './subgraph.ts'
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
  contextFor(caller: Caller, request: ContextRequest): Context
}

export interface ContextRequest {
  readonly address: string
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** A server without a port: it is given requests, or asked by `inject`. */
export function restDoor(door: RestDoor): FastifyInstance {
  const { subgraph, telemetry, newId } = door
  const { dialect } = subgraph
  const app = Fastify({
    bodyLimit: BODY_MAX,
    routerOptions: { maxParamLength: PARAMETER_MAX, caseSensitive: !dialect.ignoreCase },
    genReqId: (request) => requestIdOf(request.headers['x-request-id']) ?? newId(),
    frameworkErrors: (error, request, reply) => void refuse(error, request, reply),
  })
  // The body stays as it came: a signature covers its bytes, and it is read after the caller is proved.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  const idHeaders = (id: string) => ({
    'x-request-id': id,
    ...(dialect.requestIdHeader && { [dialect.requestIdHeader]: id }),
  })
  app.addHook('onRequest', (request, reply, done) => {
    void reply.headers(idHeaders(request.id))
    done()
  })
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
    const fault = faultOf(error)
    if (fault.status >= 500) telemetry.mistake(error, { service: subgraph.name, id: request.id })
    const { status, headers, body } = dialect.refuse(fault)
    // What the framework refuses by itself comes here without having passed a hook.
    void reply.status(status).headers({ ...idHeaders(request.id), ...fault.headers, ...headers })
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
  const byPath = Map.groupBy(operations, ({ rest }) => routerPath(basePath + rest!.path))
  for (const [url, served] of byPath) {
    const isServed = (method: string) => served.some(({ rest }) => rest!.method === method)
    const add = (url: string) => {
      for (const operation of served) {
        app.route({
          url,
          method: operation.rest!.method,
          exposeHeadRoute: !isServed('HEAD'),
          config: { operation: operation.name },
          handler: (request, reply) => answer(door, operation, request, reply),
        })
      }
      const allowed = METHODS.filter(
        (method) => isServed(method) || (method === 'HEAD' && isServed('GET')),
      )
      app.route({
        url,
        method: METHODS.filter((method) => !allowed.includes(method)),
        handler(request) {
          throw MethodNotAllowed(
            `${request.method} is not served at ${pathOf(request)}; ${allowed.join(', ')} is.`,
            { headers: { allow: allowed.join(', ') } },
          )
        },
      })
    }
    add(url)
    // Clients differ about a final slash: the other form works too, where it means nothing else.
    const other = url.endsWith('/') ? url.slice(0, -1) : `${url}/`
    if (other !== '' && !url.endsWith('*') && !byPath.has(other)) add(other)
  }
}

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
  const query = request.query as Record<string, unknown>
  const body = (request.body as Buffer | undefined) ?? NO_BYTES
  const caller =
    operation.access === 'anyone'
      ? NOBODY
      : await subgraph.scheme.prove(
          {
            service: subgraph.name,
            method: request.method,
            url: request.raw.originalUrl ?? request.raw.url!,
            headers: request.headers,
            body,
            now: door.now(),
          },
          door.credentials,
        )
  subgraph.dialect.admit?.(query, subgraph)
  const contentType = request.headers['content-type']
  const sent = gather(operation, { params: paramsOf(operation, request), query, body, contentType })
  const ctx = door.contextFor(caller, {
    address: request.raw.address ?? `${request.protocol}://${request.host}`,
    headers: request.headers as Record<string, string | undefined>,
  })
  const performed = await perform(operation, sent, ctx)
  return write(operation, performed, ctx, reply)
}

/** The router calls the rest of a path `*`; the operation has a name for it. */
function paramsOf({ rest }: Operation, request: FastifyRequest): Record<string, unknown> {
  const { '*': remainder, ...params } = request.params as Record<string, unknown>
  const name = /\{(\w+)\+\}$/.exec(rest!.path)?.[1]
  return name ? { ...params, [name]: remainder } : params
}

function write(
  { name, rest }: Operation,
  performed: unknown,
  ctx: Context,
  reply: FastifyReply,
): FastifyReply {
  const { status, result, headers } =
    performed instanceof Reply ? performed : replyOf(rest!.status[0]!, performed)
  // A status that nobody documented is our mistake, even when the body is right.
  if (!rest!.status.includes(status)) throw new Error(`${name} answered an undocumented ${status}`)
  void reply.status(status).headers(headers)
  if (result === null || result === undefined) return reply.send()
  return sendBody(reply, rest!.show ? rest!.show(result, ctx) : result)
}

function sendBody(reply: FastifyReply, body: unknown): FastifyReply {
  if (body === null || body === undefined) return reply.send()
  if (body instanceof Uint8Array || (typeof body === 'string' && reply.hasHeader('content-type'))) {
    return reply.send(body)
  }
  if (!reply.hasHeader('content-type')) void reply.type('application/json; charset=utf-8')
  return reply.send(JSON.stringify(body))
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  const { statusCode = 500, message = '' } = error as { statusCode?: number; message?: string }
  if (statusCode === 413) return TooLarge(`The body must not exceed ${BODY_MAX} bytes.`)
  // What else the framework refuses is malformed: a broken percent sign, a parameter too long.
  if (statusCode < 500) return Invalid(`${message}.`)
  return Internal('The service failed to answer.')
}

const requestIdOf = (sent: unknown): string | undefined =>
  typeof sent === 'string' && /^[\w.:-]{1,128}$/.test(sent) ? sent : undefined

const pathOf = (request: FastifyRequest): string => {
  const url = request.raw.originalUrl ?? request.raw.url ?? ''
  return url.split('?', 1)[0]!
}
