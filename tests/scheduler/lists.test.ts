// Lists of jobs and of history: $top, $skip, $filter and nextLink.
import { expect, test } from 'vitest'
import {
  every,
  follow,
  historyAt,
  HOUR_MS,
  jobAt,
  jobOf,
  jobsAt,
  MAIN,
  MANY,
  named,
  openMain,
  put,
  VERSION,
} from './schedules.ts'

const namesOf = ({ body }: { body: any }) => body.value.map(({ name }: { name: string }) => name)

/** Seven jobs, of which every third is disabled. */
async function openSeven() {
  const opened = await openMain()
  for (let n = 0; n < 7; n += 1) {
    const state = n % 3 === 0 ? 'Disabled' : 'Enabled'
    await put(
      opened.service,
      jobAt(`job-${n}`),
      jobOf({ startTime: '2030-02-01T00:00:00Z', state }),
    )
  }
  return opened
}

test('jobs come by name, page after page, to the end', async () => {
  const { service } = await openSeven()

  const first = await service.rest(`GET ${jobsAt('&$top=3')}`)
  const second = await follow(service, first.body.nextLink)
  const third = await follow(service, second.body.nextLink)

  expect(namesOf(first)).toEqual(['main/job-0', 'main/job-1', 'main/job-2'])
  expect(namesOf(second)).toEqual(['main/job-3', 'main/job-4', 'main/job-5'])
  expect(namesOf(third)).toEqual(['main/job-6'])
  expect(third.body).not.toHaveProperty('nextLink')
  const link = new URL(first.body.nextLink)
  expect(link.origin + link.pathname).toBe(`http://polygraph.test${MANY}/main/jobs`)
  expect(link.searchParams.get('api-version')).toBe('2016-03-01')
  expect(link.searchParams.get('$top')).toBe('3')
})

test('$skip passes over as many, and the pages after it are whole', async () => {
  const { service } = await openSeven()

  const first = await service.rest(`GET ${jobsAt('&$skip=2&$top=2')}`)
  const second = await follow(service, first.body.nextLink)
  const beyond = await service.rest(`GET ${jobsAt('&$skip=7')}`)

  expect(namesOf(first)).toEqual(['main/job-2', 'main/job-3'])
  expect(namesOf(second)).toEqual(['main/job-4', 'main/job-5'])
  expect(beyond.body).toEqual({ value: [] })
})

test('$filter asks for a state, and goes with $skip and $top', async () => {
  const { service } = await openSeven()

  const off = await service.rest(`GET ${jobsAt(`&$filter=state eq 'Disabled'`)}`)
  const some = await service.rest(`GET ${jobsAt(`&$filter=state eq 'Enabled'&$skip=1&$top=2`)}`)
  const rest = await follow(service, some.body.nextLink)

  expect(namesOf(off)).toEqual(['main/job-0', 'main/job-3', 'main/job-6'])
  expect(namesOf(some)).toEqual(['main/job-2', 'main/job-4'])
  expect(namesOf(rest)).toEqual(['main/job-5'])
})

test.each([
  ['$top', '0'],
  ['$top', '101'],
  ['$top', 'ten'],
  ['$skip', '-1'],
  ['$skip', 'x'],
  ['$filter', "colour eq 'red'"],
  ['$filter', 'state eq'],
  ['$skipToken', 'AAAA'],
])('%s of %s is refused, for jobs and for history', async (name, value) => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))

  for (const path of [jobsAt(`&${name}=${value}`), historyAt('daily', `&${name}=${value}`)]) {
    const { status, body } = await service.rest(`GET ${path}`)

    expect([status, body.error.code, body.error.target]).toEqual([400, 'InvalidParameter', name])
  }
})

test('a token of one list does not fit another', async () => {
  const { service } = await openSeven()
  const { body } = await service.rest(`GET ${jobsAt('&$top=1')}`)
  const token = new URL(body.nextLink).searchParams.get('$skipToken')!

  const filtered = await service.rest(
    `GET ${jobsAt(`&$filter=state eq 'Enabled'&$skipToken=${token}`)}`,
  )
  const history = await service.rest(`GET ${historyAt('job-1', `&$skipToken=${token}`)}`)

  for (const { status, body } of [filtered, history]) {
    expect([status, body.error.target]).toEqual([400, '$skipToken'])
  }
})

