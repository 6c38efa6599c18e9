// Jobs: how they are put, changed and refused, through both doors.
import { expect, test } from 'vitest'
import {
  ACTION,
  collectionAt,
  DAY_MS,
  every,
  historyOf,
  HOUR_MS,
  jobAt,
  jobOf,
  MANY,
  named,
  openMain,
  put,
  runAt,
  statusOf,
  URI,
  VERSION,
} from './schedules.ts'

const FULL = {
  startTime: '2030-01-01T09:00:00+02:00',
  action: {
    type: 'Https',
    request: {
      method: 'PUT',
      uri: URI,
      headers: { 'Content-Type': 'text/plain' },
      body: 'hello',
      authentication: { type: 'Basic', username: 'ada', password: 'secret' },
    },
    retryPolicy: { retryType: 'Fixed', retryInterval: 'PT1M30S', retryCount: 2 },
    errorAction: {
      type: 'Http',
      request: { method: 'GET', uri: 'http://alarm.example/' },
      retryPolicy: { retryType: 'None' },
    },
  },
  recurrence: {
    frequency: 'Month',
    interval: 2,
    count: 10,
    endTime: '2035-01-01T00:00:00Z',
    schedule: {
      minutes: [0, 30],
      hours: [6],
      monthlyOccurrences: [{ day: 'Friday', Occurrence: -1 }],
    },
  },
}

const SHOWN = {
  ...FULL,
  action: {
    ...FULL.action,
    request: { ...FULL.action.request, authentication: { type: 'Basic', username: 'ada' } },
  },
  state: 'Enabled',
  status: {
    executionCount: 0,
    failureCount: 0,
    faultedCount: 0,
    nextExecutionTime: '2030-01-25T04:00:00.000Z',
  },
}

test('PUT creates a job with 201 and shows all but its secrets', async () => {
  const { service } = await openMain()

  const { status, body } = await service.rest(`PUT ${jobAt('Report')}`, { properties: FULL })

  expect(status).toBe(201)
  expect(body).toEqual({
    id: `${MANY}/main/jobs/Report`,
    name: 'main/Report',
    type: 'Vendor.Scheduler/jobCollections/jobs',
    properties: SHOWN,
  })
  expect((await service.rest(`GET ${jobAt('report')}`)).body).toEqual(body)
})

test('a secret is kept sealed', async () => {
  const { service } = await openMain()
  await put(service, jobAt('report'), { properties: FULL })

  const rows = await service.store.sql('SELECT body FROM "jobs"')

  expect(JSON.stringify(rows)).not.toContain('secret')
})

test('what is left out is filled in: GET, four retries after PT30S, and from now on', async () => {
  const { service } = await openMain()

  const { body } = await put(service, jobAt('plain'), {
    properties: { action: { type: 'Https', request: { uri: URI } } },
  })

  expect(body.properties).toEqual({
    startTime: '2030-01-01T00:00:00.000Z',
    action: {
      type: 'Https',
      request: { method: 'GET', uri: URI },
      retryPolicy: { retryType: 'Fixed', retryInterval: 'PT30S', retryCount: 4 },
    },
    state: 'Enabled',
    status: {
      executionCount: 0,
      failureCount: 0,
      faultedCount: 0,
      nextExecutionTime: '2030-01-01T00:00:00.000Z',
    },
  })
})

test('PUT on a job that is there answers 200 and replaces what it does and when', async () => {
  const { service } = await openMain()
  await put(service, jobAt('report'), { properties: FULL })

  const { status, body } = await service.rest(`PUT ${jobAt('report')}`, every('Day'))

  expect(status).toBe(200)
  expect(body.properties).toEqual({
    startTime: '2030-01-01T09:00:00+02:00',
    action: ACTION,
    recurrence: { frequency: 'Day', interval: 1 },
    state: 'Enabled',
    status: { ...SHOWN.status, nextExecutionTime: '2030-01-01T07:00:00.000Z' },
  })
})

test('PATCH merges, and what is not mentioned stays', async () => {
  const { service } = await openMain()
  await put(service, jobAt('report'), { properties: FULL })

  const { status, body } = await service.rest(`PATCH ${jobAt('report')}`, {
    properties: {
      action: { request: { body: 'bye' } },
      recurrence: { schedule: { hours: [7], minutes: [15] } },
    },
  })

  expect(status).toBe(200)
  expect(body.properties).toEqual({
    ...SHOWN,
    action: { ...SHOWN.action, request: { ...SHOWN.action.request, body: 'bye' } },
    recurrence: {
      ...SHOWN.recurrence,
      schedule: { ...SHOWN.recurrence.schedule, hours: [7], minutes: [15] },
    },
    status: { ...SHOWN.status, nextExecutionTime: '2030-01-25T05:15:00.000Z' },
  })
})

