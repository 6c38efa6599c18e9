// Following what runs on, as the three generations of published clients do.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'
import { AREA, follow, GONE_MS, one, PLAIN, putReady, set, VERSION } from './stores.ts'

const POLLS_MAX = 10
const DAY_MS = 24 * 60 * 60 * 1000
const TERMINAL = new Set(['succeeded', 'failed', 'canceled'])

type Answer = Awaited<ReturnType<TestService['rest']>>

/** Polls until `isDone`, waiting as long as each answer asks, which it must. */
async function poll(
  service: TestService,
  first: Answer,
  { ask, isDone }: { ask: (last: Answer) => Promise<Answer>; isDone: (it: Answer) => boolean },
) {
  let answer = first
  for (let polls = 1; polls <= POLLS_MAX; polls++) {
    expect(answer.headers['retry-after']).toBe('1')
    await service.advance(Number(answer.headers['retry-after']) * 1000)
    answer = await ask(answer)
    if (isDone(answer)) return answer
  }
  throw new Error('the operation does not end')
}

const hasStatus = ({ body }: Answer) => TERMINAL.has(body.status.toLowerCase())
const hasState = ({ body }: Answer) => TERMINAL.has(body.properties.provisioningState.toLowerCase())

async function openFilled() {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'colour', value: 'red' })
  return service
}

test('all generations poll a store that was put until its state is terminal', async () => {
  const service = await openForTest(subgraph)
  const created = await service.rest(`PUT ${one('shop-1')}`, PLAIN)
  const ask = () => service.rest(`GET ${one('shop-1')}`)

  const ready = await poll(service, created, { ask, isDone: hasState })
  const replaced = await service.rest(`PUT ${one('shop-1')}`, {
    ...PLAIN,
    identity: { type: 'SystemAssigned' },
  })
  const again = await poll(service, replaced, { ask, isDone: hasState })

  expect([created.status, replaced.status]).toEqual([201, 200])
  expect(ready.body.properties.provisioningState).toBe('Succeeded')
  expect(again.body.properties.provisioningState).toBe('Succeeded')
  expect(again.headers['retry-after']).toBeUndefined()
})

test('the new and the middle generation poll the status of a PATCH and then read the store', async () => {
  const service = await openFilled()
  const first = await service.rest(`PATCH ${one('shop-1')}`, {
    identity: { type: 'SystemAssigned' },
  })
  const running = await follow(service, first.headers['vendor-asyncoperation'])

  const ended = await poll(service, first, {
    ask: () => follow(service, first.headers['vendor-asyncoperation']),
    isDone: hasStatus,
  })
  const final = await service.rest(`GET ${one('shop-1')}`)

  expect(first.status).toBe(201)
  // With a Location, the new generation would read that and not the store.
  expect(first.headers.location).toBeUndefined()
  expect([running.status, running.body.status]).toEqual([200, 'InProgress'])
  expect([ended.status, ended.body.status]).toEqual([200, 'Succeeded'])
  expect(final.body.properties.provisioningState).toBe('Succeeded')
})

test('the new generation polls the status of a removal and then reads Location once', async () => {
  const service = await openFilled()
  const first = await service.rest(`DELETE ${one('shop-1')}`)

  const ended = await poll(service, first, {
    ask: () => follow(service, first.headers['vendor-asyncoperation']),
    isDone: hasStatus,
  })
  const final = await follow(service, first.headers.location)

  expect([ended.status, ended.body.status]).toEqual([200, 'Succeeded'])
  expect(final.status).toBe(204)
})

test('the middle generation polls Location until it is not 202, and reads it once more', async () => {
  const service = await openFilled()
  const first = await service.rest(`DELETE ${one('shop-1')}`)
  const running = await follow(service, first.headers.location)

  const ended = await poll(service, first, {
    ask: () => follow(service, first.headers.location),
    isDone: ({ status }) => status !== 202,
  })
  const onceMore = await follow(service, first.headers.location)

  expect([running.status, running.body]).toEqual([202, undefined])
  expect([ended.status, onceMore.status]).toEqual([204, 204])
})

test('the first generation takes the newest link of each answer', async () => {
  const service = await openFilled()
  const first = await service.rest(`DELETE ${one('shop-1')}`)
  const running = await follow(service, first.headers.location)

  const ended = await poll(service, running, {
    ask: (last) => follow(service, last.headers.location),
    isDone: ({ status }) => status !== 202,
  })

  expect([first.status, running.status, ended.status]).toEqual([202, 202, 204])
})

test('a change that a removal overtakes has failed, and the removal goes on', async () => {
  const service = await openFilled()
  const change = await service.rest(`PATCH ${one('shop-1')}`, {
    identity: { type: 'SystemAssigned' },
  })

  const removal = await service.rest(`DELETE ${one('shop-1')}`)
  const overtaken = await follow(service, change.headers['vendor-asyncoperation'])
  await service.advance(GONE_MS)
  const gone = await follow(service, removal.headers['vendor-asyncoperation'])

  expect(removal.status).toBe(202)
  expect(overtaken.body).toMatchObject({
    status: 'Failed',
    error: { code: 'OperationPreempted' },
  })
  expect(gone.body.status).toBe('Succeeded')
  expect((await service.rest(`GET ${one('shop-1')}`)).status).toBe(404)
})

test('status and result stay readable for a day after the end, and no longer', async () => {
  const service = await openFilled()
  const { headers } = await service.rest(`DELETE ${one('shop-1')}`)
  await service.advance(GONE_MS)

  await service.advance(DAY_MS - 1)
  const last = await follow(service, headers.location)
  await service.advance(1)
  const late = await follow(service, headers.location)

  expect([last.status, late.status, late.body.error.code]).toEqual([204, 404, 'ResourceNotFound'])
})

test("another's operation cannot be polled, and one that never was is 404", async () => {
  const service = await openFilled()
  const { headers } = await service.rest(`DELETE ${one('shop-1')}`)
  const { pathname, search } = new URL(headers['vendor-asyncoperation']!)
  const place = `/subscriptions/${SUBSCRIPTION}/${AREA}/locations/westus`

  const asBob = await service.rest(`GET ${pathname}${search}`, undefined, { credential: 'bob' })
  const never = await service.rest(`GET ${place}/operationStatuses/none?${VERSION}`)

  expect([asBob.status, asBob.body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  expect([never.status, never.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('the graph shows how far a removal is', async () => {
  const service = await openFilled()
  const { headers } = await service.rest(`DELETE ${one('shop-1')}`)
  const { pathname } = new URL(headers.location!)
  const operationId = pathname.slice(pathname.lastIndexOf('/') + 1)
  const key = `subscriptionId: "${SUBSCRIPTION}", location: "westus", operationId: "${operationId}"`
  const query = `{ configStoreOperationStatus(${key}) { name status endTime error { code } }
    configStoreOperationResult(${key}) { status } }`

  const running = await service.graphql(query)
  await service.advance(GONE_MS)
  const ended = await service.graphql(query)

  expect(running).toEqual({
    data: {
      configStoreOperationStatus: {
        name: operationId,
        status: 'InProgress',
        endTime: null,
        error: null,
      },
      configStoreOperationResult: { status: 'InProgress' },
    },
  })
  expect(ended.data.configStoreOperationResult).toEqual({ status: 'Succeeded' })
})
