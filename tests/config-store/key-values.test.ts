// Key-values: set, read, deleted, locked, and what they were.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  action,
  GONE_MS,
  idOf,
  one,
  PLAIN,
  putReady,
  set,
  trySet,
  keysNamed,
  setMany,
} from './stores.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const ALL = 'key label value contentType tags locked lastModified eTag'

async function openWithStore() {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  return service
}

const change = (service: TestService, verb: string, sent: object, credential?: 'bob') =>
  service.graphql(
    `mutation ($id: ID!, $key: String!, $label: String, $ifMatch: String) {
      done: ${verb}(configStoreId: $id, key: $key, label: $label, ifMatch: $ifMatch) { ${ALL} } }`,
    { id: idOf('shop-1'), ...sent },
    credential && { credential },
  )

const read = async (service: TestService, sent: object) =>
  service.rest(`POST ${action('shop-1', 'listKeyValue')}`, sent)

const revisionsOf = async (service: TestService, sent: object) => {
  const { data, errors } = await service.graphql(
    `query ($id: ID!, $key: String!, $label: String, $first: Int, $after: String) {
      keyValueRevisions(configStoreId: $id, key: $key, label: $label, first: $first, after: $after) {
        nodes { value locked eTag lastModified } pageInfo { hasNextPage endCursor } } }`,
    { id: idOf('shop-1'), ...sent },
  )
  if (errors) throw new Error(errors[0].message)
  return data.keyValueRevisions
}

test('a key-value that was set in the graph is read through listKeyValue', async () => {
  const service = await openWithStore()
  const made = await set(service, 'shop-1', {
    key: 'app/colour',
    label: 'uk',
    value: 'red',
    contentType: 'text/plain',
    tags: { team: 'shop' },
  })

  const { status, body } = await read(service, { key: 'app/colour', label: 'uk' })

  expect(status).toBe(200)
  expect(body).toEqual({
    key: 'app/colour',
    label: 'uk',
    value: 'red',
    contentType: 'text/plain',
    tags: { team: 'shop' },
    locked: false,
    lastModified: '2030-01-01T00:00:01.000Z',
    eTag: made.eTag,
  })
})

test('a key with a label and the key without one are two; the null character means without', async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'colour', value: 'plain' })
  await set(service, 'shop-1', { key: 'colour', label: 'uk', value: 'labelled' })

  const bare = await read(service, { key: 'colour' })
  const byNull = await read(service, { key: 'colour', label: '\0' })
  const byEmpty = await read(service, { key: 'colour', label: '' })
  const labelled = await read(service, { key: 'colour', label: 'uk' })

  expect([bare.body.value, byNull.body.value, byEmpty.body.value]).toEqual([
    'plain',
    'plain',
    'plain',
  ])
  expect(bare.body.label).toBeUndefined()
  expect(labelled.body.value).toBe('labelled')
})

test('listKeyValue of what is not there is 404, and without a key 400', async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'colour', label: 'uk', value: 'red' })

  const absent = await read(service, { key: 'colour' })
  const other = await read(service, { key: 'Colour', label: 'uk' })
  const bare = await read(service, {})
  const elsewhere = await service.rest(`POST ${action('nobody', 'listKeyValue')}`, { key: 'a' })

  expect([absent.status, absent.body.error]).toEqual([
    404,
    {
      code: 'ResourceNotFound',
      message: "The store has no key-value 'colour' without a label.",
    },
  ])
  expect(other.status).toBe(404)
  expect([bare.status, bare.body.error.target]).toEqual([400, 'listKeyValueParameters.key'])
  expect(elsewhere.status).toBe(404)
})

test('setting again replaces as a whole and gives a new eTag', async () => {
  const service = await openWithStore()
  const first = await set(service, 'shop-1', { key: 'a', value: '1', tags: { x: 'y' } })
  await service.advance(1_000)

  const second = await set(service, 'shop-1', { key: 'a', value: '2' })

  expect(second).toEqual({
    key: 'a',
    label: null,
    value: '2',
    contentType: null,
    tags: null,
    locked: false,
    lastModified: '2030-01-01T00:00:02.000Z',
    eTag: second.eTag,
  })
  expect(second.eTag).not.toBe(first.eTag)
})

test('a change with an eTag that is no longer the last is refused and changes nothing', async () => {
  const service = await openWithStore()
  const first = await set(service, 'shop-1', { key: 'a', value: '1' })
  const second = await set(service, 'shop-1', { key: 'a', value: '2', ifMatch: first.eTag })
  const stale = { key: 'a', ifMatch: first.eTag }

  const refused = [
    await trySet(service, { id: idOf('shop-1'), ...stale }),
    await change(service, 'deleteKeyValue', stale),
    await change(service, 'lockKeyValue', stale),
    await trySet(service, { id: idOf('shop-1'), key: 'new', ifMatch: first.eTag }),
  ]

  for (const { errors } of refused) {
    expect(errors?.[0].extensions).toMatchObject({ code: 'PreconditionFailed', status: 412 })
  }
  expect((await read(service, { key: 'a' })).body.eTag).toBe(second.eTag)
  expect((await read(service, { key: 'new' })).status).toBe(404)
})

