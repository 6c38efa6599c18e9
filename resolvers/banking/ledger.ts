// Money moves here and nowhere else: entries between accounts, holds, releases and reversals.
// migrations.ts lists what must stay true. Specification 2, service B.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { valueOf, type Money } from './amounts.ts'
import { BadRequest, InsufficientFunds, LimitExceeded, WrongState } from './errors.ts'

/** An account as its row has it. */
export interface Account {
  readonly id: number
  /** Whose it is, as identity knows them. */
  readonly owner: string
  readonly user_id: number
  readonly iban: string | null
  readonly currency: string
  readonly status: 'ACTIVE' | 'BLOCKED' | 'CANCELLED' | 'PENDING_REOPEN'
  readonly balance: number
  readonly held: number
  /** Null for the bank's own. */
  readonly overdraft_limit: number | null
  readonly daily_limit: number
  readonly spent: number
  /** In days since 1970. */
  readonly spent_day: number
  /** How others see it: an AccountLabel as JSON. */
  readonly label: string
}

const DAY_MS = 24 * 60 * 60_000

export const ACCOUNT_COLUMNS =
  'id, owner, user_id, iban, currency, status, balance, held, overdraft_limit, daily_limit, spent, spent_day, label'

/** Why money moved, and how a payment calls it. */
export const REASONS = {
  PAYMENT: { type: 'VENDOR', sub_type: 'PAYMENT' },
  REQUEST: { type: 'VENDOR', sub_type: 'REQUEST' },
  REVERSAL: { type: 'VENDOR', sub_type: 'REVERSAL' },
  SCT: { type: 'EBA_SCT', sub_type: 'SCT' },
  CARD: { type: 'FIS', sub_type: 'PAYMENT' },
  BILLING: { type: 'VENDOR', sub_type: 'BILLING' },
} as const

export type Reason = keyof typeof REASONS

export interface Entry {
  readonly id: number
  readonly debit: number
  readonly credit: number
  readonly amount: number
  readonly currency: string
  readonly debit_after: number
  readonly credit_after: number
  /** In milliseconds since 1970. */
  readonly created: number
  readonly reason: Reason
  /** What the entry is a part of, such as `tab 17`. */
  readonly about: string | null
  readonly reverses: number | null
  /** A PaymentDetails as JSON. */
  readonly details: string
}

export const ENTRY_COLUMNS =
  'id, debit, credit, amount, currency, debit_after, credit_after, created, reason, about, reverses, details'

/** What an entry says beside its amounts. The labels are as they were on that day. */
export interface EntryDetails {
  readonly description: string
  readonly merchant_reference?: string | undefined
  /** Ids of attachments, with the accounts that they are of. */
  readonly attachment?: readonly { id: number; monetary_account_id: number }[] | undefined
  readonly geolocation?: object | undefined
  /** The other side, where it is not the label of the account: an account at another bank. */
  readonly counterparty?: object | undefined
}

export interface Move {
  readonly debit: Account
  readonly credit: Account
  readonly money: Money
  readonly reason: Reason
  readonly about?: string | undefined
  readonly reverses?: number | undefined
  readonly details: EntryDetails
  /** What the debited account holds for this. */
  readonly released?: number | undefined
  /** The request that asks for it, when it carries an id. */
  readonly request?: EntryRequest | undefined
}

/** A request as an entry remembers it: whose and which, and what was asked. */
export interface EntryRequest {
  readonly key: string
  readonly digest: string
}

const CHANGE = 'UPDATE account SET balance = ?, held = ?, spent = ?, spent_day = ? WHERE id = ?'

const ADD = `INSERT INTO entry (debit, credit, amount, currency, debit_after, credit_after, created, reason,
  about, reverses, details, request, digest) VALUES`
const ADDED = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
/** How many entries one statement adds, so that few statements serve all numbers of them. */
const ADDED_TOGETHER = [16, 4, 1] as const

/**
 * Moves money. The accounts must have been read in the same transaction. Refuses, and changes nothing,
 * when the debited account cannot bear it or either cannot take part.
 */
