import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Outbound, OutboundRequest } from '../../resolvers/kernel/outbound.ts'
import type { TestService } from '../open.ts'
import type { Person } from '../people.ts'
import { assign, contribute, moderate, openContributions, publish } from './scene.ts'

const DAY_MS = 24 * 60 * 60_000
const SUBSCRIBE = `mutation ($types: [String!]!, $includeBody: Boolean = false, $assignment: ID, $url: String, $email: String) {
  createContributionSubscription(types: $types, includeBody: $includeBody, includeThumbnail: true,
    assignment: $assignment, url: $url, email: $email) { id token types user { id } assignment { id } url email } }`
const FEED = `{ contributionNotifications { nodes {
  type date subject html contribution { id } delivery { status attempts httpStatus reason } } } }`

async function subscribe(service: TestService, more: object, credential: Person = 'alice') {
  const variables = { types: ['contribution.created'], ...more }
  const { data, errors } = await service.graphql(SUBSCRIBE, variables, { credential })
  if (errors) throw new Error(errors[0].message)
  return data.createContributionSubscription
}

async function feedOf(service: TestService, credential: Person = 'alice') {
  const { data } = await service.graphql(FEED, {}, { credential })
  return data.contributionNotifications.nodes as any[]
}

/** Takes calls, and answers with the statuses in turn, the last one again and again. */
function hook(...statuses: number[]) {
  const calls: OutboundRequest[] = []
  const outbound: Outbound = {
    async send(request) {
      calls.push(request)
      const status = statuses[Math.min(calls.length, statuses.length) - 1]!
      if (status === 0) throw new Error('connection reset')
      return { status, headers: {}, body: Buffer.alloc(0) }
    },
  }
  return { calls, outbound }
}

test('subscriptions are made in the graph, listed and deleted by REST', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const made = await subscribe(service, {
    assignment,
    email: 'alice@example.org',
    url: 'https://hooks.example/a',
  })

  const listed = await service.rest('GET /1/subscriptions', { types: ['ignored'] })
  const others = await service.rest('GET /1/subscriptions', undefined, { credential: 'bob' })
  const inGraph = await service.graphql(
    '{ contributionSubscriptions { total items { id token } } }',
  )
  const foreign = await service.rest(`DELETE /1/subscriptions/${made.id}`, undefined, {
    credential: 'bob',
  })
  const deleted = await service.rest(`DELETE /1/subscriptions/${made.id}`)
  const again = await service.graphql(
    'mutation ($id: ID!) { deleteContributionSubscription(id: $id) }',
    { id: made.id },
  )

  expect(made).toMatchObject({
    types: ['contribution.created'],
    user: { id: 'alice' },
    assignment: { id: assignment },
  })
  expect(listed).toMatchObject({ status: 200, headers: { 'x-total-count': '1' } })
  expect(listed.body).toEqual([
    {
      id: made.id,
      token: made.token,
      user: 'alice',
      types: ['contribution.created'],
      includeBody: false,
      includeThumbnail: true,
      includeThumbenail: true,
      assignment,
      email: 'alice@example.org',
    },
  ])
  expect(others.body).toEqual([])
  expect(inGraph.data.contributionSubscriptions).toEqual({
    total: 1,
    items: [{ id: made.id, token: made.token }],
  })
  expect([foreign.status, deleted.status]).toEqual([404, 200])
  expect(again.errors![0]!.extensions.code).toBe('NotFound')
  const [kept] = await service.store.sql('SELECT count(*) AS n FROM interest')
  expect(kept!.n).toBe(0)
})

test('a token is not readable in the store', async () => {
  const service = await openContributions()
  const { token } = await subscribe(service, {})

  const rows = await service.store.sql('SELECT body FROM subscription')

  expect(rows[0]!.body).not.toContain(token)
})

test('subscriptions that make no sense are refused', async () => {
  const service = await openContributions()
  const wrong = [
    [{ types: ['contribution.lost'] }, 'types'],
    [{ types: [] }, 'types'],
    [{ types: ['contribution.created'], assignment: 'none' }, 'assignment'],
    [{ types: ['contribution.created'], url: 'ftp://hooks.example' }, 'url'],
    [{ types: ['contribution.created'], url: 'https://me:pass@hooks.example' }, 'url'],
    [{ types: ['contribution.created'], email: 'nobody' }, 'email'],
  ] as const

  for (const [variables, name] of wrong) {
    const { errors } = await service.graphql(SUBSCRIBE, variables)
    expect(errors![0]!.extensions).toMatchObject({ code: 'Invalid', fields: [{ name }] })
  }
})

