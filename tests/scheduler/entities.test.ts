// Collections, jobs and cloud accounts as the graph joins on them.
import { readFileSync } from 'node:fs'
import { composeServices } from '@apollo/composition'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import type { Store } from '../../resolvers/kernel/store.ts'
import type { TestService } from '../open.ts'
import { ACCOUNT, OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  collectionAt,
  COLLECTION,
  every,
  HOUR_MS,
  jobAt,
  MAIN,
  MANY,
  named,
  openMain,
  put,
} from './schedules.ts'

const resolve = (
  service: TestService,
  references: object[],
  selection: string,
  credential?: 'bob',
) =>
  service.graphql(
    `query ($references: [_Any!]!) { found: _entities(representations: $references) { ${selection} } }`,
    { references },
    credential ? { credential } : {},
  )

const collection = (id: string) => ({ __typename: 'JobCollection', id })
const job = (id: string) => ({ __typename: 'SchedulerJob', id })
const account = (id: string) => ({ __typename: 'CloudAccount', id })
const NAMES = '... on JobCollection { id name } ... on SchedulerJob { id name }'

test('references to a collection and a job resolve in any case of their ids', async () => {
  const { service } = await openMain()
  await put(service, jobAt('Daily'), every('Day'))

  const { data } = await resolve(
    service,
    [collection(`${MANY}/main`.toUpperCase()), job(`${MANY}/main/jobs/daily`.toUpperCase())],
    NAMES,
  )

  expect(data.found).toEqual([
    { id: `${MANY}/main`, name: 'main' },
    { id: `${MANY}/main/jobs/Daily`, name: 'main/Daily' },
  ])
})

test("a reference to nothing, or to another's, is null", async () => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))
  const own = [collection(`${MANY}/main`), job(`${MANY}/main/jobs/daily`)]
  const wrong = [
    collection(`${MANY}/none`),
    collection('main'),
    job(`${MANY}/main`),
    job(`${MANY}/main/jobs/none`),
    job(`${MANY}/main/jobs/daily`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)),
    account(OTHER_SUBSCRIPTION),
  ]

  const asAlice = await resolve(service, wrong, NAMES)
  const asBob = await resolve(service, own, NAMES, 'bob')

  expect(asAlice.data.found).toEqual([null, null, null, null, null, null])
  expect(asBob.data.found).toEqual([null, null])
})

/** Counts the reads of many records, and of many pages. */
function counting() {
  const reads: number[] = []
  const pages: number[] = []
  const wrap = (store: Store): Store => ({
    ...store,
    async listMany(kind, queries) {
      pages.push(queries.length)
      return store.listMany(kind, queries)
    },
    async getMany(kind, keys) {
      reads.push(keys.length)
      return store.getMany(kind, keys)
    },
  })
  return { reads, pages, wrap }
}

test('fifty references are one read, and so are the collections of fifty jobs', async () => {
  const { reads, wrap } = counting()
  const { service } = await openMain({ wrap })
  for (let n = 0; n < 50; n += 1) await put(service, jobAt(`job-${n}`), every('Day'))
  const references = Array.from({ length: 50 }, (_, n) => job(`${MANY}/main/jobs/job-${n}`))

  const { data } = await resolve(
    service,
    references,
    '... on SchedulerJob { name jobCollection { name } }',
  )

  expect(data.found[49]).toEqual({ name: 'main/job-49', jobCollection: { name: 'main' } })
  expect(reads).toEqual([50, 1])
})

test('the histories of fifty jobs are one read of fifty pages', async () => {
  const { pages, wrap } = counting()
  const { service } = await openMain({ wrap })
  for (let n = 0; n < 50; n += 1) await put(service, jobAt(`job-${n}`), every('Day'))
  await service.advance(0)

  const { data } = await service.graphql(
    `{ jobCollection(${MAIN}) { jobs(first: 50) { nodes { history(first: 1) { nodes { name } } } } } }`,
  )

  const { nodes } = data.jobCollection.jobs
  expect(nodes).toHaveLength(50)
  expect(nodes[0].history.nodes).toEqual([{ name: 'main/job-0/20300101t000000z-00' }])
  expect(pages).toEqual([50])
})

