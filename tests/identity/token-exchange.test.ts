import { expect, test } from 'vitest'
import {
  ADDRESS,
  CHALLENGE,
  claimsIn,
  exchange,
  openIdentity,
  REDIRECT,
  type Identity,
  type TestClient,
} from './identity.ts'

const newCode = async (identity: Identity, client: TestClient, change = {}) =>
  (await identity.browser().signIn(client, change)).code!

const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

test('a code is exchanged for an ID token and an access token', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  const { status, headers, body } = await exchange(identity.service, client, {
    code: await newCode(identity, client),
  })

  expect(status).toBe(200)
  expect(headers['cache-control']).toBe('no-store')
  expect(headers.pragma).toBe('no-cache')
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(body).toEqual({
    token_type: 'Bearer',
    access_token: expect.stringMatching(/^[\w-]{43}$/),
    id_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    expires_in: 3600,
    expires_at: Date.parse('2030-01-01T01:00:00Z') / 1000,
    scope: 'openid email',
  })
  expect(claimsIn(body.id_token)).toMatchObject({
    iss: ADDRESS,
    sub: identity.ada.id,
    aud: client.id,
    azp: client.id,
    nonce: 'n-1',
    scope: 'openid email',
    email: 'ada@example.org',
    email_verified: false,
    exp: expect.any(Number),
    iat: expect.any(Number),
    jti: expect.any(String),
  })
})

test('the graph exchanges a code as well', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const code = await newCode(identity, client)

  const { data, errors } = await identity.graphql(
    `mutation ($id: String!, $secret: String!, $code: String!) {
       exchangeToken(clientId: $id, clientSecret: $secret, grantType: "authorization_code", code: $code,
         redirectUri: "${REDIRECT}") { tokenType expiresIn scope } }`,
    { ...client, code },
  )

  expect(errors).toBeUndefined()
  expect(data.exchangeToken).toEqual({
    tokenType: 'Bearer',
    expiresIn: 3600,
    scope: 'openid email',
  })
})

test('HTTP Basic stands for the two fields, and both given must agree', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const header = { authorization: basic(client.id, client.secret) }
  const none = { client_id: undefined, client_secret: undefined }

  const alone = await exchange(
    identity.service,
    client,
    { ...none, code: await newCode(identity, client) },
    header,
  )
  const both = await exchange(
    identity.service,
    client,
    { code: await newCode(identity, client) },
    header,
  )
  const other = await exchange(identity.service, client, { client_id: 'other', code: 'x' }, header)

  expect(alone.status).toBe(200)
  expect(both.status).toBe(200)
  expect(other).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})

test.each([
  ['no grant type', { grant_type: undefined }, 400, 'invalid_request'],
  ['grant type refresh_token', { grant_type: 'refresh_token' }, 400, 'unsupported_grant_type'],
  [
    'grant type client_credentials',
    { grant_type: 'client_credentials' },
    400,
    'unsupported_grant_type',
  ],
  ['grant type implicit', { grant_type: 'implicit' }, 400, 'unsupported_grant_type'],
  ['grant type password', { grant_type: 'password' }, 400, 'unsupported_grant_type'],
  ['no code', { code: undefined }, 400, 'invalid_request'],
  ['an unknown code', { code: 'x'.repeat(43) }, 400, 'invalid_grant'],
  ['no redirect URL', { redirect_uri: undefined }, 400, 'invalid_request'],
  ['another redirect URL', { redirect_uri: 'https://else.example/' }, 400, 'invalid_grant'],
  ['a wrong secret', { client_secret: 'wrong' }, 401, 'invalid_client'],
  ['no secret', { client_secret: undefined }, 401, 'invalid_client'],
  ['an unknown client', { client_id: 'nobody' }, 401, 'invalid_client'],
  ['no client', { client_id: undefined, client_secret: undefined }, 401, 'invalid_client'],
])('%s is refused, and the code stays good', async (_what, change, status, error) => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const code = await newCode(identity, client)

  const refused = await exchange(identity.service, client, { code, ...change })

  expect(refused).toMatchObject({ status, body: { error } })
  expect(refused.headers['cache-control']).toBe('no-store')
  expect(refused.headers['www-authenticate']).toBe(
    status === 401 ? 'Basic realm="polygraph", charset="UTF-8"' : undefined,
  )
  expect((await exchange(identity.service, client, { code })).status).toBe(200)
})

