import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest } from '../open.ts'
import { countingReads } from '../reads.ts'

const ARN = 'arn:aws:sms-voice:us-east-1:111111111111:configuration-set'
const ENTITIES = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on VoiceConfigurationSet { id name }
    ... on CloudAccount { id voiceConfigurationSets { nodes { name } } }
  }
}`

const setOf = (id: string) => ({ __typename: 'VoiceConfigurationSet', id })
const accountOf = (id: string) => ({ __typename: 'CloudAccount', id })

test('configuration sets are resolved by ARN, many with one read', async () => {
  const { counted, wrap } = countingReads(['getMany'])
  const service = await openForTest(subgraph, { wrap })
  for (const ConfigurationSetName of ['a', 'b']) {
    await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName })
  }
  counted.reads = 0

  const { data } = await service.graphql(ENTITIES, {
    representations: [setOf(`${ARN}/b`), setOf(`${ARN}/none`), setOf(`${ARN}/a`)],
  })

  expect(data.entities).toEqual([
    { id: `${ARN}/b`, name: 'b' },
    null,
    { id: `${ARN}/a`, name: 'a' },
  ])
  expect(counted.reads).toBe(1)
})

test("a reference to another account's set, or to something else, resolves to nothing", async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: 'a' })
  const ids = [`${ARN}/a`.replace('sms-voice', 'backup'), `${ARN}/a`.replace('east', 'west'), 'a']

  const foreign = await service.graphql(
    ENTITIES,
    { representations: [setOf(`${ARN}/a`)] },
    { credential: 'bob' },
  )
  const other = await service.graphql(ENTITIES, { representations: ids.map(setOf) })

  expect(foreign.data.entities).toEqual([null])
  expect(other.data.entities).toEqual([null, null, null])
})

test("an account shows its configuration sets, and another's account shows nothing", async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: 'a' })

  const { data } = await service.graphql(ENTITIES, {
    representations: [accountOf('111111111111'), accountOf('222222222222')],
  })

  expect(data.entities).toEqual([
    { id: '111111111111', voiceConfigurationSets: { nodes: [{ name: 'a' }] } },
    null,
  ])
})

const ALARM = 'arn:aws:iotevents:us-east-1:111111111111:alarmModel/over/pump 4'
const SEND = `mutation ($alarm: ID!, $text: String!) {
  sendAlarmMessage(alarmId: $alarm, destinationPhoneNumber: "+12065550142",
    content: { plainTextMessage: { text: $text } }) { spokenText state } }`
const OF_ALARMS = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on Alarm { id voiceMessages(first: 2) { nodes { spokenText } } } } }`
const alarmOf = (id: string) => ({ __typename: 'Alarm', id })

test('an alarm shows the messages that were sent for it, newest first, many alarms with one read', async () => {
  const { counted, wrap } = countingReads(['listMany'])
  const service = await openForTest(subgraph, { wrap })
  const sent = await service.graphql(SEND, { alarm: ALARM, text: 'First.' })
  for (const text of ['Second.', 'Third.']) await service.graphql(SEND, { alarm: ALARM, text })
  await service.graphql(SEND, { alarm: `${ALARM}2`, text: 'Other.' })
  const representations = [ALARM, `${ALARM}2`, `${ALARM}3`].map(alarmOf)

  const { data } = await service.graphql(OF_ALARMS, { representations })

  expect(sent.data.sendAlarmMessage).toEqual({ spokenText: 'First.', state: 'ACCEPTED' })
  expect(data.entities.map(({ voiceMessages }: any) => voiceMessages.nodes)).toEqual([
    [{ spokenText: 'Third.' }, { spokenText: 'Second.' }],
    [{ spokenText: 'Other.' }],
    [],
  ])
  expect(counted.reads).toBe(1)
})

test("nobody sends a message for an alarm of another's account, or sees those of it", async () => {
  const service = await openForTest(subgraph)
  await service.graphql(SEND, { alarm: ALARM, text: 'First.' })

  const foreign = await service.graphql(SEND, { alarm: ALARM, text: 'x' }, { credential: 'bob' })
  const odd = await service.graphql(SEND, { alarm: 'over', text: 'x' })
  const seen = await service.graphql(
    OF_ALARMS,
    { representations: [alarmOf(ALARM), alarmOf('over')] },
    { credential: 'bob' },
  )

  expect(foreign.errors).toMatchObject([{ extensions: { code: 'BadRequestException' } }])
  expect(odd.errors).toMatchObject([{ extensions: { code: 'BadRequestException' } }])
  expect(seen.data.entities).toEqual([null, null])
})
