import { expect, test } from 'vitest'
import type { Outbound, OutboundRequest } from '../../resolvers/kernel/outbound.ts'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'

const SETS = '/v1/sms-voice/configuration-sets'
const MINUTE = 60_000
const ALL = [
  'INITIATED_CALL',
  'RINGING',
  'ANSWERED',
  'COMPLETED_CALL',
  'BUSY',
  'FAILED',
  'NO_ANSWER',
]
const TOPIC = 'arn:aws:sns:us-east-1:123456789012:calls'
const HOOK = 'https://hooks.example/calls'

/** A service with a set `a` and its destinations. */
async function openWith(
  destinations: Record<string, { types?: string[]; isEnabled?: boolean }>,
  options: OpenOptions = {},
): Promise<TestService> {
  const service = await openForTest(subgraph, options)
  await service.rest(`POST ${SETS}`, { ConfigurationSetName: 'a' })
  for (const [name, { types = ALL, isEnabled = true }] of Object.entries(destinations)) {
    await service.rest(`POST ${SETS}/a/event-destinations`, {
      EventDestinationName: name,
      EventDestination: {
        Enabled: isEnabled,
        MatchingEventTypes: types,
        SnsDestination: { TopicArn: TOPIC },
      },
    })
  }
  return service
}

const send = async (service: TestService, more: object = { ConfigurationSetName: 'a' }) => {
  const { body } = await service.rest('POST /v1/sms-voice/voice/message', {
    DestinationPhoneNumber: '+12065550142',
    Content: { PlainTextMessage: { Text: 'one two three four five' } },
    ...more,
  })
  return body.MessageId as string
}

const FIELDS = `nodes {
  eventType timestamp messageId destinationPhoneNumber configurationSetName eventDestinationName
  destinationArn deliveries { url status attempts httpStatus reason }
} pageInfo { hasNextPage endCursor }`

const eventsOf = async (service: TestService, filter: Record<string, unknown> = {}) => {
  const { data } = await service.graphql(
    `query ($messageId: ID, $configurationSetName: String, $eventDestinationName: String,
        $first: Int, $after: String) {
      voiceEvents(messageId: $messageId, configurationSetName: $configurationSetName,
        eventDestinationName: $eventDestinationName, first: $first, after: $after) { ${FIELDS} }
    }`,
    filter,
  )
  return data.voiceEvents
}

const subscribe = (service: TestService, url = HOOK) =>
  service.graphql(
    `mutation ($url: String!) {
      subscribeToVoiceEventDestination(
        configurationSetName: "a", eventDestinationName: "d", url: $url
      ) { subscriptionId url createdTime }
    }`,
    { url },
  )

/** Other people's servers: what they were sent, and what they answer. */
function outboundOf(answer: (count: number) => number | Error) {
  const sent: OutboundRequest[] = []
  const outbound: Outbound = {
    async send(request) {
      const status = answer(sent.push(request))
      if (status instanceof Error) throw status
      return { status, headers: {}, body: Buffer.alloc(0) }
    },
  }
  return { outbound, sent }
}

test('every event of a call is published to a destination that asks for all', async () => {
  const service = await openWith({ d: {} })
  const messageId = await send(service)

  await service.advance(MINUTE)

  const common = {
    messageId,
    destinationPhoneNumber: '+12065550142',
    configurationSetName: 'a',
    eventDestinationName: 'd',
    destinationArn: TOPIC,
    deliveries: [],
  }
  expect((await eventsOf(service)).nodes).toEqual([
    { eventType: 'COMPLETED_CALL', timestamp: '2030-01-01T00:00:11.000Z', ...common },
    { eventType: 'ANSWERED', timestamp: '2030-01-01T00:00:09.000Z', ...common },
    { eventType: 'RINGING', timestamp: '2030-01-01T00:00:03.000Z', ...common },
    { eventType: 'INITIATED_CALL', timestamp: '2030-01-01T00:00:01.000Z', ...common },
  ])
})

test('a destination gets only the event types it names, and only while it is enabled', async () => {
  const service = await openWith({ some: { types: ['ANSWERED'] }, off: { isEnabled: false } })
  await send(service)

  await service.advance(MINUTE)

  const { nodes } = await eventsOf(service)
  expect(nodes.map((event: any) => `${event.eventDestinationName} ${event.eventType}`)).toEqual([
    'some ANSWERED',
  ])
})

test('a message without a configuration set publishes nothing', async () => {
  const service = await openWith({ d: {} })
  await send(service, {})

  await service.advance(MINUTE)

  expect((await eventsOf(service)).nodes).toEqual([])
})

