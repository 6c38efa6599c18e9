// Two people who use diagnostics never learn of each other.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/diagnostics.ts'
import { byIdInputs, checkIsolation, seedOf } from '../management-isolation.ts'

const SERVICE = '/resourceGroups/Web/providers/Vendor.ApiManagement/service/shop'
const DIAGNOSTICS = `/subscriptions/{subscriptionId}${SERVICE}/diagnostics`

test('400 random requests show nobody what is in another subscription, and change nothing there', async () => {
  const { foreign, own } = await checkIsolation({
    subgraph,
    inputs: {
      resourceGroupName: ['Web', 'WEB'],
      serviceName: ['shop', 'Shop'],
      diagnosticId: ['monitor', 'Local'],
      location: ['westus'],
      parameters: [
        { properties: { loggerId: '/loggers/{mark}' } },
        { properties: { loggerId: '/loggers/{mark}', verbosity: 'error' } },
      ],
      'patchApiDiagnostic.If-Match': ['*'],
      'deleteApiDiagnostic.If-Match': ['*'],
      $filter: ["name ne 'x'", "startswith(name,'m') or contains(name,'o')"],
      $top: [1, 50],
      ...byIdInputs(`${DIAGNOSTICS}/monitor`, `${DIAGNOSTICS}/local`),
    },
    references: {
      ApiDiagnostic: [`${DIAGNOSTICS}/monitor`, `${DIAGNOSTICS}/local`],
      CloudAccount: ['{subscriptionId}'],
    },
    list: `${SERVICE}/diagnostics`,
    listStatus: [200, 404],
    tries: 400,
    seed: seedOf('isolation of diagnostics'),
  })

  expect(foreign).toBeGreaterThan(130)
  // Had nobody made or seen anything, the silence would prove nothing.
  expect(own).toBeGreaterThan(3)
})
