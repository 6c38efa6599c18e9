// Requests for payment as they are kept, and as each side sees them. Specification 2, service B.
//
// One record serves both sides: the inquiry of the account that asks, and the response of the other.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { kind, numberOf } from '../kernel/store.ts'
import { loadLabel } from './accounts.ts'
import { amountShape, type Amount } from './amounts.ts'
import { accountLabelShape } from './shapes.ts'

export interface PaymentRequest {
  readonly id: number
  /** The account that asks, and the one that is asked; the latter is the bank's own for test funds. */
  readonly asking: number
  readonly asked: number
  readonly created: string
  readonly updated: string
  readonly time_responded: string | null
  readonly time_expiry: string
  readonly expiresMs: number
  readonly amount_inquired: Amount
  readonly amount_responded: Amount | null
  readonly status: 'PENDING' | 'ACCEPTED' | 'REJECTED' | 'REVOKED' | 'EXPIRED'
  readonly description: string
  readonly merchant_reference: string | null
  readonly minimum_age: number | null
  readonly require_address: string | null
  readonly redirect_url: string | null
  readonly event_id: number | null
  readonly allow_vendorme: boolean
}

export const requests = kind<PaymentRequest>('payment_request', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    asking: numberOf(({ asking }) => asking),
    asked: numberOf(({ asked }) => asked),
  },
  indexes: [
    ['asking', 'id'],
    ['asked', 'id'],
  ],
})
const textOrNull = z.string().nullable()
const sharedShape = {
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  time_responded: textOrNull,
  time_expiry: z.string(),
  monetary_account_id: z.int(),
  amount_inquired: amountShape,
  amount_responded: amountShape.nullable(),
  status: z.string(),
  description: z.string(),
  redirect_url: textOrNull,
  event_id: z.int().nullable(),
}
export const inquiryShape = z.object({ ...sharedShape, counterparty_alias: accountLabelShape })
export const responseShape = z.object({
  ...sharedShape,
  alias: accountLabelShape,
  counterparty_alias: accountLabelShape,
  type: z.string(),
  sub_type: z.string(),
})

function shared({ asking: _, asked: __, expiresMs: ___, ...request }: PaymentRequest) {
  return request
}

/** A request, as the account that asks sees it. */
export async function viewInquiry(ctx: Context, request: PaymentRequest) {
  return {
    ...shared(request),
    monetary_account_id: request.asking,
    counterparty_alias: await loadLabel(ctx, request.asked),
    user_alias_created: (await loadLabel(ctx, request.asking)).display_name,
    user_alias_revoked: null,
    batch_id: null,
    scheduled_id: null,
    vendorme_share_url: null,
    address_shipping: null,
    address_billing: null,
    geolocation: null,
    reference_split_the_bill: null,
    attachment: [],
  }
}

/** A request, as the account that is asked sees it. */
export async function viewResponse(ctx: Context, request: PaymentRequest) {
  const { allow_vendorme: _, ...rest } = shared(request)
  return {
    ...rest,
    monetary_account_id: request.asked,
    alias: await loadLabel(ctx, request.asked),
    counterparty_alias: await loadLabel(ctx, request.asking),
    type: 'INTERNAL',
    sub_type: 'NONE',
  }
}
