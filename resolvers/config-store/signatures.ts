// How a program proves that it holds an access key: HMAC-SHA256 over its request. Specification 3,
// service C; the scheme is the one that public clients of such stores have.
//
// 1. The signature covers method, path and query as they were sent, and the signed headers, among them
//    the host, the date and the hash of the body.
// 2. A refusal tells what the client did, never what we calculated.
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import { NOBODY, type Caller, type Context } from '../kernel/context.ts'
import { Unauthenticated, type Fault } from '../kernel/fault.ts'
import type { OwnScheme, Shown } from '../kernel/operation.ts'
import { accessKeyWith, secretOf } from './access-keys.ts'

const SCHEME = 'HMAC-SHA256'
const CLOCK_WINDOW_MS = 15 * 60_000
const AUTHORIZATION_MAX = 2048
const SIGNED_HEADERS_MAX = 20
const HASH = 'x-ms-content-sha256'
/** The first that is sent tells when the request was made. */
const DATES = ['x-ms-date', 'date']

export const accessKeyScheme: OwnScheme = {
  name: 'accessKey',
  security: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: `${SCHEME} Credential=<id>&SignedHeaders=x-ms-date;host;${HASH}&Signature=<base64>, over the request, with an access key of a store.`,
  },
  prove,
}

/** What a credential of this scheme is called among those of others. */
const CREDENTIAL = 'access key '

/** The id of the access key that the caller showed, if it was one. */
export const shownKeyOf = ({ credentialId }: Caller): string | undefined =>
  credentialId.startsWith(CREDENTIAL) ? credentialId.slice(CREDENTIAL.length) : undefined

async function prove(shown: Shown, ctx: Context): Promise<Caller> {
  const claim = readClaim(shown)
  checkSigned(claim, shown)
  checkDate(shown)
  if (one(shown, HASH) !== hash('sha256', shown.body, 'base64')) {
    throw refuse(`${HASH} is not the hash of the body`)
  }
  const key = await accessKeyWith(claim.credential, ctx)
  if (!key) throw refuse('Invalid credential')
  const signed = claim.signedHeaders.map((name) => one(shown, name))
  const expected = createHmac('sha256', Buffer.from(secretOf(key, ctx), 'base64'))
    .update(`${shown.method}\n${shown.url}\n${signed.join(';')}`)
    .digest()
  const signature = Buffer.from(claim.signature, 'base64')
  if (signature.length !== expected.length || !timingSafeEqual(signature, expected)) {
    throw refuse('Invalid signature')
  }
  return { ...NOBODY, kind: 'user', credentialId: `${CREDENTIAL}${key.id}` }
}

interface Claim {
  readonly credential: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
}

function readClaim({ headers }: Shown): Claim {
  const { authorization = '' } = headers
  const parts = /^HMAC-SHA256 +Credential=([^&]+)&SignedHeaders=([^&]+)&Signature=([\w+/]+=*)$/i
  const found = authorization.length <= AUTHORIZATION_MAX && parts.exec(String(authorization))
  if (!found) {
    const isOurs = /^HMAC-SHA256\b/i.test(String(authorization))
    if (isOurs) throw refuse('Authorization must have Credential, SignedHeaders and Signature')
    throw Unauthenticated('Sign the request with an access key of a store.', {
      headers: { 'www-authenticate': SCHEME },
    })
  }
  const [, credential, signedHeaders, signature] = found
  return {
    credential: credential!,
    signedHeaders: signedHeaders!.toLowerCase().split(';', SIGNED_HEADERS_MAX),
    signature: signature!,
  }
}

function checkSigned({ signedHeaders }: Claim, shown: Shown): void {
  const date = DATES.find((name) => one(shown, name) !== undefined) ?? DATES[0]!
  for (const name of [date, 'host', HASH]) {
    if (!signedHeaders.includes(name)) throw refuse(`${name} is required as a signed header`)
  }
  const absent = signedHeaders.find((name) => one(shown, name) === undefined)
  if (absent !== undefined) throw refuse(`${absent} is a signed header, but was not sent`)
}

// Clients write dates in more than one form, so that any is read that can be.
function checkDate(shown: Shown): void {
  const sent = DATES.map((name) => one(shown, name)).find((date) => date !== undefined)
  const ms = Date.parse(sent ?? '')
  if (Number.isNaN(ms)) throw refuse('Invalid access token date')
  if (Math.abs(shown.now.getTime() - ms) > CLOCK_WINDOW_MS) {
    throw refuse('The access token has expired')
  }
}

function one({ headers }: Shown, name: string): string | undefined {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

const refuse = (why: string): Fault =>
  Unauthenticated(`${why}.`, {
    headers: {
      'www-authenticate': `${SCHEME} error="invalid_token", error_description="${why}"`,
    },
  })