test('a call goes on when its configuration set is deleted, and publishes nothing more', async () => {
  const service = await openWith({ d: {} })
  const messageId = await send(service)
  await service.advance(1_000)

  await service.rest(`DELETE ${SETS}/a`)
  await service.advance(MINUTE)

  const { data } = await service.graphql(`{ voiceMessage(messageId: "${messageId}") { state } }`)
  expect(data.voiceMessage.state).toBe('COMPLETED_CALL')
  const { nodes } = await eventsOf(service)
  expect(nodes.map((event: any) => event.eventType)).toEqual(['INITIATED_CALL'])
})

test('events are found by message, by set and by destination', async () => {
  const service = await openWith({ d: { types: ['RINGING'] }, e: { types: ['RINGING'] } })
  const one = await send(service)
  const two = await send(service)
  await service.advance(MINUTE)

  const found = async (filter: Record<string, unknown>) => {
    const { nodes } = await eventsOf(service, filter)
    return nodes.map((event: any) => [event.messageId, event.eventDestinationName])
  }

  expect(await found({ messageId: one })).toEqual([
    [one, 'e'],
    [one, 'd'],
  ])
  expect(await found({ configurationSetName: 'a' })).toHaveLength(4)
  expect(await found({ configurationSetName: 'b' })).toEqual([])
  expect(await found({ configurationSetName: 'a', eventDestinationName: 'd' })).toEqual([
    [two, 'd'],
    [one, 'd'],
  ])
  expect(
    await found({ messageId: two, configurationSetName: 'a', eventDestinationName: 'e' }),
  ).toEqual([[two, 'e']])
  expect(await found({ messageId: two, configurationSetName: 'a' })).toHaveLength(2)
})

test('events are listed a page at a time', async () => {
  const service = await openWith({ d: {} })
  const messageId = await send(service)
  await service.advance(MINUTE)

  const first = await eventsOf(service, { messageId, first: 3 })
  const second = await eventsOf(service, { messageId, first: 3, after: first.pageInfo.endCursor })

  expect(first.nodes).toHaveLength(3)
  expect(first.pageInfo.hasNextPage).toBe(true)
  expect(second.nodes.map((event: any) => event.eventType)).toEqual(['INITIATED_CALL'])
  expect(second.pageInfo.hasNextPage).toBe(false)
})

test('a destination is found only together with its set', async () => {
  const service = await openForTest(subgraph)

  const { errors } = await service.graphql(
    '{ voiceEvents(eventDestinationName: "d") { nodes { eventId } } }',
  )

  expect(errors![0]).toMatchObject({
    message: 'EventDestinationName needs the ConfigurationSetName it belongs to.',
    extensions: { code: 'BadRequestException', status: 400 },
  })
})

test("another account's events are not found", async () => {
  const service = await openWith({ d: {} })
  const messageId = await send(service)
  await service.advance(MINUTE)

  for (const filter of ['', `(messageId: "${messageId}")`, '(configurationSetName: "a")']) {
    const { data } = await service.graphql(
      `{ voiceEvents${filter} { nodes { eventId } } }`,
      {},
      { credential: 'bob' },
    )
    expect(data.voiceEvents.nodes).toEqual([])
  }
})

test('a subscriber is called with every event', async () => {
  const { outbound, sent } = outboundOf(() => 204)
  const service = await openWith({ d: { types: ['ANSWERED'] } }, { outbound })
  const subscribed = await subscribe(service)
  const messageId = await send(service)

  await service.advance(MINUTE)

  expect(subscribed.data.subscribeToVoiceEventDestination).toEqual({
    subscriptionId: expect.any(String),
    url: HOOK,
    createdTime: '2030-01-01T00:00:00.000Z',
  })
  const [event] = (await eventsOf(service)).nodes
  expect(event.deliveries).toEqual([
    { url: HOOK, status: 'DELIVERED', attempts: 1, httpStatus: 204, reason: null },
  ])
  expect(sent).toHaveLength(1)
  expect(sent[0]).toMatchObject({
    method: 'POST',
    url: HOOK,
    headers: { 'content-type': 'application/json', 'x-amzn-event-id': expect.any(String) },
  })
  expect(JSON.parse(String(sent[0]!.body))).toEqual({
    EventId: expect.any(String),
    EventType: 'ANSWERED',
    Timestamp: 1893456009,
    MessageId: messageId,
    DestinationPhoneNumber: '+12065550142',
    ConfigurationSetName: 'a',
    EventDestinationName: 'd',
    DestinationArn: TOPIC,
  })
})

