// Every response type, mode and prompt, for someone who is signed in, signed out, or has not consented yet.
import { expect, test } from 'vitest'
import {
  ADDRESS,
  openIdentity,
  outcomeOf,
  PASSWORD,
  type Answer,
  type Browser,
  type TestClient,
} from './identity.ts'

type Row = [
  type: string,
  mode: string,
  prompt: string,
  signedIn: string,
  signedOut: string,
  consentMissing: string,
]

// prettier-ignore
const OUTCOMES: readonly Row[] = [
  ['code', 'query', 'none', 'answer', 'login_required', 'consent_required'],
  ['code', 'query', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['code', 'query', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['code', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['code', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['code', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['id_token', 'query', 'none', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['id_token', 'query', 'login', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['id_token', 'query', 'consent', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['id_token', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['id_token', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['id_token', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['token', 'query', 'none', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['token', 'query', 'login', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['token', 'query', 'consent', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['token', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['token', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['token', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['token id_token', 'query', 'none', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['token id_token', 'query', 'login', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['token id_token', 'query', 'consent', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['token id_token', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['token id_token', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['token id_token', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['code id_token', 'query', 'none', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code id_token', 'query', 'login', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code id_token', 'query', 'consent', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code id_token', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['code id_token', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['code id_token', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['code token', 'query', 'none', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code token', 'query', 'login', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code token', 'query', 'consent', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code token', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['code token', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['code token', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
  ['code token id_token', 'query', 'none', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code token id_token', 'query', 'login', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code token id_token', 'query', 'consent', 'invalid_request', 'invalid_request', 'invalid_request'],
  ['code token id_token', 'fragment', 'none', 'answer', 'login_required', 'consent_required'],
  ['code token id_token', 'fragment', 'login', 'sign-in page', 'sign-in page', 'sign-in page'],
  ['code token id_token', 'fragment', 'consent', 'consent page', 'sign-in page', 'consent page'],
]

/** What an answer carries, beside iss, session_state and state. */
const CARRIED: Record<string, string[]> = {
  code: ['code'],
  id_token: ['id_token'],
  token: ['access_token', 'expires_in', 'scope', 'token_type'],
  'token id_token': ['access_token', 'expires_in', 'id_token', 'scope', 'token_type'],
  'code id_token': ['code', 'id_token'],
  'code token': ['access_token', 'code', 'expires_in', 'scope', 'token_type'],
  'code token id_token': ['access_token', 'code', 'expires_in', 'id_token', 'scope', 'token_type'],
}

async function walk(browser: Browser, client: TestClient, column: 3 | 4 | 5): Promise<void> {
  for (const row of OUTCOMES) {
    const [response_type, response_mode, prompt] = row
    const answer = await browser.authorize(client, { response_type, response_mode, prompt })

    expect(outcomeIn(answer, row), row.join(', ')).toBe(row[column])
  }
}

/** The outcome in the words of the table; throws when an answer is not as it must be. */
function outcomeIn(answer: Answer, [type, mode]: Row): string {
  for (const page of ['sign-in', 'consent']) {
    if (!answer.location.startsWith(`${ADDRESS}/${page}/`)) continue
    expect(answer.status).toBe(303)
    return `${page} page`
  }
  const { status, mode: arrived, to, ...carried } = outcomeOf(answer)
  expect({ status, to }).toEqual({ status: 302, to: 'http://127.0.0.1:9999/callback' })
  expect(carried).toMatchObject({ state: 'st-1', iss: ADDRESS })
  // What may not be in the query is refused in the fragment.
  expect(arrived).toBe(type === 'code' ? mode : 'fragment')
  if (carried.error) return carried.error
  const beside = ['iss', 'session_state', 'state']
  expect(Object.keys(carried).toSorted()).toEqual([...CARRIED[type]!, ...beside].toSorted())
  return 'answer'
}

test('the table is whole: seven types, two modes, three prompts', () => {
  expect(new Set(OUTCOMES.map((row) => row.slice(0, 3).join())).size).toBe(42)
})

test('someone who is signed in and has consented', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  await browser.signIn(client)

  await walk(browser, client, 3)
})

test('someone who is signed out', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()

  await walk(identity.browser(), client, 4)
})

test('someone who is signed in and has not consented', async () => {
  const identity = await openIdentity()
  const client = await identity.ada.client()
  const browser = identity.browser()
  const form = { email: 'ada@example.org', password: PASSWORD, action: 'sign-in' }
  await browser.send('POST', '/sign-in', form)

  await walk(browser, client, 5)
})
