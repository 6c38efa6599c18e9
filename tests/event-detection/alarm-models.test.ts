import { expect, test } from 'vitest'
import { ARN, openPumps, refusalOf, RULE } from './pumps.ts'

const rule = (more: object) => ({ alarmRule: { simpleRule: { ...RULE.simpleRule, ...more } } })
const CALL = { destinationPhoneNumber: '+12065550142', text: 'Come.' }
const call = (more: object) => ({
  alarmNotification: { voiceNotifications: [{ ...CALL, ...more }] },
})

test('a model is created, read and listed', async () => {
  const { service, createInput, createAlarm } = await openPumps()
  await createInput()

  const created = await createAlarm({
    ...call({ text: 'Pump ${$alarm.keyValue} is at ${$input.reading.pressure}.' }),
    alarmCapabilities: { acknowledgeFlow: { enabled: true } },
    watchedResourceIds: ['/x/1', '/x/1', '/x/2'],
    tags: { team: 'water' },
  })
  const { data } = await service.graphql(
    `{ alarmModel(alarmModelName: "over") {
        id name type location tags severity key inputName watchedResourceIds
        alarmRule { simpleRule { inputProperty comparisonOperator threshold } }
        alarmCapabilities { acknowledgeFlow { enabled } initializationConfiguration { disabledOnInitialization } }
        alarmNotification { voiceNotifications { destinationPhoneNumber text voiceId } } }
       alarmModels { nodes { name } }
       detectorInput(inputName: "reading") { alarmModelNames } }`,
  )

  expect(created.data.it).toEqual({
    id: `${ARN}:alarmModel/over`,
    name: 'over',
    alarmModelVersion: '1',
    inputName: 'reading',
  })
  expect(data.alarmModel).toEqual({
    id: `${ARN}:alarmModel/over`,
    name: 'over',
    type: 'AWS::IoTEvents::AlarmModel',
    location: 'us-east-1',
    tags: { team: 'water' },
    severity: 3,
    key: 'pump',
    inputName: 'reading',
    watchedResourceIds: ['/x/1', '/x/2'],
    alarmRule: RULE,
    alarmCapabilities: { acknowledgeFlow: { enabled: true }, initializationConfiguration: null },
    alarmNotification: {
      voiceNotifications: [
        {
          destinationPhoneNumber: '+12065550142',
          text: 'Pump ${$alarm.keyValue} is at ${$input.reading.pressure}.',
          voiceId: null,
        },
      ],
    },
  })
  expect(data.alarmModels.nodes).toEqual([{ name: 'over' }])
  expect(data.detectorInput.alarmModelNames).toEqual(['over'])
})

test.each([
  [
    'compares no attribute',
    rule({ inputProperty: '1' }),
    'The input property must read an attribute, such as $input.pump.pressure.',
  ],
  [
    'has a bad threshold',
    rule({ threshold: '80 +' }),
    'The threshold cannot be read: Expected expression after + at character 4: 80 +',
  ],
  [
    'reads two inputs',
    rule({ threshold: '$input.other.x' }),
    'An alarm reads one input, and this one reads reading, other.',
  ],
  [
    'reads a variable',
    rule({ threshold: '$variable.x' }),
    '$variable.x: alarms have no variables.',
  ],
  ['waits for a timer', call({ text: '${timeout("t")}' }), 'timeout("t"): alarms have no timers.'],
  [
    'reads an attribute that is not declared',
    rule({ inputProperty: '$input.reading.weight' }),
    'The input reading declares no attribute weight.',
  ],
  [
    'reads an input that is not there',
    rule({ inputProperty: '$input.other.weight' }),
    'There is no input named other. Create it first.',
  ],
  [
    'says what alarms do not have',
    call({ text: '${$alarm.colour}' }),
    '$alarm.colour is none of alarmModelName, keyValue, severity, inputPropertyValue, thresholdValue.',
  ],
  [
    'says something that cannot be read',
    call({ text: 'at ${1 +}' }),
    'An expression in the text cannot be read: Expected expression after + at character 3: at ${1 +}',
  ],
  [
    'is named like a word of the interface',
    { alarmModelName: 'snooze' },
    'snooze cannot name a model: it is a word of the interface.',
  ],
])('a model that %s is refused', async (_, more, message) => {
  const { service, createInput, createAlarm } = await openPumps()
  await createInput()

  const refusal = refusalOf(await createAlarm(more))

  expect(refusal).toEqual({ code: 'InvalidRequestException', message })
  const { data } = await service.graphql('{ alarmModels { nodes { name } } }')
  expect(data.alarmModels.nodes).toEqual([])
})

