// Job collections, through both doors.
import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { openForTest, type TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  ALL,
  AREA,
  collectionAt,
  COLLECTION,
  DAY_MS,
  every,
  follow,
  HOUR_MS,
  jobAt,
  jobOf,
  MAIN,
  MANY,
  openMain,
  put,
  runAt,
  statusOf,
  VERSION,
} from './schedules.ts'

const act = (action: string, name = 'main') => `POST ${MANY}/${name}/${action}?${VERSION}`

const eventsOf = async (service: TestService) =>
  (await readEvents(service.store, { after: 0, limit: 100 })).map(({ type, subject }) => [
    type,
    subject.slice(subject.lastIndexOf('/') + 1),
  ])

test('PUT creates a collection with 201 and shows what it allows', async () => {
  const service = await openForTest(subgraph)

  const { status, body, headers } = await service.rest(`PUT ${collectionAt('Nightly')}`, {
    location: 'West US',
    tags: { team: 'ops' },
    properties: { sku: { name: 'Free' } },
  })

  expect(status).toBe(201)
  expect(headers.etag).toMatch(/^"/)
  expect(body).toEqual({
    id: `${MANY}/Nightly`,
    name: 'Nightly',
    type: 'Vendor.Scheduler/jobCollections',
    location: 'West US',
    tags: { team: 'ops' },
    properties: {
      sku: { name: 'Free' },
      state: 'Enabled',
      quota: { maxJobCount: 5, maxRecurrence: { frequency: 'Hour', interval: 1 } },
    },
  })
  expect((await service.rest(`GET ${collectionAt('nightly')}`)).body).toEqual(body)
})

test.each([
  ['Free', 5, 'Hour'],
  ['Standard', 50, 'Minute'],
  ['P10Premium', 50, 'Minute'],
  ['P20Premium', 1_000, 'Minute'],
])('the SKU %s allows %i jobs, once a%s', async (name, maxJobCount, frequency) => {
  const service = await openForTest(subgraph)

  const { body } = await put(service, collectionAt('main'), { properties: { sku: { name } } })

  expect(body.properties.quota).toEqual({ maxJobCount, maxRecurrence: { frequency, interval: 1 } })
})

test('an empty PUT makes a Standard collection that is enabled', async () => {
  const service = await openForTest(subgraph)

  const { body } = await put(service, collectionAt('main'), {})

  expect(body.properties).toMatchObject({ sku: { name: 'Standard' }, state: 'Enabled' })
})

test('PUT on a collection that is there answers 200, replaces tags and quota, and keeps state', async () => {
  const service = await openForTest(subgraph)
  const quota = { maxJobCount: 3, maxJobOccurrence: 9 }
  await put(service, collectionAt('main'), {
    ...COLLECTION,
    tags: { a: 'b' },
    properties: { state: 'Disabled', quota },
  })

  const { status, body } = await service.rest(`PUT ${collectionAt('main')}`, COLLECTION)

  expect(status).toBe(200)
  expect(body.tags).toBeUndefined()
  expect(body.properties).toEqual({
    sku: { name: 'Standard' },
    state: 'Disabled',
    quota: { maxJobCount: 50, maxRecurrence: { frequency: 'Minute', interval: 1 } },
  })
})

test('PATCH merges, and what is not mentioned stays', async () => {
  const service = await openForTest(subgraph)
  const quota = { maxJobCount: 3, maxRecurrence: { frequency: 'Day', interval: 2 } }
  await put(service, collectionAt('main'), { ...COLLECTION, tags: { a: 'b' } })

  const first = await service.rest(`PATCH ${collectionAt('main')}`, { properties: { quota } })
  const second = await service.rest(`PATCH ${collectionAt('main')}`, {
    tags: { c: 'd' },
    properties: { quota: { maxJobCount: 4 } },
  })

  expect(first.status).toBe(200)
  expect(first.body.tags).toEqual({ a: 'b' })
  expect(first.body.properties.quota).toEqual(quota)
  expect(second.body.location).toBe('westus')
  expect(second.body.tags).toEqual({ c: 'd' })
  expect(second.body.properties.quota).toEqual({ ...quota, maxJobCount: 4 })
})

test('DELETE of an empty collection removes it at once with 200', async () => {
  const service = await openForTest(subgraph)
  await put(service, collectionAt('main'), COLLECTION)

  const { status, body } = await service.rest(`DELETE ${collectionAt('main')}`)

  expect([status, body]).toEqual([200, undefined])
  expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(404)
})

test('DELETE of a collection with jobs is accepted with 202, which the client polls to its end', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(2 * HOUR_MS)

  const { status, headers } = await service.rest(`DELETE ${collectionAt('main')}`)
  const during = await service.rest(`GET ${collectionAt('main')}`)
  const running = await follow(service, headers.location)
  const again = await service.rest(`DELETE ${collectionAt('main')}`)
  const ran = sent.length
  await service.advance(HOUR_MS)
  const ended = await follow(service, headers['vendor-asyncoperation'])

  expect(status).toBe(202)
  expect(headers['retry-after']).toBe('1')
  expect(during.body.properties.state).toBe('Deleted')
  expect(during.body.properties).not.toHaveProperty('provisioningState')
  expect(running.status).toBe(202)
  expect([again.status, again.headers.location]).toEqual([202, headers.location])
  expect(ended.body.status).toBe('Succeeded')
  expect((await follow(service, headers.location)).status).toBe(204)
  expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(404)
  expect((await service.rest(`GET ${jobAt('hourly')}`)).status).toBe(404)
  // What it held is gone too, and nothing of it runs again.
  await put(service, collectionAt('main'), COLLECTION)
  await service.advance(DAY_MS)
  expect(sent).toHaveLength(ran)
  for (const table of ['jobs', 'job_history', 'executions']) {
    expect(await service.store.sql(`SELECT count(*) AS n FROM "${table}"`)).toEqual([{ n: 0 }])
  }
})

