// Runs: on time, in order, once for every moment, with retries and what follows a failure.
import { describe, expect, test } from 'vitest'
import type { Store } from '../../resolvers/kernel/store.ts'
import { steps } from '../../resolvers/scheduler/runs.ts'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { kindsOf, migrationsOf, serviceCaller } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest, type TestService } from '../open.ts'
import {
  ACTION,
  COLLECTION,
  collectionAt,
  DAY_MS,
  every,
  fakeOutbound,
  historyOf,
  HOUR_MS,
  jobAt,
  jobOf,
  MANY,
  MINUTE_MS,
  momentsOf,
  openMain,
  put,
  runAt,
  statusOf,
  VERSION,
} from './schedules.ts'

const retrying = (retryCount: number, more: object = {}) =>
  jobOf({
    action: {
      ...ACTION,
      retryPolicy: { retryType: 'Fixed', retryInterval: 'PT30S', retryCount },
      ...more,
    },
  })

const ALARM = {
  type: 'Http',
  request: { method: 'POST', uri: 'http://alarm.example/' },
  retryPolicy: { retryType: 'None' },
}

test('a job without a recurrence runs once, at its start, and is completed', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('once'), jobOf({ startTime: '2030-01-01T01:00:00Z' }))

  await service.advance(HOUR_MS - 1)
  const before = sent.length
  await service.advance(DAY_MS)

  expect([before, sent.length]).toEqual([0, 1])
  expect(await statusOf(service, 'once')).toEqual({
    state: 'Completed',
    executionCount: 1,
    failureCount: 0,
    faultedCount: 0,
    lastExecutionTime: '2030-01-01T01:00:00.000Z',
  })
  expect(await historyOf(service, 'once')).toEqual([
    {
      actionName: 'MainAction',
      status: 'Completed',
      startTime: '2030-01-01T01:00:00.000Z',
      endTime: '2030-01-01T01:00:00.000Z',
      expectedExecutionTime: '2030-01-01T01:00:00.000Z',
      message: 'hooks.example answered 200.',
      retryCount: 0,
      repeatCount: 0,
    },
  ])
})

test('the call is made as the job says, and tells what calls', async () => {
  const { service, sent } = await openMain()
  const request = {
    method: 'PUT',
    uri: 'https://hooks.example/x?y=1',
    headers: { 'Content-Type': 'text/plain', Authorization: 'none' },
    body: 'hello',
    authentication: { type: 'Basic', username: 'ada', password: 'secret' },
  }
  await put(service, jobAt('once'), jobOf({ action: { ...ACTION, request } }))

  await service.advance(0)

  expect(sent).toEqual([
    {
      method: 'PUT',
      url: 'https://hooks.example/x?y=1',
      headers: {
        'content-type': 'text/plain',
        authorization: 'Basic YWRhOnNlY3JldA==',
        'x-vendor-scheduler-job-id': `${MANY}/main/jobs/once`,
        'x-vendor-scheduler-expected-execution-time': '2030-01-01T00:00:00.000Z',
        'x-vendor-execution-tag': '20300101t000000z-0',
      },
      body: 'hello',
    },
  ])
})

test('history shows what was answered, cut at a limit', async () => {
  const body = Buffer.from('x'.repeat(5_000))
  const { service } = await openMain({ answer: () => ({ status: 201, headers: {}, body }) })
  await put(service, jobAt('once'), jobOf({}))

  await service.advance(0)

  const [entry] = await historyOf(service, 'once')
  expect(entry.message).toBe(`hooks.example answered 201: ${'x'.repeat(1_000)}`)
})

