// What a person does on a page of the bank: pay a tab, or give to a fundraiser, by IBAN and payment code.
import type { Context } from '../kernel/context.ts'
import type { Amount } from './amounts.ts'
import { BadRequest } from './errors.ts'
import { openByCode } from './payment-codes.ts'
import { viewPayment, type PaymentView } from './payment-views.ts'
import { pay } from './payments.ts'

/** Pays what the page at `url` is about, or refuses. A code that does not fit is counted. */
export async function payOnPage(
  ctx: Context,
  sent: { url: string; iban: string; code: string; amount: Amount; description: string },
): Promise<PaymentView> {
  const payment = await ctx.store.transaction(async (tx) => {
    const payer = await openByCode(ctx, tx, sent)
    if (!payer) return undefined
    const order = {
      amount: sent.amount,
      counterparty_alias: {
        type: 'URL' as const,
        value: sent.url,
        name: undefined,
        service: undefined,
      },
      description: sent.description,
      attachment: undefined,
      merchant_reference: undefined,
      allow_vendorto: undefined,
    }
    return viewPayment(await pay(ctx, tx, { payer, order }), 'debit')
  })
  if (payment) return payment
  throw BadRequest('The IBAN and the payment code do not fit, or the code has ended.')
}
