// What a browser needs of identity beside its operations: pages, discovery, and /authorize by POST.
//
// These are no operations, since nobody asks for them in the graph. Everything that they decide is in
// resolvers/identity; here is where it is reached.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import * as authorize from '../../resolvers/identity/authorize.ts'
import { discoveryOf } from '../../resolvers/identity/discovery.ts'
import { callProvider } from '../../resolvers/identity/provider-call.ts'
import { anyIframe } from '../../resolvers/identity/session-iframe.ts'
import { keysOf, publicKeys } from '../../resolvers/identity/token-keys.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { Invalid } from '../../resolvers/kernel/fault.ts'
import { perform, type Reply } from '../../resolvers/kernel/operation.ts'
import { addressOf } from '../server/rest.ts'
import type { ContextFor } from '../server/subgraph.ts'
import { accountSignIn, changeAccount, showAccount, showAccountSignIn } from './account.ts'
import { render } from './render.ts'
import { readMultipart } from './multipart.ts'
import { errorPage, pageRoute, type PageHandler, type PageRequest } from './page-request.ts'
import { consent, showConsent, showSignIn, signIn } from './sign-in.ts'
import { confirmSignOut, showSignedOut, signOut } from './sign-out.ts'
import { showWelcome, welcome } from './welcome.ts'

const PAGES: readonly [method: 'GET' | 'POST', path: string, answer: PageHandler][] = [
  ['GET', '/authorize/:uid', resume],
  ['GET', '/sign-in/:uid', showSignIn],
  ['POST', '/sign-in/:uid', signIn],
  ['GET', '/consent/:uid', showConsent],
  ['POST', '/consent/:uid', consent],
  ['GET', '/sign-in', showAccountSignIn],
  ['POST', '/sign-in', accountSignIn],
  ['GET', '/account', showAccount],
  ['POST', '/account/:action', changeAccount],
  ['GET', '/sign-out', signOut],
  ['POST', '/sign-out/confirm', confirmSignOut],
  ['GET', '/sign-out/success', showSignedOut],
  ['GET', '/welcome/:secret', showWelcome],
  ['POST', '/welcome/:secret', welcome],
]

export function mount(app: FastifyInstance, contextFor: ContextFor): void {
  for (const [method, url, answer] of PAGES) {
    app.route({ method, url, handler: pageRoute(contextFor, answer), config: { operation: url } })
  }
  const contextOf = (request: FastifyRequest) =>
    contextFor(NOBODY, {
      address: addressOf(request),
      headers: request.headers as Record<string, string | undefined>,
    })

  const publish = (url: string, read: (request: FastifyRequest) => Promise<object> | object) =>
    app.get(url, { config: { operation: url } }, async (request, reply) =>
      reply
        .headers({ 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300' })
        .type('application/json; charset=utf-8')
        .send(JSON.stringify(await read(request))),
    )
  publish('/.well-known/openid-configuration', (request) => discoveryOf(addressOf(request)))
  publish('/.well-known/oauth-authorization-server', (request) => discoveryOf(addressOf(request)))
  publish('/.well-known/jwks.json', async (request) => ({
    keys: publicKeys(await keysOf(contextOf(request))),
  }))
  app.get('/session/iframe', (_request, reply) => write(anyIframe(), reply))

  app.addHook('preHandler', async (request) => {
    if (request.routeOptions.url?.startsWith('/client')) await readMultipart(request)
  })
  // A standard client may send the parameters of /authorize in a form. The router has the path as one
  // that takes GET, so a form is answered before it says so.
  app.addHook('preHandler', async (request, reply) => {
    if (request.method !== 'POST' || request.routeOptions.url !== '/authorize') return
    const sent = formOf(request)
    const [operation] = authorize.operations
    return write((await perform(operation!, sent, contextOf(request))) as Reply, reply)
  })
  app.addHook('onSend', async (request, reply, payload) => {
    const isRefused = reply.statusCode >= 400 && request.routeOptions.url === '/authorize'
    if (!isRefused || !String(request.headers.accept).includes('text/html')) return payload
    const { error_description } = JSON.parse(String(payload)) as Record<string, string>
    const { headers, body } = render(errorPage(reply.statusCode, error_description ?? ''))
    void reply.headers(headers).removeHeader('content-length')
    return body
  })
}

/** Goes on with an authorization once its pages are done. */
async function resume({ ctx, provider, url }: PageRequest) {
  const answer = await callProvider(provider, ctx, { url })
  const { location, 'set-cookie': cookies = [] } = answer.headers
  if (typeof location !== 'string') {
    if (answer.status >= 500) throw new Error(`the provider answered ${answer.status}`)
    return errorPage(400, 'This sign-in has ended. Go back to the application and begin again.')
  }
  const isPage = location.startsWith(`${ctx.address}/`)
  return { location, status: isPage ? (303 as const) : (302 as const), cookies: [cookies].flat() }
}

function formOf(request: FastifyRequest): Record<string, string> {
  const type = request.headers['content-type']?.split(';', 1)[0]?.trim()
  if (type !== 'application/x-www-form-urlencoded') throw Invalid('Send a form.')
  const form = new URLSearchParams(String(request.body ?? ''))
  const names = [...form.keys()]
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice) throw Invalid(`${twice} is there twice.`)
  return Object.fromEntries(form)
}

function write({ status, result, headers }: Reply, reply: FastifyReply): FastifyReply {
  return reply
    .status(status)
    .headers(headers)
    .send(typeof result === 'string' ? result : undefined)
}
