// Tags, tag sets, people and what there is to ask about.
import { describe, expect, test } from 'vitest'
import { people } from '../people.ts'
import { assign, contribute, onEngines, openContributions, publish } from './scene.ts'

test('tags and tag sets are created and read at both doors', async () => {
  const service = await openContributions()

  const set = await service.rest('POST /1/tagsets', { name: 'Animals', urlWords: 'animals' })
  const tag = await service.rest('POST /1/tags', {
    name: 'White storks',
    colour: '#0061A6',
    tagSet: { id: set.body.id },
  })
  const { data } = await service.graphql(
    `mutation ($set: ID!) {
      createTagSet(name: "Plants", urlWords: "plants") { name urlWords owner { id } }
      createContributionTag(name: "Frogs", tagSet: { id: $set }) { name urlWords tagSet { name } owner { id } } }`,
    { set: set.body.id },
  )
  const read = await service.graphql(
    `query ($tag: ID!, $set: ID!) {
      contributionTag(id: $tag) { name colour } tagSet(id: $set) { name }
      contributionTags(tagSet: $set) { total items { name } } tagSets { total } }`,
    { tag: tag.body.id, set: set.body.id },
  )

  expect(set).toMatchObject({ status: 200, body: { name: 'Animals' } })
  expect(tag.body).toEqual({
    id: tag.body.id,
    name: 'White storks',
    urlWords: 'white-storks',
    colour: '#0061a6',
    tagSet: { id: set.body.id, name: 'Animals' },
  })
  expect((await service.rest(`GET /1/tags/${tag.body.id}`)).body).toEqual(tag.body)
  expect((await service.rest(`GET /1/tagsets/${set.body.id}`)).body).toEqual(set.body)
  expect(data).toEqual({
    createTagSet: { name: 'Plants', urlWords: 'plants', owner: { id: 'alice' } },
    createContributionTag: {
      name: 'Frogs',
      urlWords: 'frogs',
      tagSet: { name: 'Animals' },
      owner: { id: 'alice' },
    },
  })
  expect(read.data).toEqual({
    contributionTag: { name: 'White storks', colour: '#0061a6' },
    tagSet: { name: 'Animals' },
    contributionTags: { total: 2, items: [{ name: 'White storks' }, { name: 'Frogs' }] },
    tagSets: { total: 2 },
  })
})

test('tags are listed by owner, set and words, together and alone', async () => {
  const service = await openContributions()
  const { body: set } = await service.rest('POST /1/tagsets', {
    name: 'Animals',
    urlWords: 'animals',
  })
  const make = async (name: string, more: object, credential: 'alice' | 'bob') =>
    (await service.rest('POST /1/tags', { name, ...more }, { credential })).body.id
  const storks = await make('Storks', { tagSet: set }, 'alice')
  const trees = await make('Trees', {}, 'alice')
  const others = await make('Storks', { tagSet: set }, 'bob')
  const list = async (query: string) =>
    (await service.rest(`GET /1/tags?${query}`)).body.map(({ id }: any) => id)

  expect(await list('')).toEqual([storks, trees, others])
  expect(await list('ownedBy=alice')).toEqual([storks, trees])
  expect(await list(`tagSet=${set.id}`)).toEqual([storks, others])
  expect(await list('urlWords=storks')).toEqual([storks, others])
  expect(await list('urlWords=storks&ownedBy=bob')).toEqual([others])
  expect(await list(`tagSet=${set.id}&ownedBy=bob&urlWords=storks`)).toEqual([others])
  expect(await list(`tagSet=${set.id}&urlWords=trees`)).toEqual([])
  expect(await list('page=2&pageSize=2')).toEqual([others])
  expect((await service.rest('GET /1/tagsets?ownedBy=alice&urlWords=animals')).body).toEqual([
    { id: set.id, name: 'Animals' },
  ])
  expect((await service.rest('GET /1/tagsets?urlWords=none')).headers['x-total-count']).toBe('0')
})

