import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { MODULE_TYPE, moduleArn, openGroups, setArn, SET_TYPE, tagQuery } from './ground.ts'

const set = (name: string) => ({ ResourceArn: setArn(name), ResourceType: SET_TYPE })
const module = (name: string) => ({ ResourceArn: moduleArn(name), ResourceType: MODULE_TYPE })

test('a query finds the resources of all services that bear the tags, as they are now', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const ResourceQuery = tagQuery({ stage: ['test', 'beta'], team: [] })
  await groups.makeSet('both', { stage: 'beta', team: 'keys' })
  await groups.makeSet('otherValue', { stage: 'production', team: 'keys' })
  await groups.makeSet('oneKey', { stage: 'test' })
  await groups.makeModule('module', { stage: 'test', team: '' })
  await rest('POST /groups', { Name: 'g', ResourceQuery })

  const searched = await rest('POST /resources/search', { ResourceQuery })
  const listed = await rest('POST /list-group-resources', { Group: 'g' })
  await groups.dropSet('both')
  await groups.makeSet('late', { stage: 'test', team: 'x' })
  const later = await rest('POST /list-group-resources', { GroupName: 'g' })

  const ResourceIdentifiers = [module('module'), set('both')]
  expect(searched).toMatchObject({ status: 200 })
  expect(searched.body).toEqual({ ResourceIdentifiers, QueryErrors: [] })
  expect(listed.body).toEqual({
    Resources: ResourceIdentifiers.map((Identifier) => ({ Identifier })),
    ResourceIdentifiers,
    QueryErrors: [],
  })
  expect(later.body.ResourceIdentifiers).toEqual([module('module'), set('late')])
})

test('a query finds resources of the types that it names', async () => {
  const groups = await openGroups()
  await groups.makeSet('a')
  await groups.makeModule('module')
  const search = async (...types: string[]) => {
    const ResourceQuery = tagQuery({}, types)
    const { body } = await groups.rest('POST /resources/search', { ResourceQuery })
    return body.ResourceIdentifiers
  }

  expect(await search('AWS::AllSupported')).toEqual([module('module'), set('a')])
  expect(await search(SET_TYPE)).toEqual([set('a')])
  expect(await search('AWS::Polygraph::VoiceConfigurationSet')).toEqual([set('a')])
  expect(await search(MODULE_TYPE)).toEqual([module('module')])
  expect(await search(MODULE_TYPE, SET_TYPE)).toEqual([module('module'), set('a')])
})

test('a type that no service has is an error of the query, and the others are found', async () => {
  const groups = await openGroups()
  await groups.makeSet('a')
  const ResourceQuery = tagQuery({}, [SET_TYPE, 'AWS::EC2::Instance', 'AWS::Polygraph::Module'])

  const { status, body } = await groups.rest('POST /resources/search', { ResourceQuery })

  expect(status).toBe(200)
  expect(body).toEqual({
    ResourceIdentifiers: [set('a')],
    QueryErrors: [
      {
        ErrorCode: 'RESOURCE_TYPE_NOT_SUPPORTED',
        Message: 'No service has resources of type AWS::EC2::Instance.',
      },
      {
        ErrorCode: 'RESOURCE_TYPE_NOT_SUPPORTED',
        Message: 'No service has resources of type AWS::Polygraph::Module.',
      },
    ],
  })
})

test('what a query finds is paged, in a search and in a group', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const ResourceQuery = tagQuery({})
  for (const name of ['b', 'c', 'a']) await groups.makeSet(name)
  await rest('POST /groups', { Name: 'g', ResourceQuery })

  for (const [path, asked] of [
    ['resources/search', { ResourceQuery }],
    ['list-group-resources', { Group: 'g' }],
  ] as const) {
    const first = await rest(`POST /${path}`, { ...asked, MaxResults: 2 })
    const { NextToken } = first.body
    const second = await rest(`POST /${path}`, { ...asked, MaxResults: 2, NextToken })

    expect(first.body.ResourceIdentifiers).toEqual([set('a'), set('b')])
    expect(second.body.ResourceIdentifiers).toEqual([set('c')])
    expect(second.body.NextToken).toBeUndefined()
  }
})

test('a group is filtered by types that its query can find', async () => {
  const groups = await openGroups()
  const { rest } = groups
  await groups.makeSet('a')
  await groups.makeModule('module')
  await rest('POST /groups', { Name: 'all', ResourceQuery: tagQuery({}) })
  await rest('POST /groups', { Name: 'sets', ResourceQuery: tagQuery({}, [SET_TYPE]) })
  const filter = (...Values: string[]) => [{ Name: 'resource-type', Values }]
  const list = (Group: string, Filters: object[]) =>
    rest('POST /list-group-resources', { Group, Filters })

  const sets = await list('all', filter(SET_TYPE))
  const both = await list('all', [...filter(SET_TYPE, MODULE_TYPE), ...filter(MODULE_TYPE)])
  const outside = await list('sets', filter(MODULE_TYPE))

  expect(sets.body.ResourceIdentifiers).toEqual([set('a')])
  expect(both.body.ResourceIdentifiers).toEqual([module('module')])
  expect(outside).toMatchObject({
    status: 400,
    body: {
      __type: 'BadRequestException',
      Message: `The resource types specified as filters are not part of the group's query: ${MODULE_TYPE}.`,
    },
  })
})