test('a locked key-value is neither set nor deleted until it is unlocked', async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'a', value: '1' })

  const locked = await change(service, 'lockKeyValue', { key: 'a' })
  const again = await change(service, 'lockKeyValue', { key: 'a' })
  const written = await trySet(service, { id: idOf('shop-1'), key: 'a', value: '2' })
  const deleted = await change(service, 'deleteKeyValue', { key: 'a' })
  const during = await read(service, { key: 'a' })
  const unlocked = await change(service, 'unlockKeyValue', { key: 'a' })
  const after = await set(service, 'shop-1', { key: 'a', value: '2' })

  expect(locked.data.done.locked).toBe(true)
  expect(again.data.done.eTag).toBe(locked.data.done.eTag)
  for (const { errors } of [written, deleted]) {
    expect(errors?.[0].extensions).toMatchObject({ code: 'KeyValueLocked', status: 409 })
  }
  expect([during.body.value, during.body.locked]).toEqual(['1', true])
  expect(unlocked.data.done.locked).toBe(false)
  expect(after.value).toBe('2')
})

test('deleting returns what was deleted, and null when there was nothing', async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'a', value: '1' })

  const first = await change(service, 'deleteKeyValue', { key: 'a' })
  const second = await change(service, 'deleteKeyValue', { key: 'a' })
  const lock = await change(service, 'lockKeyValue', { key: 'a' })

  expect(first.data.done.value).toBe('1')
  expect(second).toEqual({ data: { done: null } })
  expect(lock.errors?.[0].extensions).toMatchObject({ code: 'ResourceNotFound', status: 404 })
  expect((await read(service, { key: 'a' })).status).toBe(404)
})

test('revisions tell what a key-value was, newest first, also after it is deleted', async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'a', value: '1' })
  await set(service, 'shop-1', { key: 'a', value: '2' })
  await set(service, 'shop-1', { key: 'a', label: 'uk', value: 'other' })
  await set(service, 'shop-1', { key: 'ab', value: 'other' })
  await change(service, 'lockKeyValue', { key: 'a' })
  await change(service, 'unlockKeyValue', { key: 'a' })
  await change(service, 'deleteKeyValue', { key: 'a' })

  const { nodes } = await revisionsOf(service, { key: 'a' })

  expect(nodes.map(({ value, locked }: any) => [value, locked])).toEqual([
    ['2', false],
    ['2', true],
    ['2', false],
    ['1', false],
  ])
})

test('revisions come a page at a time, and a cursor fits only its own list', async () => {
  const service = await openWithStore()
  for (const value of ['1', '2', '3']) await set(service, 'shop-1', { key: 'a', value })

  const first = await revisionsOf(service, { key: 'a', first: 2 })
  const after = first.pageInfo.endCursor
  const last = await revisionsOf(service, { key: 'a', first: 2, after })

  expect(first.nodes.map(({ value }: any) => value)).toEqual(['3', '2'])
  expect(first.pageInfo.hasNextPage).toBe(true)
  expect(last.nodes.map(({ value }: any) => value)).toEqual(['1'])
  expect(last.pageInfo.hasNextPage).toBe(false)
  await expect(revisionsOf(service, { key: 'b', first: 2, after })).rejects.toThrow('page token')
})

test.each([
  ['Standard', 30],
  ['Free', 7],
])('a %s store forgets revisions after %i days', async (sku, days) => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', { ...PLAIN, sku: { name: sku } })
  await set(service, 'shop-1', { key: 'a', value: '1' })

  await service.advance(days * DAY_MS - 1)
  const last = await revisionsOf(service, { key: 'a' })
  await service.advance(1)
  const late = await revisionsOf(service, { key: 'a' })

  expect([last.nodes.length, late.nodes.length]).toEqual([1, 0])
  expect((await read(service, { key: 'a' })).status).toBe(200)
})

test('a Free store holds 1,000 key-values and no more', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1', { ...PLAIN, sku: { name: 'Free' } })
  await setMany(service, 'shop-1', keysNamed('key-', 1_000))

  const beyond = await trySet(service, { id: idOf('shop-1'), key: 'one-more' })
  const again = await trySet(service, { id: idOf('shop-1'), key: 'key-0007', value: 'w' })

  expect(beyond.errors?.[0].extensions).toMatchObject({ code: 'QuotaExceeded', status: 409 })
  expect(again.errors).toBeUndefined()
})

