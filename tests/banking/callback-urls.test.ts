import { expect, test } from 'vitest'
import { subgraph as banking } from '../../subgraphs/banking.ts'
import { openGraphForTest } from '../open-graph.ts'
import type { Person } from '../people.ts'
import { bankOf, openBank, wordsOf } from './bank.ts'

/** Identity and the bank, joined; alice has a client. */
async function open() {
  const graph = await openGraphForTest([banking])
  const bank = bankOf(graph.service('banking'))
  const { userId } = await bank.holder('alice')
  const clientOf = async (person: Person): Promise<string> => {
    const { data } = await graph.ask(
      `mutation { createClient(clientName: "App", clientUri: "https://app.example/") {
         client { clientId } } }`,
      {},
      person,
    )
    return data.createClient.client.clientId
  }
  const clientId = await clientOf('alice')
  const linked = await bank.rest(`POST /v1/user/${userId}/oauth-client`, { client_id: clientId })
  const path = `/v1/user/${userId}/oauth-client/${linked.body.Id.id}/callback-url`
  return { graph, bank, userId, clientId, clientOf, path }
}

const url = 'https://app.example/callback'

test('a callback URL is added to a client, read, listed, changed and removed', async () => {
  const { bank, path } = await open()

  const made = await bank.rest(`POST ${path}`, { url })
  await bank.rest(`POST ${path}`, { url: 'http://127.0.0.1:8765/callback' })
  await bank.advance(60_000)
  const changed = await bank.rest(`PUT ${path}/1`, { url: 'https://app.example/other?a=1' })
  const read = await bank.rest(`GET ${path}/1`)
  const list = await bank.rest(`GET ${path}`)
  const removed = await bank.rest(`DELETE ${path}/2`)

  expect(made).toMatchObject({ status: 200, body: { Id: { id: 1 } } })
  expect(changed).toMatchObject({ status: 200, body: { Id: { id: 1 } } })
  expect(read.body).toEqual({
    id: 1,
    created: '2030-01-01 00:00:00.000000',
    updated: '2030-01-01 00:01:00.000000',
    url: 'https://app.example/other?a=1',
  })
  expect(list.body.map((item: { url: string }) => item.url)).toEqual([
    'http://127.0.0.1:8765/callback',
    'https://app.example/other?a=1',
  ])
  expect(removed).toMatchObject({ status: 200, body: undefined })
  expect((await bank.rest(`GET ${path}/2`)).status).toBe(404)
  expect((await bank.rest(`DELETE ${path}/2`)).status).toBe(404)
  const events = await bank.store.sql(
    `SELECT type FROM event WHERE type LIKE 'banking.callback%' OR type LIKE 'banking.oauth%' ORDER BY number`,
  )
  expect(events.map(({ type }) => type)).toEqual([
    'banking.oauth-client.created',
    'banking.callback-url.created',
    'banking.callback-url.created',
    'banking.callback-url.changed',
    'banking.callback-url.deleted',
  ])
})