test('where nothing may go out, the run fails at once and says who can change that', async () => {
  const service = await openForTest(subgraph)
  await put(service, collectionAt('main'), COLLECTION)
  await put(service, jobAt('once'), retrying(4))

  await service.advance(DAY_MS)

  const entries = await historyOf(service, 'once')
  expect(entries).toHaveLength(1)
  expect(entries[0]).toMatchObject({
    status: 'Failed',
    message:
      'Calls to https://hooks.example/run are not allowed. An operator allows hosts with POLYGRAPH_OUTBOUND_HOSTS.',
  })
  expect(await statusOf(service, 'once')).toMatchObject({
    state: 'Faulted',
    executionCount: 1,
    failureCount: 1,
    faultedCount: 1,
  })
})

test('a call that fails is repeated after the interval until it succeeds', async () => {
  const answers = [500, new Error('socket hang up'), 204]
  const { service } = await openMain({ answer: (_, nth) => answers[nth]! })
  await put(service, jobAt('once'), retrying(4))

  await service.advance(HOUR_MS)

  const entries = await historyOf(service, 'once')
  expect(
    entries.map(({ status, retryCount, startTime, message }: any) => [
      status,
      retryCount,
      startTime.slice(11, 19),
      message,
    ]),
  ).toEqual([
    ['Completed', 2, '00:01:00', 'hooks.example answered 204.'],
    ['Postponed', 1, '00:00:30', 'hooks.example could not be called: socket hang up'],
    ['Postponed', 0, '00:00:00', 'hooks.example answered 500.'],
  ])
  expect(await statusOf(service, 'once')).toMatchObject({
    state: 'Completed',
    executionCount: 1,
    failureCount: 2,
    faultedCount: 0,
  })
})

test('an answer that no store can hold as it is is kept in part', async () => {
  const body = Buffer.from(`${'x'.repeat(998)}\0é😀`)
  const { service } = await openMain({ answer: () => ({ status: 200, headers: {}, body }) })
  await put(service, jobAt('once'), jobOf({}))

  await service.advance(0)

  const [entry] = await historyOf(service, 'once')
  expect(entry.message).toBe(`hooks.example answered 200: ${'x'.repeat(998)}é\ufffd`)
})

test('a redirect is a failure, since it is not followed', async () => {
  const { service } = await openMain({ answer: () => 302 })
  await put(service, jobAt('once'), jobOf({}))

  await service.advance(0)

  expect((await historyOf(service, 'once'))[0].status).toBe('Failed')
})

test('when all retries have failed the error action is called, and the job is faulted', async () => {
  const { service, sent } = await openMain({
    answer: ({ url }) => (url.startsWith('http:') ? 200 : 503),
  })
  await put(service, jobAt('once'), retrying(2, { errorAction: ALARM }))

  await service.advance(HOUR_MS)

  expect(sent.map(({ url }) => url)).toEqual([
    'https://hooks.example/run',
    'https://hooks.example/run',
    'https://hooks.example/run',
    'http://alarm.example/',
  ])
  const entries = await historyOf(service, 'once')
  expect(entries.map(({ actionName, status }: any) => [actionName, status])).toEqual([
    ['ErrorAction', 'Completed'],
    ['MainAction', 'Failed'],
    ['MainAction', 'Postponed'],
    ['MainAction', 'Postponed'],
  ])
  expect(await statusOf(service, 'once')).toMatchObject({
    state: 'Faulted',
    executionCount: 1,
    failureCount: 3,
    faultedCount: 1,
  })
})

test('the error action has retries of its own, and is not followed by another', async () => {
  const { service } = await openMain({ answer: () => 500 })
  const errorAction = { ...ALARM, retryPolicy: { retryInterval: 'PT1M', retryCount: 1 } }
  await put(service, jobAt('once'), jobOf({ action: { ...ACTION, errorAction } }))

  await service.advance(HOUR_MS)

  const entries = await historyOf(service, 'once')
  expect(
    entries.map(({ actionName, status, retryCount }: any) => [actionName, status, retryCount]),
  ).toEqual([
    ['ErrorAction', 'Failed', 1],
    ['ErrorAction', 'Postponed', 0],
    ['MainAction', 'Failed', 0],
  ])
  expect(await statusOf(service, 'once')).toMatchObject({ failureCount: 1, faultedCount: 1 })
})

