// Cards: ordered, read and listed. Specification 2, service B.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { connect, type Paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { checkAccounts } from './card-accounts.ts'
import { announceCard, expireLater, moveOn, preferredName, secondLine } from './card-changes.ts'
import { newNumber } from './card-numbers.ts'
import { assign, assignments, withoutPins } from './card-pins.ts'
import { cards, cardShape, needCard, showCard, viewCard } from './card-records.ts'
import type { Card, CardView } from './card-records.ts'
import { personOf } from './entities.ts'
import { BadRequest, LimitExceeded, WrongState } from './errors.ts'
import { readIban } from './iban.ts'
import { accountByIban, type Account } from './ledger.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { listInput, listKind, showNodes, viewPage } from './pages.ts'
import {
  idWrapperShape,
  itemId,
  momentOf,
  moments,
  ofUser,
  onceHeaders,
  onceInput,
  pointer,
  showIdWrapper,
  USER,
} from './shapes.ts'
import { needUser, type BankUser } from './users.ts'

const CARDS_MAX = 50
const VALID_YEARS = 4
const LIMIT_DEFAULT = 100_000
const LIMIT_ATM_DEFAULT = 50_000
const NAME_ON_CARD_MAX = 21
const REFERENCE_ISSUER = 'POLY'
const REFERENCE_LENGTH = 25
const CARD_ID = /^[1-9]\d{0,15}$/

export const kinds = [cards]

const MANY = `${USER}/card`
const namesShape = z.object({ possible_card_name_array: z.array(z.string()) })

const orderInput = {
  second_line: secondLine,
  name_on_card: text.min(1).max(NAME_ON_CARD_MAX),
  type: z.enum(['SCHEME_ONE', 'SCHEME_TWO']),
  product_type: text.max(50),
  alias: optional(pointer),
  pin_code_assignment: optional(assignments),
  preferred_name_on_card: optional(preferredName),
  monetary_account_id_fallback: optional(itemId),
  order_status: optional(z.enum(['CARD_REQUEST_PENDING', 'VIRTUAL_DELIVERY'])),
}
const order = z.object(orderInput)
type Order = z.output<typeof order> & { readonly userId: number }

export const operations = [
  operation({
    name: 'card',
    rest: get(`${MANY}/{itemId}`, { show: showCard, answer: cardShape }),
    input: { ...ofUser, itemId },
    run: async ({ userId, itemId }, ctx) => viewCard(ctx, await needCard(ctx, userId, itemId)),
  }),
  operation({
    name: 'cards',
    rest: get(MANY, {
      isBeyond: true,
      show: (page) => (showNodes(page) as CardView[]).map(showCard),
      answer: z.array(cardShape),
    }),
    input: { ...ofUser, ...listInput },
    async run({ userId, ...input }, ctx) {
      await needUser(ctx, userId)
      const page = await listKind(ctx, cards, { user: userId }, input)
      return viewPage(page, (card) => viewCard(ctx, card))
    },
  }),
  operation({
    name: 'cardNames',
    rest: get(`${USER}/card-name`, { isBeyond: true, answer: namesShape }),
    input: ofUser,
    run: async ({ userId }, ctx) => ({
      possible_card_name_array: namesOf(await needUser(ctx, userId)),
    }),
  }),
  operation({
    name: 'createCard',
    rest: post(`${USER}/card-debit`, {
      isBeyond: true,
      show: showIdWrapper,
      answer: idWrapperShape,
      headers: onceHeaders,
    }),
    input: { ...ofUser, ...orderInput, ...onceInput },
    run: createCard,
  }),
]

export const entities = {
  async Card({ id }: { id: string }, ctx: Context) {
    const card = CARD_ID.test(id) ? await load(ctx, cards, id) : undefined
    return card?.owner === ctx.caller.userId ? viewCard(ctx, card) : null
  },
}

export const fields = {
  Card: {
    ...moments('created', 'updated'),
    owner: ({ owner_id }: CardView) => personOf(owner_id),
  },
  User: {
    async cards({ id }: { id: string }, { first, after }: Paging, ctx: Context) {
      const where = { owner: id }
      const page = await connect(ctx, cards, { first, after, where, order: 'id', descending: true })
      return viewPage(page, (card) => viewCard(ctx, card))
    },
  },
  CardCountryPermission: moments('expiry_time'),
}

/** Chosen: the whole name, and the name with the first letter of the first. */
function namesOf({ kind, legal_name, first_name, last_name }: BankUser): string[] {
  const names =
    kind === 'UserPerson' ? [legal_name, `${[...first_name!][0]} ${last_name}`] : [legal_name]
  return [...new Set(names.map((name) => name.slice(0, NAME_ON_CARD_MAX).trim()))]
}

