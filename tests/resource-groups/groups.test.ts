import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { groups } from '../../resolvers/resource-groups/records.ts'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { GROUP_ARN, HOSTS, tagQuery } from './ground.ts'

const QUERY = tagQuery({ stage: ['test'] })
const BAD = { status: 400, body: { __type: 'BadRequestException' } }

test('a group is created, with all that was said of it, and can be read', async () => {
  const { rest } = await openForTest(subgraph)
  const Group = {
    GroupArn: `${GROUP_ARN}/web.site_1-a`,
    Name: 'web.site_1-a',
    Description: 'Of the site',
    Criticality: 3,
    Owner: 'Ada',
    DisplayName: 'Web site',
  }

  const { GroupArn: _, ...sent } = Group
  const created = await rest('POST /groups', { ...sent, ResourceQuery: QUERY, Tags: { a: 'b' } })
  const byName = await rest('POST /get-group', { Group: 'web.site_1-a' })
  const byArn = await rest('POST /get-group', { Group: `${GROUP_ARN}/web.site_1-a` })
  const byOldName = await rest('POST /get-group', { GroupName: 'web.site_1-a' })
  const query = await rest('POST /get-group-query', { Group: 'web.site_1-a' })

  expect(created).toMatchObject({ status: 200 })
  expect(created.body).toEqual({ Group, ResourceQuery: QUERY, Tags: { a: 'b' } })
  expect([byName.body, byArn.body, byOldName.body]).toEqual([{ Group }, { Group }, { Group }])
  expect(query.body).toEqual({
    GroupQuery: { GroupName: 'web.site_1-a', ResourceQuery: QUERY },
  })
})

test('the graph creates, reads, changes and deletes groups too', async () => {
  const service = await openForTest(subgraph)

  const created = await service.graphql(
    `mutation ($query: ResourceQueryInput) {
      createResourceGroup(name: "a", resourceQuery: $query, tags: { x: "y" }, owner: "Ada") {
        id groupArn name description tags owner resourceQuery { type query } configuration { status } } }`,
    { query: { type: QUERY.Type, query: QUERY.Query } },
  )
  const updated = await service.graphql(
    `mutation { updateResourceGroup(group: "a", description: "b") { description owner } }`,
  )
  const requeried = await service.graphql(
    `mutation ($query: ResourceQueryInput!) {
      updateResourceGroupQuery(group: "a", resourceQuery: $query) { groupName resourceQuery { type } } }`,
    { query: { type: QUERY.Type, query: QUERY.Query } },
  )
  const read = await service.graphql(
    `{ resourceGroup(groupName: "a") { name } resourceGroupQuery(group: "a") { groupName }
       resourceGroups { nodes { name } pageInfo { hasNextPage } } }`,
  )
  const deleted = await service.graphql('mutation { deleteResourceGroup(group: "a") { name } }')
  const gone = await service.graphql('{ resourceGroup(group: "a") { name } }')

  expect(created.data.createResourceGroup).toEqual({
    id: `${GROUP_ARN}/a`,
    groupArn: `${GROUP_ARN}/a`,
    name: 'a',
    description: null,
    tags: { x: 'y' },
    owner: 'Ada',
    resourceQuery: { type: 'TAG_FILTERS_1_0', query: QUERY.Query },
    configuration: null,
  })
  expect(updated.data.updateResourceGroup).toEqual({ description: 'b', owner: 'Ada' })
  expect(requeried.data.updateResourceGroupQuery).toEqual({
    groupName: 'a',
    resourceQuery: { type: 'TAG_FILTERS_1_0' },
  })
  expect(read.data).toEqual({
    resourceGroup: { name: 'a' },
    resourceGroupQuery: { groupName: 'a' },
    resourceGroups: { nodes: [{ name: 'a' }], pageInfo: { hasNextPage: false } },
  })
  expect(deleted.data.deleteResourceGroup).toEqual({ name: 'a' })
  expect(gone.errors![0].extensions).toMatchObject({ code: 'NotFoundException', status: 404 })
})

test('a second group of a name is refused, and the first stays as it is', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a', Description: 'first' })

  const second = await rest('POST /groups', { Name: 'a', Description: 'second' })

  expect(second).toMatchObject({
    status: 400,
    body: { __type: 'BadRequestException', Message: 'There is a group named a already.' },
  })
  const { body } = await rest('POST /get-group', { Group: 'a' })
  expect(body.Group.Description).toBe('first')
})

