// Following what runs on after a 202, as the three generations of published clients do.
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'
import { DAY_MS, CHANGE_MS, fill, follow, one, openShop, PLAIN, WAREHOUSE } from './shop.ts'

const POLLS_MAX = 5
const TERMINAL = new Set(['succeeded', 'failed', 'canceled'])

type Answer = Awaited<ReturnType<TestService['rest']>>

interface Request {
  readonly title: string
  readonly method: string
  readonly url: string
  readonly sent?: object
  /** What the last read shows of the database. */
  readonly shown: object | undefined
}

const REQUESTS: Request[] = [
  { title: 'creating', method: 'PUT', url: one('new'), sent: PLAIN, shown: { status: 'Online' } },
  {
    title: 'replacing',
    method: 'PUT',
    url: one('dw'),
    sent: { ...PLAIN, sku: { name: 'DW200' } },
    shown: { status: 'Online', currentServiceObjectiveName: 'DW200' },
  },
  {
    title: 'changing',
    method: 'PATCH',
    url: one('dw'),
    sent: { sku: { name: 'DW300' } },
    shown: { status: 'Online', currentServiceObjectiveName: 'DW300' },
  },
  { title: 'pausing', method: 'POST', url: one('dw', 'pause'), shown: { status: 'Paused' } },
  { title: 'resuming', method: 'POST', url: one('off', 'resume'), shown: { status: 'Online' } },
  {
    title: 'upgrading',
    method: 'POST',
    url: one('dw', 'upgradeDataWarehouse'),
    shown: { currentServiceObjectiveName: 'DW100c' },
  },
  { title: 'deleting', method: 'DELETE', url: one('dw'), shown: undefined },
]

async function open() {
  const service = await openShop()
  await service.rest(`PUT ${one('dw')}`, WAREHOUSE)
  await service.rest(`PUT ${one('off')}`, WAREHOUSE)
  await service.advance(CHANGE_MS)
  await fill(service, 'dw')
  await service.rest(`POST ${one('off', 'pause')}`)
  await service.advance(CHANGE_MS)
  return service
}

/** Waits as long as the answer asks, which it must. */
async function wait(service: TestService, { headers }: Answer) {
  expect(headers['retry-after']).toBe('1')
  await service.advance(Number(headers['retry-after']) * 1000)
}

async function poll(
  service: TestService,
  first: Answer,
  ask: (last: Answer) => Promise<Answer>,
  isDone: (answer: Answer) => boolean,
) {
  let answer = first
  for (let polls = 1; polls <= POLLS_MAX; polls++) {
    await wait(service, answer)
    answer = await ask(answer)
    if (isDone(answer)) return answer
  }
  throw new Error('the operation does not end')
}

const expectShown = ({ status, body }: Answer, { shown }: Request) => {
  if (shown) {
    expect(status).toBe(200)
    expect(body.properties).toMatchObject(shown)
  } else expect([status, body]).toEqual([204, undefined])
}

test.each(REQUESTS)(
  'the new generation polls the status of $title, then reads the result',
  async (request) => {
    const service = await open()
    const first = await service.rest(`${request.method} ${request.url}`, request.sent)
    const { location, 'vendor-asyncoperation': statusLink } = first.headers

    const last = await poll(
      service,
      first,
      () => follow(service, statusLink),
      ({ body }) => TERMINAL.has(body.status.toLowerCase()),
    )

    expect(first.status).toBe(202)
    expect([last.status, last.body.status]).toEqual([200, 'Succeeded'])
    expect(last.headers['retry-after']).toBeUndefined()
    const isRead = request.method === 'PUT' || request.method === 'PATCH'
    const final = isRead
      ? await service.rest(`GET ${request.url}`)
      : await follow(service, location)
    expectShown(final, request)
  },
)

test.each(REQUESTS)(
  'the middle generation polls Location of $title, and may read it once more',
  async (request) => {
    const service = await open()
    const first = await service.rest(`${request.method} ${request.url}`, request.sent)
    const running = await follow(service, first.headers.location)

    const last = await poll(
      service,
      first,
      () => follow(service, first.headers.location),
      ({ status }) => status !== 202,
    )
    const onceMore = await follow(service, first.headers.location)

    expect([running.status, running.body]).toEqual([202, undefined])
    expectShown(last, request)
    expectShown(onceMore, request)
  },
)

test.each(REQUESTS)(
  'the first generation takes the newest link of each answer to $title',
  async (request) => {
    const service = await open()
    const first = await service.rest(`${request.method} ${request.url}`, request.sent)

    const last = await poll(
      service,
      first,
      ({ headers }) => follow(service, headers.location),
      ({ status }) => status !== 202,
    )

    expectShown(last, request)
  },
)

test('a result stays readable for a day after the end, and no longer', async () => {
  const service = await open()
  const { headers } = await service.rest(`DELETE ${one('dw')}`)
  await service.advance(CHANGE_MS)

  await service.advance(DAY_MS - 1)
  const last = await follow(service, headers.location)
  await service.advance(1)
  const late = await follow(service, headers.location)

  expect(last.status).toBe(204)
  expect([late.status, late.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test("another's operation cannot be polled", async () => {
  const service = await open()
  const { headers } = await service.rest(`PUT ${one('new')}`, PLAIN)
  for (const link of [headers.location, headers['vendor-asyncoperation']]) {
    const { pathname, search } = new URL(link!)

    const { status, body } = await service.rest(`GET ${pathname}${search}`, undefined, {
      credential: 'bob',
    })

    expect([status, body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  }
})

test('a step that runs twice ends nothing else', async () => {
  const service = await open()
  await service.rest(`POST ${one('dw', 'pause')}`)
  const [step] = await service.store.sql(`SELECT * FROM work WHERE step = 'pause database'`)
  await service.advance(CHANGE_MS)
  await service.rest(`POST ${one('dw', 'resume')}`)
  await service.store.sql('INSERT INTO work (id, step, input, due) VALUES (?, ?, ?, ?)', [
    'again',
    step!['step'],
    step!['input'],
    service.clock.now().getTime(),
  ])

  await service.advance(1)
  const during = await service.rest(`GET ${one('dw')}`)
  await service.advance(CHANGE_MS)

  expect(during.body.properties.status).toBe('Resuming')
  expect((await service.rest(`GET ${one('dw')}`)).body.properties.status).toBe('Online')
  expect(service.mistakes).toEqual([])
})

test('the graph shows how far a change is', async () => {
  const service = await open()
  const { headers } = await service.rest(`PUT ${one('new')}`, PLAIN)
  const operationId = new URL(headers.location!).pathname.split('/').at(-1)
  const key = `subscriptionId: "${SUBSCRIPTION}", location: "westus", operationId: "${operationId}"`
  const query = `{ sqlOperationStatus(${key}) { name status startTime endTime error { code } }
    sqlOperationResult(${key}) { status } }`

  const running = await service.graphql(query)
  await service.advance(CHANGE_MS)
  const ended = await service.graphql(query)

  expect(running.data).toEqual({
    sqlOperationStatus: {
      name: operationId,
      status: 'InProgress',
      startTime: '2030-01-01T00:00:02.000Z',
      endTime: null,
      error: null,
    },
    sqlOperationResult: { status: 'InProgress' },
  })
  expect(ended.data.sqlOperationStatus).toMatchObject({
    status: 'Succeeded',
    endTime: '2030-01-01T00:00:03.000Z',
  })
})
