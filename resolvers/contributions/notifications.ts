// Notifications: what subscribers are told, as a feed in the graph and as a preview. Specification 1,
// service S2.
//
// 1. Something that happened is announced in its own transaction. Work then finds who is to hear of
//    it, a page of subscribers in each transaction, so that a crash delays a notification and never
//    loses one.
// 2. A notification is made once for an event and a subscription, however often its step runs.
// 3. Nobody is told of what they could not see.
import { z } from 'zod'
import { NOBODY, type Context } from '../kernel/context.ts'
import type { Event } from '../kernel/events.ts'
import { load } from '../kernel/load.ts'
import { get, operation } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { maySee, personOf } from './access.ts'
import { showArtifacts } from './artifacts.ts'
import { readContribution } from './contribution-reads.ts'
import { invalidField } from './errors.ts'
import { isMessageType, messageOf, MESSAGE_TYPES, type MessageType } from './messages.ts'
import { assignments, contributions, mediaFiles, type Contribution } from './records.ts'
import { id } from './shapes.ts'
import {
  interestPrefix,
  interests,
  subscriptionKey,
  subscriptions,
  type Subscription,
} from './subscriptions.ts'

const SUBSCRIBERS_AT_ONCE = 100
const KEPT_MS = 30 * 24 * 60 * 60_000
const SWEPT_MAX = 1_000
const NOTIFY_STEP = 'notifySubscribers'
export const DELIVER_STEP = 'deliverNotification'

export interface Notification {
  readonly id: string
  readonly user: string
  readonly subscription: string
  readonly type: MessageType
  readonly contribution: string
  readonly date: string
  readonly subject: string
  readonly html: string
  readonly delivery?: Delivery | undefined
}

/** A notification on its way to a web hook. */
export interface Delivery {
  readonly url: string
  /** REFUSED by the operator, who allows no calls to that host; FAILED by the other side. */
  readonly status: 'PENDING' | 'DELIVERED' | 'REFUSED' | 'FAILED'
  readonly attempts: number
  readonly httpStatus?: number | undefined
  readonly reason?: string | undefined
}

export const notifications = kind<Notification>('notification', {
  key: ({ user, id }) => `${user}/${id}`,
  columns: { date: textOf(({ date }) => date) },
  indexes: [['date']],
})
export const kinds = [notifications]

export const operations = [
  operation({
    name: 'contributionNotificationPreview',
    rest: get('/notifications/contributions/{id}/preview', {
      answer: z.object({ email: z.string().optional(), subject: z.string(), html: z.string() }),
    }),
    refuses: { 404: 'There is no such contribution.' },
    input: { id, message: id },
    run: preview,
  }),
  operation({
    name: 'contributionNotifications',
    input: paging,
    run: async (page, ctx) =>
      connect(ctx, notifications, { ...page, prefix: `${personOf(ctx)}/`, descending: true }),
  }),
]

export const listeners = Object.fromEntries(
  Object.keys(MESSAGE_TYPES).map((type) => [
    `contributions.${type}`,
    (event: Event, ctx: Context) => begin(type as MessageType, event, ctx),
  ]),
)

export const steps = { [NOTIFY_STEP]: notifySubscribers }

export const fields = {
  ContributionNotification: {
    contribution: async ({ contribution }: Notification, _args: unknown, ctx: Context) => {
      const found = await load(ctx, contributions, contribution)
      return maySee(found, ctx) ? found : null
    },
  },
}

/** What the caller would be told, as if all of it were asked for. */
async function preview({ id, message }: { id: string; message: string }, ctx: Context) {
  const contribution = await readContribution({ id }, ctx)
  if (!isMessageType(message)) {
    throw invalidField('message', `must be one of ${Object.keys(MESSAGE_TYPES).join(', ')}`)
  }
  const { items } = await ctx.store.list(subscriptions, {
    prefix: `${personOf(ctx)}/`,
    limit: SUBSCRIBERS_AT_ONCE,
  })
  const email = items.find(
    (one) => one.email !== undefined && concerns(one, message, contribution),
  )?.email
  const shown = await tell(
    ctx.store,
    message,
    contribution,
    { address: ctx.address, includeBody: true, includeThumbnail: true },
    ctx,
  )
  return { ...(email !== undefined && { email }), ...shown }
}

