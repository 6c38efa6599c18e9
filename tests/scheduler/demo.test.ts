// What the demo makes.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { openForTest } from '../open.ts'
import { people, SUBSCRIPTION } from '../people.ts'

test('the demo puts a collection with a daily job, and returns their names', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const names = await subgraph.demo!(ctx)

  expect(names).toEqual({ jobCollectionName: 'demo-jobs', jobName: 'daily-report' })
  const { data } = await service.graphql(`{ schedulerJob(subscriptionId: "${SUBSCRIPTION}",
    resourceGroupName: "polygraph-demo", jobCollectionName: "demo-jobs", jobName: "daily-report") {
    properties { state status { nextExecutionTime } } } }`)
  expect(data.schedulerJob.properties).toEqual({
    state: 'Enabled',
    status: { nextExecutionTime: '2030-01-01T06:00:00.000Z' },
  })
})