test('a collection with more jobs than a batch is removed whole', async () => {
  const { service } = await openMain()
  for (let n = 0; n < 45; n += 1) await put(service, jobAt(`job-${n}`), every('Minute'))
  await service.advance(60_000)

  await service.rest(`DELETE ${collectionAt('main')}`)
  await service.advance(1_000)

  expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(404)
  expect(await service.store.sql('SELECT count(*) AS n FROM "jobs"')).toEqual([{ n: 0 }])
  expect(service.mistakes).toEqual([])
})

test.each([
  ['PUT', collectionAt('main'), COLLECTION],
  ['PATCH', collectionAt('main'), { tags: {} }],
  ['POST', `${MANY}/main/enable?${VERSION}`, undefined],
  ['POST', `${MANY}/main/disable?${VERSION}`, undefined],
  ['PUT', jobAt('other'), every('Day')],
])('%s %s is refused while the collection is being deleted', async (method, path, body) => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))
  await service.rest(`DELETE ${collectionAt('main')}`)

  const refused = await service.rest(`${method} ${path}`, body)

  expect(refused.status).toBe(409)
  expect(refused.body.error.code).toBe('AnotherOperationInProgress')
})

test.each(['GET', 'PATCH', 'DELETE'])(
  '%s of a collection that is not there is 404',
  async (method) => {
    const service = await openForTest(subgraph)

    const { status, body } = await service.rest(
      `${method} ${collectionAt('main')}`,
      method === 'PATCH' ? {} : undefined,
    )

    expect(status).toBe(404)
    expect(body.error).toEqual({
      code: 'ResourceNotFound',
      message: `The resource ${MANY}/main was not found.`,
    })
  },
)

