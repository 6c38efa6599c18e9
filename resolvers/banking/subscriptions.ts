// Billing contract subscriptions: on which terms a user has accounts here. Specification 2, service B.
//
// Chosen: every user begins with the terms that cost nothing, since no operation of the interface makes a
// contract, and keeps them.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { nextId } from './numbers.ts'
import { listInput, listKind, showNodes, viewPage } from './pages.ts'
import { dayOf, momentOf, moments, ofUser, USER } from './shapes.ts'
import { needUser, type BankUser } from './users.ts'

const CONTRACT_VERSION = 1

interface Subscription {
  readonly id: number
  readonly user_id: number
  readonly created: string
  readonly updated: string
  readonly contract_date_start: string
  readonly contract_date_end: string | null
  readonly contract_version: number
  readonly subscription_type: 'PERSON_FREE_V1' | 'COMPANY_V1'
  readonly subscription_type_downgrade: string | null
  readonly status: 'ACTIVE'
  readonly sub_status: 'NONE'
}

const subscriptions = kind<Subscription>('billing_subscription', {
  key: ({ id }) => String(id),
  columns: { user: numberOf(({ user_id }) => user_id), id: numberOf(({ id }) => id) },
  indexes: [['user', 'id']],
})
export const kinds = [subscriptions]

export const operations = [
  operation({
    name: 'billingContractSubscriptions',
    rest: get(`${USER}/billing-contract-subscription`, {
      show: showNodes,
      answer: z.array(
        z.object({
          id: z.int(),
          created: z.string(),
          updated: z.string(),
          contract_date_start: z.string(),
          contract_date_end: z.string().nullable(),
          contract_version: z.int(),
          subscription_type: z.string(),
          subscription_type_downgrade: z.string().nullable(),
          status: z.string(),
          sub_status: z.string(),
        }),
      ),
    }),
    input: { ...ofUser, ...listInput },
    async run({ userId, ...input }, ctx) {
      await needUser(ctx, userId)
      const page = await listKind(ctx, subscriptions, { user: userId }, input)
      return viewPage(page, async ({ user_id: _, ...shown }) => shown)
    },
  }),
]

export const fields = { BillingContractSubscription: moments('created', 'updated') }

/** Gives a user the contract that every user begins with. */
export async function addSubscription(ctx: Context, tx: Records, user: BankUser): Promise<void> {
  const now = ctx.clock.now()
  const id = await nextId(tx, 'billing-subscription')
  const subscription_type = user.kind === 'UserPerson' ? 'PERSON_FREE_V1' : 'COMPANY_V1'
  await tx.insert(subscriptions, {
    id,
    user_id: user.id,
    created: momentOf(now),
    updated: momentOf(now),
    contract_date_start: dayOf(now),
    contract_date_end: null,
    contract_version: CONTRACT_VERSION,
    subscription_type,
    subscription_type_downgrade: null,
    status: 'ACTIVE',
    sub_status: 'NONE',
  })
  await ctx.events.announce(tx, {
    type: 'banking.billing-subscription.created',
    subject: String(id),
    body: { user_id: user.id, subscription_type },
  })
}
