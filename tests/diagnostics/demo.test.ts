// The demo of diagnostics.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/diagnostics.ts'
import { openForTest } from '../open.ts'
import { people, SUBSCRIPTION } from '../people.ts'

test('the demo puts a service with a diagnostic into the subscription and names the service', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const made = await subgraph.demo!(ctx)

  expect(made).toEqual({ serviceName: 'polygraph-demo-api' })
  const { status, body } = await service.rest(
    `GET /subscriptions/${SUBSCRIPTION}/resourceGroups/polygraph-demo/providers/Vendor.ApiManagement/service/polygraph-demo-api/diagnostics?api-version=2019-12-01-preview`,
  )
  expect(status).toBe(200)
  expect(body.value.map(({ name }: { name: string }) => name)).toEqual(['monitor'])
})

test('the demo can be made again', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  await subgraph.demo!(ctx)

  expect(await subgraph.demo!(ctx)).toEqual({ serviceName: 'polygraph-demo-api' })
})