test.each(['enable', 'disable'])('%s of a collection that is not there is 404', async (action) => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(act(action))

  expect([status, body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('disable without jobs, or where it is disabled, answers 200', async () => {
  const { service } = await openMain()

  const first = await service.rest(act('disable'))
  const second = await service.rest(act('disable'))

  expect([first.status, first.body, second.status]).toEqual([200, undefined, 200])
  const { body } = await service.rest(`GET ${collectionAt('main')}`)
  expect(body.properties.state).toBe('Disabled')
})

test('disable with jobs is accepted with 202, holds at once and takes their plans away', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(0)

  const { status, headers } = await service.rest(act('disable'))
  const again = await service.rest(act('disable'))
  const opposite = await service.rest(act('enable'))
  await service.advance(0)
  const ended = await follow(service, headers.location)
  await service.advance(DAY_MS)

  expect(status).toBe(202)
  expect(headers.location).toMatch('/providers/Vendor.Scheduler/locations/westus/operationResults/')
  expect(headers['vendor-asyncoperation']).toMatch('/operationStatuses/')
  expect(headers['retry-after']).toBe('1')
  expect([again.status, again.headers.location]).toEqual([202, headers.location])
  expect([opposite.status, opposite.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect(ended.status).toBe(204)
  expect(sent).toHaveLength(1)
  expect(await statusOf(service, 'hourly')).toEqual({
    state: 'Enabled',
    executionCount: 1,
    failureCount: 0,
    faultedCount: 0,
    lastExecutionTime: '2030-01-01T00:00:00.000Z',
  })
})

test('enable with jobs is accepted with 202; they go on from now, and what was missed is not made up for', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(0)
  await service.rest(act('disable'))
  await service.advance(10 * HOUR_MS + 1_000)

  const { status, headers } = await service.rest(act('enable'))
  await service.advance(0)
  const planned = await statusOf(service, 'hourly')
  await service.advance(2 * HOUR_MS)

  expect(status).toBe(202)
  expect((await follow(service, headers['vendor-asyncoperation'])).body.status).toBe('Succeeded')
  expect(planned.nextExecutionTime).toBe('2030-01-01T11:00:00.000Z')
  expect(sent).toHaveLength(3)
})

test('enable without jobs, or where it is enabled, answers 200', async () => {
  const { service } = await openMain({ collection: { properties: { state: 'Disabled' } } })

  const first = await service.rest(act('enable'))
  const second = await service.rest(act('enable'))

  expect([first.status, second.status]).toEqual([200, 200])
})

test('a state that PUT or PATCH sends has the same effect on the jobs', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(0)

  await service.rest(`PATCH ${collectionAt('main')}`, { properties: { state: 'Disabled' } })
  await service.advance(5 * HOUR_MS)
  const meanwhile = sent.length
  await put(service, collectionAt('main'), { ...COLLECTION, properties: { state: 'Enabled' } })
  await service.advance(HOUR_MS)

  expect(meanwhile).toBe(1)
  expect(sent).toHaveLength(3)
})

test('a collection that is disabled and enabled in one moment loses no run and doubles none', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))

  for (const state of ['Disabled', 'Enabled', 'Disabled', 'Enabled']) {
    await service.rest(`PATCH ${collectionAt('main')}`, { properties: { state } })
  }
  await service.advance(2 * HOUR_MS)

  expect(sent).toHaveLength(3)
})

test('a job that was to run once while its collection was disabled runs when it is enabled', async () => {
  const { service, sent } = await openMain()
  await put(service, jobAt('once'), jobOf({ startTime: '2030-01-01T05:00:00Z' }))
  await service.rest(act('disable'))
  await service.advance(6 * HOUR_MS)
  const before = sent.length

  await service.rest(act('enable'))
  await service.advance(0)

  expect([before, sent.length]).toEqual([0, 1])
  expect((await statusOf(service, 'once')).state).toBe('Completed')
})

test('a job whose end passed while its collection was disabled is completed when it is enabled', async () => {
  const { service } = await openMain()
  await put(service, jobAt('hourly'), every('Hour', { endTime: '2030-01-01T03:00:00Z' }))
  await service.advance(0)
  await service.rest(act('disable'))
  await service.advance(DAY_MS)

  await service.rest(act('enable'))
  await service.advance(0)

  expect(await statusOf(service, 'hourly')).toMatchObject({ state: 'Completed', executionCount: 1 })
})

test('a removal ends what enables or disables', async () => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))
  await service.advance(0)
  const { headers } = await service.rest(act('disable'))

  await service.rest(`DELETE ${collectionAt('main')}`)
  await service.advance(2_000)

  const { body } = await follow(service, headers['vendor-asyncoperation'])
  expect([body.status, body.error.code]).toEqual(['Failed', 'OperationPreempted'])
  expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(404)
})

test('one job more than the quota is refused, and nothing is put', async () => {
  const { service } = await openMain({ collection: { properties: { sku: { name: 'Free' } } } })
  for (let n = 0; n < 5; n += 1) await put(service, jobAt(`job-${n}`), every('Day'))

  const { status, body } = await service.rest(`PUT ${jobAt('job-5')}`, every('Day'))
  const again = await service.rest(`PUT ${jobAt('job-4')}`, every('Week'))

  expect(status).toBe(409)
  expect(body.error).toEqual({
    code: 'QuotaExceeded',
    message:
      'The job collection holds 5 jobs, and its quota is 5. Delete one, or choose a larger SKU.',
    target: 'quota.maxJobCount',
  })
  expect((await service.rest(`GET ${jobAt('job-5')}`)).status).toBe(404)
  expect(again.status).toBe(200)
})

