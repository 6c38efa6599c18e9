// The life of a store on both engines.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest } from '../open.ts'
import {
  action,
  asProgram,
  ENDPOINT,
  GONE_MS,
  idOf,
  keysOf,
  one,
  PLAIN,
  putReady,
  READY_MS,
  set,
  VERSION,
} from './stores.ts'

test.each(engines)('a store lives, serves and goes on $engine', async ({ database }) => {
  const { open } = await database()
  const store = await open(kindsOf(subgraph), migrationsOf(subgraph))
  const service = await openForTest(subgraph, { store })
  const connection = `${idOf('shop-1')}/privateEndpointConnections/entry?${VERSION}`
  const query = `{ configKeyValues(configStoreId: "${idOf('shop-1')}", key: "app/*", label: "u*") {
    nodes { key label value } }
    keyValueRevisions(configStoreId: "${idOf('shop-1')}", key: "app/ö") { nodes { value } } }`

  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'app/ö', value: '1' })
  await set(service, 'shop-1', { key: 'app/ö', value: '2' })
  await set(service, 'shop-1', { key: 'app/ö', label: 'uk', value: '3' })
  await set(service, 'shop-1', { key: 'app/A', label: 'us', value: '4' })
  await set(service, 'shop-1', { key: 'zoo', label: 'uk', value: '5' })
  const found = await service.graphql(query)
  await service.rest(`PUT ${connection}`, {
    properties: {
      privateEndpoint: { id: ENDPOINT },
      privateLinkServiceConnectionState: { status: 'Approved' },
    },
  })
  await service.advance(READY_MS)
  const [key, second] = await keysOf(service, 'shop-1')
  await service.rest(`POST ${action('shop-1', 'RegenerateKey')}`, { id: second!.id })
  const read = await asProgram(service, 'GET /kv?label=%00', key!)
  const refused = await asProgram(service, 'GET /kv', second!)
  const changed = await service.rest(`PATCH ${one('shop-1')}`, {
    identity: { type: 'SystemAssigned' },
  })
  const races = await Promise.all(
    ['Apps', 'Other'].map((group) =>
      service.rest(`PUT ${one('shop-2').replace('/Apps/', `/${group}/`)}`, PLAIN),
    ),
  )
  const removal = await service.rest(`DELETE ${one('shop-1')}`)
  await service.advance(GONE_MS)
  const again = await service.rest(`PUT ${one('shop-1')}`, PLAIN)
  const empty = await service.graphql(query)

  expect(found).toEqual({
    data: {
      configKeyValues: {
        nodes: [
          { key: 'app/A', label: 'us', value: '4' },
          { key: 'app/ö', label: 'uk', value: '3' },
        ],
      },
      keyValueRevisions: { nodes: [{ value: '2' }, { value: '1' }] },
    },
  })
  expect(read.body.items.map(({ value }: { value: string }) => value)).toEqual(['2'])
  expect([refused.status, changed.status, removal.status, again.status]).toEqual([
    401, 201, 202, 201,
  ])
  expect(races.map(({ status }) => status).sort()).toEqual([201, 409])
  expect(empty.data).toEqual({ configKeyValues: { nodes: [] }, keyValueRevisions: { nodes: [] } })
  expect(service.mistakes).toEqual([])
})
