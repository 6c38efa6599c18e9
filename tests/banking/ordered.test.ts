// Payments in batches, on schedules, held and by request.
import { expect, test } from 'vitest'
import { openBank, violations, wordsOf, type Holder, type TestBank } from './bank.ts'

const DAY_MS = 24 * 3600_000
const order = (iban: string, value: string) => ({
  amount: { value, currency: 'EUR' },
  counterparty_alias: { type: 'IBAN', value: iban },
  description: 'A part',
})
const asGraph = (iban: string, value: string) => ({
  amount: { value, currency: 'EUR' },
  counterpartyAlias: { type: 'IBAN', value: iban },
  description: 'A part',
})

async function two(euros = 100): Promise<{ bank: TestBank; alice: Holder; bob: Holder }> {
  const bank = await openBank()
  return { bank, alice: await bank.holder('alice', euros), bob: await bank.holder('bob') }
}

test('a batch is paid whole or not at all', async () => {
  const { bank, alice, bob } = await two()
  const path = `${alice.account}/payment-batch`

  const paid = await bank.rest(`POST ${path}`, {
    payments: [order(bob.iban, '10.00'), order(bob.iban, '20.00')],
  })
  const tooMuch = await bank.rest(`POST ${path}`, {
    payments: [order(bob.iban, '60.00'), order(bob.iban, '20.00')],
  })

  expect(paid).toMatchObject({ status: 200, body: { id: 1 } })
  expect(tooMuch.status).toBe(400)
  expect(await bank.balance(bob)).toBe('30.00')
  const { body } = await bank.rest(`GET ${path}/1`)
  expect(body.payments.map(({ amount, batch_id }: any) => [amount.value, batch_id])).toEqual([
    ['-10.00', 1],
    ['-20.00', 1],
  ])
  expect((await bank.rest(`GET ${path}`)).body).toHaveLength(1)
  expect((await bank.rest(`GET ${path}/9`)).status).toBe(404)
  const inGraph = await bank.graphql(
    `mutation ($u: ID!, $m: ID!, $p: [PaymentInput!]!) {
       createPaymentBatch(userId: $u, monetaryAccountId: $m, payments: $p) { id payments { amount { value } } } }`,
    { u: alice.userId, m: alice.accountId, p: [asGraph(bob.iban, '1.00')] },
  )
  expect(inGraph.data.createPaymentBatch).toEqual({
    id: '2',
    payments: [{ amount: { value: '-1.00' } }],
  })
})

test('a schedule pays at its moments, and tells of those at which it could not', async () => {
  const { bank, alice, bob } = await two(25)
  const path = `${alice.account}/schedule-payment`

  const made = await bank.rest(`POST ${path}`, {
    payment: order(bob.iban, '10.00'),
    schedule: {
      time_start: '2030-01-31 12:00:00',
      time_end: '2030-04-01',
      recurrence_unit: 'MONTHLY',
    },
  })
  await bank.advance(29 * DAY_MS)
  const before = await bank.balance(bob)
  await bank.advance(100 * DAY_MS)

  expect(made.body).toEqual({ id: 1 })
  expect(before).toBe('0.00')
  expect(await bank.balance(bob)).toBe('20.00')
  const { body } = await bank.rest(`GET ${path}/1`)
  expect(body.status).toBe('FINISHED')
  expect(body.latest.map(({ time, status }: any) => [time.slice(0, 10), status])).toEqual([
    ['2030-03-31', 'FAILED'],
    ['2030-02-28', 'SUCCEEDED'],
    ['2030-01-31', 'SUCCEEDED'],
  ])
  expect(body.latest[0].error_message).toContain('available')
  expect(await violations(bank.store)).toEqual([])
})

