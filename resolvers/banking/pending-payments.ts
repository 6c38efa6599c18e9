// Pending payments: the money is held now, and paid or released later. Of the graph alone.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { paging } from '../kernel/paging.ts'
import { optional } from '../kernel/shape.ts'
import type { Records, SqlRow } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { amount, amountOf, moneyOf, type Amount } from './amounts.ts'
import { counterpartyOf } from './counterparties.ts'
import { BadRequest, NoSuch } from './errors.ts'
import { capture, hold, holdById, HOLD_COLUMNS, release, type Hold } from './holds.ts'
import type { Account } from './ledger.ts'
import { once } from './once.ts'
import { listRows } from './pages.ts'
import { paymentIdOf } from './payment-views.ts'
import { announcePayment } from './payment-views.ts'
import { checkSigned } from './signatures.ts'
import {
  description,
  itemId,
  moments,
  momentOf,
  ofAccount,
  onceInput,
  pointer,
  type SentPointer,
} from './shapes.ts'

/** Chosen: what is neither paid nor released by then is released by itself. */
const LIFE_MS = 7 * 24 * 60 * 60_000

const one = { ...ofAccount, itemId }

export const operations = [
  operation({
    name: 'createPendingPayment',
    input: { ...ofAccount, amount, counterparty_alias: pointer, description, ...onceInput },
    run: createPending,
  }),
  operation({ name: 'pendingPayment', input: one, run: readPending }),
  operation({
    name: 'pendingPayments',
    input: { ...ofAccount, ...paging },
    async run({ userId, monetaryAccountId, first, after }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return pendingOf(ctx, monetaryAccountId, { first, after })
    },
  }),
  operation({
    name: 'completePendingPayment',
    input: { ...one, amount: optional(amount) },
    run: completePending,
  }),
  operation({ name: 'cancelPendingPayment', input: one, run: cancelPending }),
]

export const steps = { 'end hold': endHold }

export const fields = { PendingPayment: moments('created', 'time_expiry') }

const kept = z.object({ counterparty_alias: pointer, description: z.string() })

function viewPending(held: Hold) {
  const { counterparty_alias, description } = JSON.parse(held.details)
  return {
    id: held.id,
    monetary_account_id: held.account,
    created: momentOf(held.created),
    time_expiry: momentOf(held.ends),
    amount: amountOf(held.amount, held.currency),
    status: held.state,
    description,
    counterparty_alias,
    payment_id: held.entry === null ? null : paymentIdOf(held.entry, 'debit'),
  }
}
type PendingView = ReturnType<typeof viewPending>

export const pendingOf = (
  ctx: Context,
  accountId: number,
  input: { first: number | undefined; after: string | undefined },
) =>
  listRows(
    ctx,
    {
      list: `pending payments of ${accountId}`,
      source: ({ above, below, isUpward, limit }) => ({
        text: `SELECT * FROM (SELECT ${HOLD_COLUMNS} FROM hold
          WHERE account = ? AND id > ? AND id < ? ORDER BY id ${isUpward ? 'ASC' : 'DESC'} LIMIT ?) AS h`,
        values: [accountId, above, below, limit],
      }),
      idOf: ({ id }: SqlRow) => id,
      view: (row) => viewPending(row as Hold),
    },
    input,
  )

interface One {
  readonly userId: number
  readonly monetaryAccountId: number
  readonly itemId: number
}

async function needPending(
  ctx: Context,
  from: Records,
  { userId, monetaryAccountId, itemId }: One,
): Promise<{ account: Account; held: Hold }> {
  const account = await needAccount(ctx, userId, monetaryAccountId, from)
  const held = await holdById(from, itemId)
  if (held?.account !== monetaryAccountId) throw NoSuch('pending payment', itemId)
  return { account, held }
}

async function readPending(input: One, ctx: Context): Promise<PendingView> {
  return viewPending((await needPending(ctx, ctx.store, input)).held)
}

async function createPending(
  input: {
    userId: number
    monetaryAccountId: number
    amount: Amount
    counterparty_alias: SentPointer
    description: string
  },
  ctx: Context,
): Promise<PendingView> {
  checkSigned(ctx)
  const { userId, monetaryAccountId, counterparty_alias, description } = input
  return ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createPendingPayment', input },
      {
        async make() {
          const account = await needAccount(ctx, userId, monetaryAccountId, tx)
          const money = moneyOf(input.amount)
          if (counterparty_alias.type === 'URL') {
            throw BadRequest('counterparty_alias.type must be EMAIL, PHONE_NUMBER or IBAN.')
          }
          // Whoever cannot be paid is refused now, and not when it is too late to say so.
          await counterpartyOf(ctx, tx, counterparty_alias, money.currency)
          const held = await hold(ctx, tx, {
            account,
            money,
            endsMs: ctx.clock.now().getTime() + LIFE_MS,
            details: { counterparty_alias, description },
          })
          await ctx.work.later(tx, LIFE_MS, 'end hold', { id: held.id })
          await announce(ctx, tx, held, 'created')
          return viewPending(held)
        },
        recall: async (id) => viewPending((await holdById(tx, id))!),
      },
    ),
  )
}

const announce = (ctx: Context, tx: Records, held: Hold, happened: string) =>
  ctx.events.announce(tx, {
    type: `banking.pending-payment.${happened}`,
    subject: String(held.id),
    body: { monetary_account_id: held.account, amount: held.amount, currency: held.currency },
  })

async function completePending(
  { amount, ...input }: One & { amount?: Amount | undefined },
  ctx: Context,
): Promise<PendingView> {
  checkSigned(ctx)
  return ctx.store.transaction(async (tx) => {
    const { account, held } = await needPending(ctx, tx, input)
    const { counterparty_alias, description } = kept.parse(JSON.parse(held.details))
    const money = amount && moneyOf(amount)
    if (money && money.currency !== held.currency) {
      throw BadRequest(`amount.currency must be ${held.currency}.`)
    }
    const { account: payee, outside } = await counterpartyOf(
      ctx,
      tx,
      counterparty_alias,
      held.currency,
    )
    const entry = await capture(ctx, tx, held, {
      debit: account,
      credit: payee,
      minor: money?.minor,
      reason: outside ? 'SCT' : 'PAYMENT',
      details: { description, counterparty: outside },
    })
    await announce(ctx, tx, held, 'completed')
    await announcePayment(ctx, tx, entry)
    return viewPending((await holdById(tx, held.id))!)
  })
}

async function cancelPending(input: One, ctx: Context): Promise<PendingView> {
  return ctx.store.transaction(async (tx) => {
    const { held } = await needPending(ctx, tx, input)
    await release(tx, held)
    await announce(ctx, tx, held, 'released')
    return viewPending({ ...held, state: 'RELEASED' })
  })
}

/** Releases what nobody has ended. Cards hold money in the same way, and end in the same way. */
async function endHold({ id }: { id: number }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const held = await holdById(tx, id)
    if (held?.state !== 'HELD') return
    await release(tx, held)
    await announce(ctx, tx, held, 'released')
  })
}
