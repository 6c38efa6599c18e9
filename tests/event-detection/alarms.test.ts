import { describe, expect, test } from 'vitest'
import { ARN, openPumps } from './pumps.ts'

const ready = async (more: Record<string, unknown> = {}) => {
  const pumps = await openPumps()
  await pumps.createInput()
  const { errors } = await pumps.createAlarm(more)
  expect(errors).toBeUndefined()
  const stateOf = async (key?: string) => (await pumps.alarm(key)).alarmState.stateName
  /** Sends a pressure and returns the state afterwards. */
  const at = async (pressure: number) => {
    await pumps.send({ pump: 'a', pressure })
    return stateOf('a')
  }
  return { ...pumps, stateOf, at }
}

const withAcknowledgeFlow = { alarmCapabilities: { acknowledgeFlow: { enabled: true } } }

test('an alarm is described as clients read it', async () => {
  const { service, send } = await ready()
  await send({ pump: 'a', pressure: 81.5 })

  const plain = await service.rest('GET /alarms/over/keyValues?keyValue=a')
  const slashed = await service.rest('GET /alarms/over/keyValues/?keyValue=a')
  const { data } = await service.graphql(
    `{ alarm(alarmModelName: "over", keyValue: "a") {
        id keyValue severity creationTime
        alarmState { stateName ruleEvaluation { simpleRuleEvaluation { inputPropertyValue operator thresholdValue } }
          customerAction { actionName } systemEvent { eventType } }
        alarmModel { name severity } } }`,
  )

  expect(plain.status).toBe(200)
  expect(plain.body).toEqual({
    alarm: {
      alarmModelName: 'over',
      alarmModelVersion: '1',
      keyValue: 'a',
      alarmState: {
        stateName: 'ACTIVE',
        ruleEvaluation: {
          simpleRuleEvaluation: {
            inputPropertyValue: '81.5',
            operator: 'GREATER',
            thresholdValue: '80',
          },
        },
      },
      severity: 3,
      creationTime: 1893456000,
      lastUpdateTime: 1893456000,
    },
  })
  expect(slashed.body).toEqual(plain.body)
  expect(data.alarm).toEqual({
    id: `${ARN}:alarmModel/over/a`,
    keyValue: 'a',
    severity: 3,
    creationTime: '2030-01-01T00:00:00.000Z',
    alarmState: {
      stateName: 'ACTIVE',
      ruleEvaluation: {
        simpleRuleEvaluation: {
          inputPropertyValue: '81.5',
          operator: 'GREATER',
          thresholdValue: '80',
        },
      },
      customerAction: null,
      systemEvent: null,
    },
    alarmModel: { name: 'over', severity: 3 },
  })
})

test('a rule compares as it says', async () => {
  const pumps = await openPumps()
  await pumps.createInput()
  const cases = [
    ['GREATER', '80', 80, 'NORMAL'],
    ['GREATER', '80', 80.5, 'ACTIVE'],
    ['GREATER_OR_EQUAL', '80', 80, 'ACTIVE'],
    ['LESS', '80', 80, 'NORMAL'],
    ['LESS', '80', 79, 'ACTIVE'],
    ['LESS_OR_EQUAL', '80', 80, 'ACTIVE'],
    ['EQUAL', '80', 80, 'ACTIVE'],
    ['EQUAL', '80', 81, 'NORMAL'],
    ['NOT_EQUAL', '80', 81, 'ACTIVE'],
    ['GREATER', '$input.reading.at', 8, 'ACTIVE'],
    ['GREATER', '$input.reading.at * 2', 8, 'NORMAL'],
  ] as const
  for (const [i, [comparisonOperator, threshold]] of cases.entries()) {
    const simpleRule = { inputProperty: '$input.reading.pressure', comparisonOperator, threshold }
    await pumps.createAlarm({ alarmModelName: `rule-${i}`, alarmRule: { simpleRule } })
  }

  await pumps.send(...cases.map(([, , pressure], i) => ({ pump: `p${i}`, pressure, at: 5 })))

  for (const [i, [, , , stateName]] of cases.entries()) {
    const { alarmState } = await pumps.alarm(`p${i}`, `rule-${i}`)
    expect(alarmState.stateName, `case ${i}`).toBe(stateName)
  }
})

