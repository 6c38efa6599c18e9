// Access tokens at /userinfo, at our services and at the graph.
import { expect, test } from 'vitest'
import { claimsIn, exchange, openIdentity, outcomeOf, type Identity } from './identity.ts'

const userInfo = (identity: Identity, token: string) =>
  identity.rest('GET /userinfo', undefined, {
    credential: null,
    headers: { authorization: `Bearer ${token}` },
  })

async function tokensFor(identity: Identity, change: Record<string, string>) {
  const client = await identity.ada.client()
  const browser = identity.browser()
  const { code } = await browser.signIn(client, change)
  const { body } = await exchange(identity.service, client, { code })
  const { access_token, id_token } = body as Record<string, string>
  return { client, browser, access_token, id_token }
}

const PROFILE = {
  given_name: 'Ada',
  family_name: 'Lovelace',
  nickname: 'the countess',
  preferred_username: 'ada',
  locale: 'en-GB',
  zoneinfo: 'Europe/London',
  phone_number: '+441632960001',
  address: { locality: 'London', country: 'GB' },
  'vendor:location': { latitude: 51.5, longitude: -0.12 },
}

async function tellProfile({ ada }: Identity): Promise<void> {
  await ada.ask(
    `mutation { updateProfile(profile: { givenName: "Ada", familyName: "Lovelace", nickname: "the countess",
       preferredUsername: "ada", locale: "en-GB", zoneinfo: "Europe/London", phoneNumber: "+441632960001",
       address: { locality: "London", country: "GB" }, vendorLocation: { latitude: 51.5, longitude: -0.12 } }) { id } }`,
  )
}

test.each([
  ['openid', []],
  [
    'openid profile',
    ['name', 'family_name', 'given_name', 'nickname', 'preferred_username', 'zoneinfo', 'locale'],
  ],
  ['openid email', ['email', 'email_verified']],
  ['openid phone', ['phone_number', 'phone_number_verified']],
  ['openid address', ['address']],
  ['openid vendor:name', ['name', 'family_name', 'given_name', 'nickname']],
  ['openid vendor:location', ['vendor:location']],
  ['openid vendor:username', ['preferred_username']],
  ['openid vendor:locale', ['locale']],
  ['openid vendor:zoneinfo', ['zoneinfo']],
  ['openid vendor:push', []],
])('%s releases %j', async (scope, claims) => {
  const identity = await openIdentity()
  await tellProfile(identity)
  const { access_token, id_token } = await tokensFor(identity, { scope })

  const { status, body, headers } = await userInfo(identity, access_token!)

  expect(status).toBe(200)
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(headers['cache-control']).toBe('no-store')
  expect(Object.keys(body).toSorted()).toEqual(['sub', ...claims].toSorted())
  const known = {
    ...PROFILE,
    name: 'ada',
    email: 'ada@example.org',
    email_verified: false,
    phone_number_verified: false,
  }
  for (const claim of claims) expect(body[claim]).toEqual((known as any)[claim])
  expect(body.sub).toBe(claimsIn(id_token!).sub)
})

test('the graph has the same under userInfo', async () => {
  const identity = await openIdentity()
  await tellProfile(identity)

  const { userInfo } = await identity.ada.ask(
    '{ userInfo { sub givenName emailVerified vendorLocation { latitude } address { country } } }',
  )

  expect(userInfo).toEqual({
    sub: identity.ada.id,
    givenName: 'Ada',
    emailVerified: false,
    vendorLocation: { latitude: 51.5 },
    address: { country: 'GB' },
  })
})

test('without a token, or with a wrong one, /userinfo answers 401 and says how', async () => {
  const identity = await openIdentity()

  const none = await identity.rest('GET /userinfo', undefined, { credential: null })
  const wrong = await userInfo(identity, 'wrong')

  expect(none).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  expect(none.headers['www-authenticate']).toBe('Bearer realm="polygraph"')
  expect(wrong.status).toBe(401)
  expect(wrong.headers['www-authenticate']).toBe('Bearer realm="polygraph", error="invalid_token"')
})

test('an access token ends after an hour', async () => {
  const identity = await openIdentity()
  const { access_token } = await tokensFor(identity, {})
  expect((await userInfo(identity, access_token!)).status).toBe(200)
  await identity.advance(3600_000)

  expect((await userInfo(identity, access_token!)).status).toBe(401)
})

test('a token for a service is a JWT that opens that service alone, for its scope alone', async () => {
  const identity = await openIdentity()
  const { access_token } = await tokensFor(identity, {
    scope: 'openid hsm',
    resource: 'urn:polygraph:hsm',
  })
  const token = access_token!

  expect(claimsIn(token)).toMatchObject({
    iss: 'http://polygraph.test',
    sub: identity.ada.id,
    aud: 'urn:polygraph:hsm',
    scope: 'hsm',
    iat: Date.parse('2030-01-01T00:00:00Z') / 1000,
    exp: Date.parse('2030-01-01T01:00:00Z') / 1000,
  })
  const { byToken } = identity.credentials
  expect(await byToken('hsm', token)).toMatchObject({
    kind: 'user',
    userId: identity.ada.id,
    permissions: ['hsm'],
    isAdmin: false,
  })
  for (const service of ['graph', 'identity', 'config-store']) {
    expect(await byToken(service, token)).toBeUndefined()
  }
  expect((await userInfo(identity, token)).status).toBe(401)
  await identity.advance(3600_000)
  expect(await byToken('hsm', token)).toBeUndefined()
})

