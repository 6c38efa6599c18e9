// Payment-request tabs and fundraisers, at both doors.
import { expect, test } from 'vitest'
import { openBank, violations, wordsOf, type Holder, type TestBank } from './bank.ts'

const DAY_MS = 24 * 3600_000
const entry = (value = '12.50') => ({
  amount_inquired: { value, currency: 'EUR' },
  description: 'Lunch',
})

async function open() {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bob = await bank.holder('bob', 100)
  return { bank, alice, bob }
}

const createTab = (bank: TestBank, { account }: Holder, value?: string) =>
  bank.rest(`POST ${account}/vendorme-tab`, { vendorme_tab_entry: entry(value) })

async function urlOf(bank: TestBank, { account }: Holder, id: number): Promise<string> {
  return (await bank.rest(`GET ${account}/vendorme-tab/${id}`)).body.vendorme_tab_share_url
}

const payPage = (bank: TestBank, from: Holder, value: string, url: string) =>
  bank.pay(from, '', value, { counterparty_alias: { type: 'URL', value: url } })

test('a tab is created, read and listed with every documented field', async () => {
  const { bank, alice } = await open()

  const made = await createTab(bank, alice)
  const { body } = await bank.rest(`GET ${alice.account}/vendorme-tab/1`)

  expect(made).toMatchObject({ status: 200, body: { id: 1 } })
  expect(body).toMatchObject({
    id: 1,
    created: '2030-01-01 00:00:00.000000',
    time_expiry: '2030-01-31 00:00:00.000000',
    monetary_account_id: alice.accountId,
    status: 'WAITING_FOR_PAYMENT',
    type: 'VENDOR_ME',
    alias_monetary_account: { iban: alice.iban },
    vendorme_tab_entry: {
      amount_inquired: { value: '12.50', currency: 'EUR' },
      description: 'Lunch',
      redirect_url: null,
      status: 'WAITING_FOR_PAYMENT',
    },
    result_inquiries: [],
  })
  expect(body.vendorme_tab_entries).toEqual([body.vendorme_tab_entry])
  expect(body.vendorme_tab_share_url).toBe(
    `http://polygraph.test/t/${body.vendorme_tab_entry.uuid}`,
  )
  expect((await bank.rest(`GET ${alice.account}/vendorme-tab`)).body).toEqual([body])
})

test('a tab is paid once, and both sides see the payment', async () => {
  const { bank, alice, bob } = await open()
  await createTab(bank, alice)
  const url = await urlOf(bank, alice, 1)

  const other = await payPage(bank, bob, '12.49', url)
  const paid = await payPage(bank, bob, '12.50', url)
  const again = await payPage(bank, bob, '12.50', url)

  expect(wordsOf(other)).toBe('This tab asks for 12.50 EUR, no other amount.')
  expect(paid.status).toBe(200)
  expect(wordsOf(again)).toBe('This tab is paid.')
  const { body: tab } = await bank.rest(`GET ${alice.account}/vendorme-tab/1`)
  expect(tab.status).toBe('PAID')
  expect(tab.result_inquiries).toMatchObject([
    { vendor_me_tab_id: 1, payment: { amount: { value: '12.50' }, id: paid.body.id + 1 } },
  ])
  const path = `${bob.account}/vendorme-tab-result-response`
  const response = await bank.rest(`GET ${path}/${paid.body.id}`, undefined, { credential: 'bob' })
  expect(response.body.payment).toMatchObject({
    id: paid.body.id,
    amount: { value: '-12.50', currency: 'EUR' },
    counterparty_alias: { iban: alice.iban },
  })
  const funding = await bank.rest(`GET ${path}/2`, undefined, { credential: 'bob' })
  expect(funding.status).toBe(404)
  expect(await violations(bank.store)).toEqual([])
})

