// A request for a page: its context, its form, and the answer, which is a page or leads to one.
import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { providerOf } from '../../resolvers/identity/provider.ts'
import { NOBODY, type Caller, type Context } from '../../resolvers/kernel/context.ts'
import { Fault, Forbidden } from '../../resolvers/kernel/fault.ts'
import { remoteOf } from '../server/remote.ts'
import { addressOf } from '../server/rest.ts'
import type { ContextFor } from '../server/subgraph.ts'
import { html, type Page } from '../server/html.ts'
import { render } from './render.ts'

export interface PageRequest {
  readonly ctx: Context
  readonly provider: Awaited<ReturnType<typeof providerOf>>
  /** The path, without the prefix under which the service is reached. */
  readonly url: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  /** What a form sent; empty for GET. */
  readonly form: URLSearchParams
  /** The context of a person who is signed in here. */
  contextAs(userId: string): Context
}

/** Leads on. 303 makes a GET of a form that was sent. */
export interface Onward {
  readonly location: string
  readonly status?: 302 | 303
  readonly cookies?: readonly string[]
}

export type PageHandler = (request: PageRequest) => Promise<Page | Onward>

/** Turns a page into what the door's framework takes. A refusal becomes a page that says so. */
export const pageRoute =
  (contextFor: ContextFor, answer: PageHandler): RouteHandlerMethod =>
  async (request, reply) => {
    try {
      return send(reply, await answer(await readRequest(request, contextFor)))
    } catch (error) {
      return send(reply, refusalPage(error))
    }
  }

async function readRequest(request: FastifyRequest, contextFor: ContextFor): Promise<PageRequest> {
  const reached = {
    address: addressOf(request),
    remote: remoteOf(request.raw),
    headers: request.headers as Record<string, string | undefined>,
  }
  const ctx = contextFor(NOBODY, reached)
  if (request.method === 'POST') checkOrigin(ctx)
  const body = request.method === 'POST' ? (request.body as Buffer | undefined) : undefined
  return {
    ctx,
    provider: await providerOf(ctx),
    url: request.raw.url!,
    params: request.params as Record<string, string>,
    query: request.query as Record<string, string>,
    form: new URLSearchParams(body?.toString('utf8') ?? ''),
    contextAs: (userId) => contextFor(personCaller(userId), reached),
  }
}

/** Forms are taken from our own pages alone. Browsers say where a form was. */
function checkOrigin({ address, headers }: Context): void {
  const { origin, 'sec-fetch-site': site } = headers
  const isOwn =
    origin === undefined
      ? site === undefined || site === 'same-origin'
      : origin === new URL(address).origin
  if (!isOwn) throw Forbidden('This form was sent from a page that is not ours.')
}

/** A person at our own page may do there all that is theirs, and nothing of an administrator. */
const personCaller = (userId: string): Caller => ({
  kind: 'user',
  userId,
  credentialId: `session of ${userId}`,
  accounts: [],
  permissions: ['*'],
  isAdmin: false,
})

export function send(reply: FastifyReply, answer: Page | Onward): FastifyReply {
  if ('location' in answer) {
    const { location, status = 303, cookies = [] } = answer
    if (cookies.length > 0) void reply.header('set-cookie', cookies)
    void reply.headers({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    return reply.status(status).send()
  }
  const { status, headers, body } = render(answer)
  return reply.status(status).headers(headers).send(body)
}

/** What is not a refusal is thrown on, for the door to log and to answer. */
function refusalPage(error: unknown): Page {
  const isExpired = (error as Error).name === 'SessionNotFound'
  if (isExpired) {
    return errorPage(400, 'This sign-in has ended. Go back to the application and begin again.')
  }
  if (error instanceof Fault) return errorPage(error.status, error.message)
  throw error
}

export const errorPage = (status: number, message: string): Page => ({
  status,
  title: 'That did not work',
  body: html`<p class="alert" role="alert">${message}</p>
    <p class="soft">Nothing was sent to the application.</p>`,
})

/** A member of a form, cut where nobody writes that much. */
export const member = (form: URLSearchParams, name: string): string =>
  (form.get(name) ?? '').slice(0, 1000)
