// GET /authorize: signs a person in, by a browser, for a client. Specification 1, service S1.
//
// 1. Nothing is redirected to a URL that the client may not use: that is refused with 400.
// 2. From then on an error, too, travels to the redirect location, by 302.
// 3. The provider does the rest. What it answers with a page of ours is 303, with the outcome 302.
import type { Context } from '../kernel/context.ts'
import { get, operation, reply, type Reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { responseTypeOf, type ResponseType } from './client-metadata.ts'
import { clients, type Client } from './clients.ts'
import { InvalidRedirectUri, UnknownClient } from './errors.ts'
import { callProvider, type ProviderAnswer } from './provider-call.ts'
import { EXTRA, mayReturnTo, providerOf } from './provider.ts'

const PARAMETER_MAX = 4096
const parameter = optional(text.max(PARAMETER_MAX))
const REQUIRED_MARK = /~r$/

const input = {
  client_id: text.min(1).max(200),
  redirect_uri: text.min(1).max(PARAMETER_MAX),
  response_type: parameter,
  scope: parameter,
  state: parameter,
  response_mode: parameter,
  nonce: parameter,
  display: parameter,
  prompt: parameter,
  max_age: parameter,
  ui_locales: parameter,
  // Beside the documented ones, what standard clients send.
  code_challenge: parameter,
  code_challenge_method: parameter,
  id_token_hint: parameter,
  login_hint: parameter,
  resource: parameter,
}

type Sent = { readonly client_id: string; readonly redirect_uri: string } & {
  readonly [name in keyof typeof input]?: string | undefined
}

export const operations = [
  operation({
    name: 'authorize',
    rest: get('/authorize', { status: [302, 303], show: () => null }),
    access: 'anyone',
    refuses: { 400: 'There is no such client, or the redirect URL is not one of its own.' },
    input,
    run: (sent, ctx) => authorize(withoutEmpty(sent) as Sent, ctx),
  }),
]

/** A reason to refuse, in the words of OAuth. */
interface Refused {
  readonly error: string
  readonly error_description: string
}

/** A parameter without a value is one that was left out (RFC 6749, section 3.1). */
const withoutEmpty = (sent: object): object =>
  Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== '' && value !== undefined),
  )

async function authorize(sent: Sent, ctx: Context): Promise<Reply> {
  const client = await ctx.store.get(clients, sent.client_id)
  if (!client) throw UnknownClient(`There is no client ${sent.client_id}.`)
  if (!mayReturnTo(client, sent.redirect_uri)) {
    throw InvalidRedirectUri(`${sent.redirect_uri} is not a redirect URL of this client.`)
  }
  const type = responseTypeOf(sent.response_type ?? '')
  const refused = refusalOf(sent, client, type)
  if (refused) return redirect(302, refusalUrl(sent, type, refused, ctx))
  const query = new URLSearchParams(parametersFor(sent, client, type!))
  const answer = await callProvider(await providerOf(ctx), ctx, { url: `/authorize?${query}` })
  return answerOf(answer, ctx)
}

/** The provider's answer with the documented status. */
export function answerOf({ status, headers, body }: ProviderAnswer, ctx: Context): Reply {
  const location = headers.location
  if (typeof location !== 'string') {
    // Everything that could be wrong with the request was checked before.
    throw new Error(`the provider answered ${status}: ${body}`)
  }
  const isPage = ['/sign-in/', '/consent/'].some((page) => location.startsWith(ctx.address + page))
  return redirect(isPage ? 303 : 302, location, headers['set-cookie'])
}

/** Nothing of an answer is kept by caches or told to the next page. */
function redirect(status: 302 | 303, location: string, cookies?: string | string[]): Reply {
  return reply(
    status,
    { status, location },
    {
      location,
      'cache-control': 'no-store',
      pragma: 'no-cache',
      'referrer-policy': 'no-referrer',
      // The door writes a list of values as that many headers.
      ...(cookies && { 'set-cookie': cookies as string }),
    },
  )
}

