// Payment-request tabs: a page where anyone with an account here pays an amount, once. Specification 2,
// service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post, put } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { loadLabel, needAccount } from './accounts.ts'
import { amount, amountShape, limitOf, moneyOf, type Amount } from './amounts.ts'
import { BadRequest, NoSuch, WrongState } from './errors.ts'
import type { Entry } from './ledger.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { listInput, listKind, showNodes, viewPage } from './pages.ts'
import { loadEntry, paymentIdOf, paymentShape, showPayment, viewPayment } from './payment-views.ts'
import {
  ACCOUNT,
  accountLabelShape,
  description,
  idShape,
  idWrapperShape,
  itemId,
  moments,
  momentOf,
  ofAccount,
  onceHeaders,
  onceInput,
  readUrl,
  showId,
  showIdWrapper,
} from './shapes.ts'

/** Chosen: as captured answers show it. */
const LIFE_MS = 30 * 24 * 60 * 60_000
const TAB_URL = /\/t\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export interface Tab {
  readonly id: number
  readonly owner: string
  readonly user_id: number
  readonly monetary_account_id: number
  readonly created: string
  readonly updated: string
  readonly time_expiry: string
  readonly expiresMs: number
  readonly status: 'WAITING_FOR_PAYMENT' | 'PAID' | 'CANCELLED' | 'EXPIRED'
  readonly event_id: number | null
  readonly uuid: string
  readonly amount_inquired: Amount
  readonly description: string
  readonly redirect_url: string | null
  /** The entry in the ledger that paid it. */
  readonly entryId: number | null
}

export const tabs = kind<Tab>('tab', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    account: numberOf(({ monetary_account_id }) => monetary_account_id),
    owner: textOf(({ owner }) => owner),
    uuid: textOf(({ uuid }) => uuid),
  },
  indexes: [['account', 'id'], ['owner', 'id'], ['uuid']],
})
export const kinds = [tabs]

const entryInput = z.object({
  amount_inquired: amount,
  description: description.min(1),
  redirect_url: optional(text.max(2000)),
})
const entryChange = z.object({
  amount_inquired: optional(amount),
  description: optional(description.min(1)),
  redirect_url: optional(text.max(2000)),
})
type EntryChange = z.output<typeof entryChange>

const textOrNull = z.string().nullable()
const entryShape = z.object({
  uuid: z.string(),
  amount_inquired: amountShape,
  description: z.string(),
  redirect_url: textOrNull,
  alias: accountLabelShape,
  status: z.string(),
  merchant_available: z.array(z.unknown()),
  invite_profile_name: textOrNull,
})
const tabShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  time_expiry: z.string(),
  monetary_account_id: z.int(),
  status: z.string(),
  type: z.string(),
  alias_monetary_account: accountLabelShape,
  vendorme_tab_share_url: z.string(),
  vendorme_tab_entry: entryShape,
  vendorme_tab_entries: z.array(entryShape),
  result_inquiries: z.array(z.object({ payment: paymentShape, vendor_me_tab_id: z.int() })),
})

const MANY = `${ACCOUNT}/vendorme-tab`
const ONE = `${MANY}/{itemId}`

export const operations = [
  operation({
    name: 'createPaymentRequestTab',
    rest: post(MANY, { show: showId, answer: idShape, headers: onceHeaders }),
    input: {
      ...ofAccount,
      vendorme_tab_entry: entryInput,
      status: optional(text.max(40)),
      event_id: optional(whole),
      ...onceInput,
    },
    run: createTab,
  }),
  operation({
    name: 'paymentRequestTabs',
    rest: get(MANY, {
      show: (page) => (showNodes(page) as TabView[]).map(showTab),
      answer: z.array(tabShape),
    }),
    input: { ...ofAccount, ...listInput },
    async run({ userId, monetaryAccountId, ...input }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      const page = await listKind(ctx, tabs, { account: monetaryAccountId }, input)
      return viewPage(page, (tab) => viewTab(ctx, tab))
    },
  }),
  operation({
    name: 'updatePaymentRequestTab',
    rest: put(ONE, { show: showIdWrapper, answer: idWrapperShape }),
    input: {
      ...ofAccount,
      itemId,
      // Clients cancel without an entry, though the document marks it as required.
      vendorme_tab_entry: optional(entryChange),
      status: optional(text.max(40)),
      event_id: optional(whole),
    },
    run: updateTab,
  }),
  operation({
    name: 'paymentRequestTab',
    rest: get(ONE, { show: showTab, answer: tabShape }),
    input: { ...ofAccount, itemId },
    async run({ userId, monetaryAccountId, itemId }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return viewTab(ctx, await needTab(ctx.store, monetaryAccountId, itemId))
    },
  }),
]

