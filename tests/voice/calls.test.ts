import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type TestService } from '../open.ts'

const SECOND = 1_000

const send = async (service: TestService, DestinationPhoneNumber = '+12065550142') => {
  const { body } = await service.rest('POST /v1/sms-voice/voice/message', {
    DestinationPhoneNumber,
    Content: { PlainTextMessage: { Text: 'one two three four five' } },
  })
  return body.MessageId as string
}

const statesOf = async (service: TestService, messageId: string) => {
  const { data } = await service.graphql(
    `{ voiceMessage(messageId: "${messageId}") { state stateChanges { state timestamp } } }`,
  )
  const changes: { state: string; timestamp: string }[] = data.voiceMessage.stateChanges
  expect(data.voiceMessage.state).toBe(changes.at(-1)!.state)
  return changes.map(({ state, timestamp }) => `${timestamp.slice(14, 19)} ${state}`)
}

const putRule = (service: TestService, pattern: string, outcome: string) =>
  service.graphql(
    `mutation ($pattern: String!, $outcome: VoiceCallOutcome!) {
      putVoiceCallRule(pattern: $pattern, outcome: $outcome) { pattern outcome }
    }`,
    { pattern, outcome },
  )

test('a call is dialled, rings, is answered and ends when all is said', async () => {
  const service = await openForTest(subgraph)
  const id = await send(service)

  await service.advance(60 * SECOND)

  // Five words at 150 words a minute take two seconds.
  expect(await statesOf(service, id)).toEqual([
    '00:00 ACCEPTED',
    '00:01 INITIATED_CALL',
    '00:03 RINGING',
    '00:09 ANSWERED',
    '00:11 COMPLETED_CALL',
  ])
})

test('a call is no further than the clock', async () => {
  const service = await openForTest(subgraph)
  const id = await send(service)

  await service.advance(3 * SECOND)

  expect((await statesOf(service, id)).at(-1)).toBe('00:03 RINGING')
})

const outcomes: [outcome: string, states: string[]][] = [
  ['BUSY', ['00:00 ACCEPTED', '00:01 INITIATED_CALL', '00:04 BUSY']],
  ['FAILED', ['00:00 ACCEPTED', '00:01 INITIATED_CALL', '00:03 FAILED']],
  ['NO_ANSWER', ['00:00 ACCEPTED', '00:01 INITIATED_CALL', '00:03 RINGING', '00:33 NO_ANSWER']],
]
for (const [outcome, states] of outcomes) {
  test(`a call to a number whose rule says ${outcome} ends so`, async () => {
    const service = await openForTest(subgraph)
    await putRule(service, '+12065550142', outcome)
    const id = await send(service)

    await service.advance(600 * SECOND)

    expect(await statesOf(service, id)).toEqual(states)
  })
}

test('a call to a number that is given to nobody fails, whatever the rules', async () => {
  const service = await openForTest(subgraph)
  await putRule(service, '+*', 'ANSWERED')
  const id = await send(service, '+10000000000')

  await service.advance(60 * SECOND)

  expect((await statesOf(service, id)).at(-1)).toBe('00:03 FAILED')
})

test('of several rules the one that names most of the number decides', async () => {
  const service = await openForTest(subgraph)
  await putRule(service, '+*', 'FAILED')
  await putRule(service, '+1206*', 'NO_ANSWER')
  await putRule(service, '+1206555*', 'BUSY')
  await putRule(service, '+12065550199', 'ANSWERED')
  const numbers = ['+12065550199', '+12065550142', '+12062345678', '+31201234567']

  const ids = []
  for (const number of numbers) ids.push(await send(service, number))
  await service.advance(60 * SECOND)

  const ends = []
  for (const id of ids) ends.push((await statesOf(service, id)).at(-1)!.slice(6))
  expect(ends).toEqual(['COMPLETED_CALL', 'BUSY', 'NO_ANSWER', 'FAILED'])
})

