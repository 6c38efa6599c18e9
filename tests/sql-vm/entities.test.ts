// Machines, groups and cloud accounts as the graph joins on them.
import { composeServices } from '@apollo/composition'
import { readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest, type TestService } from '../open.ts'
import { ACCOUNT, OTHER_SUBSCRIPTION, people, SUBSCRIPTION, type Person } from '../people.ts'
import {
  group,
  GROUP_ID,
  GROUPS,
  listener,
  machine,
  MACHINES,
  PLAIN,
  PLAIN_GROUP,
  putCluster,
  putReady,
} from './cluster.ts'

const resolve = (
  service: TestService,
  references: object[],
  selection: string,
  credential: Person = 'alice',
) =>
  service.graphqlAs(
    people[credential],
    `query ($references: [_Any!]!) { found: _entities(representations: $references) { ${selection} } }`,
    { references },
  )

const ofMachine = (id: string) => ({ __typename: 'SqlVirtualMachine', id })
const ofGroup = (id: string) => ({ __typename: 'SqlVirtualMachineGroup', id })
const ofAccount = (id: string) => ({ __typename: 'CloudAccount', id })
const EITHER = '... on SqlVirtualMachine { id } ... on SqlVirtualMachineGroup { id }'

/** A service that tells what was read, and how much at once. */
async function openCounting() {
  const reads: string[] = []
  const service = await openForTest(subgraph, {
    wrap: (store) => ({
      ...store,
      getMany: (kind: any, keys: any) => (
        reads.push(`getMany ${kind.name} ${keys.length}`),
        store.getMany<any>(kind, keys)
      ),
      list: (kind: any, query: any) => (
        reads.push(`list ${kind.name}`),
        store.list<any>(kind, query)
      ),
      listMany: (kind: any, queries: any) => (
        reads.push(`listMany ${kind.name} ${queries.length}`),
        store.listMany<any>(kind, queries)
      ),
    }),
  })
  return { service, reads }
}

test('references resolve in any case of their ids', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('Cluster'), PLAIN_GROUP)
  await putReady(service, machine('Sql-1'), PLAIN)

  const { data } = await resolve(
    service,
    [ofMachine(`${MACHINES}/sql-1`.toUpperCase()), ofGroup(GROUP_ID)],
    EITHER,
  )

  expect(data).toEqual({ found: [{ id: `${MACHINES}/Sql-1` }, { id: `${GROUPS}/Cluster` }] })
})

test("a reference to nothing, to another's or to another sort is null", async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  const own = [ofMachine(`${MACHINES}/sql-1`), ofGroup(GROUP_ID)]

  const wrong = await resolve(
    service,
    [
      ofMachine(`${MACHINES}/none`),
      ofGroup(`${GROUPS}/none`),
      ofMachine(GROUP_ID),
      ofGroup(`${MACHINES}/sql-1`),
      ofMachine('sql-1'),
      ofMachine(`${MACHINES}/sql-1`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)),
      ofGroup(`${GROUP_ID}/more`),
    ],
    EITHER,
  )
  const asBob = await resolve(service, own, EITHER, 'bob')

  expect(wrong).toEqual({ data: { found: Array(7).fill(null) } })
  expect(asBob).toEqual({ data: { found: [null, null] } })
})

test('fifty machines with their groups are two reads', async () => {
  const { service, reads } = await openCounting()
  for (const name of ['g0', 'g1']) await service.rest(`PUT ${group(name)}`, PLAIN_GROUP)
  const names = Array.from({ length: 50 }, (_, n) => `m${n}`)
  for (const [n, name] of names.entries()) {
    const properties = { sqlVirtualMachineGroupResourceId: `${GROUPS}/g${n % 2}` }
    await service.rest(`PUT ${machine(name)}`, { ...PLAIN, properties })
  }
  reads.length = 0

  const { data } = await resolve(
    service,
    names.map((name) => ofMachine(`${MACHINES}/${name}`)),
    '... on SqlVirtualMachine { name group { name } }',
  )

  expect(data.found[49]).toEqual({ name: 'm49', group: { name: 'g1' } })
  expect(reads).toEqual(['getMany sql_virtual_machines 50', 'getMany sql_vm_groups 2'])
})

