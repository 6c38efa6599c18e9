import { expect, test } from 'vitest'
import { numberOfCard } from '../../resolvers/banking/card-numbers.ts'
import { withOrderStatus, withStatus } from '../../resolvers/banking/card-states.ts'
import type { CardStates } from '../../resolvers/banking/card-states.ts'
import { openBank, wordsOf } from './bank.ts'
import { anotherAccount, HOUR_MS, withActiveCard, withCard } from './carded.ts'

const ORDERS = [
  'CARD_REQUEST_PENDING',
  'SENT_FOR_PRODUCTION',
  'ACCEPTED_FOR_PRODUCTION',
  'DELIVERED_TO_CUSTOMER',
  'CARD_UPDATE_REQUESTED',
  'CARD_UPDATE_SENT',
  'CARD_UPDATE_ACCEPTED',
  'VIRTUAL_DELIVERY',
] as const

test('each status follows on some states, and is refused in the others', () => {
  const afterOf = (card: Omit<CardStates, 'wrong_pins'>, status: string): string => {
    try {
      const after = withStatus({ ...card, wrong_pins: 0 }, status)
      return `${after.status} ${after.order_status}`
    } catch {
      return 'refused'
    }
  }
  const column = (from: CardStates['status'], to: string) =>
    ORDERS.map((order_status) => afterOf({ status: from, order_status }, to))

  expect(column('DEACTIVATED', 'ACTIVE')).toEqual([
    'refused',
    'refused',
    'ACTIVE DELIVERED_TO_CUSTOMER',
    'ACTIVE DELIVERED_TO_CUSTOMER',
    'ACTIVE CARD_UPDATE_REQUESTED',
    'ACTIVE CARD_UPDATE_SENT',
    'ACTIVE CARD_UPDATE_ACCEPTED',
    'refused',
  ])
  expect(column('ACTIVE', 'DEACTIVATED')).toEqual([
    'refused',
    'refused',
    'refused',
    'DEACTIVATED DELIVERED_TO_CUSTOMER',
    'DEACTIVATED CARD_UPDATE_REQUESTED',
    'DEACTIVATED CARD_UPDATE_SENT',
    'DEACTIVATED CARD_UPDATE_ACCEPTED',
    'refused',
  ])
  for (const end of ['LOST', 'STOLEN', 'CANCELLED']) {
    for (const from of ['ACTIVE', 'DEACTIVATED', 'PIN_TRIES_EXCEEDED'] as const) {
      expect(column(from, end)).toEqual([
        'refused',
        'refused',
        `${end} ACCEPTED_FOR_PRODUCTION`,
        `${end} DELIVERED_TO_CUSTOMER`,
        `${end} CARD_UPDATE_REQUESTED`,
        `${end} CARD_UPDATE_SENT`,
        `${end} CARD_UPDATE_ACCEPTED`,
        'refused',
      ])
    }
  }
  expect(column('PIN_TRIES_EXCEEDED', 'DEACTIVATED')).toEqual(Array(8).fill('refused'))
  for (const set of ['EXPIRED', 'PIN_TRIES_EXCEEDED', 'BROKEN']) {
    expect(column('ACTIVE', set)).toEqual(Array(8).fill('refused'))
  }
})

test('an order is changed by its holder in one case alone: a virtual card becomes a thing', () => {
  const allowed: string[] = []
  for (const order_status of ORDERS) {
    for (const to of [...ORDERS, 'NEW_CARD_REQUEST_CANCELLED', 'SENT_FOR_DELIVERY']) {
      if (to === order_status) continue
      try {
        withOrderStatus({ status: 'ACTIVE', order_status, wrong_pins: 0 }, to)
        allowed.push(`${order_status} to ${to}`)
      } catch {
        // Refused.
      }
    }
  }

  expect(allowed).toEqual(['VIRTUAL_DELIVERY to CARD_REQUEST_PENDING'])
})

