// All services behind one port, as people meet them.
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { examples } from '../../gateway/examples.ts'
import { openCollector } from './collector.ts'
import { openEvents } from './live-streams.ts'
import { openWhole, type Whole } from './whole.ts'

let whole: Whole
let collector: Awaited<ReturnType<typeof openCollector>>
beforeAll(async () => {
  collector = await openCollector()
  whole = await openWhole({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
})
afterAll(async () => {
  await whole.close()
  await collector.close()
})

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(`${whole.url}/graphql`, { method: 'POST', body, headers })
const asJson = { 'content-type': 'application/json' }

test('one query reaches several services as the person whose token was shown', async () => {
  const { data, errors } = await whole.graphql(`{
    me { name cloudAccounts { nodes { kind } } }
    brailleUnicode(text: "a") { contents { translated } }
    voiceConfigurationSets { nodes { name } }
    dedicatedHsms(subscriptionId: "${whole.credentials.hsm!.subscriptionId}") { value { name } }
  }`)

  expect(errors).toBeUndefined()
  expect(data).toEqual({
    me: {
      name: 'Ada',
      cloudAccounts: {
        nodes: expect.arrayContaining([
          { kind: 'SUBSCRIPTION' },
          { kind: 'PROJECT' },
          { kind: 'ACCOUNT' },
        ]),
      },
    },
    brailleUnicode: { contents: { translated: ['⠀', '⠀', '⠁', '\r', '\n'] } },
    voiceConfigurationSets: { nodes: [{ name: whole.credentials.voice!.configurationSetName }] },
    dedicatedHsms: { value: [{ name: whole.credentials.hsm!.hsmName }] },
  })
})

test('an entity of one service is joined to those of another', async () => {
  const { data, errors } = await whole.graphql(
    '{ cloudAccounts { nodes { kind dedicatedHsms { nodes { name } } } } }',
  )

  expect(errors).toBeUndefined()
  expect(data.cloudAccounts.nodes).toContainEqual({
    kind: 'SUBSCRIPTION',
    dedicatedHsms: { nodes: [{ name: whole.credentials.hsm!.hsmName }] },
  })
})

test('one query crosses identity, banking, media and cloud', async () => {
  const query = `query ($id: String!) {
    me {
      monetaryAccounts(first: 1) { nodes { id } }
      playlists(first: 5) { nodes { name } }
      assignments(first: 5) { nodes { name } }
    }
    cloudAccount(id: $id) {
      dedicatedHsms(first: 5) {
        nodes {
          __typename
          name
          groups(first: 5) { nodes { name } }
          protection { lastBackupTime }
          alarms(first: 5) { nodes { id } }
        }
      }
    }
  }`
  const variables = { id: whole.credentials.hsm!.subscriptionId }
  const expected = {
    me: {
      monetaryAccounts: { nodes: [{ id: whole.credentials.banking!.monetaryAccountId }] },
      playlists: { nodes: [{ name: 'On the way home' }] },
      assignments: {
        nodes: [{ name: 'Benches that need repair' }, { name: 'White storks in town' }],
      },
    },
    cloudAccount: {
      dedicatedHsms: {
        nodes: [
          {
            __typename: 'DedicatedHsm',
            name: whole.credentials.hsm!.hsmName,
            groups: { nodes: [{ name: whole.credentials['resource-groups']!.groupName }] },
            protection: null,
            alarms: { nodes: [] },
          },
        ],
      },
    },
  }

  // The first time it is planned, the second time it goes the short way.
  for (const _time of ['first', 'second']) {
    const { data, errors } = await whole.graphql(query, variables)
    expect(errors).toBeUndefined()
    expect(data).toEqual(expected)
  }
})

test('a live query is answered again after a change, and keeps nobody from stopping', async () => {
  // Nobody closes it.
  const events = await live(whole, 'query Mine { me { playlists(first: 5) { nodes { name } } } }')
  await events.next()

  const { data } = await whole.graphql('mutation { createPlaylist(name: "Live") { id } }')
  const made = await events.next()
  await whole.graphql('mutation ($id: String!) { deletePlaylist(id: $id) }', data.createPlaylist)
  const removed = await events.next()

  const playlists = (...names: string[]) => ({
    data: { me: { playlists: { nodes: names.map((name) => ({ name })) } } },
  })
  expect(made?.data).toEqual(playlists('Live', 'On the way home'))
  expect(removed?.data).toEqual(playlists('On the way home'))
})

test('nobody is told nothing, and a wrong token is refused', async () => {
  const nobody = await whole.graphql('{ me { name } }', {}, null)
  const wrong = await whole.graphql('{ me { name } }', {}, 'wrong')
  const otherAudience = await whole.graphql('{ me { name } }', {}, whole.credentials.hsm!.token)

  expect(nobody.data).toBeNull()
  expect(nobody.errors).toMatchObject([{ extensions: { code: 'Unauthenticated' } }])
  expect(wrong.status).toBe(401)
  expect(wrong.errors).toMatchObject([{ extensions: { code: 'Unauthenticated' } }])
  expect(otherAudience.status).toBe(401)
})

test('a refusal of a service keeps its code, its service and its path', async () => {
  const { errors } = await whole.graphql(
    'mutation { first: createApiKey(service: "braille", name: "") { secret } }',
  )

  expect(errors).toMatchObject([
    { path: ['first'], extensions: { code: 'Invalid', status: 400, service: 'identity' } },
  ])
  expect(JSON.stringify(errors)).not.toContain('stacktrace')
})

/** A token of the demo's person that permits this alone. */
async function tokenFor(...permissions: string[]): Promise<string> {
  const { data } = await whole.graphql(
    `mutation ($permissions: [String!]) {
       createAccessToken(name: "few", audiences: ["graph"], permissions: $permissions) { token } }`,
    { permissions },
  )
  return data.createAccessToken.token
}

test('a credential gets what it permits, and a refusal in place of the rest, each time', async () => {
  const token = await tokenFor('sms-voice:GetConfigurationSetEventDestinations')
  const name = whole.credentials.voice!.configurationSetName
  const query = `query ($name: String!) {
    one: voiceConfigurationSet(configurationSetName: $name) { name }
    backupVault(backupVaultName: "any") { backupVaultName }
  }`

  // The first time it is planned, the second time it goes the short way.
  for (const _time of ['first', 'second']) {
    expect(await whole.graphql(query, { name }, token)).toEqual({
      status: 200,
      data: { one: { name }, backupVault: null },
      errors: [
        {
          message: 'The credential does not permit backup:DescribeBackupVault.',
          path: ['backupVault'],
          extensions: {
            code: 'Forbidden',
            status: 403,
            service: 'backup',
            serviceName: 'backup',
          },
        },
      ],
    })
  }
})

test('a field for administrators is refused to others, and to nobody in other words', async () => {
  const query = 'mutation { createUser(name: "Eve", email: "eve@example.org") { id } }'
  const others = await whole.graphql(query, {}, await tokenFor('identity:*'))
  const nobody = await whole.graphql(query, {}, null)

  expect(others.errors).toMatchObject([
    { message: 'Only an administrator may ask this.', extensions: { code: 'Forbidden' } },
  ])
  expect(nobody.errors).toMatchObject([{ extensions: { code: 'Unauthenticated', status: 401 } }])
})

test('what is for services cannot be asked, not even seen', async () => {
  const asked = await whole.graphql('{ demoCredentials }')
  const seen = await whole.graphql('{ __type(name: "Query") { fields { name } } }')

  expect(asked.status).toBe(400)
  expect(asked.errors?.[0].message).toContain('Cannot query field "demoCredentials"')
  const names = seen.data.__type.fields.map(({ name }: { name: string }) => name)
  expect(names).toContain('me')
  expect(names).not.toContain('callerByToken')
})

test.each([
  [
    'deep',
    `{ me ${'{ cloudAccounts { nodes { owner '.repeat(5)} { id } ${'} } }'.repeat(5)} }`,
    /depth limit of 12/i,
  ],
  [
    'aliased',
    `{ ${Array.from({ length: 31 }, (_, i) => `a${i}: clock { now }`).join(' ')} }`,
    /alias/i,
  ],
  ['long', `{ ${'clock { now } '.repeat(2_000)} }`, /tokens/i],
  [
    'costly',
    '{ me { cloudAccounts(first: 100) { nodes { owner { cloudAccounts(first: 100) { nodes { id } } } } } } }',
    /costs 10302, and at most 10000 is allowed. Most of it, 10000, is me.cloudAccounts.nodes.owner.cloudAccounts.nodes/,
  ],
])('a query that is too %s is refused with the limit named', async (_case, query, message) => {
  const { status, errors } = await whole.graphql(query)

  expect(status).toBe(400)
  expect(errors?.[0].message).toMatch(message)
})

test('the cost of a query is that of the pages which its variables ask for, each time', async () => {
  const query =
    'query ($first: Int) { me { cloudAccounts(first: $first) { nodes { owner { cloudAccounts(first: $first) { nodes { id } } } } } } }'

  expect((await whole.graphql(query, { first: 10 })).status).toBe(200)
  expect((await whole.graphql(query, { first: 100 })).status).toBe(400)
  expect((await whole.graphql(query, { first: 10 })).status).toBe(200)
})

test('a page that is too large is refused', async () => {
  const { errors } = await whole.graphql('{ cloudAccounts(first: 101) { nodes { id } } }')

  expect(errors?.[0].message).toBe('first must be between 1 and 100.')
})

test('a form of another site cannot ask the graph', async () => {
  const answer = await post('{"query":"{ clock { now } }"}', { 'content-type': 'text/plain' })

  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('CSRF')
})

test('broken JSON and a huge body are refused', async () => {
  expect((await post('{"query":', asJson)).status).toBe(400)
  expect((await post(JSON.stringify({ query: 'x'.repeat(1024 * 1024) }), asJson)).status).toBe(413)
})

const batch = async (operations: readonly object[], { url, credentials }: Whole = whole) => {
  const headers = { ...asJson, authorization: `Bearer ${credentials.graph!.token}` }
  const body = JSON.stringify(operations)
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as any }
}

test('a batch is answered in its order, whatever is wrong with one of it', async () => {
  const me = { query: '{ me { name } }' }
  const wrong = { query: '{ nothing }' }
  const hash = { extensions: { persistedQuery: { version: 1, sha256Hash: 'f'.repeat(64) } } }

  const { status, body } = await batch([me, wrong, hash, me])

  expect(status).toBe(400)
  expect([body[0], body[3]]).toEqual([
    { data: { me: { name: 'Ada' } } },
    { data: { me: { name: 'Ada' } } },
  ])
  expect(body[1].errors[0].extensions.code).toBe('GRAPHQL_VALIDATION_FAILED')
  expect(body[2].errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND')
  expect(await batch([me])).toEqual({ status: 200, body: [{ data: { me: { name: 'Ada' } } }] })
})

test('a batch has at most ten operations, which together cost no more than one may', async () => {
  const half = { query: '{ cloudAccounts(first: 5000) { nodes { id } } }' }
  const key = { query: 'mutation { createApiKey(service: "braille", name: "batch") { secret } }' }

  const long = await batch(Array.from({ length: 11 }, () => ({ query: '{ clock { now } }' })))
  const costly = await batch([half, key, half])

  expect(long.status).toBe(400)
  expect(long.body.errors[0].message).toContain(
    'The batch has 11 operations, and at most 10 are allowed. Send several batches.',
  )
  expect(costly.status).toBe(400)
  expect(costly.body.map(({ errors }: any) => errors[0].message)).toEqual([
    'The queries of this batch cost 10013 together, and at most 10000 is allowed; this one costs 5001. Most of it, 5000, is cloudAccounts.nodes. Ask for smaller pages or fewer levels.',
    'The queries of this batch cost 10013 together, and at most 10000 is allowed; this one costs 11. Most of it, 11, is createApiKey. Ask for smaller pages or fewer levels.',
    'The queries of this batch cost 10013 together, and at most 10000 is allowed; this one costs 5001. Most of it, 5000, is cloudAccounts.nodes. Ask for smaller pages or fewer levels.',
  ])
  // Nothing of it ran.
  const { data } = await whole.graphql('{ apiKeys { nodes { name } } }')
  expect(data.apiKeys.nodes).not.toContainEqual({ name: 'batch' })
})

test('a query can be sent by its hash once it is known', async () => {
  const query = '{ __typename }'
  const persisted = (more: object) =>
    post(
      JSON.stringify({
        ...more,
        extensions: {
          persistedQuery: {
            version: 1,
            sha256Hash: '7f56e67dd21ab3f30d1ff8b7bed08893f0a0db86449836189b361dd1e56ddb4b',
          },
        },
      }),
      asJson,
    ).then((answer) => answer.json() as Promise<any>)

  expect((await persisted({})).errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND')
  expect((await persisted({ query })).data).toEqual({ __typename: 'Query' })
  expect((await persisted({})).data).toEqual({ __typename: 'Query' })
})

test('a browser gets GraphiQL from this port alone', async () => {
  const page = await fetch(`${whole.url}/graphql`, { headers: { accept: 'text/html' } })
  const html = await page.text()

  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(html).not.toMatch(/https?:\/\//)
  for (const { query } of examples) expect(html).toContain(JSON.stringify(query))
  for (const [, asset] of html.matchAll(/(?:src|href)="(\/[^"]+)"/g)) {
    const answer = await fetch(whole.url + asset)
    expect(answer.status, asset).toBe(200)
    expect((await answer.text()).length, asset).toBeGreaterThan(5_000)
  }
})

test('health, readiness and figures are there for operators', async () => {
  const health = await fetch(`${whole.url}/healthz`)
  const ready = await fetch(`${whole.url}/readyz`)
  const figures = await (await fetch(`${whole.url}/metrics`)).text()

  expect(await health.json()).toEqual({ status: 'ok' })
  expect(await ready.json()).toEqual({ status: 'ready', notReady: [] })
  expect(figures).toContain(
    'polygraph_requests_total{service="gateway",operation="/healthz",door="rest",status="200"}',
  )
  expect(figures).toContain('polygraph_fetches_total{subgraph="identity",outcome="ok"}')
  expect(figures).toContain(
    'polygraph_requests_total{service="identity",operation="me",door="graph",status="200"}',
  )
  expect(figures).toContain('polygraph_work_steps{service="hsm",state="waiting"}')
  expect(figures).toContain('polygraph_store_commits{service="identity"}')
})

test('a request is traced to where the operator said, with its fetches and without what it says', async () => {
  const [trace, parent] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331']
  const query =
    'query Secret($id: String!) { cloudAccounts { nodes { dedicatedHsms { nodes { id } } } } podcast(id: $id) { id } }'

  const answer = await post(JSON.stringify({ query, variables: { id: 'nobody-may-know' } }), {
    ...asJson,
    authorization: `Bearer ${whole.credentials.graph!.token}`,
    traceparent: `00-${trace}-${parent}-01`,
  })
  const spans = await collector.spansOf(trace, 'POST /graphql')

  const { spanId } = spans.find(({ name }) => name === 'POST /graphql')!
  const fetches = spans.filter(({ parentSpanId }) => parentSpanId === spanId)
  expect(spans).toContainEqual({
    service: 'polygraph',
    name: 'POST /graphql',
    traceId: trace,
    spanId,
    parentSpanId: parent,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/graphql',
      'http.response.status_code': 200,
      'polygraph.request_id': answer.headers.get('x-request-id'),
    },
  })
  const told = fetches.map(({ name, attributes }) => [name, ...Object.values(attributes)])
  expect(told.toSorted()).toEqual([
    ['fetch hsm', 'hsm', 3, 'ok'],
    ['fetch identity', 'identity', 0, 'ok'],
    ['fetch podcasts', 'podcasts', 0, 'error'],
  ])
  expect(JSON.stringify(collector.got)).not.toMatch(/nobody-may-know|Secret|dedicatedHsms/)
})

test('each service has its OpenAPI, and an unknown path says so', async () => {
  const document = (await (await fetch(`${whole.url}/voice/openapi.json`)).json()) as any
  const unknown = await fetch(`${whole.url}/nothing/at/all`)

  expect(document.openapi).toBe('3.1.0')
  expect(unknown.status).toBe(404)
  expect(await unknown.json()).toEqual({ message: 'Nothing is served at /nothing/at/all.' })
})

test('the demo credentials open the REST door of each service', async () => {
  const { braille, hsm } = whole.credentials
  const text = await fetch(`${whole.url}/braille/translate/braille/dots?text=a`, {
    headers: { 'x-vendor-api-secret': braille!.apiKey! },
  })
  const modules = await fetch(
    `${whole.url}/hsm/subscriptions/${hsm!.subscriptionId}/providers/Vendor.HardwareSecurityModules/dedicatedHSMs?api-version=2018-10-31-preview`,
    { headers: { authorization: `Bearer ${hsm!.token}` } },
  )

  expect(((await text.json()) as any).contents.translated).toEqual([
    'none',
    'none',
    '1',
    '\r',
    '\n',
  ])
  expect(((await modules.json()) as any).value).toHaveLength(1)
})

test('a key is refused five seconds after it was revoked, and a new one works at once', async () => {
  const made = await whole.graphql(
    'mutation { createApiKey(service: "braille", name: "short") { secret apiKey { id } } }',
  )
  const { secret, apiKey } = made.data.createApiKey
  const ask = () =>
    fetch(`${whole.url}/braille/translate/braille?text=a`, {
      headers: { 'x-vendor-api-secret': secret },
    }).then(({ status }) => status)
  expect(await ask()).toBe(200)

  await whole.graphql(`mutation { revokeApiKey(id: "${apiKey.id}") { revoked } }`)

  await expect.poll(ask, { timeout: 5_000, interval: 250 }).toBe(401)
})

test('the clock of all services moves together, and their work with it', async () => {
  const { hsm } = whole.credentials
  const base = `${whole.url}/hsm/subscriptions/${hsm!.subscriptionId}/resourceGroups/${hsm!.resourceGroup}/providers/Vendor.HardwareSecurityModules/dedicatedHSMs/${hsm!.hsmName}?api-version=2018-10-31-preview`
  const { data } = await whole.graphql('mutation { advance(seconds: 3600) { aheadSeconds } }')

  const answer = await fetch(base, { headers: { authorization: `Bearer ${hsm!.token}` } })

  expect(data.advance.aheadSeconds).toBe(3600)
  expect(((await answer.json()) as any).properties.provisioningState).toBe('Succeeded')
})

test('what was left is there at the next start, and so is the time', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-again-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const first = await openWhole({ POLYGRAPH_DATA: folder })
  await first.graphql('mutation { createApiKey(service: "braille", name: "kept") { secret } }')
  await first.graphql('mutation { advance(seconds: 86400) { now } }')
  await first.close()

  const second = await openWhole({ POLYGRAPH_DATA: folder })
  onTestFinished(() => second.close())
  const { data } = await second.graphql('{ apiKeys { nodes { name } } clock { aheadSeconds } }')

  expect(second.credentials).toEqual(first.credentials)
  expect(data.apiKeys.nodes).toContainEqual({ name: 'kept' })
  expect(data.clock.aheadSeconds).toBe(86_400)
  expect(await readdir(folder)).toContain('secret.key')
  expect((await stat(join(folder, 'secret.key'))).mode & 0o777).toBe(0o600)
})

test('without a demo there are no credentials, no people and no introspection where it is off', async () => {
  const bare = await openWhole({ POLYGRAPH_DEMO: '0', POLYGRAPH_INTROSPECTION: '0' })
  onTestFinished(() => bare.close())

  expect(bare.credentials).toEqual({})
  const { errors } = await bare.graphql('{ __schema { types { name } } }')
  expect(errors?.[0].message).toContain('introspection')
  const page = await fetch(`${bare.url}/graphql`, { headers: { accept: 'text/html' } })
  expect(page.headers.get('content-type')).not.toContain('text/html')
})

test('an operator lists what may be asked, and services ask the graph all the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-safelist-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  // What groups a module is in, resource-groups finds out by asking the graph.
  const listed =
    'query Groups($id: String!) { cloudAccount(id: $id) { dedicatedHsms { nodes { groups { nodes { name } } } } } }'
  await writeFile(join(folder, 'groups.graphql'), listed)
  const strict = await openWhole({ POLYGRAPH_SAFELIST: folder, POLYGRAPH_BATCH_MAX: '1' })
  onTestFinished(() => strict.close())
  const { hsm, 'resource-groups': groups } = strict.credentials

  const { data } = await strict.graphql(listed, { id: hsm!.subscriptionId })

  expect(data.cloudAccount.dedicatedHsms.nodes).toEqual([
    { groups: { nodes: [{ name: groups!.groupName }] } },
  ])
  expect((await strict.graphql('{ me { id } }')).errors).toMatchObject([
    { extensions: { code: 'OPERATION_NOT_ALLOWED' } },
  ])
  const asked = await live(strict, 'query Me { me { id } }')
  expect([asked.status, (await asked.json()).errors[0].extensions.code]).toEqual([
    400,
    'OPERATION_NOT_ALLOWED',
  ])
  expect((await batch([{ query: listed }], strict)).body.errors).toMatchObject([
    { message: 'Operation batching disabled.' },
  ])
})