test('a client that sends back what it got changes nothing, and the password stays', async () => {
  const { service, sent } = await openMain()
  const { body } = await put(service, jobAt('report'), { properties: FULL })

  const again = await service.rest(`PUT ${jobAt('report')}`, body)
  await service.rest(`POST ${runAt('report')}`)
  await service.advance(0)

  expect([again.status, again.body]).toEqual([200, body])
  expect(sent[0]!.headers!.authorization).toBe('Basic YWRhOnNlY3JldA==')
})

test('a password does not follow the job to another host', async () => {
  const { service } = await openMain()
  await put(service, jobAt('report'), { properties: FULL })
  const moved = { properties: { action: { request: { uri: 'https://elsewhere.example/' } } } }

  const { status, body } = await service.rest(`PATCH ${jobAt('report')}`, moved)

  expect([status, body.error.target]).toEqual([
    400,
    'properties.action.request.authentication.password',
  ])
})

test('DELETE removes a job and its history with 200, and it does not run again', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(HOUR_MS)

  const { status, body } = await service.rest(`DELETE ${jobAt('hourly')}`)
  await service.advance(DAY_MS)

  expect([status, body]).toEqual([200, undefined])
  expect(sent).toHaveLength(2)
  expect((await service.rest(`GET ${jobAt('hourly')}`)).status).toBe(404)
  expect(await service.store.sql('SELECT count(*) AS n FROM "job_history"')).toEqual([{ n: 0 }])
})

test('a job of a name that was there before begins anew', async () => {
  const { service, sent } = await openMain({ answer: () => 500 })
  const action = { ...ACTION, retryPolicy: { retryInterval: 'PT1H', retryCount: 3 } }
  await put(service, jobAt('hourly'), jobOf({ action }))
  await service.advance(0)
  await service.rest(`DELETE ${jobAt('hourly')}`)

  await put(service, jobAt('hourly'), jobOf({ startTime: '2030-01-03T00:00:00Z' }))
  await service.advance(DAY_MS)

  // The retries were of the job that is gone.
  expect(sent).toHaveLength(1)
  expect(await statusOf(service, 'hourly')).toMatchObject({ state: 'Enabled', executionCount: 0 })
  expect(await historyOf(service, 'hourly')).toEqual([])
})

test.each(['GET', 'PATCH', 'DELETE', 'POST'])(
  '%s of a job that is not there is 404',
  async (method) => {
    const { service } = await openMain()
    const path = method === 'POST' ? runAt('none') : jobAt('none')

    const { status, body } = await service.rest(
      `${method} ${path}`,
      method === 'PATCH' ? {} : undefined,
    )

    expect(status).toBe(404)
    expect(body.error).toEqual({
      code: 'ResourceNotFound',
      message: `The resource ${MANY}/main/jobs/none was not found.`,
    })
  },
)

test('a job in a collection that is not there is 404 and names the collection', async () => {
  const { service } = await openMain()

  const { status, body } = await service.rest(
    `PUT ${MANY}/none/jobs/daily?${VERSION}`,
    every('Day'),
  )

  expect([status, body.error.message]).toEqual([404, `The resource ${MANY}/none was not found.`])
})

const withRequest = (request: object) =>
  jobOf({ action: { ...ACTION, request: { ...ACTION.request, ...request } } })

