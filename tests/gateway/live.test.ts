// Live queries: what begins one, what makes another answer, how it ends.
import { connect } from 'node:net'
import { once } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import type { Answer, Variables } from '../../gateway/executor/source.ts'
import { newReads } from '../../gateway/live-reads.ts'
import { MANY, PLAIN, READY_MS, VERSION } from '../hsm/modules.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION, tokenOf } from '../people.ts'
import { openEvents, openLiveDoor, openLiveGraph } from './live-streams.ts'

const MODULES = `query Modules { cloudAccount(id: "${SUBSCRIPTION}") {
  dedicatedHsms { nodes { name tags } } } }`
const modules = (...nodes: object[]) => ({
  data: { cloudAccount: { dedicatedHsms: { nodes } } },
})
const one = (name: string) => `/hsm${MANY}/${name}?${VERSION}`
const others = (name: string) =>
  `/hsm${MANY.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)}/${name}?${VERSION}`
const eventStream = { accept: 'text/event-stream' }
const REVOKED = {
  code: 'Unauthenticated',
  message: 'The access token is unknown, expired, revoked or not for the graph.',
}
const alice = { ...eventStream, authorization: `Bearer ${tokenOf('alice')}` }

test('the answer is sent at once, and again when REST or the graph has changed it', async () => {
  const { live, rest, ask } = await openLiveGraph()

  const events = await live(MODULES)
  const first = await events.next()
  await rest(`PUT ${one('first')}`, PLAIN)
  const second = await events.next()
  await ask(`mutation { tagDedicatedHsm(id: "${MANY}/first", tags: { team: "keys" }) { name } }`)
  const third = await events.next()
  events.close()

  expect(events.status).toBe(200)
  expect(events.headers['content-type']).toBe('text/event-stream; charset=utf-8')
  expect([first, second, third]).toEqual([
    { id: '1', event: 'next', data: modules() },
    { id: '2', event: 'next', data: modules({ name: 'first', tags: null }) },
    { id: '3', event: 'next', data: modules({ name: 'first', tags: { team: 'keys' } }) },
  ])
})

test('what a service changes by itself is sent too', async () => {
  const { live, rest, advance } = await openLiveGraph()
  await rest(`PUT ${one('first')}`, PLAIN)
  const events = await live(`query State { dedicatedHsm(subscriptionId: "${SUBSCRIPTION}",
    resourceGroupName: "Vaults", name: "first") { properties { provisioningState } } }`)
  const first = await events.next()

  await advance(READY_MS)

  const state = (provisioningState: string) => ({
    data: { dedicatedHsm: { properties: { provisioningState } } },
  })
  expect(first?.data).toEqual(state('Provisioning'))
  let last = await events.next()
  while (last?.data.data.dedicatedHsm.properties.provisioningState !== 'Succeeded')
    last = await events.next()
  expect(last.data).toEqual(state('Succeeded'))
})

test('what others change and the caller cannot see sends nothing', async () => {
  const { live, rest, fetches } = await openLiveGraph()
  const events = await live(MODULES)
  await events.next()
  const before = fetches('hsm')

  expect(await rest(`PUT ${others('theirs')}`, PLAIN, 'bob')).toBe(201)
  await vi.waitFor(() => expect(fetches('hsm')).toBe(before + 1), { interval: 5 })
  await rest(`PUT ${one('mine')}`, PLAIN)

  expect(await events.next()).toEqual({
    id: '2',
    event: 'next',
    data: modules({ name: 'mine', tags: null }),
  })
})

test('a change in a service that was not read asks nothing again', async () => {
  const { live, rest, ask, fetches } = await openLiveGraph()
  const events = await live(MODULES)
  await events.next()
  const before = fetches('identity')

  const { errors } = await ask(
    'mutation { createVoiceConfigurationSet(configurationSetName: "calls") { name } }',
  )
  await rest(`PUT ${one('mine')}`, PLAIN)
  await events.next()

  expect(errors).toBeUndefined()
  expect(fetches('identity')).toBe(before + 1)
})

