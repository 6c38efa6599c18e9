import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/banking.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openBank, violations, type TestBank } from './bank.ts'
import { HOUR_MS, withActiveCard, type CardHolder } from './carded.ts'
import { picture, upload } from './pictures.ts'

const codeOf = async (bank: TestBank, { userId, id }: CardHolder, value: string, pin = '1234') => {
  const { errors } = await bank.graphql(
    `mutation ($user: ID!, $card: ID!, $value: String!, $pin: String!) {
       payWithCard(userId: $user, itemId: $card, pinCode: $pin, country: "NL", merchant: "Bakery",
         amount: { value: $value, currency: "EUR" }) { id } }`,
    { user: userId, card: id, value, pin },
  )
  return errors?.[0].extensions.code ?? 'paid'
}

const counted = (codes: readonly string[]) =>
  Object.fromEntries(
    [...Map.groupBy(codes, (code) => code)].map(([code, all]) => [code, all.length]),
  )

describe.each(engines)('on $engine', ({ database }) => {
  const open = async () => {
    const { open } = await database()
    return openBank({ store: await open(kindsOf(subgraph), migrationsOf(subgraph)) })
  }

  test('payments with one card at once spend no more than the account has, and no more than the limit', async () => {
    const bank = await open()
    const alice = await withActiveCard(bank, await bank.holder('alice', 60))

    const codes = await Promise.all(Array.from({ length: 10 }, () => codeOf(bank, alice, '9.00')))
    await bank.fund(alice, 500)
    await bank.rest(`PUT ${alice.card}`, { card_limit: { value: '74.00', currency: 'EUR' } })
    const more = await Promise.all(Array.from({ length: 5 }, () => codeOf(bank, alice, '9.00')))

    expect(counted(codes)).toEqual({ paid: 6, InsufficientFunds: 4 })
    expect(counted(more)).toEqual({ paid: 2, LimitExceeded: 3 })
    expect(await bank.balance(alice)).toBe('488.00')
    expect(await violations(bank.store)).toEqual([])
    expect(bank.mistakes).toEqual([])
  })

  test('wrong PINs that are tried at once are each counted', async () => {
    const bank = await open()
    const alice = await withActiveCard(bank, await bank.holder('alice', 60))

    const codes = await Promise.all(
      Array.from({ length: 8 }, () => codeOf(bank, alice, '9.00', '0000')),
    )

    expect(counted(codes)).toEqual({ WrongPin: 3, WrongState: 5 })
    expect((await bank.rest(`GET ${alice.card}`)).body.status).toBe('PIN_TRIES_EXCEEDED')
  })

  test('a card lives its life: permissions end, it is updated, it expires', async () => {
    const bank = await open()
    const { card } = await withActiveCard(bank, await bank.holder('alice'))
    const read = async () => (await bank.rest(`GET ${card}`)).body

    await bank.rest(`PUT ${card}`, {
      pin_code: '4321',
      country_permission: [{ country: 'DE', expiry_time: '2030-01-03 00:00:00' }],
    })
    await bank.advance(24 * HOUR_MS)
    expect(await read()).toMatchObject({ order_status: 'CARD_UPDATE_SENT', country_permission: [] })
    await bank.advance(5 * 366 * 24 * HOUR_MS)
    expect(await read()).toMatchObject({
      status: 'EXPIRED',
      order_status: 'CARD_UPDATE_ACCEPTED',
    })
    expect((await bank.opened.work.counts()).parked).toBe(0)
  })

  test('a file that is sent several times at once with one request id is kept once', async () => {
    const bank = await open()
    const alice = await bank.holder('alice')
    const bytes = await picture({ width: 700, height: 500, format: 'jpeg' })
    const { headers } = upload('image/jpeg')
    const send = () =>
      bank.rest(`POST ${alice.account}/attachment`, bytes, {
        headers: { ...headers, 'x-vendor-client-request-id': 'one' },
      })

    const answers = await Promise.all([send(), send(), send()])

    expect(answers.map(({ body }) => body)).toEqual([{ id: 1 }, { id: 1 }, { id: 1 }])
    const { body } = await bank.rest(`GET ${alice.account}/attachment/1/content`)
    expect(Buffer.compare(body, bytes)).toBe(0)
    const { body: made } = await bank.rest('POST /v1/attachment-public', bytes, { headers })
    const avatar = await bank.rest('POST /v1/avatar', { attachment_public_uuid: made.uuid })
    expect((await bank.rest(`GET /v1/avatar/${avatar.body.uuid}`)).body.image).toMatchObject([
      { width: 700, height: 500 },
      { width: 128, height: 128 },
      { width: 48, height: 48 },
    ])
  })

  test('categories and cards are listed alike', async () => {
    const bank = await open()
    const alice = await bank.holder('alice')
    await bank.rest(
      `POST /v1/user/${alice.userId}/additional-transaction-information-category-user-defined`,
      { status: 'ACTIVE', category: 'BEES' },
    )
    await withActiveCard(bank, alice)
    await withActiveCard(bank, alice)

    const { data } = await bank.graphql(
      `query ($id: ID!) {
         transactionCategories(userId: $id) { nodes { order } }
         cards(userId: $id, first: 1) { nodes { id } pageInfo { hasNextPage } }
         billingContractSubscriptions(userId: $id) { nodes { id } } }`,
      { id: alice.userId },
    )

    expect(data.transactionCategories.nodes.at(-1)).toEqual({ order: 22 })
    expect(data.cards).toEqual({ nodes: [{ id: '2' }], pageInfo: { hasNextPage: true } })
    expect(data.billingContractSubscriptions.nodes).toEqual([{ id: '1' }])
  })
})