test('a code of one client is of no use to another', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const other = await identity.ada.client()
  const code = await newCode(identity, client)

  const refused = await exchange(identity.service, other, { code })

  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('a code ends after a minute', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const code = await newCode(identity, client)
  await identity.advance(60_000)

  const refused = await exchange(identity.service, client, { code })

  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('of many who show a code at once one gets tokens, and they end at once', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const code = await newCode(identity, client)

  const answers = await Promise.all(
    Array.from({ length: 5 }, () => exchange(identity.service, client, { code })),
  )

  const given = answers.filter(({ status }) => status === 200)
  expect(given.length).toBeLessThanOrEqual(1)
  expect(
    answers.filter(({ body }) => body.error === 'invalid_grant').length,
  ).toBeGreaterThanOrEqual(4)
  for (const { body } of given) {
    const header = { authorization: `Bearer ${body.access_token}` }
    const info = await identity.rest('GET /userinfo', undefined, {
      credential: null,
      headers: header,
    })
    expect(info.status).toBe(401)
  }
})

test('a client that guesses must wait, and others need not', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const other = await identity.ada.client()
  for (let i = 0; i < 20; i += 1) {
    await exchange(identity.service, client, { client_secret: `guess ${i}`, code: 'x' })
  }
  const code = await newCode(identity, client)

  const refused = await exchange(identity.service, client, { code })
  const free = await exchange(identity.service, other, { code: 'x' })
  await identity.advance(15 * 60_000)
  const later = await exchange(identity.service, client, { code: await newCode(identity, client) })

  expect(refused).toMatchObject({ status: 429, body: { error: 'slow_down' } })
  expect(refused.headers['retry-after']).toBe('900')
  expect(free.body.error).toBe('invalid_grant')
  expect(later.status).toBe(200)
})

test('a client may ask for RS256', async () => {
  const identity = await openIdentity()
  const made = await identity.ada.ask(
    `mutation { createClient(clientName: "a", clientUri: "https://a.example", redirectUris: ["${REDIRECT}"],
       idTokenSignedResponseAlg: "RS256") { clientSecret client { clientId } } }`,
  )
  const client = { id: made.createClient.client.clientId, secret: made.createClient.clientSecret }
  const usual = await identity.ada.client()

  const [rsa, ec] = await Promise.all(
    [client, usual].map(async (one) =>
      exchange(identity.service, one, { code: await newCode(identity, one) }),
    ),
  )

  const headOf = (jwt: string) =>
    JSON.parse(Buffer.from(jwt.split('.')[0]!, 'base64url').toString())
  expect(headOf(rsa!.body.id_token)).toEqual({ alg: 'RS256', kid: 'test-rsa' })
  expect(headOf(ec!.body.id_token)).toEqual({ alg: 'ES256', kid: 'test-ec' })
})

test('a body that is no form is refused', async () => {
  const identity = await openIdentity()

  const refused = await identity.rest(
    'POST /token',
    { grant_type: 'authorization_code' },
    { credential: null },
  )

  expect(refused).toMatchObject({ status: 415, body: { error: 'invalid_request' } })
})

test('a field that is there twice is refused', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const form = new URLSearchParams({
    client_id: client.id,
    client_secret: client.secret,
    code: 'a',
  })
  form.append('code', 'b')

  const refused = await identity.rest('POST /token', form.toString(), {
    credential: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

  expect(refused).toMatchObject({
    status: 400,
    body: { error: 'invalid_request', error_description: 'code must be there once.' },
  })
})

test('PKCE: the verifier must fit the challenge', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const challenge = { code_challenge: CHALLENGE.challenge, code_challenge_method: 'S256' }
  const code = await newCode(identity, client, challenge)

  const wrong = await exchange(identity.service, client, { code, code_verifier: 'a'.repeat(43) })
  const right = await exchange(identity.service, client, {
    code,
    code_verifier: CHALLENGE.verifier,
  })

  expect(wrong).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect(right.status).toBe(200)
})