test('a service alone has its REST at the root and its graph beside it', async () => {
  const alone = await openWhole({}, 'braille')
  onTestFinished(() => alone.close())

  const answer = await fetch(`${alone.url}/translate/braille?text=a`)
  const shown = await fetch(`${alone.url}/translate/braille?text=a`, {
    headers: { 'x-vendor-api-secret': alone.credentials.braille!.apiKey! },
  })
  const graph = await alone.graphql('{ brailleDots(text: "a") { success { total } } }', {}, null)

  expect(answer.status).toBe(401)
  expect(shown.status).toBe(200)
  expect(graph.status).toBe(401)
  expect((await fetch(`${alone.url}/openapi.json`)).status).toBe(200)
  expect((await fetch(`${alone.url}/healthz`)).status).toBe(200)
  expect((await live(alone, 'query Dots { me { id } }')).status).toBe(501)
})

test('a service that comes later gets its demo at the next start, and the others keep theirs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-later-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const alone = await openWhole({ POLYGRAPH_DATA: folder }, 'braille')
  await alone.close()

  const all = await openWhole({ POLYGRAPH_DATA: folder })
  onTestFinished(() => all.close())

  expect(Object.keys(alone.credentials).toSorted()).toEqual(['braille', 'graph'])
  expect(all.credentials).toMatchObject(alone.credentials)
  expect(all.credentials.voice!.accessKeyId).toMatch(/^AKIA/)
})

const live = ({ url, credentials }: Whole, query: string) =>
  openEvents(`${url}/graphql/live`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${credentials.graph!.token}`,
    },
    body: JSON.stringify({ query }),
  })
