// A group with a machine to look at. Specification 3, service V.
import type { Context } from '../kernel/context.ts'
import { perform } from '../kernel/operation.ts'
import { operations as onGroups } from './groups.ts'
import { operations as onMachines } from './machines.ts'

/** Puts a group and a machine in it into the caller's subscription and returns their names. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'SUBSCRIPTION')
  if (!account) throw new Error('the demo caller owns no subscription')
  const at = { subscriptionId: account.id, resourceGroupName: 'polygraph-demo' }
  const resources = `/subscriptions/${account.id}/resourceGroups/polygraph-demo/providers`
  const made = { sqlVirtualMachineGroupName: 'demo-cluster', sqlVirtualMachineName: 'demo-sql' }
  const group = {
    location: 'westus',
    tags: { environment: 'demo' },
    properties: {
      sqlImageOffer: 'SQL2017-WS2016',
      sqlImageSku: 'Enterprise',
      wsfcDomainProfile: { domainFqdn: 'demo.example', sqlServiceAccount: 'sql@demo.example' },
    },
  }
  const machine = {
    location: 'westus',
    tags: { environment: 'demo' },
    properties: {
      virtualMachineResourceId: `${resources}/Vendor.Compute/virtualMachines/demo-sql`,
      sqlVirtualMachineGroupResourceId: `${resources}/Vendor.SqlVirtualMachine/sqlVirtualMachineGroups/demo-cluster`,
      sqlImageOffer: 'SQL2017-WS2016',
      sqlImageSku: 'Enterprise',
      sqlServerLicenseType: 'PAYG',
      sqlManagement: 'Full',
      autoPatchingSettings: {
        enable: true,
        dayOfWeek: 'Sunday',
        maintenanceWindowStartingHour: 2,
        maintenanceWindowDuration: 60,
      },
    },
  }
  await ask('putSqlVirtualMachineGroup', { ...at, ...made, parameters: group }, ctx)
  await ask('putSqlVirtualMachine', { ...at, ...made, parameters: machine }, ctx)
  return made
}

const ask = (name: string, sent: object, ctx: Context) =>
  perform(
    [...onGroups, ...onMachines].find((operation) => operation.name === name)!,
    sent,
    ctx,
  )
