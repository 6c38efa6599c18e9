import { expect, test } from 'vitest'
import { openBank, wordsOf } from './bank.ts'

const pathsOf = (userId: number) => ({
  list: `/v1/user/${userId}/additional-transaction-information-category`,
  own: `/v1/user/${userId}/additional-transaction-information-category-user-defined`,
})

test('everyone has the same categories, in their order', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')

  const { status, body } = await bank.rest(`GET ${pathsOf(userId).list}`)

  expect(status).toBe(200)
  expect(body).toHaveLength(21)
  expect(body[0]).toEqual({
    category: 'GROCERIES',
    type: 'SYSTEM',
    status: 'ACTIVE',
    description: 'Groceries',
    description_translated: 'Groceries',
    color: '#2E9E5B',
    icon: 'basket',
    order: 1,
  })
})

test('a category of the user’s own follows after those, and is no one else’s', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const other = await bank.holder('bob')
  const { own, list } = pathsOf(userId)

  const made = await bank.rest(`POST ${own}`, {
    status: 'ACTIVE',
    category: 'MODEL_TRAINS',
    description: 'Model trains',
    color: '#0a6b4b',
    icon: 'train',
  })

  expect(made).toMatchObject({ status: 200, body: { Id: { id: 1 } } })
  const { body } = await bank.rest(`GET ${list}`)
  expect(body).toHaveLength(22)
  expect(body[21]).toEqual({
    category: 'MODEL_TRAINS',
    type: 'USER_DEFINED',
    status: 'ACTIVE',
    description: 'Model trains',
    description_translated: 'Model trains',
    color: '#0A6B4B',
    icon: 'train',
    order: 22,
  })
  const theirs = await bank.rest(`GET ${pathsOf(other.userId).list}`, undefined, {
    credential: 'bob',
  })
  expect(theirs.body).toHaveLength(21)
})

test('a category that the user has is changed by its name', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const { own, list } = pathsOf(userId)
  await bank.rest(`POST ${own}`, { status: 'ACTIVE', category: 'BEES', description: 'Bees' })

  const made = await bank.rest(`POST ${own}`, { status: 'DEACTIVATED', category: 'BEES' })

  expect(made.body).toEqual({ Id: { id: 1 } })
  const { body } = await bank.rest(`GET ${list}`)
  expect(body).toHaveLength(22)
  expect(body[21]).toMatchObject({ category: 'BEES', status: 'DEACTIVATED', description: 'Bees' })
})

test('a category without a name is named after its description', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')

  const { data } = await bank.graphql(
    `mutation ($id: ID!) {
       createTransactionCategory(userId: $id, status: ACTIVE, description: "Café & crème") {
         category type description order } }`,
    { id: userId },
  )

  expect(data.createTransactionCategory).toEqual({
    category: 'CAFE_CREME',
    type: 'USER_DEFINED',
    description: 'Café & crème',
    order: 22,
  })
})

test('the graph has the list in pages, whose cursors fit no other list', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const second = await bank.holder('alice')
  const ask = (id: number, after?: string) =>
    bank.graphql(
      `query ($id: ID!, $after: String) {
         transactionCategories(userId: $id, first: 20, after: $after) {
           nodes { category } pageInfo { hasNextPage endCursor } } }`,
      { id, after },
    )

  const first = await ask(userId)
  const { endCursor } = first.data.transactionCategories.pageInfo
  const rest = await ask(userId, endCursor)
  const foreign = await ask(second.userId, endCursor)

  expect(first.data.transactionCategories.nodes).toHaveLength(20)
  expect(first.data.transactionCategories.pageInfo.hasNextPage).toBe(true)
  expect(rest.data.transactionCategories).toMatchObject({
    nodes: [{ category: 'OTHER' }],
    pageInfo: { hasNextPage: false },
  })
  expect(foreign.errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})

test('a category that cannot be is refused, and nothing is made', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const refused = async (sent: object) => {
    const answer = await bank.rest(`POST ${pathsOf(userId).own}`, sent)
    return [answer.status, wordsOf(answer)]
  }
  const NAME = 'category must be a name of capitals, digits and _, such as MODEL_TRAINS.'
  const status = 'ACTIVE'

  expect(await refused({ category: 'A' })).toEqual([
    400,
    'status invalid option: expected one of "ACTIVE"|"DEACTIVATED".',
  ])
  expect(await refused({ status: 'PERHAPS', category: 'A' })).toEqual([
    400,
    'status invalid option: expected one of "ACTIVE"|"DEACTIVATED".',
  ])
  expect(await refused({ status })).toEqual([400, 'category or description is required.'])
  expect(await refused({ status, category: 'small' })).toEqual([400, NAME])
  expect(await refused({ status, description: '???' })).toEqual([400, NAME])
  expect(await refused({ status, category: 'GROCERIES' })).toEqual([
    400,
    'category GROCERIES is one that everyone has. Give yours another name.',
  ])
  expect(await refused({ status, category: 'BEES', color: 'red' })).toEqual([
    400,
    'color must be a colour such as #FE2851.',
  ])
  expect((await refused({ status, category: 7 }))[0]).toBe(400)
  expect((await bank.rest(`GET ${pathsOf(userId).list}`)).body).toHaveLength(21)
})

test('a user has at most a hundred categories of their own', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const add = (n: number) =>
    bank.rest(`POST ${pathsOf(userId).own}`, { status: 'ACTIVE', category: `C${n}` })
  for (let n = 1; n <= 100; n += 1) await add(n)

  const refused = await add(101)
  const changed = await add(100)

  expect(refused.status).toBe(400)
  expect(wordsOf(refused)).toBe('A user has at most 100 categories.')
  expect(changed.status).toBe(200)
})

test('the same request id gives the same category, and is not taken for another', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const send = (category: string) =>
    bank.rest(
      `POST ${pathsOf(userId).own}`,
      { status: 'ACTIVE', category },
      { headers: { 'x-vendor-client-request-id': 'one' } },
    )

  const [first, again, other] = [await send('BEES'), await send('BEES'), await send('WASPS')]

  expect(first.body).toEqual({ Id: { id: 1 } })
  expect(again.body).toEqual({ Id: { id: 1 } })
  expect(other.status).toBe(400)
})

test('strangers and people without a key get nothing', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const { list, own } = pathsOf(userId)

  for (const request of [`GET ${list}`, `POST ${own}`]) {
    const body = request.startsWith('POST') ? { status: 'ACTIVE', category: 'BEES' } : undefined
    expect((await bank.rest(request, body, { credential: 'bob' })).status).toBe(403)
    expect((await bank.rest(request, body, { credential: null })).status).toBe(401)
  }
})
