import { expect, test } from 'vitest'
import { openBank, violations, type TestBank } from './bank.ts'
import { anotherAccount, HOUR_MS, withActiveCard, withCard, type CardHolder } from './carded.ts'

const PAY = `mutation ($userId: ID!, $id: ID!, $value: String!, $currency: String!, $pin: String!,
    $country: String!, $place: CardPlace, $number: ID, $request: String) {
  payWithCard(userId: $userId, itemId: $id, amount: { value: $value, currency: $currency },
    pinCode: $pin, country: $country, merchant: "The Bakery", place: $place,
    primaryAccountNumberId: $number, xVendorClientRequestId: $request) {
    id amount { value } type subType description monetaryAccountId
    counterpartyAlias { displayName country } } }`

/** Pays, and returns the payment, or the code and words of the refusal. */
async function payment(bank: TestBank, holder: CardHolder, more: Record<string, unknown> = {}) {
  const { data, errors } = await bank.graphql(
    PAY,
    {
      userId: holder.userId,
      id: holder.id,
      value: '10.00',
      currency: 'EUR',
      pin: '1234',
      country: 'NL',
      ...more,
    },
    { credential: holder.person },
  )
  return errors ? [errors[0].extensions.code, errors[0].message] : data.payWithCard
}

test('a card and its PIN pay from the account', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))

  const paid = await payment(bank, alice)

  expect(paid).toEqual({
    id: '3',
    amount: { value: '-10.00' },
    type: 'FIS',
    subType: 'PAYMENT',
    description: 'The Bakery',
    monetaryAccountId: String(alice.accountId),
    counterpartyAlias: { displayName: 'The Bakery', country: 'NL' },
  })
  expect(await bank.balance(alice)).toBe('90.00')
  expect(await violations(bank.store)).toEqual([])
})

test('after three wrong PINs the card is blocked, and a new PIN unblocks it', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))
  const statusOf = async () => (await bank.rest(`GET ${alice.card}`)).body.status
  const wrong = ['WrongPin', 'The PIN is wrong, or the card has none.']
  const blocked = ['WrongState', 'The card is PIN_TRIES_EXCEEDED, and cannot be used.']

  expect(await payment(bank, alice, { pin: '0000' })).toEqual(wrong)
  expect(await payment(bank, alice, { pin: '0001' })).toEqual(wrong)
  expect(await statusOf()).toBe('ACTIVE')
  expect(await payment(bank, alice, { pin: '0002' })).toEqual(wrong)
  expect(await statusOf()).toBe('PIN_TRIES_EXCEEDED')
  expect(await payment(bank, alice)).toEqual(blocked)
  expect(await bank.balance(alice)).toBe('100.00')

  expect((await bank.rest(`PUT ${alice.card}`, { status: 'ACTIVE' })).status).toBe(400)
  expect((await bank.rest(`PUT ${alice.card}`, { status: 'DEACTIVATED' })).status).toBe(400)
  const unblocked = await bank.rest(`PUT ${alice.card}`, { status: 'ACTIVE', pin_code: '9876' })
  expect(unblocked.status).toBe(200)
  expect(await payment(bank, alice)).toEqual(wrong)
  expect(await payment(bank, alice, { pin: '9876' })).toMatchObject({ amount: { value: '-10.00' } })
  expect(await violations(bank.store)).toEqual([])
})

test('the right PIN begins the count of wrong ones anew', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))
  for (let round = 0; round < 3; round += 1) {
    await payment(bank, alice, { pin: '0000' })
    await payment(bank, alice, { pin: '0000' })
    expect(await payment(bank, alice, { value: '1.00' })).toMatchObject({
      amount: { value: '-1.00' },
    })
  }

  expect((await bank.rest(`GET ${alice.card}`)).body.status).toBe('ACTIVE')
})

test('each PIN pays from its account, and one that is switched off from none', async () => {
  const bank = await openBank()
  const holder = await bank.holder('alice', 100)
  const second = await anotherAccount(bank, holder)
  const alice = await withActiveCard(bank, holder)
  await bank.fund({ ...alice, account: `/v1/user/${alice.userId}/monetary-account/${second}` }, 50)
  const set = (status: string) =>
    bank.rest(`PUT ${alice.card}`, {
      pin_code_assignment: [
        { type: 'PRIMARY', monetary_account_id: alice.accountId },
        { type: 'SECONDARY', pin_code: '5678', monetary_account_id: second, status },
      ],
    })

  await set('ACTIVE')
  expect(await payment(bank, alice, { pin: '5678' })).toMatchObject({
    monetaryAccountId: String(second),
  })
  expect(await payment(bank, alice)).toMatchObject({ monetaryAccountId: String(alice.accountId) })
  await set('DEACTIVATED')
  expect((await payment(bank, alice, { pin: '5678' }))[0]).toBe('WrongPin')
})

test('an account without enough money leaves the payment to the fallback, if there is one', async () => {
  const bank = await openBank()
  const holder = await bank.holder('alice', 5)
  const second = await anotherAccount(bank, holder)
  const alice = await withActiveCard(bank, holder)
  await bank.fund({ ...alice, account: `/v1/user/${alice.userId}/monetary-account/${second}` }, 50)

  expect((await payment(bank, alice))[0]).toBe('InsufficientFunds')
  await bank.rest(`PUT ${alice.card}`, { monetary_account_id_fallback: second })
  expect(await payment(bank, alice)).toMatchObject({ monetaryAccountId: String(second) })
  expect(await payment(bank, alice, { value: '5.00' })).toMatchObject({
    monetaryAccountId: String(alice.accountId),
  })
  expect((await payment(bank, alice, { value: '40.01' }))[0]).toBe('InsufficientFunds')
  expect(await violations(bank.store)).toEqual([])
})