test('a card is activated once it is produced, deactivated, and activated again', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'))
  const set = async (status: string) => {
    const { status: answer } = await bank.rest(`PUT ${card}`, { status })
    return [answer, (await bank.rest(`GET ${card}`)).body.status]
  }

  const early = await bank.rest(`PUT ${card}`, { status: 'ACTIVE' })
  expect([early.status, wordsOf(early)]).toEqual([
    400,
    'A card is activated once it is produced; this one is DEACTIVATED, CARD_REQUEST_PENDING.',
  ])
  expect(await set('LOST')).toEqual([400, 'DEACTIVATED'])
  await bank.advance(25 * HOUR_MS)
  expect(await set('ACTIVE')).toEqual([200, 'ACTIVE'])
  expect(await set('DEACTIVATED')).toEqual([200, 'DEACTIVATED'])
  expect(await set('ACTIVE')).toEqual([200, 'ACTIVE'])
  expect(await set('EXPIRED')).toEqual([400, 'ACTIVE'])
})

test('a card that was lost or cancelled stays so, and is not changed any more', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const { card } = await withActiveCard(bank, alice)

  const reason = await bank.rest(`PUT ${card}`, { cancellation_reason: 'Why not' })
  const done = await bank.rest(`PUT ${card}`, {
    status: 'CANCELLED',
    cancellation_reason: 'Too many cards',
  })
  const again = await bank.rest(`PUT ${card}`, { status: 'ACTIVE' })
  const other = await bank.rest(`PUT ${card}`, { second_line: 'Hello' })

  expect([reason.status, wordsOf(reason)]).toEqual([
    400,
    'cancellation_reason goes with status CANCELLED alone.',
  ])
  expect(done.body).toEqual({ Id: { id: 1 } })
  for (const refused of [again, other]) {
    expect([refused.status, wordsOf(refused)]).toEqual([
      400,
      'The card is CANCELLED, and cannot be changed any more.',
    ])
  }
  const { data } = await bank.graphql(
    'query ($id: ID!) { card(userId: $id, itemId: 1) { status cancellationReason secondLine } }',
    { id: alice.userId },
  )
  expect(data.card).toEqual({
    status: 'CANCELLED',
    cancellationReason: 'Too many cards',
    secondLine: '',
  })
})

test('a virtual card is ordered as a thing, and goes on working meanwhile', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'), {
    order_status: 'VIRTUAL_DELIVERY',
  })
  const stateOf = async () => {
    const { body } = await bank.rest(`GET ${card}`)
    return [body.status, body.order_status]
  }

  expect(await stateOf()).toEqual(['ACTIVE', 'VIRTUAL_DELIVERY'])
  const refused = await bank.rest(`PUT ${card}`, { order_status: 'DELIVERED_TO_CUSTOMER' })
  expect([refused.status, wordsOf(refused)]).toEqual([
    400,
    'order_status cannot be set to DELIVERED_TO_CUSTOMER while it is VIRTUAL_DELIVERY.',
  ])
  await bank.rest(`PUT ${card}`, { order_status: 'CARD_REQUEST_PENDING' })
  expect(await stateOf()).toEqual(['ACTIVE', 'CARD_REQUEST_PENDING'])
  await bank.advance(25 * HOUR_MS)
  expect(await stateOf()).toEqual(['ACTIVE', 'ACCEPTED_FOR_PRODUCTION'])
  await bank.rest(`PUT ${card}`, { status: 'ACTIVE' })
  expect(await stateOf()).toEqual(['ACTIVE', 'DELIVERED_TO_CUSTOMER'])
})

test('what is written on a card that has come takes an update of the card', async () => {
  const bank = await openBank()
  const { card } = await withActiveCard(bank, await bank.holder('alice'))
  const orderOf = async () => (await bank.rest(`GET ${card}`)).body.order_status

  await bank.rest(`PUT ${card}`, { second_line: 'Holidays', preferred_name_on_card: 'Ada' })

  expect(await orderOf()).toBe('CARD_UPDATE_REQUESTED')
  await bank.advance(HOUR_MS)
  expect(await orderOf()).toBe('CARD_UPDATE_SENT')
  await bank.advance(24 * HOUR_MS)
  expect(await orderOf()).toBe('CARD_UPDATE_ACCEPTED')
  const { body } = await bank.rest(`GET ${card}`)
  expect(body).toMatchObject({
    first_line: 'Ada',
    second_line: 'Holidays',
    name_on_card: 'Person 1',
    preferred_name_on_card: 'Ada',
    status: 'ACTIVE',
  })
})

