import { expect, test } from 'vitest'
import { configurationSets } from '../../resolvers/voice/configuration-sets.ts'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { people } from '../people.ts'
import {
  MODULE_TYPE,
  openGroups,
  pathOf,
  setArn,
  stackQuery,
  tagQuery,
  type Groups,
} from './ground.ts'

const create = `mutation ($name: String!) {
  createResourceStack(stackName: $name, description: "All of it") {
    stackId stackName description stackStatus creationTime } }`
const result = '{ succeeded failed { resourceArn errorCode } pending { resourceArn } }'
const add = `mutation ($name: String!, $arns: [String!]!) {
  addToResourceStack(stackName: $name, resourceArns: $arns) ${result} }`
const remove = `mutation ($name: String!, $arns: [String!]!) {
  removeFromResourceStack(stackName: $name, resourceArns: $arns) ${result} }`
const drop = `mutation ($name: String!) { deleteResourceStack(stackName: $name) { stackStatus } }`
const read = `query ($name: String!) { resourceStack(stackName: $name) { stackId stackStatus } }`

const NO_ONE = 'arn:aws:cloudformation:us-east-1:111111111111:stack/site/none'

async function makeStack({ graph }: Groups, name: string, ...arns: string[]): Promise<string> {
  const { data } = await graph.ask(create, { name })
  await graph.ask(add, { name, arns })
  return data.createResourceStack.stackId
}

const search = async ({ rest }: Groups, stack: string, ...types: string[]) =>
  (
    await rest('POST /resources/search', {
      ResourceQuery: stackQuery(stack, types.length > 0 ? types : ['AWS::AllSupported']),
    })
  ).body

test('a stack query finds the resources of the stack, by its ARN and by its name', async () => {
  const groups = await openGroups()
  const [a, m] = [await groups.makeSet('a', { x: 'y' }), await groups.makeModule('module')]
  await groups.makeSet('other')
  const stackId = await makeStack(groups, 'site', a, m)
  await groups.rest('POST /groups', { Name: 'g', ResourceQuery: stackQuery(stackId) })

  const listed = await groups.rest('POST /list-group-resources', { Group: 'g' })
  const byName = await search(groups, 'site')
  const modules = await search(groups, 'site', MODULE_TYPE)
  const tags = await groups.rest(`GET ${pathOf(a)}`)

  expect(listed.body.ResourceIdentifiers.map((it: any) => it.ResourceArn)).toEqual([m, a])
  expect(byName).toEqual({
    ResourceIdentifiers: listed.body.ResourceIdentifiers,
    QueryErrors: [],
  })
  expect(modules.ResourceIdentifiers).toEqual([{ ResourceArn: m, ResourceType: MODULE_TYPE }])
  expect(tags.body.Tags).toEqual({ x: 'y', 'cloudformation:stack-id': stackId })
})

test('a stack that does not exist is an error of the query', async () => {
  const groups = await openGroups()
  await groups.graph.ask(create, { name: 'site' })

  for (const stack of [
    'none',
    NO_ONE,
    NO_ONE.replace('cloudformation', 'backup'),
    NO_ONE.replace('111111111111', '222222222222'),
    'arn:aws:cloudformation:us-east-1:111111111111:site',
  ]) {
    expect(await search(groups, stack)).toEqual({
      ResourceIdentifiers: [],
      QueryErrors: [
        {
          ErrorCode: 'CLOUDFORMATION_STACK_NOT_EXISTING',
          Message: `There is no stack ${stack}.`,
        },
      ],
    })
  }
})

test('a deleted stack is inactive, lets its resources go, and is forgotten after 90 days', async () => {
  const groups = await openGroups()
  const arns = [await groups.makeSet('a', { x: 'y' }), await groups.makeModule('module')]
  const stackId = await makeStack(groups, 'site', ...arns)

  const deleted = await groups.graph.ask(drop, { name: 'site' })
  const leaving = await search(groups, stackId)
  await groups.advance(1)
  const tags = await Promise.all(arns.map((arn) => groups.rest(`GET ${pathOf(arn)}`)))
  const stack = await groups.graph.ask(read, { name: 'site' })
  const inactive = await search(groups, 'site')
  await groups.advance(90 * 24 * 3600_000)
  const forgotten = await search(groups, stackId)

  expect(deleted.data.deleteResourceStack).toEqual({ stackStatus: 'DELETE_IN_PROGRESS' })
  expect(leaving).toEqual({
    ResourceIdentifiers: [],
    QueryErrors: [
      {
        ErrorCode: 'CLOUDFORMATION_STACK_INACTIVE',
        Message: `The stack ${stackId} has been deleted.`,
      },
    ],
  })
  expect(tags.map(({ body }) => body.Tags)).toEqual([{ x: 'y' }, {}])
  expect(stack.data.resourceStack).toEqual({ stackId, stackStatus: 'DELETE_COMPLETE' })
  expect(inactive.QueryErrors).toMatchObject([{ ErrorCode: 'CLOUDFORMATION_STACK_INACTIVE' }])
  expect(forgotten.QueryErrors).toMatchObject([{ ErrorCode: 'CLOUDFORMATION_STACK_NOT_EXISTING' }])
})

