import { expect, test, vi } from 'vitest'
import { operations } from '../../resolvers/identity/authorize.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { perform, type Reply } from '../../resolvers/kernel/operation.ts'
import { isSecretOf } from '../../resolvers/identity/secret-text.ts'
import {
  ADDRESS,
  authorizeQuery,
  CHALLENGE,
  claimsIn,
  exchange,
  openIdentity,
  outcomeOf,
  PASSWORD,
  REDIRECT,
} from './identity.ts'

test('a browser that is not signed in is sent to the sign-in page, and from there to the client', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()

  const first = await browser.authorize(client)
  const page = await browser.get(first.location)
  const outcome = outcomeOf(await browser.finish(first))

  expect(first.status).toBe(303)
  expect(first.location).toMatch(/^http:\/\/polygraph\.test\/sign-in\/[\w-]{43}$/)
  expect(page.body).toContain('<h1>Sign in</h1>')
  expect(page.body).toContain('A client')
  expect(outcome).toMatchObject({ status: 302, mode: 'query', to: REDIRECT, state: 'st-1' })
  expect(outcome.code).toMatch(/^[\w-]{43}$/)
})

test('the graph says where a browser is sent', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  const { data } = await identity.graphql(
    `query ($clientId: String!) { authorize(clientId: $clientId, redirectUri: "${REDIRECT}", responseType: "code",
       scope: "openid", state: "s", prompt: "none") { status location } }`,
    { clientId: client.id },
  )

  expect(data.authorize.status).toBe(302)
  expect(data.authorize.location).toMatch(
    /^http:\/\/127\.0\.0\.1:9999\/callback\?error=login_required/,
  )
})

test.each([
  ['an unknown client', { client_id: 'nobody' }, 'invalid_client'],
  [
    'a URL that is not registered',
    { redirect_uri: 'https://evil.example/' },
    'invalid_redirect_uri',
  ],
  ['a URL with more at its end', { redirect_uri: `${REDIRECT}/more` }, 'invalid_redirect_uri'],
  ['a URL with a query', { redirect_uri: `${REDIRECT}?a=1` }, 'invalid_redirect_uri'],
  ['a URL in other case', { redirect_uri: REDIRECT.toUpperCase() }, 'invalid_redirect_uri'],
  ['no redirect URL', { redirect_uri: undefined }, 'invalid_request'],
  ['no client', { client_id: undefined }, 'invalid_request'],
])('%s is refused with 400 and leads nowhere', async (_what, change, error) => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const query = authorizeQuery(client, change)

  const answer = await identity.rest(`GET /authorize?${query}`, undefined, { credential: null })
  const page = await identity.browser().get(`/authorize?${query}`)

  expect(answer.status).toBe(400)
  expect(answer.headers.location).toBeUndefined()
  expect(answer.body.error).toBe(error)
  expect(page.status).toBe(400)
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(page.body).toContain('That did not work')
})

test.each([
  ['state is missing', { state: undefined }, 'invalid_request'],
  ['state is empty', { state: '' }, 'invalid_request'],
  ['prompt is a space', { prompt: ' ' }, 'invalid_request'],
  ['response_type is missing', { response_type: undefined }, 'invalid_request'],
  ['response_type is unknown', { response_type: 'code magic' }, 'unsupported_response_type'],
  ['response_type none is not documented', { response_type: 'none' }, 'unsupported_response_type'],
  ['scope lacks openid', { scope: 'email' }, 'invalid_scope'],
  ['scope is missing', { scope: undefined }, 'invalid_scope'],
  ['response_mode is unknown', { response_mode: 'form_post' }, 'invalid_request'],
  ['display is unknown', { display: 'wap' }, 'invalid_request'],
  ['prompt is unknown', { prompt: 'select_account' }, 'invalid_request'],
  ['prompt is in capitals', { prompt: 'LOGIN' }, 'invalid_request'],
  ['prompt has none and login', { prompt: 'none login' }, 'invalid_request'],
  ['max_age is no number', { max_age: 'soon' }, 'invalid_request'],
  ['max_age is negative', { max_age: '-1' }, 'invalid_request'],
  [
    'the challenge is plain',
    { code_challenge: CHALLENGE.challenge, code_challenge_method: 'plain' },
    'invalid_request',
  ],
  ['the challenge names no method', { code_challenge: CHALLENGE.challenge }, 'invalid_request'],
  [
    'an id_token comes without nonce',
    { response_type: 'id_token', nonce: undefined },
    'invalid_request',
  ],
])('when %s the error travels to the redirect location', async (_what, change, error) => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  const answer = await identity.browser().authorize(client, change)

  const outcome = outcomeOf(answer)
  expect(outcome).toMatchObject({ status: 302, to: REDIRECT, error, iss: ADDRESS })
  expect(outcome.state).toBe('state' in change ? undefined : 'st-1')
  expect(outcome.error_description).not.toBe('')
})