test('a tab is changed while it waits, cancelled without an entry, and then stays', async () => {
  const { bank, alice, bob } = await open()
  await createTab(bank, alice)
  const path = `${alice.account}/vendorme-tab/1`

  const changed = await bank.rest(`PUT ${path}`, {
    vendorme_tab_entry: { amount_inquired: { value: '9.00', currency: 'EUR' } },
  })
  const nothing = await bank.rest(`PUT ${path}`, {})
  const odd = await bank.rest(`PUT ${path}`, { status: 'PAID' })
  const cancelled = await bank.rest(`PUT ${path}`, { status: 'CANCELLED' })
  const late = await bank.rest(`PUT ${path}`, { vendorme_tab_entry: entry() })
  const paid = await payPage(bank, bob, '9.00', await urlOf(bank, alice, 1))

  expect(changed).toMatchObject({ status: 200, body: { Id: { id: 1 } } })
  expect([nothing.status, odd.status]).toEqual([400, 400])
  expect(cancelled.status).toBe(200)
  expect(wordsOf(late)).toBe('This tab is cancelled.')
  expect(wordsOf(paid)).toBe('This tab is cancelled.')
  expect(await bank.balance(bob)).toBe('100.00')
})

test('a tab expires on the clock, and is not paid after', async () => {
  const { bank, alice, bob } = await open()
  await createTab(bank, alice)
  const url = await urlOf(bank, alice, 1)

  await bank.advance(30 * DAY_MS)
  const paid = await payPage(bank, bob, '12.50', url)

  expect((await bank.rest(`GET ${alice.account}/vendorme-tab/1`)).body.status).toBe('EXPIRED')
  expect(wordsOf(paid)).toBe('This tab is expired.')
  expect(await bank.balance(bob)).toBe('100.00')
})

test.each([
  ['without an entry', {}],
  ['without a description', { vendorme_tab_entry: { amount_inquired: entry().amount_inquired } }],
  ['of nothing', { vendorme_tab_entry: entry('0.00') }],
  [
    'in another currency',
    { vendorme_tab_entry: { ...entry(), amount_inquired: { value: '1', currency: 'USD' } } },
  ],
  [
    'that leads to a script',
    { vendorme_tab_entry: { ...entry(), redirect_url: 'javascript:alert(1)' } },
  ],
])('a tab %s is refused', async (_what, body) => {
  const { bank, alice } = await open()

  const answer = await bank.rest(`POST ${alice.account}/vendorme-tab`, body)

  expect(answer.status).toBe(400)
  expect((await bank.rest(`GET ${alice.account}/vendorme-tab`)).body).toEqual([])
})

test('a tab of someone else cannot be read or changed', async () => {
  const { bank, alice, bob } = await open()
  await createTab(bank, alice)

  const read = await bank.rest(`GET ${bob.account}/vendorme-tab/1`, undefined, {
    credential: 'bob',
  })
  const foreign = await bank.rest(`GET ${alice.account}/vendorme-tab/1`, undefined, {
    credential: 'bob',
  })

  expect([read.status, foreign.status]).toEqual([404, 403])
})

test('tabs are made, changed and read in the graph', async () => {
  const { bank, alice } = await open()
  const of = { u: alice.userId, m: alice.accountId }

  const made = await bank.graphql(
    `mutation ($u: ID!, $m: ID!) { createPaymentRequestTab(userId: $u, monetaryAccountId: $m, vendormeTabEntry: {
       amountInquired: { value: "3.00", currency: "EUR" }, description: "Tea" }, xVendorClientRequestId: "t-1") { id status } }`,
    of,
  )
  const again = await bank.graphql(
    `mutation ($u: ID!, $m: ID!) { updatePaymentRequestTab(userId: $u, monetaryAccountId: $m, itemId: 1, status: "CANCELLED") { status } }`,
    of,
  )
  const read = await bank.graphql(
    `query ($u: ID!, $m: ID!) { paymentRequestTabs(userId: $u, monetaryAccountId: $m) { nodes { id timeExpiry } }
       paymentRequestTab(userId: $u, monetaryAccountId: $m, itemId: 1) { vendormeTabEntry { amountInquired { value } } } }`,
    of,
  )

  expect(made.data.createPaymentRequestTab).toEqual({ id: '1', status: 'WAITING_FOR_PAYMENT' })
  expect(again.data.updatePaymentRequestTab.status).toBe('CANCELLED')
  expect(read.data).toEqual({
    paymentRequestTabs: { nodes: [{ id: '1', timeExpiry: '2030-01-31T00:00:00.000Z' }] },
    paymentRequestTab: { vendormeTabEntry: { amountInquired: { value: '3.00' } } },
  })
})

