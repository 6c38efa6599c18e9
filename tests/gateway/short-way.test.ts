// A query that came before is answered by a shorter way, and nobody can tell.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { openGraphForTest } from '../open-graph.ts'
import { ACCOUNT, people, SUBSCRIPTION } from '../people.ts'
import { openWhole, type Whole } from './whole.ts'

let whole: Whole
beforeAll(async () => {
  whole = await openWhole()
})
afterAll(() => whole.close())

interface Sent {
  readonly body: unknown
  readonly token?: string | null
  readonly headers?: Record<string, string>
}

async function send({ body, token = whole.credentials.graph!.token!, headers = {} }: Sent) {
  const response = await fetch(`${whole.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const shown = Object.fromEntries(response.headers)
  for (const own of ['date', 'x-request-id']) delete shown[own]
  return { status: response.status, headers: shown, body: await response.text() }
}

const PEOPLE =
  'query ($first: Int) { me { id name } cloudAccounts(first: $first) { nodes { id } } }'

test.each<[string, Sent]>([
  ['an answer', { body: { query: PEOPLE } }],
  ['an answer with variables', { body: { query: PEOPLE, variables: { first: 1 } } }],
  ['nobody', { body: { query: PEOPLE }, token: null }],
  ['a wrong token', { body: { query: PEOPLE }, token: 'pgt_wrong' }],
  ['a wrong variable', { body: { query: PEOPLE, variables: { first: 'x' } } }],
  ['a page that is too large', { body: { query: PEOPLE, variables: { first: 101 } } }],
  ['a query that costs too much', { body: { query: PEOPLE, variables: { first: 20_000 } } }],
  ['another media type', { body: { query: PEOPLE }, headers: { accept: 'text/plain' } }],
  [
    'the media type of GraphQL',
    { body: { query: PEOPLE }, headers: { accept: 'application/graphql-response+json' } },
  ],
  [
    'an operation by name',
    { body: { query: PEOPLE.replace('query', 'query A'), operationName: 'A' } },
  ],
  ['no such operation', { body: { query: PEOPLE, operationName: 'B' } }],
  ['a wrong query', { body: { query: '{ nothing }' } }],
  ['no query', { body: { variables: {} } }],
  ['a list', { body: [{ query: PEOPLE }] }],
])('%s is the same the third time as the first', async (_what, sent) => {
  const first = await send(sent)
  const second = await send(sent)
  const third = await send(sent)

  expect([second, third]).toEqual([first, first])
})

test('an operation that is not there is the mistake of who asks', async () => {
  const { status, body } = await send({ body: { query: PEOPLE, operationName: 'B' } })

  expect(status).toBe(400)
  expect(JSON.parse(body).errors[0].message).toBe('Unknown operation named "B".')
})

test('the short way is taken by what came before in the same words, whoever asks', async () => {
  const graph = await openGraphForTest([hsm])
  const { shortly, answer } = graph.gateway
  const query = 'query ($id: String!) { cloudAccount(id: $id) { id kind } }'
  const asked = { query, variables: { id: SUBSCRIPTION } }
  const context = (person: 'alice' | 'bob') => ({
    caller: people[person],
    publicUrl: '',
    requestId: '',
    headers: {},
  })

  const before = await shortly(asked, context('alice'))
  const first = await answer(asked, context('alice'))
  const own = await shortly(asked, context('alice'))
  const others = await answer(asked, context('bob'))

  expect(before).toBeUndefined()
  expect(first.data).toEqual({ cloudAccount: { id: SUBSCRIPTION, kind: 'SUBSCRIPTION' } })
  expect(own).toEqual({ data: first.data })
  // Each is answered what is theirs.
  expect(others.data).toBeNull()
  expect(others.errors?.[0]?.extensions?.code).toBe('NotFound')
})

test('a query is measured with its variables each time', async () => {
  const graph = await openGraphForTest([hsm])
  const query = 'query ($n: Int) { cloudAccounts(first: $n) { nodes { id } } }'
  const context = { caller: people.alice, publicUrl: '', requestId: '', headers: {} }
  await graph.gateway.answer({ query, variables: { n: 5 } }, context)

  const cheap = await graph.gateway.shortly({ query, variables: { n: 6 } }, context)
  const costly = await graph.gateway.shortly({ query, variables: { n: 100_000 } }, context)

  expect(cheap).toHaveProperty('data')
  expect(costly).toBeUndefined()
})

const ASKED_AS_ALICE = { caller: people.alice, publicUrl: '', requestId: '', headers: {} }

test('queries that differ in the values written into them share a plan', async () => {
  const { gateway } = await openGraphForTest([hsm])
  const account = (id: string) => ({ query: `{ cloudAccount(id: "${id}") { id kind } }` })
  await gateway.answer(account(SUBSCRIPTION), ASKED_AS_ALICE)

  const own = await gateway.shortly(account(ACCOUNT), ASKED_AS_ALICE)
  const others = await gateway.answer(account('none'), ASKED_AS_ALICE)

  expect(own).toEqual({ data: { cloudAccount: { id: ACCOUNT, kind: 'ACCOUNT' } } })
  expect(others.errors?.[0]).toMatchObject({ path: ['cloudAccount'] })
  expect(others.errors?.[0]?.extensions?.code).toBe('NotFound')
})

const GOOD = `cloudAccount(id: "${SUBSCRIPTION}") { id }`

test.each<[string, string, string]>([
  ['a value of another kind', GOOD, 'cloudAccount(id: 5) { id }'],
  ['a value that is none', GOOD, 'cloudAccount(id: null) { id }'],
  ['a page that costs too much', GOOD, 'cloudAccounts(first: 90000) { nodes { id } }'],
])('%s goes the long way, and is refused as if nothing had come before', async (_, good, bad) => {
  const { gateway } = await openGraphForTest([hsm])
  const asked = (field: string) => ({ query: `{ ${field} }` })
  const before = await gateway.answer(asked(bad), ASKED_AS_ALICE)
  await gateway.answer(asked(good), ASKED_AS_ALICE)

  expect(await gateway.shortly(asked(good), ASKED_AS_ALICE)).toHaveProperty('data')
  expect(await gateway.shortly(asked(bad), ASKED_AS_ALICE)).toBeUndefined()
  expect(await gateway.answer(asked(bad), ASKED_AS_ALICE)).toEqual(before)
  expect(before.errors).toHaveLength(1)
})
