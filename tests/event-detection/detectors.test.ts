import { expect, test } from 'vitest'
import { openPumps } from './pumps.ts'

const ready = async () => {
  const pumps = await openPumps()
  await pumps.createInput()
  await pumps.createModel()
  await pumps.send(
    { pump: 'a', pressure: 1 },
    { pump: 'b', pressure: 90 },
    { pump: 'c', pressure: 2 },
  )
  return pumps
}

const state = { stateName: 'high', variables: [], timers: [] }

test('a detector is described as clients read it, with and without a final slash', async () => {
  const { service } = await ready()

  const plain = await service.rest('GET /detectors/pumps/keyValues?keyValue=a')
  const slashed = await service.rest('GET /detectors/pumps/keyValues/?keyValue=a')

  expect(plain).toMatchObject({ status: 200 })
  expect(plain.body).toEqual({
    detector: {
      detectorModelName: 'pumps',
      keyValue: 'a',
      detectorModelVersion: '1',
      state: { stateName: 'steady', variables: [{ name: 'count', value: '1' }], timers: [] },
      creationTime: 1893456000,
      lastUpdateTime: 1893456000,
    },
  })
  expect(slashed.body).toEqual(plain.body)
})

test('a detector of a model without a key has no key value', async () => {
  const { service, createModel, send } = await ready()
  await createModel(undefined, { name: 'all', key: null })
  await send({ pump: 'a', pressure: 1 })

  const { body } = await service.rest('GET /detectors/all/keyValues')
  const { data } = await service.graphql('{ detector(detectorModelName: "all") { keyValue id } }')

  expect(body.detector).not.toHaveProperty('keyValue')
  expect(data.detector.keyValue).toBeNull()
})

test('an unknown model and an unknown key are not found, at both doors', async () => {
  const { service } = await ready()

  const model = await service.rest('GET /detectors/none/keyValues?keyValue=a')
  const key = await service.rest('GET /detectors/pumps/keyValues?keyValue=z')
  const noKey = await service.rest('GET /detectors/pumps/keyValues')
  const list = await service.rest('GET /detectors/none')
  const { errors } = await service.graphql(
    '{ detector(detectorModelName: "pumps", keyValue: "z") { id } }',
  )

  for (const answer of [model, key, noKey, list]) {
    expect(answer).toMatchObject({ status: 404, body: { __type: 'ResourceNotFoundException' } })
  }
  expect(key.body.message).toBe('The model pumps has no detector with the key value z.')
  expect(errors![0].extensions).toMatchObject({ code: 'ResourceNotFoundException', status: 404 })
})

test('detectors are listed by key value, of all states or of one, without their details', async () => {
  const { service } = await ready()

  const all = await service.rest('GET /detectors/pumps')
  const steady = await service.rest('GET /detectors/pumps?stateName=steady')
  const none = await service.rest('GET /detectors/pumps?stateName=other')
  const { data } = await service.graphql(
    `{ detectorPage(detectorModelName: "pumps", stateName: "high") {
        detectorSummaries { keyValue detectorModelName state { stateName } creationTime } nextToken }
       detectorModel(detectorModelName: "pumps") {
        detectors(stateName: "steady") { nodes { keyValue } } } }`,
  )

  expect(all.body.detectorSummaries.map((it: any) => it.keyValue)).toEqual(['a', 'b', 'c'])
  expect(all.body.detectorSummaries[1]).toEqual({
    detectorModelName: 'pumps',
    keyValue: 'b',
    detectorModelVersion: '1',
    state: { stateName: 'high' },
    creationTime: 1893456000,
    lastUpdateTime: 1893456000,
  })
  expect(all.body).not.toHaveProperty('nextToken')
  expect(steady.body.detectorSummaries.map((it: any) => it.keyValue)).toEqual(['a', 'c'])
  expect(none.body).toEqual({ detectorSummaries: [] })
  expect(data).toEqual({
    detectorPage: {
      detectorSummaries: [
        {
          keyValue: 'b',
          detectorModelName: 'pumps',
          state: { stateName: 'high' },
          creationTime: '2030-01-01T00:00:00.000Z',
        },
      ],
      nextToken: null,
    },
    detectorModel: { detectors: { nodes: [{ keyValue: 'a' }, { keyValue: 'c' }] } },
  })
})

test('a list is paged by token, and a token fits only the list that gave it', async () => {
  const { service } = await ready()

  const first = await service.rest('GET /detectors/pumps?maxResults=2')
  const { nextToken } = first.body
  const second = await service.rest(`GET /detectors/pumps?maxResults=2&nextToken=${nextToken}`)
  const other = await service.rest(`GET /detectors/pumps?stateName=high&nextToken=${nextToken}`)
  const damaged = await service.rest('GET /detectors/pumps?nextToken=abc')
  const zero = await service.rest('GET /detectors/pumps?maxResults=0')
  const word = await service.rest('GET /detectors/pumps?maxResults=two')

  expect(first.body.detectorSummaries.map((it: any) => it.keyValue)).toEqual(['a', 'b'])
  expect(second.body.detectorSummaries.map((it: any) => it.keyValue)).toEqual(['c'])
  expect(second.body).not.toHaveProperty('nextToken')
  for (const answer of [other, damaged, zero, word]) {
    expect(answer).toMatchObject({ status: 400, body: { __type: 'InvalidRequestException' } })
  }
})