test('a recurring job goes on after a run that failed', async () => {
  const { service } = await openMain({ answer: (_, nth) => (nth === 0 ? 500 : 200) })
  await put(service, jobAt('hourly'), every('Hour'))

  await service.advance(2 * HOUR_MS)

  expect(await statusOf(service, 'hourly')).toMatchObject({
    state: 'Enabled',
    executionCount: 3,
    failureCount: 1,
    faultedCount: 1,
  })
})

test('a recurring job whose last run fails is faulted', async () => {
  const { service } = await openMain({ answer: (_, nth) => (nth === 1 ? 500 : 200) })
  await put(service, jobAt('twice'), every('Hour', { count: 2 }))

  await service.advance(DAY_MS)

  expect(await statusOf(service, 'twice')).toMatchObject({ state: 'Faulted', executionCount: 2 })
})

test('a job stays enabled until the retries of its last run have ended', async () => {
  const { service } = await openMain({ answer: (_, nth) => (nth < 2 ? 500 : 200) })
  await put(service, jobAt('once'), retrying(4))

  await service.advance(30_000)
  const meanwhile = await statusOf(service, 'once')
  await service.advance(30_000)

  expect(meanwhile.state).toBe('Enabled')
  expect((await statusOf(service, 'once')).state).toBe('Completed')
})

test('a run whose retries last beyond the next moment does not keep that one waiting', async () => {
  const { service, sent } = await openMain({ answer: () => 500 })
  const { recurrence } = every('Minute', { count: 2 }).properties as any
  await put(service, jobAt('minutely'), { properties: { ...retrying(2).properties, recurrence } })

  await service.advance(HOUR_MS)

  expect(sent).toHaveLength(6)
  const entries = await historyOf(service, 'minutely')
  expect(
    entries.map(({ expectedExecutionTime, retryCount, repeatCount, startTime }: any) =>
      [expectedExecutionTime.slice(14, 19), retryCount, repeatCount, startTime.slice(14, 19)].join(
        ' ',
      ),
    ),
  ).toEqual([
    '01:00 2 1 02:00',
    '01:00 1 1 01:30',
    '01:00 0 1 01:00',
    '00:00 2 0 01:00',
    '00:00 1 0 00:30',
    '00:00 0 0 00:00',
  ])
})

test.each(['the job', 'its collection'])(
  'the retries of a run end when %s is disabled',
  async (what) => {
    const { service, sent } = await openMain({ answer: () => 500 })
    await put(service, jobAt('once'), retrying(4))
    await service.advance(0)

    const path = what === 'the job' ? jobAt('once') : collectionAt('main')
    await service.rest(`PATCH ${path}`, { properties: { state: 'Disabled' } })
    await service.advance(DAY_MS)

    expect(sent).toHaveLength(1)
    expect((await historyOf(service, 'once'))[0]).toMatchObject({
      status: 'Failed',
      retryCount: 1,
      message: 'The job or its collection was disabled before this attempt.',
    })
  },
)

test('a job runs as often as its count says', async () => {
  const { service } = await openMain()
  await put(service, jobAt('thrice'), every('Day', { count: 3 }))

  await service.advance(30 * DAY_MS)

  expect(await momentsOf(service, 'thrice')).toEqual([
    '2030-01-01T00:00:00.000Z',
    '2030-01-02T00:00:00.000Z',
    '2030-01-03T00:00:00.000Z',
  ])
  expect((await statusOf(service, 'thrice')).state).toBe('Completed')
})

test('a job runs until its end', async () => {
  const { service } = await openMain()
  await put(service, jobAt('hourly'), every('Hour', { endTime: '2030-01-01T02:30:00Z' }))

  await service.advance(DAY_MS)

  expect(await statusOf(service, 'hourly')).toEqual({
    state: 'Completed',
    executionCount: 3,
    failureCount: 0,
    faultedCount: 0,
    lastExecutionTime: '2030-01-01T02:00:00.000Z',
  })
})

