// What became of a tab, as the account that paid it sees it. Specification 2, service B.
import { z } from 'zod'
import { get, operation } from '../kernel/operation.ts'
import { needAccount } from './accounts.ts'
import { NoSuch } from './errors.ts'
import { needEntry, paymentShape, showPayment, sideOf, viewPayment } from './payment-views.ts'
import type { PaymentView } from './payment-views.ts'
import { ACCOUNT, itemId, ofAccount } from './shapes.ts'

export const operations = [
  operation({
    name: 'paymentRequestTabResultResponse',
    rest: get(`${ACCOUNT}/vendorme-tab-result-response/{itemId}`, {
      show: ({ payment }: { payment: PaymentView }) => ({ payment: showPayment(payment) }),
      answer: z.object({ payment: paymentShape }),
    }),
    input: { ...ofAccount, itemId },
    // Chosen: the result has the id of the payment that made it, on the side of the one who paid.
    async run({ userId, monetaryAccountId, itemId }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      const entry = await needEntry(ctx.store, monetaryAccountId, itemId)
      if (!entry.about?.startsWith('tab ') || sideOf(itemId) !== 'debit') {
        throw NoSuch('tab result response', itemId)
      }
      return { payment: viewPayment(entry, 'debit') }
    },
  }),
]