test('a delivery that the operator does not allow is refused once and for all', async () => {
  const service = await openWith({ d: { types: ['ANSWERED'] } })
  await subscribe(service)
  await send(service)

  await service.advance(60 * MINUTE)

  const [event] = (await eventsOf(service)).nodes
  expect(event.deliveries).toEqual([
    {
      url: HOOK,
      status: 'REFUSED',
      attempts: 1,
      httpStatus: null,
      reason: expect.stringContaining(`Calls to ${HOOK} are not allowed.`),
    },
  ])
  expect(service.mistakes).toEqual([])
})

test('a delivery that fails is repeated until it is taken', async () => {
  const { outbound, sent } = outboundOf((count) =>
    count === 1 ? 503 : count === 2 ? new Error('connection reset') : 200,
  )
  const service = await openWith({ d: { types: ['ANSWERED'] } }, { outbound })
  await subscribe(service)
  await send(service)

  await service.advance(60 * MINUTE)

  const [event] = (await eventsOf(service)).nodes
  expect(event.deliveries).toMatchObject([{ status: 'DELIVERED', attempts: 3, httpStatus: 200 }])
  expect(sent).toHaveLength(3)
})

test('a delivery that keeps failing is given up', async () => {
  const { outbound, sent } = outboundOf(() => 500)
  const service = await openWith({ d: { types: ['ANSWERED'] } }, { outbound })
  await subscribe(service)
  await send(service)

  await service.advance(24 * 60 * MINUTE)

  const [event] = (await eventsOf(service)).nodes
  expect(event.deliveries).toMatchObject([{ status: 'FAILED', attempts: 6, httpStatus: 500 }])
  expect(sent).toHaveLength(6)
  expect(await service.opened.work.counts()).toEqual({ waiting: 0, parked: 0 })
})

test('several subscribers of one destination are called, each by itself', async () => {
  const { outbound } = outboundOf((count) => (count % 2 === 0 ? 500 : 200))
  const service = await openWith({ d: { types: ['ANSWERED'] } }, { outbound })
  await subscribe(service, 'https://one.example/')
  await subscribe(service, 'https://two.example/')
  await send(service)

  await service.advance(60 * MINUTE)

  const [event] = (await eventsOf(service)).nodes
  expect(event.deliveries).toMatchObject([
    { url: 'https://one.example/', status: 'DELIVERED', attempts: 1 },
    { url: 'https://two.example/', status: 'DELIVERED', attempts: 2 },
  ])
})

test('a subscription outlives a change of its destination, and ends when it is ended', async () => {
  const { outbound, sent } = outboundOf(() => 200)
  const service = await openWith({ d: { types: ['BUSY'] } }, { outbound })
  const { subscriptionId } = (await subscribe(service)).data.subscribeToVoiceEventDestination
  await service.rest(`PUT ${SETS}/a/event-destinations/d`, {
    EventDestination: {
      Enabled: true,
      MatchingEventTypes: ['RINGING'],
      SnsDestination: { TopicArn: TOPIC },
    },
  })
  const end = `mutation { unsubscribeFromVoiceEventDestination(configurationSetName: "a",
    eventDestinationName: "d", subscriptionId: "${subscriptionId}") }`

  await send(service)
  await service.advance(MINUTE)
  const ended = await service.graphql(end)
  await send(service)
  await service.advance(MINUTE)
  const again = await service.graphql(end)

  expect(sent).toHaveLength(1)
  expect(ended.data.unsubscribeFromVoiceEventDestination).toBe(true)
  expect(again.errors![0].extensions).toMatchObject({ code: 'NotFoundException', status: 404 })
})

test('the REST interface shows nothing of subscriptions', async () => {
  const service = await openWith({ d: {} })
  await subscribe(service)

  const { body } = await service.rest(`GET ${SETS}/a/event-destinations`)

  expect(Object.keys(body.EventDestinations[0])).toEqual([
    'Name',
    'Enabled',
    'MatchingEventTypes',
    'SnsDestination',
  ])
})

test('a subscriber is an http or https address without a user name', async () => {
  const service = await openWith({ d: {} })

  for (const url of ['ftp://a.example/', 'calls', 'https://me:secret@a.example/', 'file:///etc']) {
    const { errors } = await subscribe(service, url)
    expect(errors![0]).toMatchObject({
      message: 'Url must be an http or https address without a user name.',
      extensions: { code: 'BadRequestException', status: 400 },
    })
  }
})

test('a destination has five subscriptions at most', async () => {
  const service = await openWith({ d: {} })
  for (let number = 0; number < 5; number++) await subscribe(service)

  const { errors } = await subscribe(service)

  expect(errors![0].extensions).toMatchObject({ code: 'LimitExceededException', status: 412 })
})
