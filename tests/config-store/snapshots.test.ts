// Stores that are taken as a whole and put back.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest, type TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { askPart, refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'
import {
  asProgram,
  ENDPOINT,
  GONE_MS,
  idOf,
  keysNamed,
  keysOf,
  one,
  PLAIN,
  putReady,
  READY_MS,
  set,
  setMany,
  VERSION,
} from './stores.ts'

const type = 'ConfigStore'
const id = idOf('shop-1')

const FULL = {
  ...PLAIN,
  tags: { team: 'apps' },
  identity: { type: 'SystemAssigned' },
}

async function make(service: TestService) {
  await putReady(service, 'shop-1', FULL)
  await set(service, 'shop-1', { key: 'colour', value: 'red', contentType: 'text/plain' })
  await set(service, 'shop-1', { key: 'colour', label: 'uk', value: 'röd', tags: { a: 'b' } })
  await service.graphql(`mutation { lockKeyValue(configStoreId: "${id}", key: "colour") { eTag } }`)
  await service.rest(`PUT ${id}/privateEndpointConnections/entry?${VERSION}`, {
    properties: {
      privateEndpoint: { id: ENDPOINT },
      privateLinkServiceConnectionState: { status: 'Approved' },
    },
  })
  await service.advance(READY_MS)
}

async function remove(service: TestService, gone: string) {
  await service.rest(`DELETE ${gone}?${VERSION}`)
  await service.advance(GONE_MS)
}

snapshotCases({
  type,
  open: () => openForTest(subgraph),
  make,
  remove,
  id,
  vacantId: idOf('shop-2'),
  foreignId: id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION),
  shown: `location tags sku { name } identity { type } properties { provisioningState }
    keyValues { nodes { key label value contentType tags locked lastModified eTag } }`,
  readyMs: READY_MS,
  announces: 'config-store.store',
})

test('programs go on with the keys that they hold, and connections are as they were', async () => {
  const service = await openForTest(subgraph)
  await make(service)
  const before = await keysOf(service, 'shop-1')
  const { principalId } = (await service.rest(`GET ${one('shop-1')}`)).body.identity
  const { bytes } = await take(service, type, id)
  await remove(service, id)

  await restore(service, { type, id, bytes })
  await service.advance(READY_MS)

  expect(await keysOf(service, 'shop-1')).toEqual(before)
  expect((await service.rest(`GET ${one('shop-1')}`)).body.identity.principalId).toBe(principalId)
  const read = await asProgram(service, 'GET /kv/colour?label=uk', before[0]!)
  expect(read.body).toMatchObject({ key: 'colour', label: 'uk', value: 'röd' })
  const connection = await service.rest(`GET ${id}/privateEndpointConnections/entry?${VERSION}`)
  expect(connection.body.properties).toMatchObject({
    provisioningState: 'Succeeded',
    privateEndpoint: { id: ENDPOINT },
    privateLinkServiceConnectionState: { status: 'Approved' },
  })
})

test('a copy has keys and an identity of its own, and secrets leave the service sealed', async () => {
  const service = await openForTest(subgraph)
  await make(service)
  const keys = await keysOf(service, 'shop-1')
  const { bytes } = await take(service, type, id)

  await restore(service, { type, id: idOf('shop-2'), bytes })
  await service.advance(READY_MS)

  const copied = await keysOf(service, 'shop-2')
  expect(copied).toHaveLength(4)
  for (const { id, value } of keys) {
    expect(bytes.includes(value)).toBe(false)
    expect(copied.some((key) => key.id === id || key.value === value)).toBe(false)
  }
  const first = (await service.rest(`GET ${one('shop-1')}`)).body.identity
  const second = (await service.rest(`GET ${one('shop-2')}`)).body.identity
  expect(second.type).toBe('SystemAssigned')
  expect(second.principalId).not.toBe(first.principalId)
})

test('a store that was put back can be changed, and its history begins anew', async () => {
  const service = await openForTest(subgraph)
  await make(service)
  const { bytes } = await take(service, type, id)
  await remove(service, id)
  await restore(service, { type, id, bytes })

  await set(service, 'shop-1', { key: 'colour', label: 'uk', value: 'blue' })

  const { data } = await service.graphql(
    `{ keyValueRevisions(configStoreId: "${id}", key: "colour", label: "uk") { nodes { value } } }`,
  )
  expect(data.keyValueRevisions.nodes).toEqual([{ value: 'blue' }])
})

test('a name that is in use elsewhere, or a second Free store, is refused clearly', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'free-1', { location: 'westus', sku: { name: 'Free' } })
  const { bytes } = await take(service, type, idOf('free-1'))

  const second = await restorePart(service, { type, id: idOf('free-2'), bytes })
  const elsewhere = idOf('free-1').replace('/Apps/', '/Other/')
  const taken = await restorePart(service, { type, id: elsewhere, bytes })

  expect(refusalOf(second)).toEqual([409, 'QuotaExceeded'])
  expect(refusalOf(taken)).toEqual([409, 'NameUnavailable'])
})

test.each(engines)(
  'what is taken in parts is of one moment, and is put back on $engine',
  async ({ database }) => {
    const { open } = await database()
    const store = await open(kindsOf(subgraph), migrationsOf(subgraph))
    const service = await openForTest(subgraph, { store })
    await putReady(service, 'shop-1')
    await setMany(service, 'shop-1', keysNamed('k', 100))
    for (let n = 0; n < 60; n += 1) {
      await set(service, 'shop-1', { key: `large${n}`, value: 'x'.repeat(9_000) })
    }
    const first = await askPart(service, type, { id })
    const { sha256, parts } = first.data.taken
    await set(service, 'shop-1', { key: 'k0000', value: 'changed meanwhile' })
    const rest = await askPart(service, type, { id, part: 1, sha256 })
    const bytes = Buffer.concat(
      [first, rest].map(({ data }) => Buffer.from(data.taken.bytes, 'base64')),
    )
    await remove(service, id)

    const second = await restorePart(service, { type, id, bytes, part: 1 })
    const whole = await restorePart(service, { type, id, bytes, part: 0 })
    await service.advance(READY_MS)

    expect(parts).toBe(2)
    expect(second.data.put).toEqual({ id, isWhole: false, sha256 })
    expect(whole.data.put).toEqual({ id, isWhole: true, sha256 })
    const { data } = await service.graphql(
      `{ configKeyValues(configStoreId: "${id}", key: "k0000") { nodes { value } } }`,
    )
    expect(data.configKeyValues.nodes).toEqual([{ value: 'v' }])
    expect((await take(service, type, id)).sha256).toBe(sha256)
  },
)
