// Random operations of the bank from a seed, many at a time, with all books checked after every batch.
//
// The seed decides what is asked and in which order. What is asked of may be refused, by a rule and in
// words; anything else that is thrown, and any violation, ends the run with its seed.
import { createHash } from 'node:crypto'
import { Fault } from '../../resolvers/kernel/fault.ts'
import { perform } from '../../resolvers/kernel/operation.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/banking.ts'
import { operationsOf } from '../../subgraphs/server/graphql.ts'
import { violations } from './bank.ts'
import type { Ledger, TestAccount } from './ledger.ts'

const ACCOUNTS = 12
const CENTS = 5_000
const BATCH_MAX = 48
const REMEMBERED_MAX = 200
const HOUR_MS = 60 * 60_000
const FULL_CHECK_EVERY = 40
const RESTART_EVERY = 60
const PIN = '1234'
const WRONG_PIN = '0000'

export interface RandomRun {
  readonly seed: number
  readonly operations: number
  /** Opens the bank on what it kept. */
  readonly open: () => Promise<{ ledger: Ledger; store: Store }>
}

export interface RandomOutcome {
  readonly done: number
  readonly refused: number
  readonly entries: number
  /** Of all balances and entries: the same for the same seed, where the engine keeps an order. */
  readonly digest: string
}

const byName = new Map(operationsOf(subgraph).map((operation) => [operation.name, operation]))

/** Pseudo-random whole numbers below a limit: the same for the same seed. */
export function generator(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

export async function runRandomly(run: RandomRun): Promise<RandomOutcome> {
  let { ledger, store } = await run.open()
  const random = generator(run.seed)
  const world = new World(random, await ledger.accounts(ACCOUNTS, CENTS))
  const fold = new Map<number, number>()
  let lastEntry = 0
  let done = 0
  let refused = 0
  let asked = 0
  let passedMs = 0
  const pass = async (ms: number) => {
    passedMs += ms
    await ledger.advance(ms)
  }
  const fail = (what: unknown) =>
    new Error(`seed ${run.seed}, after ${asked} operations: ${String(what)}`, { cause: what })

  for (let batch = 1; asked < run.operations; batch += 1) {
    const size = Math.min(1 + random(BATCH_MAX), run.operations - asked)
    const orders = Array.from({ length: size }, () => world.next())
    const outcomes = await Promise.allSettled(orders.map(({ name, input }) => ask(name, input)))
    asked += size
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.status === 'fulfilled') {
        done += 1
        const told = world.learn(orders[i]!, outcome.value)
        if (told !== undefined) throw fail(told)
      } else {
        refused += 1
        const { reason } = outcome
        if (!(reason instanceof Fault) || reason.status >= 500) throw fail(reason)
      }
    }
    if (random(8) === 0) await pass(random(12) * HOUR_MS)
    if (random(200) === 0) await pass(31 * 24 * HOUR_MS)
    await checkNew()
    if (batch % FULL_CHECK_EVERY === 0) await checkAll()
    if (batch % RESTART_EVERY === 0) {
      await ledger.close()
      ;({ ledger, store } = await run.open())
      await ledger.advance(passedMs)
    }
  }
  await checkAll()
  const digest = await digestOf(store)
  await ledger.close()
  return { done, refused, entries: lastEntry, digest }

  async function ask(name: string, input: object): Promise<any> {
    return perform(byName.get(name)!, input, ledger.request())
  }

  /** Follows the entries that are new, and holds the balances against them. */
  async function checkNew(): Promise<void> {
    const rows = await store.sql(
      'SELECT id, debit, credit, amount, debit_after, credit_after FROM entry WHERE id > ? ORDER BY id',
      [lastEntry],
    )
    for (const row of rows) {
      lastEntry = row.id
      fold.set(row.debit, (fold.get(row.debit) ?? 0) - row.amount)
      fold.set(row.credit, (fold.get(row.credit) ?? 0) + row.amount)
    }
    const accounts = await store.sql(
      'SELECT id, balance, held, overdraft_limit FROM account ORDER BY id',
    )
    for (const { id, balance, held, overdraft_limit } of accounts) {
      if (balance !== (fold.get(id) ?? 0)) {
        throw fail(`account ${id} has ${balance}, and its entries add up to ${fold.get(id)}`)
      }
      if (overdraft_limit !== null && balance - held < -overdraft_limit) {
        throw fail(`account ${id} has ${balance}, of which ${held} are held`)
      }
    }
  }

  async function checkAll(): Promise<void> {
    const found = await violations(store)
    if (found.length > 0) throw fail(found.join('; '))
  }
}

async function digestOf(store: Store): Promise<string> {
  const balances = await store.sql('SELECT id, balance, held FROM account ORDER BY id')
  const entries = await store.sql('SELECT id, debit, credit, amount, reason FROM entry ORDER BY id')
  return createHash('sha256')
    .update(JSON.stringify([balances, entries]))
    .digest('hex')
}

