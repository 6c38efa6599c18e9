import { expect, test } from 'vitest'
import { subgraph as configStore } from '../../subgraphs/config-store.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { subgraph as scheduler } from '../../subgraphs/scheduler.ts'
import { subgraph as sqlDb } from '../../subgraphs/sql-db.ts'
import { subgraph as sqlVm } from '../../subgraphs/sql-vm.ts'
import { openGraphForTest } from '../open-graph.ts'
import { people } from '../people.ts'

test("the demo is a group of what the other services' demos made", async () => {
  const services = [configStore, hsm, scheduler, sqlDb, sqlVm, subgraph]
  const graph = await openGraphForTest(services)
  for (const { name, demo } of services) {
    const { opened } = graph.service(name)
    await demo!(opened.contextFor(people.alice, { address: '', headers: {} }))
  }

  const { data } = await graph.ask(`{ resourceGroup(group: "demo-resources") {
    description tags resources { nodes { resourceType } } } }`)

  const { resources, ...about } = data.resourceGroup
  expect(about).toEqual({
    description: 'Everything that is tagged as being of the demo',
    tags: { environment: 'demo' },
  })
  const types = resources.nodes.map(({ resourceType }: any) => resourceType)
  expect([...new Set(types)].toSorted()).toEqual([
    'AWS::Polygraph::ConfigStore',
    'AWS::Polygraph::DedicatedHsm',
    'AWS::Polygraph::JobCollection',
    'AWS::Polygraph::SqlDatabase',
    'AWS::Polygraph::SqlVirtualMachine',
    'AWS::Polygraph::SqlVirtualMachineGroup',
  ])
})
