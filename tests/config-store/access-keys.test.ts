// Access keys: listed, regenerated, and kept sealed.
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'
import { action, asProgram, keysOf, one, PLAIN, putReady, set } from './stores.ts'

test('a ready store has four keys: two to write and two to read', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')

  const { status, body } = await service.rest(`POST ${action('shop-1', 'ListKeys')}`)

  expect(status).toBe(200)
  expect(body.nextLink).toBeUndefined()
  expect(body.value.map(({ name, readOnly }: any) => [name, readOnly])).toEqual([
    ['Primary', false],
    ['Secondary', false],
    ['Primary Read Only', true],
    ['Secondary Read Only', true],
  ])
  const [{ id, value, connectionString, lastModified }] = body.value
  expect(Buffer.from(value, 'base64')).toHaveLength(32)
  expect(connectionString).toBe(`Endpoint=http://polygraph.test;Id=${id};Secret=${value}`)
  expect(lastModified).toBe('2030-01-01T00:00:01.000Z')
  expect(new Set(body.value.map((key: any) => key.value)).size).toBe(4)
})

test('an empty body that is announced as JSON is accepted', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')

  const { status } = await service.rest(`POST ${action('shop-1', 'ListKeys')}`, undefined, {
    headers: { 'content-type': 'application/json' },
  })

  expect(status).toBe(200)
})

test('a store that is still being created has no keys yet', async () => {
  const service = await openForTest(subgraph)
  await service.rest(`PUT ${one('shop-1')}`, PLAIN)

  expect(await keysOf(service, 'shop-1')).toEqual([])
})

test('a change of a store leaves its keys as they are', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const before = await keysOf(service, 'shop-1')

  await putReady(service, 'shop-1', { ...PLAIN, identity: { type: 'SystemAssigned' } })

  expect(await keysOf(service, 'shop-1')).toEqual(before)
})

test('a regenerated key has a new value and the same name, and the others stay', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const before = await keysOf(service, 'shop-1')
  await service.advance(60_000)

  const { status, body } = await service.rest(`POST ${action('shop-1', 'RegenerateKey')}`, {
    id: before[1]!.id,
  })
  const after = await keysOf(service, 'shop-1')

  expect(status).toBe(200)
  expect(body).toEqual(after[1])
  expect(body).toMatchObject({
    id: before[1]!.id,
    name: 'Secondary',
    readOnly: false,
    lastModified: '2030-01-01T00:01:01.000Z',
  })
  expect(body.value).not.toBe(before[1]!.value)
  expect(body.connectionString).toContain(`Secret=${body.value}`)
  expect([after[0], after[2], after[3]]).toEqual([before[0], before[2], before[3]])
})

test('the old value of a regenerated key opens nothing, the new one does', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'colour', value: 'red' })
  const [old] = await keysOf(service, 'shop-1')

  const { body } = await service.rest(`POST ${action('shop-1', 'RegenerateKey')}`, { id: old!.id })
  const withOld = await asProgram(service, 'GET /kv', old!)
  const withNew = await asProgram(service, 'GET /kv', body)

  expect([withOld.status, withNew.status]).toEqual([401, 200])
})

test('only a key of this store is regenerated', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await putReady(service, 'shop-2')
  const [foreign] = await keysOf(service, 'shop-2')
  const regenerate = (body: object) =>
    service.rest(`POST ${action('shop-1', 'RegenerateKey')}`, body)

  const unknown = await regenerate({ id: 'none' })
  const other = await regenerate({ id: foreign!.id })
  const missing = await regenerate({})
  const number = await regenerate({ id: 7 })

  expect([unknown.status, unknown.body.error.code]).toEqual([404, 'ResourceNotFound'])
  expect([other.status, other.body.error.code]).toEqual([404, 'ResourceNotFound'])
  expect([missing.status, missing.body.error.code]).toEqual([400, 'InvalidParameter'])
  expect([number.status, number.body.error.target]).toEqual([400, 'regenerateKeyParameters.id'])
  expect((await keysOf(service, 'shop-2'))[0]).toEqual(foreign)
})

test.each([
  ['ListKeys', undefined],
  ['RegenerateKey', { id: 'x' }],
])("%s of a store that is not there or another's is refused", async (verb, body) => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')

  const missing = await service.rest(`POST ${action('nobody', verb)}`, body)
  const asBob = await service.rest(`POST ${action('shop-1', verb)}`, body, { credential: 'bob' })
  const asNobody = await service.rest(`POST ${action('shop-1', verb)}`, body, { credential: null })

  expect([missing.status, missing.body.error.code]).toEqual([404, 'ResourceNotFound'])
  expect([asBob.status, asBob.body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  expect(asNobody.status).toBe(401)
})

test('keys fit on one page, so that no token is of their list', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')

  const { status, body } = await service.rest(
    `POST ${action('shop-1', 'ListKeys')}&$skipToken=AAAA`,
  )

  expect([status, body.error.target]).toEqual([400, '$skipToken'])
})

test('secrets are not readable in what is stored', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const [key] = await keysOf(service, 'shop-1')

  const [{ file }] = (await service.store.sql('PRAGMA database_list')) as [{ file: string }]
  const stored = (await readFile(file, 'latin1')) + (await readFile(`${file}-wal`, 'latin1'))

  expect(stored).toContain(key!.id)
  expect(stored.includes(key!.value)).toBe(false)
})

test('the graph lists and regenerates keys, for the owner alone', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  const place = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Apps", configStoreName: "shop-1"`
  const query = `{ configStoreKeys(${place}) { value {
    id name value connectionString lastModified readOnly } } }`

  const listed = await service.graphql(query)
  const [{ id }] = listed.data.configStoreKeys.value
  const { data } = await service.graphql(`mutation { regenerateConfigStoreKey(${place},
    regenerateKeyParameters: { id: "${id}" }) { id name value } }`)
  const asBob = await service.graphql(query, {}, { credential: 'bob' })
  const after = await keysOf(service, 'shop-1')

  expect(listed.data.configStoreKeys.value).toHaveLength(4)
  expect(data.regenerateConfigStoreKey).toEqual({ id, name: 'Primary', value: after[0]!.value })
  expect(asBob.errors?.[0].extensions.code).toBe('SubscriptionNotFound')
})
