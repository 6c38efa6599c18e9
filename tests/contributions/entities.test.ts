import sharp from 'sharp'
import { expect, test } from 'vitest'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/contributions.ts'
import { people } from '../people.ts'
import { assign, contribute, openContributions, publish, upload } from './scene.ts'

const ENTITIES = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on Assignment { id name }
    ... on Contribution { id headline }
    ... on Tag { id name }
    ... on Form { id name }
    ... on MediaFile { id type }
    ... on User { id assignments { nodes { name } } contributions { nodes { headline } }
      formResponses { nodes { id } } subscriptions { nodes { id } } }
  }
}`

/** Counts every read of the store. */
function counting() {
  const counted = { reads: 0 }
  const names = new Set(['get', 'getMany', 'list', 'listMany', 'count', 'sql'])
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        if (names.has(String(name))) counted.reads += 1
        const member = target[name as keyof Store]
        return typeof member === 'function' ? (member as any).bind(target) : member
      },
    })
  return { counted, wrap }
}

const picture = (n: number) =>
  sharp({ create: { width: 8, height: 8, channels: 3, background: { r: n, g: n, b: 99 } } })
    .png()
    .toBuffer()

test('references are resolved for those who may see what they name', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const { body: tag } = await service.rest('POST /1/tags', { name: 'Birds' })
  const { body: form } = await service.rest('POST /1/forms', { name: 'Sighting' })
  const { body: file } = await upload(service, await picture(1), { credential: 'alice' })
  const hidden = await contribute(
    service,
    { headline: 'Hidden', mediaUsages: [{ media: { id: file.id } }] },
    'alice',
  )
  const seen = await publish(service, { headline: 'Seen' }, 'alice')
  const representations = [
    { __typename: 'Assignment', id: assignment },
    { __typename: 'Contribution', id: hidden },
    { __typename: 'Contribution', id: seen },
    { __typename: 'Tag', id: tag.id },
    { __typename: 'Form', id: form.id },
    { __typename: 'MediaFile', id: file.id },
    { __typename: 'MediaFile', id: 'none' },
  ]

  const own = await service.graphql(ENTITIES, { representations })
  const others = await service.graphql(ENTITIES, { representations }, { credential: 'bob' })

  const shared = {
    assignment: { id: assignment, name: 'Floods' },
    seen: { id: seen, headline: 'Seen' },
    tag: { id: tag.id, name: 'Birds' },
    form: { id: form.id, name: 'Sighting' },
  }
  expect(own.data.entities).toEqual([
    shared.assignment,
    { id: hidden, headline: 'Hidden' },
    shared.seen,
    shared.tag,
    shared.form,
    { id: file.id, type: 'image' },
    null,
  ])
  expect(others.data.entities).toEqual([
    shared.assignment,
    null,
    shared.seen,
    shared.tag,
    shared.form,
    null,
    null,
  ])
})

test('a person has assignments and contributions for all, and the rest for themselves', async () => {
  const service = await openContributions()
  await assign(service)
  await publish(service, { headline: 'Seen' }, 'alice')
  await contribute(service, { headline: 'Hidden' }, 'alice')
  await service.graphql(
    'mutation { createContributionSubscription(types: ["contribution.created"], includeBody: true, includeThumbnail: true) { id } }',
  )
  const representations = [{ __typename: 'User', id: 'alice' }]

  const own = await service.graphql(ENTITIES, { representations })
  const others = await service.graphql(ENTITIES, { representations }, { credential: 'bob' })

  expect(own.data.entities[0]).toMatchObject({
    assignments: { nodes: [{ name: 'Floods' }] },
    contributions: { nodes: [{ headline: 'Hidden' }, { headline: 'Seen' }] },
    formResponses: { nodes: [] },
  })
  expect(own.data.entities[0].subscriptions.nodes).toHaveLength(1)
  expect(others.data.entities[0]).toEqual({
    id: 'alice',
    assignments: { nodes: [{ name: 'Floods' }] },
    contributions: { nodes: [{ headline: 'Seen' }] },
    formResponses: null,
    subscriptions: null,
  })
})

test('an assignment with fifty contributions, their media, likes and answers costs six reads', async () => {
  const { counted, wrap } = counting()
  const service = await openContributions({ wrap })
  const id = await assign(service)
  const { body: form } = await service.rest('POST /1/forms', { name: 'Sighting' })
  for (let n = 0; n < 50; n += 1) {
    const { body: file } = await upload(service, await picture(n))
    const contribution = await publish(service, {
      assignment: { id },
      mediaUsages: [{ media: { id: file.id } }],
    })
    await service.rest(`POST /1/contributions/${contribution}/like`)
    await service.rest('POST /1/form-responses', { form: form.id, contribution, responses: {} })
  }
  const QUERY = `query ($id: ID!) { assignment(id: $id) { name contributions(first: 50) { nodes {
    headline media { type digest artifacts { url } } likes likedBy(first: 5) { nodes { user { id } } }
    formResponses(first: 5) { nodes { responses } } } } } }`
  counted.reads = 0

  const { data, errors } = await service.graphql(QUERY, { id })

  expect(errors).toBeUndefined()
  expect(data.assignment.contributions.nodes).toHaveLength(50)
  expect(data.assignment.contributions.nodes[49]).toMatchObject({
    media: [{ type: 'image' }],
    likes: 1,
    likedBy: { nodes: [{ user: { id: 'alice' } }] },
    formResponses: { nodes: [{ responses: {} }] },
  })
  // The assignment, its lines, the contributions, their media, likes and answers.
  expect(counted.reads).toBe(6)
}, 60_000)

test('the contributions of many people cost one read of lines', async () => {
  const { counted, wrap } = counting()
  const service = await openContributions({ wrap })
  await publish(service, { headline: 'Of bob' })
  await publish(service, { headline: 'Of alice' }, 'alice')
  const ids = ['alice', 'bob', 'carol']
  counted.reads = 0

  const { data } = await service.graphql(
    `query ($representations: [_Any!]!) { entities: _entities(representations: $representations) {
       ... on User { contributions { nodes { headline } } } } }`,
    { representations: ids.map((id) => ({ __typename: 'User', id })) },
  )

  expect(data.entities.map(({ contributions }: any) => contributions.nodes)).toEqual([
    [{ headline: 'Of alice' }],
    [{ headline: 'Of bob' }],
    [],
  ])
  // The lines of all, and their records.
  expect(counted.reads).toBe(2)
})

test('the demo is assignments with contributions, a picture, a form and an answer', async () => {
  const service = await openContributions()
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const { assignmentId, contributionId } = await subgraph.demo!(ctx)
  await service.advance(1_000)

  const { data } = await service.graphql(
    `query ($assignment: ID!, $contribution: ID!) {
      assignment(id: $assignment) { name tags { name } contributions { nodes { headline state { id } } } }
      contribution(id: $contribution) { likes media { width artifacts { label } } place { country }
        formResponses { nodes { responses form { name } } } }
      contributionPage(latLong: "52.5186,13.4083", radius: 5) { total } }`,
    { assignment: assignmentId, contribution: contributionId },
    { credential: 'alice' },
  )
  expect(data).toMatchObject({
    assignment: {
      name: 'White storks in town',
      tags: [{ name: 'Birds' }],
      contributions: {
        nodes: [
          { headline: 'Storks over the airfield', state: { id: 'pending' } },
          { headline: 'A nest in the old poplar', state: { id: 'approved' } },
          { headline: 'Two storks on the town hall', state: { id: 'approved' } },
        ],
      },
    },
    contribution: {
      likes: 1,
      place: { country: 'DE' },
      media: [{ width: 64, artifacts: [{}, {}, {}, {}] }],
      formResponses: {
        nodes: [{ responses: { count: '2', behaviour: 'resting' }, form: { name: 'Sighting' } }],
      },
    },
    contributionPage: { total: 1 },
  })
})
