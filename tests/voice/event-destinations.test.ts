import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type TestService } from '../open.ts'

const SETS = '/v1/sms-voice/configuration-sets'
const DESTINATIONS = `${SETS}/a/event-destinations`
const TOPIC = { TopicArn: 'arn:aws:sns:us-east-1:123456789012:calls' }
const ROLE = 'arn:aws:iam::123456789012:role/service/voice'
const LOGS = {
  IamRoleArn: ROLE,
  LogGroupArn: 'arn:aws:logs:eu-west-1:123456789012:log-group:/calls:*',
}
const STREAM = {
  DeliveryStreamArn: 'arn:aws-cn:firehose:cn-north-1:123456789012:deliverystream/calls',
  IamRoleArn: ROLE,
}
const DEFINITION = { Enabled: true, MatchingEventTypes: ['ANSWERED'], SnsDestination: TOPIC }

async function openWithSet(): Promise<TestService> {
  const service = await openForTest(subgraph)
  await service.rest(`POST ${SETS}`, { ConfigurationSetName: 'a' })
  return service
}

const create = (service: TestService, EventDestination: object, EventDestinationName = 'd') =>
  service.rest(`POST ${DESTINATIONS}`, { EventDestinationName, EventDestination })

const read = async (service: TestService) =>
  (await service.rest(`GET ${DESTINATIONS}`)).body.EventDestinations

test('destinations of the three kinds are created and read', async () => {
  const service = await openWithSet()
  const common = { Enabled: true, MatchingEventTypes: ['RINGING', 'FAILED'] }

  const created = [
    await create(service, { ...common, SnsDestination: TOPIC }, 'topic'),
    await create(service, { ...common, CloudWatchLogsDestination: LOGS }, 'logs'),
    await create(service, { ...common, KinesisFirehoseDestination: STREAM }, 'stream'),
  ]

  for (const answer of created) expect(answer).toMatchObject({ status: 200, body: {} })
  expect(await read(service)).toEqual([
    { Name: 'topic', ...common, SnsDestination: TOPIC },
    { Name: 'logs', ...common, CloudWatchLogsDestination: LOGS },
    { Name: 'stream', ...common, KinesisFirehoseDestination: STREAM },
  ])
})

test('a destination is created, changed and deleted in the graph', async () => {
  const service = await openWithSet()
  const topic = { topicArn: TOPIC.TopicArn }
  const logs = { iamRoleArn: LOGS.IamRoleArn, logGroupArn: LOGS.LogGroupArn }

  const created = await service.graphql(
    `mutation ($d: VoiceEventDestinationInput) {
      createVoiceEventDestination(
        configurationSetName: "a", eventDestinationName: "d", eventDestination: $d
      ) { name enabled matchingEventTypes snsDestination { topicArn } subscriptions { url } }
    }`,
    { d: { enabled: true, matchingEventTypes: ['BUSY'], snsDestination: topic } },
  )
  const changed = await service.graphql(
    `mutation ($d: VoiceEventDestinationInput) {
      updateVoiceEventDestination(
        configurationSetName: "a", eventDestinationName: "d", eventDestination: $d
      ) { enabled snsDestination { topicArn } cloudWatchLogsDestination { iamRoleArn logGroupArn } }
    }`,
    { d: { matchingEventTypes: ['BUSY'], cloudWatchLogsDestination: logs } },
  )
  const listed = await service.graphql(
    '{ voiceEventDestinations(configurationSetName: "a") { name matchingEventTypes } }',
  )
  const deleted = await service.graphql(
    'mutation { deleteVoiceEventDestination(configurationSetName: "a", eventDestinationName: "d") }',
  )

  expect(created.data.createVoiceEventDestination).toEqual({
    name: 'd',
    enabled: true,
    matchingEventTypes: ['BUSY'],
    snsDestination: topic,
    subscriptions: [],
  })
  expect(changed.data.updateVoiceEventDestination).toEqual({
    enabled: false,
    snsDestination: null,
    cloudWatchLogsDestination: logs,
  })
  expect(listed.data.voiceEventDestinations).toEqual([{ name: 'd', matchingEventTypes: ['BUSY'] }])
  expect(deleted.data.deleteVoiceEventDestination).toBe(true)
  expect(await read(service)).toEqual([])
})

