// Databases, servers, pools and cloud accounts as the graph joins on them.
import { composeServices } from '@apollo/composition'
import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { ACCOUNT, OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  fill,
  MANY,
  one,
  openShop,
  PLAIN,
  POOL,
  putReady,
  putServer,
  SERVER,
  SERVERS,
} from './shop.ts'

const resolve = (
  service: TestService,
  references: object[],
  selection: string,
  credential: 'alice' | 'bob' = 'alice',
) =>
  service.graphql(
    `query ($references: [_Any!]!) { found: _entities(representations: $references) { ${selection} } }`,
    { references },
    { credential },
  )

const refer = (__typename: string, id: string) => ({ __typename, id })
const NAMES = '... on SqlDatabase { name } ... on SqlServer { name } ... on ElasticPool { name }'
const POOLED = { ...PLAIN, properties: { elasticPoolId: POOL } }

test('references to databases, servers and pools resolve in any case of their ids', async () => {
  const service = await openShop()
  await service.rest(`PUT ${one('Shop')}`, POOLED)

  const { data } = await resolve(
    service,
    [
      refer('SqlDatabase', `${MANY}/shop`.toUpperCase()),
      refer('SqlServer', SERVER.toUpperCase()),
      refer('ElasticPool', POOL.toLowerCase()),
    ],
    NAMES,
  )

  expect(data.found).toEqual([{ name: 'Shop' }, { name: 'main' }, { name: 'pool' }])
})

test("references to nothing and to another's are null", async () => {
  const service = await openShop()
  await service.rest(`PUT ${one('shop')}`, POOLED)
  const ids = [
    ['SqlDatabase', `${MANY}/shop`],
    ['SqlServer', SERVER],
    ['ElasticPool', POOL],
  ] as const
  const mine = ids.map(([type, id]) => refer(type, id))
  const none = ids.flatMap(([type, id]) => [
    refer(type, `${id}-none`),
    refer(type, id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)),
    refer(type, 'shop'),
    refer(type, `${id}/more`),
  ])

  expect(await resolve(service, none, NAMES)).toEqual({ data: { found: Array(12).fill(null) } })
  expect(await resolve(service, mine, NAMES, 'bob')).toEqual({
    data: { found: [null, null, null] },
  })
})

test('fifty references are one read', async () => {
  const reads: number[] = []
  const service = await openShop({
    wrap: (store) => ({
      ...store,
      async getMany(kind: any, keys: readonly string[]) {
        reads.push(keys.length)
        return store.getMany<any>(kind, keys)
      },
    }),
  })
  const references = Array.from({ length: 50 }, (_, n) => refer('SqlDatabase', `${MANY}/db-${n}`))

  await resolve(service, references, NAMES)

  expect(reads).toEqual([50])
})

test('the relations of many are read together', async () => {
  const reads: string[] = []
  const service = await openShop({
    wrap: (store) => ({
      ...store,
      async listMany(kind: any, queries: any) {
        reads.push(`${kind.name} ${queries.length}`)
        return store.listMany<any>(kind, queries)
      },
      async sql(text, parameters) {
        if (text.includes('blob_version')) reads.push('contents')
        return store.sql(text, parameters)
      },
    }),
  })
  for (const n of [1, 2, 3]) {
    await putServer(service, `server-${n}`)
    await service.rest(`PUT ${one('shop', '', `server-${n}`)}`, PLAIN)
  }

  const { data, errors } = await resolve(
    service,
    [1, 2, 3].map((n) => refer('SqlServer', `${SERVERS}/server-${n}`)),
    '... on SqlServer { databases { nodes { name content { contentVersion } secondaries { name } } } }',
  )

  expect(errors).toBeUndefined()
  expect(data.found.map((server: any) => server.databases.nodes[0])).toEqual(
    [1, 2, 3].map(() => ({ name: 'shop', content: { contentVersion: 0 }, secondaries: [] })),
  )
  expect(reads.toSorted()).toEqual(['contents', 'sql_databases 3', 'sql_databases 3'])
})