test('an alarm becomes active and normal again with its values', async () => {
  const { at } = await ready()

  expect([await at(1), await at(81), await at(90), await at(80), await at(81)]).toEqual([
    'NORMAL',
    'ACTIVE',
    'ACTIVE',
    'NORMAL',
    'ACTIVE',
  ])
})

test('where it must be acknowledged, an alarm whose value is good again is latched until it is', async () => {
  const { at, act, stateOf } = await ready(withAcknowledgeFlow)

  const latched = [await at(81), await at(80), await at(79), await at(85), await at(80)]
  await act('acknowledge', { keyValue: 'a' })
  const acknowledged = await stateOf('a')

  expect(latched).toEqual(['ACTIVE', 'LATCHED', 'LATCHED', 'ACTIVE', 'LATCHED'])
  expect(acknowledged).toBe('ACKNOWLEDGED')
  expect(await at(70)).toBe('NORMAL')
})

test('an acknowledged alarm stays so while its value is bad, and is normal when it is good', async () => {
  const { at, act, stateOf } = await ready(withAcknowledgeFlow)
  await at(81)

  await act('acknowledge', { keyValue: 'a', note: 'seen' })

  expect([await stateOf('a'), await at(90), await at(80), await at(81)]).toEqual([
    'ACKNOWLEDGED',
    'ACKNOWLEDGED',
    'NORMAL',
    'ACTIVE',
  ])
})

test('an alarm can begin turned off, and evaluates nothing then', async () => {
  const { at, act } = await ready({
    alarmCapabilities: { initializationConfiguration: { disabledOnInitialization: true } },
  })

  const off = [await at(90), await at(1)]
  await act('enable', { keyValue: 'a' })

  expect(off).toEqual(['DISABLED', 'DISABLED'])
  expect(await at(90)).toBe('ACTIVE')
})

test('a message without what the rule compares makes an alarm and changes none', async () => {
  const { send, alarm, at } = await ready()
  await send({ pump: 'a' })
  const fresh = await alarm('a')

  await at(90)
  await send({ pump: 'a', pressure: 'low' })

  expect(fresh.alarmState).toEqual({ stateName: 'NORMAL' })
  expect((await alarm('a')).alarmState).toMatchObject({ stateName: 'ACTIVE' })
})

describe('from every state', () => {
  type Ready = Awaited<ReturnType<typeof ready>>
  const REACH: Record<string, (pumps: Ready, keyValue: string) => Promise<unknown>> = {
    NORMAL: ({ send }, pump) => send({ pump, pressure: 1 }),
    ACTIVE: ({ send }, pump) => send({ pump, pressure: 90 }),
    LATCHED: ({ send }, pump) => send({ pump, pressure: 90 }, { pump, pressure: 1 }),
    ACKNOWLEDGED: async ({ send, act }, keyValue) => [
      await send({ pump: keyValue, pressure: 90 }),
      await act('acknowledge', { keyValue }),
    ],
    DISABLED: async ({ send, act }, keyValue) => [
      await send({ pump: keyValue, pressure: 1 }),
      await act('disable', { keyValue }),
    ],
    SNOOZE_DISABLED: async ({ send, act }, keyValue) => [
      await send({ pump: keyValue, pressure: 1 }),
      await act('snooze', { keyValue, snoozeDuration: 60 }),
    ],
  }
  const NEXT = {
    acknowledge: 'ACKNOWLEDGED',
    disable: 'DISABLED',
    enable: 'NORMAL',
    reset: 'NORMAL',
    snooze: 'SNOOZE_DISABLED',
  } as const

  test.each(Object.keys(REACH))('%s, each action leads to its documented state', async (from) => {
    const pumps = await ready(withAcknowledgeFlow)
    for (const [action, to] of Object.entries(NEXT)) {
      const keyValue = `to-be-${action}d`
      await REACH[from]!(pumps, keyValue)
      expect(await pumps.stateOf(keyValue)).toBe(from)

      const more = action === 'snooze' ? { snoozeDuration: 60 } : {}
      const answer = await pumps.act(action as keyof typeof NEXT, { keyValue, note: 'n', ...more })

      expect(answer).toMatchObject({ status: 200, body: { errorEntries: [] } })
      const { stateName, customerAction } = (await pumps.alarm(keyValue)).alarmState
      expect(stateName).toBe(to)
      expect(customerAction).toEqual({
        actionName: action.toUpperCase(),
        [`${action}ActionConfiguration`]: { note: 'n', ...more },
      })
    }
  })
})

