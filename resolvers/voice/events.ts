// Events of calls as they were published: the log group, stream or topic, as far as we keep it.
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { configurationSets, setKey } from './configuration-sets.ts'
import { BadRequest } from './errors.ts'
import { targetArn } from './event-destinations.ts'
import type { VoiceMessage } from './calls.ts'

/** One event at one destination. */
export interface VoiceEvent {
  readonly Account: string
  readonly EventId: string
  readonly EventType: string
  readonly Timestamp: string
  readonly MessageId: string
  readonly DestinationPhoneNumber: string
  readonly ConfigurationSetName: string
  readonly EventDestinationName: string
  readonly DestinationArn: string
  readonly Deliveries: readonly Delivery[]
}

/** One event on its way to one subscriber. */
export interface Delivery {
  readonly SubscriptionId: string
  readonly Url: string
  /** REFUSED by the operator, who allows no calls to that host; FAILED by the other side. */
  readonly Status: 'PENDING' | 'DELIVERED' | 'REFUSED' | 'FAILED'
  readonly Attempts: number
  readonly HttpStatus?: number
  readonly Reason?: string
}

export const voiceEvents = kind<VoiceEvent>('voice_event', {
  key: ({ Account, EventId }) => `${Account}/${EventId}`,
  columns: {
    message: textOf((event) => `${event.Account}/${event.MessageId}`),
    set: textOf((event) => setKey(event.Account, event.ConfigurationSetName)),
    destination: textOf((event) => event.EventDestinationName),
  },
  indexes: [
    ['message', 'set', 'destination'],
    ['message', 'set'],
    ['message'],
    ['set', 'destination'],
    ['set'],
  ],
})
export const kinds = [voiceEvents]

export const DELIVER_STEP = 'deliverVoiceEvent'

export const operations = [
  operation({
    name: 'voiceEvents',
    input: {
      MessageId: optional(text),
      ConfigurationSetName: optional(text),
      EventDestinationName: optional(text),
      ...paging,
    },
    needs: 'sms-voice:GetConfigurationSetEventDestinations',
    run({ MessageId, ConfigurationSetName, EventDestinationName, first, after }, ctx) {
      const account = accountOf(ctx)
      if (EventDestinationName !== undefined && ConfigurationSetName === undefined) {
        throw BadRequest('EventDestinationName needs the ConfigurationSetName it belongs to.')
      }
      const where = {
        ...(MessageId !== undefined && { message: `${account}/${MessageId}` }),
        ...(ConfigurationSetName !== undefined && { set: setKey(account, ConfigurationSetName) }),
        ...(EventDestinationName !== undefined && { destination: EventDestinationName }),
      }
      const isFiltered = Object.keys(where).length > 0
      return connect(ctx, voiceEvents, {
        first,
        after,
        descending: true,
        ...(isFiltered ? { where } : { prefix: `${account}/` }),
      })
    },
  }),
]

/** Publishes what happened to a call, wherever its configuration set says. */
export async function publish(
  tx: Records,
  message: VoiceMessage,
  { EventType, Timestamp }: Pick<VoiceEvent, 'EventType' | 'Timestamp'>,
  ctx: Context,
): Promise<void> {
  const { Account, MessageId, DestinationPhoneNumber, ConfigurationSetName } = message
  if (ConfigurationSetName === undefined) return
  const set = await tx.get(configurationSets, setKey(Account, ConfigurationSetName))
  for (const destination of set?.EventDestinations ?? []) {
    if (!destination.Enabled || !destination.MatchingEventTypes.includes(EventType)) continue
    const event: VoiceEvent = {
      Account,
      EventId: ctx.newId(),
      EventType,
      Timestamp,
      MessageId,
      DestinationPhoneNumber,
      ConfigurationSetName,
      EventDestinationName: destination.Name,
      DestinationArn: targetArn(destination),
      Deliveries: destination.Subscriptions.map(({ SubscriptionId, Url }) => ({
        SubscriptionId,
        Url,
        Status: 'PENDING',
        Attempts: 0,
      })),
    }
    await tx.insert(voiceEvents, event)
    for (const { SubscriptionId } of event.Deliveries) {
      const Key = voiceEvents.key(event)
      await ctx.work.later(tx, 0, DELIVER_STEP, { Key, SubscriptionId })
    }
  }
}
