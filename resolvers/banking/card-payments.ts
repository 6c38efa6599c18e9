// What is paid with a card, at a till or a cash machine. In the graph alone, since terminals have an
// interface of their own. Specification 2, service B.
//
// Chosen: the bank's own country is always permitted, others by a country permission; the limits hold for
// a day; and an account without enough money leaves the payment to the fallback account.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { amount, moneyOf, valueOf, type Money } from './amounts.ts'
import { saveCard } from './card-changes.ts'
import { readCountry } from './card-countries.ts'
import { assignmentBy, pinCode, withoutPins } from './card-pins.ts'
import { cards, isExpired, needCard, permissionsAt } from './card-records.ts'
import type { Card, PinAssignment } from './card-records.ts'
import { BadRequest, LimitExceeded, WrongPin, WrongState } from './errors.ts'
import { BANK_COUNTRY } from './iban.ts'
import { accountById, availableOf, post, settlementAccount, type Account } from './ledger.ts'
import { once } from './once.ts'
import { entryIdOf, needEntry, viewPayment, type PaymentView } from './payment-views.ts'
import { announcePayment } from './payment-views.ts'
import { checkSigned } from './signatures.ts'
import { dayOf, itemId, ofUser, onceInput } from './shapes.ts'

const WRONG_PINS_MAX = 3

const paid = {
  amount,
  pin_code: pinCode,
  country: text.max(2),
  merchant: text.min(1).max(140),
  place: optional(z.enum(['TILL', 'ATM'])),
  primary_account_number_id: optional(itemId),
}
const cardPayment = z.object(paid)
type CardPayment = z.output<typeof cardPayment> & { userId: number; itemId: number }

export const operations = [
  operation({
    name: 'payWithCard',
    input: { ...ofUser, itemId, ...paid, ...onceInput },
    run: payWithCard,
  }),
]

async function payWithCard(input: CardPayment, ctx: Context): Promise<PaymentView> {
  checkSigned(ctx)
  const { userId, itemId } = input
  const money = moneyOf(input.amount)
  readCountry(input.country, 'country')
  const payment = await ctx.store.transaction(async (tx) => {
    const card = await needCard(ctx, userId, itemId, tx)
    checkUsable(ctx, card)
    const assignment = assignmentBy(ctx, card, input.pin_code)
    if (!assignment) {
      await countWrongPin(ctx, tx, card)
      return undefined
    }
    return once(
      ctx,
      tx,
      { name: 'payWithCard', input: withoutPins(ctx, input) },
      {
        make: () => charge(ctx, tx, { card, assignment, money, input }),
        async recall(id) {
          const [row] = await tx.sql('SELECT debit FROM entry WHERE id = ?', [entryIdOf(id)])
          return viewPayment(await needEntry(tx, row!.debit, id), 'debit')
        },
      },
    )
  })
  if (payment) return payment
  // Thrown when the count is kept.
  throw WrongPin('The PIN is wrong, or the card has none.')
}

function checkUsable({ clock }: Context, card: Card): void {
  const nowMs = clock.now().getTime()
  const status = isExpired(card, nowMs) ? 'EXPIRED' : card.status
  if (status !== 'ACTIVE') throw WrongState(`The card is ${status}, and cannot be used.`)
}

async function countWrongPin(ctx: Context, tx: Records, card: Card): Promise<void> {
  const wrong_pins = card.wrong_pins + 1
  const status = wrong_pins >= WRONG_PINS_MAX ? 'PIN_TRIES_EXCEEDED' : card.status
  await saveCard(ctx, tx, { ...card, wrong_pins, status })
}

interface Charge {
  readonly card: Card
  readonly assignment: PinAssignment
  readonly money: Money
  readonly input: CardPayment
}

async function charge(ctx: Context, tx: Records, charge: Charge): Promise<PaymentView> {
  const { card, money, input } = charge
  const nowMs = ctx.clock.now().getTime()
  const { country, merchant } = input
  const isPermitted =
    country === BANK_COUNTRY ||
    permissionsAt(card, nowMs).some((permission) => permission.country === country)
  if (!isPermitted) throw BadRequest(`The card may not be used in ${country}.`)
  if (money.currency !== card.currency) {
    throw BadRequest(`amount.currency must be ${card.currency}, as the card has it.`)
  }
  const spent = spentWith(card, charge, dayOf(nowMs))
  const entry = await post(ctx, tx, {
    debit: await payingAccount(tx, charge),
    credit: await settlementAccount(tx, money.currency),
    money,
    reason: 'CARD',
    about: `card ${card.id}`,
    details: { description: merchant, counterparty: { display_name: merchant, country } },
  })
  await tx.save(cards, { ...card, spent, wrong_pins: 0 })
  await announcePayment(ctx, tx, entry)
  return viewPayment(entry, 'debit')
}

/** What the card has spent today with this, or a refusal where that is more than it may. */
function spentWith(card: Card, { money, input }: Charge, day: string): Card['spent'] {
  const isAtm = input.place === 'ATM'
  const before = card.spent.day === day ? card.spent : { tills: 0, atm: 0 }
  const sum = money.minor + (isAtm ? before.atm : before.tills)
  const limit = isAtm ? card.card_limit_atm : card.card_limit
  if (sum > limit) {
    throw LimitExceeded(
      `The card may spend ${valueOf(limit)} ${card.currency} a day there; this would make it ${valueOf(sum)}.`,
    )
  }
  return { day, tills: before.tills, atm: before.atm, [isAtm ? 'atm' : 'tills']: sum }
}

/** The account of the number that is charged, of the PIN, or of the card; or the one to fall back on. */
async function payingAccount(
  tx: Records,
  { card, assignment, money, input }: Charge,
): Promise<Account> {
  const { primary_account_number_id: id } = input
  const numbers = card.primary_account_numbers
  const number = id === undefined ? numbers[0] : numbers.find((one) => one.id === id)
  if (!number) throw BadRequest(`The card has no number ${id}.`)
  if (number.status !== 'ACTIVE') throw WrongState('This number of the card is deactivated.')
  const first =
    number.monetary_account_id ?? assignment.monetary_account_id ?? card.monetary_account_id
  const account = (await accountById(tx, first))!
  const fallback = card.monetary_account_id_fallback
  if (fallback === null || (account.status === 'ACTIVE' && availableOf(account) >= money.minor)) {
    return account
  }
  return (await accountById(tx, fallback))!
}
