import { expect, test } from 'vitest'
import { openBank, wordsOf } from './bank.ts'
import { anotherAccount, HOUR_MS, withCard } from './carded.ts'

test('a card that was ordered shows all that there is of it', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 20)
  const { card } = await withCard(bank, alice, { second_line: 'Holidays' })

  const { status, body } = await bank.rest(`GET ${card}`)

  expect(status).toBe(200)
  expect(body).toEqual({
    id: 1,
    created: '2030-01-01 00:00:00.000000',
    updated: '2030-01-01 00:00:00.000000',
    public_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    user_id: alice.userId,
    user_owner_id: alice.userId,
    user_holder_id: alice.userId,
    type: 'SCHEME_ONE',
    sub_type: 'NONE',
    product_type: 'SCHEME_ONE_DEBIT',
    product_sub_type: 'NONE',
    first_line: 'Person 1',
    second_line: 'Holidays',
    status: 'DEACTIVATED',
    sub_status: 'NONE',
    order_status: 'CARD_REQUEST_PENDING',
    expiry_date: '2034-01-31',
    name_on_card: 'Person 1',
    preferred_name_on_card: null,
    primary_account_numbers: [
      {
        id: 1,
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        description: '',
        status: 'ACTIVE',
        monetary_account_id: null,
        four_digit: '0012',
        type: 'PHYSICAL',
      },
    ],
    payment_account_reference: expect.stringMatching(/^POLY[0-9A-Z]{25}$/),
    card_limit: { value: '1000.00', currency: 'EUR' },
    card_limit_atm: { value: '500.00', currency: 'EUR' },
    country_permission: [],
    label_monetary_account_ordered: expect.objectContaining({ iban: alice.iban }),
    label_monetary_account_current: expect.objectContaining({ iban: alice.iban }),
    monetary_account: {
      id: alice.accountId,
      status: 'ACTIVE',
      currency: 'EUR',
      description: 'Main account',
      alias: [{ type: 'IBAN', value: alice.iban, name: 'Person 1', service: null }],
      balance: { value: '20.00', currency: 'EUR' },
      monetary_account_profile: null,
      setting: {
        color: '#FE2851',
        icon: null,
        default_avatar_status: 'AVATAR_DEFAULT',
        restriction_chat: 'ALLOW_INCOMING',
        sdd_expiration_action: null,
      },
      budget: [],
      reason: null,
      reason_description: null,
      share: null,
      relation_user: null,
      all_co_owner: [],
      open_banking_account: null,
    },
    pin_code_assignment: [
      {
        type: 'PRIMARY',
        routing_type: 'MANUAL',
        status: 'ACTIVE',
        monetary_account_id: alice.accountId,
      },
    ],
    monetary_account_id_fallback: null,
    country: 'NL',
    card_shipment_tracking_url: null,
    is_card_eligible_for_free_replacement: false,
    card_replacement: null,
    card_generated_cvc2: null,
    is_limited_edition: false,
    card_metal_member_since_date: null,
    company_employee_card: null,
  })
})

test('the graph orders cards, and shows them by their user, by their person and by their id', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')

  const made = await bank.graphql(
    `mutation ($id: ID!, $iban: String!) {
       createCard(userId: $id, secondLine: "", nameOnCard: "P 1", type: SCHEME_TWO,
         productType: "SCHEME_TWO_DEBIT", alias: { type: IBAN, value: $iban },
         preferredNameOnCard: "Ada", orderStatus: VIRTUAL_DELIVERY,
         pinCodeAssignment: [{ type: PRIMARY, pinCode: "4321", routingType: AUTOMATIC }]) {
         id status orderStatus firstLine pinCodeAssignment { type routingType monetaryAccountId }
         primaryAccountNumbers { type fourDigit } } }`,
    { id: alice.userId, iban: alice.iban },
  )
  const read = await bank.graphql(
    `query ($id: ID!) {
       card(userId: $id, itemId: 1) { expiryDate monetaryAccount { id balance { value } } }
       cards(userId: $id) { nodes { id created } pageInfo { hasNextPage } }
       cardNames(userId: $id) { possibleCardNameArray }
       _entities(representations: [
         { __typename: "User", id: "alice" }, { __typename: "Card", id: "1" },
         { __typename: "Card", id: "2" }, { __typename: "Card", id: "x" }]) {
         ... on User { cards { nodes { id owner { id } } } }
         ... on Card { id status } } }`,
    { id: alice.userId },
  )

  expect(made.data.createCard).toEqual({
    id: '1',
    status: 'ACTIVE',
    orderStatus: 'VIRTUAL_DELIVERY',
    firstLine: 'Ada',
    pinCodeAssignment: [{ type: 'PRIMARY', routingType: 'AUTOMATIC', monetaryAccountId: null }],
    primaryAccountNumbers: [{ type: 'VIRTUAL', fourDigit: '0012' }],
  })
  expect(read.data).toEqual({
    card: {
      expiryDate: '2034-01-31',
      monetaryAccount: { id: String(alice.accountId), balance: { value: '0.00' } },
    },
    cards: {
      nodes: [{ id: '1', created: '2030-01-01T00:00:00.000Z' }],
      pageInfo: { hasNextPage: false },
    },
    cardNames: { possibleCardNameArray: ['Person 1', 'P 1'] },
    _entities: [
      { cards: { nodes: [{ id: '1', owner: { id: 'alice' } }] } },
      { id: '1', status: 'ACTIVE' },
      null,
      null,
    ],
  })
})

