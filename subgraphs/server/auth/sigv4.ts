// Signature Version 4, verified. Wire notes: _signed.md.
//
// 1. The signature covers method, path, query, the signed headers and the body as they were sent.
//    Nothing is read from a request whose signature did not fit.
// 2. Host and every x-amz-* header must be among the signed ones: nobody can add to a request.
// 3. A refusal tells what the client did, never what we calculated.
import { createHmac, hash, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../../resolvers/kernel/context.ts'
import { fault } from '../../../resolvers/kernel/fault.ts'
import { canonicalHead, splitUrl } from './canonical.ts'
import type { Credentials, Scheme, Shown, SigningKey, SigningScope } from '../subgraph.ts'

const MissingToken = fault('MissingAuthenticationTokenException', 403)
const IncompleteSignature = fault('IncompleteSignature', 400)
const InvalidSignature = fault('InvalidSignatureException', 403)
const UnrecognizedClient = fault('UnrecognizedClientException', 403)
const ExpiredToken = fault('ExpiredTokenException', 403)

const ALGORITHM = 'AWS4-HMAC-SHA256'
const TERMINATOR = 'aws4_request'
const UNSIGNED = 'UNSIGNED-PAYLOAD'
const CLOCK_WINDOW_MINUTES = 15
const CLOCK_WINDOW_MS = CLOCK_WINDOW_MINUTES * 60_000
const PRESIGNED_SECONDS_MAX = 7 * 24 * 60 * 60
const AUTHORIZATION_LENGTH_MAX = 4096
const SIGNED_HEADERS_MAX = 100

/** Requests signed for one service, in the Authorization header or in the query. */
export const sigV4 = (signingName: string): Scheme => ({
  kind: 'sigv4',
  header: 'authorization',
  signingName,
  security: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: `${ALGORITHM} over the request, with the signing name ${signingName}.`,
    'x-amazon-apigateway-authtype': 'awsSigv4',
  },
  prove: (shown, credentials) => prove(shown, credentials, signingName),
})

async function prove(shown: Shown, credentials: Credentials, service: string): Promise<Caller> {
  const claim = readClaim(shown)
  const scope = readScope(claim, service)
  checkClock(claim, shown.now.getTime())
  checkSignedHeaders(claim, shown)

  const known = await credentials.signingKey(scope)
  if (!known) throw UnrecognizedClient('The security token included in the request is invalid.')

  const head = canonicalHead(shown, claim.signedHeaders)
  const isRight = payloadHashes(claim, shown).some((payload) =>
    fits(claim, scope, known.key, `${head}\n${payload}`),
  )
  if (!isRight) {
    throw InvalidSignature(
      'The request signature we calculated does not match the signature you provided. ' +
        'Check your secret access key and signing method.',
    )
  }
  checkToken(claim, known, shown.now.getTime())
  return known.caller
}

/** What a request says about its signature, wherever it says it. */
interface Claim {
  readonly isPresigned: boolean
  readonly credential: string
  readonly signedHeaders: readonly string[]
  readonly signature: string
  /** yyyymmddThhmmssZ */
  readonly date: string
  readonly dateMs: number
  /** How long a presigned request lives. */
  readonly expiresMs: number
  readonly token: string | undefined
  /** X-Amz-Content-Sha256, as it was sent. */
  readonly payloadHash: string | undefined
}

function readClaim(shown: Shown): Claim {
  const [, query] = splitUrl(shown.url)
  const { authorization } = shown.headers
  const signed = query.includes('X-Amz-') ? amzParameters(query) : undefined
  const isPresigned = signed?.has('X-Amz-Algorithm') || signed?.has('X-Amz-Signature')
  if (authorization !== undefined && isPresigned) {
    throw IncompleteSignature('Sign in the Authorization header or in the query, not in both.')
  }
  if (isPresigned) return readPresigned(signed!)
  if (authorization === undefined || authorization === '') {
    throw MissingToken('Missing Authentication Token')
  }
  if (typeof authorization !== 'string') {
    throw IncompleteSignature('There is more than one Authorization header.')
  }
  return readHeader(authorization, shown)
}

function readHeader(authorization: string, { headers }: Shown): Claim {
  const parts = authorizationParts(authorization)
  const sent = one(headers, 'x-amz-date') ?? one(headers, 'date')
  const missing = ['Credential', 'SignedHeaders', 'Signature']
    .filter((name) => !parts.get(name))
    .map((name) => `Authorization header requires '${name}' parameter.`)
  if (sent === undefined) {
    missing.push(
      "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
    )
  }
  if (missing.length > 0) throw IncompleteSignature(missing.join(' '))
  return {
    isPresigned: false,
    credential: parts.get('Credential')!,
    signedHeaders: headerList(parts.get('SignedHeaders')!),
    signature: parts.get('Signature')!,
    ...readDate(sent!),
    expiresMs: CLOCK_WINDOW_MS,
    token: one(headers, 'x-amz-security-token'),
    payloadHash: one(headers, 'x-amz-content-sha256'),
  }
}