test.each([
  ['batchAcknowledgeAlarm', 'acknowledgeActionRequests', 'AlarmActionRequest', 'ACKNOWLEDGED'],
  ['batchDisableAlarm', 'disableActionRequests', 'AlarmActionRequest', 'DISABLED'],
  ['batchEnableAlarm', 'enableActionRequests', 'AlarmActionRequest', 'NORMAL'],
  ['batchResetAlarm', 'resetActionRequests', 'AlarmActionRequest', 'NORMAL'],
  ['batchSnoozeAlarm', 'snoozeActionRequests', 'AlarmSnoozeRequest', 'SNOOZE_DISABLED'],
])('%s works in the graph', async (field, argument, type, stateName) => {
  const { service, at, stateOf } = await ready()
  await at(90)
  const more = type === 'AlarmSnoozeRequest' ? { snoozeDuration: 5 } : {}

  const { data } = await service.graphql(
    `mutation ($it: [${type}!]!) { ${field}(${argument}: $it) { errorEntries { requestId errorCode } } }`,
    {
      it: [
        { requestId: 'a', alarmModelName: 'over', keyValue: 'a', ...more },
        { requestId: 'b', alarmModelName: 'over', keyValue: 'z', ...more },
      ],
    },
  )

  expect(data[field].errorEntries).toEqual([
    { requestId: 'b', errorCode: 'ResourceNotFoundException' },
  ])
  expect(await stateOf('a')).toBe(stateName)
})

test('a snooze ends by itself, and says so', async () => {
  const { service, at, act, alarm, stateOf } = await ready()
  await at(90)
  await act('snooze', { keyValue: 'a', snoozeDuration: 600, note: 'lunch' })

  const ignored = await at(95)
  await service.advance(599_000)
  const before = await stateOf('a')
  await service.advance(1_000)

  expect([ignored, before]).toEqual(['SNOOZE_DISABLED', 'SNOOZE_DISABLED'])
  expect(await alarm('a')).toMatchObject({
    alarmState: {
      stateName: 'NORMAL',
      systemEvent: {
        eventType: 'STATE_CHANGE',
        stateChangeConfiguration: { triggerType: 'SNOOZE_TIMEOUT' },
      },
    },
    lastUpdateTime: 1893456600,
  })
  expect((await alarm('a')).alarmState).not.toHaveProperty('customerAction')
  expect(await at(95)).toBe('ACTIVE')
})

test('a snooze that was ended or begun anew does not end twice', async () => {
  const { service, at, act, stateOf } = await ready()
  await at(90)
  await act('snooze', { keyValue: 'a', snoozeDuration: 60 })
  await act('snooze', { keyValue: 'a', snoozeDuration: 600 })

  await service.advance(60_000)
  const anew = await stateOf('a')
  await act('disable', { keyValue: 'a' })
  await service.advance(600_000)

  expect(anew).toBe('SNOOZE_DISABLED')
  expect(await stateOf('a')).toBe('DISABLED')
})

