import { expect, test } from 'vitest'
import { Unavailable } from '../../resolvers/kernel/fault.ts'
import { members } from '../../resolvers/resource-groups/records.ts'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { HOSTS, moduleArn, MODULE_TYPE, openGroups, setArn, SET_TYPE } from './ground.ts'
import type { Groups } from './ground.ts'

const POOL = [{ Type: 'AWS::EC2::CapacityReservationPool' }]
const ONLY_MODULES = {
  Type: 'AWS::ResourceGroups::Generic',
  Parameters: [{ Name: 'allowed-resource-types', Values: [MODULE_TYPE] }],
}
const PROTECTED = {
  Type: 'AWS::ResourceGroups::Generic',
  Parameters: [{ Name: 'deletion-protection', Values: ['UNLESS_EMPTY'] }],
}

async function listed({ rest }: Pick<Groups, 'rest'>, Group = 'g'): Promise<any[]> {
  return (await rest('POST /list-group-resources', { Group })).body.Resources
}

test.each(['AWS::EC2::HostManagement', 'AWS::EC2::CapacityReservationPool'])(
  'a group of type %s takes resources of all services',
  async (Type) => {
    const groups = await openGroups()
    const { rest } = groups
    const ResourceArns = [await groups.makeSet('a'), await groups.makeModule('module')]
    await rest('POST /groups', { Name: 'g', Configuration: [{ Type }] })

    const grouped = await rest('POST /group-resources', { Group: 'g', ResourceArns })
    const again = await rest('POST /group-resources', { Group: 'g', ResourceArns })

    expect(grouped).toMatchObject({ status: 200 })
    expect(grouped.body).toEqual({ Succeeded: ResourceArns, Failed: [], Pending: [] })
    expect(again.body).toEqual(grouped.body)
    expect(await listed(groups)).toEqual([
      { Identifier: { ResourceArn: moduleArn('module'), ResourceType: MODULE_TYPE } },
      { Identifier: { ResourceArn: setArn('a'), ResourceType: SET_TYPE } },
    ])
  },
)

test('each resource succeeds or fails for itself', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const module = await groups.makeModule('module')
  const set = await groups.makeSet('a')
  const none = setArn('none')
  const foreign = set.replace('111111111111', '222222222222')
  await rest('POST /groups', { Name: 'g', Configuration: [...HOSTS, ONLY_MODULES] })

  const { body } = await rest('POST /group-resources', {
    Group: 'g',
    ResourceArns: [set, module, none, foreign, 'no arn', module],
  })

  expect(body).toEqual({
    Succeeded: [module],
    Failed: [
      {
        ResourceArn: set,
        ErrorCode: 'RESOURCE_TYPE_NOT_ALLOWED',
        ErrorMessage: 'The group does not take resources of this type.',
      },
      {
        ResourceArn: none,
        ErrorCode: 'RESOURCE_NOT_FOUND',
        ErrorMessage: 'There is no such resource.',
      },
      {
        ResourceArn: foreign,
        ErrorCode: 'INVALID_ARN',
        ErrorMessage: 'This is not the ARN of a resource in this account.',
      },
      {
        ResourceArn: 'no arn',
        ErrorCode: 'INVALID_ARN',
        ErrorMessage: 'This is not the ARN of a resource in this account.',
      },
    ],
    Pending: [],
  })
  expect(await listed(groups)).toHaveLength(1)
})

test("another person's resource is not found, whatever its ARN is made to look like", async () => {
  const groups = await openGroups()
  const arn = (await groups.makeModule('module')).replace('111111111111', '222222222222')
  const asBob = { credential: 'bob' as const }
  await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS }, asBob)

  const { body } = await groups.rest(
    'POST /group-resources',
    { Group: 'g', ResourceArns: [arn] },
    asBob,
  )

  expect(body.Failed).toMatchObject([{ ErrorCode: 'RESOURCE_NOT_FOUND' }])
})

test('a resource that its service knows by another spelling is in the group once', async () => {
  const groups = await openGroups()
  const arn = await groups.makeModule('module')
  const spelled = arn.replace('resourceGroups/Vaults', 'RESOURCEGROUPS/vaults')
  await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS })

  const ResourceArns = [spelled, arn, arn.replace('us-east-1', 'eu-west-1')]
  const { body } = await groups.rest('POST /group-resources', { Group: 'g', ResourceArns })

  expect(body.Succeeded).toEqual([spelled, arn])
  expect(body.Failed).toMatchObject([{ ErrorCode: 'INVALID_ARN' }])
  expect(await listed(groups)).toEqual([
    { Identifier: { ResourceArn: arn, ResourceType: MODULE_TYPE } },
  ])
})