test.each([
  ['no name', {}],
  ['an empty name', { Name: '' }],
  ['a name with a space', { Name: 'a b' }],
  ['a name that is too long', { Name: 'a'.repeat(301) }],
  ['a reserved name', { Name: 'Aws-things' }],
  ['a number for a name', { Name: 1 }],
  ['a description that is too long', { Name: 'a', Description: 'x'.repeat(1025) }],
  ['a criticality of 11', { Name: 'a', Criticality: 11 }],
  ['a query and a configuration', { Name: 'a', ResourceQuery: QUERY, Configuration: HOSTS }],
  ['a query of an unknown type', { Name: 'a', ResourceQuery: { ...QUERY, Type: 'TAGS' } }],
  ['a query that is no JSON', { Name: 'a', ResourceQuery: { ...QUERY, Query: '{' } }],
  ['a query without types', { Name: 'a', ResourceQuery: { ...QUERY, Query: '{}' } }],
  ['a query for no type', { Name: 'a', ResourceQuery: tagQuery({}, []) }],
  ['a query for a type of no form', { Name: 'a', ResourceQuery: tagQuery({}, ['Module']) }],
  ['a query that is too long', { Name: 'a', ResourceQuery: tagQuery({ a: ['x'.repeat(4096)] }) }],
  [
    'a stack query without a stack',
    { Name: 'a', ResourceQuery: { ...QUERY, Type: 'CLOUDFORMATION_STACK_1_0' } },
  ],
  ['a reserved tag', { Name: 'a', Tags: { 'aws:x': 'y' } }],
  ['a tag without a key', { Name: 'a', Tags: { '': 'y' } }],
  ['a tag whose value is a number', { Name: 'a', Tags: { x: 1 } }],
  ['a tag whose value is too long', { Name: 'a', Tags: { x: 'y'.repeat(257) } }],
  [
    '51 tags',
    { Name: 'a', Tags: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`k${i}`, ''])) },
  ],
])('%s is refused, and nothing is created', async (_case, sent) => {
  const { rest } = await openForTest(subgraph)

  const answer = await rest('POST /groups', sent)

  expect(answer).toMatchObject(BAD)
  expect((await rest('POST /groups-list', {})).body.Groups).toEqual([])
})

test('an account has at most 1,000 groups', async () => {
  const { rest, store } = await openForTest(subgraph)
  await store.transaction(async (tx) => {
    for (let i = 0; i < 999; i += 1) {
      await tx.insert(groups, { Account: '111111111111', Name: `g${i}`, Tags: {} })
    }
  })

  const last = await rest('POST /groups', { Name: 'last' })
  const next = await rest('POST /groups', { Name: 'next' })

  expect(last.status).toBe(200)
  expect(next).toMatchObject({
    status: 400,
    body: { Message: 'An account has at most 1000 groups.' },
  })
  expect((await rest('POST /get-group', { Group: 'next' })).status).toBe(404)
})

test('an update changes what it names and nothing else, and no name', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a', Description: 'b', Owner: 'Ada', ResourceQuery: QUERY })

  const updated = await rest('POST /update-group', { Group: 'a', Description: '', Name: 'c' })
  const unchanged = await rest('POST /update-group', { Group: 'a' })

  const Group = { GroupArn: `${GROUP_ARN}/a`, Name: 'a', Description: '', Owner: 'Ada' }
  expect(updated.body).toEqual({ Group })
  expect(unchanged.body).toEqual({ Group })
  expect((await rest('POST /get-group-query', { Group: 'a' })).status).toBe(200)
})

test('the query of a group is replaced, and a bad one changes nothing', async () => {
  const { rest } = await openForTest(subgraph)
  const next = tagQuery({ stage: ['production'] })
  await rest('POST /groups', { Name: 'a', ResourceQuery: QUERY })

  const bad = await rest('POST /update-group-query', {
    Group: 'a',
    ResourceQuery: { ...QUERY, Query: '[]' },
  })
  const before = await rest('POST /get-group-query', { Group: 'a' })
  const replaced = await rest('POST /update-group-query', { Group: 'a', ResourceQuery: next })
  const after = await rest('POST /get-group-query', { Group: 'a' })

  expect(bad).toMatchObject(BAD)
  expect(before.body.GroupQuery.ResourceQuery).toEqual(QUERY)
  expect(replaced.body).toEqual({ GroupQuery: { GroupName: 'a', ResourceQuery: next } })
  expect(after.body).toEqual(replaced.body)
})