test.each([
  ['oftener than its SKU allows', { sku: { name: 'Free' } }, every('Minute', { interval: 59 })],
  [
    'oftener within the hour than its SKU allows',
    { sku: { name: 'Free' } },
    every('Day', { schedule: { hours: [5], minutes: [0, 30] } }),
  ],
  [
    'oftener than its own quota allows',
    { quota: { maxRecurrence: { frequency: 'Day', interval: 2 } } },
    every('Day'),
  ],
  ['without the count that its quota asks for', { quota: { maxJobOccurrence: 5 } }, every('Day')],
  [
    'with a larger count than its quota allows',
    { quota: { maxJobOccurrence: 5 } },
    every('Day', { count: 6 }),
  ],
])('a job that recurs %s is refused', async (_, properties, job) => {
  const { service } = await openMain({ collection: { properties } })

  const { status, body } = await service.rest(`PUT ${jobAt('busy')}`, job)

  expect([status, body.error.code]).toEqual([409, 'QuotaExceeded'])
  expect((await service.rest(`GET ${jobAt('busy')}`)).status).toBe(404)
})

test.each([
  ['more jobs than the SKU', { quota: { maxJobCount: 51 } }],
  [
    'runs oftener than the SKU',
    { sku: { name: 'Free' }, quota: { maxRecurrence: { frequency: 'Minute', interval: 30 } } },
  ],
  ['fewer jobs than there are', { quota: { maxJobCount: 1 } }],
  ['less often than a job runs', { sku: { name: 'Free' } }],
  ['fewer runs than a job has', { quota: { maxJobOccurrence: 3 } }],
])('a quota of %s is refused, and nothing changes', async (_, properties) => {
  const { service } = await openMain()
  await put(service, jobAt('one'), every('Minute'))
  await put(service, jobAt('two'), every('Day'))
  const before = await service.rest(`GET ${collectionAt('main')}`)

  const { status, body } = await service.rest(`PATCH ${collectionAt('main')}`, { properties })

  expect([status, body.error.code]).toEqual([409, 'QuotaExceeded'])
  expect((await service.rest(`GET ${collectionAt('main')}`)).body).toEqual(before.body)
})

const REFUSED: [what: string, sent: object, target: string][] = [
  [
    'an unknown SKU',
    { properties: { sku: { name: 'Gold' } } },
    'jobCollection.properties.sku.name',
  ],
  ['an unknown state', { properties: { state: 'Off' } }, 'jobCollection.properties.state'],
  ['a state that is not asked for', { properties: { state: 'Suspended' } }, 'properties.state'],
  [
    'a quota of 0',
    { properties: { quota: { maxJobCount: 0 } } },
    'jobCollection.properties.quota.maxJobCount',
  ],
  ['tags that are no text', { tags: { a: 1 } }, 'jobCollection.tags.a'],
  ['properties that are no object', { properties: 'all' }, 'jobCollection.properties'],
  ['a location of signs', { location: 'west/us' }, 'jobCollection.location'],
]

test('a collection that is malformed is refused with 400, and nothing is put', async () => {
  const service = await openForTest(subgraph)

  for (const [what, sent, target] of REFUSED) {
    const { status, body } = await service.rest(`PUT ${collectionAt('main')}`, sent)

    const refusal = [what, status, body.error?.code, body.error?.target]
    expect(refusal).toEqual([what, 400, 'InvalidParameter', target])
  }
  expect((await service.rest(`GET ${collectionAt('main')}`)).status).toBe(404)
})

test.each(['1st', 'a.b', 'x'.repeat(101)])('a collection is not called %s', async (name) => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`PUT ${collectionAt(name)}`, COLLECTION)

  expect([status, body.error.target]).toEqual([400, 'jobCollectionName'])
})

test('a collection stays where it is', async () => {
  const { service } = await openMain()

  const { status, body } = await service.rest(`PUT ${collectionAt('main')}`, { location: 'eastus' })

  expect([status, body.error.code]).toEqual([409, 'InvalidResourceLocation'])
})

