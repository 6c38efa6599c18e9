// Giving a database another name.
import { expect, test } from 'vitest'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  add,
  CHANGE_MS,
  fill,
  MANY,
  one,
  openShop,
  PLAIN,
  putReady,
  putServer,
  refusal,
  SERVERS,
  wordsOf,
} from './shop.ts'

const move = one('shop', 'move')
const to = (name: string) => ({ id: `${MANY}/${name}` })

test('a database is moved to another name with 200, and the old name is 404', async () => {
  const service = await openShop()
  const before = await putReady(service, 'shop', { ...PLAIN, tags: { a: 'b' } })
  await fill(service, 'shop')

  const { status, body } = await service.rest(`POST ${move}`, to('Store'))

  expect([status, body]).toEqual([200, undefined])
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(404)
  const { body: after } = await service.rest(`GET ${one('store')}`)
  expect(after).toEqual({ ...before, id: `${MANY}/Store`, name: 'Store' })
  expect(await wordsOf(service, 'store')).toEqual(['first'])
})

test('the history stays: a renamed database is restored to what it held under its old name', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  await fill(service, 'shop')
  await service.advance(60_000)
  await service.rest(`POST ${move}`, to('store'))
  await add(service, 'store', 'second')

  await putReady(service, 'then', {
    ...PLAIN,
    properties: {
      createMode: 'PointInTimeRestore',
      sourceDatabaseId: `${MANY}/store`,
      restorePointInTime: '2030-01-01T00:00:30Z',
    },
  })

  expect(await wordsOf(service, 'then')).toEqual(['first'])
})

test('the case of a name can change', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  const { status } = await service.rest(`POST ${move}`, to('SHOP'))

  expect(status).toBe(200)
  expect((await service.rest(`GET ${one('shop')}`)).body.name).toBe('SHOP')
})

test('a name that is taken is refused, in any case, and nothing moves', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  const taken = await putReady(service, 'Taken')

  const answer = await service.rest(`POST ${move}`, to('tAKEN'))

  expect(refusal(answer)).toEqual([409, 'DatabaseAlreadyExists'])
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(200)
  expect((await service.rest(`GET ${one('taken')}`)).body).toEqual(taken)
})

test.each([
  ['another server', `${SERVERS}/other/databases/shop`],
  ['another subscription', `${MANY}/store`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)],
  ['no database', `${SERVERS}/main`],
  ['a name that is none', `${MANY}/a<b`],
  ['nothing', ''],
])('a move to %s is refused', async (_where, id) => {
  const service = await openShop()
  await putServer(service, 'other')
  await putReady(service, 'shop')

  const answer = await service.rest(`POST ${move}`, { id })

  expect(refusal(answer)).toEqual([400, 'InvalidParameter'])
  expect(answer.body.error.target).toBe('parameters.id')
  expect((await service.rest(`GET ${one('shop')}`)).status).toBe(200)
})

test('a move without an id, to a reserved name, or of nothing is refused', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  expect(refusal(await service.rest(`POST ${move}`, {}))).toEqual([400, 'InvalidParameter'])
  expect(refusal(await service.rest(`POST ${move}`))).toEqual([400, 'InvalidParameter'])
  expect(refusal(await service.rest(`POST ${move}`, to('master')))).toEqual([
    400,
    'CannotUseReservedDatabaseName',
  ])
  expect(refusal(await service.rest(`POST ${one('none', 'move')}`, to('b')))).toEqual([
    404,
    'ResourceNotFound',
  ])
})

test('a database that is replicated keeps its name', async () => {
  const service = await openShop()
  await putServer(service, 'far')
  await putReady(service, 'shop')
  const properties = { createMode: 'Secondary', sourceDatabaseId: `${MANY}/shop` }
  await putReady(service, 'shop', { ...PLAIN, properties }, 'far')

  const primary = await service.rest(`POST ${move}`, to('store'))
  const secondary = await service.rest(`POST ${one('shop', 'move', 'far')}`, {
    id: `${SERVERS}/far/databases/store`,
  })

  expect(refusal(primary)).toEqual([409, 'DatabaseNotOnline'])
  expect(refusal(secondary)).toEqual([409, 'DatabaseNotOnline'])
})

test('the graph renames', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  const { data } = await service.graphql(
    `mutation { renameSqlDatabase(subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop",
      serverName: "main", databaseName: "shop", parameters: { id: "${MANY}/store" }) }`,
  )

  expect(data).toEqual({ renameSqlDatabase: true })
  await service.advance(CHANGE_MS)
  expect((await service.rest(`GET ${one('store')}`)).status).toBe(200)
})
