// POST /token: exchanges a code for an ID token and an access token. Specification 1, service S1.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { operation, post, reply, type Reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { InvalidRequest } from './errors.ts'
import { callProvider } from './provider-call.ts'
import { providerOf } from './provider.ts'
import { checkGuesses, countFailure } from './throttle.ts'

const FIELD_MAX = 4096
const GUESSES_MAX = 20
const field = optional(text.max(FIELD_MAX))
const HEADERS = { 'cache-control': 'no-store', pragma: 'no-cache' }

const input = {
  client_id: field,
  client_secret: field,
  grant_type: field,
  code: field,
  redirect_uri: field,
  code_verifier: field,
  resource: field,
}

const tokens = z.object({
  token_type: z.string(),
  access_token: z.string(),
  id_token: z.string().optional(),
  expires_in: z.int(),
  expires_at: z.int(),
  scope: z.string().optional(),
})

export const operations = [
  operation({
    name: 'exchangeToken',
    rest: post('/token', { media: 'form', answer: tokens }),
    access: 'anyone',
    refuses: {
      400: 'The code, the redirect URL or another field is wrong; see `error`.',
      401: 'The client is not who it says it is.',
      429: 'The client was wrong too often.',
    },
    input,
    run: (sent, ctx) => exchange(sent as Sent, ctx),
  }),
]

type Sent = { readonly [name in keyof typeof input]?: string | undefined }

async function exchange(sent: Sent, ctx: Context): Promise<Reply> {
  const { client_id, client_secret, ...fields } = withClient(sent, ctx)
  // Chosen: counted by client and sender, so that nobody can lock a client out from elsewhere.
  const guessed = [{ what: `client ${client_id} ${ctx.remote ?? ''}`, max: GUESSES_MAX }]
  await checkGuesses(ctx, guessed)
  const authorization = `Basic ${Buffer.from(
    `${encodeURIComponent(client_id)}:${encodeURIComponent(client_secret)}`,
  ).toString('base64')}`
  const form = Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  const { status, body } = await callProvider(await providerOf(ctx), ctx, {
    method: 'POST',
    url: '/token',
    headers: { authorization, accept: 'application/json' },
    form,
  })
  const answer = JSON.parse(body)
  if (status === 200) {
    const nowS = Math.floor(ctx.wallClock.now().getTime() / 1000)
    return reply(200, { ...answer, expires_at: nowS + answer.expires_in }, HEADERS)
  }
  if (answer.error === 'invalid_client') await countFailure(ctx, guessed)
  throw refusalOf(status, answer)
}

/** Fields or HTTP Basic; where both are given they must agree. */
function withClient(sent: Sent, { headers }: Context) {
  const basic = basicOf(headers.authorization)
  for (const name of ['client_id', 'client_secret'] as const) {
    if (basic && sent[name] !== undefined && sent[name] !== basic[name]) {
      throw InvalidRequest(`${name} differs from what the Authorization header says.`)
    }
  }
  const { client_id, client_secret } = { ...sent, ...basic }
  if (!client_id || !client_secret) {
    throw new Fault('invalid_client', 401, 'Send client_id and client_secret, or HTTP Basic.', {
      headers: CHALLENGE,
    })
  }
  return { ...sent, client_id, client_secret }
}

const CHALLENGE = { 'www-authenticate': 'Basic realm="polygraph", charset="UTF-8"' }

function basicOf(header: string | undefined) {
  if (header === undefined) return undefined
  const shown = /^Basic +([\w+/=-]+)$/i.exec(header)?.[1]
  const text = Buffer.from(shown ?? '', 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 1) throw InvalidRequest('The Authorization header is not HTTP Basic.')
  try {
    // RFC 6749, section 2.3.1: both halves are form-encoded first.
    const decode = (part: string) => decodeURIComponent(part.replaceAll('+', '%20'))
    return { client_id: decode(text.slice(0, colon)), client_secret: decode(text.slice(colon + 1)) }
  } catch {
    throw InvalidRequest('The Authorization header is not properly encoded.')
  }
}

function refusalOf(status: number, { error, error_description }: Record<string, string>) {
  if (error === undefined || status >= 500) return new Error(`the provider answered ${status}`)
  return new Fault(error, error === 'invalid_client' ? 401 : 400, error_description ?? error, {
    ...(error === 'invalid_client' && { headers: CHALLENGE }),
  })
}
