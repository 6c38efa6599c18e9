// A payment is one side of an entry, seen from the account on that side. Specification 2, service B.
//
// The payment of the debited account has an odd id, that of the credited account the even one after it.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import type { Announcement } from '../kernel/events.ts'
import { loadBy } from '../kernel/load.ts'
import type { Records, SqlRow } from '../kernel/store.ts'
import { amountOf, amountShape } from './amounts.ts'
import { NoSuch } from './errors.ts'
import { ENTRY_COLUMNS, REASONS, type Entry, type EntryDetails } from './ledger.ts'
import { listRows, type ListInput, type RowSource } from './pages.ts'
import type { Paging } from '../kernel/paging.ts'
import { accountLabelOf, accountLabelShape, moments, momentOf } from './shapes.ts'
import type { AccountLabel } from './shapes.ts'

export type Side = 'debit' | 'credit'

export const paymentIdOf = (entryId: number, side: Side): number =>
  side === 'debit' ? 2 * entryId - 1 : 2 * entryId
export const entryIdOf = (paymentId: number): number => Math.ceil(paymentId / 2)
export const sideOf = (paymentId: number): Side => (paymentId % 2 === 1 ? 'debit' : 'credit')

interface KeptDetails extends EntryDetails {
  readonly debtor: Partial<AccountLabel>
  readonly creditor: Partial<AccountLabel>
}

export function viewPayment(entry: Entry, side: Side) {
  const { debtor, creditor, ...details } = JSON.parse(entry.details) as KeptDetails
  const isOut = side === 'debit'
  const outside = details.counterparty as Partial<AccountLabel> | undefined
  const created = momentOf(entry.created)
  const numberAbout = (word: string): number | null =>
    entry.about?.startsWith(`${word} `) ? Number(entry.about.slice(word.length + 1)) : null
  return {
    id: paymentIdOf(entry.id, side),
    created,
    updated: created,
    monetary_account_id: isOut ? entry.debit : entry.credit,
    amount: amountOf(isOut ? -entry.amount : entry.amount, entry.currency),
    description: details.description,
    ...REASONS[entry.reason],
    alias: accountLabelOf(isOut ? debtor : creditor),
    counterparty_alias: accountLabelOf(outside ?? (isOut ? creditor : debtor)),
    attachment: details.attachment ?? [],
    merchant_reference: details.merchant_reference ?? null,
    allow_vendorto: false,
    payment_arrival_expected: null,
    vendorto_status: null,
    vendorto_sub_status: null,
    vendorto_share_url: null,
    vendorto_expiry: null,
    vendorto_time_responded: null,
    batch_id: numberAbout('batch'),
    scheduled_id: numberAbout('schedule'),
    address_shipping: null,
    address_billing: null,
    geolocation: details.geolocation ?? null,
    request_reference_split_the_bill: [],
    balance_after_mutation: amountOf(
      isOut ? entry.debit_after : entry.credit_after,
      entry.currency,
    ),
    payment_auto_allocate_instance: null,
    payment_suspended_outgoing: null,
    payment_fee: null,
    about: entry.about,
  }
}
export type PaymentView = ReturnType<typeof viewPayment>

/** What REST shows: the documented fields. */
export const showPayment = ({ about: _, ...payment }: PaymentView) => payment

export const paymentShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  monetary_account_id: z.int(),
  amount: amountShape,
  description: z.string(),
  type: z.string(),
  sub_type: z.string(),
  alias: accountLabelShape,
  counterparty_alias: accountLabelShape,
  attachment: z.array(z.object({ id: z.int(), monetary_account_id: z.int() })),
  merchant_reference: z.string().nullable(),
  allow_vendorto: z.boolean(),
  batch_id: z.int().nullable(),
  scheduled_id: z.int().nullable(),
  request_reference_split_the_bill: z.array(z.unknown()),
  balance_after_mutation: amountShape,
})

export const fields = { Payment: moments('created', 'updated') }