const REFUSED: [what: string, job: object, target: string][] = [
  ['no properties', {}, 'properties.action'],
  ['no action', { properties: { recurrence: { frequency: 'Day' } } }, 'properties.action'],
  ['an action without a type', jobOf({ action: { request: {} } }), 'properties.action.type'],
  ['an unknown action', jobOf({ action: { type: 'Mail' } }), 'job.properties.action.type'],
  [
    'an action without a request',
    jobOf({ action: { type: 'Http' } }),
    'properties.action.request.uri',
  ],
  ['no address', withRequest({ uri: 'hooks' }), 'properties.action.request.uri'],
  [
    'another scheme than its type',
    withRequest({ uri: 'http://hooks.example' }),
    'properties.action.request.uri',
  ],
  [
    'an address with a password',
    withRequest({ uri: 'https://a:b@hooks.example' }),
    'properties.action.request.uri',
  ],
  ['an unknown method', withRequest({ method: 'FETCH' }), 'job.properties.action.request.method'],
  [
    'a header that the call sets',
    withRequest({ headers: { Host: 'x' } }),
    'properties.action.request.headers',
  ],
  [
    'a header of two lines',
    withRequest({ headers: { a: 'b\r\nc: d' } }),
    'job.properties.action.request.headers',
  ],
  [
    'a header without a name',
    withRequest({ headers: { 'a b': 'c' } }),
    'job.properties.action.request.headers',
  ],
  [
    'Basic without a name',
    withRequest({ authentication: { type: 'Basic', password: 'x' } }),
    'properties.action.request.authentication.username',
  ],
  [
    'Basic without a password',
    withRequest({ authentication: { type: 'Basic', username: 'x' } }),
    'properties.action.request.authentication.password',
  ],
  [
    'a retry interval that is no duration',
    jobOf({ action: { ...ACTION, retryPolicy: { retryInterval: '30s' } } }),
    'properties.action.retryPolicy.retryInterval',
  ],
  [
    'a retry interval of nothing',
    jobOf({ action: { ...ACTION, retryPolicy: { retryInterval: 'PT0S' } } }),
    'properties.action.retryPolicy.retryInterval',
  ],
  [
    'too many retries',
    jobOf({ action: { ...ACTION, retryPolicy: { retryCount: 21 } } }),
    'job.properties.action.retryPolicy.retryCount',
  ],
  [
    'an error action without an address',
    jobOf({ action: { ...ACTION, errorAction: { type: 'Http' } } }),
    'properties.action.errorAction.request.uri',
  ],
  ['a start that is no moment', jobOf({ startTime: 'soon' }), 'job.properties.startTime'],
  ['no frequency', jobOf({ recurrence: { interval: 2 } }), 'properties.recurrence.frequency'],
  ['an unknown frequency', every('Year'), 'job.properties.recurrence.frequency'],
  ['an interval of 0', every('Day', { interval: 0 }), 'job.properties.recurrence.interval'],
  ['a count of 0', every('Day', { count: 0 }), 'job.properties.recurrence.count'],
  [
    'an end before the start',
    jobOf({
      startTime: '2030-02-01T00:00:00Z',
      recurrence: { frequency: 'Day', endTime: '2030-01-31T23:59:59Z' },
    }),
    'properties.recurrence.endTime',
  ],
  [
    'an end that has passed',
    jobOf({
      startTime: '2029-01-01T00:00:00Z',
      recurrence: { frequency: 'Day', endTime: '2029-12-31T00:00:00Z' },
    }),
    'properties.recurrence',
  ],
  [
    'a schedule that no day fits',
    jobOf({
      startTime: '2030-02-01T00:00:00Z',
      recurrence: { frequency: 'Month', interval: 12, schedule: { monthDays: [30] } },
    }),
    'properties.recurrence',
  ],
  [
    'the hour 24',
    every('Day', { schedule: { hours: [24] } }),
    'job.properties.recurrence.schedule.hours.0',
  ],
  [
    'the minute 60',
    every('Day', { schedule: { minutes: [60] } }),
    'job.properties.recurrence.schedule.minutes.0',
  ],
  [
    'no hours',
    every('Day', { schedule: { hours: [] } }),
    'job.properties.recurrence.schedule.hours',
  ],
  [
    'days of the week in a month',
    every('Month', { schedule: { weekDays: ['Monday'] } }),
    'properties.recurrence.schedule.weekDays',
  ],
  [
    'days of the month in a week',
    every('Week', { schedule: { monthDays: [1] } }),
    'properties.recurrence.schedule.monthDays',
  ],
  [
    'occurrences in a day',
    every('Day', { schedule: { monthlyOccurrences: [{ day: 'Monday', Occurrence: 1 }] } }),
    'properties.recurrence.schedule.monthlyOccurrences',
  ],
  [
    'days and occurrences',
    every('Month', {
      schedule: { monthDays: [1], monthlyOccurrences: [{ day: 'Monday', Occurrence: 1 }] },
    }),
    'properties.recurrence.schedule.monthlyOccurrences',
  ],
  [
    'the day 0 of a month',
    every('Month', { schedule: { monthDays: [0] } }),
    'job.properties.recurrence.schedule.monthDays.0',
  ],
  [
    'the sixth Monday',
    every('Month', { schedule: { monthlyOccurrences: [{ day: 'Monday', Occurrence: 6 }] } }),
    'job.properties.recurrence.schedule.monthlyOccurrences.0.Occurrence',
  ],
  ['an unknown state', jobOf({ state: 'On' }), 'job.properties.state'],
]

