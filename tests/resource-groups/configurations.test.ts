import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { HOSTS, MODULE_TYPE, openGroups, SET_TYPE } from './ground.ts'

const POOL = [{ Type: 'AWS::EC2::CapacityReservationPool' }]
const only = (...types: string[]) => ({
  Type: 'AWS::ResourceGroups::Generic',
  Parameters: [{ Name: 'allowed-resource-types', Values: types }],
})
const APPLIED_MS = 2_000

test('a configuration is proposed first, and applied later', async () => {
  const { rest, advance } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a', Configuration: HOSTS })

  const put = await rest('POST /put-group-configuration', { Group: 'a', Configuration: POOL })
  const meanwhile = await rest('POST /get-group-configuration', { Group: 'a' })
  await advance(APPLIED_MS)
  const applied = await rest('POST /get-group-configuration', { Group: 'a' })

  expect(put).toMatchObject({ status: 202, body: undefined })
  expect(meanwhile.body).toEqual({
    GroupConfiguration: {
      Configuration: HOSTS,
      ProposedConfiguration: POOL,
      Status: 'UPDATING',
    },
  })
  expect(applied.body).toEqual({
    GroupConfiguration: { Configuration: POOL, Status: 'UPDATE_COMPLETE' },
  })
})

test('the graph puts and reads configurations', async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /groups', { Name: 'a' })

  const put = await service.graphql(`mutation { putResourceGroupConfiguration(group: "a",
    configuration: [{ type: "AWS::ResourceGroups::Generic", parameters: [{
      name: "deletion-protection", values: ["UNLESS_EMPTY"] }] }]) }`)
  await service.advance(APPLIED_MS)
  const { data } = await service.graphql(`{ resourceGroupConfiguration(group: "a") {
    configuration { type parameters { name values } } proposedConfiguration { type } status failureReason } }`)

  expect(put.data.putResourceGroupConfiguration).toBe(true)
  expect(data.resourceGroupConfiguration).toEqual({
    configuration: [
      {
        type: 'AWS::ResourceGroups::Generic',
        parameters: [{ name: 'deletion-protection', values: ['UNLESS_EMPTY'] }],
      },
    ],
    proposedConfiguration: null,
    status: 'UPDATE_COMPLETE',
    failureReason: null,
  })
})

test('a configuration that comes meanwhile takes the place of the first', async () => {
  const { rest, advance } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a' })
  await rest('POST /put-group-configuration', { Group: 'a', Configuration: HOSTS })
  await advance(APPLIED_MS - 1)

  await rest('POST /put-group-configuration', { Group: 'a', Configuration: POOL })
  await advance(1)
  const between = await rest('POST /get-group-configuration', { Group: 'a' })
  await advance(APPLIED_MS)
  const after = await rest('POST /get-group-configuration', { Group: 'a' })

  expect(between.body.GroupConfiguration).toEqual({
    Configuration: [],
    ProposedConfiguration: POOL,
    Status: 'UPDATING',
  })
  expect(after.body.GroupConfiguration).toEqual({
    Configuration: POOL,
    Status: 'UPDATE_COMPLETE',
  })
})

test('a configuration that does not fit what the group holds fails, and says why', async () => {
  const groups = await openGroups()
  const { rest, advance } = groups
  const arn = await groups.makeSet('a')
  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await rest('POST /group-resources', { Group: 'g', ResourceArns: [arn] })
  const tryOut = async (Configuration: object[]) => {
    await rest('POST /put-group-configuration', { Group: 'g', Configuration })
    await advance(APPLIED_MS)
    return (await rest('POST /get-group-configuration', { Group: 'g' })).body.GroupConfiguration
  }

  const none = await tryOut([])
  const otherTypes = await tryOut([...HOSTS, only(MODULE_TYPE)])
  const fitting = await tryOut([...POOL, only(MODULE_TYPE, SET_TYPE)])
  await groups.dropSet('a')
  const whenGone = await tryOut([])

  expect(none).toEqual({
    Configuration: HOSTS,
    Status: 'UPDATE_FAILED',
    FailureReason: 'The group holds 1 resources, which only its type allows. Ungroup them first.',
  })
  expect(otherTypes).toEqual({
    Configuration: HOSTS,
    Status: 'UPDATE_FAILED',
    FailureReason: `The group holds ${arn}, which is of type ${SET_TYPE}.`,
  })
  expect(fitting).toEqual({
    Configuration: [...POOL, only(MODULE_TYPE, SET_TYPE)],
    Status: 'UPDATE_COMPLETE',
  })
  expect(whenGone).toEqual({ Configuration: [], Status: 'UPDATE_COMPLETE' })
})

test('what clients say of hosts is kept', async () => {
  const { rest } = await openForTest(subgraph)
  const Configuration = [
    {
      Type: 'AWS::EC2::HostManagement',
      Parameters: [
        { Name: 'allowed-host-families', Values: ['mac1', 'c5'] },
        { Name: 'auto-allocate-host', Values: ['true'] },
      ],
    },
    {
      Type: 'AWS::ResourceGroups::Generic',
      Parameters: [{ Name: 'deletion-protection', Values: ['UNLESS_EMPTY'] }],
    },
  ]

  const { body } = await rest('POST /groups', { Name: 'a', Configuration })

  expect(body.GroupConfiguration).toEqual({ Configuration, Status: 'UPDATE_COMPLETE' })
})

const generic = (Parameters: unknown) => [{ Type: 'AWS::ResourceGroups::Generic', Parameters }]
test.each([
  ['an unknown type', [{ Type: 'AWS::EC2::Fleet' }]],
  ['a type twice', [...HOSTS, ...HOSTS]],
  ['no type', [{}]],
  ['an unknown parameter', generic([{ Name: 'colour', Values: ['red'] }])],
  [
    'a parameter of another type',
    [{ ...POOL[0], Parameters: [{ Name: 'auto-allocate-host', Values: ['true'] }] }],
  ],
  ['a parameter without values', generic([{ Name: 'deletion-protection' }])],
  ['a value that is none', generic([{ Name: 'deletion-protection', Values: ['ALWAYS'] }])],
  [
    'a type of resources that is none',
    generic([{ Name: 'allowed-resource-types', Values: ['Host'] }]),
  ],
  [
    'a parameter named like what every object has',
    generic([{ Name: 'constructor', Values: ['x'] }]),
  ],
  [
    'a parameter twice',
    generic([1, 2].map(() => ({ Name: 'deletion-protection', Values: ['UNLESS_EMPTY'] }))),
  ],
  ['no list', { Type: 'AWS::EC2::HostManagement' }],
])('a configuration with %s is refused, and changes nothing', async (_case, Configuration) => {
  const { rest, advance } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a', Configuration: HOSTS })

  const put = await rest('POST /put-group-configuration', { Group: 'a', Configuration })
  const created = await rest('POST /groups', { Name: 'b', Configuration })
  await advance(APPLIED_MS)

  expect(put).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  expect(created.status).toBe(400)
  const { body } = await rest('POST /get-group-configuration', { Group: 'a' })
  expect(body.GroupConfiguration).toEqual({ Configuration: HOSTS, Status: 'UPDATE_COMPLETE' })
})

test('a group that is deleted meanwhile stays deleted', async () => {
  const { rest, advance, mistakes } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a' })
  await rest('POST /put-group-configuration', { Group: 'a', Configuration: HOSTS })
  await rest('POST /delete-group', { Group: 'a' })

  await advance(APPLIED_MS)

  expect((await rest('POST /get-group', { Group: 'a' })).status).toBe(404)
  expect(mistakes).toEqual([])
})