test('the graph does the same, and a client shows its callback URLs beside what identity knows', async () => {
  const { graph, userId, clientId } = await open()
  const ids = { userId, client: clientId }

  const made = await graph.ask(
    `mutation ($userId: ID!, $client: ID!) {
       a: createCallbackUrl(userId: $userId, oauthClientId: $client, url: "https://app.example/a") { id url }
       b: createCallbackUrl(userId: $userId, oauthClientId: $client, url: "https://app.example/b") { id }
       c: updateCallbackUrl(userId: $userId, oauthClientId: $client, itemId: 2, url: "https://app.example/c") { url created }
       linkOauthClient(userId: $userId, clientId: "${clientId}") { id clientId }
     }`,
    ids,
  )
  const read = await graph.ask(
    `query ($userId: ID!, $client: ID!) {
       callbackUrl(userId: $userId, oauthClientId: $client, itemId: 1) { url }
       callbackUrls(userId: $userId, oauthClientId: 1, first: 1) {
         nodes { url } pageInfo { hasNextPage } }
       bankOauthClient(userId: $userId, oauthClientId: $client) { id clientId created }
       bankOauthClients(userId: $userId) { nodes { id } }
       client(clientId: "${clientId}") { clientName callbackUrls { nodes { url } } }
     }`,
    ids,
  )
  const removed = await graph.ask(
    `mutation ($userId: ID!, $client: ID!) {
       deleteCallbackUrl(userId: $userId, oauthClientId: $client, itemId: 1) }`,
    ids,
  )

  expect(made).toEqual({
    data: {
      a: { id: '1', url: 'https://app.example/a' },
      b: { id: '2' },
      c: { url: 'https://app.example/c', created: '2030-01-01T00:00:00.000Z' },
      linkOauthClient: { id: '1', clientId },
    },
  })
  expect(read).toEqual({
    data: {
      callbackUrl: { url: 'https://app.example/a' },
      callbackUrls: { nodes: [{ url: 'https://app.example/c' }], pageInfo: { hasNextPage: true } },
      bankOauthClient: { id: '1', clientId, created: '2030-01-01T00:00:00.000Z' },
      bankOauthClients: { nodes: [{ id: '1' }] },
      client: {
        clientName: 'App',
        callbackUrls: {
          nodes: [{ url: 'https://app.example/c' }, { url: 'https://app.example/a' }],
        },
      },
    },
  })
  expect(removed.data.deleteCallbackUrl).toBe(true)
})

test('a callback URL is an address of the web that is matched as it is written', async () => {
  const { bank, path } = await open()
  await bank.rest(`POST ${path}`, { url })
  await bank.rest(`POST ${path}`, { url: 'https://app.example/second' })
  const refused = async (sent: object, request = `POST ${path}`) => {
    const answer = await bank.rest(request, sent)
    return [answer.status, wordsOf(answer)]
  }

  expect(await refused({})).toEqual([400, 'url is required.'])
  expect(await refused({ url: 7 })).toEqual([
    400,
    'url invalid input: expected string, received number.',
  ])
  expect(await refused({ url: 'callback' })).toEqual([
    400,
    'url must be a URL, such as https://example.org/callback.',
  ])
  expect(await refused({ url: 'http://app.example/callback' })).toEqual([
    400,
    'url must be an https address, or an http address of the own machine.',
  ])
  expect((await refused({ url: 'javascript:alert(1)' }))[0]).toBe(400)
  expect(await refused({ url: `${url}#top` })).toEqual([400, 'url must not have a fragment.'])
  expect(await refused({ url: 'https://*.example/' })).toEqual([
    400,
    'url must not have a wildcard: it is matched as it is written.',
  ])
  expect(await refused({ url: 'https://me:secret@app.example/' })).toEqual([
    400,
    'url must not carry a name or a password.',
  ])
  expect((await refused({ url: `https://app.example/${'a'.repeat(2000)}` }))[0]).toBe(400)
  const twice = [400, 'url is one of the callback URLs of this client already.']
  expect(await refused({ url })).toEqual(twice)
  expect(await refused({ url }, `PUT ${path}/2`)).toEqual(twice)
  expect((await refused({ url: `${url}#top` }, `PUT ${path}/1`))[0]).toBe(400)
  expect((await bank.rest(`PUT ${path}/1`, { url })).status).toBe(200)
  expect((await bank.rest(`GET ${path}`)).body).toHaveLength(2)
})

test('a client has at most fifty callback URLs', async () => {
  const { bank, path } = await open()
  for (let n = 1; n <= 50; n += 1) await bank.rest(`POST ${path}`, { url: `${url}/${n}` })

  const refused = await bank.rest(`POST ${path}`, { url })

  expect([refused.status, wordsOf(refused)]).toEqual([
    400,
    'A client has at most 50 callback URLs.',
  ])
  expect((await bank.rest(`PUT ${path}/50`, { url })).status).toBe(200)
})

