import { describe, expect, test } from 'vitest'
import { ARN, COUNTING, openPumps, refusalOf, set } from './pumps.ts'

const stateOf = (more: object = {}) => ({
  initialStateName: 'on',
  states: [
    {
      stateName: 'on',
      onInput: { events: [{ eventName: 'e', condition: 'currentInput("reading")', ...more }] },
    },
  ],
})

test('a model is created, read and listed', async () => {
  const { service, createInput, createModel } = await openPumps()
  await createInput()

  const created = await createModel(COUNTING, { tags: { team: 'water' } })
  const { data } = await service.graphql(
    `{ detectorModel(detectorModelName: "pumps") {
        id tags evaluationMethod creationTime
        detectorModelDefinition { initialStateName states {
          stateName onInput { events { eventName condition actions { setVariable { variableName value } setTimer { seconds } } }
            transitionEvents { eventName nextState } } onEnter { events { eventName } } } } }
       detectorModels { nodes { name } }
       detectorInput(inputName: "reading") { detectorModelNames } }`,
  )

  expect(created.data.it).toEqual({
    id: `${ARN}:detectorModel/pumps`,
    name: 'pumps',
    type: 'AWS::IoTEvents::DetectorModel',
    location: 'us-east-1',
    tags: { team: 'water' },
    detectorModelVersion: '1',
    inputNames: ['reading'],
    warnings: [],
    key: 'pump',
  })
  expect(data.detectorModel).toMatchObject({
    id: `${ARN}:detectorModel/pumps`,
    tags: { team: 'water' },
    evaluationMethod: 'BATCH',
    creationTime: '2030-01-01T00:00:00.000Z',
  })
  const [steady, high] = data.detectorModel.detectorModelDefinition.states
  expect(steady.onInput.events[0]).toEqual({
    eventName: 'first',
    condition: 'isUndefined($variable.count)',
    actions: [{ setVariable: { variableName: 'count', value: '1' }, setTimer: null }],
  })
  expect(high.onEnter).toBeNull()
  expect(data.detectorModels.nodes).toEqual([{ name: 'pumps' }])
  expect(data.detectorInput.detectorModelNames).toEqual(['pumps'])
})

describe('a definition is refused that', () => {
  test.each([
    [
      'begins in a state that is not there',
      { ...COUNTING, initialStateName: 'lost' },
      'The initial state lost is not among the states.',
    ],
    [
      'leads to a state that is not there',
      {
        initialStateName: 'on',
        states: [
          {
            stateName: 'on',
            onInput: {
              transitionEvents: [
                { eventName: 'leave', condition: 'currentInput("reading")', nextState: 'lost' },
              ],
            },
          },
        ],
      },
      'State on, event leave: the next state lost is not among the states.',
    ],
    [
      'has two states of one name',
      { initialStateName: 'on', states: [{ stateName: 'on' }, { stateName: 'on' }] },
      'Two states have the same name.',
    ],
    [
      'has an expression that cannot be read',
      stateOf({ condition: '$input.reading.pressure >' }),
      'State on, event e: the condition cannot be read: Expected expression after > at character 25: $input.reading.pressure >',
    ],
    [
      'calls what is no function',
      stateOf({ actions: [set('x', 'fetch("http://example.org")')] }),
      'State on, event e: the value of x calls fetch, which is no function here: fetch("http://example.org")',
    ],
    [
      'has an action that is nothing',
      stateOf({ actions: [{}] }),
      'State on, event e: an action is exactly one of setVariable, setTimer, clearTimer and resetTimer.',
    ],
    [
      'has an action that is two',
      stateOf({ actions: [{ ...set('x', '1'), clearTimer: { timerName: 't' } }] }),
      'State on, event e: an action is exactly one of setVariable, setTimer, clearTimer and resetTimer.',
    ],
    [
      'sets a timer to nothing',
      stateOf({ actions: [{ setTimer: { timerName: 't' } }] }),
      'State on, event e: the timer t needs either seconds or durationExpression.',
    ],
    [
      'sets a timer to no time',
      stateOf({ actions: [{ setTimer: { timerName: 't', seconds: 0 } }] }),
      'State on, event e: seconds must be 1 to 31622400.',
    ],
    [
      'reads no input',
      { initialStateName: 'on', states: [{ stateName: 'on' }] },
      'The model reads no input: no expression names one.',
    ],
    [
      'reads an input that is not there',
      stateOf({ condition: '$input.other.pressure > 1' }),
      'There is no input named other. Create it first.',
    ],
    [
      'reads an attribute that its input does not declare',
      stateOf({ condition: '$input.reading.weight > 1' }),
      'The input reading declares no attribute weight.',
    ],
    [
      'speaks of an alarm',
      stateOf({ condition: '$alarm.severity > 1 && currentInput("reading")' }),
      '$alarm.severity is of alarm models alone.',
    ],
  ])('%s', async (_, definition, message) => {
    const { service, createInput, createModel } = await openPumps()
    await createInput()

    const answer = await createModel(definition)

    expect(refusalOf(answer)).toEqual({ code: 'InvalidRequestException', message })
    const { data } = await service.graphql(
      '{ detectorModels { nodes { name } } detectorInput(inputName: "reading") { detectorModelNames } }',
    )
    expect(data).toEqual({
      detectorModels: { nodes: [] },
      detectorInput: { detectorModelNames: [] },
    })
  })
})

