// The demo of SQL virtual machines.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { openForTest } from '../open.ts'
import { people, SUBSCRIPTION } from '../people.ts'

const MADE = { sqlVirtualMachineGroupName: 'demo-cluster', sqlVirtualMachineName: 'demo-sql' }

test('the demo puts a machine in a group into the subscription, once, and names both', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const first = await subgraph.demo!(ctx)
  const again = await subgraph.demo!(ctx)
  await service.advance(1_000)

  expect(first).toEqual(MADE)
  expect(again).toEqual(MADE)
  const { data } = await service.graphql(`{
    sqlVirtualMachines(subscriptionId: "${SUBSCRIPTION}") {
      value { name properties { provisioningState } group { name properties { provisioningState } } } } }`)
  expect(data.sqlVirtualMachines.value).toEqual([
    {
      name: 'demo-sql',
      properties: { provisioningState: 'Succeeded' },
      group: { name: 'demo-cluster', properties: { provisioningState: 'Succeeded' } },
    },
  ])
})
