// The pages beside an authorization: the account, the first person, the session iframe, what is published.
import { expect, test } from 'vitest'
import { passwords } from '../../resolvers/identity/passwords.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import { subgraph } from '../../subgraphs/identity.ts'
import { openForTest } from '../open.ts'
import { Browser, openIdentity, outcomeOf, PASSWORD, type Identity } from './identity.ts'

const SIGN_IN = { email: 'ada@example.org', password: PASSWORD, action: 'sign-in' }

async function signedIn(identity: Identity): Promise<Browser> {
  const browser = identity.browser()
  await browser.send('POST', '/sign-in', { ...SIGN_IN, remember: 'yes' })
  return browser
}

const markIn = (body: string) => /name="mark" value="([^"]+)"/.exec(body)![1]!

test('the account page asks to sign in first, and then shows what is theirs', async () => {
  const identity = await openIdentity()
  const browser = identity.browser()

  const before = await browser.get('/account')
  const signing = await browser.send('POST', '/sign-in', SIGN_IN)
  const page = await browser.get('/account')
  const again = await browser.get('/sign-in')

  expect(before).toMatchObject({ status: 303, location: 'http://polygraph.test/sign-in' })
  expect(signing).toMatchObject({ status: 303, location: 'http://polygraph.test/account' })
  expect(page.status).toBe(200)
  expect(page.body).toContain('ada, ada@example.org')
  expect(page.body).toContain('test browser (this one)')
  expect(again.location).toBe('http://polygraph.test/account')
})

test('a session lasts a fortnight where the person wishes so, and as long as the browser where not', async () => {
  const identity = await openIdentity()
  const cookieOf = async (form: Record<string, string>) => {
    const { headers } = await identity.browser().send('POST', '/sign-in', form)
    return [headers['set-cookie'] ?? []].flat().find((text) => text.startsWith('pg_session='))!
  }

  const kept = await cookieOf({ ...SIGN_IN, remember: 'yes' })
  const brief = await cookieOf(SIGN_IN)

  expect(kept).toMatch(/; path=\/; expires=.*; samesite=lax; httponly/)
  expect(brief).toMatch(/; path=\/; samesite=lax; httponly/)
  expect(brief).not.toContain('expires')
})

test('a form of the account page works for its own session alone', async () => {
  const identity = await openIdentity()
  await identity.register('bob')
  const ada = await signedIn(identity)
  const bob = identity.browser()
  await bob.send('POST', '/sign-in', { ...SIGN_IN, email: 'bob@example.org' })
  const mark = markIn((await bob.get('/account')).body)
  const { sessions } = await identity.ada.ask('{ sessions { nodes { id } } }')

  const foreign = await ada.send('POST', '/account/end-session', { mark, id: sessions.nodes[0].id })
  const stolen = await bob.send('POST', '/account/end-session', { mark, id: sessions.nodes[0].id })

  expect(foreign.status).toBe(403)
  expect(stolen.status).toBe(400)
  expect(stolen.body).toContain(`You have no session`)
  expect((await ada.get('/account')).status).toBe(200)
})

test('a session that is ended from elsewhere is over', async () => {
  const identity = await openIdentity()
  const here = await signedIn(identity)
  const there = await signedIn(identity)
  const page = await here.get('/account')
  const ids = [...page.body.matchAll(/name="id" value="([^"]+)"/g)].map(([, id]) => id!)
  const { sessions } = await identity.ada.ask(
    '{ sessions { nodes { id userAgent clientIds signedIn expires } } }',
  )

  for (const id of ids)
    await here.send('POST', '/account/end-session', { mark: markIn(page.body), id })

  expect(ids).toHaveLength(2)
  expect(sessions.nodes).toHaveLength(2)
  expect(sessions.nodes[0]).toMatchObject({ userAgent: 'test browser', clientIds: [] })
  const left = [await here.get('/account'), await there.get('/account')].map(({ status }) => status)
  // The first form may have ended the session that the second needed.
  expect(left).toContain(303)
})

test('a password is changed by one who knows it', async () => {
  const identity = await openIdentity()
  const browser = await signedIn(identity)
  const mark = markIn((await browser.get('/account')).body)
  const change = (current: string, password: string) =>
    browser.send('POST', '/account/password', { mark, current, password })

  const wrong = await change('wrong', 'a longer password')
  const short = await change(PASSWORD, 'short')
  const right = await change(PASSWORD, 'a longer password')

  expect(wrong).toMatchObject({ status: 400 })
  expect(wrong.body).toContain('current must be the password that you have now.')
  expect(short.status).toBe(400)
  expect(right.status).toBe(303)
  const kept = await identity.store.get(passwords, identity.ada.id)
  expect(kept!.hash).toMatch(/^scrypt\$32768\$8\$3\$/)
})

