// The published client, unmodified, against a listening service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-iot-events-data'
import { expect, onTestFinished, test } from 'vitest'
import { signingKeyOf } from '../people.ts'
import { openPumps } from './pumps.ts'

/** The service's clock is in every answer, as the wall clock is in a real one. */
async function listen(config: sdk.IoTEventsDataClientConfig = {}) {
  const pumps = await openPumps()
  const { service } = pumps
  await service.opened.rest.ready()
  const server = createServer((request, answer) => {
    answer.setHeader('date', service.clock.now().toUTCString())
    service.opened.rest.routing(request, answer)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const client = new sdk.IoTEventsDataClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    credentials: signingKeyOf('alice'),
    ...config,
  })
  onTestFinished(async () => {
    client.destroy()
    await new Promise((done) => server.close(done))
  })
  await pumps.createInput()
  await pumps.createModel()
  await pumps.createAlarm()
  return { ...pumps, client }
}

const message = (messageId: string, payload: object, inputName = 'reading') => ({
  messageId,
  inputName,
  payload: new TextEncoder().encode(JSON.stringify(payload)),
})

test('all twelve operations work', async () => {
  const { service, client } = await listen()
  const alarmModelName = 'over'
  const detectorModelName = 'pumps'
  const keyValue = 'a:1'
  const named = { requestId: 'r', alarmModelName, keyValue, note: 'n' }
  const alarmNow = async () => {
    const { alarm } = await client.send(new sdk.DescribeAlarmCommand({ alarmModelName, keyValue }))
    return alarm!
  }
  const stateNow = async () => (await alarmNow()).alarmState!.stateName

  const put = await client.send(
    new sdk.BatchPutMessageCommand({
      messages: [
        { ...message('m1', { pump: keyValue, pressure: 90 }), timestamp: { timeInMillis: 1.9e12 } },
        message('m2', { pump: 'b', pressure: 1 }),
        message('m3', {}, 'none'),
      ],
    }),
  )
  const alarm = await alarmNow()
  await client.send(new sdk.BatchAcknowledgeAlarmCommand({ acknowledgeActionRequests: [named] }))
  const acknowledged = await stateNow()
  await client.send(new sdk.BatchDisableAlarmCommand({ disableActionRequests: [named] }))
  const disabled = await stateNow()
  await client.send(new sdk.BatchEnableAlarmCommand({ enableActionRequests: [named] }))
  const enabled = await stateNow()
  const snooze = { snoozeActionRequests: [{ ...named, snoozeDuration: 60 }] }
  await client.send(new sdk.BatchSnoozeAlarmCommand(snooze))
  const snoozed = await alarmNow()
  await service.advance(60_000)
  const awake = await alarmNow()
  const reset = await client.send(
    new sdk.BatchResetAlarmCommand({
      resetActionRequests: [named, { ...named, requestId: 'other', keyValue: 'none' }],
    }),
  )
  const alarms = await client.send(new sdk.ListAlarmsCommand({ alarmModelName }))
  const updated = await client.send(
    new sdk.BatchUpdateDetectorCommand({
      detectors: [
        {
          messageId: 'm',
          detectorModelName,
          keyValue,
          state: {
            stateName: 'steady',
            variables: [{ name: 'count', value: '7' }],
            timers: [{ name: 't', seconds: 30 }],
          },
        },
      ],
    }),
  )
  const described = await client.send(
    new sdk.DescribeDetectorCommand({ detectorModelName, keyValue }),
  )
  const deleted = await client.send(
    new sdk.BatchDeleteDetectorCommand({
      detectors: [
        { messageId: 'm1', detectorModelName, keyValue },
        { messageId: 'm2', detectorModelName, keyValue: 'none' },
      ],
    }),
  )
  const detectors = await client.send(
    new sdk.ListDetectorsCommand({ detectorModelName, stateName: 'steady' }),
  )

  expect(put.BatchPutMessageErrorEntries).toEqual([
    {
      messageId: 'm3',
      errorCode: sdk.ErrorCode.ResourceNotFoundException,
      errorMessage: 'There is no input named none.',
    },
  ])
  expect(alarm).toEqual({
    alarmModelName,
    alarmModelVersion: '1',
    keyValue,
    alarmState: {
      stateName: sdk.AlarmStateName.ACTIVE,
      ruleEvaluation: {
        simpleRuleEvaluation: {
          inputPropertyValue: '90',
          operator: sdk.ComparisonOperator.GREATER,
          thresholdValue: '80',
        },
      },
    },
    severity: 3,
    creationTime: new Date('2030-01-01T00:00:00.000Z'),
    lastUpdateTime: new Date('2030-01-01T00:00:00.000Z'),
  })
  expect([acknowledged, disabled, enabled]).toEqual(['ACKNOWLEDGED', 'DISABLED', 'NORMAL'])
  expect(snoozed.alarmState).toMatchObject({
    stateName: 'SNOOZE_DISABLED',
    customerAction: {
      actionName: sdk.CustomerActionName.SNOOZE,
      snoozeActionConfiguration: { snoozeDuration: 60, note: 'n' },
    },
  })
  expect(awake.alarmState).toMatchObject({
    stateName: 'NORMAL',
    systemEvent: {
      eventType: sdk.EventType.STATE_CHANGE,
      stateChangeConfiguration: { triggerType: sdk.TriggerType.SNOOZE_TIMEOUT },
    },
  })
  expect(reset.errorEntries).toEqual([
    {
      requestId: 'other',
      errorCode: sdk.ErrorCode.ResourceNotFoundException,
      errorMessage: 'The model over has no alarm with the key value none.',
    },
  ])
  expect(alarms.alarmSummaries!.map((it) => [it.keyValue, it.stateName])).toEqual([
    [keyValue, 'NORMAL'],
    ['b', 'NORMAL'],
  ])
  expect(updated.batchUpdateDetectorErrorEntries).toEqual([])
  expect(described.detector).toEqual({
    detectorModelName,
    keyValue,
    detectorModelVersion: '1',
    state: {
      stateName: 'steady',
      variables: [{ name: 'count', value: '7' }],
      timers: [{ name: 't', timestamp: new Date('2030-01-01T00:01:30.000Z') }],
    },
    creationTime: new Date('2030-01-01T00:00:00.000Z'),
    lastUpdateTime: new Date('2030-01-01T00:01:00.000Z'),
  })
  expect(deleted.batchDeleteDetectorErrorEntries).toMatchObject([
    { messageId: 'm2', errorCode: 'ResourceNotFoundException' },
  ])
  expect(detectors.detectorSummaries!.map(({ keyValue }) => keyValue)).toEqual(['b'])
})

