import { expect, test } from 'vitest'
import { openBank, violations, wordsOf } from './bank.ts'

test('a payment moves money from one account to the other, and both see it', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')

  const paid = await bank.pay(alice, bob.iban, '12.5', { description: 'Lunch' })

  expect(paid.status).toBe(200)
  expect(paid.body).toEqual({ id: 3 })
  expect(await bank.balance(alice)).toBe('87.50')
  expect(await bank.balance(bob)).toBe('12.50')
  const out = await bank.rest(`GET ${alice.account}/payment/3`)
  expect(out.body).toMatchObject({
    id: 3,
    created: '2030-01-01 00:00:00.000000',
    monetary_account_id: alice.accountId,
    amount: { value: '-12.50', currency: 'EUR' },
    description: 'Lunch',
    type: 'VENDOR',
    sub_type: 'PAYMENT',
    alias: { iban: alice.iban, display_name: 'Person 1' },
    counterparty_alias: { iban: bob.iban, display_name: 'Person 2' },
    balance_after_mutation: { value: '87.50', currency: 'EUR' },
  })
  const back = await bank.rest(`GET ${bob.account}/payment`, undefined, { credential: 'bob' })
  expect(back.body).toHaveLength(1)
  expect(back.body[0]).toMatchObject({
    id: 4,
    amount: { value: '12.50', currency: 'EUR' },
    counterparty_alias: { iban: alice.iban },
  })
  expect(await violations(bank.store)).toEqual([])
})

test('a payment with a request id is made once, and its repetition gets the same answer', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')
  const headers = { 'x-vendor-client-request-id': 'r-1' }

  const first = await bank.pay(alice, bob.iban, '10.00', { headers })
  const again = await bank.pay(alice, bob.iban, '10.00', { headers })
  const [atOnce, andAgain] = await Promise.all([
    bank.pay(alice, bob.iban, '1.00', { headers: { 'x-vendor-client-request-id': 'r-2' } }),
    bank.pay(alice, bob.iban, '1.00', { headers: { 'x-vendor-client-request-id': 'r-2' } }),
  ])

  expect(again).toMatchObject({ status: 200, body: first.body })
  expect(again.headers['x-vendor-client-request-id']).toBe('r-1')
  expect(andAgain.body).toEqual(atOnce.body)
  expect(await bank.balance(bob)).toBe('11.00')
})

test('a repetition gets its answer also when the money is gone, and other words are refused', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 10)
  const bob = await bank.holder('bob')
  const headers = { 'x-vendor-client-request-id': 'r-1' }
  const first = await bank.pay(alice, bob.iban, '10.00', { headers })

  const again = await bank.pay(alice, bob.iban, '10.00', { headers })
  const other = await bank.pay(alice, bob.iban, '9.00', { headers })

  expect(again).toMatchObject({ status: 200, body: first.body })
  expect(other.status).toBe(400)
  expect(wordsOf(other)).toContain('was used for another request')
  expect(await bank.balance(bob)).toBe('10.00')
})

const EUR = (value: string) => ({ amount: { value, currency: 'EUR' } })

test.each([
  ['more than two decimals', EUR('1.001'), 'at most two decimals'],
  ['a negative amount', EUR('-1.00'), 'must not be negative'],
  ['nothing', EUR('0.00'), 'must be more than 0'],
  ['no number', EUR('1e3'), 'at most two decimals'],
  ['more than anyone has', EUR('1000000000.01'), 'must be at most'],
  [
    'an unknown currency',
    { amount: { value: '1.00', currency: 'XXX' } },
    'currency must be one of',
  ],
  [
    'the currency of another account',
    { amount: { value: '1.00', currency: 'USD' } },
    'is kept in EUR',
  ],
  ['more than is there', EUR('100.01'), 'has 100.00 EUR available, less than 100.01'],
  ['no amount', { amount: undefined }, 'amount is required'],
  ['no description', { description: undefined }, 'description is required'],
  [
    'an IBAN whose check digits do not fit',
    { counterparty_alias: { type: 'IBAN', value: 'NL00POLY0100000002', name: 'X' } },
    'check digits do not fit',
  ],
  [
    'an IBAN of this bank that nobody has',
    { counterparty_alias: { type: 'IBAN', value: 'NL88POLY0199999999', name: 'X' } },
    'there is no account',
  ],
  [
    'an IBAN of another bank without a name',
    { counterparty_alias: { type: 'IBAN', value: 'DE89370400440532013000' } },
    'name is required',
  ],
  [
    'an address that nobody has',
    { counterparty_alias: { type: 'EMAIL', value: 'nobody@example.org' } },
    'nobody at this bank',
  ],
  [
    'a page that is not ours',
    { counterparty_alias: { type: 'URL', value: 'https://example.org/t/1' } },
    'is not a page of this bank',
  ],
])('a payment of %s is refused, and nothing changes', async (_what, change, words) => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')

  const answer = await bank.pay(alice, bob.iban, '1.00', change)

  expect(answer.status).toBe(400)
  expect(wordsOf(answer)).toContain(words)
  expect(answer.body.Error[0].error_description_translated).toBe(wordsOf(answer))
  expect(await bank.balance(alice)).toBe('100.00')
  expect(await bank.balance(bob)).toBe('0.00')
  expect(await violations(bank.store)).toEqual([])
})

