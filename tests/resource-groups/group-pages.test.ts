import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest, type TestService } from '../open.ts'
import { GROUP_ARN, HOSTS, MODULE_TYPE, SET_TYPE, tagQuery } from './ground.ts'

const POOL = [
  { Type: 'AWS::EC2::CapacityReservationPool' },
  {
    Type: 'AWS::ResourceGroups::Generic',
    Parameters: [{ Name: 'allowed-resource-types', Values: [MODULE_TYPE] }],
  },
]

async function fill({ rest }: TestService) {
  await rest('POST /groups', { Name: 'all', ResourceQuery: tagQuery({}) })
  await rest('POST /groups', { Name: 'hosts', Configuration: HOSTS, Owner: 'Ada' })
  await rest('POST /groups', { Name: 'pool', Configuration: POOL, DisplayName: 'Pool' })
  await rest('POST /groups', {
    Name: 'sets',
    ResourceQuery: tagQuery({}, [SET_TYPE]),
    Criticality: 2,
  })
}

const namesIn = ({ body }: { body: any }) => body.Groups.map(({ Name }: { Name: string }) => Name)

test('groups are listed by name, in both forms of the answer', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'b', Description: 'second' })
  await rest('POST /groups', { Name: 'a' })

  const { status, body } = await rest('POST /groups-list')

  expect(status).toBe(200)
  expect(body).toEqual({
    GroupIdentifiers: [
      { GroupName: 'a', GroupArn: `${GROUP_ARN}/a` },
      { GroupName: 'b', GroupArn: `${GROUP_ARN}/b`, Description: 'second' },
    ],
    Groups: [
      { Name: 'a', GroupArn: `${GROUP_ARN}/a` },
      { Name: 'b', GroupArn: `${GROUP_ARN}/b`, Description: 'second' },
    ],
  })
})

test.each([
  ['configuration-type', ['AWS::EC2::HostManagement'], ['hosts']],
  [
    'configuration-type',
    ['AWS::EC2::HostManagement', 'AWS::ResourceGroups::Generic'],
    ['hosts', 'pool'],
  ],
  ['resource-type', [SET_TYPE], ['all', 'sets']],
  ['resource-type', [MODULE_TYPE], ['all', 'pool']],
  ['resource-type', ['AWS::AllSupported'], ['all']],
  ['owner', ['Ada'], ['hosts']],
  ['display-name', ['Pool'], ['pool']],
  ['criticality', ['2', '3'], ['sets']],
])('the filter %s of %j lets %j through', async (Name, Values, names) => {
  const service = await openForTest(subgraph)
  await fill(service)

  const answer = await service.rest('POST /groups-list', { Filters: [{ Name, Values }] })

  expect(namesIn(answer)).toEqual(names)
})

test('a group has to fit every filter', async () => {
  const service = await openForTest(subgraph)
  await fill(service)

  const answer = await service.rest('POST /groups-list', {
    Filters: [
      { Name: 'resource-type', Values: [MODULE_TYPE] },
      { Name: 'configuration-type', Values: ['AWS::EC2::CapacityReservationPool'] },
    ],
  })

  expect(namesIn(answer)).toEqual(['pool'])
})

test('pages follow each other by token, with filters too, and the last has none', async () => {
  const service = await openForTest(subgraph)
  await fill(service)
  const Filters = [{ Name: 'resource-type', Values: [SET_TYPE] }]

  const first = await service.rest('POST /groups-list?maxResults=3')
  const second = await service.rest(`POST /groups-list?nextToken=${first.body.NextToken}`)
  const filtered = await service.rest('POST /groups-list?maxResults=1', { Filters })
  const next = `nextToken=${filtered.body.NextToken}`
  const rest = await service.rest(`POST /groups-list?maxResults=1&${next}`, { Filters })

  expect([namesIn(first), namesIn(second)]).toEqual([['all', 'hosts', 'pool'], ['sets']])
  expect([namesIn(filtered), namesIn(rest)]).toEqual([['all'], ['sets']])
  expect([second.body.NextToken, rest.body.NextToken]).toEqual([undefined, undefined])
})

test.each([
  ['?maxResults=0', {}],
  ['?maxResults=many', {}],
  ['?nextToken=abc', {}],
  ['', { Filters: [{ Name: 'colour', Values: ['red'] }] }],
  ['', { Filters: [{ Name: 'resource-type', Values: [] }] }],
  ['', { Filters: [{ Name: 'resource-type' }] }],
  ['', { Filters: [{ Name: 'owner', Values: ['1', '2', '3', '4', '5', '6'] }] }],
  ['', { Filters: 'owner' }],
])('a list of %s %j is refused', async (query, body) => {
  const { rest } = await openForTest(subgraph)

  const answer = await rest(`POST /groups-list${query}`, body)

  expect(answer).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
})

test('a token fits only the list that gave it', async () => {
  const service = await openForTest(subgraph)
  await fill(service)
  const { body } = await service.rest('POST /groups-list?maxResults=1')
  const url = `POST /groups-list?nextToken=${body.NextToken}`

  const filtered = await service.rest(url, { Filters: [{ Name: 'owner', Values: ['Ada'] }] })
  const foreign = await service.rest(url, {}, { credential: 'bob' })

  expect(filtered.status).toBe(400)
  expect(foreign.status).toBe(400)
})

test('the graph lists groups by filter and as a connection', async () => {
  const service = await openForTest(subgraph)
  await fill(service)

  const { data } = await service.graphql(`{
    page: resourceGroupPage(maxResults: 1, filters: [{ name: "resource-type", values: ["${SET_TYPE}"] }]) {
      groups { name } nextToken }
    resourceGroups(first: 2) { nodes { name } edges { cursor } pageInfo { hasNextPage } } }`)

  expect(data.page).toEqual({ groups: [{ name: 'all' }], nextToken: expect.any(String) })
  expect(data.resourceGroups).toMatchObject({
    nodes: [{ name: 'all' }, { name: 'hosts' }],
    pageInfo: { hasNextPage: true },
  })
})