test('a group has a query or a configuration, and each is asked for where it is', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'query', ResourceQuery: QUERY })
  await rest('POST /groups', { Name: 'hosts', Configuration: HOSTS })
  await rest('POST /groups', { Name: 'neither' })

  const answers = [
    await rest('POST /get-group-query', { Group: 'hosts' }),
    await rest('POST /get-group-query', { Group: 'neither' }),
    await rest('POST /get-group-configuration', { Group: 'query' }),
    await rest('POST /get-group-configuration', { Group: 'neither' }),
    await rest('POST /update-group-query', { Group: 'hosts', ResourceQuery: QUERY }),
    await rest('POST /put-group-configuration', { Group: 'query', Configuration: HOSTS }),
  ]
  const queried = await rest('POST /update-group-query', { Group: 'neither', ResourceQuery: QUERY })

  for (const answer of answers) expect(answer).toMatchObject(BAD)
  expect(queried.status).toBe(200)
})

test('a group is named once, or twice alike', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a' })
  await rest('POST /groups', { Name: 'b' })

  const neither = await rest('POST /get-group', {})
  const alike = await rest('POST /get-group', { Group: `${GROUP_ARN}/a`, GroupName: 'a' })
  const different = await rest('POST /delete-group', { Group: 'a', GroupName: 'b' })

  expect(neither).toMatchObject(BAD)
  expect(alike.status).toBe(200)
  expect(different).toMatchObject(BAD)
  expect((await rest('POST /groups-list')).body.Groups).toHaveLength(2)
})

const everywhere = [
  'delete-group',
  'get-group',
  'get-group-configuration',
  'get-group-query',
  'list-group-resources',
  'put-group-configuration',
  'update-group',
]
test.each([
  'none',
  `${GROUP_ARN}/none`,
  'arn:aws:resource-groups:us-east-1:222222222222:group/a',
  'arn:aws:resource-groups:eu-west-1:111111111111:group/a',
  'arn:aws:backup:us-east-1:111111111111:group/a',
  'arn:aws:resource-groups:us-east-1:111111111111:a',
])('there is no group %s anywhere', async (Group) => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a' })

  for (const path of everywhere) {
    const answer = await rest(`POST /${path}`, { Group })
    expect(answer, path).toMatchObject({ status: 404, body: { __type: 'NotFoundException' } })
  }
  const others = [
    await rest('POST /update-group-query', { Group, ResourceQuery: QUERY }),
    await rest('POST /group-resources', { Group, ResourceArns: ['arn:aws:x:::y'] }),
    await rest('POST /ungroup-resources', { Group, ResourceArns: ['arn:aws:x:::y'] }),
  ]
  expect(others.map(({ status }) => status)).toEqual([404, 404, 404])
})

test("another account's groups do not exist", async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a' })
  const asBob = { credential: 'bob' as const }

  const read = await rest('POST /get-group', { Group: `${GROUP_ARN}/a` }, asBob)
  const listed = await rest('POST /groups-list', {}, asBob)
  const own = await rest('POST /groups', { Name: 'a' }, asBob)

  expect(read.status).toBe(404)
  expect(listed.body).toEqual({ GroupIdentifiers: [], Groups: [] })
  expect(own.body.Group.GroupArn).toBe('arn:aws:resource-groups:us-east-1:222222222222:group/a')
})

test('a group that is deleted is answered once more, and then is gone', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a' })

  const deleted = await rest('POST /delete-group', { GroupName: 'a' })
  const again = await rest('POST /delete-group', { GroupName: 'a' })

  expect(deleted).toMatchObject({
    status: 200,
    body: { Group: { GroupArn: `${GROUP_ARN}/a`, Name: 'a' } },
  })
  expect(again).toMatchObject({
    status: 404,
    body: { __type: 'NotFoundException', Message: 'There is no group named a.' },
  })
})

test('what happens to a group is announced', async () => {
  const { rest, store } = await openForTest(subgraph)

  await rest('POST /groups', { Name: 'a' })
  await rest('POST /update-group', { Group: 'a', Description: 'b' })
  await rest('POST /delete-group', { Group: 'a' })

  const events = await readEvents(store, { after: 0, limit: 10 })
  expect(events.map(({ type, subject }) => [type, subject])).toEqual([
    ['resource-groups.group.created', `${GROUP_ARN}/a`],
    ['resource-groups.group.changed', `${GROUP_ARN}/a`],
    ['resource-groups.group.deleted', `${GROUP_ARN}/a`],
  ])
})