export async function createCard(input: Order, ctx: Context): Promise<CardView> {
  if (input.product_type !== `${input.type}_DEBIT`) {
    throw BadRequest(`product_type must be ${input.type}_DEBIT.`)
  }
  const made = await ctx.store.transaction(async (tx) => {
    const user = await needUser(ctx, input.userId, tx)
    return once(
      ctx,
      tx,
      { name: 'createCard', input: withoutPins(ctx, input) },
      {
        make: () => addCard(ctx, tx, user, input),
        recall: (id) => needCard(ctx, user.id, id, tx),
      },
    )
  })
  return viewCard(ctx, made)
}

async function addCard(ctx: Context, tx: Records, user: BankUser, sent: Order): Promise<Card> {
  if (!namesOf(user).includes(sent.name_on_card)) {
    throw BadRequest(`name_on_card must be one of ${namesOf(user).join(', ')}.`)
  }
  if ((await tx.count(cards, { where: { user: user.id } })) >= CARDS_MAX) {
    throw LimitExceeded(`A user has at most ${CARDS_MAX} cards.`)
  }
  const account = await orderedFor(tx, user, sent)
  const isVirtual = sent.order_status === 'VIRTUAL_DELIVERY'
  const now = ctx.clock.now()
  const public_uuid = ctx.newId()
  const blank: Card = {
    id: await nextId(tx, 'card'),
    owner: user.owner,
    user_id: user.id,
    created: momentOf(now),
    updated: momentOf(now),
    public_uuid,
    type: sent.type,
    product_type: sent.product_type,
    second_line: sent.second_line,
    // A virtual card is there at once; any other is activated when it has come.
    status: isVirtual ? 'ACTIVE' : 'DEACTIVATED',
    order_status: sent.order_status ?? 'CARD_REQUEST_PENDING',
    wrong_pins: 0,
    expiresMs: Date.UTC(now.getUTCFullYear() + VALID_YEARS, now.getUTCMonth() + 1, 1),
    name_on_card: sent.name_on_card,
    preferred_name_on_card: sent.preferred_name_on_card ?? null,
    payment_account_reference: referenceOf(public_uuid),
    primary_account_numbers: [await newNumber(ctx, tx, isVirtual ? 'VIRTUAL' : 'PHYSICAL')],
    card_limit: LIMIT_DEFAULT,
    card_limit_atm: LIMIT_ATM_DEFAULT,
    currency: account.currency,
    country_permission: [],
    monetary_account_id_ordered: account.id,
    monetary_account_id: account.id,
    monetary_account_id_fallback: sent.monetary_account_id_fallback ?? null,
    pin_code_assignment: [],
    cancellation_reason: null,
    spent: { day: '', tills: 0, atm: 0 },
  }
  const { pin_code_assignment: pins } = sent
  const card = pins ? { ...blank, pin_code_assignment: assign(ctx, blank, pins) } : blank
  await checkAccounts(ctx, tx, card)
  await tx.insert(cards, card)
  await moveOn(ctx, tx, card)
  await expireLater(ctx, tx, card)
  await announceCard(ctx, tx, 'created', card)
  return card
}

/** The account that a card is for: the one that is named, or the user's first. */
async function orderedFor(tx: Records, user: BankUser, { alias }: Order): Promise<Account> {
  if (alias && alias.type !== 'IBAN') throw BadRequest('alias.type must be IBAN.')
  const [first] = await tx.sql(
    `SELECT iban FROM account WHERE user_id = ? AND status = 'ACTIVE' ORDER BY id LIMIT 1`,
    [user.id],
  )
  const account = await accountByIban(tx, readIban(alias?.value ?? first?.iban ?? '') ?? '')
  if (account?.user_id === user.id && account.status === 'ACTIVE') return account
  throw alias
    ? BadRequest('alias.value must be the IBAN of an account of this user that is open.')
    : WrongState('The user has no account that a card could be for.')
}

/** An account reference of a card as the schemes have it: four of the issuer, twenty-five of the card. */
const referenceOf = (public_uuid: string): string => {
  const digest = createHash('sha256').update(public_uuid).digest('hex')
  const letters = BigInt(`0x${digest}`).toString(36).toUpperCase().padStart(REFERENCE_LENGTH, '0')
  return REFERENCE_ISSUER + letters.slice(0, REFERENCE_LENGTH)
}