test('jobs by the calendar run at the moments of their schedule', async () => {
  const { service } = await openMain()
  const recurrence = {
    frequency: 'Month',
    schedule: { monthlyOccurrences: [{ day: 'Monday', Occurrence: 1 }], hours: [8], minutes: [30] },
  }
  await put(
    service,
    jobAt('monthly'),
    jobOf({ startTime: '2030-01-01T00:00:00-05:00', recurrence }),
  )

  await service.advance(92 * DAY_MS)

  expect(await momentsOf(service, 'monthly')).toEqual([
    '2030-01-07T13:30:00.000Z',
    '2030-02-04T13:30:00.000Z',
    '2030-03-04T13:30:00.000Z',
    '2030-04-01T13:30:00.000Z',
  ])
})

test('a year of a daily job is 365 runs', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('daily'), every('Day', { schedule: { hours: [6], minutes: [0] } }))

  await service.advance(365 * DAY_MS)

  expect(sent).toHaveLength(365)
  expect(await statusOf(service, 'daily')).toMatchObject({
    executionCount: 365,
    lastExecutionTime: '2030-12-31T06:00:00.000Z',
    nextExecutionTime: '2031-01-01T06:00:00.000Z',
  })
})

test('a day of a minutely job is 1440 runs, of which history keeps the last 1000', async () => {
  const { service, sent } = await openMain()
  await put(
    service,
    jobAt('minutely'),
    jobOf({ startTime: '2030-01-01T00:01:00Z', ...every('Minute').properties }),
  )

  await service.advance(DAY_MS)

  const times = sent.map(({ headers }) => headers!['x-vendor-scheduler-expected-execution-time'])
  expect(times).toEqual(times.toSorted())
  expect(new Set(times).size).toBe(1_440)
  expect((await statusOf(service, 'minutely')).executionCount).toBe(1_440)
  expect(await service.store.sql('SELECT count(*) AS n FROM "job_history"')).toEqual([{ n: 1_000 }])
})

test('a job that missed moments runs once for all of them and goes on from now', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour', { count: 4 }))
  await service.advance(0)

  // Nothing runs for ten hours and a half.
  service.clock.moveTo(new Date('2030-01-01T10:30:00Z'))
  await service.advance(0)
  const late = await historyOf(service, 'hourly', '&$top=1')
  await service.advance(DAY_MS)

  expect(late[0]).toMatchObject({
    expectedExecutionTime: '2030-01-01T01:00:00.000Z',
    startTime: '2030-01-01T10:30:00.000Z',
    repeatCount: 1,
  })
  expect(await momentsOf(service, 'hourly')).toEqual([
    '2030-01-01T00:00:00.000Z',
    '2030-01-01T01:00:00.000Z',
    '2030-01-01T11:00:00.000Z',
    '2030-01-01T12:00:00.000Z',
  ])
  expect(sent).toHaveLength(4)
})

test('run answers 200 with nothing, an entry of history follows, and the plan stays', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('later'), jobOf({ startTime: '2030-02-01T00:00:00Z' }))

  const { status, body } = await service.rest(`POST ${runAt('later')}`)
  await service.advance(0)

  expect([status, body]).toEqual([200, undefined])
  expect(sent).toHaveLength(1)
  expect(await historyOf(service, 'later')).toMatchObject([
    { status: 'Completed', expectedExecutionTime: '2030-01-01T00:00:00.000Z' },
  ])
  expect(await statusOf(service, 'later')).toEqual({
    state: 'Enabled',
    executionCount: 1,
    failureCount: 0,
    faultedCount: 0,
    lastExecutionTime: '2030-01-01T00:00:00.000Z',
    nextExecutionTime: '2030-02-01T00:00:00.000Z',
  })
})