test('a model with more variables or timers than it may have is refused', async () => {
  const { createInput, createModel } = await openPumps()
  await createInput()
  const events = (count: number, action: (i: number) => object) =>
    Array.from({ length: count }, (_, i) => ({
      eventName: `e${i}`,
      condition: 'currentInput("reading")',
      actions: [action(i), action(i + 100)],
    }))
  const model = (list: object[]) => ({
    initialStateName: 'on',
    states: [{ stateName: 'on', onInput: { events: list } }],
  })

  const variables = await createModel(model(events(26, (i) => set(`v${i}`, '1'))))
  const timers = await createModel(
    model(events(11, (i) => ({ setTimer: { timerName: `t${i}`, seconds: 1 } }))),
  )

  expect(refusalOf(variables)?.message).toBe('A model has at most 50 variables, and this has 52.')
  expect(refusalOf(timers)?.message).toBe('A model has at most 20 timers, and this has 22.')
})

test.each([
  ['a bad name', { name: 'a b' }],
  ['a word of the interface as a name', { name: 'delete' }],
  ['a bad key', { key: 'a..b' }],
  ['a key that no input declares', { key: 'weight' }],
  ['a tag that is too long', { tags: { key: 'x'.repeat(257) } }],
  ['a tag that is no text', { tags: { key: 1 } }],
])('a model with %s is refused', async (_, options) => {
  const { createInput, createModel } = await openPumps()
  await createInput()

  const refusal = refusalOf(await createModel(COUNTING, options as any))

  expect(['InvalidRequestException', 'Invalid']).toContain(refusal?.code)
})

test('what a definition allows and hardly means is said', async () => {
  const { createInput, createModel } = await openPumps()
  await createInput()

  const { data } = await createModel({
    initialStateName: 'on',
    states: [
      {
        stateName: 'on',
        onInput: {
          events: [
            { eventName: 'e', condition: '$variable.x > $input.reading.pressure || timeout("t")' },
          ],
        },
      },
      { stateName: 'off' },
    ],
  })

  expect(data.it.warnings).toEqual([
    'State off cannot be reached from the initial state.',
    'The variable x is read, and no event sets it.',
    'The timer t is waited for, and no event sets it.',
  ])
})

test('a second model of a name is refused', async () => {
  const { createInput, createModel } = await openPumps()
  await createInput()
  await createModel()

  expect(refusalOf(await createModel())).toEqual({
    code: 'ResourceAlreadyExistsException',
    message: 'There is a detector model named pumps already.',
  })
})

const UPDATE = `mutation ($definition: DetectorModelDefinitionInput!) {
  updateDetectorModel(detectorModelName: "pumps", detectorModelDefinition: $definition) { detectorModelVersion evaluationMethod key tags creationTime lastUpdateTime } }`