test('a subscriber is told of what happens, and of nothing that they could not see', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const types = [
    'contribution.created',
    'contribution.published',
    'contribution.rejected',
    'contribution.flagged',
  ]
  await subscribe(service, { types, assignment, includeBody: true })
  const other = await assign(service, { name: 'Benches' })
  await subscribe(service, { types: ['contribution.created', 'contribution.published'] }, 'bob')

  const id = await contribute(
    service,
    { headline: 'Fire & smoke', body: 'At <noon>.', assignment: { id: assignment } },
    'alice',
  )
  await service.advance(1_000)
  await moderate(service, id, 'approve')
  await service.rest(`POST /1/contributions/${id}/flag`, { type: 'spam' }, { credential: 'bob' })
  await service.advance(1_000)
  await moderate(service, id, 'reject')
  await contribute(service, { assignment: { id: other } }, 'alice')
  await service.advance(1_000)
  const alice = await feedOf(service)
  const bob = await feedOf(service, 'bob')

  expect(alice.map(({ type }) => type)).toEqual([
    'contribution.rejected',
    'contribution.flagged',
    'contribution.published',
    'contribution.created',
  ])
  expect(alice.at(-1)).toEqual({
    type: 'contribution.created',
    date: '2030-01-01T00:00:00.000Z',
    subject: 'New contribution: Fire & smoke',
    html:
      '<!doctype html><html><body><h1>Fire &amp; smoke</h1>' +
      '<p>A contribution waits for a moderator: Floods.</p><p>By alice</p><p>At &lt;noon&gt;.</p></body></html>',
    contribution: { id },
    delivery: null,
  })
  // Bob saw it while it was public, and does not now.
  expect(bob).toMatchObject([{ type: 'contribution.published', contribution: null }])
  expect(bob[0].html).not.toContain('noon')
})

test('a subscription to every assignment and one to this one both tell, once each', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  await subscribe(service, {})
  await subscribe(service, { assignment })

  await contribute(service, { assignment: { id: assignment } })
  await service.advance(1_000)

  expect(await feedOf(service)).toHaveLength(2)
})

test('more subscribers than one step takes are all told, and once when the step runs twice', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  await service.store.transaction(async (tx) => {
    const { interests, subscriptions } =
      await import('../../resolvers/contributions/subscriptions.ts')
    for (let n = 0; n < 230; n += 1) {
      const shared = { user: 'alice', id: `s${n}` }
      const types = ['contribution.created']
      await tx.insert(subscriptions, {
        ...shared,
        types,
        token: '',
        includeBody: false,
        includeThumbnail: false,
        assignment,
        address: '',
      })
      await tx.insert(interests, {
        type: types[0]!,
        assignment,
        user: 'alice',
        subscription: shared.id,
      })
    }
  })
  const count = async () =>
    (await service.store.sql('SELECT count(*) AS n FROM notification'))[0]!.n

  const id = await contribute(service, { assignment: { id: assignment } })
  await service.advance(1_000)
  const once = await count()
  const [event] = await service.store.sql(
    "SELECT id, time FROM event WHERE type = 'contributions.contribution.created'",
  )
  const { listeners } = await import('../../resolvers/contributions/notifications.ts')
  const ctx = service.opened.contextFor(
    { ...(await import('../people.ts')).people.alice, kind: 'service' },
    { address: '', headers: {} },
  )
  await listeners['contributions.contribution.created']!(
    {
      id: event!.id,
      time: event!.time,
      type: 'contributions.contribution.created',
      subject: id,
      body: {},
    },
    ctx,
  )
  await service.advance(1_000)

  expect([once, await count()]).toEqual([230, 230])
})