const MALFORMED: [why: string, sent: object][] = [
  ['an empty key', { key: '' }],
  ['a key with %', { key: '50%' }],
  ['a key that is a dot', { key: '.' }],
  ['a key that is two dots', { key: '..' }],
  ['a key with a line break', { key: 'a\nb' }],
  ['a key with a null character', { key: 'a\0b' }],
  ['a key of 385 bytes', { key: 'k'.repeat(385) }],
  ['a key of 193 letters of two bytes', { key: 'ä'.repeat(193) }],
  ['half a surrogate pair', { key: 'a\ud800' }],
  ['a label with a control character', { key: 'a', label: 'b\u0001c' }],
  ['a label of 129 bytes', { key: 'a', label: 'l'.repeat(129) }],
  ['a value of 10,001 characters', { key: 'a', value: 'v'.repeat(10_001) }],
  ['a content type of 257 characters', { key: 'a', contentType: 'c'.repeat(257) }],
  ['a tag that is a number', { key: 'a', tags: { b: 1 } }],
]

test('a malformed key-value is refused, and nothing is kept', async () => {
  const service = await openWithStore()

  for (const [why, sent] of MALFORMED) {
    const { errors } = await trySet(service, { id: idOf('shop-1'), ...sent })

    expect(errors?.[0].extensions, why).toMatchObject({ code: 'Invalid', status: 400 })
  }
  const { data } = await service.graphql(
    `{ configKeyValues(configStoreId: "${idOf('shop-1')}") { nodes { key } } }`,
  )
  expect(data.configKeyValues.nodes).toEqual([])
})

test('the longest key, label and value are kept and read back', async () => {
  const service = await openWithStore()
  const key = 'ä'.repeat(192)
  const label = '🎈'.repeat(32)
  await set(service, 'shop-1', { key, label, value: 'v'.repeat(10_000) })

  const { body } = await read(service, { key, label })

  expect([body.key, body.label, body.value.length]).toEqual([key, label, 10_000])
})

test("key-values of another's store, of none and of no id at all are refused alike", async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'a', value: '1' })
  const foreign = idOf('shop-1').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)

  const answers = [
    await trySet(service, { id: idOf('shop-1'), key: 'a' }, { credential: 'bob' }),
    await trySet(service, { id: foreign, key: 'a' }),
    await trySet(service, { id: idOf('nobody'), key: 'a' }),
    await trySet(service, { id: 'shop-1', key: 'a' }),
    await change(service, 'deleteKeyValue', { key: 'a' }, 'bob'),
    await change(service, 'lockKeyValue', { key: 'a' }, 'bob'),
    await change(service, 'unlockKeyValue', { key: 'a' }, 'bob'),
    await service.graphql(
      `{ keyValueRevisions(configStoreId: "${idOf('shop-1')}", key: "a") { nodes { value } } }`,
      {},
      { credential: 'bob' },
    ),
  ]

  for (const { errors } of answers) {
    expect(errors?.[0].extensions).toMatchObject({ code: 'ResourceNotFound', status: 404 })
  }
  expect((await read(service, { key: 'a' })).body.value).toBe('1')
})

test('key-values of a store that is being deleted can be neither set nor read', async () => {
  const service = await openWithStore()
  await set(service, 'shop-1', { key: 'a', value: '1' })
  await service.rest(`DELETE ${one('shop-1')}`)

  const written = await trySet(service, { id: idOf('shop-1'), key: 'a' })
  const listed = await service.graphql(
    `{ configKeyValues(configStoreId: "${idOf('shop-1')}") { nodes { key } } }`,
  )
  await service.advance(GONE_MS)
  const late = await trySet(service, { id: idOf('shop-1'), key: 'a' })

  for (const { errors } of [written, listed]) {
    expect(errors?.[0].extensions).toMatchObject({
      code: 'AnotherOperationInProgress',
      status: 409,
    })
  }
  expect(late.errors?.[0].extensions.code).toBe('ResourceNotFound')
})

test('the graph reads one key-value by the place of its store and by its id', async () => {
  const service = await openWithStore()
  const made = await set(service, 'shop-1', { key: 'a', label: 'uk', value: '1' })
  const place = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Apps", configStoreName: "shop-1"`

  const { data } = await service.graphql(`{
    byPlace: configStoreKeyValue(${place}, listKeyValueParameters: { key: "a", label: "uk" }) { ${ALL} }
    byId: configKeyValue(configStoreId: "${idOf('SHOP-1')}", key: "a", label: "uk") { ${ALL} } }`)
  const missing = await service.graphql('{ configKeyValue(key: "a") { value } }')

  expect(data).toEqual({ byPlace: made, byId: made })
  expect(missing.errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})
