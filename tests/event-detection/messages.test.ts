import { expect, test } from 'vitest'
import { COUNTING, openPumps } from './pumps.ts'

const post = (messages: unknown) => ['POST /inputs/messages', { messages }] as const
const payload = Buffer.from('{"pump":"a","pressure":1}').toString('base64')

test('the first message of a key makes its detector, and messages go to the detector of their key', async () => {
  const { createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel()

  const refused = await send({ pump: 'a', pressure: 1 }, { pump: 'b', pressure: 2 })
  await send({ pump: 'a', pressure: 90 })

  expect(refused).toEqual([])
  expect(await detector('a')).toEqual({ stateName: 'high', variables: { count: 2 }, timers: {} })
  expect(await detector('b')).toEqual({ stateName: 'steady', variables: { count: 1 }, timers: {} })
})

test('the graph takes messages, with a payload in base64 or as it is', async () => {
  const { service, createInput, createModel, detector } = await openPumps()
  await createInput()
  await createModel()

  const { data } = await service.graphql(
    `mutation ($messages: [DetectorMessage!]!) {
      batchPutMessage(messages: $messages) {
        batchPutMessageErrorEntries { messageId errorCode errorMessage } } }`,
    {
      messages: [
        { messageId: 'm1', inputName: 'reading', payload },
        { messageId: 'm2', inputName: 'reading', payload: '{"pump":"a","pressure":2}' },
        { messageId: 'm3', inputName: 'none', payload, timestamp: { timeInMillis: 1.9e12 } },
      ],
    },
  )

  expect(data.batchPutMessage.batchPutMessageErrorEntries).toEqual([
    {
      messageId: 'm3',
      errorCode: 'ResourceNotFoundException',
      errorMessage: 'There is no input named none.',
    },
  ])
  expect((await detector('a')).variables).toEqual({ count: 2 })
})

test('what cannot be taken is refused by itself, with the code that clients know', async () => {
  const { service, createInput, createModel, detector } = await openPumps()
  await createInput()
  await createModel()
  const of = (messageId: string, text: string, inputName = 'reading') => ({
    messageId,
    inputName,
    payload: Buffer.from(text).toString('base64'),
  })

  const answer = await service.rest(
    ...post([
      of('good', '{"pump":"a"}'),
      of('no-input', '{"pump":"a"}', 'none'),
      of('no-json', 'pressure'),
      of('list', '[1]'),
      of('number', '7'),
      of('no-key', '{"pressure":1}'),
      of('bad-key', '{"pump":"a b"}'),
      of('object-key', '{"pump":{}}'),
      of('large', JSON.stringify({ pump: 'a', list: 'x'.repeat(17_000) })),
      of('also-good', '{"pump":"b"}'),
    ]),
  )

  const refused = answer.body.BatchPutMessageErrorEntries as any[]
  expect(answer.status).toBe(200)
  expect(refused.map(({ messageId, errorCode }) => [messageId, errorCode])).toEqual([
    ['no-input', 'ResourceNotFoundException'],
    ['no-json', 'InvalidRequestException'],
    ['list', 'InvalidRequestException'],
    ['number', 'InvalidRequestException'],
    ['no-key', 'InvalidRequestException'],
    ['bad-key', 'InvalidRequestException'],
    ['object-key', 'InvalidRequestException'],
    ['large', 'InvalidRequestException'],
  ])
  expect((await detector('a')).variables).toEqual({ count: 1 })
  expect((await detector('b')).variables).toEqual({ count: 1 })
})

test.each([
  ['no messages', []],
  ['not a list', 'm'],
  ['no id', [{ inputName: 'reading', payload }]],
  ['a bad id', [{ messageId: 'a b', inputName: 'reading', payload }]],
  ['no input', [{ messageId: 'm', payload }]],
  ['no payload', [{ messageId: 'm', inputName: 'reading' }]],
  ['a payload that is no text', [{ messageId: 'm', inputName: 'reading', payload: { pump: 'a' } }]],
  [
    'a bad time',
    [{ messageId: 'm', inputName: 'reading', payload, timestamp: { timeInMillis: 'x' } }],
  ],
  [
    'too many',
    Array.from({ length: 101 }, (_, i) => ({ messageId: `m${i}`, inputName: 'reading', payload })),
  ],
  [
    'an id twice',
    [
      { messageId: 'm', inputName: 'reading', payload },
      { messageId: 'm', inputName: 'reading', payload },
    ],
  ],
])('a call with %s is refused whole', async (_, messages) => {
  const { service, createInput, createModel, detector } = await openPumps()
  await createInput()
  await createModel()

  const answer = await service.rest(...post(messages))

  expect(answer).toMatchObject({ status: 400, body: { __type: 'InvalidRequestException' } })
  expect(await detector('a')).toMatchObject({ __type: 'ResourceNotFoundException' })
})

test('messages of one call happen in the order in which they stand there', async () => {
  const { createInput, createModel, send, detector } = await openPumps()
  await createInput()
  const keep = {
    setVariable: { variableName: 'seen', value: '$variable.seen + $input.reading.at' },
  }
  const begin = { setVariable: { variableName: 'seen', value: "''" } }
  await createModel({
    initialStateName: 'on',
    states: [
      {
        stateName: 'on',
        onEnter: { events: [{ eventName: 'begin', actions: [begin] }] },
        onInput: { events: [{ eventName: 'keep', actions: [keep] }] },
      },
    ],
  })

  await send(...['a', 'b', 'c', 'd', 'e'].map((at) => ({ pump: 'p', at })))

  expect((await detector('p')).variables).toEqual({ seen: 'abcde' })
})

test('calls that come together are answered each for itself', async () => {
  const { createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel()

  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, i) =>
      send(i % 3 === 0 ? {} : { pump: `p${i % 10}`, pressure: 1 }),
    ),
  )

  expect(answers.filter((refused) => refused.length === 1)).toHaveLength(100)
  const counts = await Promise.all(Array.from({ length: 10 }, (_, i) => detector(`p${i}`)))
  expect(counts.map(({ variables }) => variables.count)).toEqual(Array(10).fill(20))
})