test('a request that is repeated with its id adds one callback URL', async () => {
  const { bank, path } = await open()
  const headers = { 'x-vendor-client-request-id': 'one' }

  expect((await bank.rest(`POST ${path}`, { url }, { headers })).body).toEqual({ Id: { id: 1 } })
  expect((await bank.rest(`POST ${path}`, { url }, { headers })).body).toEqual({ Id: { id: 1 } })
  expect((await bank.rest(`GET ${path}`)).body).toHaveLength(1)
})

test('a client is its owner’s alone, whichever way it is named', async () => {
  const { graph, bank, clientOf, clientId, path, userId } = await open()
  await bank.rest(`POST ${path}`, { url })
  const bob = await bank.holder('bob')
  const bobs = await clientOf('bob')
  const asBob = { credential: 'bob' } as const
  const statusOf = async (request: string, body?: object, options = {}) =>
    (await bank.rest(request, body, options)).status
  const ofBob = `/v1/user/${bob.userId}/oauth-client`

  expect(await statusOf(`GET ${path}/1`, undefined, asBob)).toBe(403)
  const numbered = await bank.rest(`GET ${ofBob}/1/callback-url`, undefined, asBob)
  expect([numbered.status, wordsOf(numbered)]).toEqual([404, 'There is no OAuth client 1.'])
  expect(await statusOf(`GET ${ofBob}/1/callback-url/1`, undefined, asBob)).toBe(404)
  expect(await statusOf(`GET ${ofBob}/${clientId}/callback-url/1`, undefined, asBob)).toBe(404)
  expect(await statusOf(`POST ${ofBob}/${clientId}/callback-url`, { url }, asBob)).toBe(404)
  expect(await statusOf(`PUT ${ofBob}/${bobs}/callback-url/1`, { url }, asBob)).toBe(404)
  expect(await statusOf(`DELETE ${ofBob}/${bobs}/callback-url/1`, undefined, asBob)).toBe(404)
  expect(await statusOf(`POST ${ofBob}`, { client_id: clientId }, asBob)).toBe(404)
  expect(await statusOf(`GET /v1/user/${userId}/oauth-client/${bobs}/callback-url`)).toBe(404)
  expect(await statusOf(`GET ${path}/1`, undefined, { credential: null })).toBe(401)
  expect((await bank.rest(`GET ${path}`)).body).toHaveLength(1)
  const seen = await bank.graphql(
    `query ($client: [_Any!]!) { _entities(representations: $client) {
       ... on Client { callbackUrls { nodes { url } } } } }`,
    { client: [{ __typename: 'Client', clientId }] },
    asBob,
  )
  expect(seen.data._entities).toEqual([{ callbackUrls: { nodes: [] } }])
  expect(graph.service('banking').mistakes).toEqual([])
})

test('a client that identity no longer has is gone here too', async () => {
  const { graph, bank, path, clientId } = await open()
  await bank.rest(`POST ${path}`, { url })
  await graph.ask('mutation ($id: String!) { deleteClient(clientId: $id) }', { id: clientId })

  const read = await bank.rest(`GET ${path}/1`)

  expect([read.status, wordsOf(read)]).toEqual([404, `There is no OAuth client ${clientId}.`])
})

test('a user of the sandbox has no clients, since identity does not know them', async () => {
  const bank = await openBank()
  const made = await bank.rest('POST /v1/sandbox-user-person', {}, { credential: null })
  const headers = { 'x-vendor-client-authentication': made.body.api_key }
  const as = { credential: null, headers }
  const [{ UserPerson }] = (await bank.rest('GET /v1/user', undefined, as)).body

  const refused = await bank.rest(
    `POST /v1/user/${UserPerson.id}/oauth-client`,
    { client_id: 'app' },
    as,
  )

  expect(refused.status).toBe(404)
})

test('without the graph nobody’s clients can be told, and that is said', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')

  const refused = await bank.rest(`GET /v1/user/${userId}/oauth-client/app/callback-url`)

  expect(refused.status).toBe(503)
})