test('a schedule that was deleted pays no more, and one of the past is refused', async () => {
  const { bank, alice, bob } = await two()
  const path = `${alice.account}/schedule-payment`
  const schedule = { time_start: '2030-01-02', recurrence_unit: 'DAILY' }
  await bank.rest(`POST ${path}`, { payment: order(bob.iban, '1.00'), schedule })
  await bank.advance(DAY_MS)

  const deleted = await bank.rest(`DELETE ${path}/1`)
  const again = await bank.rest(`DELETE ${path}/1`)
  await bank.advance(5 * DAY_MS)
  const past = await bank.rest(`POST ${path}`, { payment: order(bob.iban, '1.00'), schedule })

  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(again.status).toBe(400)
  expect(await bank.balance(bob)).toBe('1.00')
  expect(wordsOf(past)).toBe('schedule.time_start must not have passed.')
  const inGraph = await bank.graphql(
    `query ($u: ID!, $m: ID!) { schedulePayments(userId: $u, monetaryAccountId: $m) {
       nodes { status runs schedule { timeStart timeNext recurrenceUnit } payment { amount { value } } } } }`,
    { u: alice.userId, m: alice.accountId },
  )
  expect(inGraph.data.schedulePayments.nodes).toEqual([
    {
      status: 'CANCELLED',
      runs: 1,
      schedule: {
        timeStart: '2030-01-02T00:00:00.000Z',
        timeNext: null,
        recurrenceUnit: 'DAILY',
      },
      payment: { amount: { value: '1.00' } },
    },
  ])
})

const HOLD = `mutation ($u: ID!, $m: ID!, $a: AmountInput!, $to: BankPointerInput!) {
  createPendingPayment(userId: $u, monetaryAccountId: $m, amount: $a, counterpartyAlias: $to, description: "Held") {
    id status } }`
const END = (name: string, more = '') => `mutation ($u: ID!, $m: ID!, $id: ID!) {
  ${name}(userId: $u, monetaryAccountId: $m, itemId: $id ${more}) { status paymentId } }`

test('what is held cannot be spent; paid in part, the rest is free again', async () => {
  const { bank, alice, bob } = await two()
  const of = { u: alice.userId, m: alice.accountId }
  const to = { type: 'IBAN', value: bob.iban }

  const held = await bank.graphql(HOLD, { ...of, a: { value: '70.00', currency: 'EUR' }, to })
  const spent = await bank.pay(alice, bob.iban, '40.00')
  const more = await bank.graphql(HOLD, { ...of, a: { value: '40.00', currency: 'EUR' }, to })
  const done = await bank.graphql(
    END('completePendingPayment', ', amount: { value: "50.00", currency: "EUR" }'),
    { ...of, id: 1 },
  )
  const again = await bank.graphql(END('cancelPendingPayment'), { ...of, id: 1 })

  expect(held.data.createPendingPayment).toEqual({ id: '1', status: 'HELD' })
  expect(spent.status).toBe(400)
  expect(more.errors![0].extensions.code).toBe('InsufficientFunds')
  expect(done.data.completePendingPayment).toEqual({ status: 'CAPTURED', paymentId: '3' })
  expect(again.errors![0].message).toBe('This is captured already.')
  expect(await bank.balance(alice)).toBe('50.00')
  expect(await violations(bank.store)).toEqual([])
})

test('what nobody decides on is released after a week, and what is cancelled at once', async () => {
  const { bank, alice, bob } = await two()
  const of = { u: alice.userId, m: alice.accountId }
  const to = { type: 'IBAN', value: bob.iban }
  const a = { value: '40.00', currency: 'EUR' }
  await bank.graphql(HOLD, { ...of, a, to })
  await bank.graphql(HOLD, { ...of, a, to })

  await bank.graphql(END('cancelPendingPayment'), { ...of, id: 2 })
  await bank.advance(7 * DAY_MS)

  const read = await bank.graphql(
    `query ($u: ID!, $m: ID!) { pendingPayments(userId: $u, monetaryAccountId: $m) { nodes { id status } }
       pendingPayment(userId: $u, monetaryAccountId: $m, itemId: 1) { amount { value } } }`,
    of,
  )
  expect(read.data.pendingPayments.nodes).toEqual([
    { id: '2', status: 'RELEASED' },
    { id: '1', status: 'RELEASED' },
  ])
  expect(read.data.pendingPayment.amount.value).toBe('40.00')
  expect((await bank.pay(alice, bob.iban, '100.00')).status).toBe(200)
})

