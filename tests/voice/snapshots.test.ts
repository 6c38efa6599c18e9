// Configuration sets that are taken as a whole and put back.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_ACCOUNT, people } from '../people.ts'
import { refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'

const SETS = '/v1/sms-voice/configuration-sets'
const type = 'VoiceConfigurationSet'
const arn = (name: string, account = ACCOUNT) =>
  `arn:aws:sms-voice:us-east-1:${account}:configuration-set/${name}`

const TOPIC = {
  Enabled: true,
  MatchingEventTypes: ['INITIATED_CALL', 'ANSWERED'],
  SnsDestination: { TopicArn: 'arn:aws:sns:us-east-1:123456789012:calls' },
}

async function make(service: TestService) {
  await service.rest(`POST ${SETS}`, { ConfigurationSetName: 'alarms' })
  await service.rest(`POST ${SETS}/alarms/event-destinations`, {
    EventDestinationName: 'topic',
    EventDestination: TOPIC,
  })
  await service.graphql(`mutation { subscribeToVoiceEventDestination(configurationSetName: "alarms",
    eventDestinationName: "topic", url: "https://hooks.example/calls") { subscriptionId } }`)
}

snapshotCases({
  type,
  open: () => openForTest(subgraph),
  make,
  remove: (service, id) => service.rest(`DELETE ${SETS}/${id.split('/')[1]}`),
  id: arn('alarms'),
  vacantId: arn('copies'),
  foreignId: arn('alarms', OTHER_ACCOUNT),
  shown: `type location tags eventDestinations { name enabled matchingEventTypes
    snsDestination { topicArn } subscriptions { subscriptionId url createdTime } }`,
  announces: 'voice.configurationSet',
})

test('a set that is put back was created when it was, and a copy is created now', async () => {
  const service = await openForTest(subgraph)
  await make(service)
  const { bytes } = await take(service, type, arn('alarms'))
  await service.rest(`DELETE ${SETS}/alarms`)
  await service.advance(60_000)

  await restore(service, { type, id: arn('alarms'), bytes })
  await restore(service, { type, id: arn('copies'), bytes })

  const { data } = await service.graphql(
    '{ voiceConfigurationSets { nodes { name createdTime } } }',
  )
  expect(data.voiceConfigurationSets.nodes).toEqual([
    { name: 'alarms', createdTime: '2030-01-01T00:00:00.000Z' },
    { name: 'copies', createdTime: '2030-01-01T00:01:00.000Z' },
  ])
})

test('a set that was put back publishes as before', async () => {
  const service = await openForTest(subgraph)
  await make(service)
  const { bytes } = await take(service, type, arn('alarms'))
  await service.rest(`DELETE ${SETS}/alarms`)
  await restore(service, { type, id: arn('alarms'), bytes })

  await service.rest('POST /v1/sms-voice/voice/message', {
    ConfigurationSetName: 'alarms',
    DestinationPhoneNumber: '+12065550142',
    OriginationPhoneNumber: '+12065550100',
    Content: { PlainTextMessage: { Text: 'Hello', LanguageCode: 'en-US', VoiceId: 'Joanna' } },
  })
  await service.advance(60_000)

  const { data } = await service.graphql('{ voiceEvents { nodes { eventType } } }')
  expect(data.voiceEvents.nodes.map(({ eventType }: any) => eventType)).toEqual([
    'ANSWERED',
    'INITIATED_CALL',
  ])
})

test('a name that no set could have is refused, and so is who has no permission', async () => {
  const service = await openForTest(subgraph)
  await make(service)
  const { bytes } = await take(service, type, arn('alarms'))
  const reader = { ...people.alice, permissions: ['sms-voice:Get*'] }
  const ask = (query: string) => service.graphqlAs(reader, query)
  const id = `id: "${arn('alarms')}"`

  const named = await restorePart(service, { type, id: arn('a.b'), bytes })
  const read = await ask(`{ voiceConfigurationSetById(${id}) { name } }`)
  const tagged = await ask(`mutation { tagVoiceConfigurationSet(${id}, tags: {a: "b"}) { id } }`)
  const untagged = await ask(`mutation { untagVoiceConfigurationSet(${id}, keys: ["a"]) { id } }`)
  const restored = await ask(`mutation { restoreVoiceConfigurationSet(${id}, sizeBytes: 1, part: 0,
    sha256: "${'0'.repeat(64)}", bytes: "AA==") { id } }`)

  expect(refusalOf(named)).toEqual([400, 'BadRequestException'])
  expect(read.data.voiceConfigurationSetById.name).toBe('alarms')
  for (const refused of [tagged, untagged, restored]) expect(refusalOf(refused)[0]).toBe(403)
})
