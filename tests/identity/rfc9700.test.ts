// Best Current Practice for OAuth 2.0 Security (RFC 9700): what it requires of a provider, one by one.
import { expect, test } from 'vitest'
import {
  ADDRESS,
  CHALLENGE,
  claimsIn,
  exchange,
  openIdentity,
  outcomeOf,
  PASSWORD,
  REDIRECT,
} from './identity.ts'

const S256 = { code_challenge: CHALLENGE.challenge, code_challenge_method: 'S256' }

test('2.1, 4.1.3: redirect URLs are matched exactly, but for the port of a native application', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client({ redirectUris: ['https://c.example/cb'] })
  const browser = identity.browser()

  for (const redirect_uri of [
    'https://c.example/cb/',
    'https://c.example/cb?x=1',
    'https://c.example/CB',
    'https://C.example/cb',
    'https://c.example:443/cb',
    'https://c.example/x/../cb',
    'https://c.example/cb%2F..',
    'https://c.example.evil.example/cb',
    'https://c.example@evil.example/cb',
    'https://c.example/cb#',
    'http://c.example/cb',
    ' https://c.example/cb',
  ]) {
    const answer = await browser.authorize(client, { redirect_uri })
    expect([redirect_uri, answer.status, answer.location]).toEqual([redirect_uri, 400, ''])
  }
  expect((await browser.authorize(client, { redirect_uri: 'https://c.example/cb' })).status).toBe(
    303,
  )
})

test('2.1, 4.11.2: it is no open redirector: nothing redirects before client and URL are known to be right', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const redirect_uri = 'https://evil.example/'

  for (const change of [
    { redirect_uri, response_type: 'magic' },
    { redirect_uri, scope: 'nothing' },
    { redirect_uri, prompt: 'none' },
    { redirect_uri, state: undefined },
    { client_id: 'unknown' },
  ]) {
    expect((await browser.authorize(client, change)).location).toBe('')
  }
  const out = await browser.get(
    `/sign-out?post_logout_redirect_uri=${encodeURIComponent(redirect_uri)}&client_id=${client.id}`,
  )
  expect([out.status, out.location]).toEqual([200, ''])
})

test('2.1.1: PKCE is supported, and a code that has a challenge needs its verifier', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const { code } = await identity.browser().signIn(client, S256)

  const without = await exchange(identity.service, client, { code })
  const right = await exchange(identity.service, client, {
    code,
    code_verifier: CHALLENGE.verifier,
  })

  expect(without).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect(right.status).toBe(200)
})

test('2.1.1, 4.8.2: no downgrade: a verifier for a code without a challenge is refused', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const { code } = await identity.browser().signIn(client)

  const refused = await exchange(identity.service, client, {
    code,
    code_verifier: CHALLENGE.verifier,
  })

  expect(refused).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
})

test('2.1.1: challenges that show the verifier are refused, and discovery says what is supported', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const plain = { code_challenge: CHALLENGE.verifier, code_challenge_method: 'plain' }

  const refused = await identity.browser().authorize(client, plain)
  const { body } = await identity.rest('GET /.well-known/openid-configuration', undefined, {
    credential: null,
  })

  expect(outcomeOf(refused).error).toBe('invalid_request')
  expect(body.code_challenge_methods_supported).toEqual(['S256'])
})

test('2.1.2: tokens are in the front channel only for clients that are registered for it', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client({ responseTypes: ['code'] })

  for (const response_type of ['token', 'id_token', 'token id_token', 'code token']) {
    const answer = await identity.browser().authorize(client, { response_type })
    expect(outcomeOf(answer).error).toBe('unauthorized_client')
  }
})

test('2.3: an access token is for one audience', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const change = { response_type: 'token', scope: 'openid hsm', resource: 'urn:polygraph:hsm' }
  const { access_token } = await identity.browser().signIn(client, change)

  expect(claimsIn(access_token!).aud).toBe('urn:polygraph:hsm')
  expect(await identity.credentials.byToken('graph', access_token!)).toBeUndefined()
})

test('2.4: the password grant is not there', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  const refused = await exchange(identity.service, client, {
    grant_type: 'password',
    code: undefined,
  })

  expect(refused.body.error).toBe('unsupported_grant_type')
})