test('a client restricted to some response types is refused the others', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client({ responseTypes: ['code', 'id_token code'] })
  const browser = identity.browser()

  const allowed = await browser.authorize(client, { response_type: 'code id_token' })
  const refused = await browser.authorize(client, { response_type: 'token' })

  expect(allowed.status).toBe(303)
  expect(outcomeOf(refused)).toMatchObject({
    status: 302,
    mode: 'fragment',
    error: 'unauthorized_client',
  })
})

test('the words of a response type come in any order', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)

  for (const response_type of [
    'id_token token code',
    'token code id_token',
    'code id_token token',
  ]) {
    const outcome = outcomeOf(await browser.authorize(client, { response_type, prompt: 'none' }))
    expect(Object.keys(outcome)).toEqual(
      expect.arrayContaining(['code', 'id_token', 'access_token']),
    )
  }
})

test('state comes back unchanged, whatever it is', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)
  const state = `a&b=c#d +"<é>\u{1f600}%20`

  const outcome = outcomeOf(await browser.authorize(client, { state, prompt: 'none' }))

  expect(outcome.state).toBe(state)
})

test('/authorize takes a form too', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)
  const form = new URLSearchParams(authorizeQuery(client, { prompt: 'none' }))

  const answer = await browser.send('POST', '/authorize', form, {
    origin: 'https://client.example.org',
  })
  form.append('state', 'again')
  const twice = await browser.send('POST', '/authorize', form, { accept: 'application/json' })

  expect(outcomeOf(answer)).toMatchObject({ status: 302, state: 'st-1' })
  expect(twice.status).toBe(400)
  expect(JSON.parse(twice.body)).toMatchObject({ error: 'invalid_request' })
})

test('ui_locales and parameters that nobody knows are ignored', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  const answer = await identity.browser().authorize(client, { ui_locales: 'fr-CA en', foo: 'bar' })

  expect(answer.status).toBe(303)
})

test('max_age asks for the password again once it has passed, and the ID token says when it was', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)
  const fresh = await browser.authorize(client, { max_age: '60', prompt: 'none' })
  const { id_token } = (await exchange(identity.service, client, { code: outcomeOf(fresh).code }))
    .body
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  try {
    const silent = await browser.authorize(client, { max_age: '60', prompt: 'none' })
    const asked = await browser.authorize(client, { max_age: '60' })

    expect(claimsIn(id_token).auth_time).toBeTypeOf('number')
    expect(outcomeOf(silent).error).toBe('login_required')
    expect(asked.location).toContain('/sign-in/')
  } finally {
    vi.useRealTimers()
  }
})

test('prompt login and consent together ask for both', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)

  const first = await browser.authorize(client, { prompt: 'login consent' })
  const form = { email: 'ada@example.org', password: PASSWORD, action: 'sign-in' }
  const resumed = await browser.send('POST', first.location, form)
  const second = await browser.get(resumed.location)
  const last = outcomeOf(await browser.finish(second))

  expect(first.location).toContain('/sign-in/')
  expect(second.status).toBe(303)
  expect(second.location).toContain('/consent/')
  expect(last.code).toBeDefined()
})

test('someone else can sign in where one is signed in, and gets a session of their own', async () => {
  const identity = await openIdentity()
  await identity.register('bob')
  const client = await identity.ada.client()
  const browser = identity.browser()
  const before = await browser.signIn(client, { response_type: 'token' })

  const first = await browser.authorize(client, { prompt: 'login', response_type: 'id_token' })
  const outcome = outcomeOf(await browser.finish(first, 'bob@example.org'))

  expect(await identity.credentials.byToken('identity', before.access_token!)).toBeUndefined()
  expect(claimsIn(outcome.id_token!).email).toBe('bob@example.org')
  const { sessions } = await identity.ada.ask('{ sessions { nodes { id } } }')
  expect(sessions.nodes).toEqual([])
})

test.each([
  ['page', "frame-ancestors 'none'"],
  ['popup', "frame-ancestors 'none'"],
  ['modal', 'frame-ancestors http://127.0.0.1:9999'],
])('display %s has a page that suits it, with %s', async (display, ancestors) => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()

  const page = await browser.get((await browser.authorize(client, { display })).location)

  expect(page.body).toContain(`<body class="${display}">`)
  expect(page.headers['content-security-policy']).toContain(ancestors)
  expect(page.headers['x-frame-options']).toBe(display === 'modal' ? undefined : 'DENY')
})