test('limits are amounts of the card’s currency, up to ten thousand', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const { card } = await withCard(bank, alice)
  const eur = (value: string) => ({ value, currency: 'EUR' })

  const { data } = await bank.graphql(
    `mutation ($id: ID!) { updateCard(userId: $id, itemId: 1,
       cardLimit: { value: "250", currency: "EUR" }, cardLimitAtm: { value: "0.00", currency: "EUR" }) {
         cardLimit { value } cardLimitAtm { value } orderStatus } }`,
    { id: alice.userId },
  )

  expect(data.updateCard).toEqual({
    cardLimit: { value: '250.00' },
    cardLimitAtm: { value: '0.00' },
    orderStatus: 'CARD_REQUEST_PENDING',
  })
  for (const card_limit of [
    eur('-1'),
    eur('1.234'),
    eur('10000.01'),
    eur('much'),
    { value: '1', currency: 'USD' },
    { value: '1', currency: 'XYZ' },
    '1',
  ]) {
    expect((await bank.rest(`PUT ${card}`, { card_limit })).status).toBe(400)
  }
  expect((await bank.rest(`GET ${card}`)).body.card_limit).toEqual(eur('250.00'))
})

test('country permissions are replaced as a whole, and end on the clock', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'))
  const permissions = async () => (await bank.rest(`GET ${card}`)).body.country_permission

  await bank.rest(`PUT ${card}`, {
    country_permission: [{ country: 'DE' }, { country: 'US', expiry_time: '2030-01-02 00:00:00' }],
  })
  expect(await permissions()).toEqual([
    { id: 1, country: 'DE', expiry_time: null },
    { id: 2, country: 'US', expiry_time: '2030-01-02 00:00:00.000000' },
  ])
  await bank.rest(`PUT ${card}`, { second_line: 'Untouched' })
  expect(await permissions()).toHaveLength(2)
  await bank.rest(`PUT ${card}`, {
    country_permission: [
      { id: 2, country: 'US', expiry_time: '2030-01-03T00:00:00Z' },
      { country: 'GB' },
    ],
  })
  await bank.advance(48 * HOUR_MS - 1)
  expect(await permissions()).toEqual([
    { id: 2, country: 'US', expiry_time: '2030-01-03 00:00:00.000000' },
    { id: 3, country: 'GB', expiry_time: null },
  ])
  await bank.advance(1)
  expect(await permissions()).toEqual([{ id: 3, country: 'GB', expiry_time: null }])
  await bank.rest(`PUT ${card}`, { country_permission: [] })
  expect(await permissions()).toEqual([])
})

test('permissions that end are removed one after the other, and that is announced', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'), {
    order_status: 'VIRTUAL_DELIVERY',
  })
  await bank.rest(`PUT ${card}`, {
    country_permission: [
      { country: 'US', expiry_time: '2030-01-03 00:00:00' },
      { country: 'DE', expiry_time: '2030-01-02 00:00:00' },
      { country: 'GB' },
    ],
  })
  const kept = async () => {
    const [{ body }] = (await bank.store.sql('SELECT body FROM card')) as [{ body: string }]
    return JSON.parse(body).country_permission.map(({ country }: { country: string }) => country)
  }

  await bank.advance(24 * HOUR_MS)
  expect(await kept()).toEqual(['US', 'GB'])
  await bank.advance(24 * HOUR_MS)
  expect(await kept()).toEqual(['GB'])
  const [{ count }] = (await bank.store.sql(
    `SELECT count(*) AS count FROM event WHERE type = 'banking.card.changed'`,
  )) as [{ count: number }]
  expect(count).toBe(3)
})

test('a permission that cannot be is refused, and those that are there stay', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'))
  await bank.rest(`PUT ${card}`, { country_permission: [{ country: 'DE' }] })
  const refused = async (...country_permission: object[]) => {
    const answer = await bank.rest(`PUT ${card}`, { country_permission })
    return [answer.status, wordsOf(answer)]
  }

  const COUNTRY = 'country_permission.country must be a country of ISO 3166-1, such as NL.'
  expect(await refused({ country: 'XX' })).toEqual([400, COUNTRY])
  expect(await refused({ country: 'de' })).toEqual([400, COUNTRY])
  expect(await refused({ country: 'US' }, { country: 'US' })).toEqual([
    400,
    'country_permission names US twice.',
  ])
  expect(await refused({ country: 'US', id: 7 })).toEqual([
    400,
    'country_permission: the card has no permission 7.',
  ])
  expect(await refused({ country: 'US', expiry_time: '2030-01-01 00:00:00' })).toEqual([
    400,
    'country_permission.expiry_time must be in the future.',
  ])
  expect((await refused({ country: 'US', expiry_time: 'soon' }))[0]).toBe(400)
  expect((await refused({}))[0]).toBe(400)
  expect((await bank.rest(`GET ${card}`)).body.country_permission).toEqual([
    { id: 1, country: 'DE', expiry_time: null },
  ])
})