test('cards are listed newest first, in pages', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  for (let n = 0; n < 3; n += 1) await withCard(bank, alice)
  const path = `GET /v1/user/${alice.userId}/card`
  const idsOf = ({ body }: { body: { id: number }[] }) => body.map(({ id }) => id)

  expect(idsOf(await bank.rest(path))).toEqual([3, 2, 1])
  expect(idsOf(await bank.rest(`${path}?count=2`))).toEqual([3, 2])
  expect(idsOf(await bank.rest(`${path}?older_id=2`))).toEqual([1])
  expect(idsOf(await bank.rest(`${path}?newer_id=1`))).toEqual([3, 2])
  expect((await bank.rest(`${path}?count=0`)).status).toBe(400)
})

test('an order that cannot be is refused, and there is no card', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bob = await bank.holder('bob')
  const dollars = await anotherAccount(bank, alice, { currency: 'USD' })
  const refused = async (change: object) => {
    const answer = await bank.rest(`POST /v1/user/${alice.userId}/card-debit`, {
      second_line: '',
      name_on_card: 'Person 1',
      type: 'SCHEME_ONE',
      product_type: 'SCHEME_ONE_DEBIT',
      ...change,
    })
    return [answer.status, wordsOf(answer)]
  }
  const pin = (more: object) => ({
    pin_code_assignment: [
      { type: 'PRIMARY', pin_code: '1234', monetary_account_id: alice.accountId, ...more },
    ],
  })

  expect((await refused({ second_line: 'eighteen letters..' }))[0]).toBe(400)
  expect(await refused({ second_line: undefined })).toEqual([400, 'second_line is required.'])
  expect(await refused({ name_on_card: 'Someone' })).toEqual([
    400,
    'name_on_card must be one of Person 1, P 1.',
  ])
  expect((await refused({ type: 'SCHEME_TEN' }))[0]).toBe(400)
  expect(await refused({ product_type: 'SCHEME_TWO_DEBIT' })).toEqual([
    400,
    'product_type must be SCHEME_ONE_DEBIT.',
  ])
  expect(await refused({ alias: { type: 'EMAIL', value: 'a@b.example' } })).toEqual([
    400,
    'alias.type must be IBAN.',
  ])
  expect(await refused({ alias: { type: 'IBAN', value: bob.iban } })).toEqual([
    400,
    'alias.value must be the IBAN of an account of this user that is open.',
  ])
  expect((await refused({ order_status: 'DELIVERED_TO_CUSTOMER' }))[0]).toBe(400)
  expect((await refused(pin({ pin_code: '12345' })))[0]).toBe(400)
  expect((await refused(pin({ pin_code: 'abcd' })))[0]).toBe(400)
  expect(await refused(pin({ pin_code: undefined }))).toEqual([
    400,
    'pin_code_assignment.pin_code of PRIMARY is required.',
  ])
  expect(await refused(pin({ type: 'SECONDARY' }))).toEqual([
    400,
    'pin_code_assignment must have a PRIMARY one.',
  ])
  expect(await refused(pin({ monetary_account_id: undefined }))).toEqual([
    400,
    'pin_code_assignment.monetary_account_id is required for MANUAL routing.',
  ])
  expect(await refused(pin({ monetary_account_id: bob.accountId }))).toEqual([
    404,
    `There is no monetary account ${bob.accountId}.`,
  ])
  expect(await refused(pin({ monetary_account_id: dollars }))).toEqual([
    400,
    `pin_code_assignment: the account ${dollars} is not in EUR, as the card is.`,
  ])
  expect((await refused({ monetary_account_id_fallback: bob.accountId }))[0]).toBe(404)
  expect((await bank.rest(`GET /v1/user/${alice.userId}/card`)).body).toEqual([])
})

test('an order that is repeated with its request id makes one card, and another PIN is another order', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const send = (pin_code: string) =>
    bank.rest(
      `POST /v1/user/${alice.userId}/card-debit`,
      {
        second_line: '',
        name_on_card: 'Person 1',
        type: 'SCHEME_ONE',
        product_type: 'SCHEME_ONE_DEBIT',
        pin_code_assignment: [{ type: 'PRIMARY', pin_code, monetary_account_id: alice.accountId }],
      },
      { headers: { 'x-vendor-client-request-id': 'one' } },
    )

  expect((await send('1234')).body).toEqual({ Id: { id: 1 } })
  expect((await send('1234')).body).toEqual({ Id: { id: 1 } })
  expect((await send('1235')).status).toBe(400)
})

