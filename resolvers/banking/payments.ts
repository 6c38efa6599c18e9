// Payments from an account to a person, an IBAN, a tab or a fundraiser. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post as postTo } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { amount, moneyOf } from './amounts.ts'
import { attachmentsOf } from './attachments.ts'
import { BadRequest, WrongState } from './errors.ts'
import { counterpartyOf } from './counterparties.ts'
import { countDonation } from './fundraisers.ts'
import { post, reverse } from './ledger.ts'
import type { Account, Entry, EntryRequest } from './ledger.ts'
import { entryOf, once, requestOf } from './once.ts'
import { payTogether } from './payment-queue.ts'
import { listInput, showNodes } from './pages.ts'
import {
  announcePayment,
  needEntry,
  paymentShape,
  paymentsOf,
  showPayment,
  sideOf,
  viewPayment,
  type PaymentView,
} from './payment-views.ts'
import { readGeolocation } from './geolocation.ts'
import { payTab } from './tabs.ts'
import { checkSigned } from './signatures.ts'
import {
  ACCOUNT,
  description,
  idShape,
  itemId,
  ofAccount,
  onceHeaders,
  onceInput,
  pointer,
  showId,
} from './shapes.ts'

const ATTACHMENTS_MAX = 10
const OUTSIDE_DESCRIPTION_MAX = 140

/** What a payment is asked for with, here, in a batch and on a schedule. */
export const paymentInput = {
  amount,
  counterparty_alias: pointer,
  description,
  attachment: optional(z.array(z.object({ id: itemId })).max(ATTACHMENTS_MAX)),
  merchant_reference: optional(text.max(200)),
  allow_vendorto: optional(z.boolean()),
}
const paymentOrder = z.object(paymentInput)
export type PaymentOrder = z.output<typeof paymentOrder>

const MANY = `${ACCOUNT}/payment`
const ONE = `${MANY}/{itemId}`
const beyond = { isBeyond: true }

export const operations = [
  operation({
    name: 'createPayment',
    rest: postTo(MANY, { ...beyond, show: showId, answer: idShape, headers: onceHeaders }),
    input: { ...ofAccount, ...paymentInput, ...onceInput },
    refuses: { 466: 'A client with a session signs what moves money.' },
    run: createPayment,
  }),
  operation({
    name: 'payment',
    rest: get(ONE, { ...beyond, show: showPayment, answer: paymentShape }),
    input: { ...ofAccount, itemId },
    async run({ userId, monetaryAccountId, itemId }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return viewPayment(await needEntry(ctx.store, monetaryAccountId, itemId), sideOf(itemId))
    },
  }),
  operation({
    name: 'payments',
    rest: get(MANY, {
      ...beyond,
      show: (page) => (showNodes(page) as PaymentView[]).map(showPayment),
      answer: z.array(paymentShape),
    }),
    input: { ...ofAccount, ...listInput },
    async run({ userId, monetaryAccountId, ...input }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return paymentsOf(ctx, monetaryAccountId, input)
    },
  }),
  operation({
    name: 'reversePayment',
    input: { ...ofAccount, itemId, description: optional(description), ...onceInput },
    run: reversePayment,
  }),
]

export type CreateInput = { userId: number; monetaryAccountId: number } & PaymentOrder

export async function createPayment(input: CreateInput, ctx: Context): Promise<PaymentView> {
  checkSigned(ctx)
  const request = requestOf(ctx, 'createPayment', input)
  const entry = (await payTogether(ctx, input, request)) ?? (await payAlone(ctx, input, request))
  return viewPayment(entry, 'debit')
}

/** A payment in a transaction of its own. */
async function payAlone(
  ctx: Context,
  input: CreateInput,
  request: EntryRequest | undefined,
): Promise<Entry> {
  return ctx.store.transaction(async (tx) => {
    const before = request && (await entryOf(tx, request))
    if (before) return before
    const payer = await needAccount(ctx, input.userId, input.monetaryAccountId, tx)
    return pay(ctx, tx, { payer, order: input, request })
  })
}

const paymentById = async (from: Records, accountId: number, id: number): Promise<PaymentView> =>
  viewPayment(await needEntry(from, accountId, id), sideOf(id))

interface PayOrder {
  readonly payer: Account
  readonly order: PaymentOrder
  readonly about?: string
  readonly request?: EntryRequest | undefined
}

/**
 * Pays, and tells whoever listens. `about` says what the payment is a part of, unless the one who is paid
 * says so.
 */
export async function pay(
  ctx: Context,
  tx: Records,
  { payer, order, about, request }: PayOrder,
): Promise<Entry> {
  const money = moneyOf(order.amount)
  const found = await counterpartyOf(ctx, tx, order.counterparty_alias, money.currency)
  const { account: payee, outside, tab } = found
  if (outside && order.description.length > OUTSIDE_DESCRIPTION_MAX) {
    throw BadRequest(
      `description must have at most ${OUTSIDE_DESCRIPTION_MAX} characters to another bank.`,
    )
  }
  const entry = await post(ctx, tx, {
    debit: payer,
    credit: payee,
    money,
    reason: outside ? 'SCT' : 'PAYMENT',
    about: found.about ?? about,
    request,
    details: {
      description: order.description,
      merchant_reference: order.merchant_reference,
      attachment: order.attachment && (await attachmentsOf(tx, payer.id, order.attachment)),
      geolocation: readGeolocation(ctx),
      counterparty: outside,
    },
  })
  if (tab) await payTab(ctx, tx, tab, entry)
  if (found.about?.startsWith('fundraiser')) await countDonation(ctx, tx, entry)
  await announcePayment(ctx, tx, entry)
  return entry
}

/** Whoever received a payment can give it back, whole and once. */
async function reversePayment(
  input: {
    userId: number
    monetaryAccountId: number
    itemId: number
    description?: string | undefined
  },
  ctx: Context,
): Promise<PaymentView> {
  checkSigned(ctx)
  const { userId, monetaryAccountId, itemId } = input
  return ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'reversePayment', input },
      {
        async make() {
          await needAccount(ctx, userId, monetaryAccountId, tx)
          const entry = await needEntry(tx, monetaryAccountId, itemId)
          if (sideOf(itemId) !== 'credit') {
            throw WrongState('A payment is reversed by the account that received it.')
          }
          const text = input.description ?? 'Payment returned'
          const reversal = await reverse(ctx, tx, { entry, description: text })
          if (entry.about?.startsWith('fundraiser')) await countDonation(ctx, tx, entry, -1)
          await announcePayment(ctx, tx, reversal)
          return viewPayment(reversal, 'debit')
        },
        recall: (id) => paymentById(tx, monetaryAccountId, id),
      },
    ),
  )
}
