// Instances of API management, which the graph alone makes.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/diagnostics.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { match, one, openWithApi, PLACE, PLAIN, SERVICE } from './apis.ts'

const put = (more = '') =>
  `mutation { putApiManagementService(${PLACE}${more}) { id name type location } }`
const remove = `mutation { deleteApiManagementService(${PLACE}) }`

test('an instance is put with a subscription, a group and a name, and read back', async () => {
  const service = await openForTest(subgraph)

  const made = await service.graphql(put())
  const read = await service.graphql(`{ apiManagementService(${PLACE}) { id name type location } }`)

  const shown = { id: SERVICE, name: 'shop', type: 'Vendor.ApiManagement/service', location: null }
  expect(made).toEqual({ data: { putApiManagementService: shown } })
  expect(read).toEqual({ data: { apiManagementService: shown } })
})

test('an instance keeps its location, which cannot be changed', async () => {
  const service = await openForTest(subgraph)
  await service.graphql(put(', location: "westus"'))

  const again = await service.graphql(put())
  const moved = await service.graphql(put(', location: "eastus"'))

  expect(again.data.putApiManagementService.location).toBe('westus')
  expect(moved.errors?.[0].extensions).toMatchObject({
    code: 'InvalidResourceLocation',
    status: 409,
  })
})

test('an instance that has diagnostics is not removed, and an empty one is', async () => {
  const service = await openWithApi()
  await service.rest(`PUT ${one('monitor')}`, PLAIN)

  const refused = await service.graphql(remove)
  await service.rest(`DELETE ${one('monitor')}`, undefined, match())
  const removed = await service.graphql(remove)
  const again = await service.graphql(remove)

  expect(refused.errors?.[0]).toMatchObject({
    message: 'shop has diagnostics, of which monitor is one. Delete them before it.',
    extensions: { code: 'CannotDeleteResource', status: 409 },
  })
  expect(removed).toEqual({ data: { deleteApiManagementService: true } })
  expect(again).toEqual({ data: { deleteApiManagementService: true } })
  expect((await service.rest(`PUT ${one('monitor')}`, PLAIN)).status).toBe(404)
})

test('the instances of a subscription are listed as a connection', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['ada', 'bob', 'cyd']) {
    await service.graphql(put().replace('"shop"', `"${name}"`))
  }
  const query = `query ($after: String) { apiManagementServices(
    subscriptionId: "${SUBSCRIPTION}", first: 2, after: $after) {
    nodes { name } pageInfo { hasNextPage endCursor } } }`

  const { data: first } = await service.graphql(query)
  const { endCursor } = first.apiManagementServices.pageInfo
  const { data: last } = await service.graphql(query, { after: endCursor })

  expect(first.apiManagementServices.nodes).toEqual([{ name: 'ada' }, { name: 'bob' }])
  expect(last.apiManagementServices.nodes).toEqual([{ name: 'cyd' }])
  expect(last.apiManagementServices.pageInfo.hasNextPage).toBe(false)
})

test("another's subscription holds no instances that one could see, make or remove", async () => {
  const service = await openWithApi()
  const asBob = { credential: 'bob' } as const

  const answers = [
    await service.graphql(put(), {}, asBob),
    await service.graphql(remove, {}, asBob),
    await service.graphql(`{ apiManagementService(${PLACE}) { id } }`, {}, asBob),
    await service.graphql(
      `{ apiManagementServices(subscriptionId: "${OTHER_SUBSCRIPTION}") { nodes { id } } }`,
    ),
  ]

  for (const { errors } of answers) {
    expect(errors?.[0].extensions).toMatchObject({ code: 'SubscriptionNotFound', status: 404 })
  }
  expect((await service.rest(`PUT ${one('monitor')}`, PLAIN)).status).toBe(201)
})

test('an instance that is not there is not shown', async () => {
  const service = await openForTest(subgraph)

  const { errors } = await service.graphql(`{ apiManagementService(${PLACE}) { id } }`)

  expect(errors?.[0].extensions).toMatchObject({ code: 'ResourceNotFound', status: 404 })
})
