// The published client, unmodified, against a listening service that is joined with others.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-resource-groups'
import { expect, onTestFinished, test } from 'vitest'
import { people, signingKeyOf, testCredentials } from '../people.ts'
import {
  GROUP_ARN,
  HOSTS,
  MODULE_TYPE,
  openGroups,
  setArn,
  SET_TYPE,
  stackQuery,
  tagQuery,
} from './ground.ts'
import type { Groups } from './ground.ts'

interface Listening extends Groups {
  readonly client: sdk.ResourceGroupsClient
}

/** The service's clock is in every answer, as the wall clock is in a real one. */
async function listen(options: Parameters<typeof openGroups>[0] = {}): Promise<Listening> {
  const groups = await openGroups(options)
  const { opened, clock } = groups.service
  await opened.rest.ready()
  const server = createServer((request, answer) => {
    answer.setHeader('date', clock.now().toUTCString())
    opened.rest.routing(request, answer)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const client = new sdk.ResourceGroupsClient({
    endpoint: `http://127.0.0.1:${port}`,
    region: 'eu-west-1',
    credentials: signingKeyOf('alice'),
  })
  onTestFinished(async () => {
    client.destroy()
    await new Promise((done) => server.close(done))
  })
  return { ...groups, client }
}

const query = tagQuery({ stage: ['test'] }) as sdk.ResourceQuery

test('a group by query lives its whole life', async () => {
  const { client, ...groups } = await listen()
  const arn = await groups.makeSet('a', { stage: 'test' })
  const Group = 'web'

  const created = await client.send(
    new sdk.CreateGroupCommand({
      Name: 'web',
      Description: 'Of the site',
      ResourceQuery: query,
      Tags: { team: 'web' },
      Criticality: 5,
      Owner: 'Ada',
      DisplayName: 'Web',
    }),
  )
  const read = await client.send(new sdk.GetGroupCommand({ Group: created.Group!.GroupArn }))
  const asked = await client.send(new sdk.GetGroupQueryCommand({ Group }))
  const inside = await client.send(new sdk.ListGroupResourcesCommand({ Group }))
  const updated = await client.send(new sdk.UpdateGroupCommand({ Group, Description: 'New' }))
  const requeried = await client.send(
    new sdk.UpdateGroupQueryCommand({ Group, ResourceQuery: tagQuery({}) as sdk.ResourceQuery }),
  )
  const Arn = created.Group!.GroupArn!
  const tagged = await client.send(new sdk.TagCommand({ Arn, Tags: { stage: 'test' } }))
  const untagged = await client.send(new sdk.UntagCommand({ Arn, Keys: ['team'] }))
  const tags = await client.send(new sdk.GetTagsCommand({ Arn }))
  await client.send(new sdk.TagCommand({ Arn: arn, Tags: { team: 'web' } }))
  const ofResource = await client.send(new sdk.GetTagsCommand({ Arn: arn }))
  const deleted = await client.send(new sdk.DeleteGroupCommand({ Group }))
  const left = await client.send(new sdk.ListGroupsCommand({}))

  expect(created).toMatchObject({
    Group: { GroupArn: `${GROUP_ARN}/web`, Name: 'web', Criticality: 5, Owner: 'Ada' },
    ResourceQuery: query,
    Tags: { team: 'web' },
  })
  expect(read.Group).toEqual(created.Group)
  expect(asked.GroupQuery).toEqual({ GroupName: 'web', ResourceQuery: query })
  expect(inside.Resources).toEqual([{ Identifier: { ResourceArn: arn, ResourceType: SET_TYPE } }])
  expect(inside.QueryErrors).toEqual([])
  expect(updated.Group).toEqual({ ...created.Group, Description: 'New' })
  expect(requeried.GroupQuery!.ResourceQuery).toEqual(tagQuery({}))
  expect(tagged.Tags).toEqual({ stage: 'test' })
  expect(untagged).toMatchObject({ Arn, Keys: ['team'] })
  expect(tags.Tags).toEqual({ stage: 'test' })
  expect(ofResource.Tags).toEqual({ stage: 'test', team: 'web' })
  expect(deleted.Group!.Name).toBe('web')
  expect(left.Groups).toEqual([])
})

test('a group of resources by name, its configuration and the settings', async () => {
  const { client, advance, ...groups } = await listen()
  const [set, module] = [await groups.makeSet('a'), await groups.makeModule('module')]
  const Group = 'hosts'
  const allowed = [
    ...HOSTS,
    {
      Type: 'AWS::ResourceGroups::Generic',
      Parameters: [
        { Name: 'allowed-resource-types', Values: [MODULE_TYPE] },
        { Name: 'deletion-protection', Values: ['UNLESS_EMPTY'] },
      ],
    },
  ]

  await client.send(new sdk.CreateGroupCommand({ Name: 'hosts', Configuration: HOSTS }))
  const put = await client.send(
    new sdk.PutGroupConfigurationCommand({ Group, Configuration: allowed }),
  )
  const updating = await client.send(new sdk.GetGroupConfigurationCommand({ Group }))
  const pending = await client.send(
    new sdk.GroupResourcesCommand({ Group, ResourceArns: [set, module] }),
  )
  await advance(5_000)
  const applied = await client.send(new sdk.GetGroupConfigurationCommand({ Group }))
  const inside = await client.send(new sdk.ListGroupResourcesCommand({ Group }))
  const refused = await client.send(new sdk.GroupResourcesCommand({ Group, ResourceArns: [set] }))
  const kept = await client
    .send(new sdk.DeleteGroupCommand({ Group }))
    .catch((error: unknown) => error)
  const out = await client.send(new sdk.UngroupResourcesCommand({ Group, ResourceArns: [module] }))
  const before = await client.send(new sdk.GetAccountSettingsCommand({}))
  const turned = await client.send(
    new sdk.UpdateAccountSettingsCommand({ GroupLifecycleEventsDesiredStatus: 'ACTIVE' }),
  )
  await advance(5_000)
  const after = await client.send(new sdk.GetAccountSettingsCommand({}))
  await client.send(new sdk.DeleteGroupCommand({ Group }))

  expect(put.$metadata.httpStatusCode).toBe(202)
  expect(updating.GroupConfiguration).toEqual({
    Configuration: HOSTS,
    ProposedConfiguration: allowed,
    Status: 'UPDATING',
  })
  expect(pending.Pending).toEqual([{ ResourceArn: set }, { ResourceArn: module }])
  expect(applied.GroupConfiguration).toEqual({ Configuration: allowed, Status: 'UPDATE_COMPLETE' })
  expect(inside.ResourceIdentifiers).toEqual([{ ResourceArn: module, ResourceType: MODULE_TYPE }])
  expect(refused.Failed).toMatchObject([{ ErrorCode: 'RESOURCE_TYPE_NOT_ALLOWED' }])
  expect(kept).toBeInstanceOf(sdk.BadRequestException)
  expect(out.Succeeded).toEqual([module])
  expect(before.AccountSettings!.GroupLifecycleEventsStatus).toBe('INACTIVE')
  expect(turned.AccountSettings!.GroupLifecycleEventsStatus).toBe('IN_PROGRESS')
  expect(after.AccountSettings!.GroupLifecycleEventsStatus).toBe('ACTIVE')
})

test('250 groups and 250 resources are paged through', async () => {
  const { client, graph } = await listen()
  for (let i = 0; i < 250; i += 1) {
    const Name = `n${String(i).padStart(3, '0')}`
    await client.send(new sdk.CreateGroupCommand({ Name }))
    await graph
      .service('voice')
      .rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: Name })
  }
  const ResourceQuery = tagQuery({}) as sdk.ResourceQuery

  const groups: string[] = []
  for await (const page of sdk.paginateListGroups({ client, pageSize: 60 }, {})) {
    groups.push(...page.Groups!.map(({ Name }) => Name!))
  }
  const pages: number[] = []
  const found: string[] = []
  for await (const page of sdk.paginateSearchResources({ client }, { ResourceQuery })) {
    pages.push(page.ResourceIdentifiers!.length)
    found.push(...page.ResourceIdentifiers!.map(({ ResourceArn }) => ResourceArn!))
  }

  expect(groups).toHaveLength(250)
  expect([groups[0], groups[249]]).toEqual(['n000', 'n249'])
  expect(pages).toEqual([100, 100, 50])
  expect(new Set(found).size).toBe(250)
  expect([found[0], found[249]]).toEqual([setArn('n000'), setArn('n249')])
})