test('a user has at most fifty cards, and none without an account that is open', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const second = await bank.holder('alice')
  await bank.rest(`PUT /v1/user/${second.userId}/monetary-account-bank/${second.accountId}`, {
    status: 'CANCELLED',
    sub_status: 'REDEMPTION_VOLUNTARY',
    reason: 'OTHER',
  })
  const order = async ({ userId }: { userId: number }) => {
    const answer = await bank.rest(`POST /v1/user/${userId}/card-debit`, {
      second_line: '',
      name_on_card: `Person ${userId}`,
      type: 'SCHEME_ONE',
      product_type: 'SCHEME_ONE_DEBIT',
    })
    return [answer.status, answer.body.Error && wordsOf(answer)]
  }
  for (let n = 0; n < 50; n += 1) await order(alice)

  expect(await order(alice)).toEqual([400, 'A user has at most 50 cards.'])
  expect(await order(second)).toEqual([400, 'The user has no account that a card could be for.'])
})

test('a card is its owner’s alone', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bob = await bank.holder('bob')
  const { card } = await withCard(bank, alice)
  const asBob = { credential: 'bob' } as const
  const statusOf = async (request: string, options = {}, body?: object) =>
    (await bank.rest(request, body, options)).status

  expect(await statusOf(`GET ${card}`, asBob)).toBe(403)
  expect(await statusOf(`GET /v1/user/${bob.userId}/card/1`, asBob)).toBe(404)
  expect(await statusOf(`PUT ${card}`, asBob, { second_line: 'Mine' })).toBe(403)
  expect(await statusOf(`PUT /v1/user/${bob.userId}/card/1`, asBob, {})).toBe(404)
  expect(await statusOf(`GET ${card}`, { credential: null })).toBe(401)
  expect(await statusOf(`GET /v1/user/${alice.userId}/card/9`)).toBe(404)
  expect(await statusOf(`GET /v1/user/${alice.userId}/card/none`)).toBe(400)
  const { data } = await bank.graphql(
    `{ _entities(representations: [{ __typename: "Card", id: "1" }]) { ... on Card { id } } }`,
    {},
    asBob,
  )
  expect(data._entities).toEqual([null])
})

test('a card is produced by itself, step by step, and expires at the end of its last month', async () => {
  const bank = await openBank()
  const { card } = await withCard(bank, await bank.holder('alice'))
  const stateOf = async () => {
    const { body } = await bank.rest(`GET ${card}`)
    return [body.status, body.order_status]
  }

  await bank.advance(HOUR_MS)
  expect(await stateOf()).toEqual(['DEACTIVATED', 'SENT_FOR_PRODUCTION'])
  await bank.advance(24 * HOUR_MS)
  expect(await stateOf()).toEqual(['DEACTIVATED', 'ACCEPTED_FOR_PRODUCTION'])
  await bank.rest(`PUT ${card}`, { status: 'ACTIVE', activation_code: 'of old' })
  expect(await stateOf()).toEqual(['ACTIVE', 'DELIVERED_TO_CUSTOMER'])
  await bank.advance(Date.UTC(2034, 1, 1) - Date.UTC(2030, 0, 2, 1) - 1)
  expect(await stateOf()).toEqual(['ACTIVE', 'DELIVERED_TO_CUSTOMER'])
  await bank.advance(1)
  expect(await stateOf()).toEqual(['EXPIRED', 'DELIVERED_TO_CUSTOMER'])
})

test('many cards cost no more reads than one', async () => {
  const reads: string[] = []
  const counted =
    (name: string, read: (...sent: any[]) => any) =>
    (...sent: unknown[]) => {
      reads.push(name)
      return read(...sent)
    }
  const bank = await openBank({
    wrap: (store) => ({
      ...store,
      get: counted('get', store.get),
      getMany: counted('getMany', store.getMany),
      list: counted('list', store.list),
      listMany: counted('listMany', store.listMany),
      sql: counted('sql', store.sql),
    }),
  })
  const holders = [await bank.holder('alice'), await bank.holder('alice')]
  for (let n = 0; n < 6; n += 1) await withCard(bank, holders[n % 2]!)
  reads.length = 0

  const { data } = await bank.graphql(
    `query ($cards: [_Any!]!) { _entities(representations: $cards) { ... on Card {
       id labelMonetaryAccountCurrent { iban } monetaryAccount { balance { value } } } } }`,
    { cards: [1, 2, 3, 4, 5, 6].map((id) => ({ __typename: 'Card', id: String(id) })) },
  )

  expect(data._entities).toHaveLength(6)
  expect(data._entities[1].labelMonetaryAccountCurrent.iban).toBe(holders[1]!.iban)
  expect(reads).toEqual(['getMany', 'sql'])
})
