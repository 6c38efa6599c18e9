// PINs of cards: which pays from which account. Specification 2, service B.
//
// 1. Four digits are guessed at once from any hash, so the hash is sealed with the key of the installation:
//    the database alone does not give a PIN away.
// 2. A PIN is in no answer, no event and no log.
// 3. The PINs of one card differ, since the PIN alone says which account pays.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Card, PinAssignment } from './card-records.ts'
import { BadRequest } from './errors.ts'
import { itemId } from './shapes.ts'

const ASSIGNMENTS_MAX = 3
const SALT_BYTES = 16

export const pinCode = text.regex(/^\d{4}$/, 'must be four digits')

export const assignments = z
  .array(
    z.object({
      type: z.enum(['PRIMARY', 'SECONDARY', 'TERTIARY']),
      routing_type: optional(z.enum(['MANUAL', 'AUTOMATIC'])),
      pin_code: optional(pinCode),
      status: optional(z.enum(['ACTIVE', 'DEACTIVATED'])),
      monetary_account_id: optional(itemId),
    }),
  )
  .min(1)
  .max(ASSIGNMENTS_MAX)
export type SentAssignments = z.output<typeof assignments>

type Pinned = Pick<Card, 'public_uuid' | 'pin_code_assignment'>

/** The assignments that a card has from now on. A PIN that is not sent stays as it is. */
export function assign(ctx: Context, card: Pinned, sent: SentAssignments): PinAssignment[] {
  const types = new Set(sent.map(({ type }) => type))
  if (types.size < sent.length) throw BadRequest('pin_code_assignment names a type twice.')
  if (!types.has('PRIMARY')) throw BadRequest('pin_code_assignment must have a PRIMARY one.')
  const assigned: PinAssignment[] = []
  for (const one of sent) {
    const { type, routing_type = 'MANUAL', status = 'ACTIVE', monetary_account_id = null } = one
    if (routing_type === 'MANUAL' && monetary_account_id === null) {
      throw BadRequest('pin_code_assignment.monetary_account_id is required for MANUAL routing.')
    }
    const before = card.pin_code_assignment.find((other) => other.type === type)
    const pin = one.pin_code === undefined ? before?.pin : sealPin(ctx, card, one.pin_code)
    if (pin === undefined) throw BadRequest(`pin_code_assignment.pin_code of ${type} is required.`)
    assigned.push({ type, routing_type, status, monetary_account_id, pin })
  }
  checkDifferent(ctx, card, assigned, sent)
  return assigned
}

/** The same assignments with another PIN in the first. */
export function withPin(ctx: Context, card: Card, pin_code: string): PinAssignment[] {
  const sent = card.pin_code_assignment.map(({ pin: _, monetary_account_id, ...one }) => ({
    ...one,
    monetary_account_id: monetary_account_id ?? undefined,
    pin_code: one.type === 'PRIMARY' ? pin_code : undefined,
  }))
  const first = {
    type: 'PRIMARY' as const,
    routing_type: 'AUTOMATIC' as const,
    status: 'ACTIVE' as const,
    monetary_account_id: undefined,
    pin_code,
  }
  return assign(ctx, card, sent.length > 0 ? sent : [first])
}

function checkDifferent(
  ctx: Context,
  card: Pinned,
  assigned: readonly PinAssignment[],
  sent: SentAssignments,
): void {
  for (const { type, pin_code } of sent) {
    if (pin_code === undefined) continue
    const others = assigned.filter((other) => other.type !== type)
    if (others.some((other) => isPin(ctx, card, other, pin_code))) {
      throw BadRequest('pin_code_assignment: the PINs of a card must differ.')
    }
  }
}

/** The active assignment that a PIN opens. */
export const assignmentBy = (
  ctx: Context,
  card: Pinned,
  pin_code: string,
): PinAssignment | undefined =>
  card.pin_code_assignment.find((one) => one.status === 'ACTIVE' && isPin(ctx, card, one, pin_code))

const aboutOf = ({ public_uuid }: Pinned): string => `pin of card ${public_uuid}`

function sealPin(ctx: Context, card: Pinned, pin_code: string): string {
  const salt = randomBytes(SALT_BYTES).toString('base64url')
  return ctx.secrets.seal(`${salt}.${hashWith(salt, pin_code)}`, aboutOf(card))
}

function isPin(ctx: Context, card: Pinned, { pin }: PinAssignment, pin_code: string): boolean {
  const [salt, hash] = ctx.secrets.open(pin, aboutOf(card)).split('.') as [string, string]
  return timingSafeEqual(Buffer.from(hash), Buffer.from(hashWith(salt, pin_code)))
}

const hashWith = (salt: string, pin_code: string): string =>
  createHash('sha256').update(`${salt} ${pin_code}`).digest('base64url')

/**
 * What was sent, with PINs that only this installation can tell apart: a digest of it is kept with the
 * answer, and would give a plain PIN away.
 */
export function withoutPins<T extends { pin_code_assignment?: SentAssignments | undefined }>(
  ctx: Context,
  input: T & { pin_code?: string | undefined },
): T {
  const hidden = (pin: string | undefined) => pin && ctx.cursors.seal('pin', pin)
  return {
    ...input,
    pin_code: hidden(input.pin_code),
    pin_code_assignment: input.pin_code_assignment?.map((one) => ({
      ...one,
      pin_code: hidden(one.pin_code),
    })),
  }
}