test('tags and tag sets that make no sense, or that are there already, are refused', async () => {
  const service = await openContributions()
  await service.rest('POST /1/tags', { name: 'Storks' })
  await service.rest('POST /1/tagsets', { name: 'Animals', urlWords: 'animals' })
  const wrong = [
    ['tags', {}, 'name'],
    ['tags', { name: 'Storks' }, 'urlWords'],
    ['tags', { name: 'A', colour: 'blue' }, 'colour'],
    ['tags', { name: 'A', tagSet: { id: 'none' } }, 'tagSet'],
    ['tagsets', { name: 'A' }, 'urlWords'],
    ['tagsets', { name: 'A', urlWords: 'animals' }, 'urlWords'],
  ] as const

  for (const [path, body, name] of wrong) {
    const answer = await service.rest(`POST /1/${path}`, body)
    expect(answer).toMatchObject({ status: 400, body: { fields: [{ name }] } })
  }
  expect((await service.rest('GET /1/tags/none')).status).toBe(404)
  expect((await service.rest('GET /1/tagsets/none')).status).toBe(404)
  expect((await service.rest('GET /1/tags')).headers['x-total-count']).toBe('1')
})

describe.each(onEngines)('people on $engine', ({ open }) => {
  test('people are found by what the public sees of their contributions', async () => {
    const service = await open()
    const assignment = await assign(service)
    const place = { country: 'DE', geohash: 'u33' }
    await publish(service, { assignment: { id: assignment }, place })
    await publish(service)
    await service.advance(60_000)
    await publish(service, {}, 'alice')
    await contribute(service, { place: { country: 'FR' } }, 'alice')
    await service.graphql('mutation { linkProfile(type: "forum", id: "al1ce") { id } }')
    const list = async (query: string) =>
      (await service.rest(`GET /1/users?${query}`)).body.map(({ id }: any) => id)

    expect(await list('')).toEqual(['alice', 'bob'])
    expect(await list(`assignment=${assignment}`)).toEqual(['bob'])
    expect(await list('country=DE')).toEqual(['bob'])
    expect(await list('country=FR')).toEqual([])
    expect(await list('minimumContributions=1')).toEqual(['alice', 'bob'])
    expect(await list('minimumContributions=2')).toEqual(['bob'])
    expect(await list('ownedBy=alice')).toEqual(['alice', 'bob'])
    expect(await list('ownedBy=bob&minimumContributions=2')).toEqual([])
    expect(await list('submittedAfter=2030-01-01T00:00:30Z')).toEqual(['alice'])
    expect(await list('submittedBefore=2030-01-01T00:00:30Z')).toEqual(['bob'])
    expect(await list('linkedProfile=forum')).toEqual(['alice'])
    expect(await list('username=bob')).toEqual(['bob'])
    expect(await list('page=2&pageSize=1')).toEqual(['bob'])
    expect((await service.rest('GET /1/users')).headers['x-total-count']).toBe('2')
  })
})

test('a person says of themselves what they like, and a name is that of one person', async () => {
  const service = await openContributions()
  await assign(service, {}, 'bob')

  const { data } = await service.graphql(
    'mutation { updateContributor(username: "ali", displayName: "Alice", bio: "Watches birds") { id username bio } }',
  )
  const taken = await service.graphql('mutation { updateContributor(username: "bob") { id } }')
  const read = await service.rest('GET /1/users/alice', undefined, { credential: 'bob' })
  const inGraph = await service.graphql(
    '{ contributor(id: "alice") { displayName registered } contributors(username: "ali") { total } }',
  )

  expect(data.updateContributor).toEqual({ id: 'alice', username: 'ali', bio: 'Watches birds' })
  expect(taken.errors![0]!.extensions).toMatchObject({
    code: 'Invalid',
    fields: [{ name: 'username' }],
  })
  expect(read.body).toEqual({
    id: 'alice',
    username: 'ali',
    displayName: 'Alice',
    bio: 'Watches birds',
    registered: '2030-01-01T00:00:00.000Z',
  })
  expect(inGraph.data).toEqual({
    contributor: { displayName: 'Alice', registered: '2030-01-01T00:00:00.000Z' },
    contributors: { total: 1 },
  })
  expect((await service.rest('GET /1/users/carol')).status).toBe(404)
})

