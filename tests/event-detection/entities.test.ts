import { expect, test } from 'vitest'
import { restoreSnapshot, takeSnapshot } from '../../resolvers/families/cloud-copies.ts'
import {
  findResources,
  resourceTypes,
  tagResource,
} from '../../resolvers/families/cloud-resources.ts'
import { graphFor } from '../../resolvers/kernel/graph.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/event-detection.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { MANY, PLAIN } from '../hsm/modules.ts'
import { openGraphForTest } from '../open-graph.ts'
import { OTHER_SUBSCRIPTION, people, SUBSCRIPTION } from '../people.ts'
import { ARN, openPumps, pumpsOn } from './pumps.ts'

const ENTITIES = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on DetectorModel { id name tags }
    ... on AlarmModel { id name }
    ... on Alarm { id stateName }
    ... on CloudAccount { id detectorModels { nodes { name } } alarmModels { nodes { name } } }
  }
}`
const detectorModel = (name: string) => ({
  __typename: 'DetectorModel',
  id: `${ARN}:detectorModel/${name}`,
})
const alarmModel = (name: string) => ({ __typename: 'AlarmModel', id: `${ARN}:alarmModel/${name}` })
const alarm = (name: string) => ({ __typename: 'Alarm', id: `${ARN}:alarmModel/${name}` })
const account = (id: string) => ({ __typename: 'CloudAccount', id })

/** Counts the batched reads. */
function counting() {
  const counted = { reads: 0 }
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        if (name === 'getMany' || name === 'listMany') counted.reads += 1
        const member = target[name as keyof Store]
        return typeof member === 'function' ? (member as any).bind(target) : member
      },
    })
  return { counted, wrap }
}

const ready = async (wrap?: (store: Store) => Store) => {
  const pumps = await openPumps(wrap ? { wrap } : {})
  await pumps.createInput()
  await pumps.createModel(undefined, { tags: { team: 'water' } })
  await pumps.createAlarm({ watchedResourceIds: ['/subscriptions/1/x', 'arn:aws:x'] })
  await pumps.send({ pump: 'a', pressure: 90 }, { pump: 'b', pressure: 1 })
  return pumps
}

test('models, alarms and accounts are resolved by their ids, many of a kind with one read', async () => {
  const { counted, wrap } = counting()
  const { service, createModel } = await ready(wrap)
  await createModel(undefined, { name: 'more' })
  counted.reads = 0

  const models = await service.graphql(ENTITIES, {
    representations: [detectorModel('more'), detectorModel('none'), detectorModel('pumps')],
  })
  const { reads } = counted
  const others = await service.graphql(ENTITIES, {
    representations: [
      alarmModel('over'),
      alarm('over/a'),
      alarm('over/z'),
      alarm('over'),
      account('111111111111'),
      account('222222222222'),
    ],
  })

  expect(models.data.entities).toEqual(
    [
      { ...detectorModel('more'), name: 'more', tags: {} },
      null,
      { ...detectorModel('pumps'), name: 'pumps', tags: { team: 'water' } },
    ].map((it) => it && { id: it.id, name: it.name, tags: it.tags }),
  )
  expect(reads).toBe(1)
  expect(others.data.entities).toEqual([
    { id: `${ARN}:alarmModel/over`, name: 'over' },
    { id: `${ARN}:alarmModel/over/a`, stateName: 'ACTIVE' },
    null,
    null,
    {
      id: '111111111111',
      detectorModels: { nodes: [{ name: 'more' }, { name: 'pumps' }] },
      alarmModels: { nodes: [{ name: 'over' }] },
    },
    null,
  ])
})

test("a reference to another's model or alarm, or to something else, resolves to nothing", async () => {
  const { service } = await ready()

  const foreign = await service.graphql(
    ENTITIES,
    { representations: [detectorModel('pumps'), alarmModel('over'), alarm('over/a')] },
    { credential: 'bob' },
  )
  const other = await service.graphql(ENTITIES, {
    representations: [
      { __typename: 'DetectorModel', id: alarmModel('over').id },
      { __typename: 'AlarmModel', id: 'over' },
      { __typename: 'Alarm', id: detectorModel('pumps').id },
    ],
  })

  expect(foreign.data.entities).toEqual([null, null, null])
  expect(other.data.entities).toEqual([null, null, null])
})

test('a model is found by its ARN, and nothing by any other', async () => {
  const { service } = await ready()

  const { data } = await service.graphql(
    `{ found: detectorModelById(id: "${ARN}:detectorModel/pumps") { name type location tags }
       none: detectorModelById(id: "${ARN}:detectorModel/none") { name }
       other: detectorModelById(id: "pumps") { name }
       alarm: alarmModelById(id: "${ARN}:alarmModel/over") { name } }`,
  )

  expect(data).toEqual({
    found: {
      name: 'pumps',
      type: 'AWS::IoTEvents::DetectorModel',
      location: 'us-east-1',
      tags: { team: 'water' },
    },
    none: null,
    other: null,
    alarm: { name: 'over' },
  })
})

const OF_RESOURCE = `query ($id: ID!, $first: Int, $after: String) {
  alarmsOfResource(resourceId: $id, first: $first, after: $after) {
    nodes { keyValue stateName } pageInfo { hasNextPage endCursor } } }`

test('a resource shows the alarms that watch it, page by page', async () => {
  const { service } = await ready()

  const all = await service.graphql(OF_RESOURCE, { id: '/subscriptions/1/x' })
  const first = await service.graphql(OF_RESOURCE, { id: 'arn:aws:x', first: 1 })
  const { endCursor } = first.data.alarmsOfResource.pageInfo
  const second = await service.graphql(OF_RESOURCE, { id: 'arn:aws:x', first: 1, after: endCursor })
  const none = await service.graphql(OF_RESOURCE, { id: '/subscriptions/2/x' })

  expect(all.data.alarmsOfResource.nodes).toEqual([
    { keyValue: 'a', stateName: 'ACTIVE' },
    { keyValue: 'b', stateName: 'NORMAL' },
  ])
  expect(first.data.alarmsOfResource.nodes).toEqual([{ keyValue: 'a', stateName: 'ACTIVE' }])
  expect(second.data.alarmsOfResource).toMatchObject({
    nodes: [{ keyValue: 'b' }],
    pageInfo: { hasNextPage: false },
  })
  expect(none.data.alarmsOfResource.nodes).toEqual([])
})

test('a resource shows no alarm of a model that was changed or deleted, not even for a moment', async () => {
  const { service } = await ready()

  await service.graphql('mutation { deleteAlarmModel(alarmModelName: "over") }')

  const { data } = await service.graphql(OF_RESOURCE, { id: 'arn:aws:x' })
  expect(data.alarmsOfResource.nodes).toEqual([])
})

test('an alarm shows the detectors that the same messages feed', async () => {
  const { service, createModel, send } = await ready()
  await createModel(undefined, { name: 'later' })
  await createModel(undefined, { name: 'places', key: 'at' })
  await send({ pump: 'a', pressure: 90, at: 'a' })

  const { data } = await service.graphql(
    `{ alarm(alarmModelName: "over", keyValue: "a") {
        detectors { detectorModelName keyValue state { stateName } } } }`,
  )

  expect(data.alarm.detectors).toEqual([
    { detectorModelName: 'pumps', keyValue: 'a', state: { stateName: 'high' } },
    { detectorModelName: 'later', keyValue: 'a', state: { stateName: 'high' } },
    { detectorModelName: 'places', keyValue: 'a', state: { stateName: 'high' } },
  ])
})

test('a resource of another service shows the alarms that watch it, whatever the case of its id', async () => {
  const graph = await openGraphForTest([subgraph, hsm])
  const { createInput, createAlarm, send } = await pumpsOn(graph.service('event-detection'))
  for (const name of ['safe', 'other']) {
    await graph.service('hsm').rest(`PUT ${MANY}/${name}?api-version=2018-10-31-preview`, PLAIN)
  }
  await createInput()
  await createAlarm({ watchedResourceIds: [`${MANY}/safe`.toUpperCase()] })
  await send({ pump: 'a', pressure: 90 })

  const query = `query ($id: String!) { cloudAccount(id: $id) { dedicatedHsms { nodes {
    name alarms { nodes { keyValue stateName alarmModel { name } } } } } } }`
  const { data } = await graph.ask(query, { id: SUBSCRIPTION })

  expect(data.cloudAccount.dedicatedHsms.nodes).toEqual([
    { name: 'other', alarms: { nodes: [] } },
    {
      name: 'safe',
      alarms: { nodes: [{ keyValue: 'a', stateName: 'ACTIVE', alarmModel: { name: 'over' } }] },
    },
  ])
})

test('an alarm model shows the resources that it watches, of any service, that the caller may see', async () => {
  const graph = await openGraphForTest([subgraph, hsm])
  const { createInput, createModel, createAlarm } = await pumpsOn(graph.service('event-detection'))
  await graph.service('hsm').rest(`PUT ${MANY}/safe?api-version=2018-10-31-preview`, PLAIN)
  await createInput()
  await createModel()
  const wrapped = `arn:aws:polygraph:us-east-1:111111111111:${MANY}/safe`
  const theirs = MANY.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)
  await createAlarm({
    watchedResourceIds: [wrapped, `${MANY}/none`, `${theirs}/safe`, detectorModel('pumps').id],
  })

  const { data, errors } = await graph.ask(
    `{ alarmModel(alarmModelName: "over") { watchedResources { __typename
         ... on CloudResource { name } ... on DedicatedHsm { location } ... on DetectorModel { key } } } }`,
  )

  expect(errors).toBeUndefined()
  expect(data.alarmModel.watchedResources).toEqual([
    { __typename: 'DedicatedHsm', name: 'safe', location: 'westus' },
    { __typename: 'DetectorModel', name: 'pumps', key: 'pump' },
  ])
})

test('the alarms of many resources are read together', async () => {
  const { counted, wrap } = counting()
  const { service } = await ready(wrap)
  const representations = Array.from({ length: 20 }, (_, i) => ({
    __typename: 'DedicatedHsm',
    id: i === 7 ? '/subscriptions/1/X' : `/subscriptions/${i}/y`,
  }))
  counted.reads = 0

  const { data } = await service.graphql(
    `query ($representations: [_Any!]!) { it: _entities(representations: $representations) {
      ... on DedicatedHsm { alarms { nodes { keyValue } } } } }`,
    { representations },
  )

  const found = data.it.map(({ alarms }: any) => alarms.nodes.length)
  expect(found).toEqual(Array.from({ length: 20 }, (_, i) => (i === 7 ? 2 : 0)))
  // Pages, alarms and models: one read each.
  expect(counted.reads).toBe(3)
})

test('models are found, tagged, copied and put back as every cloud resource is', async () => {
  const open = await openGraphForTest([subgraph])
  const { createInput, createModel, send, detector } = await pumpsOn(
    open.service('event-detection'),
  )
  await createInput()
  await createModel()
  await send({ pump: 'a', pressure: 90 })
  const graph = graphFor(open.port, people.alice)
  const id = `${ARN}:detectorModel/pumps`
  const before = await detector('a')

  const types = resourceTypes(graph)
  await tagResource(graph, { typeName: 'DetectorModel', id }, { team: 'water' })
  const found = (await findResources(graph, [id])).get(id)!
  const bytes = await takeSnapshot(graph, found)
  await open.ask('mutation { deleteDetectorModel(detectorModelName: "pumps") }')
  const gone = await findResources(graph, [id])
  await restoreSnapshot(graph, found, bytes)
  const again = await takeSnapshot(graph, found)

  expect(types).toEqual(
    ['AlarmModel', 'DetectorModel'].map((name) => ({
      name,
      listed: name === 'AlarmModel' ? 'alarmModels' : 'detectorModels',
      canFind: true,
      canTag: true,
      canSnapshot: true,
    })),
  )
  expect(found).toEqual({
    id,
    typeName: 'DetectorModel',
    name: 'pumps',
    type: 'AWS::IoTEvents::DetectorModel',
    location: 'us-east-1',
    tags: { team: 'water' },
  })
  expect(gone.size).toBe(0)
  expect(again.equals(bytes)).toBe(true)
  expect(await detector('a')).toEqual(before)
})
