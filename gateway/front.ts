// The one port: which service a request is for, and what operators and people need beside them.
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { ApolloServer, BaseContext } from '@apollo/server'
import { fastifyApolloHandler } from '@as-integrations/fastify'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { GraphQLError } from 'graphql'
import { Fault } from '../resolvers/kernel/fault.ts'
import type { Opened } from '../subgraphs/server/open.ts'
import type { Telemetry } from '../subgraphs/server/telemetry.ts'
import type { GatewayContext } from './callers.ts'
import { COST_HEADER } from './cost.ts'
import type { Asked, Gateway } from './gateway.ts'
import { addGraphiqlAssets, graphiqlPage, wantsPage } from './graphiql.ts'

const BODY_MAX = 1024 * 1024
/** A long text in a query counts as header, percent signs and all. */
const HEADER_MAX = 64 * 1024

declare module 'fastify' {
  interface FastifyRequest {
    rawBody?: Buffer
    /** The context of a query that is on its long way. */
    graphContext?: object
  }
}

export interface FrontOptions<C extends BaseContext> {
  readonly services: readonly Opened[]
  /** A service alone has its REST at the root. */
  readonly isAlone: boolean
  readonly apollo: ApolloServer<C>
  /** The short way for queries that came before; see gateway.ts. */
  readonly shortly?: Gateway['shortly'] | undefined
  readonly contextOf: (request: FastifyRequest) => Promise<C>
  readonly telemetry: Telemetry
  /** Where clients are told to look, when not where they came to. */
  readonly publicUrl: string | undefined
  readonly hasPage: boolean
  readonly newId: () => string
}

export interface Front {
  readonly server: Server
  listen(options: { port: number; host: string }): Promise<void>
  /** Takes no more requests, and returns when those in flight are answered. */
  close(): Promise<void>
}

export async function openFront<C extends BaseContext>(options: FrontOptions<C>): Promise<Front> {
  const own = await openOwn(options)
  const byName = new Map(options.services.map((opened) => [opened.subgraph.name, opened.rest]))
  const alone = options.isAlone ? options.services[0]!.rest : undefined
  const ownPaths = new Set(['graphql', 'graphiql', 'healthz', 'readyz', 'metrics', ''])

  const server = createServer({ maxHeaderSize: HEADER_MAX }, (request, response) => {
    const url = request.url ?? '/'
    const name = firstOf(url)
    const address = options.publicUrl ?? addressOf(request)
    if (alone) {
      request.address = address
      return (ownPaths.has(name) && name !== '' ? own : alone).routing(request, response)
    }
    const service = byName.get(name)
    if (!service) return own.routing(request, response)
    request.originalUrl = url
    request.address = `${address}/${name}`
    const rest = url.slice(name.length + 1)
    request.url = rest.startsWith('/') ? rest : `/${rest}`
    return service.routing(request, response)
  })

  return {
    server,
    listen: ({ port, host }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => resolve())
      }),
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()))
        server.closeIdleConnections()
      }),
  }
}