const concerns = (
  { types, assignment }: Subscription,
  type: MessageType,
  contribution: Contribution,
): boolean =>
  types.includes(type) && (assignment === undefined || assignment === contribution.assignment)

async function tell(
  from: Records,
  type: MessageType,
  contribution: Contribution,
  {
    includeBody,
    includeThumbnail,
    address,
  }: Pick<Subscription, 'includeBody' | 'includeThumbnail' | 'address'>,
  ctx: Context,
) {
  const assignment =
    contribution.assignment === undefined
      ? undefined
      : await from.get(assignments, contribution.assignment)
  const [first] = includeThumbnail
    ? await from.getMany(mediaFiles, contribution.media.slice(0, 1))
    : []
  const artifacts = first ? showArtifacts(first, { ...ctx, address }) : []
  const thumbnail = artifacts.find(({ label }) => label === 'thumbnail')?.url
  return messageOf(type, { contribution, assignment, includeBody, thumbnail })
}

interface Round {
  readonly type: MessageType
  readonly event: string
  readonly date: string
  readonly contribution: string
  readonly prefix: string
  readonly after?: string
}

/** One round goes to those who want to hear of every assignment, one to those of this one. */
async function begin(type: MessageType, { id: event, time, subject }: Event, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, subject)
    if (!contribution) return
    const { assignment } = contribution
    const prefixes = [
      interestPrefix(type, undefined),
      ...(assignment === undefined ? [] : [interestPrefix(type, assignment)]),
    ]
    for (const prefix of prefixes) {
      const round: Round = { type, event, date: time, contribution: subject, prefix }
      await ctx.work.later(tx, 0, NOTIFY_STEP, round)
    }
  })
}

async function notifySubscribers(round: Round, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, round.contribution)
    if (!contribution || contribution.removed !== undefined) return
    const { items, next } = await tx.list(interests, {
      prefix: round.prefix,
      after: round.after,
      limit: SUBSCRIBERS_AT_ONCE,
    })
    const keys = items.map(({ user, subscription }) => subscriptionKey(user, subscription))
    for (const subscription of await tx.getMany(subscriptions, keys)) {
      if (subscription) await notify(tx, round, contribution, subscription, ctx)
    }
    if (next !== undefined) await ctx.work.later(tx, 0, NOTIFY_STEP, { ...round, after: next })
  })
}

async function notify(
  tx: Records,
  { type, event, date }: Round,
  contribution: Contribution,
  subscription: Subscription,
  ctx: Context,
): Promise<void> {
  const { user, url } = subscription
  const reader: Context = { ...ctx, caller: { ...NOBODY, kind: 'user', userId: user } }
  if (!maySee(contribution, reader)) return
  const notification: Notification = {
    id: `${event}.${subscription.id}`,
    user,
    subscription: subscription.id,
    type,
    contribution: contribution.id,
    date,
    ...(await tell(tx, type, contribution, subscription, ctx)),
    ...(url !== undefined && { delivery: { url, status: 'PENDING', attempts: 0 } }),
  }
  if (!(await tx.insert(notifications, notification)) || url === undefined) return
  await ctx.work.later(tx, 0, DELIVER_STEP, { key: notifications.key(notification) })
}

/** Forgets notifications that are older than anyone reads. */
export async function sweepNotifications(ctx: Context): Promise<void> {
  const below = new Date(ctx.clock.now().getTime() - KEPT_MS).toISOString()
  await ctx.store.removeMany(notifications, { order: 'date', below, limit: SWEPT_MAX })
}