test('other groups take no resources by name, and give none back', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const ResourceArns = [await groups.makeSet('a')]
  await rest('POST /groups', { Name: 'generic', Configuration: [PROTECTED] })
  await rest('POST /groups', { Name: 'neither' })

  for (const Group of ['generic', 'neither']) {
    for (const path of ['group-resources', 'ungroup-resources']) {
      const answer = await rest(`POST /${path}`, { Group, ResourceArns })
      expect(answer).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
    }
  }
})

test('resources are taken out of a group, each for itself', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const [a, b] = [await groups.makeSet('a'), await groups.makeSet('b')]
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await rest('POST /group-resources', { Group: 'g', ResourceArns: [a] })

  const { status, body } = await rest('POST /ungroup-resources', {
    Group: 'g',
    ResourceArns: [a, b],
  })

  expect(status).toBe(200)
  expect(body).toEqual({
    Succeeded: [a],
    Failed: [
      {
        ResourceArn: b,
        ErrorCode: 'RESOURCE_NOT_IN_GROUP',
        ErrorMessage: 'The resource is not in the group.',
      },
    ],
    Pending: [],
  })
  expect(await listed(groups)).toEqual([])
})

test('the graph puts resources into a group and takes them out', async () => {
  const groups = await openGroups()
  const arn = await groups.makeSet('a')
  await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  const fields =
    '{ succeeded failed { resourceArn errorCode errorMessage } pending { resourceArn } }'
  const variables = { arns: [arn, 'none'] }

  const put = await groups.service.graphql(
    `mutation ($arns: [String!]!) { groupResources(group: "g", resourceArns: $arns) ${fields} }`,
    variables,
  )
  const inside = await groups.service.graphql(
    '{ resourceGroup(group: "g") { resources { nodes { resourceArn resourceType status } } } }',
  )
  const taken = await groups.service.graphql(
    `mutation ($arns: [String!]!) { ungroupResources(group: "g", resourceArns: $arns) ${fields} }`,
    variables,
  )

  expect(put.data.groupResources).toMatchObject({
    succeeded: [arn],
    failed: [{ resourceArn: 'none', errorCode: 'INVALID_ARN' }],
    pending: [],
  })
  expect(inside.data.resourceGroup.resources.nodes).toEqual([
    { resourceArn: arn, resourceType: SET_TYPE, status: null },
  ])
  expect(taken.data.ungroupResources.succeeded).toEqual([arn])
})

test('an addition is pending while the configuration is being applied', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const [set, module, none] = [
    await groups.makeSet('a'),
    await groups.makeModule('module'),
    setArn('none'),
  ]
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await rest('POST /put-group-configuration', {
    Group: 'g',
    Configuration: [...POOL, ONLY_MODULES],
  })

  const ResourceArns = [set, module, none]
  const { body } = await rest('POST /group-resources', { Group: 'g', ResourceArns })
  const meanwhile = await listed(groups)
  await groups.advance(4_000)

  expect(body).toEqual({
    Succeeded: [],
    Failed: [],
    Pending: [{ ResourceArn: set }, { ResourceArn: module }, { ResourceArn: none }],
  })
  expect(meanwhile).toHaveLength(3)
  expect(meanwhile).toContainEqual({
    Identifier: { ResourceArn: set },
    Status: { Name: 'PENDING' },
  })
  // The set is of a type that is not allowed any more, and the last was never there.
  expect(await listed(groups)).toEqual([
    { Identifier: { ResourceArn: module, ResourceType: MODULE_TYPE } },
  ])
})

