// Two people who use hsm never learn of each other.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { byIdInputs, checkIsolation, seedOf } from '../management-isolation.ts'

const MODULES = '/resourceGroups/Vaults/providers/Vendor.HardwareSecurityModules/dedicatedHSMs'
const module = {
  location: 'westus',
  sku: { name: 'Vendor Network HSM A790' },
  tags: { mark: '{mark}' },
  properties: {},
}

test('400 random requests show nobody what is in another subscription, and change nothing there', async () => {
  const { foreign, own } = await checkIsolation({
    subgraph,
    inputs: {
      resourceGroupName: ['Vaults', 'VAULTS'],
      name: ['first', 'Second'],
      parameters: [module],
      'patchDedicatedHsm.parameters': [{ tags: { mark: '{mark}' } }],
      location: ['westus'],
      operationId: ['none'],
      $top: [1, 50],
      ...byIdInputs(`/subscriptions/{subscriptionId}${MODULES}/first`),
    },
    references: {
      DedicatedHsm: [`/subscriptions/{subscriptionId}${MODULES}/first`],
      CloudAccount: ['{subscriptionId}'],
    },
    list: MODULES,
    tries: 400,
    seed: seedOf('isolation of hsm'),
  })

  expect(foreign).toBeGreaterThan(130)
  // Had nobody made or seen anything, the silence would prove nothing.
  expect(own).toBeGreaterThan(3)
})
