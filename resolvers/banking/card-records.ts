// Cards as they are kept, and as their holders see them. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { loadLabel, loadOwnAccount, type AccountView } from './accounts.ts'
import { amountOf, amountShape } from './amounts.ts'
import type { CardStates } from './card-states.ts'
import { NoSuch } from './errors.ts'
import { BANK_COUNTRY } from './iban.ts'
import { accountLabelShape, momentOf, pointerShape } from './shapes.ts'
import { needUser } from './users.ts'

export interface Card extends CardStates {
  readonly id: number
  readonly owner: string
  readonly user_id: number
  readonly created: string
  readonly updated: string
  readonly public_uuid: string
  readonly type: 'SCHEME_ONE' | 'SCHEME_TWO'
  readonly product_type: string
  readonly second_line: string
  readonly expiresMs: number
  readonly name_on_card: string
  readonly preferred_name_on_card: string | null
  readonly payment_account_reference: string
  readonly primary_account_numbers: readonly CardNumber[]
  /** What can be spent in a day, at tills and at cash machines, in minor units. */
  readonly card_limit: number
  readonly card_limit_atm: number
  readonly currency: string
  readonly country_permission: readonly CountryPermission[]
  readonly monetary_account_id_ordered: number
  readonly monetary_account_id: number
  readonly monetary_account_id_fallback: number | null
  readonly pin_code_assignment: readonly PinAssignment[]
  readonly cancellation_reason: string | null
  /** What was spent on `day`, in minor units. */
  readonly spent: { readonly day: string; readonly tills: number; readonly atm: number }
}

/** A number that the card is charged by. Only its last digits are kept. */
export interface CardNumber {
  readonly id: number
  readonly uuid: string
  readonly description: string
  readonly status: 'ACTIVE' | 'DEACTIVATED'
  readonly monetary_account_id: number | null
  readonly four_digit: string
  readonly type: 'PHYSICAL' | 'VIRTUAL'
}

export interface CountryPermission {
  readonly id: number
  readonly country: string
  readonly expiresMs: number | null
}

/** Which PIN pays from which account. */
export interface PinAssignment {
  readonly type: 'PRIMARY' | 'SECONDARY' | 'TERTIARY'
  readonly routing_type: 'MANUAL' | 'AUTOMATIC'
  readonly status: 'ACTIVE' | 'DEACTIVATED'
  /** Null where the card's own account pays. */
  readonly monetary_account_id: number | null
  /** See card-pins.ts. Never shown. */
  readonly pin: string
}

export const cards = kind<Card>('card', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    user: numberOf(({ user_id }) => user_id),
    owner: textOf(({ owner }) => owner),
  },
  indexes: [
    ['user', 'id'],
    ['owner', 'id'],
  ],
})

/** The card, when it is of this user and the user is the caller's; otherwise it is refused. */
export async function needCard(
  ctx: Context,
  userId: number,
  id: number,
  from: Records = ctx.store,
): Promise<Card> {
  await needUser(ctx, userId, from)
  const card = await from.get(cards, String(id))
  if (card?.user_id !== userId) throw NoSuch('card', id)
  return card
}

/** Where the card may be used now, beside its own country. */
export const permissionsAt = ({ country_permission }: Card, nowMs: number) =>
  country_permission.filter(({ expiresMs }) => expiresMs === null || expiresMs > nowMs)

export const isExpired = ({ expiresMs }: Card, nowMs: number): boolean => expiresMs <= nowMs

const DAY_MS = 24 * 60 * 60_000

