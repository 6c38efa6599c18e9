// The life cycle that management services share: by the doors of hsm, and where hsm chose otherwise
// by a resource made up for the purpose.
import { expect, test } from 'vitest'
import { armKey, armResource, type ArmResource } from '../../resolvers/families/arm.ts'
import {
  armOperations,
  beginOperation,
  endOperation,
} from '../../resolvers/families/arm-operations.ts'
import { idAt, inGroup, partsOf } from '../../resolvers/families/arm-paths.ts'
import type { Reply } from '../../resolvers/kernel/operation.ts'
import { kind } from '../../resolvers/kernel/store.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import type { Subgraph } from '../../subgraphs/server/subgraph.ts'
import { openForTest, type TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, people, SUBSCRIPTION } from '../people.ts'

const VERSION = 'api-version=2018-10-31-preview'
const AREA = 'providers/Vendor.HardwareSecurityModules'
const MODULE = { location: 'westus', sku: { name: 'Vendor Network HSM A790' }, properties: {} }

const inside = (group: string, name: string) =>
  `/subscriptions/${SUBSCRIPTION}/resourceGroups/${group}/${AREA}/dedicatedHSMs/${name}?${VERSION}`
const SAFE = inside('Vaults', 'Safe')

test('every write gives a new ETag, and a read gives the one of the last write', async () => {
  const service = await openForTest(hsm)

  const created = await service.rest(`PUT ${SAFE}`, MODULE)
  const patched = await service.rest(`PATCH ${SAFE}`, { tags: { a: 'b' } })
  const read = await service.rest(`GET ${SAFE}`)

  expect(created.headers.etag).toMatch(/^"[^"]+"$/)
  expect(patched.headers.etag).not.toBe(created.headers.etag)
  expect(read.headers.etag).toBe(patched.headers.etag)
})

test.each(['PUT', 'PATCH', 'DELETE'])('%s with a stale If-Match is refused', async (method) => {
  const service = await openForTest(hsm)
  const { headers } = await service.rest(`PUT ${SAFE}`, MODULE)
  await service.rest(`PATCH ${SAFE}`, { tags: { by: 'someone else' } })
  const before = await service.rest(`GET ${SAFE}`)

  const sent = method === 'DELETE' ? undefined : { ...MODULE, tags: { by: 'me' } }
  const { status, body } = await service.rest(`${method} ${SAFE}`, sent, {
    headers: { 'if-match': headers.etag! },
  })

  expect(status).toBe(412)
  expect(body.error.code).toBe('PreconditionFailed')
  const after = await service.rest(`GET ${SAFE}`)
  expect(after.body).toEqual(before.body)
  expect(after.headers.etag).toBe(before.headers.etag)
})

test.each([
  ['PUT', 200],
  ['PATCH', 200],
  ['DELETE', 200],
])('%s with the If-Match of the last read is done', async (method, status) => {
  const service = await openForTest(hsm)
  const { headers } = await service.rest(`PUT ${SAFE}`, MODULE)

  const sent = method === 'DELETE' ? undefined : MODULE
  const answer = await service.rest(`${method} ${SAFE}`, sent, {
    headers: { 'if-match': headers.etag! },
  })

  expect(answer.status).toBe(status)
})

test('of two writers who read the same, the second is refused', async () => {
  const service = await openForTest(hsm)
  const { headers } = await service.rest(`PUT ${SAFE}`, MODULE)
  const write = (by: string) =>
    service.rest(
      `PUT ${SAFE}`,
      { ...MODULE, tags: { by } },
      { headers: { 'if-match': headers.etag! } },
    )

  const statuses = (await Promise.all([write('ann'), write('ben')])).map(({ status }) => status)

  expect(statuses.sort()).toEqual([200, 412])
})

test('PUT with If-Match does not create, and with If-None-Match it does not replace', async () => {
  const service = await openForTest(hsm)

  const absent = await service.rest(`PUT ${SAFE}`, MODULE, { headers: { 'if-match': '*' } })
  const created = await service.rest(`PUT ${SAFE}`, MODULE, { headers: { 'if-none-match': '*' } })
  const again = await service.rest(
    `PUT ${SAFE}`,
    { ...MODULE, tags: { a: 'b' } },
    { headers: { 'if-none-match': '*' } },
  )

  expect(absent.status).toBe(412)
  expect(created.status).toBe(201)
  expect(again.status).toBe(412)
  expect((await service.rest(`GET ${SAFE}`)).body.tags).toBeUndefined()
})