function authorizationParts(authorization: string): Map<string, string> {
  if (!authorization.startsWith(`${ALGORITHM} `)) {
    throw IncompleteSignature(`Authorization header requires the algorithm ${ALGORITHM}.`)
  }
  if (authorization.length > AUTHORIZATION_LENGTH_MAX) {
    throw IncompleteSignature('Authorization header is too long.')
  }
  const parts = new Map<string, string>()
  for (const part of authorization.slice(ALGORITHM.length).split(',')) {
    const text = part.trim()
    const at = text.indexOf('=')
    const name = text.slice(0, at)
    if (at < 1 || parts.has(name)) {
      throw IncompleteSignature(
        'Authorization header requires Credential=…, SignedHeaders=…, Signature=…, each once.',
      )
    }
    parts.set(name, text.slice(at + 1))
  }
  return parts
}

function readPresigned(signed: Map<string, string>): Claim {
  const need = (name: string) => {
    const value = signed.get(name)
    if (value) return value
    throw IncompleteSignature(`The query requires '${name}'.`)
  }
  if (need('X-Amz-Algorithm') !== ALGORITHM) {
    throw IncompleteSignature(`'X-Amz-Algorithm' must be ${ALGORITHM}.`)
  }
  // aws4 leaves the life of a request out, and means that of a request signed in the header.
  const expires = signed.get('X-Amz-Expires') ?? String(CLOCK_WINDOW_MINUTES * 60)
  const seconds = /^\d{1,6}$/.test(expires) ? Number(expires) : 0
  if (seconds < 1 || seconds > PRESIGNED_SECONDS_MAX) {
    throw IncompleteSignature(`'X-Amz-Expires' must be 1 to ${PRESIGNED_SECONDS_MAX} seconds.`)
  }
  return {
    isPresigned: true,
    credential: need('X-Amz-Credential'),
    signedHeaders: headerList(need('X-Amz-SignedHeaders')),
    signature: need('X-Amz-Signature'),
    ...readDate(need('X-Amz-Date')),
    expiresMs: seconds * 1000,
    token: signed.get('X-Amz-Security-Token'),
    payloadHash: signed.get('X-Amz-Content-Sha256') ?? signed.get('x-amz-content-sha256'),
  }
}

/** The parameters of a presigned request, decoded. */
function amzParameters(query: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const pair of query.split('&')) {
    if (!/^x-amz-/i.test(pair)) continue
    const at = pair.indexOf('=')
    const name = at < 0 ? pair : pair.slice(0, at)
    if (found.has(name)) throw IncompleteSignature(`The query has '${name}' twice.`)
    found.set(name, at < 0 ? '' : decode(pair.slice(at + 1)))
  }
  return found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // The client's encoding is broken, and so is its signature.
    throw IncompleteSignature('The query is not percent-encoded.')
  }
}

function headerList(text: string): string[] {
  const names = text.split(';')
  const areNames =
    names.length <= SIGNED_HEADERS_MAX && names.every((name) => /^[^A-Z\s,]+$/.test(name))
  if (areNames && new Set(names).size === names.length) return names
  throw IncompleteSignature('SignedHeaders must be names in lower case, joined by semicolons.')
}

/** Reads X-Amz-Date, or a Date header in either of its forms. */
function readDate(sent: string): Pick<Claim, 'date' | 'dateMs'> {
  const basic = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(sent)
  const dateMs = basic
    ? Date.parse(`${basic[1]}-${basic[2]}-${basic[3]}T${basic[4]}:${basic[5]}:${basic[6]}Z`)
    : /^\w{3}, /.test(sent)
      ? Date.parse(sent)
      : NaN
  if (Number.isNaN(dateMs)) {
    throw IncompleteSignature("Date must be in ISO-8601 'basic format': yyyymmddThhmmssZ.")
  }
  return { date: basic ? sent : basicDate(dateMs), dateMs }
}

function readScope({ credential, date }: Claim, service: string): SigningScope {
  const parts = credential.split('/')
  if (parts.length !== 5 || parts.some((part) => part === '')) {
    throw IncompleteSignature(
      'Credential must have exactly 5 slash-delimited elements: ' +
        `key id/yyyymmdd/region/${service}/${TERMINATOR}.`,
    )
  }
  const [accessKeyId, day, region, named, terminator] = parts as [
    string, string, string, string, string,
  ] // prettier-ignore
  const problems: string[] = []
  if (day !== date.slice(0, 8)) {
    problems.push('Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date.')
  }
  // Chosen: any region, since the documents name none and there is one of each service here.
  if (!/^[a-z0-9-]{1,40}$/.test(region)) {
    problems.push('Credential should be scoped to a region such as us-east-1.')
  }
  if (named !== service) {
    problems.push(`Credential should be scoped to correct service: '${service}'.`)
  }
  if (terminator !== TERMINATOR) {
    problems.push(`Credential should be scoped with a valid terminator: '${TERMINATOR}'.`)
  }
  if (problems.length > 0) throw InvalidSignature(problems.join(' '))
  return { accessKeyId, date: date.slice(0, 8), region, service }
}

