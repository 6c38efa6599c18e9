// Subscriptions: addresses that are called with the events of a destination. Of the graph alone.
import { z } from 'zod'
import { epochSecondsOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { operation, reply } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import type { Subscription } from './configuration-sets.ts'
import { BadRequest, LimitExceeded, NotFound } from './errors.ts'
import { change } from './event-destinations.ts'
import { DELIVER_STEP, voiceEvents, type Delivery, type VoiceEvent } from './events.ts'

const SUBSCRIPTIONS_MAX = 5
const URL_LENGTH_MAX = 2048
/** Below what the runner of steps allows, so that a delivery ends as FAILED and not as parked. */
const ATTEMPTS_MAX = 6

const destination = { ConfigurationSetName: text, EventDestinationName: text }

export const operations = [
  operation({
    name: 'subscribeToVoiceEventDestination',
    input: { ...destination, Url: text.max(URL_LENGTH_MAX) },
    needs: 'sms-voice:UpdateConfigurationSetEventDestination',
    async run({ Url, ...named }, ctx) {
      const subscription: Subscription = {
        SubscriptionId: ctx.newId(),
        Url: readUrl(Url),
        CreatedTime: ctx.clock.now().toISOString(),
      }
      await change(named, ctx, (found) => {
        if (found.Subscriptions.length >= SUBSCRIPTIONS_MAX) {
          throw LimitExceeded(`A destination has at most ${SUBSCRIPTIONS_MAX} subscriptions.`)
        }
        return { ...found, Subscriptions: [...found.Subscriptions, subscription] }
      })
      return subscription
    },
  }),
  operation({
    name: 'unsubscribeFromVoiceEventDestination',
    input: { ...destination, SubscriptionId: z.guid() },
    needs: 'sms-voice:UpdateConfigurationSetEventDestination',
    async run({ SubscriptionId, ...named }, ctx) {
      await change(named, ctx, (found) => {
        const Subscriptions = found.Subscriptions.filter(
          (subscription) => subscription.SubscriptionId !== SubscriptionId,
        )
        if (Subscriptions.length < found.Subscriptions.length) return { ...found, Subscriptions }
        throw NotFound(`There is no subscription ${SubscriptionId}.`)
      })
      return reply(200)
    },
  }),
]

export const steps = { [DELIVER_STEP]: deliver }

function readUrl(sent: string): string {
  const url = URL.parse(sent)
  const isFitting = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (isFitting) return url.href
  throw BadRequest('Url must be an http or https address without a user name.')
}

/**
 * Calls one subscriber with one event. A call that fails is repeated by the runner of steps, later
 * and later; one that the operator does not allow is not.
 */
async function deliver(
  { Key, SubscriptionId }: { Key: string; SubscriptionId: string },
  ctx: Context,
): Promise<void> {
  const event = await ctx.store.get(voiceEvents, Key)
  const delivery = event?.Deliveries.find((one) => one.SubscriptionId === SubscriptionId)
  if (!event || delivery?.Status !== 'PENDING') return
  const outcome = await send(event, delivery, ctx)
  const Attempts = delivery.Attempts + 1
  const hasEnded = outcome.Status !== 'PENDING' || Attempts >= ATTEMPTS_MAX
  await note(ctx, Key, {
    ...delivery,
    ...outcome,
    Attempts,
    Status: hasEnded && outcome.Status === 'PENDING' ? 'FAILED' : outcome.Status,
  })
  if (!hasEnded) throw new Error(`${delivery.Url} did not take event ${event.EventId}`)
}

async function send(
  event: VoiceEvent,
  { Url }: Delivery,
  ctx: Context,
): Promise<Pick<Delivery, 'Status' | 'HttpStatus' | 'Reason'>> {
  try {
    const { status } = await ctx.outbound.send({
      method: 'POST',
      url: Url,
      headers: { 'content-type': 'application/json', 'x-amzn-event-id': event.EventId },
      body: JSON.stringify(messageOf(event)),
    })
    const isTaken = status >= 200 && status < 300
    return { Status: isTaken ? 'DELIVERED' : 'PENDING', HttpStatus: status }
  } catch (error) {
    // The other side's failure is what the delivery record is for.
    if (error instanceof Fault) return { Status: 'REFUSED', Reason: error.message }
    return { Status: 'PENDING', Reason: String((error as Error).message).slice(0, 500) }
  }
}

/** What a subscriber receives. */
const messageOf = ({ Account: _, Deliveries: __, Timestamp, ...event }: VoiceEvent) => ({
  ...event,
  Timestamp: epochSecondsOf(Timestamp),
})

// Deliveries of one event end at the same time, each in a step of its own.
const note = (ctx: Context, key: string, delivery: Delivery) =>
  ctx.store.transaction(async (tx) => {
    const event = (await tx.get(voiceEvents, key))!
    const Deliveries = event.Deliveries.map((one) =>
      one.SubscriptionId === delivery.SubscriptionId ? delivery : one,
    )
    await tx.save(voiceEvents, { ...event, Deliveries })
  })