test('the jobs of a collection that is not there, and the history of no job, are 404', async () => {
  const { service } = await openMain()

  const jobs = await service.rest(`GET ${MANY}/none/jobs?${VERSION}`)
  const history = await service.rest(`GET ${historyAt('none')}`)

  expect([jobs.status, jobs.body.error.code]).toEqual([404, 'ResourceNotFound'])
  expect([history.status, history.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('a collection lists its own jobs, and not those of one whose name begins alike', async () => {
  const { service } = await openMain()
  await put(service, `${MANY}/main2?${VERSION}`, {})
  await put(service, `${MANY}/main2/jobs/other?${VERSION}`, every('Day'))
  await put(service, jobAt('own'), every('Day'))
  await put(service, jobAt('own-2'), every('Day'))
  await service.advance(0)

  const jobs = await service.rest(`GET ${jobsAt()}`)
  const history = await service.rest(`GET ${historyAt('own')}`)

  expect(namesOf(jobs)).toEqual(['main/own', 'main/own-2'])
  expect(history.body.value).toHaveLength(1)
})

test('history shows the newest first, page after page, and is filtered by status', async () => {
  const { service } = await openMain({ answer: (_, nth) => (nth % 2 === 0 ? 200 : 500) })
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(4 * HOUR_MS)

  const first = await service.rest(`GET ${historyAt('hourly', '&$top=3')}`)
  const second = await follow(service, first.body.nextLink)
  const failed = await service.rest(`GET ${historyAt('hourly', `&$filter=status eq 'Failed'`)}`)
  const skipped = await service.rest(`GET ${historyAt('hourly', '&$skip=4')}`)

  expect(namesOf(first)).toEqual([
    'main/hourly/20300101t040000z-00',
    'main/hourly/20300101t030000z-00',
    'main/hourly/20300101t020000z-00',
  ])
  expect(namesOf(second)).toEqual([
    'main/hourly/20300101t010000z-00',
    'main/hourly/20300101t000000z-00',
  ])
  expect(first.body.value[0]).toMatchObject({
    id: `${MANY}/main/jobs/hourly/history/20300101t040000z-00`,
    type: 'Vendor.Scheduler/jobCollections/jobs/history',
  })
  expect(failed.body.value.map(({ properties }: any) => properties.repeatCount)).toEqual([3, 1])
  expect(namesOf(skipped)).toEqual(['main/hourly/20300101t000000z-00'])
})

test('a page of history goes on where it ended, though new entries came', async () => {
  const { service } = await openMain()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(3 * HOUR_MS)
  const first = await service.rest(`GET ${historyAt('hourly', '&$top=2')}`)

  await service.advance(2 * HOUR_MS)
  const second = await follow(service, first.body.nextLink)

  expect(namesOf(second)).toEqual([
    'main/hourly/20300101t010000z-00',
    'main/hourly/20300101t000000z-00',
  ])
})

test('the graph lists jobs and history as REST does', async () => {
  const { service } = await openSeven()
  await put(service, jobAt('hourly'), every('Hour'))
  await service.advance(HOUR_MS)
  const query = `query ($token: String) {
    schedulerJobs(${MAIN}, top: 2, skip: 1, filter: "state eq 'Enabled'", skipToken: $token) {
      value { name properties { state } } nextLink skipToken }
    schedulerJobHistory(${named('hourly')}, top: 1, skip: 1) {
      value { name type properties { actionName status message retryCount repeatCount
        startTime endTime expectedExecutionTime } } nextLink skipToken } }`

  const { data } = await service.graphql(query)
  const next = await service.graphql(
    `{ schedulerJobs(${MAIN}, top: 2, filter: "state eq 'Enabled'", skipToken: "${data.schedulerJobs.skipToken}") {
      value { name } } }`,
  )
  const refused = await service.graphql(`{ schedulerJobs(${MAIN}, filter: "x eq 1") { nextLink } }`)

  expect(data.schedulerJobs.value).toEqual([
    { name: 'main/job-1', properties: { state: 'Enabled' } },
    { name: 'main/job-2', properties: { state: 'Enabled' } },
  ])
  expect(data.schedulerJobs.nextLink).toMatch(/^http:\/\/polygraph\.test\/subscriptions\//)
  expect(next.data.schedulerJobs.value).toEqual([{ name: 'main/job-4' }, { name: 'main/job-5' }])
  expect(data.schedulerJobHistory).toEqual({
    value: [
      {
        name: 'main/hourly/20300101t000000z-00',
        type: 'Vendor.Scheduler/jobCollections/jobs/history',
        properties: {
          actionName: 'MainAction',
          status: 'Completed',
          message: 'hooks.example answered 200.',
          retryCount: 0,
          repeatCount: 0,
          startTime: '2030-01-01T00:00:00.000Z',
          endTime: '2030-01-01T00:00:00.000Z',
          expectedExecutionTime: '2030-01-01T00:00:00.000Z',
        },
      },
    ],
    nextLink: null,
    skipToken: null,
  })
  expect(refused.errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})