// Clients correct their clocks by these words and the time in the parentheses.
function checkClock({ date, dateMs, expiresMs, isPresigned }: Claim, nowMs: number): void {
  if (dateMs - nowMs > CLOCK_WINDOW_MS) {
    const latest = basicDate(nowMs + CLOCK_WINDOW_MS)
    throw InvalidSignature(
      `Signature not yet current: ${date} is still later than ${latest} ` +
        `(${basicDate(nowMs)} + ${CLOCK_WINDOW_MINUTES} min.)`,
    )
  }
  if (nowMs - dateMs <= expiresMs) return
  if (isPresigned) {
    const end = basicDate(dateMs + expiresMs)
    throw InvalidSignature(`Signature expired: ${end} is now earlier than ${basicDate(nowMs)}.`)
  }
  const earliest = basicDate(nowMs - CLOCK_WINDOW_MS)
  throw InvalidSignature(
    `Signature expired: ${date} is now earlier than ${earliest} ` +
      `(${basicDate(nowMs)} - ${CLOCK_WINDOW_MINUTES} min.)`,
  )
}

function checkSignedHeaders({ signedHeaders, isPresigned }: Claim, { headers }: Shown): void {
  const signed = new Set(signedHeaders)
  const needed = Object.keys(headers).filter((name) => name.startsWith('x-amz-'))
  needed.push('host')
  // Without X-Amz-Date the Date header holds the time of signing.
  if (!isPresigned && headers['x-amz-date'] === undefined) needed.push('date')
  const unsigned = needed.filter((name) => !signed.has(name))
  if (unsigned.length > 0) {
    throw InvalidSignature(
      `'${unsigned.join("', '")}' must be a 'SignedHeader' in the Authorization.`,
    )
  }
  const absent = signedHeaders.filter((name) => headers[name] === undefined)
  if (absent.length > 0) {
    throw InvalidSignature(`'${absent.join("', '")}' is a SignedHeader, but was not sent.`)
  }
}

/**
 * The payload hashes that the signature may cover.
 *
 * A client that says UNSIGNED-PAYLOAD signs that word instead of the body, and trusts the connection
 * with the rest. It must say so in a signed place: where it says nothing, only a presigned request
 * without a body may mean it.
 */
function payloadHashes({ isPresigned, payloadHash }: Claim, { headers, body }: Shown): string[] {
  const sent = isPresigned ? (one(headers, 'x-amz-content-sha256') ?? payloadHash) : payloadHash
  if (sent === UNSIGNED) return [UNSIGNED]
  const ofBody = hash('sha256', body, 'hex')
  if (sent === ofBody) return [ofBody]
  if (sent === undefined) return isPresigned && body.length === 0 ? [ofBody, UNSIGNED] : [ofBody]
  throw InvalidSignature('X-Amz-Content-Sha256 is not the hash of the body that arrived.')
}

function fits(claim: Claim, scope: SigningScope, key: Uint8Array, canonical: string): boolean {
  const { date, region, service } = scope
  const expected = createHmac('sha256', key)
    .update(`${ALGORITHM}\n${claim.date}\n${date}/${region}/${service}/${TERMINATOR}\n`)
    .update(hash('sha256', canonical, 'hex'))
    .digest()
  if (!/^[0-9a-f]{64}$/.test(claim.signature)) return false
  return timingSafeEqual(expected, Buffer.from(claim.signature, 'hex'))
}

function checkToken({ token }: Claim, { sessionTokenHash, expiresMs }: SigningKey, nowMs: number) {
  if (expiresMs !== undefined && nowMs >= expiresMs) {
    throw ExpiredToken('The security token included in the request is expired.')
  }
  if (token === undefined && sessionTokenHash === undefined) return
  const shown = hash('sha256', token ?? '', 'buffer')
  const expected = Buffer.from(sessionTokenHash ?? '', 'hex')
  const isRight = expected.length === shown.length && timingSafeEqual(expected, shown)
  if (token === undefined || !isRight) {
    throw UnrecognizedClient('The security token included in the request is invalid.')
  }
}

/** A header that must not be repeated. */
function one(headers: Shown['headers'], name: string): string | undefined {
  const value = headers[name]
  if (value === undefined || typeof value === 'string') return value
  throw IncompleteSignature(`There is more than one ${name} header.`)
}

const basicDate = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+|[-:]/g, '')
