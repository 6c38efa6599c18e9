// The states of a card, and which follows on which. Specification 2, service B; as its clients know them.
import { BadRequest, WrongState } from './errors.ts'

export type CardStatus =
  'ACTIVE' | 'DEACTIVATED' | 'LOST' | 'STOLEN' | 'CANCELLED' | 'EXPIRED' | 'PIN_TRIES_EXCEEDED'

export type OrderStatus =
  | 'CARD_REQUEST_PENDING'
  | 'SENT_FOR_PRODUCTION'
  | 'ACCEPTED_FOR_PRODUCTION'
  | 'DELIVERED_TO_CUSTOMER'
  | 'CARD_UPDATE_REQUESTED'
  | 'CARD_UPDATE_SENT'
  | 'CARD_UPDATE_ACCEPTED'
  | 'VIRTUAL_DELIVERY'

export interface CardStates {
  readonly status: CardStatus
  readonly order_status: OrderStatus
  /** How many wrong PINs were tried since the last right or new one. */
  readonly wrong_pins: number
}

const SETTABLE = new Set(['ACTIVE', 'DEACTIVATED', 'LOST', 'STOLEN', 'CANCELLED'])
const FINAL = new Set(['LOST', 'STOLEN', 'CANCELLED', 'EXPIRED'])
const DELIVERED = new Set([
  'DELIVERED_TO_CUSTOMER',
  'CARD_UPDATE_REQUESTED',
  'CARD_UPDATE_SENT',
  'CARD_UPDATE_ACCEPTED',
])

const HOUR_MS = 60 * 60_000

/** What becomes of an order by itself, and how long that takes. Chosen: the times. */
export const ORDER_NEXT: Readonly<
  Partial<Record<OrderStatus, { readonly next: OrderStatus; readonly delayMs: number }>>
> = {
  CARD_REQUEST_PENDING: { next: 'SENT_FOR_PRODUCTION', delayMs: HOUR_MS },
  SENT_FOR_PRODUCTION: { next: 'ACCEPTED_FOR_PRODUCTION', delayMs: 24 * HOUR_MS },
  CARD_UPDATE_REQUESTED: { next: 'CARD_UPDATE_SENT', delayMs: HOUR_MS },
  CARD_UPDATE_SENT: { next: 'CARD_UPDATE_ACCEPTED', delayMs: 24 * HOUR_MS },
}

export const isFinal = ({ status }: CardStates): boolean => FINAL.has(status)
export const isDelivered = ({ order_status }: CardStates): boolean => DELIVERED.has(order_status)

/** The states once the holder has set this status. Refuses what does not follow on the present ones. */
export function withStatus<C extends CardStates>(card: C, status: string): C {
  if (!SETTABLE.has(status)) {
    throw BadRequest(`status must be one of ${[...SETTABLE].join(', ')}, not ${status}.`)
  }
  if (status === 'ACTIVE') return activated(card)
  if (status === card.status) return card
  if (status === 'DEACTIVATED') {
    if (card.status === 'ACTIVE' && isDelivered(card)) return { ...card, status }
    throw WrongState(`A card is deactivated after it was activated; this one is ${wordsOf(card)}.`)
  }
  if (isDelivered(card) || card.order_status === 'ACCEPTED_FOR_PRODUCTION') {
    return { ...card, status: status as CardStatus }
  }
  throw WrongState(`A card becomes ${status} once it is produced; this one is ${wordsOf(card)}.`)
}

function activated<C extends CardStates>(card: C): C {
  if (card.status === 'PIN_TRIES_EXCEEDED' && card.wrong_pins > 0) {
    throw WrongState('The card is blocked after too many wrong PINs: set a new PIN.')
  }
  if (card.order_status === 'ACCEPTED_FOR_PRODUCTION') {
    return { ...card, status: 'ACTIVE', order_status: 'DELIVERED_TO_CUSTOMER' }
  }
  // A blocked card was in use before, virtual ones included.
  if (card.status === 'ACTIVE') return card
  if (card.status === 'PIN_TRIES_EXCEEDED' || isDelivered(card))
    return { ...card, status: 'ACTIVE' }
  throw WrongState(`A card is activated once it is produced; this one is ${wordsOf(card)}.`)
}

/** A virtual card can be ordered as a thing to hold. Everything else an order does by itself. */
export function withOrderStatus<C extends CardStates>(card: C, order_status: string): C {
  if (order_status === card.order_status) return card
  if (order_status === 'CARD_REQUEST_PENDING' && card.order_status === 'VIRTUAL_DELIVERY') {
    return { ...card, order_status }
  }
  throw WrongState(
    `order_status cannot be set to ${order_status} while it is ${card.order_status}.`,
  )
}

const wordsOf = ({ status, order_status }: CardStates): string => `${status}, ${order_status}`