test('rules are listed, replaced and deleted', async () => {
  const service = await openForTest(subgraph)

  const put = await putRule(service, '+1206*', 'BUSY')
  await putRule(service, '+1206*', 'FAILED')
  const listed = await service.graphql('{ voiceCallRules { nodes { pattern outcome } } }')
  const deleted = await service.graphql('mutation { deleteVoiceCallRule(pattern: "+1206*") }')
  const again = await service.graphql('mutation { deleteVoiceCallRule(pattern: "+1206*") }')

  expect(put.data.putVoiceCallRule).toEqual({ pattern: '+1206*', outcome: 'BUSY' })
  expect(listed.data.voiceCallRules.nodes).toEqual([{ pattern: '+1206*', outcome: 'FAILED' }])
  expect(deleted.data.deleteVoiceCallRule).toBe(true)
  expect(again.errors![0].extensions).toMatchObject({ code: 'NotFoundException', status: 404 })
})

test('a rule is for a number or for how it begins', async () => {
  const service = await openForTest(subgraph)

  for (const pattern of ['1206', '+', '+0*', '*', '+1*6', '+1206555014212345', '+12**']) {
    const { errors } = await putRule(service, pattern, 'BUSY')
    expect(errors![0]).toMatchObject({
      message: 'Pattern must be a number such as +12065550142, or its beginning and *.',
      extensions: { code: 'BadRequestException', status: 400 },
    })
  }
})

test('an account has 100 rules at most', async () => {
  const service = await openForTest(subgraph)
  for (let number = 100; number < 200; number++) await putRule(service, `+${number}*`, 'BUSY')

  const { errors } = await putRule(service, '+200*', 'BUSY')
  const replaced = await putRule(service, '+100*', 'FAILED')

  expect(errors![0].extensions).toMatchObject({ code: 'LimitExceededException', status: 412 })
  expect(replaced.errors).toBeUndefined()
})

test("a rule does not decide another account's calls", async () => {
  const service = await openForTest(subgraph)
  await putRule(service, '+*', 'BUSY')

  const { body } = await service.rest(
    'POST /v1/sms-voice/voice/message',
    {
      DestinationPhoneNumber: '+12065550142',
      Content: { PlainTextMessage: { Text: 'one' } },
    },
    { credential: 'bob' },
  )
  await service.advance(60 * SECOND)

  const { data } = await service.graphql(
    `{ voiceMessage(messageId: "${body.MessageId}") { state } }`,
    {},
    { credential: 'bob' },
  )
  expect(data.voiceMessage.state).toBe('COMPLETED_CALL')
})

test('every state of a call is announced once', async () => {
  const service = await openForTest(subgraph)
  const id = await send(service)

  await service.advance(60 * SECOND)

  const announced = await readEvents(service.store, { after: 0, limit: 100 })
  expect(announced.map(({ type, subject, time }) => ({ type, subject, time }))).toEqual([
    { type: 'voice.call.initiated', subject: id, time: '2030-01-01T00:00:01.000Z' },
    { type: 'voice.call.ringing', subject: id, time: '2030-01-01T00:00:03.000Z' },
    { type: 'voice.call.answered', subject: id, time: '2030-01-01T00:00:09.000Z' },
    { type: 'voice.call.completed', subject: id, time: '2030-01-01T00:00:11.000Z' },
  ])
  expect(announced[0]!.body).toEqual({
    Account: '111111111111',
    DestinationPhoneNumber: '+12065550142',
  })
})

test('a step that runs twice moves a call once', async () => {
  const service = await openForTest(subgraph)
  const id = await send(service)
  const { steps } = await import('../../resolvers/voice/calls.ts')
  await service.advance(1 * SECOND)

  const ctx = service.opened.contextFor({} as never, { address: '', headers: {} })
  await steps.moveVoiceCall!({ Key: `111111111111/${id}`, From: 'ACCEPTED' }, ctx)
  await service.advance(60 * SECOND)

  expect(await statesOf(service, id)).toHaveLength(5)
})