export async function entryById(from: Records, id: number): Promise<Entry | undefined> {
  const rows = await from.sql(`SELECT ${ENTRY_COLUMNS} FROM entry WHERE id = ?`, [id])
  return rows[0] as Entry | undefined
}

export const paymentEvent = (entry: Entry): Announcement => ({
  type: `banking.payment.${entry.reverses === null ? 'created' : 'reversed'}`,
  subject: String(entry.id),
  body: {
    debit: entry.debit,
    credit: entry.credit,
    amount: entry.amount,
    currency: entry.currency,
    reason: entry.reason,
  },
})

export const announcePayment = (ctx: Context, tx: Records, entry: Entry): Promise<void> =>
  ctx.events.announce(tx, paymentEvent(entry))

/** The entry of a payment of this account, or a refusal. */
export async function needEntry(
  from: Records,
  accountId: number,
  paymentId: number,
): Promise<Entry> {
  const entry = await entryById(from, entryIdOf(paymentId))
  if (entry?.[sideOf(paymentId)] !== accountId) throw NoSuch('payment', paymentId)
  return entry
}

/** A payment by its id, with every other that is asked for in the same tick. */
export async function loadEntry(ctx: Context, paymentId: number): Promise<Entry | undefined> {
  const read = async (ids: readonly number[]) => {
    const marks = ids.map(() => '?').join(', ')
    const rows = (await ctx.store.sql(
      `SELECT ${ENTRY_COLUMNS} FROM entry WHERE id IN (${marks})`,
      ids,
    )) as Entry[]
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id) => found.get(id))
  }
  return loadBy(ctx, 'entries', read, entryIdOf(paymentId))
}

/** Reads the payments of one account, from either side. */
const paymentsSource =
  (accountId: number): RowSource =>
  ({ above, below, isUpward, limit }) => {
    const order = isUpward ? 'ASC' : 'DESC'
    const arm = (side: Side, name: string) =>
      `SELECT * FROM (SELECT 2 * id ${side === 'debit' ? '- 1' : ''} AS payment, ${ENTRY_COLUMNS}
       FROM entry WHERE ${side} = ? AND id > ? AND id < ? ORDER BY id ${order} LIMIT ?) AS ${name}`
    return {
      text: `SELECT * FROM (${arm('debit', 'd')} UNION ALL ${arm('credit', 'c')}) AS both_sides
        ORDER BY payment ${order} LIMIT ?`,
      values: [
        accountId,
        Math.floor((above + 1) / 2),
        Math.ceil((below + 1) / 2),
        limit,
        accountId,
        Math.floor(above / 2),
        Math.ceil(below / 2),
        limit,
        limit,
      ],
    }
  }

const viewRow = (row: SqlRow): PaymentView => viewPayment(row as Entry, sideOf(row.payment))

/** The statement of an account, newest first. */
export const paymentsOf = (ctx: Context, accountId: number, input: ListInput | Paging) =>
  listRows(
    ctx,
    {
      list: `payments of ${accountId}`,
      source: paymentsSource(accountId),
      idOf: ({ payment }) => payment,
      view: viewRow,
    },
    input,
  )

/** The payments that an account received, or made, as part of something such as `tab 17`. */
export const paymentsAbout = (
  ctx: Context,
  { about, accountId, side }: { about: string; accountId: number; side: Side },
  input: ListInput | Paging,
) =>
  listRows(
    ctx,
    {
      list: `payments of ${accountId} about ${about}`,
      source: ({ above, below, isUpward, limit }) => ({
        text: `SELECT * FROM (SELECT ${ENTRY_COLUMNS} FROM entry
          WHERE about = ? AND ${side} = ? AND id > ? AND id < ?
          ORDER BY id ${isUpward ? 'ASC' : 'DESC'} LIMIT ?) AS e`,
        values: [about, accountId, Math.floor(above / 2), Math.ceil(below / 2), limit],
      }),
      idOf: ({ id }) => paymentIdOf(id, side),
      view: (row) => viewPayment(row as Entry, side),
    },
    input,
  )