test('run in the moment at which the job is due is a run of its own', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))

  await service.rest(`POST ${runAt('hourly')}`)
  await service.rest(`POST ${runAt('hourly')}`)
  await service.advance(0)

  expect(sent).toHaveLength(3)
  expect(await historyOf(service, 'hourly')).toHaveLength(3)
})

test('a job that has ended can be run, which does not change its state', async () => {
  const { service, sent } = await openMain({ answer: (_, nth) => (nth === 0 ? 200 : 500) })
  await put(service, jobAt('once'), jobOf({}))
  await service.advance(0)

  await service.rest(`POST ${runAt('once')}`)
  await service.advance(0)

  expect(sent).toHaveLength(2)
  expect(await statusOf(service, 'once')).toMatchObject({
    state: 'Completed',
    executionCount: 2,
    faultedCount: 1,
  })
})

test('a job that is disabled, or in a collection that is, cannot be run', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('off'), jobOf({ state: 'Disabled' }))
  await put(service, jobAt('on'), jobOf({ startTime: '2030-02-01T00:00:00Z' }))

  const off = await service.rest(`POST ${runAt('off')}`)
  await service.rest(`POST ${MANY}/main/disable?${VERSION}`)
  const on = await service.rest(`POST ${runAt('on')}`)
  await service.advance(DAY_MS)

  expect([off.status, off.body.error.code]).toEqual([409, 'JobStateNotAllowed'])
  expect([on.status, on.body.error.code]).toEqual([409, 'JobCollectionNotEnabled'])
  expect(sent).toEqual([])
})

/** Lets the nth transaction of a kind of work fail, as a process does that dies before it. */
function failing(isToFail: (nth: number) => boolean) {
  let isArmed = false
  let nth = 0
  const wrap = (store: Store): Store => ({
    ...store,
    async transaction(step) {
      if (isArmed && isToFail((nth += 1))) throw new Error('died')
      return store.transaction(step)
    },
  })
  return { wrap, arm: () => void (isArmed = true) }
}

test('a process that dies after the call and before its record calls again with the same tag, and records once', async () => {
  const { wrap, arm } = failing((nth) => nth === 2)
  const { service, sent } = await openMain({ wrap })
  await put(service, jobAt('once'), jobOf({}))

  arm()
  await service.advance(HOUR_MS)

  const tags = sent.map(({ headers }) => headers!['x-vendor-execution-tag'])
  expect(tags).toEqual(['20300101t000000z-0', '20300101t000000z-0'])
  expect(await historyOf(service, 'once')).toHaveLength(1)
  expect(await statusOf(service, 'once')).toMatchObject({ state: 'Completed', executionCount: 1 })
})

test('a process that dies before the claim has claimed nothing, and the run is not lost', async () => {
  const { wrap, arm } = failing((nth) => nth === 1)
  const { service, sent } = await openMain({ wrap })
  await put(service, jobAt('hourly'), every('Hour'))

  arm()
  await service.advance(MINUTE_MS)

  expect(sent).toHaveLength(1)
  expect(await statusOf(service, 'hourly')).toMatchObject({ executionCount: 1 })
})

const waitingSteps = async (service: TestService) =>
  (await service.store.sql(`SELECT input FROM work WHERE step = 'run job' ORDER BY due, id`)).map(
    ({ input }) => JSON.parse(input),
  )

const ownContext = ({ opened }: TestService) =>
  opened.contextFor(serviceCaller('scheduler'), { address: '', headers: {} })

test('a step that runs again after all is done does nothing', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  const [step] = await waitingSteps(service)
  await service.advance(0)

  await steps['run job'](step, ownContext(service))

  expect(sent).toHaveLength(1)
  expect((await statusOf(service, 'hourly')).executionCount).toBe(1)
})

