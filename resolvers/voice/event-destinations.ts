// Event destinations, to which a configuration set publishes. Specification 3, service M.
import { z } from 'zod'
import { accountOf, readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, put, reply } from '../kernel/operation.ts'
import { flag, oneOf, optional, text } from '../kernel/shape.ts'
import {
  needSet,
  readName,
  saveSet,
  setKey,
  type EventDestination,
  type EventDestinationDefinition,
} from './configuration-sets.ts'
import { AlreadyExists, BadRequest, LimitExceeded, NotFound } from './errors.ts'

const EVENT_DESTINATIONS_MAX = 5

export const EVENT_TYPES = [
  'INITIATED_CALL',
  'RINGING',
  'ANSWERED',
  'COMPLETED_CALL',
  'BUSY',
  'FAILED',
  'NO_ANSWER',
] as const

/** The three kinds of destination: the ARNs of each, and of which service's resources they are. */
const KINDS = {
  CloudWatchLogsDestination: { IamRoleArn: 'iam', LogGroupArn: 'logs' },
  KinesisFirehoseDestination: { DeliveryStreamArn: 'firehose', IamRoleArn: 'iam' },
  SnsDestination: { TopicArn: 'sns' },
} as const

/** What the resource in an ARN looks like, by service. */
const RESOURCES: Readonly<Record<string, { pattern: RegExp; example: string }>> = {
  iam: { pattern: /^role\/[\w+=,.@/-]{1,512}$/, example: 'arn:aws:iam::123456789012:role/name' },
  logs: {
    pattern: /^log-group:[\w./#-]{1,512}(:\*)?$/,
    example: 'arn:aws:logs:us-east-1:123456789012:log-group:name',
  },
  firehose: {
    pattern: /^deliverystream\/[\w.-]{1,64}$/,
    example: 'arn:aws:firehose:us-east-1:123456789012:deliverystream/name',
  },
  sns: {
    pattern: /^[\w-]{1,256}(\.fifo)?$/,
    example: 'arn:aws:sns:us-east-1:123456789012:name',
  },
}

const definition = z.object({
  Enabled: optional(flag),
  MatchingEventTypes: optional(z.array(oneOf(EVENT_TYPES)).max(100)),
  CloudWatchLogsDestination: optional(
    z.object({ IamRoleArn: optional(text), LogGroupArn: optional(text) }),
  ),
  KinesisFirehoseDestination: optional(
    z.object({ DeliveryStreamArn: optional(text), IamRoleArn: optional(text) }),
  ),
  SnsDestination: optional(z.object({ TopicArn: optional(text) })),
})
type SentDefinition = z.output<typeof definition>

const MANY = '/configuration-sets/{ConfigurationSetName}/event-destinations'
const ONE = `${MANY}/{EventDestinationName}`
const inSet = { ConfigurationSetName: text }
const one = { ...inSet, EventDestinationName: text }
const nothing = { show: () => ({}) }
const missing = { 404: 'There is no such configuration set or event destination.' }

export const operations = [
  operation({
    name: 'createVoiceEventDestination',
    rest: post(MANY, nothing),
    input: {
      ...inSet,
      EventDestination: optional(definition),
      EventDestinationName: optional(text),
    },
    needs: 'sms-voice:CreateConfigurationSetEventDestination',
    refuses: {
      404: 'There is no such configuration set.',
      409: 'The configuration set has an event destination of this name.',
      412: 'The configuration set has as many event destinations as it may.',
    },
    run: createEventDestination,
  }),
  operation({
    name: 'updateVoiceEventDestination',
    rest: put(ONE, nothing),
    input: { ...one, EventDestination: optional(definition) },
    needs: 'sms-voice:UpdateConfigurationSetEventDestination',
    refuses: missing,
    run: updateEventDestination,
  }),
  operation({
    name: 'deleteVoiceEventDestination',
    rest: del(ONE),
    input: one,
    needs: 'sms-voice:DeleteConfigurationSetEventDestination',
    refuses: missing,
    async run(input, ctx) {
      await change(input, ctx, () => undefined)
      return reply(200)
    },
  }),
  operation({
    name: 'voiceEventDestinations',
    rest: get(MANY, {
      show: (destinations: EventDestination[]) => ({
        EventDestinations: destinations.map(({ Subscriptions: _, ...documented }) => documented),
      }),
      answer: z.object({ EventDestinations: z.array(z.object({ Name: z.string() })) }),
    }),
    input: inSet,
    needs: 'sms-voice:GetConfigurationSetEventDestinations',
    refuses: { 404: 'There is no such configuration set.' },
    async run({ ConfigurationSetName }, ctx) {
      const set = await needSet(ctx.store, setKey(accountOf(ctx), ConfigurationSetName))
      return set.EventDestinations
    },
  }),
]

interface Named {
  readonly ConfigurationSetName: string
  readonly EventDestinationName: string
}

export async function createEventDestination(
  input: {
    ConfigurationSetName: string
    EventDestinationName?: string | undefined
    EventDestination?: SentDefinition | undefined
  },
  ctx: Context,
): Promise<EventDestination> {
  const destination: EventDestination = {
    Name: readName('EventDestinationName', input.EventDestinationName),
    ...readDefinition(input.EventDestination),
    Subscriptions: [],
  }
  const key = setKey(accountOf(ctx), input.ConfigurationSetName)
  await ctx.store.transaction(async (tx) => {
    const set = await needSet(tx, key)
    if (set.EventDestinations.some(({ Name }) => Name === destination.Name)) {
      throw AlreadyExists(`There is an event destination named ${destination.Name} already.`)
    }
    if (set.EventDestinations.length >= EVENT_DESTINATIONS_MAX) {
      throw LimitExceeded(
        `A configuration set has at most ${EVENT_DESTINATIONS_MAX} event destinations.`,
      )
    }
    const EventDestinations = [...set.EventDestinations, destination]
    await saveSet({ ...set, EventDestinations }, tx, ctx)
  })
  return destination
}

async function updateEventDestination(
  input: Named & { EventDestination?: SentDefinition | undefined },
  ctx: Context,
): Promise<EventDestination> {
  const sent = readDefinition(input.EventDestination)
  const changed = await change(input, ctx, ({ Name, Subscriptions }) => ({
    Name,
    ...sent,
    Subscriptions,
  }))
  return changed!
}

/** Replaces one destination by what `to` makes of it, or removes it. */
export async function change(
  { ConfigurationSetName, EventDestinationName }: Named,
  ctx: Context,
  to: (destination: EventDestination) => EventDestination | undefined,
): Promise<EventDestination | undefined> {
  const key = setKey(accountOf(ctx), ConfigurationSetName)
  return ctx.store.transaction(async (tx) => {
    const set = await needSet(tx, key)
    const index = set.EventDestinations.findIndex(({ Name }) => Name === EventDestinationName)
    if (index < 0) {
      throw NotFound(`There is no event destination named ${EventDestinationName}.`)
    }
    const changed = to(set.EventDestinations[index]!)
    const EventDestinations = set.EventDestinations.toSpliced(
      index,
      1,
      ...(changed ? [changed] : []),
    )
    await saveSet({ ...set, EventDestinations }, tx, ctx)
    return changed
  })
}

/** Chosen: an update replaces the whole definition, and `Enabled` is false unless it says true. */
function readDefinition(sent: SentDefinition | undefined): EventDestinationDefinition {
  if (!sent) throw BadRequest('EventDestination is missing.')
  const { Enabled = false, MatchingEventTypes = [] } = sent
  if (MatchingEventTypes.length === 0) {
    throw BadRequest('EventDestination.MatchingEventTypes must name at least one event type.')
  }
  const given = kindNames.filter((name) => sent[name])
  if (given.length !== 1) {
    throw BadRequest(`EventDestination must have exactly one of ${kindNames.join(', ')}.`)
  }
  const name = given[0]!
  checkArns(name, sent[name]!)
  return { Enabled, MatchingEventTypes: [...new Set(MatchingEventTypes)], [name]: sent[name] }
}

const kindNames = Object.keys(KINDS) as (keyof typeof KINDS)[]

function checkArns(kind: keyof typeof KINDS, sent: Record<string, string | undefined>): void {
  for (const [field, service] of Object.entries(KINDS[kind])) {
    const arn = readArn(sent[field] ?? '')
    const { pattern, example } = RESOURCES[service]!
    const hasPlace = service === 'iam' ? arn?.region === '' : arn?.region !== ''
    const isFitting = arn?.service === service && arn.account !== '' && pattern.test(arn.resource)
    if (!isFitting || !hasPlace) {
      throw BadRequest(`EventDestination.${kind}.${field} must be an ARN such as ${example}.`)
    }
  }
}

/** The ARN that a destination publishes to: a log group, a stream or a topic. */
export const targetArn = (destination: EventDestinationDefinition): string =>
  destination.CloudWatchLogsDestination?.LogGroupArn ??
  destination.KinesisFirehoseDestination?.DeliveryStreamArn ??
  destination.SnsDestination!.TopicArn
