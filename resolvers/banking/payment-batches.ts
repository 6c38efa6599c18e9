// Payments that are made together: all of them or none. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { NoSuch } from './errors.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { listInput, listKind, showNodes, viewPage } from './pages.ts'
import { loadEntry, paymentIdOf, paymentShape, showPayment, viewPayment } from './payment-views.ts'
import type { PaymentView } from './payment-views.ts'
import { pay, paymentInput, type PaymentOrder } from './payments.ts'
import { checkSigned } from './signatures.ts'
import {
  ACCOUNT,
  idShape,
  itemId,
  moments,
  momentOf,
  ofAccount,
  onceHeaders,
  onceInput,
  showId,
} from './shapes.ts'

const PAYMENTS_MAX = 100

interface PaymentBatch {
  readonly id: number
  readonly monetary_account_id: number
  readonly created: string
  readonly entryIds: readonly number[]
}

const batches = kind<PaymentBatch>('payment_batch', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    account: numberOf(({ monetary_account_id }) => monetary_account_id),
  },
  indexes: [['account', 'id']],
})
export const kinds = [batches]

const batchShape = z.object({
  id: z.int(),
  created: z.string(),
  monetary_account_id: z.int(),
  payments: z.array(paymentShape),
})
const MANY = `${ACCOUNT}/payment-batch`
const beyond = { isBeyond: true }

export const operations = [
  operation({
    name: 'createPaymentBatch',
    rest: post(MANY, { ...beyond, show: showId, answer: idShape, headers: onceHeaders }),
    input: {
      ...ofAccount,
      payments: z.array(z.object(paymentInput)).min(1).max(PAYMENTS_MAX),
      ...onceInput,
    },
    refuses: { 466: 'A client with a session signs what moves money.' },
    run: createBatch,
  }),
  operation({
    name: 'paymentBatches',
    rest: get(MANY, {
      ...beyond,
      show: (page) => (showNodes(page) as BatchView[]).map(showBatch),
      answer: z.array(batchShape),
    }),
    input: { ...ofAccount, ...listInput },
    async run({ userId, monetaryAccountId, ...input }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      const page = await listKind(ctx, batches, { account: monetaryAccountId }, input)
      return viewPage(page, (batch) => viewBatch(ctx, batch))
    },
  }),
  operation({
    name: 'paymentBatch',
    rest: get(`${MANY}/{itemId}`, { ...beyond, show: showBatch, answer: batchShape }),
    input: { ...ofAccount, itemId },
    async run({ userId, monetaryAccountId, itemId }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return viewBatch(ctx, await needBatch(ctx.store, monetaryAccountId, itemId))
    },
  }),
]

export const fields = { PaymentBatch: moments('created') }

async function needBatch(from: Records, accountId: number, id: number): Promise<PaymentBatch> {
  const batch = await from.get(batches, String(id))
  if (batch?.monetary_account_id !== accountId) throw NoSuch('payment batch', id)
  return batch
}

async function viewBatch(ctx: Context, { entryIds, ...batch }: PaymentBatch) {
  const entries = await Promise.all(entryIds.map((id) => loadEntry(ctx, paymentIdOf(id, 'debit'))))
  return { ...batch, payments: entries.map((entry) => viewPayment(entry!, 'debit')) }
}
type BatchView = Awaited<ReturnType<typeof viewBatch>>

function showBatch({ payments, ...batch }: BatchView): object {
  return { ...batch, payments: (payments as PaymentView[]).map(showPayment) }
}

async function createBatch(
  input: { userId: number; monetaryAccountId: number; payments: PaymentOrder[] },
  ctx: Context,
): Promise<BatchView> {
  checkSigned(ctx)
  const { userId, monetaryAccountId, payments } = input
  const batch = await ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createPaymentBatch', input },
      {
        async make() {
          const id = await nextId(tx, 'batch')
          const entryIds: number[] = []
          for (const order of payments) {
            // Read anew each time: the payment before has changed it.
            const payer = await needAccount(ctx, userId, monetaryAccountId, tx)
            entryIds.push((await pay(ctx, tx, { payer, order, about: `batch ${id}` })).id)
          }
          const created = momentOf(ctx.clock.now())
          const made = { id, monetary_account_id: monetaryAccountId, created, entryIds }
          await tx.insert(batches, made)
          await ctx.events.announce(tx, {
            type: 'banking.payment-batch.created',
            subject: String(id),
            body: { monetary_account_id: monetaryAccountId, payments: entryIds.length },
          })
          return made
        },
        recall: (id) => needBatch(tx, monetaryAccountId, id),
      },
    ),
  )
  return viewBatch(ctx, batch)
}