test('paths, subscriptions, groups and names match in any case; answers keep the first', async () => {
  const service = await openForTest(hsm)
  const { body: created } = await service.rest(`PUT ${SAFE}`, MODULE)
  const [path] = SAFE.split('?') as [string]

  const read = await service.rest(`GET ${path.toUpperCase()}?API-VERSION=2018-10-31-PREVIEW`)
  const written = await service.rest(`PUT ${path.toLowerCase()}?${VERSION}`, MODULE)
  const listed = await service.rest(
    `GET /SUBSCRIPTIONS/${SUBSCRIPTION}/resourcegroups/VAULTS/${AREA}/dedicatedhsms?${VERSION}`,
  )

  expect(read.status).toBe(200)
  expect(read.body.id).toBe(path)
  expect(written.status).toBe(200)
  expect(written.body.id).toBe(created.id)
  expect(written.body.name).toBe('Safe')
  expect(listed.body.value).toHaveLength(1)
})

test('a subscription is recognised in any case and answered as identity spells it', async () => {
  const letters = 'ABCDEF00-0000-4000-8000-000000000000'
  const service = await openForTest(hsm, {
    credentials: {
      byToken: async () => ({
        ...people.alice,
        accounts: [{ id: letters, kind: 'SUBSCRIPTION' as const }],
      }),
      byApiKey: async () => undefined,
      byUser: async () => undefined,
      byPassword: async () => undefined,
      signingKey: async () => undefined,
    },
  })
  const path = SAFE.replace(SUBSCRIPTION, letters.toLowerCase())

  const { status, body } = await service.rest(`PUT ${path}`, MODULE)

  expect(status).toBe(201)
  expect(body.id).toContain(`/subscriptions/${letters}/`)
})

test.each(['GET', 'PUT', 'PATCH', 'DELETE'])(
  "%s in another's subscription is 404 SubscriptionNotFound and changes nothing",
  async (method) => {
    const service = await openForTest(hsm)
    await service.rest(`PUT ${SAFE}`, MODULE)
    const before = await service.rest(`GET ${SAFE}`)

    const sent = { PUT: MODULE, PATCH: { tags: { a: 'b' } } }[method]
    const { status, body } = await service.rest(`${method} ${SAFE}`, sent, { credential: 'bob' })

    expect(status).toBe(404)
    expect(body).toEqual({
      error: {
        code: 'SubscriptionNotFound',
        message: `The subscription '${SUBSCRIPTION}' could not be found.`,
      },
    })
    expect((await service.rest(`GET ${SAFE}`)).body).toEqual(before.body)
  },
)

test('an account of another kind does not open a subscription of the same id', async () => {
  const service = await openForTest(hsm)

  const { status, body } = await service.rest(`GET ${SAFE.replace(SUBSCRIPTION, '111111111111')}`)

  expect(status).toBe(404)
  expect(body.error.code).toBe('SubscriptionNotFound')
})

test('a group is named by 1 to 90 certain characters, and not ending in a period', async () => {
  const service = await openForTest(hsm)

  for (const group of ['ends.', 'has%20space', 'has*star', 'g'.repeat(91)]) {
    const { status, body } = await service.rest(`PUT ${inside(group, 'safe')}`, MODULE)

    expect(status, group).toBe(400)
    expect(body.error.code, group).toBe('InvalidParameter')
    expect(body.error.target, group).toBe('resourceGroupName')
  }
  for (const group of ['a', '(my)_group-1.0', 'g'.repeat(90)]) {
    const { status, body } = await service.rest(`PUT ${inside(group, 'safe')}`, MODULE)

    expect(status, group).toBe(201)
    expect(body.id, group).toBe(inside(group, 'safe').split('?')[0])
  }
})

test('an empty body that is announced as JSON is accepted where none is needed', async () => {
  const service = await openForTest(hsm)
  await service.rest(`PUT ${SAFE}`, MODULE)
  const headers = { 'content-type': 'application/json' }

  const read = await service.rest(`GET ${SAFE}`, undefined, { headers })
  const removed = await service.rest(`DELETE ${SAFE}`, undefined, { headers })

  expect(read.status).toBe(200)
  expect(removed.status).toBe(200)
})

