import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type TestService } from '../open.ts'

const MESSAGE = '/v1/sms-voice/voice/message'
const TEXT = { LanguageCode: 'en-US', Text: 'The pump has stopped.', VoiceId: 'Joanna' }
const SENT = {
  DestinationPhoneNumber: '+12065550142',
  OriginationPhoneNumber: '+12065550100',
  Content: { PlainTextMessage: TEXT },
}

const send = (service: TestService, more: object = {}) =>
  service.rest(`POST ${MESSAGE}`, { ...SENT, ...more })

const read = async (service: TestService, messageId: string) => {
  const { data } = await service.graphql(
    `query ($messageId: ID!) {
      voiceMessage(messageId: $messageId) {
        messageId callerId configurationSetName destinationPhoneNumber originationPhoneNumber
        spokenText speechMs state stateChanges { state timestamp }
        content {
          plainTextMessage { languageCode text voiceId }
          ssmlMessage { text }
          callInstructionsMessage { text }
        }
      }
    }`,
    { messageId },
  )
  return data.voiceMessage
}

const nothingSent = async (service: TestService) => {
  const { data } = await service.graphql('{ voiceMessages { nodes { messageId } } }')
  expect(data.voiceMessages.nodes).toEqual([])
}

test('a message is accepted and can be read', async () => {
  const service = await openForTest(subgraph)

  const sent = await send(service, { CallerId: '+12065550111' })

  expect(sent).toMatchObject({ status: 200, body: { MessageId: expect.any(String) } })
  expect(Object.keys(sent.body)).toEqual(['MessageId'])
  expect(await read(service, sent.body.MessageId)).toEqual({
    messageId: sent.body.MessageId,
    callerId: '+12065550111',
    configurationSetName: null,
    destinationPhoneNumber: '+12065550142',
    originationPhoneNumber: '+12065550100',
    spokenText: 'The pump has stopped.',
    speechMs: 1_600,
    state: 'ACCEPTED',
    stateChanges: [{ state: 'ACCEPTED', timestamp: '2030-01-01T00:00:00.000Z' }],
    content: {
      plainTextMessage: { languageCode: 'en-US', text: 'The pump has stopped.', voiceId: 'Joanna' },
      ssmlMessage: null,
      callInstructionsMessage: null,
    },
  })
})

test('a message is sent in the graph', async () => {
  const service = await openForTest(subgraph)

  const { data } = await service.graphql(
    `mutation ($content: VoiceMessageContentInput) {
      sendVoiceMessage(destinationPhoneNumber: "+12065550142", content: $content) {
        originationPhoneNumber spokenText speechMs content { ssmlMessage { text } }
      }
    }`,
    { content: { ssmlMessage: { text: '<speak>One <break time="3s"/> two</speak>' } } },
  )

  expect(data.sendVoiceMessage).toEqual({
    originationPhoneNumber: '+12065550100',
    spokenText: 'One two',
    speechMs: 3_800,
    content: { ssmlMessage: { text: '<speak>One <break time="3s"/> two</speak>' } },
  })
})

test('messages are listed newest first, a page at a time', async () => {
  const service = await openForTest(subgraph)
  const ids = []
  for (let number = 0; number < 3; number++) {
    ids.push((await send(service)).body.MessageId)
    await service.advance(1_000)
  }
  const query = `query ($after: String) {
    voiceMessages(first: 2, after: $after) {
      nodes { messageId } pageInfo { hasNextPage endCursor }
    }
  }`

  const first = (await service.graphql(query)).data.voiceMessages
  const after = first.pageInfo.endCursor
  const second = (await service.graphql(query, { after })).data.voiceMessages

  expect(first.nodes).toEqual([{ messageId: ids[2] }, { messageId: ids[1] }])
  expect(second.nodes).toEqual([{ messageId: ids[0] }])
  expect(second.pageInfo.hasNextPage).toBe(false)
})

test("another account's message is not found", async () => {
  const service = await openForTest(subgraph)
  const { MessageId } = (await send(service)).body

  const { data, errors } = await service.graphql(
    `{ voiceMessage(messageId: "${MessageId}") { messageId } }`,
    {},
    { credential: 'bob' },
  )

  expect(data.voiceMessage).toBeNull()
  expect(errors![0].extensions).toMatchObject({ code: 'NotFoundException', status: 404 })
})

test('a message names a configuration set that there is', async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: 'a' })

  const known = await send(service, { ConfigurationSetName: 'a' })
  const unknown = await send(service, { ConfigurationSetName: 'b' })

  expect(known.status).toBe(200)
  expect((await read(service, known.body.MessageId)).configurationSetName).toBe('a')
  expect(unknown).toMatchObject({
    status: 404,
    body: { __type: 'NotFoundException', Message: 'There is no configuration set named b.' },
  })
})