test.each([
  ['a negative severity', { severity: -1 }],
  ['a number that is none', call({ destinationPhoneNumber: '555' })],
  ['an empty text', call({ text: '' })],
  ['too many resources', { watchedResourceIds: Array.from({ length: 11 }, (_, i) => `/x/${i}`) }],
])('a model with %s is refused', async (_, more) => {
  const { createInput, createAlarm } = await openPumps()
  await createInput()

  expect(refusalOf(await createAlarm(more))?.code).toBe('Invalid')
})

const UPDATE = `mutation { updateAlarmModel(alarmModelName: "over", severity: 9, alarmRule: { simpleRule: {
  inputProperty: "$input.reading.pressure", comparisonOperator: LESS, threshold: "10" } }) {
    alarmModelVersion severity key tags } }`

test('a changed model has a new version, keeps its key and tags, and its alarms begin anew', async () => {
  const { service, createInput, createAlarm, send, alarm } = await openPumps()
  await createInput()
  await createAlarm({ tags: { team: 'water' }, watchedResourceIds: ['/x/1'] })
  await send({ pump: 'a', pressure: 90 })

  const { data } = await service.graphql(UPDATE)
  const gone = await alarm('a')
  await send({ pump: 'a', pressure: 5 })
  await service.advance(0)

  expect(data.updateAlarmModel).toEqual({
    alarmModelVersion: '2',
    severity: 9,
    key: 'pump',
    tags: { team: 'water' },
  })
  expect(gone).toMatchObject({ __type: 'ResourceNotFoundException' })
  expect(await alarm('a')).toMatchObject({
    alarmModelVersion: '2',
    severity: 9,
    alarmState: { stateName: 'ACTIVE' },
  })
  expect(await service.store.sql('SELECT count(*) AS n FROM alarm')).toEqual([{ n: 1 }])
  expect(await service.store.sql('SELECT count(*) AS n FROM alarm_watch')).toEqual([{ n: 0 }])
})

test('a second model of a name, and a change of none, are refused', async () => {
  const { service, createInput, createAlarm } = await openPumps()
  await createInput()
  const missing = await service.graphql(UPDATE)
  await createAlarm()

  expect(refusalOf(missing)?.code).toBe('ResourceNotFoundException')
  expect(refusalOf(await createAlarm())?.code).toBe('ResourceAlreadyExistsException')
})

test('a deleted model is gone with its alarms, and lets go of its input', async () => {
  const { service, createInput, createAlarm, send, alarm } = await openPumps()
  await createInput()
  await createAlarm()
  await send({ pump: 'a', pressure: 90 })

  const { data } = await service.graphql('mutation { deleteAlarmModel(alarmModelName: "over") }')
  const again = await service.graphql('mutation { deleteAlarmModel(alarmModelName: "over") }')
  await service.advance(0)
  const freed = await service.graphql('mutation { deleteDetectorInput(inputName: "reading") }')

  expect(data.deleteAlarmModel).toBe(true)
  expect(refusalOf(again)?.code).toBe('ResourceNotFoundException')
  expect(await alarm('a')).toMatchObject({ __type: 'ResourceNotFoundException' })
  expect(freed.data.deleteDetectorInput).toBe(true)
  expect(await service.store.sql('SELECT count(*) AS n FROM alarm')).toEqual([{ n: 0 }])
})

test('tags are added and removed', async () => {
  const { service, createInput, createAlarm } = await openPumps()
  await createInput()
  await createAlarm()
  const id = `${ARN}:alarmModel/over`

  const tagged = await service.graphql(
    `mutation { tagAlarmModel(id: "${id}", tags: { a: "1" }) { tags } }`,
  )
  const untagged = await service.graphql(
    `mutation { untagAlarmModel(id: "${id}", keys: ["a"]) { tags } }`,
  )

  expect(tagged.data.tagAlarmModel.tags).toEqual({ a: '1' })
  expect(untagged.data.untagAlarmModel.tags).toEqual({})
})