test('a person who cancels sends access_denied to the client', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()

  const first = await browser.authorize(client)
  const cancelled = await browser.send('POST', first.location, { action: 'cancel' })
  const answer = await browser.get(cancelled.location)

  expect(outcomeOf(answer)).toMatchObject({
    status: 302,
    to: REDIRECT,
    error: 'access_denied',
    state: 'st-1',
  })
})

test('a person chooses what a client may see, but not what it requires', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const scope = 'openid email~r profile'
  const first = await browser.authorize(client, { scope })
  const form = { email: 'ada@example.org', password: PASSWORD, action: 'sign-in' }
  const resumed = await browser.send('POST', first.location, form)
  const consent = await browser.get(resumed.location)

  const page = await browser.get(consent.location)
  const allowed = await browser.send('POST', consent.location, { action: 'allow' })
  const outcome = outcomeOf(await browser.get(allowed.location))
  const { body } = await exchange(identity.service, client, { code: outcome.code })

  expect(page.body).toMatch(/See your e-mail address\s+\(required\)/)
  expect(body.scope).toBe('openid email')
  expect(claimsIn(body.id_token)).toMatchObject({ email: 'ada@example.org' })
  expect(claimsIn(body.id_token)).not.toHaveProperty('name')
  const again = await browser.authorize(client, { scope, prompt: 'none' })
  expect(outcomeOf(again).code).toBeDefined()
})

test('in test mode a URL need not be registered: the page says so loudly, and consent is always asked', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client({ redirectUris: [] })
  const browser = identity.browser()
  const redirect_uri = 'https://somewhere.example/back'

  const first = await browser.authorize(client, { redirect_uri })
  const page = await browser.get(first.location)
  const outcome = outcomeOf(await browser.finish(first))
  const silent = outcomeOf(await browser.authorize(client, { redirect_uri, prompt: 'none' }))
  const script = await browser.authorize(client, { redirect_uri: 'javascript:alert(1)' })

  expect(page.body).toMatch(/class="loud" role="alert">\s*TEST MODE/)
  expect(page.body).toContain(redirect_uri)
  expect(outcome).toMatchObject({ to: redirect_uri, state: 'st-1' })
  expect(silent.error).toBe('consent_required')
  expect(script.status).toBe(400)
})

test('a client that is not in test mode has no such banner', async () => {
  const identity = await openIdentity()
  const browser = identity.browser()

  const page = await browser.get((await browser.authorize(await identity.ada.client())).location)

  expect(page.body).not.toContain('TEST MODE')
})

test('a native application chooses its port on its own machine', async () => {
  const identity = await openIdentity()
  const redirectUris = ['http://127.0.0.1/cb', 'org.example.app:/cb']
  const client = await identity.ada.client({ redirectUris, applicationType: 'native' })
  const browser = identity.browser()

  const port = await browser.authorize(client, { redirect_uri: 'http://127.0.0.1:5555/cb' })
  const scheme = await browser.authorize(client, { redirect_uri: 'org.example.app:/cb' })
  const other = await browser.authorize(client, { redirect_uri: 'http://127.0.0.1:5555/other' })

  expect([port.status, scheme.status, other.status]).toEqual([303, 303, 400])
})

test('the name of a stored record is a hash, and nothing in it can be shown to us', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const { code } = await identity.browser().signIn(client)

  const rows = await identity.store.sql('SELECT key, body FROM issued_record')

  expect(JSON.stringify(rows)).not.toContain(code)
  const names = rows.map(({ key }) => String(key))
  expect(names.some((name) => isSecretOf(name.split('/')[1]!, code!))).toBe(true)
})

test('behind https the cookies are secure and go into frames, and the links lead there', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const address = 'https://id.example.org/identity'
  const ctx = identity.opened.contextFor(NOBODY, { address, headers: {} })
  const sent = Object.fromEntries(new URLSearchParams(authorizeQuery(client)))

  const { status, headers } = (await perform(operations[0]!, sent, ctx)) as Reply

  expect(status).toBe(303)
  expect(headers.location).toMatch(/^https:\/\/id\.example\.org\/identity\/sign-in\//)
  const cookies = headers['set-cookie'] as unknown as string[]
  expect(cookies.length).toBeGreaterThan(1)
  for (const cookie of cookies) expect(cookie).toMatch(/; samesite=none; secure/i)
})
