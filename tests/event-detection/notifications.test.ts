// Alarms that call somebody, through the graph.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/event-detection.ts'
import { subgraph as voice } from '../../subgraphs/voice.ts'
import { openGraphForTest } from '../open-graph.ts'
import { people } from '../people.ts'
import { openPumps, pumpsOn } from './pumps.ts'

const CALL = {
  destinationPhoneNumber: '+12065550142',
  originationPhoneNumber: '+12065550100',
  languageCode: 'en-US',
  voiceId: 'Joanna',
  text: 'Pump ${$alarm.keyValue} is at ${$input.reading.pressure}, above ${$alarm.thresholdValue}.',
}
const calling = (...voiceNotifications: object[]) => ({ alarmNotification: { voiceNotifications } })

const NOTIFICATIONS = `{ alarm(alarmModelName: "over", keyValue: "a") { stateName notifications {
  nodes { destinationPhoneNumber text status attempts messageId reason requestedTime } } } }`

const ready = async (more: Record<string, unknown>) => {
  const graph = await openGraphForTest([subgraph, voice])
  const pumps = await pumpsOn(graph.service('event-detection'))
  await pumps.createInput()
  const { errors } = await pumps.createAlarm(more)
  expect(errors).toBeUndefined()
  const notifications = async () =>
    (await graph.ask(NOTIFICATIONS)).data.alarm.notifications.nodes as any[]
  const messages = async () =>
    (
      await graph.ask(
        '{ voiceMessages { nodes { messageId spokenText state destinationPhoneNumber } } }',
      )
    ).data.voiceMessages.nodes as any[]
  return { graph, ...pumps, notifications, messages }
}

describe('an alarm that becomes active', () => {
  test('calls through the voice service, and keeps the id of the message', async () => {
    const { graph, send, notifications, messages } = await ready(calling(CALL))
    await send({ pump: 'a', pressure: 88 })
    const before = await notifications()

    await graph.advance(60_000)

    const [message] = await messages()
    expect(before).toMatchObject([{ status: 'PENDING', messageId: null, attempts: 0 }])
    expect(message).toEqual({
      messageId: expect.any(String),
      spokenText: 'Pump a is at 88, above 80.',
      state: 'COMPLETED_CALL',
      destinationPhoneNumber: '+12065550142',
    })
    expect(await notifications()).toEqual([
      {
        destinationPhoneNumber: '+12065550142',
        text: 'Pump a is at 88, above 80.',
        status: 'SENT',
        attempts: 1,
        messageId: message.messageId,
        reason: null,
        requestedTime: '2030-01-01T00:00:00.000Z',
      },
    ])
    const { data } = await graph.ask(
      '{ alarm(alarmModelName: "over", keyValue: "a") { voiceMessages { nodes { messageId state } } } }',
    )
    expect(data.alarm.voiceMessages.nodes).toEqual([
      { messageId: message.messageId, state: 'COMPLETED_CALL' },
    ])
  })

  test('calls once while it stays active, and again when it becomes so again', async () => {
    const { graph, send, messages } = await ready(calling(CALL))

    await send({ pump: 'a', pressure: 88 }, { pump: 'a', pressure: 90 })
    await graph.advance(1_000)
    const once = await messages()
    await send({ pump: 'a', pressure: 1 }, { pump: 'a', pressure: 95 })
    await graph.advance(1_000)

    expect(once).toHaveLength(1)
    expect((await messages()).map(({ spokenText }) => spokenText)).toEqual([
      'Pump a is at 95, above 80.',
      'Pump a is at 88, above 80.',
    ])
  })

  test('keeps why a call was refused, and calls the others', async () => {
    const other = { ...CALL, configurationSetName: 'none' }
    const { graph, send, notifications, messages } = await ready(calling(other, CALL))
    await send({ pump: 'a', pressure: 88 })

    await graph.advance(60_000)

    expect(await notifications()).toMatchObject([
      { status: 'SENT', attempts: 1 },
      {
        status: 'FAILED',
        attempts: 1,
        messageId: null,
        reason: 'There is no configuration set named none.',
      },
    ])
    expect(await messages()).toHaveLength(1)
  })

  test('calls with what the credential permitted that made its model', async () => {
    const graph = await openGraphForTest([subgraph, voice])
    const service = graph.service('event-detection')
    const { createInput, send } = await pumpsOn(service)
    await createInput()
    await service.graphqlAs(
      { ...people.alice, permissions: ['iotevents:*'] },
      `mutation ($call: AlarmNotificationSettingsInput) { createAlarmModel(alarmModelName: "over", key: "pump",
        alarmRule: { simpleRule: { inputProperty: "$input.reading.pressure", comparisonOperator: GREATER, threshold: "80" } },
        alarmNotification: $call) { name } }`,
      { call: calling(CALL).alarmNotification },
    )
    await send({ pump: 'a', pressure: 88 })

    await graph.advance(60_000)

    const { data } = await graph.ask(NOTIFICATIONS)
    expect(data.alarm.notifications.nodes).toMatchObject([
      { status: 'FAILED', reason: 'The credential does not permit sms-voice:SendVoiceMessage.' },
    ])
  })
})

test('an alarm without a gateway tries again, and then gives up and says so', async () => {
  const { service, createInput, createAlarm, send } = await openPumps()
  await createInput()
  await createAlarm(calling(CALL))
  await send({ pump: 'a', pressure: 88 })

  await service.advance(1_000)
  const early = await service.graphql(NOTIFICATIONS)
  await service.advance(3_600_000)
  const late = await service.graphql(NOTIFICATIONS)

  expect(early.data.alarm).toMatchObject({
    stateName: 'ACTIVE',
    notifications: { nodes: [{ status: 'PENDING', attempts: 2 }] },
  })
  expect(late.data.alarm.notifications.nodes).toMatchObject([
    { status: 'FAILED', attempts: 6, reason: expect.stringContaining('needs the whole graph') },
  ])
  expect((await service.opened.work.counts()).parked).toBe(0)
})