test('a fundraiser counts what it is given, shows who gave, and takes back what is returned', async () => {
  const { bank, alice, bob } = await open()
  const path = `/v1/user/${alice.userId}/vendorme-fundraiser-profile`
  const { body: profiles } = await bank.rest(`GET ${path}`)
  const { body: profile } = await bank.rest(`GET ${path}/${profiles[0].id}`)

  const first = await payPage(bank, bob, '20.00', profile.pointer.value)
  await payPage(bank, bob, '5.00', profile.pointer.value)
  await bank.graphql(
    'mutation ($u: ID!, $m: ID!, $id: ID!) { reversePayment(userId: $u, monetaryAccountId: $m, itemId: $id) { id } }',
    { u: alice.userId, m: alice.accountId, id: first.body.id + 1 },
  )

  expect(profile).toMatchObject({
    monetary_account_id: alice.accountId,
    owner_user_id: alice.userId,
    color: '#FE2851',
    alias: { iban: alice.iban },
    currency: 'EUR',
    attachment: null,
    pointer: { type: 'URL' },
    redirect_url: null,
    status: 'ACTIVE',
  })
  const result = await bank.rest(`GET ${alice.account}/vendorme-fundraiser-result/${profile.id}`)
  expect(result.body.payments.map(({ amount }: any) => amount.value)).toEqual(['5.00', '20.00'])
  expect(result.body.vendorme_fundraiser_profile).toMatchObject({
    invite_profile_name: 'Person 1',
    merchant_available: [],
  })
  const { data } = await bank.graphql(
    `query ($u: ID!, $m: ID!, $id: ID!) { fundraiserProfile(userId: $u, itemId: $id) { total { value } donations payments(first: 1) { nodes { amount { value } } } }
       fundraiserProfiles(userId: $u) { nodes { id } }
       fundraiserResult(userId: $u, monetaryAccountId: $m, itemId: $id) { payments(first: 1) { nodes { amount { value } } } } }`,
    { u: alice.userId, m: alice.accountId, id: profile.id },
  )
  const payments = { nodes: [{ amount: { value: '5.00' } }] }
  expect(data.fundraiserProfile).toEqual({ total: { value: '5.00' }, donations: 1, payments })
  expect(data.fundraiserResult.payments).toEqual(payments)
  expect(await violations(bank.store)).toEqual([])
})

test('a fundraiser that is deactivated takes nothing; what is not there is not found', async () => {
  const { bank, alice, bob } = await open()
  const path = `/v1/user/${alice.userId}/vendorme-fundraiser-profile`
  const { body: profiles } = await bank.rest(`GET ${path}`)
  const { pointer, id } = profiles[0]

  const changed = await bank.graphql(
    'mutation ($u: ID!, $id: ID!) { updateFundraiserProfile(userId: $u, itemId: $id, status: DEACTIVATED, color: "#00ff00") { status color } }',
    { u: alice.userId, id },
  )
  const paid = await payPage(bank, bob, '1.00', pointer.value)

  expect(changed.data.updateFundraiserProfile).toEqual({ status: 'DEACTIVATED', color: '#00FF00' })
  expect(wordsOf(paid)).toBe('This fundraiser takes no payments now.')
  expect((await bank.rest(`GET ${path}/99`)).status).toBe(404)
  expect((await bank.rest(`GET ${alice.account}/vendorme-fundraiser-result/99`)).status).toBe(404)
})
