// One module to look at. Specification 3, service H.
import type { Context } from '../kernel/context.ts'
import { perform } from '../kernel/operation.ts'
import { operations } from './dedicated-hsms.ts'

/** Puts a module into the caller's subscription and returns its name. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'SUBSCRIPTION')
  if (!account) throw new Error('the demo caller owns no subscription')
  const put = operations.find(({ name }) => name === 'putDedicatedHsm')!
  const place = { subscriptionId: account.id, resourceGroupName: 'polygraph-demo' }
  const network = `/subscriptions/${account.id}/resourceGroups/polygraph-demo/providers/Vendor.Network/virtualNetworks/demo`
  const parameters = {
    location: 'westus',
    sku: { name: 'Vendor Network HSM A790' },
    tags: { environment: 'demo' },
    properties: {
      stampId: 'stamp1',
      networkProfile: {
        subnet: { id: `${network}/subnets/hsm` },
        networkInterfaces: [{ privateIpAddress: '10.0.2.4' }],
      },
    },
  }
  await perform(put, { ...place, name: 'demo-hsm', parameters }, ctx)
  return { hsmName: 'demo-hsm' }
}
