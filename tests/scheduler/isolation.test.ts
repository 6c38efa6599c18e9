// Two people who use the scheduler never learn of each other.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { byIdInputs, checkIsolation, seedOf } from '../management-isolation.ts'

const COLLECTION =
  '/subscriptions/{subscriptionId}/resourceGroups/Ops/providers/Vendor.Scheduler/jobCollections/main'
const action = { type: 'Https', request: { uri: 'https://hooks.example/{mark}' } }

test('300 random requests show nobody what is in another subscription, and change nothing there', async () => {
  const counts = await checkIsolation({
    subgraph,
    inputs: {
      resourceGroupName: ['Ops', 'ops'],
      jobCollectionName: ['main', 'Side'],
      jobName: ['daily', 'Once'],
      jobCollection: [
        { location: 'westus', tags: { owner: '{mark}' } },
        { tags: { owner: '{mark}' }, properties: { state: 'Disabled' } },
      ],
      job: [
        { properties: { action } },
        { properties: { action, recurrence: { frequency: 'Minute', interval: 1 } } },
      ],
      location: ['westus'],
      operationId: ['0196d0a0-0000-7000-8000-000000000000'],
      ...byIdInputs(COLLECTION, `${COLLECTION}/jobs/daily`),
    },
    references: {
      JobCollection: [
        COLLECTION,
        COLLECTION.toUpperCase().replace('{SUBSCRIPTIONID}', '{subscriptionId}'),
      ],
      SchedulerJob: [`${COLLECTION}/jobs/daily`, `${COLLECTION}/jobs/once`],
      CloudAccount: ['{subscriptionId}'],
    },
    list: '/providers/Vendor.Scheduler/jobCollections',
    tries: 300,
    seed: seedOf('scheduler isolation'),
  })

  expect(counts.foreign).toBeGreaterThan(90)
  expect(counts.own).toBeGreaterThan(15)
})