test('a changed model has a new version, keeps its key and tags, and its detectors begin anew', async () => {
  const { service, createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel(COUNTING, { tags: { team: 'water' } })
  await send({ pump: 'a', pressure: 1 }, { pump: 'b', pressure: 1 })
  await service.advance(1_000)

  const { data } = await service.graphql(UPDATE, { definition: COUNTING })
  const gone = await detector('a')
  await send({ pump: 'a', pressure: 1 })
  await service.advance(0)

  expect(data.updateDetectorModel).toEqual({
    detectorModelVersion: '2',
    evaluationMethod: 'BATCH',
    key: 'pump',
    tags: { team: 'water' },
    creationTime: '2030-01-01T00:00:00.000Z',
    lastUpdateTime: '2030-01-01T00:00:01.000Z',
  })
  expect(gone).toMatchObject({ __type: 'ResourceNotFoundException' })
  expect((await detector('a')).variables).toEqual({ count: 1 })
  const { body } = await service.rest('GET /detectors/pumps')
  expect(body.detectorSummaries).toMatchObject([{ keyValue: 'a', detectorModelVersion: '2' }])
  expect(await service.store.sql('SELECT count(*) AS n FROM detector')).toEqual([{ n: 1 }])
})

test('a change that is refused changes nothing', async () => {
  const { service, createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel()
  await send({ pump: 'a', pressure: 1 })

  const bad = await service.graphql(UPDATE, {
    definition: { ...COUNTING, initialStateName: 'lost' },
  })
  const other = await service.graphql(UPDATE.replace('"pumps"', '"none"'), { definition: COUNTING })

  expect(refusalOf(bad)?.code).toBe('InvalidRequestException')
  expect(refusalOf(other)).toEqual({
    code: 'ResourceNotFoundException',
    message: 'There is no detector model named none.',
  })
  expect((await detector('a')).variables).toEqual({ count: 1 })
})

test('a model that reads another input from now on leaves the old one', async () => {
  const { service, createInput, createModel, send } = await openPumps()
  await createInput()
  await createInput('other', ['pump'])
  await createModel()
  await service.graphql(UPDATE, { definition: stateOf({ condition: 'currentInput("other")' }) })

  await send({ pump: 'a', pressure: 1 })

  const { data } = await service.graphql(
    `{ reading: detectorInput(inputName: "reading") { detectorModelNames }
       other: detectorInput(inputName: "other") { detectorModelNames } }`,
  )
  expect(data).toEqual({
    reading: { detectorModelNames: [] },
    other: { detectorModelNames: ['pumps'] },
  })
  expect((await service.rest('GET /detectors/pumps')).body.detectorSummaries).toEqual([])
})

test('a deleted model is gone with its detectors, and one of its name begins anew', async () => {
  const { service, createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel()
  await send({ pump: 'a', pressure: 1 })

  const { data } = await service.graphql(
    'mutation { deleteDetectorModel(detectorModelName: "pumps") }',
  )
  const again = await service.graphql(
    'mutation { deleteDetectorModel(detectorModelName: "pumps") }',
  )
  const gone = await detector('a')
  await createModel()
  await send({ pump: 'a', pressure: 1 })
  await service.advance(0)

  expect(data.deleteDetectorModel).toBe(true)
  expect(refusalOf(again)?.code).toBe('ResourceNotFoundException')
  expect(gone).toMatchObject({ __type: 'ResourceNotFoundException' })
  expect((await detector('a')).variables).toEqual({ count: 1 })
})

test('what a model leaves behind is removed, however much it is', async () => {
  const { service, createInput, createModel, send } = await openPumps()
  await createInput()
  await createModel()
  for (let round = 0; round < 12; round += 1) {
    await send(...Array.from({ length: 100 }, (_, i) => ({ pump: `p${round}-${i}`, pressure: 1 })))
  }

  await service.graphql('mutation { deleteDetectorModel(detectorModelName: "pumps") }')
  const { stepsRun } = await service.advance(0)

  expect(stepsRun).toBe(3)
  expect(await service.store.sql('SELECT count(*) AS n FROM detector')).toEqual([{ n: 0 }])
})

test('tags are added, overwritten and removed, and leave the detectors alone', async () => {
  const { service, createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel(COUNTING, { tags: { a: '1', b: '2' } })
  await send({ pump: 'a', pressure: 1 })
  const id = `${ARN}:detectorModel/pumps`

  const tagged = await service.graphql(
    `mutation { tagDetectorModel(id: "${id}", tags: { b: "3", c: "4" }) { tags detectorModelVersion } }`,
  )
  const untagged = await service.graphql(
    `mutation { untagDetectorModel(id: "${id}", keys: ["a", "z"]) { tags } }`,
  )
  const missing = await service.graphql(
    `mutation { tagDetectorModel(id: "${id}x", tags: {}) { tags } }`,
  )

  expect(tagged.data.tagDetectorModel).toEqual({
    tags: { a: '1', b: '3', c: '4' },
    detectorModelVersion: '1',
  })
  expect(untagged.data.untagDetectorModel).toEqual({ tags: { b: '3', c: '4' } })
  expect(refusalOf(missing)?.code).toBe('ResourceNotFoundException')
  expect((await detector('a')).variables).toEqual({ count: 1 })
})

test('what happens to models is announced', async () => {
  const { service, createInput, createModel } = await openPumps()
  await createInput()
  await createModel()
  await service.graphql(UPDATE, { definition: COUNTING })
  await service.graphql('mutation { deleteDetectorModel(detectorModelName: "pumps") }')

  const rows = await service.store.sql('SELECT type, subject FROM event ORDER BY number')

  expect(rows.map(({ type, subject }) => [type, subject])).toEqual([
    ['event-detection.input.created', 'reading'],
    ['event-detection.detector-model.created', `${ARN}:detectorModel/pumps`],
    ['event-detection.detector-model.changed', `${ARN}:detectorModel/pumps`],
    ['event-detection.detector-model.deleted', `${ARN}:detectorModel/pumps`],
  ])
})