test('an old version is refused by If-Match, for every change', async () => {
  const { service } = await openMain()
  const headers = { 'if-match': '"old"' }

  for (const request of [
    `PUT ${collectionAt('main')}`,
    `PATCH ${collectionAt('main')}`,
    `DELETE ${collectionAt('main')}`,
    act('disable'),
  ]) {
    const isBodied = /^P(UT|ATCH)/.test(request)
    const { status, body } = await service.rest(request, isBodied ? COLLECTION : undefined, {
      headers,
    })

    expect([request, status, body.error.code]).toEqual([request, 412, 'PreconditionFailed'])
  }
})

test('a path is read in any case, and an answer keeps the case of the first PUT', async () => {
  const { service } = await openMain()

  const { status, body } = await service.rest(
    `GET ${MANY.toUpperCase().replace(SUBSCRIPTION.toUpperCase(), SUBSCRIPTION)}/MAIN?API-VERSION=2016-03-01`,
  )

  expect([status, body.id]).toEqual([200, `${MANY}/main`])
})

test.each([
  ['no api-version', MANY, 'MissingApiVersionParameter'],
  ['another api-version', `${MANY}?api-version=2014-01-01`, 'InvalidApiVersionParameter'],
])('%s is refused with 400', async (_, path, code) => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET ${path}`)

  expect([status, body.error.code]).toEqual([400, code])
})

test('a request without a token is 401', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET ${ALL}?${VERSION}`, undefined, {
    credential: null,
  })

  expect([status, body.error.code]).toEqual([401, 'AuthenticationFailed'])
})

test("another's subscription is as unknown as one that is not there", async () => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))
  const requests = [
    `GET ${ALL}?${VERSION}`,
    `GET ${MANY}?${VERSION}`,
    `GET ${collectionAt('main')}`,
    `DELETE ${collectionAt('main')}`,
    act('enable'),
    act('disable'),
    `GET ${MANY}/main/jobs?${VERSION}`,
    `GET ${jobAt('daily')}`,
    `DELETE ${jobAt('daily')}`,
    `POST ${runAt('daily')}`,
    `GET ${MANY}/main/jobs/daily/history?${VERSION}`,
  ]

  for (const request of requests) {
    const { status, body } = await service.rest(request, undefined, { credential: 'bob' })

    expect([request, status, body.error.code]).toEqual([request, 404, 'SubscriptionNotFound'])
  }
  for (const [path, sent] of [
    [collectionAt('main'), COLLECTION],
    [jobAt('daily'), every('Week')],
  ] as const) {
    for (const method of ['PUT', 'PATCH']) {
      const { status } = await service.rest(`${method} ${path}`, sent, { credential: 'bob' })

      expect(status).toBe(404)
    }
  }
  expect((await statusOf(service, 'daily')).state).toBe('Enabled')
})

test('collections are listed by group and by subscription, page after page', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['ada', 'bea', 'cyd']) await put(service, collectionAt(name), COLLECTION)
  await put(service, collectionAt('elsewhere').replace('/Ops/', '/Ops2/'), COLLECTION)
  const namesOf = ({ body }: any) => body.value.map(({ name }: any) => name)

  const first = await service.rest(`GET ${MANY}?${VERSION}&$top=2`)
  const second = await follow(service, first.body.nextLink)
  const all = await service.rest(`GET ${ALL}?${VERSION}`)
  const others = await service.rest(
    `GET /subscriptions/${OTHER_SUBSCRIPTION}/${AREA}/jobCollections?${VERSION}`,
    undefined,
    { credential: 'bob' },
  )

  expect(namesOf(first)).toEqual(['ada', 'bea'])
  expect(namesOf(second)).toEqual(['cyd'])
  expect(second.body).not.toHaveProperty('nextLink')
  expect(namesOf(all)).toEqual(['ada', 'bea', 'cyd', 'elsewhere'])
  expect(all.body.value[0].properties.quota.maxJobCount).toBe(50)
  expect(others.body).toEqual({ value: [] })
})