test('250 detectors and 250 alarms are paged through', async () => {
  const { client } = await listen()
  const keys = Array.from({ length: 250 }, (_, i) => `pump-${String(i).padStart(3, '0')}`)
  for (let at = 0; at < keys.length; at += 50) {
    const messages = keys
      .slice(at, at + 50)
      .map((pump, i) => message(`m${i}`, { pump, pressure: i % 2 === 0 ? 90 : 1 }))
    await client.send(new sdk.BatchPutMessageCommand({ messages }))
  }

  const detectors: sdk.DetectorSummary[] = []
  const high: sdk.DetectorSummary[] = []
  const alarms: sdk.AlarmSummary[] = []
  let nextToken: string | undefined
  do {
    const page: sdk.ListDetectorsCommandOutput = await client.send(
      new sdk.ListDetectorsCommand({ detectorModelName: 'pumps', nextToken, maxResults: 60 }),
    )
    detectors.push(...page.detectorSummaries!)
    nextToken = page.nextToken
  } while (nextToken !== undefined)
  do {
    const asked = { detectorModelName: 'pumps', stateName: 'high', nextToken, maxResults: 60 }
    const page: sdk.ListDetectorsCommandOutput = await client.send(
      new sdk.ListDetectorsCommand(asked),
    )
    high.push(...page.detectorSummaries!)
    nextToken = page.nextToken
  } while (nextToken !== undefined)
  do {
    const page: sdk.ListAlarmsCommandOutput = await client.send(
      new sdk.ListAlarmsCommand({ alarmModelName: 'over', nextToken }),
    )
    alarms.push(...page.alarmSummaries!)
    nextToken = page.nextToken
  } while (nextToken !== undefined)

  expect(detectors.map(({ keyValue }) => keyValue)).toEqual(keys)
  expect(high).toHaveLength(125)
  expect(alarms.map(({ keyValue }) => keyValue)).toEqual(keys)
  expect(alarms.filter(({ stateName }) => stateName === 'ACTIVE')).toHaveLength(125)
})

test('refusals are the classes that the client has for them', async () => {
  const { client } = await listen()
  const thrown = (sent: Promise<unknown>) => sent.catch((error: unknown) => error)

  const missing = await thrown(
    client.send(new sdk.DescribeAlarmCommand({ alarmModelName: 'none' })),
  )
  const missingToo = await thrown(
    client.send(new sdk.ListDetectorsCommand({ detectorModelName: 'none' })),
  )
  const bad = await thrown(client.send(new sdk.BatchPutMessageCommand({ messages: [] })))
  const token = await thrown(
    client.send(new sdk.ListAlarmsCommand({ alarmModelName: 'over', nextToken: 'x' })),
  )

  expect(missing).toBeInstanceOf(sdk.ResourceNotFoundException)
  expect(missing).toMatchObject({
    message: 'There is no alarm model named none.',
    $metadata: { httpStatusCode: 404, requestId: expect.any(String) },
  })
  expect(missingToo).toBeInstanceOf(sdk.ResourceNotFoundException)
  expect(bad).toBeInstanceOf(sdk.InvalidRequestException)
  expect(bad).toMatchObject({ $metadata: { httpStatusCode: 400 } })
  expect(token).toBeInstanceOf(sdk.InvalidRequestException)
})

test('a wrong secret is refused by name', async () => {
  const { client } = await listen({
    credentials: { ...signingKeyOf('alice'), secretAccessKey: 'wrong' },
  })

  await expect(
    client.send(new sdk.ListAlarmsCommand({ alarmModelName: 'over' })),
  ).rejects.toMatchObject({
    name: 'InvalidSignatureException',
    $metadata: { httpStatusCode: 403 },
  })
})
