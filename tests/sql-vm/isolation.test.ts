// Two people who use SQL virtual machines never learn of each other.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-vm.ts'
import { byIdInputs, checkIsolation, seedOf } from '../management-isolation.ts'

const AREA = 'providers/Vendor.SqlVirtualMachine'
const PLACE = `/subscriptions/{subscriptionId}/resourceGroups/Data/${AREA}`
const GROUPS = ['cluster', 'side'].map((name) => `${PLACE}/sqlVirtualMachineGroups/${name}`)
const MACHINES = ['sql-1', 'sql-2'].map((name) => `${PLACE}/sqlVirtualMachines/${name}`)
const TAGGED = { location: 'westus', tags: { mark: '{mark}' } }

test('500 random requests show nobody what is in another subscription, and change nothing there', async () => {
  const { foreign, own } = await checkIsolation({
    subgraph,
    inputs: {
      resourceGroupName: ['Data', 'data'],
      sqlVirtualMachineGroupName: ['cluster', 'Side'],
      sqlVirtualMachineName: ['sql-1', 'Sql-2'],
      availabilityGroupListenerName: ['front', 'Back'],
      parameters: [{ tags: { mark: '{mark}', more: 'yes' } }],
      'putSqlVirtualMachineGroup.parameters': [
        TAGGED,
        { ...TAGGED, properties: { sqlImageOffer: '{mark}' } },
      ],
      'putSqlVirtualMachine.parameters': [
        TAGGED,
        ...GROUPS.map((id) => ({
          ...TAGGED,
          properties: { sqlVirtualMachineGroupResourceId: id },
        })),
      ],
      'putAvailabilityGroupListener.parameters': [
        { properties: { availabilityGroupName: '{mark}' } },
        ...MACHINES.map((id) => ({
          properties: {
            availabilityGroupName: '{mark}',
            loadBalancerConfigurations: [{ sqlVirtualMachineInstances: [id] }],
          },
        })),
      ],
      $expand: ['*'],
      $top: [1, 50],
      location: ['westus', 'global'],
      operationId: ['none'],
      ...byIdInputs(...GROUPS, ...MACHINES),
    },
    references: {
      SqlVirtualMachine: MACHINES,
      SqlVirtualMachineGroup: GROUPS,
      CloudAccount: ['{subscriptionId}'],
    },
    list: `/${AREA}/sqlVirtualMachines`,
    tries: 500,
    seed: seedOf('isolation of SQL virtual machines'),
  })

  expect(foreign).toBeGreaterThan(170)
  // Had nobody made or seen anything, the silence would prove nothing.
  expect(own).toBeGreaterThan(40)
})
