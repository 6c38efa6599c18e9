// Users and their accounts, at both doors.
import { expect, test } from 'vitest'
import { readIban } from '../../resolvers/banking/iban.ts'
import { people } from '../people.ts'
import { openBank, violations, wordsOf } from './bank.ts'

test('an account is opened with an IBAN whose check digits hold, and can be paid at', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 50)
  const path = `/v1/user/${alice.userId}/monetary-account-bank`

  const made = await bank.rest(`POST ${path}`, {
    currency: 'EUR',
    description: 'Holidays',
    daily_limit: { value: '250.00', currency: 'EUR' },
    setting: { color: '#00aaff' },
  })
  const { id } = made.body.Id
  const { body } = await bank.rest(`GET ${path}/${id}`)

  expect(body).toMatchObject({
    id,
    user_id: alice.userId,
    currency: 'EUR',
    description: 'Holidays',
    display_name: 'Person 1',
    status: 'ACTIVE',
    sub_status: 'NONE',
    balance: { value: '0.00', currency: 'EUR' },
    daily_limit: { value: '250.00', currency: 'EUR' },
    overdraft_limit: { value: '0.00', currency: 'EUR' },
    setting: { color: '#00AAFF', default_avatar_status: 'AVATAR_DEFAULT' },
  })
  expect(body.alias[0].value).toMatch(/^NL\d\dPOLY\d{10}$/)
  expect(readIban(body.alias[0].value)).toBe(body.alias[0].value)
  expect((await bank.pay(alice, body.alias[0].value, '5.00')).status).toBe(200)
  const kinds = await bank.rest(`GET /v1/user/${alice.userId}/monetary-account`)
  expect(kinds.body.map((kind: any) => kind.MonetaryAccountBank.id)).toEqual([id, alice.accountId])
})

test.each([
  ['in an unknown currency', { currency: 'JPY' }],
  ['in another country', { country_iban: 'DE' }],
  ['with too high a limit', { daily_limit: { value: '10000.01', currency: 'EUR' } }],
  ['with a limit in another currency', { daily_limit: { value: '1.00', currency: 'USD' } }],
  ['closed from the beginning', { status: 'CANCELLED' }],
  ['in a colour that is none', { setting: { color: 'red' } }],
])('an account %s is not opened', async (_what, body) => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')

  const answer = await bank.rest(`POST /v1/user/${userId}/monetary-account-bank`, body)

  expect(answer.status).toBe(400)
  const list = await bank.rest(`GET /v1/user/${userId}/monetary-account-bank`)
  expect(list.body).toHaveLength(1)
})

test('an account is closed when it is empty, in the right words, and takes nothing after', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 10)
  const bob = await bank.holder('bob', 10)
  const path = `/v1/user/${alice.userId}/monetary-account-bank/${alice.accountId}`
  const closing = { status: 'CANCELLED', sub_status: 'REDEMPTION_VOLUNTARY', reason: 'OTHER' }

  const full = await bank.rest(`PUT ${path}`, closing)
  await bank.pay(alice, bob.iban, '10.00')
  const wordless = await bank.rest(`PUT ${path}`, { status: 'CANCELLED' })
  const closed = await bank.rest(`PUT ${path}`, closing)
  const paid = await bank.pay(bob, alice.iban, '1.00')
  const asked = await bank.rest(`POST ${alice.account}/vendorme-tab`, {
    vendorme_tab_entry: {
      amount_inquired: { value: '1.00', currency: 'EUR' },
      description: 'Too late',
    },
  })
  const changed = await bank.rest(`PUT ${path}`, { description: 'Too late' })

  expect([full.status, wordless.status, closed.status]).toEqual([400, 400, 200])
  expect(wordsOf(paid)).toBe(`The account ${alice.iban} is cancelled.`)
  expect([asked.status, changed.status]).toEqual([400, 400])
  expect(await bank.balance(bob)).toBe('20.00')
  expect(await violations(bank.store)).toEqual([])
})