export async function post(ctx: Context, tx: Records, move: Move): Promise<Entry> {
  const { entry, debit, credit } = draft(ctx, move)
  const [added] = await addEntries(tx, [{ entry, request: move.request }])
  await saveAccount(tx, debit)
  await saveAccount(tx, credit)
  return added!
}

export type EntryDraft = Omit<Entry, 'id'>

/** What a move would book, and what the accounts become by it; or a refusal. */
export function draft(
  ctx: Context,
  move: Move,
): { entry: EntryDraft; debit: Account; credit: Account } {
  const { debit, credit, money, reason, about, reverses, released = 0 } = move
  const { minor: amount, currency } = money
  checkParts(move)
  const created = ctx.clock.now().getTime()
  const day = Math.floor(created / DAY_MS)
  // A reversal gives back: it is no spending.
  const spent = (debit.spent_day === day ? debit.spent : 0) + (reverses === undefined ? amount : 0)
  checkBearing(move, spent)
  // What was read in the transaction does not change under it, so what it becomes is known.
  const debited = {
    ...debit,
    balance: debit.balance - amount,
    held: debit.held - released,
    spent,
    spent_day: day,
  }
  const credited = { ...credit, balance: credit.balance + amount }
  const entry = {
    debit: debit.id,
    credit: credit.id,
    amount,
    currency,
    debit_after: debited.balance,
    credit_after: credited.balance,
    created,
    reason,
    about: about ?? null,
    reverses: reverses ?? null,
    details: detailsText(move),
  }
  return { entry, debit: debited, credit: credited }
}

/**
 * Adds entries, whose accounts the caller saves. The first of them has the lowest id: ids rise in the order
 * of the values.
 */
export async function addEntries(
  tx: Records,
  drafts: readonly { entry: EntryDraft; request: EntryRequest | undefined }[],
): Promise<Entry[]> {
  const entries: Entry[] = []
  while (entries.length < drafts.length) {
    const left = drafts.slice(entries.length)
    const size = ADDED_TOGETHER.find((size) => size <= left.length)!
    const together = left.slice(0, size)
    const rows = await tx.sql(
      `${ADD} ${Array(size).fill(ADDED).join(', ')} RETURNING id`,
      together.flatMap(({ entry, request }) => [
        ...Object.values(entry),
        request?.key ?? null,
        request?.digest ?? null,
      ]),
    )
    const ids = rows.map(({ id }): number => id).sort((a, b) => a - b)
    for (const [i, { entry }] of together.entries()) entries.push({ id: ids[i]!, ...entry })
  }
  return entries
}

export async function saveAccount(tx: Records, account: Account): Promise<void> {
  const { balance, held, spent, spent_day, id } = account
  await tx.sql(CHANGE, [balance, held, spent, spent_day, id])
}

// The labels are JSON already, as the accounts have them.
const detailsText = ({ debit, credit, details }: Move): string =>
  `{"debtor":${debit.label},"creditor":${credit.label},${JSON.stringify(details).slice(1)}`

function checkParts({ debit, credit, money, reason, reverses }: Move): void {
  if (debit.id === credit.id) throw BadRequest('An account cannot pay itself.')
  for (const account of [debit, credit]) {
    if (account.currency !== money.currency) {
      throw BadRequest(
        `The account ${account.iban ?? reason} is kept in ${account.currency}; ${money.currency} cannot be booked there.`,
      )
    }
    // A refund must be able to return, also from an account that is blocked.
    const mayBeBlocked = reverses !== undefined && account.status === 'BLOCKED'
    if (account.status !== 'ACTIVE' && !mayBeBlocked) {
      throw WrongState(`The account ${account.iban} is ${account.status.toLowerCase()}.`)
    }
  }
}

