// The pages where a person pays, in a real browser and without scripts.
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../identity/site.ts'
import { openBank, violations, type Holder, type TestBank } from './bank.ts'

const executablePath = findChromium()

async function open() {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bob = await bank.holder('bob', 100)
  await bank.rest(`POST ${alice.account}/vendorme-tab`, {
    vendorme_tab_entry: {
      amount_inquired: { value: '12.50', currency: 'EUR' },
      description: 'Lunch <b>on Tuesday</b>',
      redirect_url: 'https://example.org/thanks',
    },
  })
  const tab = await bank.rest(`GET ${alice.account}/vendorme-tab/1`)
  return { bank, alice, bob, path: new URL(tab.body.vendorme_tab_share_url).pathname }
}

async function codeOf(bank: TestBank, { account, person }: Holder): Promise<string> {
  const { body } = await bank.rest(`POST ${account}/payment-code`, {}, { credential: person })
  return body.code
}

/** A form as a browser sends it. */
const send = (bank: TestBank, path: string, form: Record<string, string>, headers = {}) =>
  bank.rest(`POST ${path}`, new URLSearchParams(form).toString(), {
    credential: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  })

describe.skipIf(!executablePath)('in a real browser', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  })
  afterAll(() => browser.close())

  test('a person pays a tab, and the holder sees payment, balance and fundraiser in one query', async () => {
    const { bank, alice, bob, path } = await open()
    const address = await bank.listen()
    const context = await browser.newContext({ javaScriptEnabled: false })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const { data } = await bank.graphql(
      'query ($u: ID!) { fundraiserProfiles(userId: $u) { nodes { pointer { value } } } }',
      { u: alice.userId },
    )
    const fundraiser = new URL(data.fundraiserProfiles.nodes[0].pointer.value).pathname

    await page.goto(address + path)
    const asked = await page.locator('main').textContent()
    await page.getByLabel('IBAN').fill(bob.iban)
    await page.getByLabel('Payment code').fill('00000000')
    await page.getByRole('button', { name: 'Pay' }).click()
    const told = await page.getByRole('alert').textContent()
    await page.getByLabel('Payment code').fill(await codeOf(bank, bob))
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByRole('heading', { name: 'Paid. Thank you.' }).waitFor()
    const onward = await page.getByRole('link', { name: 'Go on' }).getAttribute('href')
    await page.goto(address + fundraiser)
    await page.getByLabel('Amount').fill('7,50')
    await page.getByLabel('IBAN').fill(bob.iban)
    await page.getByLabel('Payment code').fill(await codeOf(bank, bob))
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByRole('heading', { name: 'Given. Thank you.' }).waitFor()

    expect(asked).toContain('12.50 EUR')
    expect(asked).toContain('Lunch <b>on Tuesday</b>')
    expect(told).toContain('do not fit')
    expect(onward).toBe('https://example.org/thanks')
    const seen = await bank.graphql(
      `{ _entities(representations: [{ __typename: "User", id: "alice" }]) { ... on User {
           monetaryAccounts { nodes { balance { value } payments { nodes { amount { value } description } } } }
           paymentRequestTabs { nodes { status } }
           fundraiserProfiles { nodes { total { value currency } } } } } }`,
    )
    expect(seen.data._entities[0]).toEqual({
      monetaryAccounts: {
        nodes: [
          {
            balance: { value: '20.00' },
            payments: {
              nodes: [
                { amount: { value: '7.50' }, description: 'To the fundraiser of Person 1' },
                { amount: { value: '12.50' }, description: 'Lunch <b>on Tuesday</b>' },
              ],
            },
          },
        ],
      },
      paymentRequestTabs: { nodes: [{ status: 'PAID' }] },
      fundraiserProfiles: { nodes: [{ total: { value: '7.50', currency: 'EUR' } }] },
    })
    expect(await violations(bank.store)).toEqual([])
  })
})

test('a code ends after three wrong tries, one payment or ten minutes', async () => {
  const { bank, bob, path } = await open()
  const form = (code: string) => ({ iban: bob.iban, code })
  const guessed = await codeOf(bank, bob)
  const wrong = String((Number(guessed) + 1) % 10 ** 8).padStart(8, '0')
  for (let i = 0; i < 3; i += 1) await send(bank, path, form(wrong))

  const afterThree = await send(bank, path, form(guessed))
  const late = await codeOf(bank, bob)
  await bank.advance(10 * 60_000)
  const afterTen = await send(bank, path, form(late))
  const good = await codeOf(bank, bob)
  const paid = await send(bank, path, form(good))
  const twice = await send(bank, path, form(good))

  expect([afterThree.status, afterTen.status, paid.status, twice.status]).toEqual([
    400, 400, 200, 400,
  ])
  expect(await bank.balance(bob)).toBe('87.50')
})

test('a payment that is refused leaves the code as it was, and the books too', async () => {
  const { bank, bob, path } = await open()
  await bank.pay(bob, 'DE89370400440532013000', '95.00')
  const code = await codeOf(bank, bob)

  const tooMuch = await send(bank, path, { iban: bob.iban, code })

  expect(tooMuch.status).toBe(400)
  expect(tooMuch.body.toString()).toContain('has 5.00 EUR available')
  expect(await bank.balance(bob)).toBe('5.00')
})

test('pages allow no script, are taken from our own forms alone, and say when there is nothing', async () => {
  const { bank, bob, path } = await open()
  const code = await codeOf(bank, bob)

  const shown = await bank.rest(`GET ${path}`, undefined, { credential: null })
  const foreign = await send(
    bank,
    path,
    { iban: bob.iban, code },
    { origin: 'https://evil.example' },
  )
  const gone = await bank.rest('GET /t/00000000-0000-7000-8000-000000000000', undefined, {
    credential: null,
  })
  const noFundraiser = await bank.rest('GET /f/nothing', undefined, { credential: null })

  expect(shown.headers['content-security-policy']).toContain("default-src 'none'")
  expect(shown.body.toString()).toContain('Lunch &lt;b&gt;on Tuesday&lt;/b&gt;')
  expect(foreign.status).toBe(403)
  expect([gone.status, noFundraiser.status]).toEqual([404, 404])
  expect(await bank.balance(bob)).toBe('100.00')
})

test('a tab that is over says so on its page', async () => {
  const { bank, alice, path } = await open()
  await bank.rest(`PUT ${alice.account}/vendorme-tab/1`, { status: 'CANCELLED' })

  const shown = await bank.rest(`GET ${path}`, undefined, { credential: null })

  expect(shown.body.toString()).toContain('This request was cancelled.')
  expect(shown.body.toString()).not.toContain('<form')
})
