// What the bank's door has beside its operations: headers of every answer, rates, and pages for people.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { signAnswer } from '../../resolvers/banking/server-key.ts'
import { NOBODY, type Context } from '../../resolvers/kernel/context.ts'
import { remoteOf } from '../server/remote.ts'
import { addressOf } from '../server/rest.ts'
import type { ContextFor } from '../server/subgraph.ts'
import { pageRoutes } from './pages.ts'
import { rateLimits } from './rate-limits.ts'

const TOKEN = /^[0-9a-f]{64}$/
const REQUEST_ID = 'x-vendor-client-request-id'
const REQUEST_ID_MAX = 255

export function mount(app: FastifyInstance, contextFor: ContextFor): void {
  const limits = rateLimits()
  const contextOf = (request: FastifyRequest): Context =>
    contextFor(NOBODY, {
      address: addressOf(request),
      remote: remoteOf(request.raw),
      headers: request.headers as Record<string, string | undefined>,
    })

  app.addHook('preHandler', async (request) => {
    const ctx = contextOf(request)
    limits.check(request, ctx.remote ?? '', ctx.wallClock.now().getTime())
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const ctx = contextOf(request)
    void reply.header('x-vendor-client-response-id', ctx.newId())
    const sent = request.headers[REQUEST_ID]
    if (typeof sent === 'string' && sent.length <= REQUEST_ID_MAX) {
      void reply.header(REQUEST_ID, sent)
    }
    // Those alone can check a signature who were given the key, and nothing is signed for strangers.
    const isClient = TOKEN.test(String(request.headers['x-vendor-client-authentication']))
    const isKnown = reply.statusCode !== 401 && request.routeOptions.config.operation !== undefined
    if (isClient && isKnown) {
      const body = Buffer.from((payload as string | Uint8Array | null | undefined) ?? '')
      void reply.header('x-vendor-server-signature', await signAnswer(ctx, body))
    }
    return payload
  })

  pageRoutes(app, contextOf)
}
