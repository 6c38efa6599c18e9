// The one port: which service a request is for, and what operators and people need beside them.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { BaseContext } from '@apollo/server'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Opened } from '../subgraphs/server/open.ts'
import type { Telemetry } from '../subgraphs/server/telemetry.ts'
import { FETCHES_PATH } from './fetches.ts'
import { graphDoor, type GraphDoor } from './graph-door.ts'
import { addGraphiqlAssets } from './graphiql.ts'
import { WholeBody } from './whole-body.ts'
import { isLivePath, type LiveDoor } from './live.ts'

/** A long text in a query counts as header, percent signs and all. */
const HEADER_MAX = 64 * 1024

export interface FrontOptions<C extends BaseContext> extends GraphDoor<C> {
  readonly services: readonly Opened[]
  /** Where clients are told to look, when not where they came to. */
  readonly publicUrl: string | undefined
  /** Takes the fetches of a gateway elsewhere. */
  readonly fetches?: ((request: WholeBody, response: ServerResponse) => void) | undefined
  /** Queries that are asked again when what they read has changed. */
  readonly live?: LiveDoor | undefined
}

export interface Front {
  readonly server: Server
  listen(options: { port: number; host: string }): Promise<void>
  /** Takes no more requests, ends streams, and returns when requests in flight are answered. */
  close(): Promise<void>
}

export async function openFront<C extends BaseContext>(options: FrontOptions<C>): Promise<Front> {
  const own = await openOwn(options)
  const byName = new Map(
    options.services.map((opened) => [opened.subgraph.name, routingOf(opened, options.telemetry)]),
  )
  const alone = options.isAlone ? byName.values().next().value : undefined
  const ownPaths = new Set(['graphiql', 'healthz', 'readyz', 'metrics'])
  const graph = graphDoor(options)
  const { live, fetches } = options

  const server = createServer(
    { maxHeaderSize: HEADER_MAX, IncomingMessage: WholeBody },
    (request, response) => {
      const url = request.url ?? '/'
      // As nearly all come.
      if (url === '/graphql' && !alone) return graph(request, response)
      const name = firstOf(url)
      if (live && isLivePath(url)) return live.answer(request, response)
      if (name === 'graphql' && !alone) return graph(request, response)
      const address = options.publicUrl ?? addressOf(request)
      if (alone) request.address = address
      if (fetches && url === FETCHES_PATH) return fetches(request, response)
      if (name === 'graphql') return graph(request, response)
      if (alone) return (ownPaths.has(name) ? own.routing : alone)(request, response)
      const routeTo = byName.get(name)
      if (!routeTo) return own.routing(request, response)
      request.originalUrl = url
      request.address = `${address}/${name}`
      const rest = url.slice(name.length + 1)
      request.url = rest.startsWith('/') ? rest : `/${rest}`
      return routeTo(request, response)
    },
  )

  return {
    server,
    listen: ({ port, host }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => resolve())
      }),
    close: () =>
      new Promise((resolve, reject) => {
        // Streams would never end by themselves.
        live?.close()
        server.close((error) => (error ? reject(error) : resolve()))
        server.closeIdleConnections()
      }),
  }
}

type Routing = (request: IncomingMessage, response: ServerResponse) => void

/** The REST of a service, which is opened by the first request. */
function routingOf(opened: Opened, telemetry: Telemetry): Routing {
  let routing: Routing | undefined
  return (request, response) => {
    if (routing) return routing(request, response)
    const { rest, subgraph } = opened
    rest.ready().then(
      () => (routing = rest.routing)(request, response),
      (error: unknown) => {
        telemetry.mistake(error, { service: subgraph.name })
        response.writeHead(500).end()
      },
    )
  }
}

async function openOwn<C extends BaseContext>(options: FrontOptions<C>): Promise<FastifyInstance> {
  const { services, telemetry } = options
  const app = Fastify({ genReqId: options.newId })
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
  if (options.hasPage) addGraphiqlAssets(app)
  await app.ready()
  return app
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
