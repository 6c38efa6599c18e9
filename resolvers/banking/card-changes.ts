// Cards: what their holders change, and what becomes of them by itself. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, put } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { amount, limitOf, type Amount } from './amounts.ts'
import { checkAccounts } from './card-accounts.ts'
import { permissions, readPermissions } from './card-countries.ts'
import { numbers, withNumbers } from './card-numbers.ts'
import { assign, assignments, pinCode, withPin } from './card-pins.ts'
import {
  cards,
  needCard,
  permissionsAt,
  viewCard,
  type Card,
  type CardView,
} from './card-records.ts'
import { isDelivered, isFinal, ORDER_NEXT, withOrderStatus, withStatus } from './card-states.ts'
import { BadRequest, WrongState } from './errors.ts'
import { idWrapperShape, itemId, momentOf, ofUser, showIdWrapper, USER } from './shapes.ts'

const LIMIT_MAX = 1_000_000
const SECOND_LINE_MAX = 17
const PREFERRED_NAME_MAX = 21

const ORDER_STEP = 'move card order on'
const EXPIRE_STEP = 'expire card'
const PERMISSIONS_STEP = 'end country permissions'

export const secondLine = text.max(SECOND_LINE_MAX)
export const preferredName = text.min(1).max(PREFERRED_NAME_MAX)

const changeInput = {
  pin_code: optional(pinCode),
  activation_code: optional(text.max(100)),
  status: optional(text.max(40)),
  order_status: optional(text.max(60)),
  card_limit: optional(amount),
  card_limit_atm: optional(amount),
  country_permission: optional(permissions),
  pin_code_assignment: optional(assignments),
  primary_account_numbers: optional(numbers),
  monetary_account_id_fallback: optional(itemId),
  preferred_name_on_card: optional(preferredName),
  second_line: optional(secondLine),
  cancellation_reason: optional(text.min(1).max(1000)),
}
const changes = z.object(changeInput)
type Changes = z.output<typeof changes>

export const operations = [
  operation({
    name: 'updateCard',
    rest: put(`${USER}/card/{itemId}`, { show: showIdWrapper, answer: idWrapperShape }),
    input: { ...ofUser, itemId, ...changeInput },
    run: updateCard,
  }),
]

export const steps = {
  [ORDER_STEP]: moveOrderOn,
  [EXPIRE_STEP]: expireCard,
  [PERMISSIONS_STEP]: endPermissions,
}

async function updateCard(
  { userId, itemId, ...sent }: { userId: number; itemId: number } & Changes,
  ctx: Context,
): Promise<CardView> {
  const changed = await ctx.store.transaction(async (tx) => {
    const before = await needCard(ctx, userId, itemId, tx)
    if (isFinal(before)) {
      throw WrongState(`The card is ${before.status}, and cannot be changed any more.`)
    }
    const after = withStates(await withChanges(ctx, tx, before, sent), sent)
    await checkAccounts(ctx, tx, after, before)
    await saveCard(ctx, tx, after)
    if (after.order_status !== before.order_status) await moveOn(ctx, tx, after)
    if (sent.country_permission) await endPermissionsLater(ctx, tx, after)
    return after
  })
  return viewCard(ctx, changed)
}

/** What is given of a card is changed; the fallback is the exception: left out, it is removed. */
async function withChanges(ctx: Context, tx: Records, card: Card, sent: Changes): Promise<Card> {
  const nowMs = ctx.clock.now().getTime()
  const after: Card = {
    ...card,
    card_limit: readLimit(card, sent.card_limit, 'card_limit') ?? card.card_limit,
    card_limit_atm: readLimit(card, sent.card_limit_atm, 'card_limit_atm') ?? card.card_limit_atm,
    country_permission: sent.country_permission
      ? await readPermissions(tx, card, { sent: sent.country_permission, nowMs })
      : card.country_permission,
    primary_account_numbers: sent.primary_account_numbers
      ? await withNumbers(ctx, tx, card, sent.primary_account_numbers)
      : card.primary_account_numbers,
    monetary_account_id_fallback: sent.monetary_account_id_fallback ?? null,
    preferred_name_on_card: sent.preferred_name_on_card ?? card.preferred_name_on_card,
    second_line: sent.second_line ?? card.second_line,
  }
  return withPins(ctx, after, sent)
}

const hasNewPin = ({ pin_code, pin_code_assignment = [] }: Changes): boolean =>
  pin_code !== undefined || pin_code_assignment.some((one) => one.pin_code !== undefined)