test('an update replaces the whole definition', async () => {
  const service = await openWithSet()
  await create(service, DEFINITION)

  const answer = await service.rest(`PUT ${DESTINATIONS}/d`, {
    EventDestination: { MatchingEventTypes: ['FAILED'], CloudWatchLogsDestination: LOGS },
  })

  expect(answer).toMatchObject({ status: 200, body: {} })
  expect(await read(service)).toEqual([
    {
      Name: 'd',
      Enabled: false,
      MatchingEventTypes: ['FAILED'],
      CloudWatchLogsDestination: LOGS,
    },
  ])
})

test('a second destination of the same name is refused', async () => {
  const service = await openWithSet()
  await create(service, DEFINITION)

  expect(await create(service, { ...DEFINITION, Enabled: false })).toMatchObject({
    status: 409,
    body: {
      __type: 'AlreadyExistsException',
      Message: 'There is an event destination named d already.',
    },
  })
  expect(await read(service)).toEqual([{ Name: 'd', ...DEFINITION }])
})

test('a set has five destinations at most', async () => {
  const service = await openWithSet()
  for (const name of ['1', '2', '3', '4', '5']) await create(service, DEFINITION, name)

  expect(await create(service, DEFINITION, '6')).toMatchObject({
    status: 412,
    body: {
      __type: 'LimitExceededException',
      Message: 'A configuration set has at most 5 event destinations.',
    },
  })
  expect(await read(service)).toHaveLength(5)
})

const EXAMPLES = {
  role: 'arn:aws:iam::123456789012:role/name',
  logs: 'arn:aws:logs:us-east-1:123456789012:log-group:name',
  stream: 'arn:aws:firehose:us-east-1:123456789012:deliverystream/name',
  topic: 'arn:aws:sns:us-east-1:123456789012:name',
}
const ONE_KIND =
  'EventDestination must have exactly one of ' +
  'CloudWatchLogsDestination, KinesisFirehoseDestination, SnsDestination.'
const topicMust = `EventDestination.SnsDestination.TopicArn must be an ARN such as ${EXAMPLES.topic}.`

const unfit: [rule: string, definition: object, message: string][] = [
  [
    'without event types',
    { SnsDestination: TOPIC },
    'EventDestination.MatchingEventTypes must name at least one event type.',
  ],
  [
    'with no event type',
    { MatchingEventTypes: [], SnsDestination: TOPIC },
    'EventDestination.MatchingEventTypes must name at least one event type.',
  ],
  ['of no kind', { MatchingEventTypes: ['BUSY'] }, ONE_KIND],
  [
    'of two kinds',
    { MatchingEventTypes: ['BUSY'], SnsDestination: TOPIC, CloudWatchLogsDestination: LOGS },
    ONE_KIND,
  ],
  ['without a topic', { MatchingEventTypes: ['BUSY'], SnsDestination: {} }, topicMust],
  [
    'whose topic is no ARN',
    { MatchingEventTypes: ['BUSY'], SnsDestination: { TopicArn: 'calls' } },
    topicMust,
  ],
  [
    "whose topic is another service's",
    { MatchingEventTypes: ['BUSY'], SnsDestination: { TopicArn: EXAMPLES.stream } },
    topicMust,
  ],
  [
    'whose topic is in no region',
    { MatchingEventTypes: ['BUSY'], SnsDestination: { TopicArn: 'arn:aws:sns::123456789012:t' } },
    topicMust,
  ],
  [
    "whose topic is in nobody's account",
    { MatchingEventTypes: ['BUSY'], SnsDestination: { TopicArn: 'arn:aws:sns:us-east-1::t' } },
    topicMust,
  ],
  [
    'with logs but no role',
    {
      MatchingEventTypes: ['BUSY'],
      CloudWatchLogsDestination: { LogGroupArn: LOGS.LogGroupArn },
    },
    `EventDestination.CloudWatchLogsDestination.IamRoleArn must be an ARN such as ${EXAMPLES.role}.`,
  ],
  [
    'whose log group is a log stream',
    {
      MatchingEventTypes: ['BUSY'],
      CloudWatchLogsDestination: { ...LOGS, LogGroupArn: `${EXAMPLES.logs}:log-stream:x` },
    },
    `EventDestination.CloudWatchLogsDestination.LogGroupArn must be an ARN such as ${EXAMPLES.logs}.`,
  ],
  [
    'whose role is a user',
    {
      MatchingEventTypes: ['BUSY'],
      KinesisFirehoseDestination: { ...STREAM, IamRoleArn: 'arn:aws:iam::123456789012:user/a' },
    },
    `EventDestination.KinesisFirehoseDestination.IamRoleArn must be an ARN such as ${EXAMPLES.role}.`,
  ],
  [
    'without a stream',
    { MatchingEventTypes: ['BUSY'], KinesisFirehoseDestination: { IamRoleArn: ROLE } },
    'EventDestination.KinesisFirehoseDestination.DeliveryStreamArn must be an ARN such as ' +
      `${EXAMPLES.stream}.`,
  ],
]

