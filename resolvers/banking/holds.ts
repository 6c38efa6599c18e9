// Holds: money that stays on an account and cannot be spent until it is captured or released.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { valueOf, type Money } from './amounts.ts'
import { BadRequest, InsufficientFunds, WrongState } from './errors.ts'
import {
  availableOf,
  post,
  type Account,
  type Entry,
  type EntryDetails,
  type Reason,
} from './ledger.ts'

export interface Hold {
  readonly id: number
  readonly account: number
  readonly amount: number
  readonly currency: string
  readonly state: 'HELD' | 'CAPTURED' | 'RELEASED'
  /** What it became. */
  readonly entry: number | null
  readonly created: number
  readonly ends: number
  /** What the holder keeps with it, as JSON. */
  readonly details: string
}

export const HOLD_COLUMNS = 'id, account, amount, currency, state, entry, created, ends, details'

export async function holdById(from: Records, id: number): Promise<Hold | undefined> {
  const rows = await from.sql(`SELECT ${HOLD_COLUMNS} FROM hold WHERE id = ?`, [id])
  return rows[0] as Hold | undefined
}

/** Holds money of an account that was read in the same transaction. */
export async function hold(
  ctx: Context,
  tx: Records,
  {
    account,
    money,
    endsMs,
    details,
  }: {
    account: Account
    money: Money
    endsMs: number
    details: object
  },
): Promise<Hold> {
  const { minor, currency } = money
  if (account.currency !== currency) {
    throw BadRequest(`The account ${account.iban} is kept in ${account.currency}, not ${currency}.`)
  }
  if (account.status !== 'ACTIVE') {
    throw WrongState(`The account ${account.iban} is ${account.status.toLowerCase()}.`)
  }
  if (minor > availableOf(account)) {
    throw InsufficientFunds(
      `The account ${account.iban} has ${valueOf(availableOf(account))} ${currency} available, less than ${valueOf(minor)}.`,
    )
  }
  await tx.sql('UPDATE account SET held = held + CAST(? AS bigint) WHERE id = ?', [
    minor,
    account.id,
  ])
  const created = ctx.clock.now().getTime()
  const rows = await tx.sql(
    `INSERT INTO hold (account, amount, currency, created, ends, details) VALUES (?, ?, ?, ?, ?, ?)
     RETURNING ${HOLD_COLUMNS}`,
    [account.id, minor, currency, created, endsMs, JSON.stringify(details)],
  )
  return rows[0] as Hold
}

/** Turns a hold, or a part of it, into an entry; the rest is free again. */
export async function capture(
  ctx: Context,
  tx: Records,
  held: Hold,
  move: {
    debit: Account
    credit: Account
    minor?: number | undefined
    reason: Reason
    about?: string | undefined
    details: EntryDetails
  },
): Promise<Entry> {
  checkHeld(held)
  const { minor = held.amount, ...rest } = move
  if (minor > held.amount) {
    throw BadRequest(
      `At most the ${valueOf(held.amount)} ${held.currency} that are held can be paid.`,
    )
  }
  const entry = await post(ctx, tx, {
    ...rest,
    money: { minor, currency: held.currency },
    released: held.amount,
  })
  await tx.sql(`UPDATE hold SET state = 'CAPTURED', entry = ? WHERE id = ?`, [entry.id, held.id])
  return entry
}

/** Ends a hold; the money can be spent again. */
export async function release(tx: Records, held: Hold): Promise<void> {
  checkHeld(held)
  await tx.sql('UPDATE account SET held = held - CAST(? AS bigint) WHERE id = ?', [
    held.amount,
    held.account,
  ])
  await tx.sql(`UPDATE hold SET state = 'RELEASED' WHERE id = ?`, [held.id])
}

function checkHeld({ state }: Hold): void {
  if (state !== 'HELD') throw WrongState(`This is ${state.toLowerCase()} already.`)
}
