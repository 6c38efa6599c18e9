// What the graph joins on: accounts, payments, tabs and fundraisers, and the people they belong to.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect, type Paging } from '../kernel/paging.ts'
import { accountsOfOwner, loadOwnAccount, type AccountView } from './accounts.ts'
import { fundraisers, viewProfile, type ProfileView } from './fundraisers.ts'
import { viewPage } from './pages.ts'
import { loadEntry, paymentsOf, sideOf, viewPayment, type PaymentView } from './payment-views.ts'
import { pendingOf } from './pending-payments.ts'
import { tabs, viewTab, type TabView } from './tabs.ts'
import { bankUsers } from './users.ts'

interface Reference {
  readonly id: string
}

const NUMBER = /^[1-9]\d{0,15}$/
const numberOf = (id: string): number | undefined => (NUMBER.test(id) ? Number(id) : undefined)

export const entities = {
  async MonetaryAccount({ id }: Reference, ctx: Context) {
    const number = numberOf(id)
    return (number && (await loadOwnAccount(ctx, number))) ?? null
  },

  async Payment({ id }: Reference, ctx: Context) {
    const number = numberOf(id)
    const entry = number && (await loadEntry(ctx, number))
    if (!number || !entry) return null
    const side = sideOf(number)
    return (await loadOwnAccount(ctx, entry[side])) ? viewPayment(entry, side) : null
  },

  async PaymentRequestTab({ id }: Reference, ctx: Context) {
    const tab = NUMBER.test(id) ? await load(ctx, tabs, id) : undefined
    return tab?.owner === ctx.caller.userId ? viewTab(ctx, tab) : null
  },

  async FundraiserProfile({ id }: Reference, ctx: Context) {
    const found = NUMBER.test(id) ? await load(ctx, fundraisers, id) : undefined
    return found?.owner === ctx.caller.userId ? viewProfile(ctx, found) : null
  },

  User: ({ id }: Reference, { caller }: Context) =>
    caller.kind === 'user' && caller.userId === id ? { id } : null,
}

const newestFirst = { order: 'id', descending: true }

export const fields = {
  User: {
    bankUsers: ({ id }: Reference, { first, after }: Paging, ctx: Context) =>
      connect(ctx, bankUsers, { first, after, where: { owner: id }, ...newestFirst }),
    monetaryAccounts: ({ id }: Reference, { first, after }: Paging, ctx: Context) =>
      accountsOfOwner(ctx, id, { first, after }),
    async paymentRequestTabs({ id }: Reference, { first, after }: Paging, ctx: Context) {
      const page = await connect(ctx, tabs, { first, after, where: { owner: id }, ...newestFirst })
      return viewPage(page, (tab) => viewTab(ctx, tab))
    },
    async fundraiserProfiles({ id }: Reference, { first, after }: Paging, ctx: Context) {
      const page = await connect(ctx, fundraisers, {
        first,
        after,
        where: { owner: id },
        ...newestFirst,
      })
      return viewPage(page, (found) => viewProfile(ctx, found))
    },
  },
  MonetaryAccount: {
    owner: ({ owner_id }: AccountView) => personOf(owner_id),
    payments: ({ id }: AccountView, { first, after }: Paging, ctx: Context) =>
      paymentsOf(ctx, id, { first, after }),
    pendingPayments: ({ id }: AccountView, { first, after }: Paging, ctx: Context) =>
      pendingOf(ctx, id, { first, after }),
  },
  Payment: {
    monetaryAccount: ({ monetary_account_id }: PaymentView, _: unknown, ctx: Context) =>
      loadOwnAccount(ctx, monetary_account_id),
    /** Who paid, where they are known to identity: of one's own payments alone. */
    async payer(payment: PaymentView, _: unknown, ctx: Context) {
      if (sideOf(payment.id) !== 'debit') return null
      const account = await loadOwnAccount(ctx, payment.monetary_account_id)
      return account ? personOf(account.owner_id) : null
    },
  },
  PaymentRequestTab: {
    owner: ({ owner_id }: TabView) => personOf(owner_id),
    monetaryAccount: ({ monetary_account_id }: TabView, _: unknown, ctx: Context) =>
      loadOwnAccount(ctx, monetary_account_id),
  },
  FundraiserProfile: {
    owner: ({ owner_id }: ProfileView) => personOf(owner_id),
    monetaryAccount: ({ monetary_account_id }: ProfileView, _: unknown, ctx: Context) =>
      loadOwnAccount(ctx, monetary_account_id),
  },
}

/** Someone of the sandbox alone is nobody to identity. */
export const personOf = (owner: string): Reference | null =>
  owner.startsWith('sandbox-') ? null : { id: owner }