interface Order {
  readonly name: string
  readonly input: Record<string, any>
}

/** What a run knows, and what it asks next. */
class World {
  private readonly random: (below: number) => number
  private readonly accounts: readonly TestAccount[]
  private readonly known = {
    payments: [] as { of: TestAccount; id: number }[],
    tabs: [] as { of: TestAccount; id: number; url: string; value: string }[],
    pending: [] as { of: TestAccount; id: number }[],
    requests: [] as { from: TestAccount; to: TestAccount; id: number }[],
    cards: [] as { userId: number; id: number }[],
  }
  /** What was answered to a request id, which it must be answered always. */
  private readonly answered = new Map<string, { order: Order; id: number }>()
  private requestIds = 0

  constructor(random: (below: number) => number, accounts: readonly TestAccount[]) {
    this.random = random
    this.accounts = accounts
  }

  next(): Order {
    const weighed = this.random(100)
    if (weighed < 34) return this.payment()
    if (weighed < 42) return this.card()
    if (weighed < 48) return this.batch()
    if (weighed < 55) return this.reversal()
    if (weighed < 63) return this.newTab()
    if (weighed < 71) return this.tabPayment()
    if (weighed < 73) return this.cancelledTab()
    if (weighed < 80) return this.hold()
    if (weighed < 87) return this.endOfHold()
    if (weighed < 89) return this.funding()
    if (weighed < 92) return this.request()
    if (weighed < 96) return this.answer()
    if (weighed < 97) return this.schedule()
    if (weighed < 98) return this.donation()
    return this.again()
  }

  /** Remembers what was made. Returns what is wrong about it. */
  learn(order: Order, made: any): string | undefined {
    const { name, input } = order
    const of = this.accounts.find(({ id }) => id === input.monetaryAccountId)!
    const requestId = input['X-Vendor-Client-Request-Id']
    if (requestId !== undefined) {
      const before = this.answered.get(requestId)
      if (before && before.id !== made.id) return `${requestId} got ${before.id}, then ${made.id}`
      if (before) return undefined
      this.answered.set(requestId, { order, id: made.id })
    }
    if (name === 'createPayment') {
      const payee = this.accounts.find(({ iban }) => iban === made.counterparty_alias.iban)
      if (payee) keep(this.known.payments, { of: payee, id: made.id + 1 })
    }
    if (name === 'createPaymentRequestTab') {
      const { value } = made.vendorme_tab_entry.amount_inquired
      keep(this.known.tabs, { of, id: made.id, url: made.vendorme_tab_share_url, value })
    }
    if (name === 'createCard') keep(this.known.cards, { userId: input.userId, id: made.id })
    if (name === 'createPendingPayment') keep(this.known.pending, { of, id: made.id })
    if (name === 'createRequestInquiry' && made.status === 'PENDING') {
      const to = this.accounts.find(({ iban }) => iban === made.counterparty_alias.iban)!
      keep(this.known.requests, { from: of, to, id: made.id })
    }
    return undefined
  }

  private any<T>(list: readonly T[]): T | undefined {
    return list[this.random(list.length)]
  }
  private account(): TestAccount {
    return this.any(this.accounts)!
  }
  private of({ id, userId }: TestAccount) {
    return { userId, monetaryAccountId: id }
  }
  private value(): string {
    const cents = this.random(10) === 0 ? this.random(20_000) : this.random(1_500)
    return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
  }
  private amount() {
    const odd = this.random(60)
    if (odd === 0) return { value: `-${this.value()}`, currency: 'EUR' }
    if (odd === 1) return { value: '1.001', currency: 'EUR' }
    return { value: this.value(), currency: odd === 2 ? 'USD' : 'EUR' }
  }
  private requestId() {
    return { 'X-Vendor-Client-Request-Id': `request-${(this.requestIds += 1)}` }
  }
  private orderTo(to: object) {
    return { amount: this.amount(), counterparty_alias: to, description: 'At random' }
  }
  private anyone(): object {
    if (this.random(12) === 0) return { type: 'IBAN', value: 'DE89370400440532013000', name: 'Out' }
    return { type: 'IBAN', value: this.account().iban }
  }