test('PINs are assigned to accounts of the user, and stay as they are when they are not sent', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const second = await anotherAccount(bank, alice)
  const { card } = await withCard(bank, alice)
  const refused = async (...pin_code_assignment: object[]) => {
    const answer = await bank.rest(`PUT ${card}`, { pin_code_assignment })
    return [answer.status, wordsOf(answer)]
  }
  const primary = { type: 'PRIMARY', monetary_account_id: alice.accountId }
  const secondary = { type: 'SECONDARY', pin_code: '5678', monetary_account_id: second }

  const done = await bank.rest(`PUT ${card}`, {
    pin_code_assignment: [primary, { ...secondary, status: 'DEACTIVATED' }],
  })

  expect(done.status).toBe(200)
  const kept = [
    {
      type: 'PRIMARY',
      routing_type: 'MANUAL',
      status: 'ACTIVE',
      monetary_account_id: alice.accountId,
    },
    {
      type: 'SECONDARY',
      routing_type: 'MANUAL',
      status: 'DEACTIVATED',
      monetary_account_id: second,
    },
  ]
  expect((await bank.rest(`GET ${card}`)).body.pin_code_assignment).toEqual(kept)
  const alike = [400, 'pin_code_assignment: the PINs of a card must differ.']
  expect(await refused(primary, { ...secondary, pin_code: '1234' })).toEqual(alike)
  expect(await refused({ ...primary, pin_code: '5678' }, secondary)).toEqual(alike)
  expect(await refused(primary, primary)).toEqual([400, 'pin_code_assignment names a type twice.'])
  expect(await refused(primary, { ...secondary, type: 'TERTIARY', pin_code: undefined })).toEqual([
    400,
    'pin_code_assignment.pin_code of TERTIARY is required.',
  ])
  expect((await refused())[0]).toBe(400)
  expect((await refused({ ...primary, type: 'FOURTH' }))[0]).toBe(400)
  expect((await bank.rest(`GET ${card}`)).body.pin_code_assignment).toEqual(kept)
})

test('a PIN is nowhere: not in an answer, not in an event, not on disk', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const { card } = await withCard(bank, alice, {
    pin_code_assignment: [
      { type: 'PRIMARY', pin_code: '7391', monetary_account_id: alice.accountId },
    ],
  })
  await bank.rest(`PUT ${card}`, { pin_code: '8264' })

  const [row] = await bank.store.sql('SELECT * FROM card')
  const events = await bank.store.sql('SELECT * FROM event')
  const shown = await bank.rest(`GET ${card}`)

  for (const text of [row, events, shown.body].map((it) => JSON.stringify(it))) {
    expect(text).not.toMatch(/(?<!\d)(7391|8264)(?!\d)/)
    expect(text).not.toContain('"pin_code":')
  }
  expect(JSON.stringify(shown.body)).not.toContain('"pin"')
})

test('numbers of a card are described, switched off and added, and their digits are not chosen', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bob = await bank.holder('bob')
  const second = await anotherAccount(bank, alice)
  const { card } = await withCard(bank, alice)
  const numbers = async () => (await bank.rest(`GET ${card}`)).body.primary_account_numbers
  const [{ uuid }] = await numbers()
  const refused = async (...primary_account_numbers: object[]) => {
    const answer = await bank.rest(`PUT ${card}`, { primary_account_numbers })
    return [answer.status, wordsOf(answer)]
  }

  await bank.rest(`PUT ${card}`, {
    primary_account_numbers: [
      { id: 1, description: 'At tills', status: 'DEACTIVATED', four_digit: '0012' },
      { description: 'In shops of the web', monetary_account_id: second },
    ],
  })
  await bank.rest(`PUT ${card}`, { primary_account_numbers: [{ uuid, status: 'ACTIVE' }] })

  expect(await numbers()).toMatchObject([
    { id: 1, description: 'At tills', status: 'ACTIVE', four_digit: '0012', type: 'PHYSICAL' },
    {
      id: 2,
      description: 'In shops of the web',
      status: 'ACTIVE',
      monetary_account_id: second,
      four_digit: '0020',
      type: 'VIRTUAL',
    },
  ])
  expect(await refused({ id: 9 })).toEqual([
    400,
    'primary_account_numbers: the card has no number 9.',
  ])
  expect(await refused({ id: 1, four_digit: '4242' })).toEqual([
    400,
    'primary_account_numbers.four_digit cannot be chosen.',
  ])
  expect(await refused({ id: 1, type: 'VIRTUAL' })).toEqual([
    400,
    'primary_account_numbers.type cannot be chosen.',
  ])
  expect((await refused({ id: 1, monetary_account_id: bob.accountId }))[0]).toBe(404)
  expect((await refused({ id: 1, status: 'LOST' }))[0]).toBe(400)
  expect(await refused({}, {}, {}, {})).toEqual([400, 'A card has at most 5 numbers.'])
  expect(await numbers()).toHaveLength(2)
})

