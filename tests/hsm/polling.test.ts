// Following what runs on after a 202, as the three generations of published clients do.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { openForTest } from '../open.ts'
import { poll, TERMINAL, wait, type Answer } from '../management-polling.ts'
import { SUBSCRIPTION } from '../people.ts'
import { AREA, GONE_MS, PLAIN, VERSION, follow, one, putReady } from './modules.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const hasEnded = ({ body }: Answer) => TERMINAL.has(body.status.toLowerCase())

test('the new generation polls the status of a removal and then reads Location once', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const first = await service.rest(`DELETE ${one('safe')}`)
  const { location, 'vendor-asyncoperation': statusLink } = first.headers

  const { answer, polls } = await poll(service, {
    first,
    ask: () => follow(service, statusLink),
    isDone: hasEnded,
  })
  const final = await follow(service, location)

  expect(polls).toBe(1)
  expect(answer.status).toBe(200)
  expect(answer.body.status).toBe('Succeeded')
  expect(answer.headers['retry-after']).toBeUndefined()
  expect(final.status).toBe(204)
})

test('the middle generation polls Location until it answers something other than 202', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const first = await service.rest(`DELETE ${one('safe')}`)

  const running = await follow(service, first.headers.location)
  const { answer } = await poll(service, {
    first,
    ask: () => follow(service, first.headers.location),
    isDone: ({ status }) => status !== 202,
  })
  const onceMore = await follow(service, first.headers.location)

  expect(running.status).toBe(202)
  expect(running.body).toBeUndefined()
  expect(running.headers.location).toBe(first.headers.location)
  expect(running.headers['retry-after']).toBe('1')
  expect(answer.status).toBe(204)
  expect(onceMore.status).toBe(204)
})

test('the first generation takes the newest link of each answer', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  let last = await service.rest(`DELETE ${one('safe')}`)

  const statuses = [last.status]
  while (last.status === 202) {
    const next = await follow(service, last.headers.location)
    if (next.status === 202) await wait(service, next)
    statuses.push(next.status)
    last = next
  }

  expect(statuses).toEqual([202, 202, 204])
})

test('a client that put a module polls the module until its state is terminal', async () => {
  const service = await openForTest(subgraph)
  const first = await service.rest(`PUT ${one('safe')}`, PLAIN)

  const { answer, polls } = await poll(service, {
    first,
    ask: () => service.rest(`GET ${one('safe')}`),
    isDone: ({ body }) => TERMINAL.has(body.properties.provisioningState.toLowerCase()),
  })

  expect(polls).toBe(4)
  expect(answer.body.properties.provisioningState).toBe('Succeeded')
  expect(answer.headers['retry-after']).toBeUndefined()
})

test('a status says what runs, since when and until when', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const { headers } = await service.rest(`DELETE ${one('safe')}`)
  const statusLink = headers['vendor-asyncoperation']!
  const { pathname } = new URL(statusLink)
  const operationId = pathname.slice(pathname.lastIndexOf('/') + 1)

  const running = await follow(service, statusLink)
  await service.advance(GONE_MS)
  const ended = await follow(service, statusLink)

  expect(running.status).toBe(200)
  expect(running.headers['retry-after']).toBe('1')
  expect(running.body).toEqual({
    id: `/subscriptions/${SUBSCRIPTION}/${AREA}/locations/westus/operationStatuses/${operationId}`,
    name: operationId,
    status: 'InProgress',
    startTime: '2030-01-01T00:00:04.000Z',
  })
  expect(ended.body).toEqual({
    ...running.body,
    status: 'Succeeded',
    endTime: '2030-01-01T00:00:05.000Z',
  })
})

test('status and result stay readable for a day after the end, and no longer', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const { headers } = await service.rest(`DELETE ${one('safe')}`)
  await service.advance(GONE_MS)

  await service.advance(DAY_MS - 1)
  const lastStatus = await follow(service, headers['vendor-asyncoperation'])
  const lastResult = await follow(service, headers.location)
  await service.advance(1)
  const lateStatus = await follow(service, headers['vendor-asyncoperation'])
  const lateResult = await follow(service, headers.location)

  expect([lastStatus.status, lastResult.status]).toEqual([200, 204])
  expect([lateStatus.status, lateResult.status]).toEqual([404, 404])
  expect(lateStatus.body.error.code).toBe('ResourceNotFound')
})

test('the links follow the address at which the service was reached', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')

  const { headers } = await service.rest(`DELETE ${one('safe')}`, undefined, {
    headers: { host: 'hsm.example:8080' },
  })

  expect(headers.location).toMatch(/^http:\/\/hsm\.example:8080\/subscriptions\//)
  expect(headers['vendor-asyncoperation']).toMatch(/^http:\/\/hsm\.example:8080\/subscriptions\//)
})

test("another's operation cannot be polled", async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const { headers } = await service.rest(`DELETE ${one('safe')}`)
  const { pathname, search } = new URL(headers['vendor-asyncoperation']!)

  const { status, body } = await service.rest(`GET ${pathname}${search}`, undefined, {
    credential: 'bob',
  })

  expect(status).toBe(404)
  expect(body.error.code).toBe('SubscriptionNotFound')
})

test('an operation that never was is 404', async () => {
  const service = await openForTest(subgraph)
  const place = `/subscriptions/${SUBSCRIPTION}/${AREA}/locations/westus`

  const status = await service.rest(`GET ${place}/operationStatuses/none?${VERSION}`)
  const result = await service.rest(`GET ${place}/operationResults/none?${VERSION}`)

  expect([status.status, status.body.error.code]).toEqual([404, 'ResourceNotFound'])
  expect([result.status, result.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('the graph shows how far a removal is', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'safe')
  const { headers } = await service.rest(`DELETE ${one('safe')}`)
  const { pathname } = new URL(headers.location!)
  const operationId = pathname.slice(pathname.lastIndexOf('/') + 1)
  const key = `subscriptionId: "${SUBSCRIPTION}", location: "westus", operationId: "${operationId}"`
  const query = `{ hsmOperationStatus(${key}) { name status startTime endTime error { code } }
    hsmOperationResult(${key}) { status } }`

  const running = await service.graphql(query)
  await service.advance(GONE_MS)
  const ended = await service.graphql(query)

  expect(running).toEqual({
    data: {
      hsmOperationStatus: {
        name: operationId,
        status: 'InProgress',
        startTime: '2030-01-01T00:00:04.000Z',
        endTime: null,
        error: null,
      },
      hsmOperationResult: { status: 'InProgress' },
    },
  })
  expect(ended.data.hsmOperationStatus.endTime).toBe('2030-01-01T00:00:05.000Z')
  expect(ended.data.hsmOperationResult).toEqual({ status: 'Succeeded' })
})
