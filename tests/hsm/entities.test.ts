// Modules and cloud accounts as the graph joins on them.
import { composeServices } from '@apollo/composition'
import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { MANY, PLAIN, one } from './modules.ts'

const resolve = (service: TestService, references: object[], selection: string) =>
  service.graphql(
    `query ($references: [_Any!]!) { found: _entities(representations: $references) { ${selection} } }`,
    { references },
  )

const module = (id: string) => ({ __typename: 'DedicatedHsm', id })
const account = (id: string) => ({ __typename: 'CloudAccount', id })

test('a reference to a module resolves in any case of its id', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('Safe')}`, PLAIN)

  const { data } = await resolve(
    service,
    [module(`${MANY}/Safe`), module(`${MANY}/safe`.toUpperCase())],
    '... on DedicatedHsm { id name }',
  )

  const shown = { id: `${MANY}/Safe`, name: 'Safe' }
  expect(data).toEqual({ found: [shown, shown] })
})

test("a reference to nothing, to another's module or to no module at all is null", async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('safe')}`, PLAIN)
  const others = `${MANY}/safe`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

  const own = await resolve(
    service,
    [module(`${MANY}/none`), module(others), module('safe'), module(`${MANY}/safe/more`)],
    '... on DedicatedHsm { name }',
  )
  const query = `{ found: _entities(representations: [{ __typename: "DedicatedHsm", id: "${MANY}/safe" }]) {
    ... on DedicatedHsm { name } } }`
  const asBob = await service.graphql(query, {}, { credential: 'bob' })

  expect(own).toEqual({ data: { found: [null, null, null, null] } })
  expect(asBob).toEqual({ data: { found: [null] } })
})

test('fifty references are one read', async () => {
  const reads: number[] = []
  const service = await openForTest(subgraph, {
    wrap: (store) => ({
      ...store,
      async getMany(kind: any, keys: readonly string[]) {
        reads.push(keys.length)
        return store.getMany<any>(kind, keys)
      },
    }),
  })
  const references = Array.from({ length: 50 }, (_, n) => module(`${MANY}/safe-${n}`))

  await resolve(service, references, '... on DedicatedHsm { name }')

  expect(reads).toEqual([50])
})

const modulesOf = (page: string) =>
  `... on CloudAccount { id dedicatedHsms(${page}) {
    nodes { name } edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`

test('a cloud account shows its modules as a connection, page after page', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['ada', 'bob', 'cyd']) await service.rest(`PUT ${one(name)}`, PLAIN)

  const first = await resolve(service, [account(SUBSCRIPTION)], modulesOf('first: 2'))
  const { dedicatedHsms } = first.data.found[0]
  const { endCursor } = dedicatedHsms.pageInfo
  const last = await resolve(
    service,
    [account(SUBSCRIPTION)],
    modulesOf(`first: 2, after: "${endCursor}"`),
  )

  expect(dedicatedHsms.nodes).toEqual([{ name: 'ada' }, { name: 'bob' }])
  expect(dedicatedHsms.edges[1]).toEqual({ cursor: endCursor, node: { name: 'bob' } })
  expect(dedicatedHsms.pageInfo.hasNextPage).toBe(true)
  expect(last.data.found[0].dedicatedHsms).toMatchObject({
    nodes: [{ name: 'cyd' }],
    pageInfo: { hasNextPage: false },
  })
})

test('a cloud account that is no subscription has no modules', async () => {
  const service = await openForTest(subgraph)

  const answer = await resolve(
    service,
    [account(ACCOUNT)],
    '... on CloudAccount { id dedicatedHsms { nodes { name } pageInfo { hasNextPage endCursor } } }',
  )

  expect(answer).toEqual({
    data: {
      found: [
        {
          id: ACCOUNT,
          dedicatedHsms: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
        },
      ],
    },
  })
})

test("another's cloud account is null", async () => {
  const service = await openForTest(subgraph)

  const answer = await resolve(
    service,
    [account(OTHER_SUBSCRIPTION)],
    '... on CloudAccount { dedicatedHsms { nodes { name } } }',
  )

  expect(answer).toEqual({ data: { found: [null] } })
})

test.each(['first: 0', 'first: 101', 'after: "AAAA"'])('a connection refuses %s', async (page) => {
  const service = await openForTest(subgraph)

  const { errors } = await resolve(
    service,
    [account(SUBSCRIPTION)],
    `... on CloudAccount { dedicatedHsms(${page}) { nodes { name } } }`,
  )

  expect(errors).toHaveLength(1)
  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})

const FEDERATION = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
  import: ["@key", "@interfaceObject"])`
const HSM = readFileSync(new URL('../../schema/hsm.graphql', import.meta.url), 'utf8')

const compose = (others: Record<string, string>) => {
  const schemas = Object.entries({ hsm: HSM, ...others })
  const services = schemas.map(([name, schema]) => ({ name, typeDefs: parse(schema) }))
  return composeServices(services).errors?.map(({ message }) => message)
}

test('the schema composes alone', () => {
  expect(compose({})).toBeUndefined()
})

test('the schema composes with one that adds a field to every cloud resource', () => {
  const errors = compose({
    groups: `${FEDERATION}
      type Query { groupNames: [String!] }
      type CloudResource @key(fields: "id") @interfaceObject { id: ID! groups: [String!] }`,
  })

  expect(errors).toBeUndefined()
})

test('the schema composes with other cloud resources and one that knows them all', () => {
  const errors = compose({
    stores: `${FEDERATION}
      scalar JSONObject
      type Query { store: ConfigStore }
      interface CloudResource @key(fields: "id", resolvable: false) {
        id: ID! name: String! type: String! location: String tags: JSONObject }
      type ConfigStore implements CloudResource @key(fields: "id") {
        id: ID! name: String! type: String! location: String tags: JSONObject }`,
    groups: `${FEDERATION}
      type Query { groupMembers: [CloudResource!] }
      type CloudResource @key(fields: "id") @interfaceObject { id: ID! groups: [String!] }`,
    catalogue: `${FEDERATION}
      type Query { cloudResource(id: ID!): CloudResource }
      interface CloudResource @key(fields: "id") { id: ID! }
      type DedicatedHsm implements CloudResource @key(fields: "id") { id: ID! }
      type ConfigStore implements CloudResource @key(fields: "id") { id: ID! }`,
  })

  expect(errors).toBeUndefined()
})