test('an addition is pending while the service of the resource does not answer', async () => {
  const groups = await openGroups()
  const arn = await groups.makeSet('a')
  const { port, clock } = groups.graph
  let isDown = true
  const service = await openForTest(subgraph, {
    clock,
    graph: {
      ...port,
      ask: (...asked) => (isDown ? Promise.reject(Unavailable('Down.')) : port.ask(...asked)),
    },
  })
  await service.rest('POST /groups', { Name: 'g', Configuration: HOSTS })

  const { body } = await service.rest('POST /group-resources', { Group: 'g', ResourceArns: [arn] })
  await service.advance(1_500)
  const [meanwhile] = await listed(service)
  isDown = false
  await service.advance(10_000)

  expect(body).toEqual({ Succeeded: [], Failed: [], Pending: [{ ResourceArn: arn }] })
  expect(meanwhile.Status).toEqual({ Name: 'PENDING' })
  expect(await listed(service)).toEqual([
    { Identifier: { ResourceArn: arn, ResourceType: SET_TYPE } },
  ])
})

test('a pending addition that is taken back does not happen', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const ResourceArns = [await groups.makeSet('a')]
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await rest('POST /put-group-configuration', { Group: 'g', Configuration: POOL })
  await rest('POST /group-resources', { Group: 'g', ResourceArns })

  const { body } = await rest('POST /ungroup-resources', { Group: 'g', ResourceArns })
  await groups.advance(10_000)

  expect(body.Succeeded).toEqual(ResourceArns)
  expect(await listed(groups)).toEqual([])
})

test('a resource that is gone is in no group', async () => {
  const groups = await openGroups()
  const ResourceArns = [await groups.makeSet('a'), await groups.makeSet('b')]
  await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await groups.rest('POST /group-resources', { Group: 'g', ResourceArns })

  await groups.dropSet('a')
  const again = await groups.rest('POST /group-resources', { Group: 'g', ResourceArns })

  expect(again.body).toMatchObject({
    Succeeded: [setArn('b')],
    Failed: [{ ResourceArn: setArn('a'), ErrorCode: 'RESOURCE_NOT_FOUND' }],
  })
  expect(await listed(groups)).toEqual([
    { Identifier: { ResourceArn: setArn('b'), ResourceType: SET_TYPE } },
  ])
})

test('a protected group is deleted only when it is empty, or what it held is gone', async () => {
  const groups = await openGroups()
  const { rest } = groups
  await rest('POST /groups', { Name: 'g', Configuration: [...HOSTS, PROTECTED] })
  await rest('POST /group-resources', { Group: 'g', ResourceArns: [await groups.makeSet('a')] })

  const refused = await rest('POST /delete-group', { Group: 'g' })
  const still = await listed(groups)
  await groups.dropSet('a')
  const deleted = await rest('POST /delete-group', { Group: 'g' })

  expect(refused).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  expect(still).toHaveLength(1)
  expect(deleted.status).toBe(200)
})

test('a group that is made again under its name begins empty', async () => {
  const groups = await openGroups()
  const { rest } = groups
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await rest('POST /group-resources', { Group: 'g', ResourceArns: [await groups.makeSet('a')] })

  await rest('POST /delete-group', { Group: 'g' })
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })

  expect(await listed(groups)).toEqual([])
})

test('a group holds at most 1,000 resources', async () => {
  const groups = await openGroups()
  const ResourceArns = [await groups.makeSet('a'), await groups.makeSet('b')]
  await groups.rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await groups.service.store.transaction(async (tx) => {
    for (let i = 0; i < 999; i += 1) {
      const ResourceArn = setArn(`earlier${i}`)
      await tx.insert(members, { Account: '111111111111', GroupName: 'g', ResourceArn })
    }
  })

  const { body } = await groups.rest('POST /group-resources', { Group: 'g', ResourceArns })

  expect(body).toMatchObject({
    Succeeded: [setArn('a')],
    Failed: [{ ResourceArn: setArn('b'), ErrorCode: 'RESOURCE_LIMIT_EXCEEDED' }],
  })
})

test.each([
  ['no ARNs', { Group: 'g' }],
  ['an empty list', { Group: 'g', ResourceArns: [] }],
  [
    'eleven ARNs',
    { Group: 'g', ResourceArns: Array.from({ length: 11 }, (_, i) => setArn(`${i}`)) },
  ],
  ['a number', { Group: 'g', ResourceArns: [1] }],
  ['no group', { ResourceArns: [setArn('a')] }],
])('%s: refused at both operations', async (_case, sent) => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })

  for (const path of ['group-resources', 'ungroup-resources']) {
    const answer = await rest(`POST /${path}`, sent)
    expect(answer).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  }
})