test('a linked profile is shown to all, its address for mail to its owner', async () => {
  const service = await openContributions()
  await service.graphql(
    `mutation { linkProfile(type: "forum", id: "al1ce", name: "Alice", email: "alice@example.org",
       profile: "https://forum.example/al1ce") { type } }`,
  )

  const own = await service.rest('GET /1/users/alice/linked/forum')
  const others = await service.rest('GET /1/users/alice/linked/forum', undefined, {
    credential: 'bob',
  })
  const { data } = await service.graphql(
    '{ linkedProfile(id: "alice", type: "forum") { id type email } }',
  )
  const none = await service.rest('GET /1/users/alice/linked/paper')
  const wrong = await service.graphql(
    'mutation { linkProfile(type: "forum", id: "a", profile: "javascript:x") { id } }',
  )

  expect(own.body).toEqual({
    id: 'al1ce',
    name: 'Alice',
    email: 'alice@example.org',
    profile: 'https://forum.example/al1ce',
    registered: '2030-01-01T00:00:00.000Z',
  })
  expect(others.body.email).toBeUndefined()
  expect(data.linkedProfile).toEqual({ id: 'al1ce', type: 'forum', email: 'alice@example.org' })
  expect(none.status).toBe(404)
  expect(wrong.errors![0]!.extensions.fields).toMatchObject([{ name: 'profile' }])
})

test('a token says who its owner is', async () => {
  const service = await openContributions()

  const verified = await service.rest('POST /1/verify')
  const { data } = await service.graphql('mutation { verifyContributor { id user { username } } }')
  const nobody = await service.rest('POST /1/verify', undefined, { credential: null })
  const weak = await service.graphqlAs(
    { ...people.alice, permissions: ['moderate'] },
    'mutation { verifyContributor { id } }',
  )

  expect(verified).toMatchObject({
    status: 200,
    body: { id: 'alice-credential', user: { id: 'alice', username: 'alice' } },
  })
  expect(data.verifyContributor).toEqual({ id: 'alice-credential', user: { username: 'alice' } })
  expect(nobody.status).toBe(401)
  expect(weak.errors![0]!.extensions.status).toBe(403)
})

test('credentials, scopes and types are listed', async () => {
  const service = await openContributions()

  const credentials = await service.rest('GET /1/credentials')
  const nobody = await service.rest('GET /1/credentials', undefined, { credential: null })
  const scopes = await service.rest('GET /1/scopes')
  const events = await service.rest('GET /1/event-types')
  const types = await service.rest('GET /1/subscription-types')
  const { data } = await service.graphqlAs(
    { ...people.bob, permissions: ['moderate'] },
    `{ contributionScopes contributionCredentials { type value user { id } scopes }
       contributionEventTypes { id } contributionSubscriptionTypes { id name } }`,
  )

  expect(credentials.body).toEqual([
    { type: 'bearer', value: 'alice-credential', user: 'alice', scopes: ['full', 'moderate'] },
  ])
  expect(nobody.status).toBe(401)
  expect(scopes.body).toEqual(['full', 'moderate'])
  expect(events.body).toContainEqual({
    id: 'contribution.created',
    name: 'A contribution was made',
  })
  expect(types.body.map(({ id }: any) => id)).toEqual([
    'contribution.created',
    'contribution.published',
    'contribution.rejected',
    'contribution.flagged',
  ])
  expect(data).toMatchObject({
    contributionScopes: ['full', 'moderate'],
    contributionCredentials: [
      { value: 'bob-credential', user: { id: 'bob' }, scopes: ['moderate'] },
    ],
    contributionSubscriptionTypes: types.body,
  })
  expect(data.contributionEventTypes.length).toBe(events.body.length)
})
