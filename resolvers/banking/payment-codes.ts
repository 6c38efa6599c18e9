// Payment codes: with one, a person pays on a page of the bank without signing in. Of the graph, and REST
// beside what is documented.
//
// 1. An account has one code at a time. It is shown once, kept as a hash, and ends after ten minutes, one
//    payment or three wrong tries.
import { randomInt, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import { kind, type Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { WrongState } from './errors.ts'
import { readIban } from './iban.ts'
import { accountByIban, type Account } from './ledger.ts'
import { hashOf } from './secrets.ts'
import { ACCOUNT, moments, momentOf, ofAccount } from './shapes.ts'

const CODE_DIGITS = 8
const LIFE_MS = 10 * 60_000
const TRIES_MAX = 3

interface PaymentCode {
  readonly accountId: number
  readonly hash: string
  readonly expiresMs: number
  readonly wrong: number
}

const paymentCodes = kind<PaymentCode>('payment_code', {
  key: ({ accountId }) => String(accountId),
})
export const kinds = [paymentCodes]

export const operations = [
  operation({
    name: 'createPaymentCode',
    rest: post(`${ACCOUNT}/payment-code`, {
      isBeyond: true,
      answer: z.object({ code: z.string(), time_expiry: z.string() }),
    }),
    input: ofAccount,
    async run({ userId, monetaryAccountId }, ctx) {
      const account = await needAccount(ctx, userId, monetaryAccountId)
      if (account.status !== 'ACTIVE') throw WrongState(`The account ${account.iban} is closed.`)
      const code = String(randomInt(10 ** CODE_DIGITS)).padStart(CODE_DIGITS, '0')
      const expiresMs = ctx.clock.now().getTime() + LIFE_MS
      await ctx.store.save(paymentCodes, {
        accountId: account.id,
        hash: codeHash(account.id, code),
        expiresMs,
        wrong: 0,
      })
      return { code, time_expiry: momentOf(expiresMs) }
    },
  }),
]

export const fields = { PaymentCode: moments('time_expiry') }

const codeHash = (accountId: number, code: string): string => hashOf(`${accountId} ${code}`)

/**
 * The account that an IBAN and its code open, and uses the code up. Undefined when they do not fit: that
 * is counted, so the caller must let the transaction end well.
 */
export async function openByCode(
  ctx: Context,
  tx: Records,
  { iban, code }: { iban: string; code: string },
): Promise<Account | undefined> {
  const account = await accountByIban(tx, readIban(iban) ?? '')
  const kept = account && (await tx.get(paymentCodes, String(account.id)))
  if (!kept || kept.wrong >= TRIES_MAX || kept.expiresMs <= ctx.clock.now().getTime()) {
    return undefined
  }
  const isRight = timingSafeEqual(
    Buffer.from(kept.hash),
    Buffer.from(codeHash(account.id, code.replaceAll(' ', ''))),
  )
  if (!isRight) {
    await tx.save(paymentCodes, { ...kept, wrong: kept.wrong + 1 })
    return undefined
  }
  await tx.remove(paymentCodes, String(account.id))
  return account
}