test('a job that is malformed or contradicts itself is refused with 400, and nothing is put', async () => {
  const { service } = await openMain()

  for (const [what, job, target] of REFUSED) {
    const { status, body } = await service.rest(`PUT ${jobAt('bad')}`, job)

    const refusal = [what, status, body.error?.code, body.error?.target]
    expect(refusal).toEqual([what, 400, 'InvalidParameter', target])
  }
  expect((await service.rest(`GET ${jobAt('bad')}`)).status).toBe(404)
})

test.each([
  ['StorageQueue', { type: 'StorageQueue', queueMessage: { queueName: 'q', message: 'm' } }],
  ['ServiceBusQueue', { type: 'ServiceBusQueue', serviceBusQueueMessage: { queueName: 'q' } }],
  ['ServiceBusTopic', { type: 'ServiceBusTopic', serviceBusTopicMessage: { topicPath: 't' } }],
])('an action of type %s, which cannot be carried out, is refused', async (type, action) => {
  const { service } = await openMain()

  const main = await service.rest(`PUT ${jobAt('queue')}`, jobOf({ action }))
  const onError = await service.rest(
    `PUT ${jobAt('queue')}`,
    jobOf({ action: { ...ACTION, errorAction: action } }),
  )

  expect(main.status).toBe(400)
  expect(main.body.error).toEqual({
    code: 'ActionNotSupported',
    message: `properties.action.type ${type} cannot be carried out here. Use Http or Https.`,
    target: 'properties.action.type',
  })
  expect(onError.body.error.target).toBe('properties.action.errorAction.type')
  expect((await service.rest(`GET ${jobAt('queue')}`)).status).toBe(404)
})

test.each(['ClientCertificate', 'ActiveDirectoryOAuth'])(
  'authentication by %s, which cannot be carried out, is refused',
  async (type) => {
    const { service } = await openMain()

    const { status, body } = await service.rest(
      `PUT ${jobAt('auth')}`,
      withRequest({ authentication: { type, pfx: 'AAAA', secret: 's' } }),
    )

    expect([status, body.error.code, body.error.target]).toEqual([
      400,
      'ActionNotSupported',
      'properties.action.request.authentication.type',
    ])
  },
)

test.each(['-a', 'a.b', 'x'.repeat(101)])('a job is not called %s', async (name) => {
  const { service } = await openMain()

  const { status, body } = await service.rest(`PUT ${jobAt(name)}`, every('Day'))

  expect([status, body.error.target]).toEqual([400, 'jobName'])
})

test('a PATCH that would leave a job contradicting itself is refused, and nothing changes', async () => {
  const { service } = await openMain()
  const { body: before } = await put(
    service,
    jobAt('weekly'),
    every('Week', { schedule: { weekDays: ['Monday'] } }),
  )

  const { status, body } = await service.rest(`PATCH ${jobAt('weekly')}`, {
    properties: { recurrence: { frequency: 'Day' } },
  })

  expect([status, body.error.target]).toEqual([400, 'properties.recurrence.schedule.weekDays'])
  expect((await service.rest(`GET ${jobAt('weekly')}`)).body).toEqual(before)
})

test('a job that is disabled does not run, and goes on from now when it is enabled', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(0)

  const off = await service.rest(`PATCH ${jobAt('hourly')}`, { properties: { state: 'Disabled' } })
  await service.advance(5 * HOUR_MS + 1_000)
  const meanwhile = sent.length
  const on = await service.rest(`PATCH ${jobAt('hourly')}`, { properties: { state: 'Enabled' } })
  await service.advance(HOUR_MS)

  expect(off.body.properties.state).toBe('Disabled')
  expect(off.body.properties.status).not.toHaveProperty('nextExecutionTime')
  expect(meanwhile).toBe(1)
  expect(on.body.properties.status.nextExecutionTime).toBe('2030-01-01T06:00:00.000Z')
  expect(sent).toHaveLength(2)
})

test('what a job has run counts, also after it was disabled for a while', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('thrice'), every('Hour', { count: 3 }))
  await service.advance(HOUR_MS)

  await service.rest(`PATCH ${jobAt('thrice')}`, { properties: { state: 'Disabled' } })
  await service.rest(`PATCH ${jobAt('thrice')}`, { properties: { state: 'Enabled' } })
  await service.advance(DAY_MS)

  expect(sent).toHaveLength(3)
})

