// Primary account numbers: what a card is charged by. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import type { Card, CardNumber } from './card-records.ts'
import { BadRequest, LimitExceeded } from './errors.ts'
import { nextId } from './numbers.ts'
import { itemId } from './shapes.ts'
import { uuid } from './uploads.ts'

const NUMBERS_MAX = 5
/** Of the range that no card scheme uses. */
const ISSUER = '999900'
const COUNT_DIGITS = 9

export const numbers = z
  .array(
    z.object({
      id: optional(itemId),
      description: optional(text.max(100)),
      status: optional(z.enum(['ACTIVE', 'DEACTIVATED'])),
      monetary_account_id: optional(itemId),
      uuid: optional(uuid),
      four_digit: optional(text.max(4)),
      type: optional(z.enum(['PHYSICAL', 'VIRTUAL'])),
    }),
  )
  .max(NUMBERS_MAX)
export type SentNumbers = z.output<typeof numbers>

/** A new number. Only its last digits are kept. */
export async function newNumber(
  ctx: Context,
  tx: Records,
  type: CardNumber['type'],
): Promise<CardNumber> {
  const id = await nextId(tx, 'card-number')
  return {
    id,
    uuid: ctx.newId(),
    description: '',
    status: 'ACTIVE',
    monetary_account_id: null,
    four_digit: numberOfCard(id).slice(-4),
    type,
  }
}

/**
 * The numbers of a card with what is given changed. One that is sent without id and uuid is added, as a
 * virtual one; those that are not sent stay as they are.
 */
export async function withNumbers(
  ctx: Context,
  tx: Records,
  { primary_account_numbers: before }: Pick<Card, 'primary_account_numbers'>,
  sent: SentNumbers,
): Promise<CardNumber[]> {
  const after = [...before]
  for (const { id, uuid, four_digit, type, ...given } of sent) {
    const isNew = id === undefined && uuid === undefined
    const at = after.findIndex((one) => (id === undefined ? one.uuid === uuid : one.id === id))
    if (!isNew && at < 0) {
      throw BadRequest(`primary_account_numbers: the card has no number ${id ?? uuid}.`)
    }
    const one = isNew ? await newNumber(ctx, tx, 'VIRTUAL') : after[at]!
    const fixed = { uuid, four_digit, type }
    for (const [name, value] of Object.entries(fixed)) {
      if (value !== undefined && value !== one[name as keyof typeof fixed]) {
        throw BadRequest(`primary_account_numbers.${name} cannot be chosen.`)
      }
    }
    const changes = Object.entries(given).filter(([, value]) => value !== undefined)
    after[isNew ? after.length : at] = { ...one, ...Object.fromEntries(changes) }
  }
  if (after.length > NUMBERS_MAX) throw LimitExceeded(`A card has at most ${NUMBERS_MAX} numbers.`)
  return after
}

/** The n-th card number: issuer, count and a check digit, so that the digits doubled from the right in turn
 * add up to a multiple of ten (ISO/IEC 7812). */
export function numberOfCard(n: number): string {
  const digits = ISSUER + String(n).padStart(COUNT_DIGITS, '0')
  const sum = [...digits].reduceRight((sum, digit, i) => {
    const value = Number(digit) * ((digits.length - i) % 2 === 1 ? 2 : 1)
    return sum + (value > 9 ? value - 9 : value)
  }, 0)
  return digits + String((10 - (sum % 10)) % 10)
}
