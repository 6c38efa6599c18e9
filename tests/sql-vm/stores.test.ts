// The whole life of a cluster, on both stores.
import { describe, expect, test } from 'vitest'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest } from '../open.ts'
import {
  FULL_LISTENER,
  GONE_MS,
  group,
  GROUP_ID,
  listener,
  machine,
  MEMBER,
  PLACE,
  putCluster,
  putReady,
  VERSION,
} from './cluster.ts'

describe.each(engines)('on $engine', ({ database }) => {
  test('a cluster is made, listed, joined, guarded and taken apart', async () => {
    const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
    const service = await openForTest(subgraph, { store })
    await putCluster(service)
    await putReady(service, listener('front'), FULL_LISTENER)

    const page = await service.rest(`GET ${GROUP_ID}/sqlVirtualMachines?${VERSION}&$top=1`)
    const joined = await service.graphql(`{ sqlVirtualMachineGroup(${PLACE},
      sqlVirtualMachineGroupName: "cluster") { machines { nodes { name group { name } } }
      listeners(first: 1) { nodes { properties { loadBalancerConfigurations { machines { name } } } } } } }`)
    const refused = [
      await service.rest(`DELETE ${group('cluster')}`),
      await service.rest(`DELETE ${machine('sql-1')}`),
    ]
    const removed = [await service.rest(`DELETE ${listener('front')}`)]
    await service.advance(GONE_MS)
    for (const name of ['sql-1', 'sql-2']) {
      removed.push(await service.rest(`DELETE ${machine(name)}`))
    }
    await service.advance(GONE_MS)
    removed.push(await service.rest(`DELETE ${group('cluster')}`))
    await service.advance(GONE_MS)
    const late = await service.rest(`PUT ${machine('sql-1')}`, MEMBER)

    expect(page.body.value).toHaveLength(1)
    expect(page.body.nextLink).toContain('$skipToken=')
    const members = [{ name: 'sql-1' }, { name: 'sql-2' }]
    expect(joined.data.sqlVirtualMachineGroup).toEqual({
      machines: { nodes: members.map((it) => ({ ...it, group: { name: 'cluster' } })) },
      listeners: {
        nodes: [{ properties: { loadBalancerConfigurations: [{ machines: members }] } }],
      },
    })
    expect(refused.map(({ status }) => status)).toEqual([409, 409])
    expect(removed.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect([late.status, late.body.error.code]).toEqual([400, 'InvalidResourceReference'])
    expect(service.mistakes).toEqual([])
  })
})
