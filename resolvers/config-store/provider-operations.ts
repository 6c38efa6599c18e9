// What can be done with stores, for those who write permissions. Specification 3, service C.
import { openToken } from '../families/arm-lists.ts'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { AREA } from './records.ts'
import { operationListAnswer } from './shapes.ts'

const PATH = `/providers/${AREA}/operations`

const NAMES = 'Names of stores'
const STORES = 'Configuration stores'
const CONNECTIONS = 'Private endpoint connections'
const LINKS = 'Private link resources'

const ROWS: readonly [name: string, resource: string, operation: string, description: string][] = [
  ['checkNameAvailability/action', NAMES, 'Check a name', 'Tells whether a name is free.'],
  ['configurationStores/read', STORES, 'Read stores', 'Reads one store or lists several.'],
  ['configurationStores/write', STORES, 'Write a store', 'Creates a store or changes it.'],
  ['configurationStores/delete', STORES, 'Delete a store', 'Deletes a store with its contents.'],
  ['configurationStores/ListKeys/action', STORES, 'List keys', 'Lists the access keys of a store.'],
  ['configurationStores/RegenerateKey/action', STORES, 'Regenerate a key', 'Renews an access key.'],
  ['configurationStores/listKeyValue/action', STORES, 'Read a key-value', 'Reads one key-value.'],
  [
    'configurationStores/privateEndpointConnections/read',
    CONNECTIONS,
    'Read connections',
    'Reads one connection or lists several.',
  ],
  [
    'configurationStores/privateEndpointConnections/write',
    CONNECTIONS,
    'Write a connection',
    'Creates, approves, rejects or disconnects a connection.',
  ],
  [
    'configurationStores/privateEndpointConnections/delete',
    CONNECTIONS,
    'Delete a connection',
    'Deletes a connection.',
  ],
  [
    'configurationStores/privateLinkResources/read',
    LINKS,
    'Read link resources',
    'Reads what private endpoints can connect to.',
  ],
]

export const operations = [
  operation({
    name: 'configStoreOperations',
    rest: get(PATH, { answer: operationListAnswer }),
    input: { $skipToken: optional(text) },
    async run({ $skipToken }, ctx: Context) {
      // All fit on one page, so that no token is of this list.
      if ($skipToken !== undefined) openToken(ctx, PATH, $skipToken)
      return {
        value: ROWS.map(([name, resource, operation, description]) => ({
          name: `${AREA}/${name}`,
          display: { provider: AREA, resource, operation, description },
        })),
      }
    },
  }),
]
