import { expect, test } from 'vitest'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { subgraph } from '../../subgraphs/event-detection.ts'
import { openForTest } from '../open.ts'
import { people, testCredentials } from '../people.ts'
import { ARN, openPumps, refusalOf } from './pumps.ts'

const openAs = (caller: Partial<Caller>) =>
  openForTest(subgraph, {
    credentials: {
      ...testCredentials,
      async signingKey(scope) {
        const found = await testCredentials.signingKey(scope)
        return found && { ...found, caller: { ...people.alice, ...caller } }
      },
    },
  })

const NEEDED = [
  ['POST /alarms/acknowledge', 'iotevents:BatchAcknowledgeAlarm'],
  ['POST /alarms/disable', 'iotevents:BatchDisableAlarm'],
  ['POST /alarms/enable', 'iotevents:BatchEnableAlarm'],
  ['POST /alarms/reset', 'iotevents:BatchResetAlarm'],
  ['POST /alarms/snooze', 'iotevents:BatchSnoozeAlarm'],
  ['POST /inputs/messages', 'iotevents:BatchPutMessage'],
  ['POST /detectors', 'iotevents:BatchUpdateDetector'],
  ['POST /detectors/delete', 'iotevents:BatchDeleteDetector'],
  ['GET /alarms/a/keyValues/', 'iotevents:DescribeAlarm'],
  ['GET /detectors/a/keyValues/', 'iotevents:DescribeDetector'],
  ['GET /alarms/a', 'iotevents:ListAlarms'],
  ['GET /detectors/a', 'iotevents:ListDetectors'],
]

test('every operation needs the permission of its name', async () => {
  const service = await openAs({ permissions: ['backup:*'] })

  for (const [request, permission] of NEEDED) {
    const answer = await service.rest(request!, request!.startsWith('POST') ? {} : undefined)

    expect(answer, request).toMatchObject({
      status: 403,
      body: {
        __type: 'AccessDeniedException',
        Message: `The credential does not permit ${permission}.`,
      },
    })
  }
})

test('a permission with a wildcard opens what it matches', async () => {
  const service = await openAs({ permissions: ['iotevents:List*'] })

  expect((await service.rest('GET /alarms/a')).status).toBe(404)
  expect((await service.rest('GET /alarms/a/keyValues')).status).toBe(403)
})

test('a request that is not signed, and a credential without an account, are refused', async () => {
  const service = await openForTest(subgraph)
  const other = await openAs({ accounts: [{ id: 'x', kind: 'SUBSCRIPTION' }] })

  const unsigned = await service.rest('GET /alarms/a', undefined, { credential: null })

  expect(unsigned).toMatchObject({
    status: 403,
    body: { __type: 'MissingAuthenticationTokenException' },
  })
  expect(await other.rest('GET /alarms/a')).toMatchObject({
    status: 403,
    body: { __type: 'AccessDeniedException' },
  })
})

test('an unknown path, a wrong method and a broken body are refused in the same shape', async () => {
  const service = await openForTest(subgraph)

  const unknown = await service.rest('GET /nothing')
  const method = await service.rest('PUT /detectors', {})
  const broken = await service.rest('POST /detectors', '{')
  const media = await service.rest('POST /detectors', 'a', {
    headers: { 'content-type': 'text/plain' },
  })
  const large = await service.rest('POST /detectors', 'x'.repeat(1_100_000))

  expect(unknown).toMatchObject({ status: 404, body: { __type: 'ResourceNotFoundException' } })
  expect(method).toMatchObject({ status: 405, body: { __type: 'MethodNotAllowedException' } })
  expect(broken).toMatchObject({ status: 400, body: { __type: 'InvalidRequestException' } })
  expect(media).toMatchObject({ status: 415, body: { __type: 'InvalidRequestException' } })
  expect(large).toMatchObject({ status: 413, body: { __type: 'InvalidRequestException' } })
})

test('a failure of ours is answered without details, by the name that clients know', async () => {
  const service = await openForTest(subgraph, {
    wrap: (store) =>
      Object.assign(Object.create(store), { get: () => Promise.reject(new Error('disk')) }),
  })

  const answer = await service.rest('GET /alarms/a')

  expect(answer).toMatchObject({
    status: 500,
    body: { __type: 'InternalFailureException', message: 'The service failed to answer.' },
  })
  expect(service.mistakes).toEqual([new Error('disk')])
})

test('nobody reads or changes what is of another account', async () => {
  const { service, createInput, createModel, createAlarm, send, detector, alarm } =
    await openPumps()
  await createInput()
  await createModel()
  await createAlarm()
  await send({ pump: 'a', pressure: 90 })
  const before = [await detector('a'), await alarm('a')]
  const bob = { credential: 'bob' } as const
  const payload = '{"pump":"a","pressure":1}'
  const named = { alarmModelName: 'over', keyValue: 'a', requestId: 'r' }
  const detectorNamed = { detectorModelName: 'pumps', keyValue: 'a', messageId: 'm' }
  const state = { stateName: 'steady', variables: [], timers: [] }

  for (const path of [
    '/alarms/over',
    '/alarms/over/keyValues?keyValue=a',
    '/detectors/pumps',
    '/detectors/pumps/keyValues?keyValue=a',
  ]) {
    const answer = await service.rest(`GET ${path}`, undefined, bob)
    expect(answer, path).toMatchObject({
      status: 404,
      body: { __type: 'ResourceNotFoundException' },
    })
  }
  for (const [path, body] of [
    ['/alarms/disable', { disableActionRequests: [named] }],
    ['/detectors', { detectors: [{ ...detectorNamed, state }] }],
    ['/detectors/delete', { detectors: [detectorNamed] }],
    ['/inputs/messages', { messages: [{ messageId: 'm', inputName: 'reading', payload }] }],
  ] as const) {
    const answer = await service.rest(`POST ${path}`, body, bob)
    const [entries] = Object.values(answer.body) as any[]
    expect(entries, path).toMatchObject([{ errorCode: 'ResourceNotFoundException' }])
  }
  const id = `${ARN}:detectorModel/pumps`
  const lists = await service.graphql(
    `{ detectorModels { nodes { name } } alarmModels { nodes { name } } detectorInputs { nodes { inputName } }
       detectorModelById(id: "${id}") { name } alarmsOfResource(resourceId: "/x") { nodes { id } } }`,
    {},
    bob,
  )
  for (const mutation of [
    `tagDetectorModel(id: "${id}", tags: { a: "1" }) { id }`,
    'deleteDetectorModel(detectorModelName: "pumps")',
    'deleteAlarmModel(alarmModelName: "over")',
    'deleteDetectorInput(inputName: "reading")',
  ]) {
    const answer = await service.graphql(`mutation { ${mutation} }`, {}, bob)
    expect(refusalOf(answer)?.code, mutation).toBe('ResourceNotFoundException')
  }
  expect(lists.data).toEqual({
    detectorModels: { nodes: [] },
    alarmModels: { nodes: [] },
    detectorInputs: { nodes: [] },
    detectorModelById: null,
    alarmsOfResource: { nodes: [] },
  })
  expect([await detector('a'), await alarm('a')]).toEqual(before)
})
