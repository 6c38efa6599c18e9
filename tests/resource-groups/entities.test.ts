import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import type { GraphPort } from '../../resolvers/kernel/graph.ts'
import { openForTest } from '../open.ts'
import { GROUP_ARN, HOSTS, moduleId, openGroups, setArn, tagQuery } from './ground.ts'

const ENTITIES = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on ResourceGroup { id name }
    ... on CloudAccount { id resourceGroups(first: 1) { nodes { name } pageInfo { hasNextPage } } }
    ... on CloudResource { id groups(first: 2) { nodes { name } pageInfo { hasNextPage endCursor } } }
  }
}`
const groupOf = (id: string) => ({ __typename: 'ResourceGroup', id })
const accountOf = (id: string) => ({ __typename: 'CloudAccount', id })
const resourceOf = (id: string) => ({ __typename: 'CloudResource', id })

test("groups are resolved by ARN, and another's resolve to nothing", async () => {
  const service = await openForTest(subgraph)
  for (const Name of ['a', 'b']) await service.rest('POST /groups', { Name })
  const ids = [`${GROUP_ARN}/b`, `${GROUP_ARN}/none`, 'a', `${GROUP_ARN}/a`]
  const representations = ids.map(groupOf)

  const own = await service.graphql(ENTITIES, { representations })
  const foreign = await service.graphql(ENTITIES, { representations }, { credential: 'bob' })

  expect(own.data.entities).toEqual([
    { id: `${GROUP_ARN}/b`, name: 'b' },
    null,
    null,
    { id: `${GROUP_ARN}/a`, name: 'a' },
  ])
  expect(foreign.data.entities).toEqual([null, null, null, null])
})

test("an account shows its groups, a subscription none, and another's account nothing", async () => {
  const service = await openForTest(subgraph)
  for (const Name of ['a', 'b']) await service.rest('POST /groups', { Name })
  const subscription = '11111111-1111-4111-8111-111111111111'

  const { data } = await service.graphql(ENTITIES, {
    representations: ['111111111111', subscription, '222222222222'].map(accountOf),
  })

  expect(data.entities).toEqual([
    {
      id: '111111111111',
      resourceGroups: { nodes: [{ name: 'a' }], pageInfo: { hasNextPage: true } },
    },
    { id: subscription, resourceGroups: { nodes: [], pageInfo: { hasNextPage: false } } },
    null,
  ])
})

test('every resource of every service has the groups that it is in', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const arn = await groups.makeSet('a', { stage: 'test' })
  await groups.makeSet('b')
  await groups.makeModule('module', { stage: 'test' })
  await rest('POST /groups', { Name: 'tested', ResourceQuery: tagQuery({ stage: ['test'] }) })
  await rest('POST /groups', { Name: 'all', ResourceQuery: tagQuery({}) })
  await rest('POST /groups', { Name: 'hosts', Configuration: HOSTS })
  await rest('POST /group-resources', { Group: 'hosts', ResourceArns: [arn] })

  const { data, errors } = await groups.graph.ask(`{ cloudAccounts(first: 2) { nodes {
    voiceConfigurationSets(first: 2) { nodes { name groups { nodes { name } } } }
    dedicatedHsms(first: 1) { nodes { name
      groups { nodes { name resources { nodes { resourceArn } } } } } } } } }`)

  expect(errors).toBeUndefined()
  const [subscription, account] = data.cloudAccounts.nodes
  expect(account.voiceConfigurationSets.nodes).toEqual([
    { name: 'a', groups: { nodes: [{ name: 'all' }, { name: 'hosts' }, { name: 'tested' }] } },
    { name: 'b', groups: { nodes: [{ name: 'all' }] } },
  ])
  const [module] = subscription.dedicatedHsms.nodes
  expect(module.groups.nodes.map(({ name }: any) => name)).toEqual(['all', 'tested'])
  expect(module.groups.nodes[1].resources.nodes).toHaveLength(2)
})

test('the groups of a resource are paged', async () => {
  const groups = await openGroups()
  await groups.makeSet('a')
  for (const Name of ['x', 'y', 'z']) {
    await groups.rest('POST /groups', { Name, ResourceQuery: tagQuery({}) })
  }
  const page = (after: string | null) =>
    groups.graph.ask(
      `query ($id: ID!, $after: String) { voiceConfigurationSetById(id: $id) {
        groups(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } } }`,
      { id: setArn('a'), after },
    )

  const first = (await page(null)).data.voiceConfigurationSetById.groups
  const second = (await page(first.pageInfo.endCursor)).data.voiceConfigurationSetById.groups
  const wrong = await page('x')

  expect(first.nodes).toEqual([{ name: 'x' }, { name: 'y' }])
  expect(second).toMatchObject({ nodes: [{ name: 'z' }], pageInfo: { hasNextPage: false } })
  expect(wrong.errors![0].extensions.code).toBe('Invalid')
})

test("what is not there, or another's, is in no group", async () => {
  const groups = await openGroups()
  await groups.makeModule('module')
  const asBob = { credential: 'bob' as const }
  await groups.rest('POST /groups', { Name: 'all', ResourceQuery: tagQuery({}) }, asBob)
  const representations = [moduleId('module'), setArn('none')].map(resourceOf)

  const { data } = await groups.service.graphql(ENTITIES, { representations }, asBob)

  const none = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } }
  expect(data.entities).toEqual([
    { id: moduleId('module'), groups: none },
    { id: setArn('none'), groups: none },
  ])
})

test('fifty resources in ten groups cost as many questions to the graph as two in one', async () => {
  const groups = await openGroups()
  for (let i = 0; i < 50; i += 1) await groups.makeSet(`s${i}`)
  const { port, clock } = groups.graph
  let asked = 0
  const graph: GraphPort = {
    ...port,
    ask(...question) {
      asked += 1
      return port.ask(...question)
    },
  }
  const service = await openForTest(subgraph, { clock, graph })
  const ask = async (count: number) => {
    asked = 0
    const representations = Array.from({ length: count }, (_, i) => resourceOf(setArn(`s${i}`)))
    const { data } = await service.graphql(ENTITIES, { representations })
    return data.entities
  }
  await service.rest('POST /groups', { Name: 'a', ResourceQuery: tagQuery({}) })
  await ask(1)

  const two = await ask(2)
  const askedForTwo = asked
  for (let i = 0; i < 9; i += 1) {
    await service.rest('POST /groups', { Name: `g${i}`, ResourceQuery: tagQuery({}) })
  }
  const fifty = await ask(50)

  expect(two).toMatchObject([{ groups: { nodes: [{ name: 'a' }] } }, {}])
  expect(askedForTwo).toBe(1)
  expect(fifty).toHaveLength(50)
  // One question has at most 25 resources in it.
  expect(asked).toBe(2)
})

test('what is in many groups is found by one listing of the resources', async () => {
  const groups = await openGroups()
  await groups.makeSet('a', { n: '1' })
  const { port, clock } = groups.graph
  const questions: string[] = []
  const graph: GraphPort = {
    ...port,
    ask(caller, document, variables) {
      questions.push(document.includes('cloudAccount(id') ? 'resources' : 'accounts')
      return port.ask(caller, document, variables)
    },
  }
  const service = await openForTest(subgraph, { clock, graph })
  for (let i = 0; i < 5; i += 1) {
    const ResourceQuery = tagQuery({ n: [`${i}`] })
    await service.rest('POST /groups', { Name: `g${i}`, ResourceQuery })
  }

  const { data } = await service.graphql(
    '{ resourceGroups { nodes { name resources { nodes { resourceArn } } } } }',
  )

  expect(data.resourceGroups.nodes.map(({ resources }: any) => resources.nodes.length)).toEqual([
    0, 1, 0, 0, 0,
  ])
  // Alice has two accounts.
  expect(questions).toEqual(['accounts', 'resources', 'resources'])
})