test('an action that cannot be is refused by itself, and changes nothing', async () => {
  const { at, act, alarm } = await ready()
  await at(90)
  const before = await alarm('a')

  const unknown = await act('reset', { keyValue: 'z' }, { alarmModelName: 'none' }, {})
  const snooze = await act(
    'snooze',
    { keyValue: 'a', snoozeDuration: 0 },
    { keyValue: 'a', snoozeDuration: 1e9 },
  )

  expect(unknown.body.errorEntries).toEqual([
    {
      requestId: 'r0',
      errorCode: 'ResourceNotFoundException',
      errorMessage: 'The model over has no alarm with the key value z.',
    },
    {
      requestId: 'r1',
      errorCode: 'ResourceNotFoundException',
      errorMessage: 'There is no alarm model named none.',
    },
    {
      requestId: 'r2',
      errorCode: 'ResourceNotFoundException',
      errorMessage: 'The model over has no alarm without a key value.',
    },
  ])
  expect(snooze.body.errorEntries).toMatchObject([
    { requestId: 'r0', errorCode: 'InvalidRequestException' },
    { requestId: 'r1', errorCode: 'InvalidRequestException' },
  ])
  expect(await alarm('a')).toEqual(before)
})

test.each(['acknowledge', 'disable', 'enable', 'reset', 'snooze'])(
  'a batch to %s without what it must hold is refused whole',
  async (action) => {
    const { service, at, stateOf } = await ready()
    await at(90)
    const good = { requestId: 'r', alarmModelName: 'over', keyValue: 'a', snoozeDuration: 5 }
    const field = `${action}ActionRequests`
    const batches = [
      {},
      { [field]: [] },
      { [field]: 'a' },
      { [field]: [{ ...good, requestId: undefined }] },
      { [field]: [{ ...good, alarmModelName: undefined }] },
      { [field]: [{ ...good, note: 'x'.repeat(257) }] },
      { [field]: [good, good] },
      ...(action === 'snooze' ? [{ [field]: [{ ...good, snoozeDuration: undefined }] }] : []),
    ]

    for (const body of batches) {
      expect(await service.rest(`POST /alarms/${action}`, body)).toMatchObject({
        status: 400,
        body: { __type: 'InvalidRequestException' },
      })
    }
    expect(await stateOf('a')).toBe('ACTIVE')
  },
)

test('alarms are listed by key value without their details, and paged', async () => {
  const { service, send } = await ready()
  await send({ pump: 'a', pressure: 1 }, { pump: 'b', pressure: 90 }, { pump: 'c', pressure: 1 })

  const first = await service.rest('GET /alarms/over?maxResults=2')
  const second = await service.rest(`GET /alarms/over?nextToken=${first.body.nextToken}`)
  const damaged = await service.rest('GET /alarms/over?nextToken=x')
  const unknown = await service.rest('GET /alarms/none')
  const { data } = await service.graphql(
    `{ alarmPage(alarmModelName: "over", maxResults: 2) {
        alarmSummaries { alarmModelName alarmModelVersion keyValue stateName lastUpdateTime } nextToken }
       alarmModel(alarmModelName: "over") { alarms { nodes { keyValue stateName } } } }`,
  )

  expect(first.body.alarmSummaries).toEqual([
    {
      alarmModelName: 'over',
      alarmModelVersion: '1',
      keyValue: 'a',
      stateName: 'NORMAL',
      creationTime: 1893456000,
      lastUpdateTime: 1893456000,
    },
    {
      alarmModelName: 'over',
      alarmModelVersion: '1',
      keyValue: 'b',
      stateName: 'ACTIVE',
      creationTime: 1893456000,
      lastUpdateTime: 1893456000,
    },
  ])
  expect(second.body).toMatchObject({ alarmSummaries: [{ keyValue: 'c' }] })
  expect(second.body).not.toHaveProperty('nextToken')
  expect(damaged).toMatchObject({ status: 400, body: { __type: 'InvalidRequestException' } })
  expect(unknown).toMatchObject({ status: 404, body: { __type: 'ResourceNotFoundException' } })
  expect(data.alarmPage.alarmSummaries[1]).toEqual({
    alarmModelName: 'over',
    alarmModelVersion: '1',
    keyValue: 'b',
    stateName: 'ACTIVE',
    lastUpdateTime: '2030-01-01T00:00:00.000Z',
  })
  expect(data.alarmPage.nextToken).toEqual(expect.any(String))
  expect(data.alarmModel.alarms.nodes).toHaveLength(3)
})
