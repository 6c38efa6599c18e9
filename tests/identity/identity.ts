// Identity with people and clients in it, and a browser that keeps cookies and reads forms.
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import { RESPONSE_TYPES } from '../../resolvers/identity/client-metadata.ts'
import { hashPassword, passwords } from '../../resolvers/identity/passwords.ts'
import { tokenKeys } from '../../resolvers/identity/token-keys.ts'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { subgraph } from '../../subgraphs/identity.ts'
import { openCredentials } from '../../subgraphs/server/auth/credentials.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import type { Credentials } from '../../subgraphs/server/subgraph.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'

export const ADDRESS = 'http://polygraph.test'
export const PASSWORD = 'correct horse battery'
export const REDIRECT = 'http://127.0.0.1:9999/callback'
/** A hash that is quick to make and to check, for the tests that are not about hashes. */
const cheapHash = hashPassword(PASSWORD, { N: 1024, r: 8, p: 1 })

let keys: JsonWebKey[] | undefined
/** Making a key takes long, so the tests of a process share a pair. */
function sharedKeys(): JsonWebKey[] {
  const ec = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 })
  return (keys ??= [
    { ...ec().privateKey.export({ format: 'jwk' }), kid: 'test-ec', alg: 'ES256', use: 'sig' },
    { ...rsa().privateKey.export({ format: 'jwk' }), kid: 'test-rsa', alg: 'RS256', use: 'sig' },
  ])
}

export type Identity = Awaited<ReturnType<typeof openIdentity>>

export async function openIdentity(options: OpenOptions = {}) {
  let service: TestService | undefined
  const lazy = {} as { credentials?: Credentials }
  const credentials = new Proxy({} as Credentials, {
    get: (_target, name: keyof Credentials) => lazy.credentials![name],
  })
  service = await openForTest(subgraph, { credentials, ...options })
  const opened = service
  lazy.credentials = openCredentials(
    async (query, variables) =>
      (await opened.graphqlAs(serviceCaller('test'), query, variables)).data,
    opened.clock,
  )
  const { ground } = opened.opened
  const created = opened.clock.now().toISOString()
  const text = JSON.stringify(sharedKeys())
  await opened.store.insert(tokenKeys, {
    id: 'test',
    sealed: ground.secrets.seal(text, 'test'),
    created,
  })
  const ada = await register(opened, 'ada')
  return {
    ...opened,
    service: opened,
    credentials,
    ada,
    browser: (address = ADDRESS) => new Browser(address, injectedInto(opened)),
    register: (name: string) => register(opened, name),
  }
}

async function register(service: TestService, name: string) {
  const { data } = await service.graphqlAs(
    serviceCaller('test'),
    'mutation ($name: String!, $email: String!) { createUser(name: $name, email: $email) { id } }',
    { name, email: `${name}@example.org` },
  )
  const id: string = data.createUser.id
  const changed = service.clock.now().toISOString()
  await service.store.save(passwords, { userId: id, hash: await cheapHash, changed })
  const caller: Caller = {
    kind: 'user',
    userId: id,
    credentialId: 'test',
    accounts: [],
    permissions: ['*'],
    isAdmin: false,
  }
  const ask = async (query: string, variables: object = {}) => {
    const answer = await service.graphqlAs(caller, query, variables)
    if (answer.errors) throw new Error(answer.errors[0].message)
    return answer.data
  }
  return {
    id,
    email: `${name}@example.org`,
    caller,
    ask,
    /** A token of their own, for the REST door. */
    async token(audiences = ['identity']): Promise<string> {
      const made = await ask(
        'mutation ($audiences: [String!]!) { createAccessToken(name: "t", audiences: $audiences) { token } }',
        { audiences },
      )
      return made.createAccessToken.token
    },
    /** Registers a client for all response types, unless `change` says otherwise. */
    async client(change: object = {}): Promise<TestClient> {
      const { createClient } = await ask(
        `mutation ($redirectUris: [String!], $responseTypes: [String!], $testMode: Boolean, $applicationType: String, $defaultMaxAge: Int) {
           createClient(clientName: "A client", clientUri: "https://client.example.org/", redirectUris: $redirectUris,
             responseTypes: $responseTypes, testMode: $testMode, applicationType: $applicationType, defaultMaxAge: $defaultMaxAge) {
             clientSecret client { clientId } } }`,
        { redirectUris: [REDIRECT], responseTypes: [...RESPONSE_TYPES], ...change },
      )
      return { id: createClient.client.clientId, secret: createClient.clientSecret }
    },
  }
}

export interface TestClient {
  readonly id: string
  readonly secret: string
}

export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | undefined>
  readonly location: string
  readonly body: string
}

interface Sent {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Record<string, string>
  readonly payload?: string
}

type Carrier = (sent: Sent) => Promise<Omit<Answer, 'location'> & { readonly cookies: string[] }>

