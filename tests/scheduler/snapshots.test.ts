// Collections and jobs that are taken as a whole and put back.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import type { TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'
import {
  ACTION,
  collectionAt,
  every,
  HOUR_MS,
  jobAt,
  jobOf,
  MANY,
  MINUTE_MS,
  momentsOf,
  ONCE,
  openMain,
  put,
  statusOf,
  URI,
  VERSION,
} from './schedules.ts'

const MAIN = `${MANY}/main`
const JOB = `${MAIN}/jobs/hourly`
const SECRET = {
  ...ACTION,
  request: {
    ...ACTION.request,
    authentication: { type: 'Basic', username: 'ann', password: 'open sesame' },
  },
}
const foreign = (id: string) => id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

const FULL = {
  location: 'westus',
  tags: { team: 'ops' },
  properties: { sku: { name: 'Standard' }, quota: { maxJobCount: 20 } },
}

const openEmpty = async () => {
  const { service } = await openMain()
  await service.rest(`DELETE ${collectionAt('main')}`)
  return service
}

async function makeJobs(service: TestService) {
  await put(service, jobAt('hourly'), every('Hour'))
  await put(service, jobAt('secret'), jobOf({ action: SECRET, recurrence: { frequency: 'Day' } }))
  await put(service, jobAt('off'), jobOf({ state: 'Disabled', recurrence: { frequency: 'Day' } }))
}

const remove = async (service: TestService, id: string) => {
  await service.rest(`DELETE ${id}?${VERSION}`)
  await service.advance(2_000)
}

describe('a collection', () => {
  snapshotCases({
    type: 'JobCollection',
    open: openEmpty,
    async make(service) {
      await put(service, collectionAt('main'), FULL)
      await makeJobs(service)
    },
    remove,
    id: MAIN,
    vacantId: `${MANY}/other`,
    foreignId: foreign(MAIN),
    shown: `location tags properties { state sku { name } quota { maxJobCount } }
      jobs { nodes { properties { startTime state recurrence { frequency interval }
        action { type request { method uri authentication { type } } }
        status { executionCount failureCount nextExecutionTime } } } }`,
    readyMs: 1,
    announces: 'scheduler.jobCollection',
  })
})

describe('a job', () => {
  snapshotCases({
    type: 'SchedulerJob',
    open: async () => (await openMain()).service,
    make: (service) => put(service, jobAt('hourly'), every('Hour')),
    remove,
    id: JOB,
    vacantId: `${MAIN}/jobs/other`,
    foreignId: foreign(JOB),
    shown: `tags location properties { startTime state recurrence { frequency interval }
      action { type request { method uri } } status { executionCount nextExecutionTime } }`,
    readyMs: 1,
    announces: 'scheduler.job',
    hasTags: false,
  })
})

test.each(engines)(
  'the jobs of a collection that was put back run from now on, on $engine',
  async ({ database }) => {
    const { open } = await database()
    const { service, sent } = await openMain({
      store: await open(kindsOf(subgraph), migrationsOf(subgraph)),
    })
    await makeJobs(service)
    await service.advance(HOUR_MS + MINUTE_MS)
    const before = await statusOf(service, 'hourly')
    const { bytes } = await take(service, 'JobCollection', MAIN)
    await remove(service, MAIN)
    await service.advance(5 * HOUR_MS)
    const quiet = sent.length

    await restore(service, { type: 'JobCollection', id: MAIN, bytes })
    await service.advance(2 * HOUR_MS)

    expect(before.executionCount).toBe(2)
    expect(sent.slice(quiet).length).toBe(2)
    expect(await momentsOf(service, 'hourly')).toEqual([
      '2030-01-01T07:00:00.000Z',
      '2030-01-01T08:00:00.000Z',
    ])
    expect((await statusOf(service, 'hourly')).executionCount).toBe(4)
    expect((await statusOf(service, 'off')).state).toBe('Disabled')
    expect(service.mistakes).toEqual([])
  },
)

test('passwords stay sealed, and the calls of what was put back carry them', async () => {
  const { service, sent } = await openMain()
  await makeJobs(service)
  const { bytes } = await take(service, 'JobCollection', MAIN)
  const one = await take(service, 'SchedulerJob', `${MAIN}/jobs/secret`)
  await remove(service, MAIN)

  await restore(service, { type: 'JobCollection', id: MAIN, bytes })
  await restore(service, { type: 'JobCollection', id: `${MANY}/copy`, bytes })
  await restore(service, {
    type: 'SchedulerJob',
    id: `${MAIN}/jobs/again`,
    bytes: one.bytes,
  })
  await service.advance(1)
  sent.length = 0
  for (const job of [`${MAIN}/jobs/secret`, `${MANY}/copy/jobs/secret`, `${MAIN}/jobs/again`]) {
    await service.rest(`POST ${job}/run?${VERSION}`)
  }
  await service.advance(MINUTE_MS)

  expect(bytes.includes('sesame')).toBe(false)
  const login = `Basic ${Buffer.from('ann:open sesame').toString('base64')}`
  expect(sent.map(({ url, headers }) => [url, headers?.['authorization']])).toEqual(
    [URI, URI, URI].map((url) => [url, login]),
  )
})

test('a job whose end has passed meanwhile is completed, and one that is to run once runs', async () => {
  const { service, sent } = await openMain()
  const ended = every('Hour', { endTime: '2030-01-01T02:30:00Z' })
  await put(service, jobAt('ended'), ended)
  await put(service, jobAt('once'), jobOf({ startTime: '2030-01-01T03:00:00Z', retryPolicy: ONCE }))
  const { bytes } = await take(service, 'JobCollection', MAIN)
  await remove(service, MAIN)
  await service.advance(10 * HOUR_MS)
  sent.length = 0

  await restore(service, { type: 'JobCollection', id: MAIN, bytes })
  await service.advance(1_000)

  expect(await statusOf(service, 'ended')).toMatchObject({ state: 'Completed' })
  expect(await statusOf(service, 'once')).toMatchObject({ state: 'Completed', executionCount: 1 })
  expect(sent).toHaveLength(1)
})

test('a job is not put back where its collection is gone, is full or allows no such recurrence', async () => {
  const { service } = await openMain()
  await put(service, jobAt('minutely'), every('Minute'))
  const id = `${MAIN}/jobs/minutely`
  const { bytes } = await take(service, 'SchedulerJob', id)
  const free = { location: 'westus', properties: { sku: { name: 'Free' } } }
  const full = {
    location: 'westus',
    properties: { sku: { name: 'Standard' }, quota: { maxJobCount: 1 } },
  }
  await put(service, collectionAt('free'), free)
  await put(service, collectionAt('full'), full)
  await put(service, `${MANY}/full/jobs/only?${VERSION}`, every('Day'))
  const into = (collection: string) =>
    restorePart(service, { type: 'SchedulerJob', id: `${MANY}/${collection}/jobs/a`, bytes })

  expect(refusalOf(await into('none'))).toEqual([404, 'ResourceNotFound'])
  expect(refusalOf(await into('free'))).toEqual([409, 'QuotaExceeded'])
  expect(refusalOf(await into('full'))).toEqual([409, 'QuotaExceeded'])
})