test('guessing a password ends after ten attempts, for that account and address', async () => {
  const identity = await openIdentity()
  await identity.register('bob')
  const browser = identity.browser()
  for (let i = 0; i < 10; i += 1) {
    const wrong = await browser.send('POST', '/sign-in', { ...SIGN_IN, password: `guess ${i}` })
    expect(wrong.status).toBe(400)
  }

  const blocked = await browser.send('POST', '/sign-in', SIGN_IN)
  const other = await browser.send('POST', '/sign-in', { ...SIGN_IN, email: 'bob@example.org' })
  const elsewhere = await identity
    .browser()
    .send('POST', '/sign-in', SIGN_IN, { 'x-forwarded-for': '192.0.2.7' })
  await identity.advance(15 * 60_000)
  const later = await identity.browser().send('POST', '/sign-in', SIGN_IN)

  expect(blocked.status).toBe(429)
  expect(blocked.body).toContain('There were too many failed attempts.')
  expect([other.status, elsewhere.status, later.status]).toEqual([303, 303, 303])
})

test('an unknown address and a wrong password are told in the same words', async () => {
  const identity = await openIdentity()
  const browser = identity.browser()

  const unknown = await browser.send('POST', '/sign-in', { ...SIGN_IN, email: 'x@example.org' })
  const wrong = await browser.send('POST', '/sign-in', { ...SIGN_IN, password: 'wrong' })

  const said = ({ body }: { body: string }) => /role="alert">([^<]*)</.exec(body)![1]
  expect(said(unknown)).toBe(said(wrong))
})

test('the history has right and wrong sign-ins, latest first', async () => {
  const identity = await openIdentity()
  const browser = identity.browser()
  await browser.send('POST', '/sign-in', { ...SIGN_IN, password: 'wrong' })
  await identity.advance(1000)
  await browser.send('POST', '/sign-in', SIGN_IN)

  const { signIns } = await identity.ada.ask(
    '{ signIns { nodes { outcome time clientId remoteAddress userAgent } } }',
  )

  expect(signIns.nodes).toEqual([
    {
      outcome: 'SUCCEEDED',
      time: '2030-01-01T00:00:01.000Z',
      clientId: null,
      remoteAddress: '127.0.0.1',
      userAgent: 'test browser',
    },
    {
      outcome: 'WRONG_PASSWORD',
      time: '2030-01-01T00:00:00.000Z',
      clientId: null,
      remoteAddress: '127.0.0.1',
      userAgent: 'test browser',
    },
  ])
})

test('what a person allowed is listed, and asked for again once it is taken back', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)
  const { consents } = await identity.ada.ask(
    '{ consents { nodes { clientId clientName scopes given } } }',
  )

  await identity.ada.ask(`mutation { withdrawConsent(clientId: "${client.id}") }`)
  const silent = outcomeOf(await browser.authorize(client, { prompt: 'none' }))

  expect(consents.nodes).toEqual([
    {
      clientId: client.id,
      clientName: 'A client',
      scopes: ['openid', 'email'],
      given: '2030-01-01T00:00:00.000Z',
    },
  ])
  expect(silent.error).toBe('consent_required')
  await expect(
    identity.ada.ask(`mutation { withdrawConsent(clientId: "${client.id}") }`),
  ).rejects.toThrow('You let no client')
})

test('a sign-in that is over, or of another browser, has a page that says so', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const { location } = await browser.authorize(client)

  const stranger = await identity.browser().get(location)
  await identity.advance(3600_000)
  const late = await browser.get(location)
  const resumed = await browser.get(location.replace('sign-in', 'authorize'))

  for (const { status, body } of [stranger, late, resumed]) {
    expect(status).toBe(400)
    expect(body).toContain('This sign-in has ended.')
  }
})

test('what a client calls itself is text, not HTML', async () => {
  const identity = await openIdentity()
  const { createClient } = await identity.ada.ask(
    `mutation { createClient(clientName: "<script>alert(1)</script>", clientUri: "https://x.example/?\\"><b>",
       redirectUris: ["http://127.0.0.1:9999/callback"]) { clientSecret client { clientId } } }`,
  )
  const browser = identity.browser()

  const page = await browser.get(
    (await browser.authorize({ id: createClient.client.clientId, secret: '' })).location,
  )

  expect(page.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page.body).not.toContain('<script>')
})

