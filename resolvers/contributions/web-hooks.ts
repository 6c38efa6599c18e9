// Web hooks: a notification, sent to the address that a subscription names, and signed.
//
// The signature is HMAC-SHA256, by the subscription's token, of the time in seconds, a dot and the
// body. A call that fails is repeated by the runner of steps, later and later; one that the operator
// does not allow is not.
import { createHmac } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { DELIVER_STEP, notifications, type Delivery, type Notification } from './notifications.ts'
import { contributions } from './records.ts'
import { subscriptionKey, subscriptions, tokenOf, type Subscription } from './subscriptions.ts'

/** Below what the runner of steps allows, so that a delivery ends as FAILED and not as parked. */
const ATTEMPTS_MAX = 6
const REASON_CHARS_MAX = 500

export const steps = { [DELIVER_STEP]: deliver }

async function deliver({ key }: { key: string }, ctx: Context): Promise<void> {
  const notification = await ctx.store.get(notifications, key)
  const delivery = notification?.delivery
  if (!notification || delivery?.status !== 'PENDING') return
  const { user, subscription: id } = notification
  const subscription = await ctx.store.get(subscriptions, subscriptionKey(user, id))
  const outcome = subscription
    ? await send(notification, delivery, subscription, ctx)
    : ({ status: 'REFUSED', reason: 'The subscription was deleted.' } as const)
  const attempts = delivery.attempts + 1
  const hasFailed = outcome.status === 'PENDING' && attempts >= ATTEMPTS_MAX
  const status = hasFailed ? 'FAILED' : outcome.status
  await ctx.store.save(notifications, {
    ...notification,
    delivery: { ...delivery, ...outcome, attempts, status },
  })
  if (status === 'PENDING') throw new Error(`${delivery.url} did not take ${notification.id}`)
}

type Outcome = Pick<Delivery, 'status' | 'httpStatus' | 'reason'>

async function send(
  notification: Notification,
  { url }: Delivery,
  subscription: Subscription,
  ctx: Context,
): Promise<Outcome> {
  const body = await bodyOf(notification, subscription, ctx)
  const time = String(Math.floor(ctx.wallClock.now().getTime() / 1000))
  const signature = createHmac('sha256', tokenOf(subscription, ctx))
    .update(`${time}.${body}`)
    .digest('hex')
  try {
    const { status } = await ctx.outbound.send({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/json',
        'x-notification-id': notification.id,
        'x-notification-time': time,
        'x-notification-signature': `sha256=${signature}`,
      },
      body,
    })
    const isTaken = status >= 200 && status < 300
    return { status: isTaken ? 'DELIVERED' : 'PENDING', httpStatus: status }
  } catch (error) {
    // The other side's failure is what the delivery is there to tell.
    if (error instanceof Fault) return { status: 'REFUSED', reason: error.message }
    return {
      status: 'PENDING',
      reason: String((error as Error).message).slice(0, REASON_CHARS_MAX),
    }
  }
}

async function bodyOf(
  { id, type, date, subject, html, contribution: about }: Notification,
  { id: subscription, includeBody }: Subscription,
  ctx: Context,
): Promise<string> {
  const found = await ctx.store.get(contributions, about)
  const contribution = {
    id: about,
    headline: found?.headline,
    ...(includeBody && { body: found?.body }),
    assignment: found?.assignment,
  }
  return JSON.stringify({ id, type, date, subscription, subject, html, contribution })
}
