// Diagnostics and cloud accounts as the graph joins on them.
import { composeServices } from '@apollo/composition'
import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/diagnostics.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { MANY, one, openWithApi, PLACE, PLAIN } from './apis.ts'

const resolve = (
  service: TestService,
  references: object[],
  selection: string,
  credential = 'alice',
) =>
  service.graphql(
    `query ($references: [_Any!]!) { found: _entities(representations: $references) { ${selection} } }`,
    { references },
    { credential: credential as 'alice' },
  )

const diagnostic = (id: string) => ({ __typename: 'ApiDiagnostic', id })
const account = (id: string) => ({ __typename: 'CloudAccount', id })

test('a reference to a diagnostic resolves in any case of its id', async () => {
  const service = await openWithApi()
  const { headers } = await service.rest(`PUT ${one('Monitor')}`, PLAIN)

  const { data } = await resolve(
    service,
    [diagnostic(`${MANY}/Monitor`), diagnostic(`${MANY}/monitor`.toUpperCase())],
    '... on ApiDiagnostic { id name location etag }',
  )

  const shown = { id: `${MANY}/Monitor`, name: 'Monitor', location: 'westus', etag: headers.etag }
  expect(data).toEqual({ found: [shown, shown] })
})

test("a reference to nothing, to another's diagnostic or to no diagnostic is null", async () => {
  const service = await openWithApi()
  await service.rest(`PUT ${one('monitor')}`, PLAIN)
  const others = `${MANY}/monitor`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

  const own = await resolve(
    service,
    [
      diagnostic(`${MANY}/none`),
      diagnostic(others),
      diagnostic('monitor'),
      diagnostic(`${MANY}/monitor/more`),
    ],
    '... on ApiDiagnostic { name }',
  )
  const asBob = await resolve(
    service,
    [diagnostic(`${MANY}/monitor`)],
    '... on ApiDiagnostic { name }',
    'bob',
  )

  expect(own).toEqual({ data: { found: [null, null, null, null] } })
  expect(asBob).toEqual({ data: { found: [null] } })
})

test('fifty references with their services are two reads', async () => {
  const reads: number[] = []
  const service = await openWithApi({
    wrap: (store) => ({
      ...store,
      async getMany(kind: any, keys: readonly string[]) {
        reads.push(keys.length)
        return store.getMany<any>(kind, keys)
      },
    }),
  })
  const names = Array.from({ length: 50 }, (_, n) => `d${n}`)
  for (const name of names) await service.rest(`PUT ${one(name)}`, PLAIN)

  const { data } = await resolve(
    service,
    names.map((name) => diagnostic(`${MANY}/${name}`)),
    '... on ApiDiagnostic { name location service { name } }',
  )

  expect(data.found[49]).toEqual({ name: 'd49', location: 'westus', service: { name: 'shop' } })
  expect(reads).toEqual([50, 1])
})

test('a cloud account shows its diagnostics and its services, and each service its diagnostics', async () => {
  const reads: string[] = []
  const service = await openWithApi({
    wrap: (store) => ({
      ...store,
      list: (kind: any, query: any) => (reads.push('list'), store.list<any>(kind, query)),
      listMany: (kind: any, queries: any) => (
        reads.push(`listMany ${queries.length}`),
        store.listMany<any>(kind, queries)
      ),
    }),
  })
  for (const name of ['blog', 'wiki']) {
    const place = PLACE.replace('"shop"', `"${name}"`)
    await service.graphql(`mutation { putApiManagementService(${place}) { id } }`)
    await service.rest(`PUT ${one('monitor').replace('/shop/', `/${name}/`)}`, PLAIN)
  }
  reads.length = 0

  const { data } = await resolve(
    service,
    [account(SUBSCRIPTION)],
    `... on CloudAccount {
      apiDiagnostics(first: 1) { nodes { id } pageInfo { hasNextPage } }
      apiManagementServices { nodes { name diagnostics(first: 5) {
        nodes { name } edges { cursor node { name } } pageInfo { hasNextPage } } } } }`,
  )

  const { apiDiagnostics, apiManagementServices } = data.found[0]
  expect(apiDiagnostics).toEqual({
    nodes: [{ id: `${MANY.replace('/shop/', '/blog/')}/monitor` }],
    pageInfo: { hasNextPage: true },
  })
  const byName = apiManagementServices.nodes.map(({ name, diagnostics }: any) => [
    name,
    diagnostics.nodes,
  ])
  expect(byName).toEqual([
    ['blog', [{ name: 'monitor' }]],
    ['shop', []],
    ['wiki', [{ name: 'monitor' }]],
  ])
  // The two lists of the account, then those of three services together.
  expect(reads).toEqual(['list', 'list', 'listMany 3'])
})

test("an account that is no subscription has none, and another's is null", async () => {
  const service = await openForTest(subgraph)

  const { data } = await resolve(
    service,
    [account(ACCOUNT), account(OTHER_SUBSCRIPTION)],
    '... on CloudAccount { apiDiagnostics { nodes { id } } apiManagementServices { nodes { id } } }',
  )

  expect(data.found).toEqual([
    { apiDiagnostics: { nodes: [] }, apiManagementServices: { nodes: [] } },
    null,
  ])
})

test('the schema composes alone and with another that has cloud resources', () => {
  const read = (name: string) =>
    parse(readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8'))

  const alone = composeServices([{ name: 'diagnostics', typeDefs: read('diagnostics') }])
  const both = composeServices(
    ['diagnostics', 'hsm'].map((name) => ({ name, typeDefs: read(name) })),
  )

  expect(alone.errors).toBeUndefined()
  expect(both.errors).toBeUndefined()
})