test('an administrator lets an account be overdrawn, up to the limit and no further', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bob = await bank.holder('bob')
  const set = `mutation ($id: ID!) { setOverdraftLimit(monetaryAccountId: $id,
    overdraftLimit: { value: "25.00", currency: "EUR" }) { overdraftLimit { value } available { value } } }`

  const byAlice = await bank.graphql(set, { id: alice.accountId })
  const byAdmin = await bank.graphqlAs({ ...people.bob, isAdmin: true }, set, {
    id: alice.accountId,
  })
  const over = await bank.pay(alice, bob.iban, '25.01')
  const fits = await bank.pay(alice, bob.iban, '25.00')

  expect(byAlice.errors![0].extensions.status).toBe(403)
  expect(byAdmin.data.setOverdraftLimit).toEqual({
    overdraftLimit: { value: '25.00' },
    available: { value: '25.00' },
  })
  expect([over.status, fits.status]).toEqual([400, 200])
  expect(await bank.balance(alice)).toBe('-25.00')
})

test('a user is renamed, and their accounts with them; payments of before keep the old name', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 10)
  const bob = await bank.holder('bob')
  const { body: paid } = await bank.pay(alice, bob.iban, '1.00')

  const renamed = await bank.rest(`PUT /v1/user-person/${alice.userId}`, {
    first_name: 'Ada',
    last_name: 'Lovelace',
    date_of_birth: '1815-12-10',
  })
  const bad = await bank.rest(`PUT /v1/user-person/${alice.userId}`, {
    date_of_birth: '1815-13-10',
  })
  const asCompany = await bank.rest(`GET /v1/user-company/${alice.userId}`)

  expect(renamed).toMatchObject({ status: 200, body: { Id: { id: alice.userId } } })
  expect([bad.status, asCompany.status]).toEqual([400, 403])
  const { body } = await bank.rest(`GET /v1/user/${alice.userId}`)
  expect(body.UserPerson).toMatchObject({
    first_name: 'Ada',
    display_name: 'Ada Lovelace',
    date_of_birth: '1815-12-10',
    status: 'ACTIVE',
    alias: [{ type: 'EMAIL', value: 'person-1@users.bank.example' }],
  })
  const payment = await bank.rest(`GET ${alice.account}/payment/${paid.id}`)
  expect(payment.body.alias.display_name).toBe('Person 1')
  const account = await bank.graphql(
    'query ($u: ID!, $m: ID!) { monetaryAccount(userId: $u, monetaryAccountId: $m) { displayName created } }',
    { u: alice.userId, m: alice.accountId },
  )
  expect(account.data.monetaryAccount).toEqual({
    displayName: 'Ada Lovelace',
    created: '2030-01-01T00:00:00.000Z',
  })
})

test('a company is made, renamed and paid at its address', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 10)

  const made = await bank.rest(
    'POST /v1/user-company',
    { name: 'Engines Ltd' },
    { credential: 'bob' },
  )
  const { id } = made.body.Id
  await bank.rest(`PUT /v1/user-company/${id}`, { name: 'Engines BV' }, { credential: 'bob' })
  const paid = await bank.pay(alice, '', '2.00', {
    counterparty_alias: { type: 'EMAIL', value: `company-${id}@users.bank.example` },
  })

  expect(paid.status).toBe(200)
  const { body } = await bank.rest(`GET ${alice.account}/payment/${paid.body.id}`)
  expect(body.counterparty_alias.display_name).toBe('Engines BV')
})

test('a request id makes one user and one account', async () => {
  const bank = await openBank()
  const headers = { 'x-vendor-client-request-id': 'u-1' }

  const first = await bank.rest('POST /v1/user-person', { first_name: 'Ada' }, { headers })
  const again = await bank.rest('POST /v1/user-person', { first_name: 'Ada' }, { headers })
  const other = await bank.rest('POST /v1/user-person', { first_name: 'Eve' }, { headers })

  expect(again.body).toEqual(first.body)
  expect(other.status).toBe(400)
  expect((await bank.rest('GET /v1/user')).body).toHaveLength(1)
})

test('every change is announced', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 10)
  const bob = await bank.holder('bob')
  await bank.pay(alice, bob.iban, '1.00')

  const rows = await bank.store.sql('SELECT DISTINCT type FROM event ORDER BY type')

  expect(rows.map(({ type }) => type)).toEqual(
    expect.arrayContaining([
      'banking.fundraiser.created',
      'banking.monetary-account.created',
      'banking.payment.created',
      'banking.request.accepted',
      'banking.request.created',
      'banking.user.created',
    ]),
  )
})
