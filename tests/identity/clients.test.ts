import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { openIdentity, type Identity } from './identity.ts'

const CLIENT = {
  client_name: 'News',
  client_uri: 'https://news.example.org/',
  redirect_uris: ['https://news.example.org/back'],
}

/** Asks at the REST door with a token of ada's. */
async function asAda(identity: Identity) {
  const authorization = `Bearer ${await identity.ada.token()}`
  return (request: string, body?: unknown) =>
    identity.rest(request, body, { credential: null, headers: { authorization } })
}

test('a client is registered with 201, its address and a secret that is shown this once', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)

  const made = await ask('POST /client', CLIENT)
  const read = await ask(`GET /client/${made.body.client_id}`)

  expect(made.status).toBe(201)
  expect(made.headers.location).toBe(`http://polygraph.test/client/${made.body.client_id}`)
  expect(made.body).toEqual({
    ...CLIENT,
    client_id: expect.any(String),
    client_secret: expect.stringMatching(/^pgc_[\w-]{40}$/),
    client_secret_expires_at: 0,
    client_id_issued_at: Date.parse('2030-01-01T00:00:00Z') / 1000,
    response_types: ['code'],
    grant_types: ['authorization_code'],
    application_type: 'web',
    contacts: [],
    default_scopes: [],
    test_mode: false,
    id_token_signed_response_alg: 'ES256',
  })
  const { client_secret, client_secret_expires_at: _end, ...shown } = made.body
  expect(read).toMatchObject({ status: 200, body: shown })
  expect(read.body).not.toHaveProperty('client_secret')
  expect(JSON.stringify(await identity.store.sql('SELECT body FROM client'))).not.toContain(
    client_secret,
  )
})

test('the list is a bare array of the owner’s clients, and the graph pages it', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)
  for (const client_name of ['a', 'b', 'c']) await ask('POST /client', { ...CLIENT, client_name })
  const bob = await identity.register('bob')
  await bob.client()

  const list = await ask('GET /client')
  const page = await identity.ada.ask(
    '{ clients(first: 2) { nodes { clientName owner { id name } } pageInfo { hasNextPage endCursor } } }',
  )

  expect(list.status).toBe(200)
  expect(list.body.map(({ client_name }: any) => client_name)).toEqual(['a', 'b', 'c'])
  expect(page.clients.nodes).toEqual([
    { clientName: 'a', owner: { id: identity.ada.id, name: 'ada' } },
    { clientName: 'b', owner: { id: identity.ada.id, name: 'ada' } },
  ])
  expect(page.clients.pageInfo.hasNextPage).toBe(true)
})

test('a client is replaced by PUT and by the graph, and keeps its secret', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)
  const { client_id } = (await ask('POST /client', { ...CLIENT, contacts: ['a@example.org'] })).body
  const [before] = await identity.store.sql('SELECT body FROM client')

  const put = await ask(`PUT /client/${client_id}`, { ...CLIENT, client_name: 'Olds' })
  const { updateClient } = await identity.ada.ask(
    `mutation { updateClient(clientId: "${client_id}", clientName: "New", clientUri: "https://n.example/",
       redirectUris: ["https://n.example/b"], responseTypes: ["id_token", "token id_token"]) {
       clientName responseTypes grantTypes contacts } }`,
  )

  expect(put).toMatchObject({ status: 200, body: { client_name: 'Olds', contacts: [] } })
  expect(updateClient).toEqual({
    clientName: 'New',
    responseTypes: ['id_token', 'token id_token'],
    grantTypes: ['implicit'],
    contacts: [],
  })
  const [after] = await identity.store.sql('SELECT body FROM client')
  expect(JSON.parse(after!.body).secretHash).toBe(JSON.parse(before!.body).secretHash)
})

test('a client is deleted with 204, and then is not there', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)
  const { client_id } = (await ask('POST /client', CLIENT)).body

  const deleted = await ask(`DELETE /client/${client_id}`)
  const again = await ask(`DELETE /client/${client_id}`)
  const read = await ask(`GET /client/${client_id}`)

  expect(deleted).toMatchObject({ status: 204, body: undefined })
  expect(again).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect(read.status).toBe(404)
})

test('what happens to a client is announced', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)
  const { client_id } = (await ask('POST /client', CLIENT)).body
  await ask(`PUT /client/${client_id}`, CLIENT)
  await ask(`DELETE /client/${client_id}`)

  const events = await readEvents(identity.store, { after: 0, limit: 100 })

  const own = events.filter(({ subject }) => subject === client_id)
  expect(own.map(({ type }) => type)).toEqual([
    'identity.client.created',
    'identity.client.changed',
    'identity.client.deleted',
  ])
  expect(JSON.stringify(own)).not.toContain('pgc_')
})

test('another person’s client is not there, at either door', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)
  const bob = await identity.register('bob')
  const { id } = await bob.client()

  for (const request of [`GET /client/${id}`, `DELETE /client/${id}`]) {
    expect(await ask(request)).toMatchObject({ status: 404, body: { error: 'not_found' } })
  }
  expect((await ask(`PUT /client/${id}`, CLIENT)).status).toBe(404)
  await expect(identity.ada.ask(`{ client(clientId: "${id}") { clientName } }`)).rejects.toThrow(
    `You have no client ${id}.`,
  )
  const reference = { __typename: 'Client', clientId: id }
  const query =
    'query ($r: [_Any!]!) { _entities(representations: $r) { ... on Client { clientName } } }'
  expect((await identity.ada.ask(query, { r: [reference] }))._entities).toEqual([null])
  expect((await bob.ask(query, { r: [reference] }))._entities).toEqual([{ clientName: 'A client' }])
  expect((await bob.ask(`{ client(clientId: "${id}") { clientName } }`)).client.clientName).toBe(
    'A client',
  )
})