test('4.2.4: neither pages nor answers tell where they came from, and none is kept', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()

  const first = await browser.authorize(client)
  const page = await browser.get(first.location)
  const last = await browser.finish(first)

  expect(first.headers['referrer-policy']).toBe('no-referrer')
  expect(page.headers['referrer-policy']).toBe('same-origin')
  expect(last.headers['referrer-policy']).toBe('no-referrer')
  for (const { headers } of [first, page, last]) expect(headers['cache-control']).toBe('no-store')
})

test('4.2.4, 4.5.3: a code works once, and shown again it ends what was issued for it', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const { code } = await identity.browser().signIn(client)
  const { body } = await exchange(identity.service, client, { code })
  const info = () =>
    identity.rest('GET /userinfo', undefined, {
      credential: null,
      headers: { authorization: `Bearer ${body.access_token}` },
    })
  expect((await info()).status).toBe(200)

  const replayed = await exchange(identity.service, client, { code })
  await identity.advance(5_000)

  expect(replayed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  expect((await info()).status).toBe(401)
})

test('4.3.2: tokens are not taken from a query', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const { access_token } = await identity.browser().signIn(client, { response_type: 'token' })

  const refused = await identity.rest(`GET /userinfo?access_token=${access_token}`, undefined, {
    credential: null,
  })

  expect(refused.status).toBe(401)
})

test('4.4.2: every answer says who answers, errors too, and discovery says that it does', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const error = outcomeOf(await browser.authorize(client, { prompt: 'none' }))
  const early = outcomeOf(await browser.authorize(client, { scope: 'x' }))
  const code = await browser.signIn(client)
  const hybrid = await browser.signIn(client, { response_type: 'code id_token' })
  const { body } = await identity.rest('GET /.well-known/openid-configuration', undefined, {
    credential: null,
  })

  expect([error.iss, early.iss, code.iss, hybrid.iss]).toEqual([ADDRESS, ADDRESS, ADDRESS, ADDRESS])
  expect(body.issuer).toBe(ADDRESS)
  expect(body.authorization_response_iss_parameter_supported).toBe(true)
})

test('4.5.3.2: the nonce of the request is in the ID token of its code', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const { code } = await identity.browser().signIn(client, { nonce: 'only-this' })

  const { body } = await exchange(identity.service, client, { code })

  expect(claimsIn(body.id_token).nonce).toBe('only-this')
})

test('4.7: a form of another site neither signs in nor consents', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const first = await browser.authorize(client)
  const form = { email: 'ada@example.org', password: PASSWORD, action: 'sign-in' }

  const crossSite = await browser.send('POST', first.location, form, {
    origin: 'https://evil.example',
  })
  const sandboxed = await browser.send('POST', first.location, form, { origin: 'null' })
  const stranger = await identity.browser().send('POST', first.location, form)

  expect([crossSite.status, sandboxed.status, stranger.status]).toEqual([403, 403, 400])
})

test('4.12: what is sent with a form is not sent on: redirects after forms make a GET', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const first = await browser.authorize(client)
  const form = { email: 'ada@example.org', password: PASSWORD, action: 'sign-in' }

  const answer = await browser.send('POST', first.location, form)

  expect(answer.status).toBe(303)
})

test('4.14: the pages cannot be framed, but a modal by the pages of its own client', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client({ redirectUris: [REDIRECT, 'https://c.example/cb'] })
  const browser = identity.browser()
  const page = await browser.get((await browser.authorize(client)).location)
  const modal = await browser.get((await browser.authorize(client, { display: 'modal' })).location)

  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(page.headers['x-frame-options']).toBe('DENY')
  expect(modal.headers['content-security-policy']).toContain(
    'frame-ancestors http://127.0.0.1:9999 https://c.example',
  )
})

test('4.15: no client can be taken for a person: client ids are ours to give', async () => {
  const identity = await openIdentity()
  const { id } = await identity.ada.client()

  expect(id).not.toBe(identity.ada.id)
  expect(id).toMatch(/^[0-9a-f]{8}-/)
})