describe('what is read', () => {
  const change = (type: string, ...names: string[]) => ({
    service: type.slice(0, type.indexOf('.')),
    type,
    names,
  })
  const told = { representations: [{ __typename: 'User', id: 'Alice' }] }

  test('of plain fields of entities, what names them counts, and what comes or goes', () => {
    const reads = newReads()
    reads.add('identity', told, { data: { _entities: [{ name: 'Alice A.' }, null] } })

    expect(reads.areTouchedBy(change('identity.user.changed', 'alice'))).toBe(true)
    expect(reads.areTouchedBy(change('identity.user.changed', 'bob'))).toBe(false)
    expect(reads.areTouchedBy(change('identity.client.changed', '7', 'ALICE'))).toBe(true)
    expect(reads.areTouchedBy(change('identity.user.created', 'bob'))).toBe(true)
    expect(reads.areTouchedBy(change('identity.user.deleted', 'bob'))).toBe(true)
    expect(reads.areTouchedBy(change('hsm.module.created', 'alice'))).toBe(false)
  })

  test.each<[string, Variables, Answer | undefined]>([
    ['a root field', {}, { data: { me: { name: 'Alice A.' } } }],
    ['a list in an entity', told, { data: { _entities: [{ accounts: ['a'] }] } }],
    ['an object in an entity', told, { data: { _entities: [{ owner: { name: 'Bob' } }] } }],
    ['an error', told, { data: { _entities: [null] }, errors: [{ message: 'No.' }] }],
    ['a failure', told, undefined],
  ])('of %s, anything in its service counts', (_what, variables, answer) => {
    const reads = newReads()
    reads.add('identity', told, { data: { _entities: [{ name: 'Alice A.' }] } })
    reads.add('identity', variables, answer)

    expect(reads.areTouchedBy(change('identity.user.changed', 'bob'))).toBe(true)
    expect(reads.areTouchedBy(change('hsm.module.changed', 'bob'))).toBe(false)
  })
})

test('a credential that was revoked ends the stream at the next change, and says so', async () => {
  const { live, rest, revoke } = await openLiveGraph()
  const events = await live(MODULES)
  await events.next()

  revoke('alice')
  await rest(`PUT ${others('theirs')}`, PLAIN, 'bob')

  expect(await events.next()).toEqual({ event: 'complete', data: REVOKED })
  expect(await events.next()).toBeUndefined()
})

test('signs of life are sent, and without a change too a revoked credential ends the stream', async () => {
  const { live, revoke } = await openLiveGraph({ timing: { beatMs: 10 } })
  const events = await live(MODULES)
  await events.next()

  const life = await events.next()
  revoke('alice')
  let last = await events.next()
  while (last?.event === '') last = await events.next()

  expect(life).toEqual({ event: '', data: undefined })
  expect(last).toEqual({ event: 'complete', data: REVOKED })
})

test('changes that come close together are answered once', async () => {
  const { live, rest, fetches } = await openLiveGraph({ timing: { gatherMs: 150, pauseMs: 0 } })
  const events = await live(MODULES)
  await events.next()
  const before = fetches('hsm')

  for (const name of ['first', 'second', 'third']) await rest(`PUT ${one(name)}`, PLAIN)

  expect((await events.next())?.data).toEqual(
    modules(
      { name: 'first', tags: null },
      { name: 'second', tags: null },
      { name: 'third', tags: null },
    ),
  )
  expect(fetches('hsm')).toBe(before + 1)
})

test('what changes while an answer is made is answered too', async () => {
  let asked = 0
  const { url, news } = await openLiveDoor(
    () => {
      asked += 1
      if (asked === 1) news.tell('any', [{ type: 'any.thing.changed', subject: '1', body: {} }])
      return { asked }
    },
    { gatherMs: 1, pauseMs: 0 },
    'any',
  )

  const events = await openEvents(url, { headers: eventStream })

  expect((await events.next())?.data).toEqual({ data: { asked: 1 } })
  expect((await events.next())?.data).toEqual({ data: { asked: 2 } })
})

test('GET asks too, and goes on counting where a client that comes again left off', async () => {
  const { get } = await openLiveGraph()
  const query = 'query Account($id: String!) { cloudAccount(id: $id) { id } }'
  const variables = JSON.stringify({ id: SUBSCRIPTION })

  const events = await get({ query, variables }, { ...alice, 'last-event-id': '41' })

  expect(await events.next()).toEqual({
    id: '42',
    event: 'next',
    data: { data: { cloudAccount: { id: SUBSCRIPTION } } },
  })
  events.close()
})

