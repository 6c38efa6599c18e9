import { expect, test } from 'vitest'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { people, testCredentials } from '../people.ts'
import { GROUP_ARN, HOSTS, openGroups, pathOf, tagQuery } from './ground.ts'

const credentialsOf = (caller: Partial<Caller>) => ({
  ...testCredentials,
  async signingKey(scope: Parameters<typeof testCredentials.signingKey>[0]) {
    const found = await testCredentials.signingKey(scope)
    return found && { ...found, caller: { ...people.alice, ...caller } }
  },
})
const openAs = (caller: Partial<Caller>) =>
  openForTest(subgraph, { credentials: credentialsOf(caller) })

const TAGS = pathOf(`${GROUP_ARN}/a`)
const needed = [
  ['POST /groups', 'CreateGroup'],
  ['POST /delete-group', 'DeleteGroup'],
  ['POST /get-account-settings', 'GetAccountSettings'],
  ['POST /get-group', 'GetGroup'],
  ['POST /get-group-configuration', 'GetGroupConfiguration'],
  ['POST /get-group-query', 'GetGroupQuery'],
  [`GET ${TAGS}`, 'GetTags'],
  ['POST /group-resources', 'GroupResources'],
  ['POST /list-group-resources', 'ListGroupResources'],
  ['POST /groups-list', 'ListGroups'],
  ['POST /put-group-configuration', 'PutGroupConfiguration'],
  ['POST /resources/search', 'SearchResources'],
  [`PUT ${TAGS}`, 'Tag'],
  ['POST /ungroup-resources', 'UngroupResources'],
  [`PATCH ${TAGS}`, 'Untag'],
  ['POST /update-account-settings', 'UpdateAccountSettings'],
  ['POST /update-group', 'UpdateGroup'],
  ['POST /update-group-query', 'UpdateGroupQuery'],
] as const

test('every operation needs the permission of its name', async () => {
  const actions = needed.map(([, action]) => `resource-groups:${action}`)
  for (const [request, action] of needed) {
    const permission = `resource-groups:${action}`
    const service = await openAs({ permissions: actions.filter((other) => other !== permission) })

    const answer = await service.rest(request)

    expect(answer, request).toMatchObject({
      status: 403,
      body: {
        __type: 'ForbiddenException',
        Message: `The credential does not permit ${permission}.`,
      },
    })
  }
})

const reading = [
  'cloudformation:DescribeStacks',
  'cloudformation:ListStackResources',
  'tag:GetResources',
]

test('to see what a query finds, one has to be allowed to see stacks and tags too', async () => {
  const ResourceQuery = tagQuery({})
  for (const [path, body] of [
    ['list-group-resources', { Group: 'a' }],
    ['resources/search', { ResourceQuery }],
  ] as const) {
    for (const permission of reading) {
      const others = reading.filter((other) => other !== permission)
      const service = await openAs({ permissions: ['resource-groups:*', ...others] })

      const answer = await service.rest(`POST /${path}`, body)

      expect(answer).toMatchObject({
        status: 403,
        body: { Message: `The credential does not permit ${permission}.` },
      })
    }
  }
})

test('permissions with wildcards open what they match, and through the graph no more', async () => {
  const permissions = ['resource-groups:*', 'cloudformation:*Stack*', 'tag:Get*', 'sms-voice:Get*']
  const groups = await openGroups({ credentials: credentialsOf({ permissions }) })
  // Alice herself may do everything in the graph, and only her key may not.
  await groups.graph.ask(
    'mutation { createVoiceConfigurationSet(configurationSetName: "a") { id } }',
  )
  const arn = 'arn:aws:sms-voice:us-east-1:111111111111:configuration-set/a'

  const found = await groups.rest('POST /resources/search', { ResourceQuery: tagQuery({}) })
  const tagged = await groups.rest(`PUT ${pathOf(arn)}`, { Tags: { a: 'b' } })
  const created = await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS })

  expect(found.body.ResourceIdentifiers).toMatchObject([{ ResourceArn: arn }])
  expect(tagged).toMatchObject({ status: 403, body: { __type: 'ForbiddenException' } })
  expect((await groups.rest(`GET ${pathOf(arn)}`)).body.Tags).toEqual({})
  expect(created.status).toBe(200)
})

test('a key that opens one service alone finds nothing of others that ask for permissions', async () => {
  const credentials = credentialsOf({ permissions: ['resource-groups:*'] })
  const groups = await openGroups({ credentials })
  const [set, module] = [await groups.makeSet('a'), await groups.makeModule('module')]
  await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS })

  const grouped = await groups.rest('POST /group-resources', {
    Group: 'g',
    ResourceArns: [set, module],
  })
  const tags = await groups.rest(`GET ${pathOf(set)}`)
  const tagged = await groups.rest(`PUT ${pathOf(module)}`, { Tags: { a: 'b' } })

  expect(grouped.body).toMatchObject({
    Succeeded: [module],
    Failed: [{ ResourceArn: set, ErrorCode: 'RESOURCE_NOT_FOUND' }],
  })
  expect(tags.status).toBe(404)
  expect(tagged.status).toBe(200)
})

test('a permission for some operations opens no others', async () => {
  const service = await openAs({ permissions: ['resource-groups:Get*'] })

  expect((await service.rest('POST /get-account-settings')).status).toBe(200)
  expect((await service.rest('POST /groups', { Name: 'a' })).status).toBe(403)
  expect((await service.rest('POST /groups-list')).status).toBe(403)
})

test('a credential without an account is refused', async () => {
  const service = await openAs({ accounts: [{ id: 'x', kind: 'SUBSCRIPTION' }] })

  expect(await service.rest('POST /groups-list')).toMatchObject({
    status: 403,
    body: { __type: 'ForbiddenException' },
  })
})

test('a request that is not signed, or signed wrongly, is refused by the names that clients know', async () => {
  const service = await openForTest(subgraph)

  const unsigned = await service.rest('POST /groups-list', {}, { credential: null })
  const wrong = await service.rest('POST /groups-list', 'not even JSON', {
    headers: { 'x-amz-content-sha256': 'f'.repeat(64) },
  })
  const inGraph = await service.graphql(
    '{ resourceGroups { nodes { name } } }',
    {},
    {
      credential: null,
    },
  )

  expect(unsigned).toMatchObject({
    status: 403,
    body: { __type: 'MissingAuthenticationTokenException' },
  })
  expect(wrong).toMatchObject({ status: 403, body: { __type: 'InvalidSignatureException' } })
  expect(inGraph.errors![0].extensions.code).toBe('Unauthenticated')
})

test('unknown paths, wrong methods and broken bodies are refused in the same shape', async () => {
  const service = await openForTest(subgraph, {
    wrap: (store) =>
      Object.assign(Object.create(store), { list: () => Promise.reject(new Error('disk')) }),
  })

  const unknown = await service.rest('POST /nothing')
  const method = await service.rest('GET /groups')
  const broken = await service.rest('POST /groups', '{')
  const failing = await service.rest('POST /groups-list')

  expect(unknown).toMatchObject({ status: 404, body: { __type: 'NotFoundException' } })
  expect(method).toMatchObject({ status: 405, body: { __type: 'MethodNotAllowedException' } })
  expect(method.headers.allow).toBe('POST')
  expect(broken).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  expect(failing).toMatchObject({ status: 500, body: { __type: 'InternalServerErrorException' } })
  expect(service.mistakes).toEqual([new Error('disk')])
})
