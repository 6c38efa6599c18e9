// Subscriptions: who wants to hear of what. Specification 1, service S2.
//
// The specification shows no way to make one, so that is of the graph alone. Chosen: a notification
// goes to the feed of its owner, and to a web hook where the subscription names one. An address for
// mail, or a channel of a chat, is kept for whoever sends those; this service sends neither.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, reply } from '../kernel/operation.ts'
import { connect } from '../kernel/paging.ts'
import { flag, optional, text } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'
import { FULL, personOf } from './access.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { listed, listPage, showEach } from './lists.ts'
import { isMessageType, MESSAGE_TYPES } from './messages.ts'
import { assignments } from './records.ts'
import { id, line, pages, webAddress } from './shapes.ts'

const OWNED_MAX = 100
const TOKEN_BYTES = 24
/** Stands for any assignment. */
const ANY = '*'

export interface Subscription {
  readonly id: string
  readonly user: string
  /** Sealed. It signs what is sent to the web hook. */
  readonly token: string
  readonly types: readonly string[]
  readonly includeBody: boolean
  readonly includeThumbnail: boolean
  readonly assignment?: string | undefined
  readonly email?: string | undefined
  readonly chatChannel?: string | undefined
  readonly url?: string | undefined
  /** Where its owner reaches this service, for links in what is sent. */
  readonly address: string
}

/** One type of a subscription, as those are found who are to hear of something. */
export interface Interest {
  readonly type: string
  readonly assignment?: string | undefined
  readonly user: string
  readonly subscription: string
}

export const subscriptions = kind<Subscription>('subscription', {
  key: ({ user, id }) => subscriptionKey(user, id),
})
export const interests = kind<Interest>('interest', {
  key: ({ type, assignment, user, subscription }) =>
    `${interestPrefix(type, assignment)}${user}/${subscription}`,
})
export const kinds = [subscriptions, interests]

export const subscriptionKey = (user: string, id: string): string => `${user}/${id}`
export const interestPrefix = (type: string, assignment: string | undefined): string =>
  `${type}/${assignment ?? ANY}/`

const words = z.string().optional()
const SUBSCRIPTION = z.object({
  id: z.string(),
  token: z.string(),
  user: z.string(),
  types: z.array(z.string()),
  includeBody: z.boolean(),
  includeThumbnail: z.boolean(),
  includeThumbenail: z.boolean(),
  assignment: words,
  email: words,
  chatChannel: words,
})

const submission = {
  types: z.array(text.max(100)).min(1).max(20),
  includeBody: flag,
  includeThumbnail: flag,
  assignment: optional(id),
  email: optional(z.email()),
  chatChannel: optional(line),
  url: optional(webAddress),
}
type Whole = z.output<z.ZodObject<typeof submission>>
type Submission = Partial<Whole> & Pick<Whole, 'types' | 'includeBody' | 'includeThumbnail'>

export const operations = [
  operation({
    name: 'contributionSubscriptions',
    // The specification lists a body here; nothing is read from it.
    rest: get('/subscriptions', {
      show: showEach(showSubscription),
      answer: z.array(SUBSCRIPTION),
    }),
    input: pages,
    run: async (page, ctx) =>
      listed(await listPage(ctx, subscriptions, { prefix: `${personOf(ctx)}/` }, page)),
  }),
  operation({
    name: 'deleteContributionSubscription',
    rest: del('/subscriptions/{id}'),
    refuses: { 404: 'There is no such subscription.' },
    needs: FULL,
    input: { id },
    run: deleteSubscription,
  }),
  operation({
    name: 'createContributionSubscription',
    needs: FULL,
    input: submission,
    run: createSubscription,
  }),
]

export const fields = {
  ContributionSubscription: {
    token: (subscription: Subscription, _args: unknown, ctx: Context) => tokenOf(subscription, ctx),
    user: ({ user }: Subscription) => ({ __typename: 'User', id: user }),
    assignment: ({ assignment }: Subscription) =>
      assignment === undefined ? null : { __typename: 'Assignment', id: assignment },
  },
  User: {
    subscriptions: ({ id }: { id: string }, args: any, ctx: Context) =>
      id === ctx.caller.userId ? connect(ctx, subscriptions, { ...args, prefix: `${id}/` }) : null,
  },
}

export const tokenOf = ({ token, id }: Subscription, { secrets }: Context): string =>
  secrets.open(token, `subscription ${id}`)

/** A subscription as REST shows it. The interface spells one member in two ways. */
function showSubscription(subscription: Subscription, ctx: Context) {
  const { url: _url, address: _address, ...shown } = subscription
  return {
    ...shown,
    token: tokenOf(subscription, ctx),
    includeThumbenail: subscription.includeThumbnail,
  }
}

export async function createSubscription(sent: Submission, ctx: Context): Promise<Subscription> {
  const user = personOf(ctx)
  const types = [...new Set(sent.types)]
  const unknown = types.find((type) => !isMessageType(type))
  if (unknown !== undefined) {
    throw invalidField(
      'types',
      `name ${unknown}; there are ${Object.keys(MESSAGE_TYPES).join(', ')}`,
    )
  }
  const subscriptionId = ctx.newId()
  const token = randomBytes(TOKEN_BYTES).toString('base64url')
  const subscription: Subscription = {
    ...sent,
    id: subscriptionId,
    user,
    types,
    token: ctx.secrets.seal(token, `subscription ${subscriptionId}`),
    address: ctx.address,
  }
  return ctx.store.transaction(async (tx) => {
    const { assignment } = subscription
    if (assignment !== undefined && !(await tx.get(assignments, assignment))) {
      throw invalidField('assignment', `is ${assignment}, which is no assignment`)
    }
    if ((await tx.count(subscriptions, { prefix: `${user}/` })) >= OWNED_MAX) {
      throw invalidField(
        'types',
        `are of one too many: a person has at most ${OWNED_MAX} subscriptions`,
      )
    }
    await meet(tx, ctx)
    await tx.insert(subscriptions, subscription)
    for (const interest of interestsOf(subscription)) await tx.insert(interests, interest)
    await ctx.events.announce(tx, {
      type: 'contributions.subscription.created',
      subject: subscriptionId,
      body: { id: subscriptionId, user },
    })
    return subscription
  })
}

const interestsOf = ({ id, user, types, assignment }: Subscription): Interest[] =>
  types.map((type) => ({ type, assignment, user, subscription: id }))

async function deleteSubscription({ id }: { id: string }, ctx: Context) {
  const user = personOf(ctx)
  await ctx.store.transaction(async (tx) => {
    const subscription = await tx.get(subscriptions, subscriptionKey(user, id))
    if (!subscription) throw missing('subscription', id)
    await tx.remove(subscriptions, subscriptionKey(user, id))
    for (const interest of interestsOf(subscription)) {
      await tx.remove(interests, interests.key(interest))
    }
    await ctx.events.announce(tx, {
      type: 'contributions.subscription.deleted',
      subject: id,
      body: { id, user },
    })
  })
  return reply(200)
}