function checkBearing({ debit, money: { minor }, released = 0, reverses }: Move, spent: number) {
  if (debit.overdraft_limit === null) return
  if (debit.balance - (debit.held - released) - minor < -debit.overdraft_limit) {
    throw InsufficientFunds(
      `The account ${debit.iban} has ${valueOf(availableOf(debit) + released)} ${debit.currency} available, less than ${valueOf(minor)}.`,
    )
  }
  if (reverses === undefined && spent > debit.daily_limit) {
    throw LimitExceeded(
      `The account ${debit.iban} may pay ${valueOf(debit.daily_limit)} ${debit.currency} a day; this would make it ${valueOf(spent)}.`,
    )
  }
}

/** What can be spent now. */
export const availableOf = ({ balance, held, overdraft_limit }: Account): number =>
  balance - held + (overdraft_limit ?? Infinity)

/**
 * Undoes an entry by one in the other direction. Each is undone once: a second time is refused here, and
 * by the table.
 */
export async function reverse(
  ctx: Context,
  tx: Records,
  { entry, description, about }: { entry: Entry; description: string; about?: string },
): Promise<Entry> {
  if (entry.reverses !== null) throw WrongState('A reversal cannot be reversed.')
  const [before] = await tx.sql('SELECT id FROM entry WHERE reverses = ?', [entry.id])
  if (before) throw WrongState('This payment was reversed already.')
  const accounts = await accountsById(tx, [entry.credit, entry.debit])
  return post(ctx, tx, {
    debit: accounts.get(entry.credit)!,
    credit: accounts.get(entry.debit)!,
    money: { minor: entry.amount, currency: entry.currency },
    reason: 'REVERSAL',
    reverses: entry.id,
    about: about ?? entry.about ?? undefined,
    details: { description },
  })
}

export async function accountById(from: Records, id: number): Promise<Account | undefined> {
  const rows = await from.sql(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE id = ?`, [id])
  return rows[0] as Account | undefined
}

export async function accountByIban(from: Records, iban: string): Promise<Account | undefined> {
  const rows = await from.sql(`SELECT ${ACCOUNT_COLUMNS} FROM account WHERE iban = ?`, [iban])
  return rows[0] as Account | undefined
}

/** Accounts by their ids and by their IBANs, in one reading. */
export async function accountsByAny(
  from: Records,
  ids: readonly number[],
  ibans: readonly string[],
): Promise<Account[]> {
  const rows = await from.sql(
    `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE id IN (${marksFor(ids)}) OR iban IN (${marksFor(ibans)})`,
    [...padded(ids), ...padded(ibans)],
  )
  return rows as Account[]
}

/** A list filled up to a power of two with what it holds already, so that few statements serve all. */
export const padded = <T>(list: readonly T[]): T[] => {
  const size = 2 ** Math.ceil(Math.log2(list.length))
  return [...list, ...Array<T>(size - list.length).fill(list[0]!)]
}
export const marksFor = (list: readonly unknown[]): string =>
  padded(list)
    .map(() => '?')
    .join(', ')

export async function accountsById(
  from: Records,
  ids: readonly number[],
): Promise<Map<number, Account>> {
  const unique = [...new Set(ids)]
  if (unique.length === 0) return new Map()
  const marks = unique.map(() => '?').join(', ')
  const rows = (await from.sql(
    `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE id IN (${marks})`,
    unique,
  )) as Account[]
  return new Map(rows.map((row) => [row.id, row]))
}

const BANK_LABEL = { display_name: 'Polygraph Bank', iban: null }

/** The account of the bank itself through which money comes from and goes to the world outside. */
export async function settlementAccount(tx: Records, currency: string): Promise<Account> {
  const select = `SELECT ${ACCOUNT_COLUMNS} FROM account WHERE purpose = 'SETTLEMENT' AND currency = ?`
  const [found] = await tx.sql(select, [currency])
  if (found) return found as Account
  await tx.sql(
    `INSERT INTO account (owner, user_id, purpose, currency, status, daily_limit, label, body)
     VALUES ('', 0, 'SETTLEMENT', ?, 'ACTIVE', 0, ?, '{}')`,
    [currency, JSON.stringify(BANK_LABEL)],
  )
  const [made] = await tx.sql(select, [currency])
  return made as Account
}