export const steps = { 'expire tab': expireTab }

export const fields = {
  PaymentRequestTab: moments('created', 'updated', 'time_expiry'),
}

async function needTab(from: Records, accountId: number, id: number): Promise<Tab> {
  const tab = await from.get(tabs, String(id))
  if (tab?.monetary_account_id !== accountId) throw NoSuch('tab', id)
  return tab
}

export async function viewTab(ctx: Context, tab: Tab) {
  const alias = await loadLabel(ctx, tab.monetary_account_id)
  const paid =
    tab.entryId === null ? undefined : await loadEntry(ctx, paymentIdOf(tab.entryId, 'credit'))
  const entry = {
    uuid: tab.uuid,
    amount_inquired: tab.amount_inquired,
    description: tab.description,
    redirect_url: tab.redirect_url,
    alias,
    status: tab.status,
    merchant_available: [],
    invite_profile_name: alias.display_name,
  }
  return {
    id: tab.id,
    owner_id: tab.owner,
    created: tab.created,
    updated: tab.updated,
    time_expiry: tab.time_expiry,
    monetary_account_id: tab.monetary_account_id,
    status: tab.status,
    type: 'VENDOR_ME',
    event_id: tab.event_id,
    alias_monetary_account: alias,
    vendorme_tab_share_url: shareUrl(ctx, tab),
    vendorme_tab_entry: entry,
    vendorme_tab_entries: [entry],
    result_inquiries: paid
      ? [{ payment: viewPayment(paid, 'credit'), vendor_me_tab_id: tab.id }]
      : [],
  }
}
export type TabView = Awaited<ReturnType<typeof viewTab>>

export const shareUrl = ({ address }: Context, { uuid }: Tab): string => `${address}/t/${uuid}`

function showTab({ owner_id: _, event_id: __, result_inquiries, ...tab }: TabView) {
  const shown = result_inquiries.map(({ payment, ...rest }) => ({
    payment: showPayment(payment),
    ...rest,
  }))
  return { ...tab, result_inquiries: shown }
}

type CreateInput = {
  userId: number
  monetaryAccountId: number
  vendorme_tab_entry: z.output<typeof entryInput>
  event_id?: number | undefined
}

export async function createTab(input: CreateInput, ctx: Context): Promise<TabView> {
  const { userId, monetaryAccountId, vendorme_tab_entry: entry } = input
  const tab = await ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createPaymentRequestTab', input },
      {
        async make() {
          const account = await needAccount(ctx, userId, monetaryAccountId, tx)
          if (account.status !== 'ACTIVE')
            throw WrongState(`The account ${account.iban} is closed.`)
          const now = ctx.clock.now().getTime()
          const made: Tab = {
            id: await nextId(tx, 'tab'),
            owner: account.owner,
            user_id: userId,
            monetary_account_id: monetaryAccountId,
            created: momentOf(now),
            updated: momentOf(now),
            time_expiry: momentOf(now + LIFE_MS),
            expiresMs: now + LIFE_MS,
            status: 'WAITING_FOR_PAYMENT',
            event_id: input.event_id ?? null,
            uuid: ctx.newId(),
            amount_inquired: inquired(entry.amount_inquired, account.currency),
            description: entry.description,
            redirect_url: redirectOf(entry.redirect_url),
            entryId: null,
          }
          await tx.insert(tabs, made)
          await ctx.work.later(tx, LIFE_MS, 'expire tab', { id: made.id })
          await announce(ctx, tx, made, 'created')
          return made
        },
        recall: (id) => needTab(tx, monetaryAccountId, id),
      },
    ),
  )
  return viewTab(ctx, tab)
}

function inquired(sent: Amount, currency: string): Amount {
  const money = moneyOf(sent, 'vendorme_tab_entry.amount_inquired')
  if (money.currency !== currency) {
    throw BadRequest(`vendorme_tab_entry.amount_inquired.currency must be ${currency}.`)
  }
  return sent
}

