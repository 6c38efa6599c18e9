// Asks the OpenID provider in this process: a request and a response of Node without a connection.
//
// The provider is written for HTTP. Our operations have no request, so one is made from what they have:
// where the service was reached, and the headers that the caller sent.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type Provider from 'oidc-provider'
import type { Context } from '../kernel/context.ts'

export interface ProviderRequest {
  readonly method?: 'GET' | 'POST'
  /** Path and query, without the prefix under which the service is reached. */
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
}

export interface ProviderAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
  readonly body: string
}

/** The headers that the provider may see of the caller's. */
const PASSED = ['cookie', 'user-agent', 'accept', 'accept-language'] as const

export async function callProvider(
  provider: Provider,
  ctx: Pick<Context, 'address' | 'headers'>,
  request: ProviderRequest,
): Promise<ProviderAnswer> {
  const { req, res, answered } = exchangeOf(ctx, request)
  let call = callbacks.get(provider)
  // Its parts are put together once.
  if (!call) callbacks.set(provider, (call = provider.callback()))
  await call(req, res)
  const mistake = mistakes.get(req)
  if (mistake !== undefined) throw mistake
  return answered()
}

const mistakes = new WeakMap<IncomingMessage, unknown>()

/** The provider answers what it throws by itself; whoever called it must hear of it. */
export function watchMistakes(provider: Provider): void {
  provider.on('server_error', (koa, error) => void mistakes.set(koa.req, error))
}

const callbacks = new WeakMap<Provider, ReturnType<Provider['callback']>>()

/** A request and a response, for what of the provider takes them. */
export function exchangeOf(
  { address, headers }: Pick<Context, 'address' | 'headers'>,
  { method = 'GET', url, headers: more = {}, form }: ProviderRequest,
) {
  const { host, protocol, pathname } = new URL(address)
  const req = new IncomingMessage(noSocket)
  const body = form && new URLSearchParams(form).toString()
  req.method = method
  req.url = url
  // The provider finds in it the prefix that its links must have.
  req.originalUrl = pathname === '/' ? url : pathname + url
  req.headers = { ...more, host, 'x-forwarded-proto': protocol.slice(0, -1) }
  for (const name of PASSED) {
    if (headers[name] !== undefined && !(name in more)) req.headers[name] = headers[name]
  }
  if (body !== undefined) {
    req.headers['content-type'] = 'application/x-www-form-urlencoded'
    req.headers['content-length'] = String(Buffer.byteLength(body))
    req.push(body)
  }
  req.push(null)
  // All of it is here, so that nothing waits for more or ends the socket that others share.
  req.complete = true
  const res = new MemoryResponse(req)
  const answered = (): ProviderAnswer => ({
    status: res.statusCode,
    headers: res.getHeaders() as ProviderAnswer['headers'],
    body: Buffer.concat(res.parts).toString('utf8'),
  })
  return { req, res, answered }
}

const noSocket = new Socket()

/** Keeps what is written instead of sending it. */
class MemoryResponse extends ServerResponse {
  readonly parts: Buffer[] = []

  override write(part: any): boolean {
    this.parts.push(Buffer.from(part))
    return true
  }

  override end(part?: any): this {
    if (part !== undefined && part !== null && typeof part !== 'function') this.write(part)
    this.emit('finish')
    return this
  }
}
