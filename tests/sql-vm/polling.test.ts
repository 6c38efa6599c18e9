// Following what runs on, as the three generations of published clients do.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest } from '../open.ts'
import { poll, POLLS_MAX, TERMINAL, wait, type Answer } from '../management-polling.ts'
import { SUBSCRIPTION } from '../people.ts'
import {
  AREA,
  follow,
  FULL_GROUP,
  group,
  listener,
  machine,
  PLAIN,
  PLAIN_GROUP,
  putReady,
  SUB,
  VERSION,
} from './cluster.ts'

/** One of each sort, with what creates it and what changes it. */
const SORTS: [sort: string, path: string, created: object, changed: object][] = [
  ['a group', group('cluster'), PLAIN_GROUP, FULL_GROUP],
  ['a machine', machine('sql-1'), PLAIN, { ...PLAIN, properties: { sqlManagement: 'Full' } }],
  ['a listener', listener('front'), {}, { properties: { port: 1433 } }],
]

async function openFor(path: string) {
  const service = await openForTest(subgraph)
  if (path.includes('Listeners/')) await putReady(service, group('cluster'), PLAIN_GROUP)
  return service
}

const isTerminal = ({ body }: Answer) =>
  TERMINAL.has(body.properties.provisioningState.toLowerCase())

test.each(SORTS)(
  'a client that puts %s polls it until its state is terminal, also after a change',
  async (_sort, path, created, changed) => {
    const service = await openFor(path)
    const ask = () => service.rest(`GET ${path}`)

    const first = await service.rest(`PUT ${path}`, created)
    const made = await poll(service, { first, ask, isDone: isTerminal })
    const again = await service.rest(`PUT ${path}`, changed)
    const redone = await poll(service, { first: again, ask, isDone: isTerminal })

    expect([first.status, made.polls]).toEqual([201, 1])
    expect([again.status, redone.polls]).toEqual([200, 1])
    for (const { answer } of [made, redone]) {
      expect(answer.body.properties.provisioningState).toBe('Succeeded')
      expect(answer.headers['retry-after']).toBeUndefined()
    }
  },
)

test.each(SORTS.slice(0, 2))(
  'a PATCH on %s that is being created ends with it, and one on a ready one is done',
  async (_sort, path, created) => {
    const service = await openFor(path)
    await service.rest(`PUT ${path}`, created)

    const early = await service.rest(`PATCH ${path}`, { tags: { a: 'b' } })
    const { answer } = await poll(service, {
      first: early,
      ask: () => service.rest(`GET ${path}`),
      isDone: isTerminal,
    })
    const late = await service.rest(`PATCH ${path}`, { tags: { c: 'd' } })

    expect(early.body.properties.provisioningState).toBe('Creating')
    expect(answer.body.tags).toEqual({ a: 'b' })
    expect([late.status, late.body.properties.provisioningState]).toEqual([200, 'Succeeded'])
    expect(late.headers['retry-after']).toBeUndefined()
  },
)

test.each(SORTS)(
  'the new generation polls the status of the removal of %s and then reads Location once',
  async (_sort, path, created) => {
    const service = await openFor(path)
    await putReady(service, path, created)
    const first = await service.rest(`DELETE ${path}`)
    const { location, 'vendor-asyncoperation': statusLink } = first.headers

    const { answer, polls } = await poll(service, {
      first,
      ask: () => follow(service, statusLink),
      isDone: ({ body }) => TERMINAL.has(body.status.toLowerCase()),
    })
    const final = await follow(service, location)

    expect([first.status, polls]).toEqual([202, 1])
    expect([answer.status, answer.body.status]).toEqual([200, 'Succeeded'])
    expect(final.status).toBe(204)
    expect((await service.rest(`GET ${path}`)).status).toBe(404)
  },
)

test.each(SORTS)(
  'the middle generation polls Location of the removal of %s until it is not 202',
  async (_sort, path, created) => {
    const service = await openFor(path)
    await putReady(service, path, created)
    const first = await service.rest(`DELETE ${path}`)

    const running = await follow(service, first.headers.location)
    const { answer } = await poll(service, {
      first: running,
      ask: () => follow(service, first.headers.location),
      isDone: ({ status }) => status !== 202,
    })
    const onceMore = await follow(service, first.headers.location)

    expect([running.status, running.body]).toEqual([202, undefined])
    expect(running.headers.location).toBe(first.headers.location)
    expect([answer.status, onceMore.status]).toEqual([204, 204])
  },
)

test.each(SORTS)(
  'the first generation takes the newest link of each answer to the removal of %s',
  async (_sort, path, created) => {
    const service = await openFor(path)
    await putReady(service, path, created)
    let last = await service.rest(`DELETE ${path}`)

    const statuses = [last.status]
    while (last.status === 202 && statuses.length < POLLS_MAX) {
      const next = await follow(service, last.headers.location)
      if (next.status === 202) await wait(service, next)
      statuses.push(next.status)
      last = next
    }

    expect(statuses).toEqual([202, 202, 204])
  },
)

test("another's removal cannot be polled, and one that never was is 404", async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), PLAIN)
  const { headers } = await service.rest(`DELETE ${machine('sql-1')}`)
  const place = `${SUB}/${AREA}/locations/westus`

  for (const link of [headers.location!, headers['vendor-asyncoperation']!]) {
    const { pathname, search } = new URL(link)
    const asBob = await service.rest(`GET ${pathname}${search}`, undefined, { credential: 'bob' })
    expect([asBob.status, asBob.body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  }
  for (const sort of ['operationStatuses', 'operationResults']) {
    const { status, body } = await service.rest(`GET ${place}/${sort}/none?${VERSION}`)
    expect([status, body.error.code]).toEqual([404, 'ResourceNotFound'])
  }
})

test('the graph shows how far a removal is', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, machine('sql-1'), PLAIN)
  const { headers } = await service.rest(`DELETE ${machine('sql-1')}`)
  const operationId = new URL(headers.location!).pathname.split('/').at(-1)!
  const key = `subscriptionId: "${SUBSCRIPTION}", location: "westus", operationId: "${operationId}"`
  const query = `{ sqlVmOperationStatus(${key}) { id name status startTime endTime error { code message } }
    sqlVmOperationResult(${key}) { status } }`

  const running = await service.graphql(query)
  await service.advance(1_000)
  const ended = await service.graphql(query)

  const shown = {
    id: `${SUB}/${AREA}/locations/westus/operationStatuses/${operationId}`,
    name: operationId,
    status: 'InProgress',
    startTime: '2030-01-01T00:00:01.000Z',
    endTime: null,
    error: null,
  }
  expect(running).toEqual({
    data: { sqlVmOperationStatus: shown, sqlVmOperationResult: { status: 'InProgress' } },
  })
  expect(ended.data.sqlVmOperationStatus).toEqual({
    ...shown,
    status: 'Succeeded',
    endTime: '2030-01-01T00:00:02.000Z',
  })
  expect(ended.data.sqlVmOperationResult.status).toBe('Succeeded')
})
