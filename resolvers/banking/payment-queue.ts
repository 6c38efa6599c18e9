// Payments that come close together are booked in one transaction, in the order in which they came.
//
// 1. Each is decided by itself: one that is refused leaves no trace, and the others go on.
// 2. Nobody hears of a payment before the transaction has ended.
// 3. Only payments between accounts of the bank are booked here; the rest is told to go its own way.
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import type { Records, Store } from '../kernel/store.ts'
import { checkAccount } from './accounts.ts'
import { moneyOf } from './amounts.ts'
import { readGeolocation } from './geolocation.ts'
import { readIban } from './iban.ts'
import { accountsByAny, addEntries, draft, saveAccount } from './ledger.ts'
import type { Account, Entry, EntryDraft, EntryRequest, Move } from './ledger.ts'
import { checkSame, entriesOf, reused } from './once.ts'
import { paymentEvent } from './payment-views.ts'
import type { CreateInput } from './payments.ts'

const TOGETHER_MAX = 128

interface Waiting {
  readonly ctx: Context
  readonly input: CreateInput
  readonly iban: string
  readonly request: EntryRequest | undefined
  readonly settle: (outcome: Outcome) => void
  readonly fail: (error: unknown) => void
}

/** An entry, a refusal, or undefined for what cannot be booked here. */
type Outcome = Entry | Fault | undefined

interface Queue {
  readonly waiting: Waiting[]
  isRunning: boolean
}
const queues = new WeakMap<Store, Queue>()

/** Books a payment together with others that wait. Undefined when it has to be made alone. */
export async function payTogether(
  ctx: Context,
  input: CreateInput,
  request: EntryRequest | undefined,
): Promise<Entry | undefined> {
  const { counterparty_alias: to, attachment } = input
  const iban = to.type === 'IBAN' && !attachment ? readIban(to.value) : undefined
  if (iban === undefined) return undefined
  const outcome = await new Promise<Outcome>((settle, fail) => {
    let queue = queues.get(ctx.store)
    if (!queue) queues.set(ctx.store, (queue = { waiting: [], isRunning: false }))
    queue.waiting.push({ ctx, input, iban, request, settle, fail })
    if (!queue.isRunning) void run(queue)
  })
  if (outcome instanceof Fault) throw outcome
  return outcome
}

async function run(queue: Queue): Promise<void> {
  queue.isRunning = true
  // Those that were sent at the same time have come by the next turn.
  await Promise.resolve()
  while (queue.waiting.length > 0) {
    const batch = queue.waiting.splice(0, TOGETHER_MAX)
    try {
      const outcomes = await batch[0]!.ctx.store.transaction((tx) => book(tx, batch))
      for (const [i, { settle }] of batch.entries()) settle(outcomes[i])
    } catch (error) {
      // Nobody tries again here: where a connection broke, the database may have committed after all.
      for (const { fail } of batch) fail(error)
    }
  }
  queue.isRunning = false
}

async function book(tx: Records, batch: readonly Waiting[]): Promise<Outcome[]> {
  const accounts = await accountsByAny(
    tx,
    batch.map(({ input }) => input.monetaryAccountId),
    batch.map(({ iban }) => iban),
  )
  const byId = new Map(accounts.map((account) => [account.id, account]))
  const idByIban = new Map(accounts.map(({ iban, id }) => [iban, id]))
  const requests = batch.flatMap(({ request }) => request ?? [])
  const before = await entriesOf(tx, requests)
  const drafts: Drafted[] = []
  const drafted = new Map<string, number>()
  const changed = new Set<number>()

  /** A number is the place of a draft. */
  async function decide({ ctx, input, iban, request }: Waiting): Promise<Outcome | number> {
    const done = request && before.get(request.key)
    if (done) return checkSame(done, request)
    const place = request && drafted.get(request.key)
    if (place !== undefined) return checkSameDraft(drafts[place]!, request!, place)
    const { userId, monetaryAccountId: accountId } = input
    const payer = await checkAccount(ctx, tx, byId.get(accountId), { userId, accountId })
    const payee = byId.get(idByIban.get(iban)!)
    if (!payee) return undefined
    const { entry, debit, credit } = draft(ctx, moveOf(ctx, payer, payee, input))
    for (const account of [debit, credit]) {
      byId.set(account.id, account)
      changed.add(account.id)
    }
    if (request) drafted.set(request.key, drafts.length)
    return drafts.push({ ctx, entry, request }) - 1
  }

  const decided: (Outcome | number)[] = []
  for (const waiting of batch) decided.push(await decide(waiting).catch(refusalOf))
  const entries = await addEntries(tx, drafts)
  await batch[0]!.ctx.events.announceAll(tx, entries.map(paymentEvent))
  for (const id of changed) await saveAccount(tx, byId.get(id)!)
  return decided.map((outcome) => (typeof outcome === 'number' ? entries[outcome] : outcome))
}

interface Drafted {
  readonly ctx: Context
  readonly entry: EntryDraft
  readonly request: EntryRequest | undefined
}

function checkSameDraft(
  { request: before }: Drafted,
  request: EntryRequest,
  place: number,
): number {
  if (before!.digest === request.digest) return place
  throw reused(request.key)
}

function refusalOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  throw error
}

const moveOf = (ctx: Context, payer: Account, payee: Account, order: CreateInput): Move => ({
  debit: payer,
  credit: payee,
  money: moneyOf(order.amount),
  reason: 'PAYMENT',
  details: {
    description: order.description,
    merchant_reference: order.merchant_reference,
    geolocation: readGeolocation(ctx),
  },
})