test('a destination that does not fit is refused, at creation and at change', async () => {
  const service = await openWithSet()
  await create(service, DEFINITION, 'other')

  for (const [rule, EventDestination, Message] of unfit) {
    const created = await create(service, EventDestination)
    const changed = await service.rest(`PUT ${DESTINATIONS}/other`, { EventDestination })

    const refused = { status: 400, body: { __type: 'BadRequestException', Message } }
    expect(created, rule).toMatchObject(refused)
    expect(changed, rule).toMatchObject(refused)
  }
  expect(await read(service)).toEqual([{ Name: 'other', ...DEFINITION }])
})

test('an event type outside the value set is refused', async () => {
  const service = await openWithSet()

  expect(await create(service, { ...DEFINITION, MatchingEventTypes: ['HUNG_UP'] })).toMatchObject({
    status: 400,
    body: {
      __type: 'BadRequestException',
      fields: [{ name: 'EventDestination.MatchingEventTypes.0' }],
    },
  })
})

test('an event type that is named twice counts once', async () => {
  const service = await openWithSet()

  await create(service, { ...DEFINITION, MatchingEventTypes: ['BUSY', 'BUSY'] })

  expect((await read(service))[0].MatchingEventTypes).toEqual(['BUSY'])
})

test('a destination needs a definition and a name', async () => {
  const service = await openWithSet()

  const undefinedOne = await service.rest(`POST ${DESTINATIONS}`, { EventDestinationName: 'd' })
  const unnamed = await service.rest(`POST ${DESTINATIONS}`, { EventDestination: DEFINITION })
  const misnamed = await create(service, DEFINITION, 'a b')

  expect(undefinedOne.body.Message).toBe('EventDestination is missing.')
  expect(unnamed.body.Message).toBe(
    'EventDestinationName must be 1 to 64 letters, digits, hyphens or underscores, and is missing.',
  )
  expect(misnamed.body.Message).toBe(
    'EventDestinationName must be 1 to 64 letters, digits, hyphens or underscores.',
  )
  for (const { status, headers } of [undefinedOne, unnamed, misnamed]) {
    expect(status).toBe(400)
    expect(headers['x-amzn-errortype']).toBe('BadRequestException')
  }
})

test('an unknown set or destination is not found', async () => {
  const service = await openWithSet()
  const other = `${SETS}/other/event-destinations`

  const inSet = {
    status: 404,
    body: { __type: 'NotFoundException', Message: 'There is no configuration set named other.' },
  }
  expect(await service.rest(`GET ${other}`)).toMatchObject(inSet)
  expect(await service.rest(`DELETE ${other}/d`)).toMatchObject(inSet)
  expect(
    await service.rest(`POST ${other}`, {
      EventDestinationName: 'd',
      EventDestination: DEFINITION,
    }),
  ).toMatchObject(inSet)
  expect(await service.rest(`PUT ${other}/d`, { EventDestination: DEFINITION })).toMatchObject(
    inSet,
  )

  const inDestination = {
    status: 404,
    body: { __type: 'NotFoundException', Message: 'There is no event destination named d.' },
  }
  expect(await service.rest(`DELETE ${DESTINATIONS}/d`)).toMatchObject(inDestination)
  expect(
    await service.rest(`PUT ${DESTINATIONS}/d`, { EventDestination: DEFINITION }),
  ).toMatchObject(inDestination)
})

test('a destination that is deleted is gone, and only that one', async () => {
  const service = await openWithSet()
  await create(service, DEFINITION, 'x')
  await create(service, DEFINITION, 'y')

  const deleted = await service.rest(`DELETE ${DESTINATIONS}/x`)

  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(await read(service)).toEqual([{ Name: 'y', ...DEFINITION }])
})

test('destinations that are created at the same time are all kept', async () => {
  const service = await openWithSet()

  await Promise.all(['1', '2', '3', '4', '5'].map((name) => create(service, DEFINITION, name)))

  expect(await read(service)).toHaveLength(5)
})