test('a stack that is not there is an error beside what was found', async () => {
  const { client } = await listen()

  const { QueryErrors, ResourceIdentifiers } = await client.send(
    new sdk.SearchResourcesCommand({ ResourceQuery: stackQuery('none') as sdk.ResourceQuery }),
  )

  expect(ResourceIdentifiers).toEqual([])
  expect(QueryErrors).toEqual([
    {
      ErrorCode: sdk.QueryErrorCode.CLOUDFORMATION_STACK_NOT_EXISTING,
      Message: 'There is no stack none.',
    },
  ])
})

test('refusals are the classes that the client has for them', async () => {
  const permissions = ['resource-groups:Get*', 'resource-groups:Create*']
  const { client, service } = await listen({
    credentials: {
      ...testCredentials,
      async signingKey(scope) {
        const found = await testCredentials.signingKey(scope)
        return found && { ...found, caller: { ...people.alice, permissions } }
      },
    },
  })
  const send = (command: any) => client.send(command).catch((error: unknown) => error)

  await send(new sdk.CreateGroupCommand({ Name: 'a' }))
  const twice = await send(new sdk.CreateGroupCommand({ Name: 'a' }))
  const missing = await send(new sdk.GetGroupCommand({ Group: 'none' }))
  const forbidden = await send(new sdk.DeleteGroupCommand({ Group: 'a' }))
  await service.store.close()
  client.config.maxAttempts = async () => 1
  const failed = await send(new sdk.GetGroupCommand({ Group: 'a' }))

  expect(twice).toBeInstanceOf(sdk.BadRequestException)
  expect(twice).toMatchObject({
    message: 'There is a group named a already.',
    $metadata: { httpStatusCode: 400, requestId: expect.any(String) },
  })
  expect(missing).toBeInstanceOf(sdk.NotFoundException)
  expect(missing).toMatchObject({ $metadata: { httpStatusCode: 404 } })
  expect(forbidden).toBeInstanceOf(sdk.ForbiddenException)
  expect(forbidden).toMatchObject({ $metadata: { httpStatusCode: 403 } })
  expect(failed).toBeInstanceOf(sdk.InternalServerErrorException)
})