test('nobody pays from the account of someone else, or reads what is theirs', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')

  const paid = await bank.pay({ ...alice, person: 'bob' }, bob.iban, '1.00')
  const mixed = `/v1/user/${bob.userId}/monetary-account/${alice.accountId}`
  const through = await bank.rest(`GET ${mixed}/payment`, undefined, { credential: 'bob' })
  const read = await bank.rest(`GET ${bob.account}/payment/2`, undefined, { credential: 'bob' })
  const unknown = await bank.rest('GET /v1/user/999/monetary-account-bank')
  const nobody = await bank.rest(`GET ${alice.account}/payment`, undefined, { credential: null })

  expect(paid.status).toBe(403)
  expect(wordsOf(paid)).toBe(`The credential does not open user ${alice.userId}.`)
  expect(through.status).toBe(404)
  expect(read.status).toBe(404)
  expect(unknown.status).toBe(403)
  expect(nobody.status).toBe(401)
  expect(await bank.balance(alice)).toBe('100.00')
})

test('an account pays no more in a day than its limit', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 1500)
  const bob = await bank.holder('bob')
  await bank.pay(alice, bob.iban, '600.00')

  const over = await bank.pay(alice, bob.iban, '400.01')
  const fits = await bank.pay(alice, bob.iban, '400.00')
  await bank.advance(24 * 3600_000)
  const tomorrow = await bank.pay(alice, bob.iban, '400.01')

  expect(over.status).toBe(400)
  expect(wordsOf(over)).toContain('may pay 1000.00 EUR a day')
  expect(fits.status).toBe(200)
  expect(tomorrow.status).toBe(200)
})

test('a payment to another bank leaves through the bank, and says where it went', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)

  const { body } = await bank.pay(alice, 'DE89 3704 0044 0532 0130 00', '20.00')
  const tooLong = await bank.pay(alice, 'DE89370400440532013000', '1.00', {
    description: 'x'.repeat(141),
  })

  const read = await bank.rest(`GET ${alice.account}/payment/${body.id}`)
  expect(read.body).toMatchObject({
    type: 'EBA_SCT',
    sub_type: 'SCT',
    counterparty_alias: { iban: 'DE89370400440532013000', display_name: 'Someone', country: 'DE' },
  })
  expect(tooLong.status).toBe(400)
  expect(await bank.balance(alice)).toBe('80.00')
  expect(await violations(bank.store)).toEqual([])
})

test('what was received is given back once, by whoever received it', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')
  const { body } = await bank.pay(alice, bob.iban, '30.00')
  const reverse = `mutation ($u: ID!, $m: ID!, $id: ID!) {
    reversePayment(userId: $u, monetaryAccountId: $m, itemId: $id) { id amount { value } subType } }`
  const of = (holder: typeof bob, id: number) => ({ u: holder.userId, m: holder.accountId, id })

  const byPayer = await bank.graphql(reverse, of(alice, body.id))
  const given = await bank.graphql(reverse, of(bob, body.id + 1), { credential: 'bob' })
  const again = await bank.graphql(reverse, of(bob, body.id + 1), { credential: 'bob' })

  expect(byPayer.errors![0].extensions).toMatchObject({ code: 'WrongState', status: 400 })
  expect(given.data.reversePayment).toMatchObject({
    amount: { value: '-30.00' },
    subType: 'REVERSAL',
  })
  expect(again.errors![0].message).toBe('This payment was reversed already.')
  expect(await bank.balance(alice)).toBe('100.00')
  expect(await violations(bank.store)).toEqual([])
})

test('entries are only added: the tables refuse to change or remove one', async () => {
  const bank = await openBank()
  await bank.holder('alice', 10)

  await expect(bank.store.sql('UPDATE entry SET amount = 1')).rejects.toThrow('only added')
  await expect(bank.store.sql('DELETE FROM entry')).rejects.toThrow('only added')
  await expect(
    bank.store.sql('UPDATE account SET balance = -1 WHERE overdraft_limit = 0'),
  ).rejects.toThrow(/constraint/i)
})

test('lists are newest first, and page by count, older_id and newer_id', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')
  const ids: number[] = []
  for (let i = 0; i < 12; i += 1) ids.push((await bank.pay(alice, bob.iban, '1.00')).body.id)
  const list = async (query: string) =>
    (await bank.rest(`GET ${alice.account}/payment${query}`)).body.map(({ id }: any) => id)

  expect(await list('')).toEqual(ids.toReversed().slice(0, 10))
  expect(await list(`?count=3&older_id=${ids[5]}`)).toEqual([ids[4], ids[3], ids[2]])
  expect(await list(`?count=2&newer_id=${ids[5]}`)).toEqual([ids[7], ids[6]])
  const tooMany = await bank.rest(`GET ${alice.account}/payment?count=201`)
  const both = await bank.rest(`GET ${alice.account}/payment?older_id=5&newer_id=1`)
  expect([tooMany.status, both.status]).toEqual([400, 400])
})