test('a token without the scope of its service opens nothing', async () => {
  const identity = await openIdentity()
  const { access_token } = await tokensFor(identity, {
    scope: 'openid',
    resource: 'urn:polygraph:hsm',
  })

  expect(await identity.credentials.byToken('hsm', access_token!)).toBeUndefined()
})

test('a forged token opens nothing', async () => {
  const identity = await openIdentity()
  const { access_token } = await tokensFor(identity, {
    scope: 'openid hsm',
    resource: 'urn:polygraph:hsm',
  })
  const [head, body, signature] = access_token!.split('.') as [string, string, string]
  const changed = Buffer.from(
    JSON.stringify({ ...claimsIn(access_token!), aud: 'urn:polygraph:graph', scope: 'graph' }),
  )
  const none = Buffer.from(JSON.stringify({ alg: 'none', typ: 'at+jwt' })).toString('base64url')

  for (const forged of [
    `${head}.${changed.toString('base64url')}.${signature}`,
    `${none}.${body}.${signature}`,
    `${head}.${body}.${signature.split('').toReversed().join('')}`,
  ]) {
    expect(await identity.credentials.byToken('hsm', forged)).toBeUndefined()
    expect(await identity.credentials.byToken('graph', forged)).toBeUndefined()
  }
})

test('an ID token is no access token', async () => {
  const identity = await openIdentity()
  const { id_token } = await tokensFor(identity, {})

  expect(await identity.credentials.byToken('identity', id_token!)).toBeUndefined()
})

test('an unknown resource is refused', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  const answer = await identity.browser().authorize(client, { resource: 'https://else.example/' })

  expect(outcomeOf(answer).error).toBe('invalid_target')
})

test.each([
  [
    'the person signs out',
    async ({ browser }: any) => {
      const page = await browser.get('/sign-out')
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.body)![1]!
      await browser.send('POST', '/sign-out/confirm', { xsrf, logout: 'yes' })
    },
  ],
  [
    'the person takes the consent back',
    async ({ identity, client }: any) => {
      await identity.ada.ask(`mutation { withdrawConsent(clientId: "${client.id}") }`)
    },
  ],
  [
    'the session is ended from elsewhere',
    async ({ identity }: any) => {
      const { sessions } = await identity.ada.ask('{ sessions { nodes { id } } }')
      await identity.ada.ask(`mutation { endSession(id: "${sessions.nodes[0].id}") }`)
    },
  ],
  [
    'the client is deleted',
    async ({ identity, client }: any) => {
      await identity.ada.ask(`mutation { deleteClient(clientId: "${client.id}") }`)
    },
  ],
])('tokens of both kinds end within five seconds when %s', async (_what, end) => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const opaque = await browser.signIn(client, { response_type: 'token' })
  const jwt = await browser.signIn(client, {
    response_type: 'token',
    scope: 'openid graph',
    resource: 'urn:polygraph:graph',
  })
  expect((await userInfo(identity, opaque.access_token!)).status).toBe(200)
  expect(await identity.credentials.byToken('graph', jwt.access_token!)).toBeDefined()

  await end({ identity, client, browser })
  await identity.advance(5_000)

  expect((await userInfo(identity, opaque.access_token!)).status).toBe(401)
  expect(await identity.credentials.byToken('graph', jwt.access_token!)).toBeUndefined()
})

test('a token with the scope clients manages the clients of its owner, and one without does not', async () => {
  const identity = await openIdentity()
  const may = await tokensFor(identity, { scope: 'openid clients' })
  const mayNot = await tokensFor(identity, { scope: 'openid email' })
  const list = (token: string) =>
    identity.rest('GET /client', undefined, {
      credential: null,
      headers: { authorization: `Bearer ${token}` },
    })

  expect((await list(may.access_token!)).body.map(({ client_id }: any) => client_id)).toContain(
    may.client.id,
  )
  expect(await list(mayNot.access_token!)).toMatchObject({
    status: 403,
    body: { error: 'insufficient_scope' },
  })
})

test('a token that tells who someone is does not act for them', async () => {
  const identity = await openIdentity()
  const { access_token } = await tokensFor(identity, { scope: 'openid clients' })
  const caller = (await identity.credentials.byToken('identity', access_token!))!
  const references = [{ __typename: 'User', id: identity.ada.id }]

  for (const query of [
    '{ me { email } }',
    '{ apiKeys { nodes { id } } }',
    '{ sessions { nodes { id } } }',
  ]) {
    const { errors } = await identity.graphqlAs(caller, query)
    expect(errors).toMatchObject([{ extensions: { code: 'Forbidden', status: 403 } }])
  }
  const { data } = await identity.graphqlAs(
    caller,
    'query ($references: [_Any!]!) { _entities(representations: $references) { ... on User { email } } userInfo { sub email } }',
    { references },
  )
  expect(data).toEqual({ _entities: [null], userInfo: { sub: identity.ada.id, email: null } })
  expect(caller.accounts).toEqual([])
})
