// Something to look at: a person with money, a fundraiser that was given to, a tab that was paid.
import type { Context } from '../kernel/context.ts'
import { demoCard, demoClient } from './demo-card.ts'
import { fundraisers, updateFundraiser } from './fundraisers.ts'
import { createPayment } from './payments.ts'
import { fund, register } from './registration.ts'
import { createTab } from './tabs.ts'
import type { SentPointer } from './shapes.ts'
import type { BankUser } from './users.ts'

const FRIENDS = [
  { first_name: 'Grace', last_name: 'Hopper' },
  { first_name: 'Alan', last_name: 'Turing' },
]

export async function demo(ctx: Context): Promise<Record<string, string>> {
  const people = [{ first_name: 'Ada', last_name: 'Lovelace' }, ...FRIENDS]
  const [ada, ...friends] = await ctx.store.transaction(async (tx) => {
    const all = []
    for (const [i, names] of people.entries()) {
      const owner = i === 0 ? ctx.caller.userId : `sandbox-${ctx.newId()}`
      const made = await register(ctx, tx, { owner, kind: 'UserPerson', names })
      await fund(ctx, tx, made.accountId)
      all.push(made)
    }
    return all
  })
  const { user, accountId, fundraiserId } = ada!
  const own = { userId: user.id, monetaryAccountId: accountId }
  await updateFundraiser(
    { userId: user.id, itemId: fundraiserId, description: 'Nests for the storks in town' },
    ctx,
  )
  const { uuid } = (await ctx.store.get(fundraisers, String(fundraiserId)))!
  for (const [i, friend] of friends.entries()) {
    await payFrom(ctx, friend, {
      to: pageAt(`${ctx.address}/f/${uuid}`),
      value: `${25 * (i + 1)}.00`,
      description: 'For the nests',
    })
  }
  const asked = await createTab(
    {
      userId: friends[0]!.user.id,
      monetaryAccountId: friends[0]!.accountId,
      vendorme_tab_entry: {
        amount_inquired: { value: '12.50', currency: 'EUR' },
        description: 'Lunch on Tuesday',
        redirect_url: undefined,
      },
    },
    as(ctx, friends[0]!),
  )
  const response = await payFrom(ctx, ada!, {
    to: pageAt(asked.vendorme_tab_share_url),
    value: '12.50',
    description: 'Lunch on Tuesday',
  })
  await createTab(
    {
      ...own,
      vendorme_tab_entry: {
        amount_inquired: { value: '40.00', currency: 'EUR' },
        description: 'Tickets for the exhibition',
        redirect_url: undefined,
      },
    },
    ctx,
  )
  return {
    userId: String(user.id),
    monetaryAccountId: String(accountId),
    fundraiserProfileId: String(fundraiserId),
    fundraiserResultId: String(fundraiserId),
    tabResultResponseId: String(response.id),
    ...(await demoCard(ctx, user, accountId)),
    ...(await demoClient(ctx, user.id)),
  }
}

const pageAt = (value: string): SentPointer => ({
  type: 'URL',
  value,
  name: undefined,
  service: undefined,
})

interface Registered {
  readonly user: BankUser
  readonly accountId: number
}

/** The context of someone else, who acts for themselves. */
const as = (ctx: Context, { user }: Registered): Context => ({
  ...ctx,
  caller: { ...ctx.caller, userId: user.owner },
})

const payFrom = (
  ctx: Context,
  payer: Registered,
  { to, value, description }: { to: SentPointer; value: string; description: string },
) =>
  createPayment(
    {
      userId: payer.user.id,
      monetaryAccountId: payer.accountId,
      amount: { value, currency: 'EUR' },
      counterparty_alias: to,
      description,
      attachment: undefined,
      merchant_reference: undefined,
      allow_vendorto: undefined,
    },
    as(ctx, payer),
  )