  private payment(): Order {
    const input = {
      ...this.of(this.account()),
      ...this.orderTo(this.anyone()),
      ...this.requestId(),
    }
    return { name: 'createPayment', input }
  }
  /** One with the right PIN or a wrong one; a new card; or a new PIN for one that may be blocked. */
  private card(): Order {
    const found = this.any(this.known.cards)
    if (!found || this.random(40) === 0) return this.newCard()
    const card = { userId: found.userId, itemId: found.id }
    if (this.random(12) === 0) {
      return { name: 'updateCard', input: { ...card, status: 'ACTIVE', pin_code: PIN } }
    }
    const order = {
      amount: this.amount(),
      pin_code: this.random(10) === 0 ? WRONG_PIN : PIN,
      country: this.random(20) === 0 ? 'US' : 'NL',
      merchant: 'At random',
      place: this.random(4) === 0 ? 'ATM' : 'TILL',
    }
    return { name: 'payWithCard', input: { ...card, ...order, ...this.requestId() } }
  }
  private newCard(): Order {
    const { id, userId } = this.account()
    return {
      name: 'createCard',
      input: {
        userId,
        second_line: '',
        name_on_card: `Person ${userId}`,
        type: 'SCHEME_ONE',
        product_type: 'SCHEME_ONE_DEBIT',
        order_status: 'VIRTUAL_DELIVERY',
        pin_code_assignment: [{ type: 'PRIMARY', pin_code: PIN, monetary_account_id: id }],
        ...this.requestId(),
      },
    }
  }
  private batch(): Order {
    const payments = Array.from({ length: 1 + this.random(4) }, () => this.orderTo(this.anyone()))
    return {
      name: 'createPaymentBatch',
      input: { ...this.of(this.account()), payments, ...this.requestId() },
    }
  }
  private reversal(): Order {
    const found = this.any(this.known.payments)
    if (!found) return this.payment()
    return {
      name: 'reversePayment',
      input: { ...this.of(found.of), itemId: found.id, ...this.requestId() },
    }
  }
  private newTab(): Order {
    const entry = { amount_inquired: this.amount(), description: 'At random' }
    return {
      name: 'createPaymentRequestTab',
      input: { ...this.of(this.account()), vendorme_tab_entry: entry, ...this.requestId() },
    }
  }
  private tabPayment(): Order {
    const tab = this.any(this.known.tabs)
    if (!tab) return this.newTab()
    const order = {
      ...this.orderTo({ type: 'URL', value: tab.url }),
      amount: { value: tab.value, currency: 'EUR' },
    }
    return { name: 'createPayment', input: { ...this.of(this.account()), ...order } }
  }
  private cancelledTab(): Order {
    const tab = this.any(this.known.tabs)
    if (!tab) return this.newTab()
    return {
      name: 'updatePaymentRequestTab',
      input: { ...this.of(tab.of), itemId: tab.id, status: 'CANCELLED' },
    }
  }
  private hold(): Order {
    return {
      name: 'createPendingPayment',
      input: { ...this.of(this.account()), ...this.orderTo(this.anyone()), ...this.requestId() },
    }
  }
  private endOfHold(): Order {
    const found = this.any(this.known.pending)
    if (!found) return this.hold()
    const input = { ...this.of(found.of), itemId: found.id }
    if (this.random(2) === 0) return { name: 'cancelPendingPayment', input }
    const part = this.random(2) === 0 ? { amount: this.amount() } : {}
    return { name: 'completePendingPayment', input: { ...input, ...part } }
  }
  private asking(to: object, amount: object): Order {
    return {
      name: 'createRequestInquiry',
      input: {
        ...this.of(this.account()),
        amount_inquired: amount,
        counterparty_alias: to,
        description: 'At random',
        allow_vendorme: false,
        ...this.requestId(),
      },
    }
  }
  private request(): Order {
    return this.asking(this.anyone(), this.amount())
  }
  /** Money comes in as it goes out, so that most that is asked for can be paid. */
  private funding(): Order {
    const value = `${100 + this.random(400)}.00`
    return this.asking({ type: 'EMAIL', value: 'funds@bank.example' }, { value, currency: 'EUR' })
  }
  private answer(): Order {
    const found = this.any(this.known.requests)
    if (!found) return this.request()
    const dice = this.random(4)
    if (dice === 0) {
      return {
        name: 'updateRequestInquiry',
        input: { ...this.of(found.from), itemId: found.id, status: 'REVOKED' },
      }
    }
    return {
      name: 'updateRequestResponse',
      input: {
        ...this.of(found.to),
        itemId: found.id,
        status: dice === 1 ? 'REJECTED' : 'ACCEPTED',
      },
    }
  }
  private schedule(): Order {
    return {
      name: 'createSchedulePayment',
      input: {
        ...this.of(this.account()),
        payment: this.orderTo(this.anyone()),
        schedule: { time_start: '2090-01-01', recurrence_unit: 'ONCE' },
        ...this.requestId(),
      },
    }
  }
  private donation(): Order {
    const { uuid } = this.account()
    const order = this.orderTo({ type: 'URL', value: `http://polygraph.test/f/${uuid}` })
    return { name: 'createPayment', input: { ...this.of(this.account()), ...order } }
  }
  /** Something that was asked before, in the same words or in others. */
  private again(): Order {
    const found = this.any([...this.answered.values()].slice(-REMEMBERED_MAX))
    if (!found) return this.payment()
    const { name, input } = found.order
    const isOther = this.random(3) === 0
    return { name, input: isOther ? { ...input, description: 'In other words' } : input }
  }
}

function keep<T>(list: T[], item: T): void {
  list.push(item)
  if (list.length > REMEMBERED_MAX) list.shift()
}
