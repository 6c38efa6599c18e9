// Requests signed by the signers that clients use, as the verifier is shown them.
import { createHash, createHmac } from 'node:crypto'
import { createRequire } from 'node:module'
import { SignatureV4 } from '@smithy/signature-v4'
import { NOBODY, type Caller } from '../../resolvers/kernel/context.ts'
import type { Credentials, Shown, SigningKey } from '../../subgraphs/server/subgraph.ts'

const aws4 = createRequire(import.meta.url)('aws4')

export const KEY_ID = 'AKIDEXAMPLE'
export const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
export const NOW = new Date('2015-08-30T12:36:00Z')
export const HOST = 'voice.example:4000'

export const OWNER: Caller = { ...NOBODY, kind: 'user', userId: 'u1', credentialId: KEY_ID }

export interface ToSign {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly service?: string
  readonly region?: string
  readonly secret?: string
  readonly token?: string
  readonly at?: Date
}

/** Identity with one key pair, and what else it knows about it. */
export const credentialsOf = (more: Partial<SigningKey> = {}): Credentials => ({
  byApiKey: () => Promise.resolve(undefined),
  byUser: () => Promise.resolve(undefined),
  byPassword: () => Promise.resolve(undefined),
  byToken: () => Promise.resolve(undefined),
  signingKey: ({ accessKeyId, date, region, service }) =>
    Promise.resolve(
      accessKeyId === KEY_ID
        ? { key: derive([`AWS4${SECRET}`, date, region, service]), caller: OWNER, ...more }
        : undefined,
    ),
})

const derive = ([secret, ...parts]: string[]): Buffer =>
  [...parts, 'aws4_request'].reduce<Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    Buffer.from(secret!),
  )

export function byAws4(to: ToSign, options: Record<string, unknown> = {}): Shown {
  const { method = 'GET', path = '/', body = '', at = NOW } = to
  const signed = aws4.sign(
    {
      method,
      path,
      body,
      service: to.service ?? 'sms-voice',
      region: to.region ?? 'us-east-1',
      headers: { Host: HOST, 'X-Amz-Date': basicOf(at), ...to.headers },
      ...options,
    },
    { accessKeyId: KEY_ID, secretAccessKey: to.secret ?? SECRET, sessionToken: to.token },
  )
  return shownOf({ method, url: signed.path, headers: signed.headers, body })
}

export async function bySmithy(to: ToSign, query: Record<string, string | string[]> = {}) {
  const { method = 'GET', path = '/', body = '', at = NOW } = to
  const request = requestOf(to, { method, path, body, query })
  const signed: any = await signerOf(to).sign(request as never, { signingDate: at })
  return shownOf({ method, url: path + writeQuery(signed.query), headers: signed.headers, body })
}

export async function presignedBySmithy(to: ToSign, expiresIn = 60): Promise<Shown> {
  const { method = 'GET', path = '/', body = '', at = NOW } = to
  const request = requestOf(to, { method, path, body, query: {} })
  const signed: any = await signerOf(to).presign(request as never, { signingDate: at, expiresIn })
  return shownOf({ method, url: path + writeQuery(signed.query), headers: signed.headers, body })
}

export const shownOf = (sent: {
  method?: string
  url: string
  headers: Record<string, unknown>
  body?: string
  now?: Date
}): Shown => ({
  service: 'voice',
  method: sent.method ?? 'GET',
  url: sent.url,
  headers: Object.fromEntries(
    Object.entries(sent.headers).map(([name, value]) => [name.toLowerCase(), String(value)]),
  ),
  body: Buffer.from(sent.body ?? ''),
  now: sent.now ?? NOW,
})

const signerOf = ({
  service = 'sms-voice',
  region = 'us-east-1',
  secret = SECRET,
  token,
}: ToSign) =>
  new SignatureV4({
    credentials: {
      accessKeyId: KEY_ID,
      secretAccessKey: secret,
      ...(token !== undefined && { sessionToken: token }),
    },
    region,
    service,
    sha256: Sha256 as never,
  })

const requestOf = (to: ToSign, request: object) => ({
  protocol: 'http:',
  hostname: 'voice.example',
  port: 4000,
  headers: { host: HOST, ...(to.body && { 'content-type': 'application/json' }), ...to.headers },
  ...request,
})

class Sha256 {
  readonly #hash
  constructor(secret?: Uint8Array) {
    this.#hash = secret ? createHmac('sha256', secret) : createHash('sha256')
  }
  update(bytes: Uint8Array) {
    this.#hash.update(bytes)
  }
  digest() {
    return Promise.resolve(new Uint8Array(this.#hash.digest()))
  }
}

function writeQuery(query: Record<string, string | string[]>): string {
  const pairs = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encode(name)}=${encode(value)}`),
  )
  return pairs.length > 0 ? `?${pairs.join('&')}` : ''
}

const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (c) =>
    `%${c.charCodeAt(0).toString(16)}`.toUpperCase(),
  )

const basicOf = (at: Date) => at.toISOString().replace(/\.\d+|[-:]/g, '')