interface Widget extends ArmResource {
  properties: {
    provisioningState?: string
    size?: number
    finish?: { colour?: string; gloss?: string }
    labels?: string[]
  }
}

const TYPE = 'Vendor.Things/widgets'
const PATH = `${inGroup(TYPE)}/{widgetName}`
const widgets = kind<Widget>('widgets', { key: armKey })
const polling = armOperations({ area: 'Vendor.Things', version: '2030-01-01' })
const definition = {
  type: TYPE,
  path: PATH,
  version: '2030-01-01',
  kind: widgets,
  body: 'widget',
  accept: ({ location, tags, properties }: Widget) => ({ location, tags, properties }) as any,
}
const widget = armResource<Widget>({
  ...definition,
  states: { creating: ['Creating', 'Succeeded'], updating: ['Updating', 'Succeeded'] },
  polling,
})
/** A resource that is there at once and gone at once, of a service that keeps all it is sent. */
const plain = armResource<Widget>({ ...definition, accept: (sent: Widget) => sent })

/** The service of modules with widgets beside them. */
const withWidgets: Subgraph = {
  ...hsm,
  resources: [...hsm.resources, { kinds: [widgets], steps: widget.steps }],
}

const KEY = { subscriptionId: SUBSCRIPTION, resourceGroupName: 'toys', widgetName: 'top' }

const contextOf = (service: TestService) =>
  service.opened.contextFor(people.alice, { address: 'http://things.test', headers: {} })

const shownOf = (answer: Reply) => JSON.parse(JSON.stringify(answer.result))

test('PATCH merges properties, member by member, and replaces lists and tags', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  const properties = {
    size: 1,
    finish: { colour: 'red', gloss: 'high' },
    labels: ['first', 'second'],
  }
  await widget.put({ ...KEY, widget: { tags: { a: '1', b: '2' }, properties } }, ctx)
  await service.advance(1_000)

  const answer = await widget.patch(
    {
      ...KEY,
      widget: { tags: { c: '3' }, properties: { finish: { colour: 'blue' }, labels: ['third'] } },
    },
    ctx,
  )

  expect(shownOf(answer)).toEqual({
    id: `/subscriptions/${SUBSCRIPTION}/resourceGroups/toys/providers/Vendor.Things/widgets/top`,
    name: 'top',
    type: 'Vendor.Things/widgets',
    tags: { c: '3' },
    properties: {
      provisioningState: 'Updating',
      size: 1,
      finish: { colour: 'blue', gloss: 'high' },
      labels: ['third'],
    },
  })
})

test('a change goes through the states of a change', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  const stateNow = async () => shownOf(await widget.get(KEY, ctx)).properties.provisioningState

  await widget.put({ ...KEY, widget: { properties: {} } }, ctx)
  const states = [await stateNow()]
  await service.advance(1_000)
  states.push(await stateNow())
  await widget.put({ ...KEY, widget: { properties: { size: 2 } } }, ctx)
  states.push(await stateNow())
  await service.advance(1_000)
  states.push(await stateNow())

  expect(states).toEqual(['Creating', 'Succeeded', 'Updating', 'Succeeded'])
})

test('a step that runs twice moves a resource once', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  await widget.put({ ...KEY, widget: { properties: {} } }, ctx)
  const { id } = shownOf(await widget.get(KEY, ctx))
  const step = { key: id.toLowerCase(), from: 'Creating', to: ['Succeeded'] }

  await widget.steps['settle Vendor.Things/widgets']!(step as any, ctx)
  const once = await widget.get(KEY, ctx)
  await widget.steps['settle Vendor.Things/widgets']!(step as any, ctx)
  const twice = await widget.get(KEY, ctx)

  expect(shownOf(once).properties.provisioningState).toBe('Succeeded')
  expect(twice.headers.ETag).toBe(once.headers.ETag)
})

test('a removal step that runs twice does not touch what was put in between', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  await widget.put({ ...KEY, widget: { properties: {} } }, ctx)
  const target = shownOf(await widget.get(KEY, ctx)).id.toLowerCase()
  await widget.remove(KEY, ctx)
  await service.advance(1_000)
  await widget.put({ ...KEY, widget: { properties: { size: 7 } } }, ctx)

  await widget.steps['remove Vendor.Things/widgets']!({ target } as any, ctx)

  expect(shownOf(await widget.get(KEY, ctx)).properties.size).toBe(7)
})