/** A card as its holder sees it. */
export async function viewCard(ctx: Context, card: Card) {
  const nowMs = ctx.clock.now().getTime()
  const { currency, user_id } = card
  const [ordered, current, account] = await Promise.all([
    loadLabel(ctx, card.monetary_account_id_ordered),
    loadLabel(ctx, card.monetary_account_id),
    loadOwnAccount(ctx, card.monetary_account_id),
  ])
  return {
    id: card.id,
    owner_id: card.owner,
    created: card.created,
    updated: card.updated,
    public_uuid: card.public_uuid,
    user_id,
    user_owner_id: user_id,
    user_holder_id: user_id,
    type: card.type,
    sub_type: 'NONE',
    product_type: card.product_type,
    product_sub_type: 'NONE',
    first_line: card.preferred_name_on_card ?? card.name_on_card,
    second_line: card.second_line,
    status: card.status,
    sub_status: 'NONE',
    order_status: card.order_status,
    // The last day on which it can be used.
    expiry_date: momentOf(card.expiresMs - DAY_MS).slice(0, 10),
    name_on_card: card.name_on_card,
    preferred_name_on_card: card.preferred_name_on_card,
    primary_account_numbers: card.primary_account_numbers,
    payment_account_reference: card.payment_account_reference,
    card_limit: amountOf(card.card_limit, currency),
    card_limit_atm: amountOf(card.card_limit_atm, currency),
    country_permission: permissionsAt(card, nowMs).map(({ id, country, expiresMs }) => ({
      id,
      country,
      expiry_time: expiresMs === null ? null : momentOf(expiresMs),
    })),
    label_monetary_account_ordered: ordered,
    label_monetary_account_current: current,
    monetary_account: account,
    pin_code_assignment: card.pin_code_assignment.map(({ pin: _, ...shown }) => shown),
    monetary_account_id_fallback: card.monetary_account_id_fallback,
    country: BANK_COUNTRY,
    cancellation_reason: card.cancellation_reason,
  }
}
export type CardView = Awaited<ReturnType<typeof viewCard>>

/** What REST shows: the account as the document has it on a card, and what such cards have beside. */
export function showCard({ owner_id: _, cancellation_reason: __, ...card }: CardView) {
  const { alias, balance, monetary_account_profile, setting, ...more } =
    card.monetary_account as AccountView
  const { id, status, currency, description, reason, reason_description } = more
  return {
    ...card,
    monetary_account: {
      id,
      status,
      currency,
      description,
      alias,
      balance,
      monetary_account_profile,
      setting,
      budget: [],
      reason,
      reason_description,
      share: null,
      relation_user: null,
      all_co_owner: [],
      open_banking_account: null,
    },
    card_shipment_tracking_url: null,
    is_card_eligible_for_free_replacement: false,
    card_replacement: null,
    card_generated_cvc2: null,
    is_limited_edition: false,
    card_metal_member_since_date: null,
    company_employee_card: null,
  }
}

const textOrNull = z.string().nullable()
const accountIdOrNull = z.int().nullable()
export const cardShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  public_uuid: z.string(),
  user_id: z.int(),
  user_owner_id: z.int(),
  user_holder_id: z.int(),
  type: z.string(),
  sub_type: z.string(),
  product_type: z.string(),
  product_sub_type: z.string(),
  first_line: z.string(),
  second_line: z.string(),
  status: z.string(),
  sub_status: z.string(),
  order_status: z.string(),
  expiry_date: z.string(),
  name_on_card: z.string(),
  preferred_name_on_card: textOrNull,
  primary_account_numbers: z.array(
    z.object({
      id: z.int(),
      uuid: z.string(),
      description: z.string(),
      status: z.string(),
      monetary_account_id: accountIdOrNull,
      four_digit: z.string(),
      type: z.string(),
    }),
  ),
  payment_account_reference: z.string(),
  card_limit: amountShape,
  card_limit_atm: amountShape,
  country_permission: z.array(
    z.object({ id: z.int(), country: z.string(), expiry_time: textOrNull }),
  ),
  label_monetary_account_ordered: accountLabelShape,
  label_monetary_account_current: accountLabelShape,
  monetary_account: z.object({
    alias: z.array(pointerShape),
    balance: amountShape,
    setting: z.looseObject({}),
    reason: textOrNull,
    reason_description: textOrNull,
  }),
  pin_code_assignment: z.array(
    z.strictObject({
      type: z.string(),
      routing_type: z.string(),
      status: z.string(),
      monetary_account_id: accountIdOrNull,
    }),
  ),
  monetary_account_id_fallback: accountIdOrNull,
  country: z.string(),
})