function withPins(ctx: Context, card: Card, sent: Changes): Card {
  const { pin_code, pin_code_assignment } = sent
  const assigned: Card = pin_code_assignment
    ? { ...card, pin_code_assignment: assign(ctx, card, pin_code_assignment) }
    : card
  return {
    ...assigned,
    pin_code_assignment:
      pin_code === undefined ? assigned.pin_code_assignment : withPin(ctx, assigned, pin_code),
    // A new PIN has not been tried yet.
    wrong_pins: hasNewPin(sent) ? 0 : card.wrong_pins,
  }
}

function withStates(card: Card, sent: Changes): Card {
  const { status, order_status, cancellation_reason } = sent
  if (cancellation_reason !== undefined && status !== 'CANCELLED') {
    throw BadRequest('cancellation_reason goes with status CANCELLED alone.')
  }
  let after = order_status === undefined ? card : withOrderStatus(card, order_status)
  if (status !== undefined) after = withStatus(after, status)
  if (cancellation_reason !== undefined) after = { ...after, cancellation_reason }
  // Chosen: what is printed or written on a card that has come takes an update of the card.
  const isRewritten =
    hasNewPin(sent) || sent.second_line !== undefined || sent.preferred_name_on_card !== undefined
  return isRewritten && isDelivered(after) && !isFinal(after)
    ? { ...after, order_status: 'CARD_UPDATE_REQUESTED' }
    : after
}

function readLimit(
  { currency }: Card,
  sent: Amount | undefined,
  field: string,
): number | undefined {
  if (sent === undefined) return undefined
  const limit = limitOf(sent, field)
  if (limit.currency !== currency) throw BadRequest(`${field}.currency must be ${currency}.`)
  if (limit.minor > LIMIT_MAX) throw BadRequest(`${field}.value must be at most 10000.00.`)
  return limit.minor
}

/** Keeps a card that was changed, and tells whoever listens. */
export async function saveCard(ctx: Context, tx: Records, card: Card): Promise<Card> {
  const saved = { ...card, updated: momentOf(ctx.clock.now()) }
  await tx.save(cards, saved)
  await announceCard(ctx, tx, 'changed', saved)
  return saved
}

export const announceCard = (
  ctx: Context,
  tx: Records,
  happened: 'created' | 'changed',
  { id, user_id, status, order_status }: Card,
): Promise<void> =>
  ctx.events.announce(tx, {
    type: `banking.card.${happened}`,
    subject: String(id),
    body: { user_id, status, order_status },
  })

/** Has what follows on the state of an order happen when it is time. */
export async function moveOn(ctx: Context, tx: Records, card: Card): Promise<void> {
  const from = card.order_status
  const following = ORDER_NEXT[from]
  if (following) await ctx.work.later(tx, following.delayMs, ORDER_STEP, { id: card.id, from })
}

/** The card expires by itself at the end of its last month. */
export const expireLater = (ctx: Context, tx: Records, { id, expiresMs }: Card): Promise<void> =>
  ctx.work.later(tx, expiresMs - ctx.clock.now().getTime(), EXPIRE_STEP, { id })

/** The first of the permissions that end is removed then, and the next after it. */
async function endPermissionsLater(ctx: Context, tx: Records, card: Card): Promise<void> {
  const firstMs = Math.min(...card.country_permission.map(({ expiresMs }) => expiresMs ?? Infinity))
  if (firstMs === Infinity) return
  const delayMs = firstMs - ctx.clock.now().getTime()
  await ctx.work.later(tx, delayMs, PERMISSIONS_STEP, { id: card.id })
}

/** Changes a card in a step of its own, unless it has come to its end. */
async function change(
  ctx: Context,
  id: number,
  to: (card: Card) => Partial<Card> | undefined,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const card = (await tx.get(cards, String(id)))!
    const given = isFinal(card) ? undefined : to(card)
    if (!given) return
    const after = await saveCard(ctx, tx, { ...card, ...given })
    if (given.order_status) await moveOn(ctx, tx, after)
    if (given.country_permission) await endPermissionsLater(ctx, tx, after)
  })
}

function moveOrderOn({ id, from }: { id: number; from: Card['order_status'] }, ctx: Context) {
  return change(ctx, id, ({ order_status }) =>
    order_status === from ? { order_status: ORDER_NEXT[from]!.next } : undefined,
  )
}

function expireCard({ id }: { id: number }, ctx: Context) {
  return change(ctx, id, () => ({ status: 'EXPIRED' }))
}

function endPermissions({ id }: { id: number }, ctx: Context) {
  return change(ctx, id, (card) => {
    const country_permission = permissionsAt(card, ctx.clock.now().getTime())
    return country_permission.length < card.country_permission.length
      ? { country_permission }
      : undefined
  })
}