/** What is wrong with a request whose client and redirect URL are right. */
function refusalOf(
  sent: Sent,
  client: Client,
  type: ResponseType | undefined,
): Refused | undefined {
  const problem =
    refusalOfType(sent, client, type) ??
    refusalOfPrompt(sent.prompt) ??
    (sent.state === undefined ? 'state is required.' : undefined)
  if (typeof problem === 'object') return problem
  const { display = 'page', max_age = '0', nonce, code_challenge, code_challenge_method } = sent
  const scope = scopeOf(sent, client)
  const wrong =
    problem ||
    (!['page', 'popup', 'modal'].includes(display) && 'display is page, popup or modal.') ||
    (!/^\d{1,10}$/.test(max_age) && 'max_age is a number of seconds.') ||
    (type!.includes('id_token') && nonce === undefined && `${type} needs a nonce.`) ||
    (code_challenge === undefined && code_challenge_method && 'code_challenge is missing.') ||
    (code_challenge && !/^[\w-]{43}$/.test(code_challenge) && 'code_challenge is malformed.') ||
    (code_challenge && code_challenge_method !== 'S256' && 'code_challenge_method must be S256.')
  if (wrong) return { error: 'invalid_request', error_description: wrong }
  if (!scope.split(' ').includes('openid')) {
    return { error: 'invalid_scope', error_description: 'scope must have openid.' }
  }
  return undefined
}

function refusalOfType(
  { response_type, response_mode }: Sent,
  client: Client,
  type: ResponseType | undefined,
): Refused | string | undefined {
  if (response_type === undefined) return 'response_type is required.'
  if (!type) {
    const error_description = `There is no response type ${response_type}.`
    return { error: 'unsupported_response_type', error_description }
  }
  if (!client.response_types.includes(type)) {
    const error_description = `This client is not registered for ${type}.`
    return { error: 'unauthorized_client', error_description }
  }
  if (response_mode === undefined || response_mode === 'fragment') return undefined
  if (response_mode !== 'query') return 'response_mode is query or fragment.'
  // Tokens in a query end up in logs and referrers.
  return type === 'code' ? undefined : `${type} is not answered in the query.`
}

function refusalOfPrompt(prompt: string | undefined): string | undefined {
  if (prompt === undefined) return undefined
  const words = prompt.split(' ')
  if (!words.every((word) => ['none', 'login', 'consent'].includes(word))) {
    return 'prompt has the words none, login and consent.'
  }
  const isMixed = words.includes('none') && words.length > 1
  return isMixed ? 'prompt none goes with no other.' : undefined
}

function refusalUrl(
  { redirect_uri, response_mode, state }: Sent,
  type: ResponseType | undefined,
  refused: Refused,
  ctx: Context,
): string {
  const url = new URL(redirect_uri)
  const answer = { ...refused, ...(state !== undefined && { state }), iss: ctx.address }
  const isQuery = type === 'code' || type === undefined ? response_mode !== 'fragment' : false
  if (!isQuery) {
    url.hash = new URLSearchParams(answer).toString()
    return url.href
  }
  for (const [name, value] of Object.entries(answer)) url.searchParams.set(name, value)
  return url.href
}

const scopeOf = ({ scope }: Sent, { default_scopes }: Client): string =>
  scope ?? default_scopes.join(' ')

/** What the provider is asked. It has no response type `token` and no mark for required scopes. */
function parametersFor(sent: Sent, client: Client, type: ResponseType): Record<string, string> {
  const scopes = scopeOf(sent, client)
    .split(' ')
    .filter((scope) => scope !== '')
  const required = scopes.filter((scope) => REQUIRED_MARK.test(scope))
  const plain = (scope: string) => scope.replace(REQUIRED_MARK, '')
  const asked = {
    ...sent,
    scope: [...new Set(scopes.map(plain))].join(' '),
    response_type: type,
    [EXTRA.required]: required.map(plain).join(' ') || undefined,
    ...(type === 'token' && {
      response_type: 'id_token token',
      nonce: sent.nonce ?? 'none',
      [EXTRA.tokenOnly]: 'yes',
    }),
  }
  return withoutEmpty(asked) as Record<string, string>
}
