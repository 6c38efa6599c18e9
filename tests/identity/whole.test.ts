// Identity among the others, behind one port: its tokens open them, and its pages know where they are.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openWhole, type Whole } from '../gateway/whole.ts'
import { Browser, fetched, outcomeOf } from './identity.ts'

let whole: Whole
beforeAll(async () => {
  whole = await openWhole()
})
afterAll(() => whole.close())

const tokenFor = async (service: string) => {
  const { clientId, redirectUri, username, password } = whole.credentials.identity!
  const address = `${whole.url}/identity`
  const browser = new Browser(address, fetched)
  const query = new URLSearchParams({
    client_id: clientId!,
    redirect_uri: redirectUri!,
    response_type: 'token',
    scope: `openid ${service}`,
    state: 's',
    resource: `urn:polygraph:${service}`,
  })
  const first = await browser.get(`/authorize?${query}`)
  const outcome = outcomeOf(await browser.finish(first, username, password))
  return { first, browser, token: outcome.access_token!, outcome }
}

test('under a prefix the issuer, the links and the cookies have it', async () => {
  const { first, browser, outcome } = await tokenFor('graph')
  const discovery = await fetch(`${whole.url}/identity/.well-known/openid-configuration`)

  expect(first.location).toMatch(new RegExp(`^${whole.url}/identity/sign-in/`))
  expect(outcome.iss).toBe(`${whole.url}/identity`)
  const cookies = [...browser.cookies.keys()]
  expect(cookies).toEqual(
    expect.arrayContaining([
      'pg_session.sig|/identity',
      'pg_session|/identity',
      'pg_state|/identity',
    ]),
  )
  expect(cookies.filter((cookie) => !cookie.includes('|/identity'))).toEqual([])
  expect(await discovery.json()).toMatchObject({ issuer: `${whole.url}/identity` })
})

test('a token for the graph opens the graph as the person who signed in', async () => {
  const { token } = await tokenFor('graph')

  const answer = await whole.graphql('{ me { email } }', {}, token)
  const beyond = await whole.graphql(
    'mutation { createApiKey(service: "braille", name: "k") { secret } }',
    {},
    token,
  )

  expect(answer.data).toEqual({ me: { email: 'ada@example.org' } })
  // Its scope is to use the graph, and not to make credentials.
  expect(beyond.errors).toMatchObject([{ extensions: { code: 'Forbidden' } }])
})

test('a token for hsm opens hsm, and neither the graph nor another service', async () => {
  const { token } = await tokenFor('hsm')
  const { subscriptionId } = whole.credentials.hsm!
  const path = `/subscriptions/${subscriptionId}/providers/Vendor.HardwareSecurityModules/dedicatedHSMs?api-version=2018-10-31-preview`
  const read = (service: string) =>
    fetch(`${whole.url}/${service}${path}`, { headers: { authorization: `Bearer ${token}` } })

  expect((await read('hsm')).status).toBe(200)
  expect((await whole.graphql('{ me { email } }', {}, token)).status).toBe(401)
  const client = await fetch(`${whole.url}/identity/client`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(client.status).toBe(401)
})