test('a web hook gets the message, signed with the token of the subscription', async () => {
  const { calls, outbound } = hook(204)
  const service = await openContributions({ outbound })
  const assignment = await assign(service)
  const { id: subscription, token } = await subscribe(service, {
    assignment,
    includeBody: true,
    url: 'https://hooks.example/a',
  })

  const id = await contribute(service, { body: 'Deep.', assignment: { id: assignment } })
  await service.advance(1_000)

  expect(calls).toHaveLength(1)
  const { method, url, headers, body } = calls[0]!
  const sent = JSON.parse(String(body))
  expect({ method, url }).toEqual({ method: 'POST', url: 'https://hooks.example/a' })
  expect(sent).toMatchObject({
    type: 'contribution.created',
    subscription,
    subject: 'New contribution: Water in the street',
    contribution: { id, headline: 'Water in the street', body: 'Deep.', assignment },
  })
  const time = headers!['x-notification-time']!
  expect(time).toBe('1893456000')
  expect(headers!['x-notification-id']).toBe(sent.id)
  expect(headers!['x-notification-signature']).toBe(
    `sha256=${createHmac('sha256', token)
      .update(`${time}.${String(body)}`)
      .digest('hex')}`,
  )
  expect(await feedOf(service)).toMatchObject([
    { delivery: { status: 'DELIVERED', attempts: 1, httpStatus: 204 } },
  ])
})

test('a web hook that fails is called again, later and later, and given up in the end', async () => {
  const recovering = hook(500, 0, 200)
  const dead = hook(503)
  const outcome = async ({ outbound }: { outbound: Outbound }) => {
    const service = await openContributions({ outbound })
    await subscribe(service, { url: 'https://hooks.example/a' })
    await contribute(service, {}, 'alice')
    await service.advance(10 * 60_000)
    return (await feedOf(service))[0].delivery
  }

  expect(await outcome(recovering)).toMatchObject({
    status: 'DELIVERED',
    attempts: 3,
    httpStatus: 200,
  })
  expect(await outcome(dead)).toMatchObject({ status: 'FAILED', attempts: 6, httpStatus: 503 })
  expect([recovering.calls.length, dead.calls.length]).toEqual([3, 6])
})

test('a web hook that the operator does not allow is not called again', async () => {
  const service = await openContributions()
  await subscribe(service, { url: 'https://hooks.example/a' })
  await contribute(service, {}, 'alice')

  await service.advance(10 * 60_000)

  expect((await feedOf(service))[0].delivery).toMatchObject({
    status: 'REFUSED',
    attempts: 1,
    reason: expect.stringContaining('POLYGRAPH_OUTBOUND_HOSTS'),
  })
})

test('a preview shows what subscribers would be told', async () => {
  const service = await openContributions()
  const id = await publish(service, { headline: 'Water', body: 'Deep.' })
  await subscribe(service, { types: ['contribution.published'], email: 'alice@example.org' })
  const path = `/1/notifications/contributions/${id}/preview`

  const shown = await service.rest(`GET ${path}?message=contribution.published`)
  const { data } = await service.graphql(
    'query ($id: ID!) { contributionNotificationPreview(id: $id, message: "contribution.flagged") { email subject } }',
    { id },
  )
  const missing = await service.rest(`GET ${path}`)
  const unknown = await service.rest(`GET ${path}?message=contribution.lost`)
  const none = await service.rest(
    'GET /1/notifications/contributions/none/preview?message=contribution.flagged',
  )

  expect(shown).toMatchObject({
    status: 200,
    body: {
      email: 'alice@example.org',
      subject: 'Published: Water',
      html: '<!doctype html><html><body><h1>Water</h1><p>A contribution was published.</p><p>By bob</p><p>Deep.</p></body></html>',
    },
  })
  expect(data.contributionNotificationPreview).toEqual({ email: null, subject: 'Flagged: Water' })
  expect(missing).toMatchObject({
    status: 400,
    body: { fields: [{ name: 'message', message: 'is required' }] },
  })
  expect(unknown).toMatchObject({ status: 400, body: { fields: [{ name: 'message' }] } })
  expect(none.status).toBe(404)
})

test('a notification is forgotten after a month', async () => {
  const service = await openContributions()
  await subscribe(service, {})
  await contribute(service, {}, 'alice')
  await service.advance(31 * DAY_MS)

  await service.opened.sweep()

  expect(await feedOf(service)).toEqual([])
})