test('an account shows its collections, they their jobs, and those their history', async () => {
  const { service } = await openMain()
  await put(service, collectionAt('side'), COLLECTION)
  await put(service, jobAt('ada'), every('Hour'))
  await put(service, jobAt('bea'), every('Hour'))
  await service.advance(2 * HOUR_MS)
  const selection = `... on CloudAccount { id jobCollections(first: 1) {
    nodes { name properties { state quota { maxJobCount } }
      jobs(first: 1) { nodes { name history(first: 2) {
        nodes { properties { status repeatCount } } edges { cursor } pageInfo { hasNextPage } } }
        edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }
    edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`

  const { data, errors } = await resolve(service, [account(SUBSCRIPTION)], selection)
  const { jobCollections } = data.found[0]
  const [main] = jobCollections.nodes
  const next = await resolve(
    service,
    [account(SUBSCRIPTION)],
    `... on CloudAccount { jobCollections(after: "${jobCollections.pageInfo.endCursor}") { nodes { name } } }`,
  )
  const more = await service.graphql(
    `{ jobCollection(${MAIN}) { jobs(after: "${main.jobs.pageInfo.endCursor}") { nodes { name } } } }`,
  )

  expect(errors).toBeUndefined()
  expect(main).toMatchObject({
    name: 'main',
    properties: { state: 'Enabled', quota: { maxJobCount: 50 } },
  })
  expect(jobCollections.pageInfo.hasNextPage).toBe(true)
  expect(main.jobs.pageInfo.hasNextPage).toBe(true)
  expect(main.jobs.nodes[0].name).toBe('main/ada')
  expect(main.jobs.nodes[0].history.nodes).toEqual([
    { properties: { status: 'Completed', repeatCount: 2 } },
    { properties: { status: 'Completed', repeatCount: 1 } },
  ])
  expect(main.jobs.nodes[0].history.pageInfo.hasNextPage).toBe(true)
  expect(next.data.found[0].jobCollections.nodes).toEqual([{ name: 'side' }])
  expect(more.data.jobCollection.jobs.nodes).toEqual([{ name: 'main/bea' }])
})

test('an account that is no subscription has no collections', async () => {
  const { service } = await openMain()

  const { data } = await resolve(
    service,
    [account(ACCOUNT)],
    '... on CloudAccount { jobCollections { nodes { name } pageInfo { hasNextPage endCursor } } }',
  )

  expect(data.found).toEqual([
    { jobCollections: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } },
  ])
})

test.each(['first: 0', 'first: 101', 'after: "AAAA"'])('a connection refuses %s', async (page) => {
  const { service } = await openMain()
  await put(service, jobAt('daily'), every('Day'))

  const jobs = await service.graphql(
    `{ jobCollection(${MAIN}) { jobs(${page}) { nodes { name } } } }`,
  )
  const history = await service.graphql(
    `{ schedulerJob(${named('daily')}) { history(${page}) { nodes { name } } } }`,
  )

  for (const { errors } of [jobs, history]) {
    expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
  }
})

test("a cursor of one job's history does not fit another's", async () => {
  const { service } = await openMain()
  await put(service, jobAt('ada'), every('Hour'))
  await put(service, jobAt('bea'), every('Hour'))
  await service.advance(HOUR_MS)
  const historyOf = (name: string, page: string) =>
    service.graphql(
      `{ schedulerJob(${named(name)}) { history(${page}) { nodes { name } pageInfo { endCursor } } } }`,
    )
  const { data } = await historyOf('ada', 'first: 1')
  const page = `after: "${data.schedulerJob.history.pageInfo.endCursor}"`

  const own = await historyOf('ada', page)
  const other = await historyOf('bea', page)

  expect(own.data.schedulerJob.history.nodes).toEqual([{ name: 'main/ada/20300101t000000z-00' }])
  expect(other.errors?.[0].extensions).toMatchObject({ code: 'Invalid' })
})

test('the schema composes with one that adds a field to every cloud resource', () => {
  const schema = readFileSync(new URL('../../schema/scheduler.graphql', import.meta.url), 'utf8')
  const groups = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
      import: ["@key", "@interfaceObject"])
    type Query { groupNames: [String!] }
    type CloudResource @key(fields: "id") @interfaceObject { id: ID! groups: [String!] }`

  const { errors } = composeServices([
    { name: 'scheduler', typeDefs: parse(schema) },
    { name: 'groups', typeDefs: parse(groups) },
  ])

  expect(errors).toBeUndefined()
})
