// People with cards, for tests.
import type { Holder, TestBank } from './bank.ts'

export const HOUR_MS = 60 * 60_000

export interface CardHolder extends Holder {
  readonly id: number
  /** The path of the card. */
  readonly card: string
}

/** Orders a card with the PIN 1234. */
export async function withCard(
  bank: TestBank,
  holder: Holder,
  more: object = {},
): Promise<CardHolder> {
  const { userId, accountId, person } = holder
  const as = { credential: person }
  const names = await bank.rest(`GET /v1/user/${userId}/card-name`, undefined, as)
  const made = await bank.rest(
    `POST /v1/user/${userId}/card-debit`,
    {
      second_line: '',
      name_on_card: names.body.possible_card_name_array[0],
      type: 'SCHEME_ONE',
      product_type: 'SCHEME_ONE_DEBIT',
      pin_code_assignment: [{ type: 'PRIMARY', pin_code: '1234', monetary_account_id: accountId }],
      ...more,
    },
    as,
  )
  if (made.status !== 200) throw new Error(`the order answered ${JSON.stringify(made.body)}`)
  const { id } = made.body.Id
  return { ...holder, id, card: `/v1/user/${userId}/card/${id}` }
}

/** The same card, produced and activated. */
export async function withActiveCard(
  bank: TestBank,
  holder: Holder,
  more: object = {},
): Promise<CardHolder> {
  const carded = await withCard(bank, holder, more)
  await bank.advance(25 * HOUR_MS)
  const as = { credential: holder.person }
  const { status } = await bank.rest(`PUT ${carded.card}`, { status: 'ACTIVE' }, as)
  if (status !== 200) throw new Error(`the activation answered ${status}`)
  return carded
}

/** A second account of the same user. */
export async function anotherAccount(bank: TestBank, { userId, person }: Holder, more = {}) {
  const as = { credential: person }
  const made = await bank.rest(`POST /v1/user/${userId}/monetary-account-bank`, more, as)
  return made.body.Id.id as number
}