test('a stack ends also when a service does not let it take its tag back', async () => {
  const groups = await openGroups()
  const arn = await groups.makeSet('a')
  const stackId = await makeStack(groups, 'site', arn)
  const limited = { ...people.alice, permissions: ['cloudformation:*'] }

  await groups.service.graphqlAs(limited, drop, { name: 'site' })
  await groups.advance(1)

  const stack = await groups.graph.ask(read, { name: 'site' })
  expect(stack.data.resourceStack.stackStatus).toBe('DELETE_COMPLETE')
  const { body } = await groups.rest(`GET ${pathOf(arn)}`)
  expect(body.Tags).toEqual({ 'cloudformation:stack-id': stackId })
})

test('a stack lets go of more resources than fit one step', async () => {
  const groups = await openGroups()
  const stackId = await makeStack(groups, 'site')
  const { store } = groups.graph.service('voice')
  await store.transaction(async (tx) => {
    for (let i = 0; i < 450; i += 1) {
      await tx.insert(configurationSets, {
        Account: '111111111111',
        ConfigurationSetName: `s${i}`,
        CreatedTime: '2030-01-01T00:00:00.000Z',
        EventDestinations: [],
        Tags: { 'cloudformation:stack-id': stackId },
      })
    }
  })

  await groups.graph.ask(drop, { name: 'site' })
  await groups.advance(1)

  const stack = await groups.graph.ask(read, { name: 'site' })
  expect(stack.data.resourceStack.stackStatus).toBe('DELETE_COMPLETE')
  const tagged = await groups.rest('POST /resources/search', {
    ResourceQuery: tagQuery({ 'cloudformation:stack-id': [] }),
  })
  expect(tagged.body.ResourceIdentifiers).toEqual([])
})

test('a name is free again when its stack is deleted, and then means the new one', async () => {
  const groups = await openGroups()
  const arn = await groups.makeSet('a')
  const old = await makeStack(groups, 'site', arn)
  const taken = await groups.graph.ask(create, { name: 'site' })
  await groups.graph.ask(drop, { name: 'site' })
  const leaving = await groups.graph.ask(create, { name: 'site' })
  await groups.advance(1)

  const next = await makeStack(groups, 'site', arn)

  expect(taken.errors![0].extensions.code).toBe('BadRequestException')
  expect(leaving.errors![0].extensions.code).toBe('BadRequestException')
  expect(next).not.toBe(old)
  expect((await search(groups, 'site')).ResourceIdentifiers).toHaveLength(1)
  expect((await search(groups, old)).QueryErrors).toHaveLength(1)
})

test('resources enter and leave a stack, each for itself', async () => {
  const groups = await openGroups()
  const [a, b] = [await groups.makeSet('a'), await groups.makeSet('b')]
  await makeStack(groups, 'site', a)

  const added = await groups.graph.ask(add, { name: 'site', arns: [b, setArn('none')] })
  const removed = await groups.graph.ask(remove, { name: 'site', arns: [a, a, setArn('none')] })
  const again = await groups.graph.ask(remove, { name: 'site', arns: [a] })

  expect(added.data.addToResourceStack).toEqual({
    succeeded: [b],
    failed: [{ resourceArn: setArn('none'), errorCode: 'RESOURCE_NOT_FOUND' }],
    pending: [],
  })
  expect(removed.data.removeFromResourceStack).toMatchObject({ succeeded: [a] })
  expect(again.data.removeFromResourceStack.failed).toEqual([
    { resourceArn: a, errorCode: 'RESOURCE_NOT_IN_STACK' },
  ])
  expect((await search(groups, 'site')).ResourceIdentifiers).toMatchObject([{ ResourceArn: b }])
})

test('stacks are listed by name', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['site', 'app']) await service.graphql(create, { name })

  const { data } = await service.graphql(
    '{ resourceStacks { nodes { stackName stackStatus creationTime } edges { cursor } pageInfo { hasNextPage } } }',
  )

  expect(data.resourceStacks).toMatchObject({
    nodes: [
      {
        stackName: 'app',
        stackStatus: 'CREATE_COMPLETE',
        creationTime: '2030-01-01T00:00:00.000Z',
      },
      { stackName: 'site' },
    ],
    pageInfo: { hasNextPage: false },
  })
})

test('a stack that is not there, or has no name, is refused', async () => {
  const service = await openForTest(subgraph)
  await service.graphql(create, { name: 'site' })

  const name = await service.graphql(create, { name: '1 site' })
  const answers = [
    await service.graphql(read, { name: 'none' }),
    await service.graphql(drop, { name: 'none' }),
    await service.graphql(add, { name: 'none', arns: [setArn('a')] }),
    await service.graphql(remove, { name: 'none', arns: [setArn('a')] }),
    await service.graphql(read, { name: 'site' }, { credential: 'bob' }),
  ]

  expect(name.errors![0].extensions.code).toBe('BadRequestException')
  for (const { errors } of answers) {
    expect(errors![0].extensions.code).toBe('NotFoundException')
  }
})
