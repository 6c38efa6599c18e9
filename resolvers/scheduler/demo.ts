// A collection with a daily job to look at, which runs a first time at once. Specification 3, service J.
import type { Context } from '../kernel/context.ts'
import { perform } from '../kernel/operation.ts'
import { operations as collectionOperations } from './job-collections.ts'
import { operations as jobOperations } from './jobs.ts'
import { operations as runOperations } from './runs.ts'

/** Puts a collection with a daily job into the caller's subscription, and returns their names. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'SUBSCRIPTION')
  if (!account) throw new Error('the demo caller owns no subscription')
  const named = (name: string) =>
    [...collectionOperations, ...jobOperations, ...runOperations].find(
      (operation) => operation.name === name,
    )!
  const names = { jobCollectionName: 'demo-jobs', jobName: 'daily-report' }
  const place = { subscriptionId: account.id, resourceGroupName: 'polygraph-demo', ...names }
  const jobCollection = {
    location: 'westus',
    tags: { environment: 'demo' },
    properties: { sku: { name: 'Standard' } },
  }
  await perform(named('putJobCollection'), { ...place, jobCollection }, ctx)
  const job = {
    properties: {
      action: {
        type: 'Https',
        request: { method: 'GET', uri: 'https://example.com/report' },
        retryPolicy: { retryType: 'None' },
      },
      recurrence: { frequency: 'Day', interval: 1, schedule: { hours: [6], minutes: [0] } },
    },
  }
  await perform(named('putSchedulerJob'), { ...place, job }, ctx)
  await perform(named('runSchedulerJob'), place, ctx)
  return names
}