test('limits hold for a day, at tills and at cash machines each', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))
  const eur = (value: string) => ({ value, currency: 'EUR' })
  await bank.rest(`PUT ${alice.card}`, { card_limit: eur('15'), card_limit_atm: eur('10') })

  expect(await payment(bank, alice)).toMatchObject({ amount: { value: '-10.00' } })
  expect(await payment(bank, alice)).toEqual([
    'LimitExceeded',
    'The card may spend 15.00 EUR a day there; this would make it 20.00.',
  ])
  expect(await payment(bank, alice, { place: 'ATM' })).toMatchObject({
    amount: { value: '-10.00' },
  })
  expect((await payment(bank, alice, { place: 'ATM', value: '0.01' }))[0]).toBe('LimitExceeded')
  expect(await bank.balance(alice)).toBe('80.00')
  await bank.advance(24 * HOUR_MS)
  expect(await payment(bank, alice)).toMatchObject({ amount: { value: '-10.00' } })
})

test('abroad a card is used where and as long as it is permitted', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))
  const abroad = () => payment(bank, alice, { country: 'DE' })

  expect(await abroad()).toEqual(['BadRequest', 'The card may not be used in DE.'])
  await bank.rest(`PUT ${alice.card}`, {
    country_permission: [{ country: 'DE', expiry_time: '2030-01-03 00:00:00' }],
  })
  expect(await abroad()).toMatchObject({ counterpartyAlias: { country: 'DE' } })
  await bank.advance(23 * HOUR_MS)
  expect(await abroad()).toEqual(['BadRequest', 'The card may not be used in DE.'])
  expect((await payment(bank, alice, { country: 'XX' }))[0]).toBe('BadRequest')
})

test('a card that is not active, or has expired, pays nothing', async () => {
  const bank = await openBank()
  const holder = await bank.holder('alice', 100)
  const ordered = await withCard(bank, holder)
  const alice = await withActiveCard(bank, holder)
  const code = async (card: CardHolder) => (await payment(bank, card))[0]

  expect(await code(ordered)).toBe('WrongState')
  await bank.rest(`PUT ${alice.card}`, { status: 'DEACTIVATED' })
  expect(await code(alice)).toBe('WrongState')
  await bank.rest(`PUT ${alice.card}`, { status: 'ACTIVE' })
  await bank.advance(5 * 366 * 24 * HOUR_MS)
  expect(await payment(bank, alice)).toEqual([
    'WrongState',
    'The card is EXPIRED, and cannot be used.',
  ])
  expect(await bank.balance(alice)).toBe('100.00')
})

test('a number of the card that is switched off is not charged, and one with an account has it pay', async () => {
  const bank = await openBank()
  const holder = await bank.holder('alice', 100)
  const second = await anotherAccount(bank, holder)
  const alice = await withActiveCard(bank, holder)
  await bank.fund({ ...alice, account: `/v1/user/${alice.userId}/monetary-account/${second}` }, 50)
  await bank.rest(`PUT ${alice.card}`, {
    primary_account_numbers: [{ id: 1, status: 'DEACTIVATED' }, { monetary_account_id: second }],
  })

  expect((await payment(bank, alice))[0]).toBe('WrongState')
  expect(await payment(bank, alice, { number: '2' })).toMatchObject({
    monetaryAccountId: String(second),
  })
  expect((await payment(bank, alice, { number: '3' }))[0]).toBe('BadRequest')
})

test('amounts that are no money, and cards of others, are refused and the books stay as they are', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))
  const bob = await bank.holder('bob')
  const code = async (more: object) => (await payment(bank, alice, { ...more }))[0]

  expect(await code({ value: '0' })).toBe('BadRequest')
  expect(await code({ value: '-1' })).toBe('BadRequest')
  expect(await code({ value: '1.001' })).toBe('BadRequest')
  expect(await code({ currency: 'USD' })).toBe('BadRequest')
  expect(await code({ currency: 'XYZ' })).toBe('BadRequest')
  expect(await code({ pin: '12' })).toBe('Invalid')
  expect((await payment(bank, { ...alice, person: 'bob' }))[0]).toBe('Forbidden')
  expect((await payment(bank, { ...bob, id: alice.id, card: '' }))[0]).toBe('NotFound')
  expect(await bank.balance(alice)).toBe('100.00')
  expect(await violations(bank.store)).toEqual([])
})

test('a payment that is repeated with its request id is made once', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))

  const first = await payment(bank, alice, { request: 'one' })
  const again = await payment(bank, alice, { request: 'one' })
  const other = await payment(bank, alice, { request: 'one', value: '20.00' })

  expect(first).toMatchObject({ id: '3' })
  expect(again).toEqual(first)
  expect(other[0]).toBe('RequestIdReused')
  expect(await bank.balance(alice)).toBe('90.00')
})

test('many who pay with one card at once spend no more than there is', async () => {
  const bank = await openBank()
  const alice = await withActiveCard(bank, await bank.holder('alice', 100))

  const all = await Promise.all(
    Array.from({ length: 16 }, () => payment(bank, alice, { value: '9.00' })),
  )

  expect(all.filter((one) => !Array.isArray(one))).toHaveLength(11)
  expect(await bank.balance(alice)).toBe('1.00')
  expect(await violations(bank.store)).toEqual([])
})
