// Stores and cloud accounts as the graph joins on them.
import { composeServices } from '@apollo/composition'
import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type SendOptions, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { idOf, keysOf, one, PLAIN, putReady, set } from './stores.ts'

const resolve = (
  service: TestService,
  references: object[],
  selection: string,
  options?: SendOptions,
) =>
  service.graphql(
    `query ($references: [_Any!]!) { found: _entities(representations: $references) { ${selection} } }`,
    { references },
    options,
  )

const store = (id: string) => ({ __typename: 'ConfigStore', id })
const account = (id: string) => ({ __typename: 'CloudAccount', id })

test('a reference to a store resolves in any case of its id', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'Shop-1')

  const { data } = await resolve(
    service,
    [store(idOf('Shop-1')), store(idOf('shop-1').toUpperCase())],
    '... on ConfigStore { id name properties { endpoint } }',
  )

  const shown = {
    id: idOf('Shop-1'),
    name: 'Shop-1',
    properties: { endpoint: 'http://polygraph.test' },
  }
  expect(data).toEqual({ found: [shown, shown] })
})

test("a reference to nothing, to another's store or to no store at all is null", async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const foreign = idOf('shop-1').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)
  const selection = '... on ConfigStore { name keys { value } keyValues { nodes { value } } }'

  const own = await resolve(
    service,
    [store(idOf('nobody')), store(foreign), store('shop-1'), store(`${idOf('shop-1')}/more`)],
    selection,
  )
  const asBob = await resolve(service, [store(idOf('shop-1'))], selection, { credential: 'bob' })
  const asNobody = await resolve(service, [store(idOf('shop-1'))], selection, { credential: null })

  expect(own).toEqual({ data: { found: [null, null, null, null] } })
  expect(asBob).toEqual({ data: { found: [null] } })
  expect(asNobody).toEqual({ data: { found: [null] } })
})

test('a store shows its owner its keys and a page of its key-values', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  for (const key of ['a', 'b', 'c']) await set(service, 'shop-1', { key, value: key })
  const selection = (page: string) => `... on ConfigStore { keys { id value }
    keyValues(${page}) { nodes { key } edges { cursor node { key } } pageInfo { hasNextPage endCursor } } }`

  const first = await resolve(service, [store(idOf('shop-1'))], selection('first: 2'))
  const { keys, keyValues } = first.data.found[0]
  const { endCursor } = keyValues.pageInfo
  const last = await resolve(
    service,
    [store(idOf('shop-1'))],
    selection(`first: 2, after: "${endCursor}"`),
  )
  const filtered = await resolve(service, [store(idOf('shop-1'))], selection('key: "b"'))

  const own = await keysOf(service, 'shop-1')
  expect(keys).toEqual(own.map(({ id, value }) => ({ id, value })))
  expect(keyValues.nodes).toEqual([{ key: 'a' }, { key: 'b' }])
  expect(keyValues.edges[1]).toEqual({ cursor: endCursor, node: { key: 'b' } })
  expect(keyValues.pageInfo.hasNextPage).toBe(true)
  expect(last.data.found[0].keyValues.nodes).toEqual([{ key: 'c' }])
  expect(filtered.data.found[0].keyValues.nodes).toEqual([{ key: 'b' }])
})

test('fifty references with their keys are two reads', async () => {
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
  for (let n = 0; n < 50; n++) await service.rest(`PUT ${one(`shop-${n}`)}`, PLAIN)
  const references = Array.from({ length: 50 }, (_, n) => store(idOf(`shop-${n}`)))

  await resolve(service, references, '... on ConfigStore { name keys { id } }')

  expect(reads).toEqual([50, 200])
})

test('a cloud account shows its stores as a connection, page after page', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['ada-1', 'bob-1', 'cyd-1']) await service.rest(`PUT ${one(name)}`, PLAIN)
  const storesOf = (page: string) =>
    `... on CloudAccount { id configStores(${page}) {
      nodes { name } edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`

  const first = await resolve(service, [account(SUBSCRIPTION)], storesOf('first: 2'))
  const { configStores } = first.data.found[0]
  const { endCursor } = configStores.pageInfo
  const last = await resolve(
    service,
    [account(SUBSCRIPTION)],
    storesOf(`first: 2, after: "${endCursor}"`),
  )

  expect(configStores.nodes).toEqual([{ name: 'ada-1' }, { name: 'bob-1' }])
  expect(configStores.edges[1]).toEqual({ cursor: endCursor, node: { name: 'bob-1' } })
  expect(last.data.found[0].configStores).toMatchObject({
    nodes: [{ name: 'cyd-1' }],
    pageInfo: { hasNextPage: false },
  })
})

test("an account that is no subscription has no stores, and another's is null", async () => {
  const service = await openForTest(subgraph)

  const { data } = await resolve(
    service,
    [account(ACCOUNT), account(OTHER_SUBSCRIPTION)],
    '... on CloudAccount { configStores { nodes { name } pageInfo { hasNextPage endCursor } } }',
  )

  expect(data.found).toEqual([
    { configStores: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } } },
    null,
  ])
})

test.each(['first: 0', 'first: 101', 'after: "AAAA"'])('connections refuse %s', async (page) => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')

  const ofAccount = await resolve(
    service,
    [account(SUBSCRIPTION)],
    `... on CloudAccount { configStores(${page}) { nodes { name } } }`,
  )
  const ofStore = await resolve(
    service,
    [store(idOf('shop-1'))],
    `... on ConfigStore { keyValues(${page}) { nodes { key } } }`,
  )

  for (const { errors } of [ofAccount, ofStore]) {
    expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
  }
})

test('the schema composes with that of another management service', () => {
  const services = ['hsm', 'config-store'].map((name) => ({
    name,
    typeDefs: parse(readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8')),
  }))

  expect(composeServices(services).errors).toBeUndefined()
})