const ask = (bank: TestBank, from: Holder, to: string, value = '15.00') =>
  bank.rest(
    `POST ${from.account}/request-inquiry`,
    {
      amount_inquired: { value, currency: 'EUR' },
      counterparty_alias: { type: 'IBAN', value: to },
      description: 'Please',
      allow_vendorme: false,
    },
    { credential: from.person },
  )

test('a request is paid when it is accepted, and not otherwise', async () => {
  const { bank, alice, bob } = await two()
  const { body: asked } = await ask(bank, bob, alice.iban)
  const path = `${alice.account}/request-response/${asked.id}`

  const seen = await bank.rest(`GET ${path}`)
  const tooLittle = await bank.rest(`PUT ${path}`, {
    status: 'ACCEPTED',
    amount_responded: { value: '14.99', currency: 'EUR' },
  })
  const accepted = await bank.rest(`PUT ${path}`, { status: 'ACCEPTED' })
  const again = await bank.rest(`PUT ${path}`, { status: 'ACCEPTED' })

  expect(seen.body).toMatchObject({
    status: 'PENDING',
    counterparty_alias: { iban: bob.iban },
    time_expiry: '2030-01-31 00:00:00.000000',
  })
  expect(tooLittle.status).toBe(400)
  expect(accepted).toMatchObject({ status: 200, body: { Id: { id: asked.id } } })
  expect(wordsOf(again)).toBe('This request is accepted.')
  expect(await bank.balance(bob)).toBe('15.00')
  const inquiry = await bank.rest(`GET ${bob.account}/request-inquiry/${asked.id}`, undefined, {
    credential: 'bob',
  })
  expect(inquiry.body).toMatchObject({ status: 'ACCEPTED', amount_responded: { value: '15.00' } })
})

test('a request is rejected, revoked, or expires on the clock, and moves nothing', async () => {
  const { bank, alice, bob } = await two()
  for (let i = 0; i < 3; i += 1) await ask(bank, bob, alice.iban)
  const inquiries = `${bob.account}/request-inquiry`

  await bank.rest(`PUT ${alice.account}/request-response/2`, { status: 'REJECTED' })
  const revoked = await bank.rest(
    `PUT ${inquiries}/3`,
    { status: 'REVOKED' },
    { credential: 'bob' },
  )
  await bank.advance(30 * DAY_MS)
  const late = await bank.rest(`PUT ${alice.account}/request-response/4`, { status: 'ACCEPTED' })

  expect(revoked.body.status).toBe('REVOKED')
  expect(late.status).toBe(400)
  const { body } = await bank.rest(`GET ${inquiries}`, undefined, { credential: 'bob' })
  expect(body.map(({ status }: any) => status)).toEqual(['EXPIRED', 'REVOKED', 'REJECTED'])
  expect(await bank.balance(bob)).toBe('0.00')
  const inGraph = await bank.graphql(
    `query ($u: ID!, $m: ID!) { requestResponses(userId: $u, monetaryAccountId: $m, first: 2) {
       nodes { status type counterpartyAlias { displayName } } pageInfo { hasNextPage } } }`,
    { u: alice.userId, m: alice.accountId },
  )
  expect(inGraph.data.requestResponses).toEqual({
    nodes: [
      { status: 'EXPIRED', type: 'INTERNAL', counterpartyAlias: { displayName: 'Person 2' } },
      { status: 'REVOKED', type: 'INTERNAL', counterpartyAlias: { displayName: 'Person 2' } },
    ],
    pageInfo: { hasNextPage: true },
  })
})

test('the test address gives at most 500.00 at a time', async () => {
  const { bank, alice } = await two(0)

  const answer = await bank.rest(`POST ${alice.account}/request-inquiry`, {
    amount_inquired: { value: '500.01', currency: 'EUR' },
    counterparty_alias: { type: 'EMAIL', value: 'funds@bank.example' },
    description: 'More',
    allow_vendorme: false,
  })

  expect(answer.status).toBe(400)
  expect(await bank.balance(alice)).toBe('0.00')
})