test('an update sets state, variables and timers, and drops those that it does not name', async () => {
  const { service, detector } = await ready()

  const answer = await service.rest('POST /detectors', {
    detectors: [
      {
        messageId: 'm',
        detectorModelName: 'pumps',
        keyValue: 'a',
        state: {
          stateName: 'high',
          variables: [
            { name: 'x', value: '"text"' },
            { name: 'y', value: '2.5' },
          ],
          timers: [{ name: 't', seconds: 60 }],
        },
      },
    ],
  })

  expect(answer).toMatchObject({ status: 200, body: { batchUpdateDetectorErrorEntries: [] } })
  expect(await detector('a')).toEqual({
    stateName: 'high',
    variables: { x: 'text', y: 2.5 },
    timers: { t: 1893456060 },
  })
})

test('an update that cannot be is refused by itself, and changes nothing', async () => {
  const { service, detector } = await ready()
  const before = await detector('a')
  const update = (messageId: string, more: object) => ({
    messageId,
    detectorModelName: 'pumps',
    keyValue: 'a',
    state,
    ...more,
  })

  const { data } = await service.graphql(
    `mutation ($detectors: [DetectorUpdateRequest!]!) { batchUpdateDetector(detectors: $detectors) {
      batchUpdateDetectorErrorEntries { messageId errorCode errorMessage } } }`,
    {
      detectors: [
        update('model', { detectorModelName: 'none' }),
        update('key', { keyValue: 'z' }),
        update('state', { state: { ...state, stateName: 'lost' } }),
        update('value', { state: { ...state, variables: [{ name: 'x', value: 'text' }] } }),
        update('object', { state: { ...state, variables: [{ name: 'x', value: '{}' }] } }),
        update('timer', { state: { ...state, timers: [{ name: 't', seconds: 0 }] } }),
        update('fine', { keyValue: 'c' }),
      ],
    },
  )

  const entries = data.batchUpdateDetector.batchUpdateDetectorErrorEntries
  expect(entries.map((it: any) => [it.messageId, it.errorCode, it.errorMessage])).toEqual([
    ['model', 'ResourceNotFoundException', 'There is no detector model named none.'],
    ['key', 'ResourceNotFoundException', 'The model pumps has no detector with the key value z.'],
    ['state', 'InvalidRequestException', 'The model has no state lost.'],
    [
      'value',
      'InvalidRequestException',
      'The variable x must have a number, true, false or a text in quotes, written as JSON.',
    ],
    [
      'object',
      'InvalidRequestException',
      'The variable x must have a number, true, false or a text in quotes, written as JSON.',
    ],
    ['timer', 'InvalidRequestException', 'The timer t must have 1 to 31622400 seconds.'],
  ])
  expect(await detector('a')).toEqual(before)
  expect((await detector('c')).stateName).toBe('high')
})

test('a batch without what it must hold is refused whole', async () => {
  const { service } = await ready()
  const named = { messageId: 'm', detectorModelName: 'pumps', keyValue: 'a' }

  for (const detectors of [undefined, [], [named], [{ ...named, state: { stateName: 'high' } }]]) {
    const answer = await service.rest('POST /detectors', { detectors })
    expect(answer).toMatchObject({ status: 400, body: { __type: 'InvalidRequestException' } })
  }
  for (const detectors of [undefined, [], [{ messageId: 'm' }], [named, named]]) {
    const answer = await service.rest('POST /detectors/delete', { detectors })
    expect(answer).toMatchObject({ status: 400, body: { __type: 'InvalidRequestException' } })
  }
})

test('deleted detectors are gone, and the next message makes them anew', async () => {
  const { service, send, detector } = await ready()

  const answer = await service.rest('POST /detectors/delete', {
    detectors: [
      { messageId: 'm1', detectorModelName: 'pumps', keyValue: 'a' },
      { messageId: 'm2', detectorModelName: 'pumps', keyValue: 'z' },
    ],
  })
  const gone = await detector('a')
  const { data } = await service.graphql(
    `mutation ($detectors: [DetectorDeleteRequest!]!) { batchDeleteDetector(detectors: $detectors) {
      batchDeleteDetectorErrorEntries { messageId errorCode } } }`,
    { detectors: [{ messageId: 'm', detectorModelName: 'pumps', keyValue: 'b' }] },
  )
  const left = await service.rest('GET /detectors/pumps')
  await send({ pump: 'a', pressure: 1 })

  expect(answer.body).toEqual({
    batchDeleteDetectorErrorEntries: [
      {
        messageId: 'm2',
        errorCode: 'ResourceNotFoundException',
        errorMessage: 'The model pumps has no detector with the key value z.',
      },
    ],
  })
  expect(gone).toMatchObject({ __type: 'ResourceNotFoundException' })
  expect(data.batchDeleteDetector.batchDeleteDetectorErrorEntries).toEqual([])
  expect(left.body.detectorSummaries.map((it: any) => it.keyValue)).toEqual(['c'])
  expect((await detector('a')).variables).toEqual({ count: 1 })
})

test('what happens to detectors is announced', async () => {
  const { service, send } = await ready()
  await send({ pump: 'a', pressure: 90 })
  await service.rest('POST /detectors/delete', {
    detectors: [{ messageId: 'm', detectorModelName: 'pumps', keyValue: 'a' }],
  })

  const rows = await service.store.sql(
    `SELECT type, body FROM event WHERE type LIKE 'event-detection.detector.%' ORDER BY number`,
  )

  expect(
    rows.map(({ type, body }) => [type, JSON.parse(body).keyValue, JSON.parse(body).stateName]),
  ).toEqual([
    ['event-detection.detector.created', 'a', 'steady'],
    ['event-detection.detector.created', 'b', 'high'],
    ['event-detection.detector.created', 'c', 'steady'],
    ['event-detection.detector.changed', 'a', 'high'],
    ['event-detection.detector.deleted', 'a', 'high'],
  ])
})