test('a mistake of ours in one call is not the answer to another', async () => {
  const pumps = await openPumps({
    wrap: (store) =>
      new Proxy(store, {
        get(target, name) {
          const member = target[name as keyof typeof target]
          if (name !== 'transaction')
            return typeof member === 'function' ? (member as any).bind(target) : member
          return (step: any) =>
            target.transaction((tx) =>
              step(
                new Proxy(tx, {
                  get: (records, method) =>
                    method === 'save'
                      ? async (kind: any, record: any) => {
                          if (record.keyValue === 'broken') throw new Error('disk')
                          return records.save(kind, record)
                        }
                      : (records as any)[method],
                }),
              ),
            )
        },
      }),
  })
  await pumps.createInput()
  await pumps.createModel()

  const outcomes = await Promise.allSettled(
    ['a', 'broken', 'b', 'c'].map((pump) => pumps.send({ pump, pressure: 1 })),
  )

  expect(outcomes.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ])
  expect((await pumps.detector('c')).variables).toEqual({ count: 1 })
  expect(await pumps.detector('broken')).toMatchObject({ __type: 'ResourceNotFoundException' })
})

test('a message goes to every model that reads its input, and to those alone whose key it has', async () => {
  const { createInput, createModel, createAlarm, send, detector, alarm } = await openPumps()
  await createInput()
  await createModel()
  await createModel(COUNTING, { name: 'places', key: 'at' })
  await createModel(COUNTING, { name: 'all', key: null })
  await createAlarm()

  const refused = await send({ pump: 'a', pressure: 81 }, { at: 7, pressure: 1 })

  expect(refused).toEqual([])
  expect((await detector('a')).stateName).toBe('high')
  expect((await detector('7', 'places')).variables).toEqual({ count: 1 })
  expect((await detector(undefined, 'all')).stateName).toBe('steady')
  expect((await alarm('a')).alarmState.stateName).toBe('ACTIVE')
  expect(await alarm('7')).toMatchObject({ __type: 'ResourceNotFoundException' })
})

test('a message of an input that no model reads is taken', async () => {
  const { createInput, send } = await openPumps()
  await createInput()

  expect(await send({ anything: 1 })).toEqual([])
})

test('a message that changes nothing writes nothing', async () => {
  const { service, createInput, createModel, send } = await openPumps()
  await createInput()
  await createModel({
    initialStateName: 'on',
    states: [
      {
        stateName: 'on',
        onInput: { events: [{ eventName: 'read', condition: 'currentInput("reading") && false' }] },
      },
    ],
  })
  await send({ pump: 'a' })
  await service.advance(5_000)
  await send({ pump: 'a' })

  const { body } = await service.rest('GET /detectors/pumps/keyValues?keyValue=a')

  expect(body.detector).toMatchObject({ creationTime: 1893456000, lastUpdateTime: 1893456000 })
})