async function openOwn<C extends BaseContext>(options: FrontOptions<C>): Promise<FastifyInstance> {
  const { apollo, contextOf, services, telemetry, shortly } = options
  const app = Fastify({ bodyLimit: BODY_MAX, genReqId: options.newId })
  // A signature covers the bytes of the body, so they are kept beside what they say.
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    request.rawBody = body as Buffer
    try {
      done(null, body.length > 0 ? JSON.parse(body.toString()) : undefined)
    } catch (error) {
      done(Object.assign(error as Error, { statusCode: 400 }))
    }
  })
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-request-id', request.id)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.url ?? 'none'
    const { statusCode: status, elapsedTime: ms } = reply
    telemetry.answered({ service: 'gateway', operation, status, ms, requestId: request.id })
    done()
  })
  app.setNotFoundHandler((request, reply) =>
    reply.status(404).send({ message: `Nothing is served at ${request.url}.` }),
  )
  app.get('/', (_request, reply) => reply.redirect('/graphql'))
  app.get('/healthz', async () => ({ status: 'ok' }))
  app.get('/readyz', async (_request, reply) => {
    const states = await Promise.all(services.map(isReady))
    const notReady = services.filter((_, i) => !states[i]).map(({ subgraph }) => subgraph.name)
    return reply
      .status(notReady.length > 0 ? 503 : 200)
      .send({ status: notReady.length > 0 ? 'not ready' : 'ready', notReady })
  })
  app.get('/metrics', async (_request, reply) =>
    reply.type(telemetry.contentType).send(await telemetry.figures()),
  )
  const answer = fastifyApolloHandler(apollo as unknown as ApolloServer<BaseContext>, {
    context: async (request) => {
      const asked = request as unknown as FastifyRequest
      return (asked.graphContext as C | undefined) ?? wordFaults(contextOf(asked))
    },
  })
  /** Answers a query that came before, or leaves it to the server. */
  async function answerShortly(asked: Asked, request: FastifyRequest, reply: FastifyReply) {
    const context = (await contextOf(request).catch(() => undefined)) as GatewayContext | undefined
    const outcome = context && (await shortly!(asked, context))
    if (outcome?.data) {
      return reply.headers(ANSWER_HEADERS).send(`${JSON.stringify({ data: outcome.data })}\n`)
    }
    if (outcome) request.graphContext = outcome.context
    return answer.call(app, request as any, reply as any)
  }
  app.route({
    url: '/graphql',
    method: ['GET', 'POST'],
    handler(request, reply) {
      const isPage = request.method === 'GET' && wantsPage(request.headers.accept)
      if (options.hasPage && isPage) {
        return reply.headers(graphiqlPage.headers).send(graphiqlPage.body)
      }
      const asked = shortly && plainlyAsked(request)
      if (asked) return answerShortly(asked, request, reply)
      return answer.call(app, request as any, reply as any)
    },
  })
  if (options.hasPage) addGraphiqlAssets(app)
  await app.ready()
  return app
}

/** As the server writes it. */
const ANSWER_HEADERS = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
}
const PLAIN_MEMBERS = new Set(['query', 'variables', 'operationName'])

/** A query in the body of a request that asks for nothing else, such as another media type. */
function plainlyAsked({ method, headers, body }: FastifyRequest): Asked | undefined {
  if (method !== 'POST' || !headers['content-type']?.startsWith('application/json'))
    return undefined
  const { accept = '*/*', [COST_HEADER]: wantsCost } = headers
  if (wantsCost !== undefined) return undefined
  if (!/^(application\/json|\*\/\*)(?=$|[,;])/.test(accept)) return undefined
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined
  for (const member in body) if (!PLAIN_MEMBERS.has(member)) return undefined
  const { query, variables = null, operationName = null } = body as Record<string, unknown>
  const isPlain =
    typeof query === 'string' &&
    (operationName === null || typeof operationName === 'string') &&
    (variables === null || (typeof variables === 'object' && !Array.isArray(variables)))
  return isPlain ? ({ query, variables, operationName } as Asked) : undefined
}

/** A refusal to prove the caller, with the status that HTTP has for it. */
async function wordFaults<C>(context: Promise<C>): Promise<C> {
  try {
    return await context
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const http = { status: error.status, headers: new Map(Object.entries(error.headers)) }
    throw new GraphQLError(error.message, { extensions: { code: error.code, http } })
  }
}

const isReady = ({ ground }: Opened): Promise<boolean> =>
  ground.store.sql('SELECT 1').then(
    () => true,
    () => false,
  )

/** The first segment of a path: the name of a service, or of something of the gateway's own. */
function firstOf(url: string): string {
  let end = 1
  while (end < url.length && url[end] !== '/' && url[end] !== '?') end += 1
  return url.slice(1, end)
}

/** Where the client came to. A Host that is none is not repeated in links. */
function addressOf({ headers, socket }: IncomingMessage): string {
  const { host = '' } = headers
  const isHost = /^[\w.-]+(:\d+)?$|^\[[\da-f:]+\](:\d+)?$/i.test(host)
  return `http://${isHost ? host : `127.0.0.1:${socket.localPort}`}`
}
