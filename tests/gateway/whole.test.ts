// All services behind one port, as people meet them.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { examples } from '../../gateway/examples.ts'
import { openCollector } from './collector.ts'
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
    /could hold 10302 objects, and at most 10000/,
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

test('broken JSON, a huge body and a batch are refused', async () => {
  expect((await post('{"query":', asJson)).status).toBe(400)
  expect((await post(JSON.stringify({ query: 'x'.repeat(1024 * 1024) }), asJson)).status).toBe(413)
  expect((await post('[{"query":"{ clock { now } }"}]', asJson)).status).toBe(400)
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