test('a database leads to its server, its pool, its content and those that follow it', async () => {
  const service = await openShop()
  await putServer(service, 'far')
  await putReady(service, 'shop', POOLED)
  await fill(service, 'shop')
  const properties = { createMode: 'Secondary', sourceDatabaseId: `${MANY}/shop` }
  await putReady(service, 'shop', { ...PLAIN, properties }, 'far')

  const { data } = await resolve(
    service,
    [refer('SqlDatabase', `${MANY}/shop`), refer('SqlDatabase', `${SERVERS}/far/databases/shop`)],
    `... on SqlDatabase { server { name } elasticPool { name } primary { id } secondaries { id }
      content { contentVersion sizeBytes sha256 changed } }`,
  )

  const content = {
    contentVersion: 1,
    sizeBytes: 8192,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  }
  expect(data.found).toEqual([
    {
      server: { name: 'main' },
      elasticPool: { name: 'pool' },
      primary: null,
      secondaries: [{ id: `${SERVERS}/far/databases/shop` }],
      content: { ...content, changed: '2030-01-01T00:00:01.000Z' },
    },
    {
      server: { name: 'far' },
      elasticPool: null,
      primary: { id: `${MANY}/shop` },
      secondaries: [],
      content: { ...content, changed: '2030-01-01T00:00:02.000Z' },
    },
  ])
})

test('servers, pools and accounts show what they hold as connections, page after page', async () => {
  const service = await openShop()
  for (const name of ['ada', 'bob', 'cyd']) await service.rest(`PUT ${one(name)}`, POOLED)
  const parts = [
    ['SqlServer', SERVER, 'databases'],
    ['ElasticPool', POOL, 'databases'],
    ['CloudAccount', SUBSCRIPTION, 'sqlDatabases'],
  ] as const

  for (const [type, id, field] of parts) {
    const page = (args: string) =>
      resolve(
        service,
        [refer(type, id)],
        `... on ${type} { page: ${field}(${args}) { nodes { name } edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`,
      ).then(({ data, errors }) => data?.found[0]?.page ?? errors?.[0].extensions.code)
    const first = await page('first: 2')
    const { endCursor } = first.pageInfo
    const last = await page(`first: 2, after: "${endCursor}"`)

    expect(first.nodes).toEqual([{ name: 'ada' }, { name: 'bob' }])
    expect(first.edges[1]).toEqual({ cursor: endCursor, node: { name: 'bob' } })
    expect(last).toMatchObject({ nodes: [{ name: 'cyd' }], pageInfo: { hasNextPage: false } })
    for (const args of ['first: 0', 'first: 101', 'after: "AAAA"']) {
      expect(await page(args)).toBe('Invalid')
    }
  }
})

test('a server shows its pools, and an account its servers', async () => {
  const service = await openShop()

  const { data } = await resolve(
    service,
    [
      refer('SqlServer', SERVER),
      refer('CloudAccount', SUBSCRIPTION),
      refer('CloudAccount', ACCOUNT),
    ],
    `... on SqlServer { elasticPools { nodes { name } } droppedDatabases { nodes { id } } }
     ... on CloudAccount { sqlServers { nodes { name } } sqlDatabases { nodes { name } } }`,
  )

  expect(data.found).toEqual([
    { elasticPools: { nodes: [{ name: 'pool' }] }, droppedDatabases: { nodes: [] } },
    { sqlServers: { nodes: [{ name: 'main' }] }, sqlDatabases: { nodes: [] } },
    { sqlServers: { nodes: [] }, sqlDatabases: { nodes: [] } },
  ])
})

test("another's cloud account is null", async () => {
  const service = await openShop()

  const answer = await resolve(
    service,
    [refer('CloudAccount', OTHER_SUBSCRIPTION)],
    '... on CloudAccount { sqlDatabases { nodes { name } } }',
  )

  expect(answer).toEqual({ data: { found: [null] } })
})

test('the schema composes with another of cloud resources and one that adds to them all', () => {
  const schema = (name: string) =>
    parse(readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8'))
  const groups = parse(`extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
      import: ["@key", "@interfaceObject"])
    type Query { groupNames: [String!] }
    type CloudResource @key(fields: "id") @interfaceObject { id: ID! groups: [String!] }`)

  const { errors } = composeServices([
    { name: 'hsm', typeDefs: schema('hsm') },
    { name: 'sql-db', typeDefs: schema('sql-db') },
    { name: 'groups', typeDefs: groups },
  ])

  expect(errors).toBeUndefined()
})