test('every change of a collection and of a job is announced', async () => {
  const { service } = await openMain()
  await put(service, jobAt('once'), jobOf({ startTime: '2030-01-01T01:00:00Z' }))
  await put(service, jobAt('daily'), every('Day', { schedule: { hours: [5] } }))
  await service.rest(`PATCH ${jobAt('daily')}`, { properties: { state: 'Disabled' } })
  await service.advance(HOUR_MS)
  await service.rest(`DELETE ${jobAt('once')}`)
  await service.rest(act('disable'))
  await service.rest(`DELETE ${collectionAt('main')}`)
  await service.advance(2_000)

  expect(await eventsOf(service)).toEqual([
    ['scheduler.jobCollection.created', 'main'],
    ['scheduler.job.created', 'once'],
    ['scheduler.job.created', 'daily'],
    ['scheduler.job.changed', 'daily'],
    ['scheduler.job.completed', 'once'],
    ['scheduler.job.deleted', 'once'],
    ['scheduler.jobCollection.changed', 'main'],
    ['scheduler.jobCollection.deleting', 'main'],
    ['scheduler.job.deleted', 'daily'],
    ['scheduler.jobCollection.deleted', 'main'],
  ])
})

test('the graph does all that REST does with collections', async () => {
  const service = await openForTest(subgraph)
  const shown = `{ name location tags properties { sku { name } state
    quota { maxJobCount maxJobOccurrence maxRecurrence { frequency interval } } } }`
  const group = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Ops"`

  const made = await service.graphql(`mutation { putJobCollection(${MAIN}, jobCollection: {
    location: "westus", tags: { a: "b" }, properties: { sku: { name: Free }
    quota: { maxJobCount: 2, maxRecurrence: { frequency: Day } } } }) ${shown} }`)
  const changed = await service.graphql(`mutation { patchJobCollection(${MAIN}, jobCollection: {
    properties: { quota: { maxJobOccurrence: 7 } } }) ${shown} }`)
  const off = await service.graphql(`mutation { disableJobCollection(${MAIN}) }`)
  const read = await service.graphql(`{ jobCollection(${MAIN}) ${shown}
    jobCollections(subscriptionId: "${SUBSCRIPTION}") { value { name } nextLink skipToken }
    jobCollectionsByGroup(${group}, top: 1) { value { name } } }`)
  const on = await service.graphql(`mutation { enableJobCollection(${MAIN}) }`)
  const gone = await service.graphql(`mutation { deleteJobCollection(${MAIN}) }`)
  const missing = await service.graphql(`{ jobCollection(${MAIN}) { name } }`)

  const collection = {
    name: 'main',
    location: 'westus',
    tags: { a: 'b' },
    properties: {
      sku: { name: 'Free' },
      state: 'Enabled',
      quota: {
        maxJobCount: 2,
        maxJobOccurrence: null,
        maxRecurrence: { frequency: 'Day', interval: 1 },
      },
    },
  }
  const quota = { ...collection.properties.quota, maxJobOccurrence: 7 }
  expect(made.data).toEqual({ putJobCollection: collection })
  expect(changed.data.patchJobCollection.properties.quota).toEqual(quota)
  expect([off.data, on.data, gone.data]).toEqual([
    { disableJobCollection: true },
    { enableJobCollection: true },
    { deleteJobCollection: true },
  ])
  expect(read.data).toEqual({
    jobCollection: {
      ...collection,
      properties: { ...collection.properties, quota, state: 'Disabled' },
    },
    jobCollections: { value: [{ name: 'main' }], nextLink: null, skipToken: null },
    jobCollectionsByGroup: { value: [{ name: 'main' }] },
  })
  expect(missing.errors?.[0].extensions).toMatchObject({ code: 'ResourceNotFound', status: 404 })
})

test('the graph shows how far something is that was accepted', async () => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))
  const { headers } = await service.rest(act('disable'))
  const { pathname } = new URL(headers.location!)
  const operationId = pathname.slice(pathname.lastIndexOf('/') + 1)
  const key = `subscriptionId: "${SUBSCRIPTION}", location: "westus", operationId: "${operationId}"`
  const query = `{ schedulerOperationStatus(${key}) { status } schedulerOperationResult(${key}) { status endTime } }`

  const running = await service.graphql(query)
  await service.advance(0)
  const ended = await service.graphql(query)

  expect(running.data.schedulerOperationStatus.status).toBe('InProgress')
  expect(ended.data).toEqual({
    schedulerOperationStatus: { status: 'Succeeded' },
    schedulerOperationResult: { status: 'Succeeded', endTime: '2030-01-01T00:00:00.000Z' },
  })
})