test('a job can be put disabled, and PUT without a state leaves it so', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), jobOf({ ...every('Hour').properties, state: 'Disabled' }))

  const { body } = await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(DAY_MS)

  expect(body.properties.state).toBe('Disabled')
  expect(sent).toEqual([])
})

test.each(['Completed', 'Faulted'])('nobody makes a job %s but its runs', async (state) => {
  const { service } = await openMain()
  const asNew = await service.rest(`PUT ${jobAt('daily')}`, jobOf({ state }))
  await put(service, jobAt('daily'), every('Day'))

  const asOld = await service.rest(`PATCH ${jobAt('daily')}`, { properties: { state } })

  for (const { status, body } of [asNew, asOld]) {
    expect([status, body.error.code]).toEqual([409, 'JobStateNotAllowed'])
  }
  expect((await statusOf(service, 'daily')).state).toBe('Enabled')
})

test('a job that has ended is not enabled without a run ahead, nor disabled', async () => {
  const { service } = await openMain()
  await put(service, jobAt('once'), jobOf({}))
  await service.advance(0)

  const on = await service.rest(`PATCH ${jobAt('once')}`, { properties: { state: 'Enabled' } })
  const off = await service.rest(`PATCH ${jobAt('once')}`, { properties: { state: 'Disabled' } })

  expect([on.status, on.body.error.code]).toEqual([409, 'JobStateNotAllowed'])
  expect([off.status, off.body.error.code]).toEqual([409, 'JobStateNotAllowed'])
  expect((await statusOf(service, 'once')).state).toBe('Completed')
})

test('a job that has run to its count is enabled for as many runs again', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('twice'), every('Hour', { count: 2 }))
  await service.advance(DAY_MS)
  const first = await statusOf(service, 'twice')

  await service.rest(`PATCH ${jobAt('twice')}`, { properties: { state: 'Enabled' } })
  await service.advance(DAY_MS)

  expect(first).toMatchObject({ state: 'Completed', executionCount: 2 })
  expect(sent).toHaveLength(4)
  expect(await statusOf(service, 'twice')).toMatchObject({ state: 'Completed', executionCount: 4 })
})

test('a plan that is only spelled otherwise is the same plan', async () => {
  const { service, sent } = await openMain()
  const endTime = '2030-01-03T00:00:00Z'
  await put(service, jobAt('daily'), every('Day', { count: 2, endTime }))
  await service.advance(DAY_MS)

  const { body } = await put(service, jobAt('daily'), {
    ...jobOf({
      startTime: '2030-01-01T00:00:00Z',
      recurrence: { frequency: 'Day', count: 2, endTime: '2030-01-03T01:00:00+01:00' },
    }),
  })
  await service.advance(5 * DAY_MS)

  expect(body.properties.state).toBe('Completed')
  expect(sent).toHaveLength(2)
})

test('a job that has ended begins anew with another plan', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('once'), jobOf({}))
  await service.advance(0)

  const { body } = await put(service, jobAt('once'), jobOf({ startTime: '2030-01-02T00:00:00Z' }))
  await service.advance(2 * DAY_MS)

  expect(body.properties.state).toBe('Enabled')
  expect(sent).toHaveLength(2)
})

test('a PUT that is repeated after the job has run does not run it again', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('once'), jobOf({}))
  await service.advance(0)

  const { status, body } = await service.rest(`PUT ${jobAt('once')}`, jobOf({}))
  await service.advance(DAY_MS)

  expect([status, body.properties.state]).toEqual([200, 'Completed'])
  expect(sent).toHaveLength(1)
})

test('another plan in the moment of a run does not run that moment twice', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(0)

  const { body } = await put(service, jobAt('hourly'), every('Hour', { interval: 2 }))
  await service.advance(2 * HOUR_MS)

  expect(body.properties.status.nextExecutionTime).toBe('2030-01-01T02:00:00.000Z')
  expect(sent).toHaveLength(2)
})

test('a job in a collection that is disabled is put without a plan', async () => {
  const { service, sent } = await openMain({ collection: { properties: { state: 'Disabled' } } })

  const { body } = await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(DAY_MS)

  expect(body.properties.state).toBe('Enabled')
  expect(body.properties.status).not.toHaveProperty('nextExecutionTime')
  expect(sent).toEqual([])
})