test('another step of a moment that is being run leaves it alone', async () => {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const { sent, outbound } = fakeOutbound()
  const { service } = await openMain({
    outbound: {
      async send(request) {
        begun.resolve()
        await gate.promise
        return outbound.send(request)
      },
    },
  })
  await put(service, jobAt('hourly'), every('Hour'))
  const [step] = await waitingSteps(service)

  const running = steps['run job'](step, ownContext(service))
  await begun.promise
  await steps['run job']({ ...step, claim: 'another' }, ownContext(service))
  gate.resolve()
  await running

  expect(sent).toHaveLength(1)
  expect(await historyOf(service, 'hourly')).toHaveLength(1)
})

test('a step that runs again while its run waits for a retry does not make that earlier', async () => {
  const { service, sent } = await openMain({ answer: () => 500 })
  await put(service, jobAt('once'), retrying(1))
  const [step] = await waitingSteps(service)
  await service.advance(0)

  await steps['run job'](step, ownContext(service))
  const early = sent.length
  await service.advance(HOUR_MS)

  expect([early, sent.length]).toEqual([1, 2])
})

test('a step whose lease ran out while it called is recorded once, though it called twice', async () => {
  const gate = Promise.withResolvers<void>()
  const { sent, outbound } = fakeOutbound(() => 500)
  const { service } = await openMain({
    outbound: {
      async send(request) {
        const answer = outbound.send(request)
        if (sent.length === 2) gate.resolve()
        if (sent.length <= 2) await gate.promise
        return answer
      },
    },
  })
  await put(service, jobAt('once'), retrying(1))
  const [step] = await waitingSteps(service)
  const run = () => steps['run job'](step, ownContext(service))

  await Promise.all([run(), run()])
  const status = await statusOf(service, 'once')
  await service.advance(HOUR_MS)

  expect(status).toMatchObject({ executionCount: 1, failureCount: 1 })
  // The two calls of the first attempt, and one of its retry.
  expect(sent).toHaveLength(3)
  expect(await historyOf(service, 'once')).toHaveLength(2)
})

describe.each(engines)('on $engine', ({ database }) => {
  test('two processes on one store run every moment once', async () => {
    const stored = await database()
    const openOne = async () => stored.open(kindsOf(subgraph), migrationsOf(subgraph))
    const { sent, outbound } = fakeOutbound()
    const one = await openForTest(subgraph, { store: await openOne(), outbound })
    const two = await openForTest(subgraph, { store: await openOne(), outbound })
    await put(one, collectionAt('main'), COLLECTION)
    for (let n = 0; n < 20; n += 1) await put(one, jobAt(`job-${n}`), every('Hour'))

    for (let hour = 0; hour < 3; hour += 1) {
      const moment = new Date(Date.parse('2030-01-01T00:00:00Z') + hour * HOUR_MS)
      for (const { clock } of [one, two]) clock.moveTo(moment)
      await Promise.all([one.opened.work.runDue(), two.opened.work.runDue()])
    }

    const tags = sent.map(
      ({ headers }) =>
        `${headers!['x-vendor-scheduler-job-id']} ${headers!['x-vendor-execution-tag']}`,
    )
    expect(tags).toHaveLength(60)
    expect(new Set(tags).size).toBe(60)
    for (const job of ['job-0', 'job-19']) {
      expect((await statusOf(two, job)).executionCount).toBe(3)
      expect(await historyOf(two, job)).toHaveLength(3)
    }
    expect([one.mistakes, two.mistakes]).toEqual([[], []])
  })

  test('a job lives through retries, an error action and its removal', async () => {
    const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
    const { service, sent } = await openMain({ store, answer: () => 500 })
    await put(service, jobAt('once'), retrying(2, { errorAction: ALARM }))
    await put(service, jobAt('daily'), every('Day', { count: 2 }))

    await service.advance(2 * DAY_MS)
    const failed = await historyOf(service, 'once', `&$filter=status eq 'Failed'`)
    await service.rest(`DELETE ${collectionAt('main')}`)
    await service.advance(MINUTE_MS)

    expect(sent).toHaveLength(6)
    expect(failed).toHaveLength(2)
    expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(404)
    expect(service.mistakes).toEqual([])
  })
})