const E164 = 'must be a phone number in E.164 form, such as +12065550142.'
for (const field of ['DestinationPhoneNumber', 'OriginationPhoneNumber', 'CallerId']) {
  test(`${field} must be a phone number in E.164 form`, async () => {
    const service = await openForTest(subgraph)

    // No plus, words, an unknown country, a digit too few, digits too many.
    const numbers = ['12065550142', '+1 206 555 0142', 'me', '+999123456', '+1206555014', '']
    for (const number of [...numbers, '+1206555014212345']) {
      expect(await send(service, { [field]: number })).toMatchObject({
        status: 400,
        body: { __type: 'BadRequestException', Message: `${field} ${E164}` },
      })
    }
    await nothingSent(service)
  })
}

test('a message needs a destination', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`POST ${MESSAGE}`, { Content: SENT.Content })

  expect(answer).toMatchObject({
    status: 400,
    body: { __type: 'BadRequestException', Message: 'DestinationPhoneNumber is missing.' },
  })
})

const ONE_KIND =
  'Content must have exactly one of PlainTextMessage, SSMLMessage, CallInstructionsMessage.'
const unfit: [rule: string, content: object | undefined, message: string][] = [
  ['no content', undefined, ONE_KIND],
  ['an empty content', {}, ONE_KIND],
  ['two kinds of content', { PlainTextMessage: TEXT, SSMLMessage: TEXT }, ONE_KIND],
  [
    'no text',
    { PlainTextMessage: { VoiceId: 'Joanna' } },
    'Content.PlainTextMessage.Text says nothing.',
  ],
  [
    'nothing to say',
    { SSMLMessage: { Text: '<speak><break time="1s"/> … </speak>' } },
    'Content.SSMLMessage.Text says nothing.',
  ],
  [
    'a language that is none',
    { PlainTextMessage: { ...TEXT, LanguageCode: 'English' } },
    'Content.PlainTextMessage.LanguageCode must be a language such as en-US.',
  ],
  [
    'a voice that is none',
    { SSMLMessage: { ...TEXT, VoiceId: 'Joanna!' } },
    'Content.SSMLMessage.VoiceId must be the name of a voice such as Joanna.',
  ],
  [
    'malformed markup',
    { SSMLMessage: { Text: '<speak>Hello' } },
    'Content.SSMLMessage.Text is not speech markup. The element speak has no end.',
  ],
  [
    'words where markup is announced',
    { SSMLMessage: { Text: 'Hello' } },
    'Content.SSMLMessage.Text is not speech markup. Text outside of speak at 0.',
  ],
  [
    'malformed call instructions',
    { CallInstructionsMessage: { Text: '<speak>Hello</p>' } },
    'Content.CallInstructionsMessage.Text is not speech markup. ' +
      'The end of p at 12 fits no beginning.',
  ],
  [
    'more than 3000 characters',
    { PlainTextMessage: { Text: 'a'.repeat(3_001) } },
    'Content.PlainTextMessage.Text must not have more than 3000 characters.',
  ],
  [
    'more than 6000 characters of markup',
    { SSMLMessage: { Text: `<speak>${' '.repeat(6_000)}a</speak>` } },
    'Content.SSMLMessage.Text must not have more than 6000 characters.',
  ],
  [
    'more than five minutes to say',
    { SSMLMessage: { Text: `<speak>a${'<break time="10s"/>'.repeat(31)}</speak>` } },
    'Content.SSMLMessage.Text takes longer than 5 minutes.',
  ],
]

test('a content that cannot be said is refused', async () => {
  const service = await openForTest(subgraph)

  for (const [rule, Content, Message] of unfit) {
    expect(await send(service, { Content }), rule).toMatchObject({
      status: 400,
      body: { __type: 'BadRequestException', Message },
    })
  }
  await nothingSent(service)
})

test('call instructions may be words or markup', async () => {
  const service = await openForTest(subgraph)

  const words = await send(service, { Content: { CallInstructionsMessage: { Text: 'A & B' } } })
  const markup = await send(service, {
    Content: { CallInstructionsMessage: { Text: '<speak>A &amp; B</speak>' } },
  })

  expect((await read(service, words.body.MessageId)).spokenText).toBe('A & B')
  expect((await read(service, markup.body.MessageId)).spokenText).toBe('A & B')
})

test('an account sends 100 messages a second at most', async () => {
  const service = await openForTest(subgraph)
  await Promise.all(Array.from({ length: 100 }, () => send(service)))

  const refused = await send(service)
  await service.advance(1_000)
  const later = await send(service)

  expect(refused).toMatchObject({
    status: 429,
    body: {
      __type: 'TooManyRequestsException',
      Message: 'An account sends at most 100 messages a second.',
    },
  })
  expect(refused.headers['retry-after']).toBe('1')
  expect(later.status).toBe(200)
})