const redirectOf = (sent: string | undefined): string | null =>
  sent === undefined ? null : readUrl(sent, 'vendorme_tab_entry.redirect_url')

const announce = (ctx: Context, tx: Records, tab: Tab, happened: string) =>
  ctx.events.announce(tx, {
    type: `banking.tab.${happened}`,
    subject: String(tab.id),
    body: { monetary_account_id: tab.monetary_account_id, status: tab.status },
  })

type UpdateInput = {
  userId: number
  monetaryAccountId: number
  itemId: number
  vendorme_tab_entry?: EntryChange | undefined
  status?: string | undefined
  event_id?: number | undefined
}

async function updateTab(input: UpdateInput, ctx: Context): Promise<TabView> {
  const { userId, monetaryAccountId, itemId, vendorme_tab_entry: entry, status, event_id } = input
  if (entry === undefined && status === undefined && event_id === undefined) {
    throw BadRequest('vendorme_tab_entry is required.')
  }
  if (status !== undefined && status !== 'CANCELLED' && status !== 'WAITING_FOR_PAYMENT') {
    throw BadRequest('status can be set to CANCELLED alone.')
  }
  const tab = await ctx.store.transaction(async (tx) => {
    const account = await needAccount(ctx, userId, monetaryAccountId, tx)
    const before = await needTab(tx, monetaryAccountId, itemId)
    checkWaiting(ctx, before)
    const after: Tab = {
      ...before,
      ...(entry?.amount_inquired && {
        amount_inquired: inquired(entry.amount_inquired, account.currency),
      }),
      ...(entry?.description !== undefined && { description: entry.description }),
      ...(entry?.redirect_url !== undefined && { redirect_url: redirectOf(entry.redirect_url) }),
      ...(event_id !== undefined && { event_id }),
      ...(status === 'CANCELLED' && { status }),
      updated: momentOf(ctx.clock.now()),
    }
    await tx.save(tabs, after)
    await announce(ctx, tx, after, after.status === 'CANCELLED' ? 'cancelled' : 'changed')
    return after
  })
  return viewTab(ctx, tab)
}

/** Refuses what asks for a tab that waits for its payment, also when its end has not been written yet. */
function checkWaiting({ clock }: Context, { status, expiresMs }: Tab): void {
  const isOver = status === 'WAITING_FOR_PAYMENT' && clock.now().getTime() >= expiresMs
  if (status === 'WAITING_FOR_PAYMENT' && !isOver) return
  throw WrongState(`This tab is ${(isOver ? 'EXPIRED' : status).toLowerCase()}.`)
}

async function expireTab({ id }: { id: number }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const tab = await tx.get(tabs, String(id))
    if (tab?.status !== 'WAITING_FOR_PAYMENT') return
    const expired: Tab = { ...tab, status: 'EXPIRED', updated: momentOf(ctx.clock.now()) }
    await tx.save(tabs, expired)
    await announce(ctx, tx, expired, 'expired')
  })
}

/** The tab that a page of ours shows, by the address of the page. */
export async function tabByUrl(from: Records, url: string): Promise<Tab | undefined> {
  const uuid = TAB_URL.exec(url)?.[1]
  return uuid === undefined ? undefined : tabByUuid(from, uuid)
}

export async function tabByUuid(from: Records, uuid: string): Promise<Tab | undefined> {
  const { items } = await from.list(tabs, { where: { uuid }, limit: 1 })
  return items[0]
}

/** Marks a tab as paid by an entry, which must be of its amount. */
export async function payTab(ctx: Context, tx: Records, tab: Tab, entry: Entry): Promise<void> {
  checkWaiting(ctx, tab)
  const { minor, currency } = limitOf(tab.amount_inquired, 'amount_inquired')
  if (entry.amount !== minor || entry.currency !== currency) {
    throw BadRequest(`This tab asks for ${tab.amount_inquired.value} ${currency}, no other amount.`)
  }
  const paid: Tab = {
    ...tab,
    status: 'PAID',
    entryId: entry.id,
    updated: momentOf(ctx.clock.now()),
  }
  await tx.save(tabs, paid)
  await announce(ctx, tx, paid, 'paid')
}