test('a fallback account that is not sent again is removed', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const second = await anotherAccount(bank, alice)
  const { card } = await withCard(bank, alice)
  const fallback = async () => (await bank.rest(`GET ${card}`)).body.monetary_account_id_fallback

  await bank.rest(`PUT ${card}`, { monetary_account_id_fallback: second })
  expect(await fallback()).toBe(second)
  await bank.rest(`PUT ${card}`, { second_line: 'Hello' })
  expect(await fallback()).toBe(null)
})

test('an update of which one part is refused changes nothing at all', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'))
  const before = (await bank.rest(`GET ${card}`)).body

  const refused = await bank.rest(`PUT ${card}`, {
    second_line: 'Hello',
    card_limit: { value: '1.00', currency: 'EUR' },
    country_permission: [{ country: 'DE' }],
    status: 'LOST',
  })

  expect(refused.status).toBe(400)
  expect((await bank.rest(`GET ${card}`)).body).toEqual(before)
})

test('every change of a card is announced', async () => {
  const bank = await openBank()
  const { card } = await withActiveCard(bank, await bank.holder('alice'))
  await bank.rest(`PUT ${card}`, { status: 'STOLEN' })

  const events = await bank.store.sql(
    `SELECT type, body FROM event WHERE type LIKE 'banking.card.%' ORDER BY number`,
  )

  expect(events.map(({ type, body }) => [type, JSON.parse(body).status])).toEqual([
    ['banking.card.created', 'DEACTIVATED'],
    ['banking.card.changed', 'DEACTIVATED'],
    ['banking.card.changed', 'DEACTIVATED'],
    ['banking.card.changed', 'ACTIVE'],
    ['banking.card.changed', 'STOLEN'],
  ])
})

test('a card number has a check digit that holds', () => {
  expect(numberOfCard(1)).toBe('9999000000000012')
  expect(numberOfCard(2)).toBe('9999000000000020')
  expect(numberOfCard(123_456_789)).toBe('9999001234567891')
})

test('an account that was closed keeps nobody from reporting a card, and is not chosen anew', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const second = await anotherAccount(bank, alice)
  const { card } = await withActiveCard(bank, alice)
  const assignment = { type: 'SECONDARY', pin_code: '5678', monetary_account_id: second }
  const primary = { type: 'PRIMARY', monetary_account_id: alice.accountId }
  await bank.rest(`PUT ${card}`, { pin_code_assignment: [primary, assignment] })
  await bank.rest(`PUT /v1/user/${alice.userId}/monetary-account-bank/${second}`, {
    status: 'CANCELLED',
    sub_status: 'REDEMPTION_VOLUNTARY',
    reason: 'OTHER',
  })

  const kept = await bank.rest(`PUT ${card}`, { second_line: 'Hello' })
  await bank.rest(`PUT ${card}`, { pin_code_assignment: [primary] })
  const again = await bank.rest(`PUT ${card}`, { monetary_account_id_fallback: second })
  await bank.rest(`PUT ${card}`, { status: 'LOST' })

  expect(kept.status).toBe(200)
  expect([again.status, wordsOf(again)]).toEqual([
    400,
    `monetary_account_id_fallback: the account ${second} is not open.`,
  ])
  expect((await bank.rest(`GET ${card}`)).body.status).toBe('LOST')
})
