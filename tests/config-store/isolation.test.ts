// Two people who try everything on each other's stores.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { byIdInputs, checkIsolation, seedOf } from '../management-isolation.ts'

const AREA = 'providers/Vendor.AppConfiguration'
const GROUPS = ['Apps']
// Both want the same names, of which each has one owner at a time.
const NAMES = ['store-1', 'store-2', 'store-3', 'store-4']
const IDS = GROUPS.flatMap((group) =>
  NAMES.map(
    (name) =>
      `/subscriptions/{subscriptionId}/resourceGroups/${group}/${AREA}/configurationStores/${name}`,
  ),
)
const STORE = { location: 'westus', sku: { name: 'Standard' }, tags: { mark: '{mark}' } }
const ENDPOINT =
  '/subscriptions/{subscriptionId}/resourceGroups/Apps/providers/Vendor.Network/privateEndpoints'
const connection = (status: string, name: string) => ({
  properties: {
    privateEndpoint: { id: `${ENDPOINT}/${name}` },
    privateLinkServiceConnectionState: { status, description: '{mark}' },
  },
})

test('neither sees or changes what is in the other’s subscription, whatever they try', async () => {
  const { foreign, own } = await checkIsolation({
    subgraph,
    inputs: {
      resourceGroupName: GROUPS,
      configStoreName: NAMES,
      configStoreId: IDS,
      configStoreCreationParameters: [STORE, { ...STORE, identity: { type: 'SystemAssigned' } }],
      configStoreUpdateParameters: [
        { tags: { mark: '{mark}', more: 'yes' } },
        { identity: { type: 'SystemAssigned' } },
      ],
      checkNameAvailabilityParameters: NAMES.map((name) => ({
        name,
        type: 'Vendor.AppConfiguration/configurationStores',
      })),
      regenerateKeyParameters: [{ id: 'none' }],
      listKeyValueParameters: [{ key: 'colour' }, { key: 'size', label: 'uk' }],
      key: ['colour', 'size'],
      value: ['{mark}'],
      label: ['uk', ''],
      privateEndpointConnectionName: ['entry', 'exit'],
      privateEndpointConnection: [
        connection('Pending', 'a'),
        connection('Approved', 'a'),
        connection('Rejected', 'b'),
      ],
      groupName: ['configurationStores'],
      location: ['westus'],
      operationId: ['none'],
      ...byIdInputs(...IDS),
    },
    references: { ConfigStore: IDS, CloudAccount: ['{subscriptionId}'] },
    list: `/${AREA}/configurationStores`,
    tries: 600,
    seed: seedOf('isolation of configuration stores'),
  })

  expect(foreign).toBeGreaterThan(200)
  // Had nobody made or seen anything, the silence would prove nothing.
  expect(own).toBeGreaterThan(10)
})
