// A client that people use, as it is: openid-client, over real HTTP.
import * as client from 'openid-client'
import { expect, test } from 'vitest'
import { openIdentity, REDIRECT, type Browser } from './identity.ts'

const insecure = { execute: [client.allowInsecureRequests] }

async function open() {
  const identity = await openIdentity()
  const issuer = await identity.listen()
  const { id, secret } = await identity.ada.client()
  const discover = () => client.discovery(new URL(issuer), id, secret, undefined, insecure)
  return { identity, issuer, config: await discover(), browser: identity.browser(issuer) }
}

/** What a request carries, and what its answer is held against. */
async function request(more: Record<string, string> = {}) {
  const verifier = client.randomPKCECodeVerifier()
  const state = client.randomState()
  const nonce = client.randomNonce()
  return {
    verifier,
    state,
    nonce,
    parameters: {
      redirect_uri: REDIRECT,
      scope: 'openid email profile',
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
      ...more,
    },
  }
}

const walk = async (browser: Browser, url: URL) =>
  new URL((await browser.finish(await browser.get(url.href))).location)

test('it finds its way by discovery', async () => {
  const { config, issuer } = await open()

  expect(config.serverMetadata()).toMatchObject({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    check_session_iframe: `${issuer}/session/iframe`,
  })
})

test('it completes the code flow with PKCE and nonce, and reads the profile', async () => {
  const { config, browser, identity } = await open()
  const { verifier, state, nonce, parameters } = await request()

  const back = await walk(browser, client.buildAuthorizationUrl(config, parameters))
  const tokens = await client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    idTokenExpected: true,
  })
  const info = await client.fetchUserInfo(config, tokens.access_token, tokens.claims()!.sub)

  expect(tokens.claims()).toMatchObject({ sub: identity.ada.id, nonce, email: 'ada@example.org' })
  expect(info).toMatchObject({ sub: identity.ada.id, name: 'ada', email: 'ada@example.org' })
})

test('it renews silently while the session lasts, and is told when it does not', async () => {
  const { config, browser } = await open()
  const first = await request()
  await walk(browser, client.buildAuthorizationUrl(config, first.parameters))
  const { verifier, state, nonce, parameters } = await request({ prompt: 'none' })

  const silent = await browser.get(client.buildAuthorizationUrl(config, parameters).href)
  const tokens = await client.authorizationCodeGrant(config, new URL(silent.location), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  })
  browser.cookies.clear()
  const gone = await browser.get(client.buildAuthorizationUrl(config, parameters).href)
  const refused = client.authorizationCodeGrant(config, new URL(gone.location), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  })

  expect(tokens.expires_in).toBe(3600)
  await expect(refused).rejects.toMatchObject({ error: 'login_required' })
})

test('it completes the implicit flow, and checks the signature by the published keys', async () => {
  const { config, browser, identity } = await open()
  client.useIdTokenResponseType(config)
  const { state, nonce, parameters } = await request({
    code_challenge: '',
    code_challenge_method: '',
  })
  const { code_challenge: _c, code_challenge_method: _m, ...plain } = parameters

  const back = await walk(browser, client.buildAuthorizationUrl(config, plain))
  const claims = await client.implicitAuthentication(config, back, nonce, { expectedState: state })

  expect(back.hash).toContain('id_token=')
  expect(claims).toMatchObject({ sub: identity.ada.id, nonce })
})

test('it completes the hybrid flow, with both hashes right', async () => {
  const { config, browser, identity } = await open()
  client.useCodeIdTokenResponseType(config)
  const { verifier, state, nonce, parameters } = await request()

  const back = await walk(browser, client.buildAuthorizationUrl(config, parameters))
  const tokens = await client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  })

  expect(tokens.claims()).toMatchObject({ sub: identity.ada.id, nonce })
})

test('it sends max_age and finds auth_time', async () => {
  const { config, browser } = await open()
  const { verifier, state, nonce, parameters } = await request({ max_age: '600' })

  const back = await walk(browser, client.buildAuthorizationUrl(config, parameters))
  const tokens = await client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    maxAge: 600,
  })

  expect(tokens.claims()!.auth_time).toBeTypeOf('number')
})

test('it registers a client by itself, with a token of its owner', async () => {
  const { identity, issuer } = await open()
  const initialAccessToken = await identity.ada.token()
  const metadata = {
    client_name: 'Registered',
    client_uri: 'https://registered.example/',
    redirect_uris: [REDIRECT],
  }

  const config = await client.dynamicClientRegistration(new URL(issuer), metadata, undefined, {
    ...insecure,
    initialAccessToken,
  })

  expect(config.clientMetadata()).toMatchObject({
    client_name: 'Registered',
    response_types: ['code'],
  })
})

test('it signs out', async () => {
  const { config, browser } = await open()
  const { verifier, state, nonce, parameters } = await request()
  const back = await walk(browser, client.buildAuthorizationUrl(config, parameters))
  const tokens = await client.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  })
  const url = client.buildEndSessionUrl(config, {
    post_logout_redirect_uri: REDIRECT,
    id_token_hint: tokens.id_token!,
    state: 'bye',
  })

  const page = await browser.get(url.href)
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.body)![1]!
  const done = await browser.send('POST', '/sign-out/confirm', { xsrf, logout: 'yes' })
  const again = await browser.get(url.href)

  expect(page.body).toContain('<h1>Sign out?</h1>')
  expect(done).toMatchObject({ status: 303, location: `${REDIRECT}?state=bye` })
  expect(again).toMatchObject({ status: 303, location: `${REDIRECT}?state=bye` })
})