test('the first person registers by a link that works once', async () => {
  const service = await openForTest(subgraph)
  const pathOf = async () =>
    (await service.graphqlAs(serviceCaller('test'), '{ firstUserPath }')).data
      .firstUserPath as string
  const path = await pathOf()
  const send = async (url: string, form?: Record<string, string>) => {
    const answer = await service.opened.rest.inject({
      method: form ? 'POST' : 'GET',
      url,
      headers: {
        host: 'polygraph.test',
        ...(form && {
          origin: 'http://polygraph.test',
          'content-type': 'application/x-www-form-urlencoded',
        }),
      },
      ...(form && { payload: new URLSearchParams(form).toString() }),
    })
    return { status: answer.statusCode, body: answer.payload, location: answer.headers.location }
  }
  const person = { name: 'Grace', email: 'grace@example.org', password: 'a long enough one' }

  const page = await send(path)
  const guessed = await send('/welcome/pgw_guess')
  const short = await send(path, { ...person, password: 'short' })
  const done = await send(path, person)
  const again = await send(path, { ...person, email: 'eve@example.org' })

  expect(path).toMatch(/^\/welcome\/pgw_[\w-]{40}$/)
  expect(page.status).toBe(200)
  expect(guessed.status).toBe(404)
  expect(short.status).toBe(400)
  expect(done).toMatchObject({ status: 303, location: 'http://polygraph.test/sign-in' })
  expect(again.status).toBe(403)
  expect(await pathOf()).toBeNull()
  const [row] = await service.store.sql('SELECT body FROM "user"')
  expect(JSON.parse(row!.body)).toMatchObject({ email: 'grace@example.org', isAdmin: true })
})

test('the link is the same until it ends after a day', async () => {
  const service = await openForTest(subgraph)
  const pathOf = async () =>
    (await service.graphqlAs(serviceCaller('test'), '{ firstUserPath }')).data.firstUserPath

  const first = await pathOf()
  const same = await pathOf()
  await service.advance(24 * 3600_000)
  const next = await pathOf()

  expect(same).toBe(first)
  expect(next).not.toBe(first)
})

test('the session iframe is public for two hours, and framed by its client’s origins', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client({
    redirectUris: ['https://a.example/x', 'https://b.example/y'],
  })

  const answer = await identity.browser().get(`/${client.id}/iframe`)
  const graph = await identity.ada.ask(`{ sessionIframe(clientId: "${client.id}") }`)
  const unknown = await identity.rest('GET /nobody/iframe', undefined, { credential: null })

  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  expect(answer.headers['cache-control']).toBe('public, max-age=7200')
  expect(answer.headers['content-security-policy']).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; frame-ancestors https:\/\/a\.example https:\/\/b\.example$/,
  )
  expect(answer.body).toContain('data-origins="https://a.example https://b.example"')
  expect(graph.sessionIframe).toBe(answer.body)
  expect(unknown).toMatchObject({ status: 404, body: { error: 'not_found' } })
})

test('literal paths win over the name of a client', async () => {
  const identity = await openIdentity()
  const authorization = `Bearer ${await identity.ada.token()}`

  const client = await identity.rest('GET /client/iframe', undefined, {
    credential: null,
    headers: { authorization },
  })
  const any = await identity.browser().get('/session/iframe')

  expect(client).toMatchObject({
    status: 404,
    body: { error_description: 'You have no client iframe.' },
  })
  expect(any.body).toContain('data-origins="*"')
})

test('the published keys are public halves, and other origins may read them', async () => {
  const identity = await openIdentity()

  const { body, headers } = await identity.rest('GET /.well-known/jwks.json', undefined, {
    credential: null,
  })

  expect(body.keys.map(({ kid, kty, alg, use }: any) => [kid, kty, alg, use])).toEqual([
    ['test-ec', 'EC', 'ES256', 'sig'],
    ['test-rsa', 'RSA', 'RS256', 'sig'],
  ])
  expect(Object.keys(body.keys[0]).toSorted()).toEqual([
    'alg',
    'crv',
    'kid',
    'kty',
    'use',
    'x',
    'y',
  ])
  expect(Object.keys(body.keys[1]).toSorted()).toEqual(['alg', 'e', 'kid', 'kty', 'n', 'use'])
  expect(headers['access-control-allow-origin']).toBe('*')
})

test('a person sets a password in the graph, and sees themselves there', async () => {
  const identity = await openIdentity()
  const bob = await identity.register('bob')
  const set = (current: string) =>
    identity.ada.ask(
      `mutation { setPassword(password: "another long one", current: "${current}") }`,
    )

  await expect(set('wrong')).rejects.toThrow('current must be the password that you have now.')
  expect(await set(PASSWORD)).toEqual({ setPassword: true })
  const signedIn = await identity
    .browser()
    .send('POST', '/sign-in', { ...SIGN_IN, password: 'another long one' })
  expect(signedIn.status).toBe(303)
  expect(await identity.ada.ask(`{ user(id: "${identity.ada.id}") { name } }`)).toEqual({
    user: { name: 'ada' },
  })
  await expect(identity.ada.ask(`{ user(id: "${bob.id}") { name } }`)).rejects.toThrow(
    'You know no user',
  )
})