test.each([
  ['no name', { client_name: undefined }, 'invalid_request'],
  ['no address', { client_uri: undefined }, 'invalid_request'],
  ['an address that is none', { client_uri: 'news' }, 'invalid_request'],
  ['a name that is a number', { client_name: 7 }, 'invalid_request'],
  ['a redirect URL that is none', { redirect_uris: ['back'] }, 'invalid_redirect_uri'],
  [
    'a redirect URL with a fragment',
    { redirect_uris: ['https://a.example/#x'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL with an empty fragment',
    { redirect_uris: ['https://a.example/#'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL with a wildcard',
    { redirect_uris: ['https://*.a.example/'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL with a password',
    { redirect_uris: ['https://a:b@a.example/'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL without https',
    { redirect_uris: ['http://a.example/'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL that is script',
    { redirect_uris: ['javascript:alert(1)'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL that is data',
    { redirect_uris: ['data:text/html,x'], application_type: 'native' },
    'invalid_redirect_uri',
  ],
  [
    'a scheme of one’s own on the web',
    { redirect_uris: ['org.example.app:/x'] },
    'invalid_redirect_uri',
  ],
  [
    'a redirect URL twice',
    { redirect_uris: ['https://a.example/', 'https://a.example/'] },
    'invalid_redirect_uri',
  ],
  [
    'no redirect URL outside test mode',
    { redirect_uris: [], test_mode: false },
    'invalid_redirect_uri',
  ],
  [
    'too many redirect URLs',
    { redirect_uris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) },
    'invalid_request',
  ],
  ['an unknown response type', { response_types: ['code magic'] }, 'invalid_client_metadata'],
  ['no response type', { response_types: [] }, 'invalid_client_metadata'],
  ['grant types that do not fit', { grant_types: ['implicit'] }, 'invalid_client_metadata'],
  ['an unknown application type', { application_type: 'toaster' }, 'invalid_request'],
  ['an unknown default scope', { default_scopes: ['everything'] }, 'invalid_client_metadata'],
  ['a negative max age', { default_max_age: -1 }, 'invalid_client_metadata'],
  ['a contact that is no address', { contacts: ['me'] }, 'invalid_request'],
])('%s is refused with a clear error, and nothing is kept', async (_what, change, error) => {
  const identity = await openIdentity()
  const ask = await asAda(identity)

  const refused = await ask('POST /client', { ...CLIENT, ...change })

  expect(refused).toMatchObject({ status: 400, body: { error } })
  expect(refused.body.error_description.length).toBeGreaterThan(10)
  expect((await ask('GET /client')).body).toEqual([])
})

test('a client without redirect URLs begins in test mode', async () => {
  const identity = await openIdentity()
  const ask = await asAda(identity)

  const made = await ask('POST /client', { ...CLIENT, redirect_uris: undefined })

  expect(made.body).toMatchObject({ redirect_uris: [], test_mode: true })
})

test('a new secret replaces the old one', async () => {
  const identity = await openIdentity()
  const { id, secret } = await identity.ada.client()

  const { rotateClientSecret } = await identity.ada.ask(
    `mutation { rotateClientSecret(clientId: "${id}") { clientSecret } }`,
  )

  expect(rotateClientSecret.clientSecret).toMatch(/^pgc_/)
  expect(rotateClientSecret.clientSecret).not.toBe(secret)
})

test('without a token there is 401, and with one for another service too', async () => {
  const identity = await openIdentity()
  const token = await identity.ada.token(['hsm'])

  const none = await identity.rest('GET /client', undefined, { credential: null })
  const other = await identity.rest('GET /client', undefined, {
    credential: null,
    headers: { authorization: `Bearer ${token}` },
  })

  expect(none).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  expect(none.headers['www-authenticate']).toContain('Bearer')
  expect(other.status).toBe(401)
})

test('a person has at most a hundred clients', async () => {
  const identity = await openIdentity()
  for (let i = 0; i < 100; i += 1) await identity.ada.client()

  await expect(identity.ada.client()).rejects.toThrow('You have 100 clients already.')
})

test('the owner of a client sees who signed in by it', async () => {
  const identity = await openIdentity()
  const bob = await identity.register('bob')
  const client = await bob.client()
  await identity.browser().signIn(client)

  const seen = await bob.ask(
    `{ client(clientId: "${client.id}") { signIns { nodes { outcome user { id } userAgent } } } }`,
  )

  expect(seen.client.signIns.nodes).toEqual([
    { outcome: 'SUCCEEDED', user: { id: identity.ada.id }, userAgent: 'test browser' },
  ])
})

test('a client may come as multipart/form-data', async () => {
  const identity = await openIdentity()
  const headers = {
    authorization: `Bearer ${await identity.ada.token()}`,
    'content-type': 'multipart/form-data; boundary=xx',
  }
  const part = (name: string, value: string) =>
    `--xx\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const send = (body: string) => identity.rest('POST /client', body, { credential: null, headers })
  const parts =
    part('client_name', 'Form') +
    part('client_uri', 'https://form.example/') +
    part('redirect_uris', 'https://form.example/a') +
    part('redirect_uris', 'https://form.example/b') +
    part('default_max_age', '60')

  const made = await send(`${parts}--xx--\r\n`)
  const twice = await send(`${parts}${part('client_name', 'again')}--xx--\r\n`)
  const broken = await send('no form')

  expect(made).toMatchObject({
    status: 201,
    body: {
      client_name: 'Form',
      redirect_uris: ['https://form.example/a', 'https://form.example/b'],
      default_max_age: 60,
    },
  })
  expect(twice).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
  expect(broken).toMatchObject({ status: 400, body: { error: 'invalid_request' } })
})
