// What the demo shows of stores.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest } from '../open.ts'
import { people, SUBSCRIPTION } from '../people.ts'
import { ALL, AREA, READY_MS, VERSION } from './stores.ts'

test('the demo puts one store with four key-values, once and again', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const first = await subgraph.demo!(ctx)
  const again = await subgraph.demo!(ctx)
  await service.advance(READY_MS)

  expect(first).toEqual({ configStoreName: 'demo-config' })
  expect(again).toEqual({ configStoreName: 'demo-config' })
  const { body } = await service.rest(`GET ${ALL}?${VERSION}`)
  expect(body.value).toHaveLength(1)
  expect(body.value[0].properties.provisioningState).toBe('Succeeded')
  const id = `/subscriptions/${SUBSCRIPTION}/resourceGroups/polygraph-demo/${AREA}/configurationStores/demo-config`
  const { data } = await service.graphql(
    `{ configKeyValues(configStoreId: "${id}") { nodes { key label value } } }`,
  )
  expect(data.configKeyValues.nodes).toEqual([
    {
      key: '.appconfig.featureflag/gift-wrapping',
      label: null,
      value: '{"id":"gift-wrapping","enabled":true,"conditions":{"client_filters":[]}}',
    },
    { key: 'shop/currency', label: null, value: 'EUR' },
    { key: 'shop/currency', label: 'uk', value: 'GBP' },
    { key: 'shop/title', label: null, value: 'Polygraph Shop' },
  ])
})