describe('refused', () => {
  const refused = async (events: Awaited<ReturnType<typeof openEvents>>) => {
    const { errors } = await events.json()
    return [events.status, errors[0].extensions.code, errors[0].message]
  }

  test('is what is no query with a name, and nothing of it runs', async () => {
    const { live, ask } = await openLiveGraph()
    const set =
      'mutation Make { createVoiceConfigurationSet(configurationSetName: "calls") { name } }'

    expect(await refused(await live(set))).toEqual([
      400,
      'Invalid',
      'A mutation cannot be live: only queries are asked again. Send it to /graphql.',
    ])
    expect(await refused(await live('{ me { id } }'))).toEqual([
      400,
      'Invalid',
      'A live query needs a name: query Vaults { … }.',
    ])
    const { data } = await ask('{ voiceConfigurationSets { nodes { name } } }')
    expect(data).toEqual({ voiceConfigurationSets: { nodes: [] } })
  })

  test('is what any query is refused for, by the same words', async () => {
    const { live } = await openLiveGraph()

    const wrong = await live('query Wrong { nothing }')
    const broken = await live('query Broken {')
    const costly = await live(MODULES.replace('dedicatedHsms', 'dedicatedHsms(first: 20000)'))

    expect(await refused(wrong)).toEqual([
      400,
      'GRAPHQL_VALIDATION_FAILED',
      'Cannot query field "nothing" on type "Query".',
    ])
    expect((await refused(broken)).slice(0, 2)).toEqual([400, 'GRAPHQL_PARSE_FAILED'])
    expect((await refused(costly)).slice(0, 2)).toEqual([400, 'QUERY_TOO_COSTLY'])
  })

  test('is a credential that is wrong, and a token in the address', async () => {
    const { get, revoke } = await openLiveGraph()
    const query = 'query Me { me { id } }'
    revoke('alice')

    expect(await refused(await get({ query }, alice))).toEqual([
      401,
      'Unauthenticated',
      REVOKED.message,
    ])
    expect(await refused(await get({ query, access_token: tokenOf('bob') }))).toEqual([
      400,
      'Invalid',
      'There is no access_token: send query, variables and operationName; a token in the header Authorization.',
    ])
  })

  test('is a request that is no request for events, or from a page of another site', async () => {
    const { get, url } = await openLiveGraph()
    const query = 'query Me { me { id } }'
    const post = (headers: Record<string, string>, body: string) =>
      openEvents(`${url}/graphql/live`, { method: 'POST', headers: { ...alice, ...headers }, body })
    const json = { 'content-type': 'application/json' }
    const codes = async (events: Promise<Awaited<ReturnType<typeof openEvents>>>) =>
      (await refused(await events)).slice(0, 2)

    expect(await codes(get({ query }, { accept: 'application/json' }))).toEqual([
      406,
      'NotAcceptable',
    ])
    expect(await codes(get({ query, variables: '{' }))).toEqual([400, 'Invalid'])
    expect(await codes(get({ query }, { 'sec-fetch-site': 'cross-site' }))).toEqual([
      400,
      'Invalid',
    ])
    expect(await codes(post({}, JSON.stringify({ query })))).toEqual([400, 'Invalid'])
    expect(await codes(post(json, '{'))).toEqual([400, 'Invalid'])
    expect(await codes(post(json, '[]'))).toEqual([400, 'Invalid'])
    expect(await codes(post(json, JSON.stringify({ query, variables: [] })))).toEqual([
      400,
      'Invalid',
    ])
    expect(await codes(post(json, JSON.stringify({ query: 7 })))).toEqual([400, 'Invalid'])
    const other = await openEvents(`${url}/graphql/live`, { method: 'PUT', headers: alice })
    expect([other.status, other.headers.allow]).toEqual([405, 'GET, POST'])
  })

  test('is one stream more than the caller or the process may have, until one has ended', async () => {
    const { live, telemetry } = await openLiveGraph({
      limits: { streamsMax: 3, callerStreamsMax: 2 },
    })
    const query = 'query Me { me { id } }'
    const first = await live(query)
    await live(query)

    expect(await refused(await live(query))).toEqual([
      429,
      'TooMany',
      'You have 2 live queries open, all that one may have. End one.',
    ])
    expect((await live(query, 'bob')).status).toBe(200)
    expect(await telemetry.figures()).toContain('polygraph_live_streams 3')
    expect(await refused(await live(query, 'bob'))).toEqual([
      503,
      'Unavailable',
      'There are 3 live queries, all that this process holds. Try later.',
    ])

    first.close()
    await vi.waitFor(async () => expect((await live(query)).status).toBe(200), { interval: 5 })
  })
})

test('one that was refused does not count', async () => {
  const { live } = await openLiveGraph({ limits: { streamsMax: 1, callerStreamsMax: 1 } })

  expect((await live('query Wrong { nothing }')).status).toBe(400)
  expect((await live('query Me { me { id } }')).status).toBe(200)
})

test('a client that does not read is cut off', async () => {
  let answers = 0
  const long = 'x'.repeat(16 * 1024 * 1024)
  const { url, server, news } = await openLiveDoor(
    () => ({ long: `${long}${(answers += 1)}` }),
    { gatherMs: 1, pauseMs: 0 },
    'any',
  )
  const { host, pathname, search } = new URL(url)
  const socket = connect(Number(host.split(':')[1]), '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write(
    `GET ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\naccept: text/event-stream\r\n\r\n`,
  )
  const [connection] = await once(server, 'connection')
  await vi.waitFor(() => expect(answers).toBe(1), { interval: 5 })

  const cutOff = once(connection, 'close')
  news.tell('any', [{ type: 'any.thing.changed', subject: '1', body: {} }])

  await cutOff
  expect(answers).toBe(2)
  socket.destroy()
})

test('a process that stops ends its streams, and does not wait for their clients', async () => {
  const { live, front } = await openLiveGraph()
  const events = await live('query Me { me { id } }')
  await events.next()

  const closing = front.close()

  expect(await events.next()).toEqual({
    event: 'complete',
    data: { code: 'SHUTTING_DOWN', message: 'The gateway stops. Connect again.' },
  })
  await closing
})