test('the machines and the listeners of many groups are one read each', async () => {
  const { service, reads } = await openCounting()
  const names = ['g0', 'g1', 'g2']
  for (const name of names) {
    await service.rest(`PUT ${group(name)}`, PLAIN_GROUP)
    const properties = { sqlVirtualMachineGroupResourceId: `${GROUPS}/${name}` }
    await service.rest(`PUT ${machine(`${name}-a`)}`, { ...PLAIN, properties })
    await service.rest(`PUT ${machine(`${name}-b`)}`, { ...PLAIN, properties })
    await service.rest(`PUT ${listener(`${name}-l`).replace('/cluster/', `/${name}/`)}`, {})
  }
  reads.length = 0

  const { data } = await resolve(
    service,
    names.map((name) => ofGroup(`${GROUPS}/${name}`)),
    `... on SqlVirtualMachineGroup { name machines(first: 1) { nodes { name group { name } }
      edges { cursor } pageInfo { hasNextPage endCursor } }
      listeners { nodes { name } pageInfo { hasNextPage } } }`,
  )
  const { endCursor } = data.found[1].machines.pageInfo
  const rest = await resolve(
    service,
    [ofGroup(`${GROUPS}/g1`)],
    `... on SqlVirtualMachineGroup { machines(first: 1, after: "${endCursor}") {
      nodes { name } pageInfo { hasNextPage } } }`,
  )

  expect(data.found[1]).toMatchObject({
    name: 'g1',
    machines: { nodes: [{ name: 'g1-a', group: { name: 'g1' } }], pageInfo: { hasNextPage: true } },
    listeners: { nodes: [{ name: 'g1-l' }], pageInfo: { hasNextPage: false } },
  })
  expect(rest.data.found[0].machines).toEqual({
    nodes: [{ name: 'g1-b' }],
    pageInfo: { hasNextPage: false },
  })
  // A request remembers its groups, so that the groups of their members cost nothing.
  expect(reads).toEqual([
    'getMany sql_vm_groups 3',
    'listMany sql_virtual_machines 3',
    'listMany sql_vm_listeners 3',
    'getMany sql_vm_groups 1',
    'list sql_virtual_machines',
  ])
})

test('a cursor of one group does not fit another', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await service.rest(`PUT ${group('other')}`, PLAIN_GROUP)
  const ask = (name: string, page: string) =>
    resolve(
      service,
      [ofGroup(`${GROUPS}/${name}`)],
      `... on SqlVirtualMachineGroup { machines(${page}) { pageInfo { endCursor } } }`,
    )
  const { data } = await ask('cluster', 'first: 1')
  const { endCursor } = data.found[0].machines.pageInfo

  for (const [name, page] of [
    ['other', `after: "${endCursor}"`],
    ['cluster', 'first: 0'],
    ['cluster', 'first: 101'],
  ] as const) {
    const { errors } = await ask(name, page)
    expect(errors?.[0].extensions, page).toMatchObject({ code: 'Invalid', status: 400 })
  }
})

test('a cloud account shows its machines and its groups', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)

  const { data } = await resolve(
    service,
    [ofAccount(SUBSCRIPTION), ofAccount(ACCOUNT), ofAccount(OTHER_SUBSCRIPTION)],
    `... on CloudAccount { id sqlVirtualMachines(first: 1) { nodes { name } pageInfo { hasNextPage } }
      sqlVirtualMachineGroups { nodes { name } edges { node { name } } } }`,
  )

  expect(data.found).toEqual([
    {
      id: SUBSCRIPTION,
      sqlVirtualMachines: { nodes: [{ name: 'sql-1' }], pageInfo: { hasNextPage: true } },
      sqlVirtualMachineGroups: {
        nodes: [{ name: 'cluster' }],
        edges: [{ node: { name: 'cluster' } }],
      },
    },
    {
      id: ACCOUNT,
      sqlVirtualMachines: { nodes: [], pageInfo: { hasNextPage: false } },
      sqlVirtualMachineGroups: { nodes: [], edges: [] },
    },
    null,
  ])
})

test('the schema composes alone and with another that has cloud resources', () => {
  const read = (name: string) =>
    parse(readFileSync(new URL(`../../schema/${name}.graphql`, import.meta.url), 'utf8'))

  const alone = composeServices([{ name: 'sql-vm', typeDefs: read('sql-vm') }])
  const both = composeServices(['sql-vm', 'hsm'].map((name) => ({ name, typeDefs: read(name) })))

  expect(alone.errors).toBeUndefined()
  expect(both.errors).toBeUndefined()
})