test('If-Match and If-None-Match guard a job', async () => {
  const { service } = await openMain()
  const { headers } = await put(service, jobAt('daily'), every('Day'))
  const guarded = (method: string, guard: Record<string, string>, body?: object) =>
    service.rest(`${method} ${jobAt('daily')}`, body, { headers: guard })

  const there = await guarded('PUT', { 'if-none-match': '*' }, every('Week'))
  const old = await guarded('PATCH', { 'if-match': '"old"' }, every('Week'))
  const kept = await guarded('DELETE', { 'if-match': '"old"' })
  const good = await guarded('PATCH', { 'if-match': headers.etag! }, every('Week'))

  for (const { status } of [there, old, kept]) expect(status).toBe(412)
  expect(good.status).toBe(200)
})

test('a job that is no JSON object is refused', async () => {
  const { service } = await openMain()

  const text = await service.rest(`PUT ${jobAt('daily')}`, '{')
  const list = await service.rest(`PUT ${jobAt('daily')}`, [])
  const nothing = await service.rest(`PUT ${jobAt('daily')}`)

  for (const { status } of [text, list, nothing]) expect(status).toBe(400)
  expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(200)
})

const FIELDS = `{ name type location properties { startTime state
  action { type request { method uri headers body authentication { type username } }
    retryPolicy { retryType retryInterval retryCount }
    errorAction { type request { uri } retryPolicy { retryType } } }
  recurrence { frequency interval count endTime
    schedule { minutes hours weekDays monthDays monthlyOccurrences { day occurrence } } }
  status { executionCount failureCount faultedCount lastExecutionTime nextExecutionTime } } }`

test('the graph does all that REST does with jobs', async () => {
  const { service, sent } = await openMain()
  const job = { properties: FULL }
  const inGraph = structuredClone(job) as any
  inGraph.properties.recurrence.schedule.monthlyOccurrences = [{ day: 'Friday', occurrence: -1 }]

  const made = await service.graphql(
    `mutation ($job: SchedulerJobInput!) { putSchedulerJob(${named('report')}, job: $job) ${FIELDS} }`,
    { job: inGraph },
  )
  const byRest = await service.rest(`GET ${jobAt('report')}`)
  const ran = await service.graphql(`mutation { runSchedulerJob(${named('report')}) }`)
  await service.advance(0)
  const changed = await service.graphql(
    `mutation { patchSchedulerJob(${named('report')}, job: { properties: { state: Disabled } }) ${FIELDS} }`,
  )
  const read = await service.graphql(`{ schedulerJob(${named('report')}) ${FIELDS} }`)
  const gone = await service.graphql(`mutation { deleteSchedulerJob(${named('report')}) }`)
  const missing = await service.graphql(`{ schedulerJob(${named('report')}) { name } }`)

  const recurrence = { ...SHOWN.recurrence, endTime: '2035-01-01T00:00:00.000Z' }
  expect(byRest.body.properties).toEqual({ ...SHOWN, recurrence })
  expect(made.errors).toBeUndefined()
  expect(made.data.putSchedulerJob).toEqual({
    name: 'main/report',
    type: 'Vendor.Scheduler/jobCollections/jobs',
    location: null,
    properties: {
      ...SHOWN,
      action: {
        ...SHOWN.action,
        errorAction: {
          type: 'Http',
          request: { uri: 'http://alarm.example/' },
          retryPolicy: { retryType: 'None' },
        },
      },
      recurrence: {
        ...SHOWN.recurrence,
        endTime: '2035-01-01T00:00:00.000Z',
        schedule: {
          minutes: [0, 30],
          hours: [6],
          weekDays: null,
          monthDays: null,
          monthlyOccurrences: [{ day: 'Friday', occurrence: -1 }],
        },
      },
      status: { ...SHOWN.status, lastExecutionTime: null },
    },
  })
  expect(ran.data).toEqual({ runSchedulerJob: true })
  expect(sent).toHaveLength(1)
  expect(changed.data.patchSchedulerJob.properties.state).toBe('Disabled')
  expect(read.data.schedulerJob).toEqual(changed.data.patchSchedulerJob)
  expect(gone.data).toEqual({ deleteSchedulerJob: true })
  expect(missing.errors?.[0].extensions).toMatchObject({ code: 'ResourceNotFound', status: 404 })
})

test('the graph refuses what REST refuses', async () => {
  const { service } = await openMain()

  const { errors } = await service.graphql(`mutation { putSchedulerJob(${named('queue')},
    job: { properties: { action: { type: StorageQueue } } }) { name } }`)

  expect(errors?.[0].extensions).toMatchObject({ code: 'ActionNotSupported', status: 400 })
})