const injectedInto =
  (service: TestService): Carrier =>
  async ({ method, url, headers, payload }) => {
    const { host, pathname, search } = new URL(url)
    const answer = await service.opened.rest.inject({
      method,
      url: pathname + search,
      headers: { host, ...headers },
      ...(payload !== undefined && { payload }),
    })
    return {
      status: answer.statusCode,
      headers: answer.headers as Answer['headers'],
      cookies: [answer.headers['set-cookie'] ?? []].flat(),
      body: answer.payload,
    }
  }

/** Over real HTTP. */
export const fetched: Carrier = async ({ method, url, headers, payload }) => {
  const answer = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(payload !== undefined && { body: payload }),
  })
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    cookies: answer.headers.getSetCookie(),
    body: await answer.text(),
  }
}

/** Keeps cookies by path, as a browser does, and sends forms as a page of ours would. */
export class Browser {
  readonly #address: string
  readonly #carry: Carrier
  readonly cookies = new Map<string, { value: string; path: string }>()

  constructor(address: string, carry: Carrier) {
    this.#address = address
    this.#carry = carry
  }

  async send(
    method: 'GET' | 'POST',
    url: string,
    form?: Record<string, string> | URLSearchParams,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const whole = url.startsWith('/') ? this.#address + url : url
    const { pathname, origin } = new URL(whole)
    const cookie = [...this.cookies]
      .filter(([, { path: of }]) => pathname.startsWith(of))
      .map(([name, { value }]) => `${name.split('|')[0]}=${value}`)
      .join('; ')
    const { cookies, ...answer } = await this.#carry({
      method,
      url: whole,
      headers: {
        accept: 'text/html',
        'user-agent': 'test browser',
        ...(cookie && { cookie }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded', origin }),
        ...headers,
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    for (const text of cookies) this.#keep(text)
    return { ...answer, location: answer.headers.location ?? '' }
  }

  #keep(text: string): void {
    const [, name, value] = /^([^=]+)=([^;]*)/.exec(text)!
    const path = /; path=([^;]+)/i.exec(text)?.[1] ?? '/'
    const isGone = value === '' || /1970/.test(text)
    if (isGone) this.cookies.delete(`${name}|${path}`)
    else this.cookies.set(`${name}|${path}`, { value: value!, path })
  }

  get(url: string, headers?: Record<string, string>): Promise<Answer> {
    return this.send('GET', url, undefined, headers)
  }

  authorize(client: TestClient, change: Record<string, string | undefined> = {}): Promise<Answer> {
    return this.get(`/authorize?${authorizeQuery(client, change)}`)
  }

  /** Signs in and allows what is asked, whichever of it is asked for; returns the last answer. */
  async finish(answer: Answer, email = 'ada@example.org', password = PASSWORD): Promise<Answer> {
    let now = answer
    for (let turn = 0; turn < 8 && now.location.startsWith(this.#address); turn += 1) {
      const page = now.location.slice(this.#address.length)
      if (page.startsWith('/sign-in/')) {
        now = await this.send('POST', page, { email, password, action: 'sign-in' })
      } else if (page.startsWith('/consent/')) {
        const shown = await this.get(page)
        const scopes = [...shown.body.matchAll(/name="scope"\s+value="([^"]+)"/g)]
        const form = new URLSearchParams({ action: 'allow' })
        for (const [, scope] of scopes) form.append('scope', scope!)
        now = await this.send('POST', page, form)
      } else {
        now = await this.get(now.location)
      }
    }
    return now
  }

  /** Signs in, consents, and returns what the client gets. */
  async signIn(client: TestClient, change: Record<string, string | undefined> = {}) {
    return outcomeOf(await this.finish(await this.authorize(client, change)))
  }
}

export const CHALLENGE = {
  verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
}

export function authorizeQuery(
  { id }: TestClient,
  change: Record<string, string | undefined> = {},
): string {
  const asked = {
    client_id: id,
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid email',
    state: 'st-1',
    nonce: 'n-1',
    ...change,
  }
  return new URLSearchParams(
    Object.entries(asked).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString()
}

/** What arrived at the redirect URL, and whether in the query or the fragment. */
export function outcomeOf({ location, status }: Answer) {
  const url = new URL(location)
  const mode = url.hash ? 'fragment' : 'query'
  const parts = mode === 'fragment' ? new URLSearchParams(url.hash.slice(1)) : url.searchParams
  return {
    status,
    mode,
    to: url.origin + url.pathname,
    ...(Object.fromEntries(parts) as Record<string, string>),
  } as { status: number; mode: string; to: string } & Record<string, string>
}

/** Exchanges a code at the REST door. */
export async function exchange(
  service: TestService,
  client: TestClient,
  change: Record<string, string | undefined>,
  headers: Record<string, string> = {},
) {
  const sent = {
    client_id: client.id,
    client_secret: client.secret,
    grant_type: 'authorization_code',
    redirect_uri: REDIRECT,
    ...change,
  }
  const form = new URLSearchParams(
    Object.entries(sent).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
  return service.rest('POST /token', form.toString(), {
    credential: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })
}

export const claimsIn = (jwt: string) =>
  JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()) as Record<string, any>