test('a group of resources by name is filtered and paged too', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const ResourceArns = [
    await groups.makeSet('a'),
    await groups.makeModule('module'),
    await groups.makeSet('b'),
  ]
  await rest('POST /groups', { Name: 'g', Configuration: [{ Type: 'AWS::EC2::HostManagement' }] })
  await rest('POST /group-resources', { Group: 'g', ResourceArns })

  const Filters = [{ Name: 'resource-type', Values: [SET_TYPE] }]
  const filtered = await rest('POST /list-group-resources', { Group: 'g', Filters })
  const first = await rest('POST /list-group-resources', { Group: 'g', MaxResults: 2 })
  const { NextToken } = first.body
  const second = await rest('POST /list-group-resources', { Group: 'g', NextToken })

  expect(filtered.body.ResourceIdentifiers).toEqual([set('a'), set('b')])
  expect(first.body.ResourceIdentifiers).toEqual([module('module'), set('a')])
  expect(second.body.ResourceIdentifiers).toEqual([set('b')])
})

test("what is another person's is not found", async () => {
  const groups = await openGroups()
  await groups.makeSet('a')
  await groups.makeModule('module')
  const ResourceQuery = tagQuery({})

  const { body } = await groups.rest(
    'POST /resources/search',
    { ResourceQuery },
    { credential: 'bob' },
  )

  expect(body.ResourceIdentifiers).toEqual([])
})

test('the graph lists what is in groups and searches', async () => {
  const groups = await openGroups()
  await groups.makeSet('a')
  const { Type, Query } = tagQuery({}, [SET_TYPE, 'AWS::EC2::Instance'])
  await groups.rest('POST /groups', { Name: 'g', ResourceQuery: { Type, Query } })

  const { data } = await groups.graph.ask(
    `query ($query: ResourceQueryInput!) {
      resourceSearch(resourceQuery: $query) {
        resourceIdentifiers { resourceArn resourceType } nextToken queryErrors { errorCode message } }
      resourceGroupResources(group: "g") {
        resources { identifier { resourceArn } status { name } } resourceIdentifiers { resourceType } }
      resourceGroup(group: "g") { resources(first: 1) {
        nodes { resourceArn } pageInfo { hasNextPage } } }
    }`,
    { query: { type: Type, query: Query } },
  )

  expect(data.resourceSearch).toEqual({
    resourceIdentifiers: [{ resourceArn: setArn('a'), resourceType: SET_TYPE }],
    nextToken: null,
    queryErrors: [
      {
        errorCode: 'RESOURCE_TYPE_NOT_SUPPORTED',
        message: 'No service has resources of type AWS::EC2::Instance.',
      },
    ],
  })
  expect(data.resourceGroupResources).toEqual({
    resources: [{ identifier: { resourceArn: setArn('a') }, status: null }],
    resourceIdentifiers: [{ resourceType: SET_TYPE }],
  })
  expect(data.resourceGroup.resources).toEqual({
    nodes: [{ resourceArn: setArn('a') }],
    pageInfo: { hasNextPage: false },
  })
})

test.each([
  ['no query', {}],
  ['a query that is text', { ResourceQuery: 'x' }],
  ['a bad document', { ResourceQuery: { ...tagQuery({}), Query: 'x' } }],
  ['a page of 0', { ResourceQuery: tagQuery({}), MaxResults: 0 }],
  ['a token of nobody', { ResourceQuery: tagQuery({}), NextToken: 'x' }],
])('a search with %s is refused', async (_case, sent) => {
  const { rest } = await openForTest(subgraph)

  const answer = await rest('POST /resources/search', sent)

  expect(answer).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
})

test('a token of one query does not fit another', async () => {
  const groups = await openGroups()
  for (const name of ['a', 'b']) await groups.makeSet(name, { x: 'y' })
  const { body } = await groups.rest('POST /resources/search', {
    ResourceQuery: tagQuery({}),
    MaxResults: 1,
  })

  const answer = await groups.rest('POST /resources/search', {
    ResourceQuery: tagQuery({ x: ['y'] }),
    NextToken: body.NextToken,
  })

  expect(answer.status).toBe(400)
})

test('without the graph nothing is found and nothing is claimed', async () => {
  const { rest } = await openForTest(subgraph)

  const answer = await rest('POST /resources/search', { ResourceQuery: tagQuery({}) })

  expect(answer.status).toBe(503)
})