test('a resource without states has none, and one without polling is removed at once', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)

  const created = await plain.put({ ...KEY, widget: { properties: { size: 1 } } }, ctx)
  const removed = await plain.remove(KEY, ctx)
  const again = await plain.remove(KEY, ctx)

  expect(created.status).toBe(201)
  expect(shownOf(created).properties).toEqual({ size: 1 })
  expect(created.headers).not.toHaveProperty('Retry-After')
  expect(removed.status).toBe(200)
  expect(again.status).toBe(204)
})

test('what the system sets wins, whatever a service accepts', async () => {
  const service = await openForTest(withWidgets)
  const sent = { id: '/mine', name: 'mine', type: 'Mine', properties: { size: 1 } }

  const answer = await plain.put({ ...KEY, widget: sent }, contextOf(service))

  expect(shownOf(answer)).toEqual({
    id: `/subscriptions/${SUBSCRIPTION}/resourceGroups/toys/providers/Vendor.Things/widgets/top`,
    name: 'top',
    type: 'Vendor.Things/widgets',
    properties: { size: 1 },
  })
})

test('a removal of what has no location is polled under global', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  await widget.put({ ...KEY, widget: { properties: {} } }, ctx)

  const { headers } = await widget.remove(KEY, ctx)

  expect(headers.Location).toMatch(
    /^http:\/\/things\.test\/subscriptions\/[\d-]+\/providers\/Vendor\.Things\/locations\/global\/operationResults\/[\w-]+\?api-version=2030-01-01$/,
  )
})

test('an operation that failed shows why, as a status and as a refusal', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  const on = { subscriptionId: SUBSCRIPTION, location: 'westus', target: 'widget' }
  const error = { code: 'WidgetJammed', message: 'The widget is jammed.' }
  const begun = await service.store.transaction((tx) => beginOperation(tx, ctx, on))
  await service.store.transaction((tx) => endOperation(tx, ctx, begun, { error }))

  const status = await polling.status(begun, ctx)
  const result = polling.result(begun, ctx)

  expect(shownOf(status)).toMatchObject({ status: 'Failed', error })
  await expect(result).rejects.toMatchObject({ ...error, status: 409 })
})

test('an operation that made something answers with it at the end', async () => {
  const service = await openForTest(withWidgets)
  const ctx = contextOf(service)
  const on = { subscriptionId: SUBSCRIPTION, location: 'westus', target: 'widget' }
  const begun = await service.store.transaction((tx) => beginOperation(tx, ctx, on))
  await service.store.transaction((tx) => endOperation(tx, ctx, begun, { result: { size: 3 } }))

  const answer = await polling.result(begun, ctx)

  expect(answer.status).toBe(200)
  expect(polling.showResult(answer.result as any)).toEqual({ size: 3 })
})

test('an id is read back into the parts it was made of, and nothing else is an id', () => {
  const path = `${inGroup('Vendor.Things/widgets')}/{widgetName}/parts/{partName}`
  const parts = { subscriptionId: 's', resourceGroupName: 'g', widgetName: 'w', partName: 'p' }

  expect(idAt(path, parts)).toBe(
    '/subscriptions/s/resourceGroups/g/providers/Vendor.Things/widgets/w/parts/p',
  )
  expect(
    partsOf(path, '/SUBSCRIPTIONS/s/resourcegroups/g/providers/vendor.things/widgets/w/parts/p'),
  ).toEqual(parts)
  expect(
    partsOf(path, '/subscriptions/s/resourceGroups/g/providers/VendorXThings/widgets/w/parts/p'),
  ).toBeUndefined()
  expect(
    partsOf(path, '/subscriptions/s/resourceGroups/g/providers/Vendor.Things/widgets/w/parts/p/q'),
  ).toBeUndefined()
})

test('what one subscription holds is not seen by another, whatever the group is called', async () => {
  const service = await openForTest(hsm)
  await service.rest(`PUT ${SAFE}`, MODULE)

  const { body } = await service.rest(
    `GET ${SAFE.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)}`,
    undefined,
    { credential: 'bob' },
  )

  expect(body.error.code).toBe('ResourceNotFound')
})
