// Lists of groups, listeners and machines: where they are, page after page.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest, type TestService } from '../open.ts'
import {
  AREA,
  follow,
  FULL,
  group,
  GROUP_ID,
  GROUPS,
  listener,
  LISTENERS,
  machine,
  MACHINES,
  MEMBER,
  PLACE,
  PLAIN,
  PLAIN_GROUP,
  putCluster,
  putReady,
  SUB,
  VERSION,
} from './cluster.ts'

const ALL_GROUPS = `${SUB}/${AREA}/sqlVirtualMachineGroups`
const ALL_MACHINES = `${SUB}/${AREA}/sqlVirtualMachines`
const MEMBERS = `${GROUP_ID}/sqlVirtualMachines`

const namesOf = ({ body }: { body: any }) => body.value.map(({ name }: { name: string }) => name)

/** Follows nextLink unchanged to the end, and returns the names page by page. */
async function pagesOf(service: TestService, path: string): Promise<string[][]> {
  let answer = await service.rest(`GET ${path}`)
  const pages = [namesOf(answer)]
  while (answer.body.nextLink) {
    answer = await follow(service, answer.body.nextLink)
    expect(answer.status).toBe(200)
    pages.push(namesOf(answer))
  }
  return pages
}

const inOther = (path: string) => path.replace('/Data/', '/Data2/')

test('a resource group lists its own, and the subscription those of all', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${group('g1')}`, PLAIN_GROUP)
  await service.rest(`PUT ${inOther(group('g2'))}`, PLAIN_GROUP)
  await service.rest(`PUT ${machine('m1')}`, PLAIN)
  await service.rest(`PUT ${inOther(machine('m2'))}`, PLAIN)

  const namesAt = async (path: string) => namesOf(await service.rest(`GET ${path}?${VERSION}`))

  expect(await namesAt(GROUPS)).toEqual(['g1'])
  expect(await namesAt(inOther(GROUPS))).toEqual(['g2'])
  expect(await namesAt(ALL_GROUPS)).toEqual(['g1', 'g2'])
  expect(await namesAt(MACHINES)).toEqual(['m1'])
  expect(await namesAt(inOther(MACHINES))).toEqual(['m2'])
  expect(await namesAt(ALL_MACHINES)).toEqual(['m1', 'm2'])
})

test('a group lists the machines that name it, wherever they are in the subscription', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  await putReady(service, group('cluster2'), PLAIN_GROUP)
  await service.rest(`PUT ${inOther(machine('sql-3'))}`, MEMBER)
  await service.rest(`PUT ${machine('alone')}`, PLAIN)
  await service.rest(`PUT ${machine('other')}`, {
    ...PLAIN,
    properties: { sqlVirtualMachineGroupResourceId: `${GROUP_ID}2` },
  })

  const { status, body } = await service.rest(`GET ${MEMBERS}?${VERSION}`)
  const none = await service.rest(`GET ${GROUPS}/none/sqlVirtualMachines?${VERSION}`)

  expect(status).toBe(200)
  expect(namesOf({ body })).toEqual(['sql-1', 'sql-2', 'sql-3'])
  expect([none.status, none.body.error.code]).toEqual([404, 'ParentResourceNotFound'])
})

test('a group lists its listeners', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, group('cluster2'), PLAIN_GROUP)
  await service.rest(`PUT ${listener('back')}`, {})
  await service.rest(`PUT ${listener('front')}`, {})
  await service.rest(`PUT ${listener('other').replace('/cluster/', '/cluster2/')}`, {})

  const { status, body } = await service.rest(`GET ${LISTENERS}?${VERSION}`)

  expect(status).toBe(200)
  expect(namesOf({ body })).toEqual(['back', 'front'])
})

test('every list comes in pages, each resource once, and the last page has no link', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  for (const name of ['a', 'b', 'c']) {
    await service.rest(`PUT ${group(name)}`, PLAIN_GROUP)
    await service.rest(`PUT ${machine(name)}`, MEMBER)
    await service.rest(`PUT ${listener(name)}`, {})
  }

  for (const path of [MACHINES, ALL_MACHINES, MEMBERS, LISTENERS]) {
    expect(await pagesOf(service, `${path}?${VERSION}&$top=2`), path).toEqual([['a', 'b'], ['c']])
    expect(await pagesOf(service, `${path}?${VERSION}&$top=3`), path).toEqual([['a', 'b', 'c']])
  }
  for (const path of [GROUPS, ALL_GROUPS]) {
    expect(await pagesOf(service, `${path}?${VERSION}&$top=3`), path).toEqual([
      ['a', 'b', 'c'],
      ['cluster'],
    ])
  }
})

test('a nextLink is absolute and carries the version and the place; a foreign token is 400', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)

  const { body } = await service.rest(`GET ${MEMBERS}?${VERSION}&$top=1`)
  const link = new URL(body.nextLink)
  const token = link.searchParams.get('$skipToken')!
  const foreign = await service.rest(`GET ${MACHINES}?${VERSION}&$skipToken=${token}`)
  const damaged = await service.rest(`GET ${MEMBERS}?${VERSION}&$skipToken=x${token}`)

  expect(link.origin + link.pathname).toBe(`http://polygraph.test${MEMBERS}`)
  expect([...link.searchParams.keys()]).toEqual(['api-version', '$top', '$skipToken'])
  for (const { status, body } of [foreign, damaged]) {
    expect([status, body.error.target]).toEqual([400, '$skipToken'])
  }
})

test('lists of nothing are empty lists', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)

  for (const path of [MACHINES, ALL_MACHINES, MEMBERS, LISTENERS]) {
    expect((await service.rest(`GET ${path}?${VERSION}`)).body, path).toEqual({ value: [] })
  }
})

test('lists show machines without the settings that $expand would show', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await putReady(service, machine('sql-1'), {
    ...FULL,
    properties: { ...FULL.properties, ...MEMBER.properties },
  })
  const { body: one } = await service.rest(`GET ${machine('sql-1')}`)

  for (const path of [MACHINES, ALL_MACHINES, MEMBERS]) {
    expect((await service.rest(`GET ${path}?${VERSION}`)).body, path).toEqual({ value: [one] })
  }
})

test('the graph pages by top and skipToken', async () => {
  const service = await openForTest(subgraph)
  await putCluster(service)
  const query = `query ($token: String) { sqlVirtualMachinesOfGroup(${PLACE},
    sqlVirtualMachineGroupName: "cluster", top: 1, skipToken: $token) {
    value { name } nextLink skipToken } }`

  const { data: first } = await service.graphql(query)
  const { skipToken: token } = first.sqlVirtualMachinesOfGroup
  const { data: last } = await service.graphql(query, { token })

  expect(first.sqlVirtualMachinesOfGroup.value).toEqual([{ name: 'sql-1' }])
  expect(last.sqlVirtualMachinesOfGroup).toEqual({
    value: [{ name: 'sql-2' }],
    nextLink: null,
    skipToken: null,
  })
})
