import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest, type TestService } from '../open.ts'
import { GROUP_ARN, HOSTS, openGroups } from './ground.ts'

const SETTLED_MS = 2_000
const EVENTS = `{ resourceGroupLifecycleEvents { nodes {
  time groupArn stateChange addedResourceArns removedResourceArns } pageInfo { hasNextPage } } }`

const settingsOf = (desired: string, status: string) => ({
  AccountSettings: {
    GroupLifecycleEventsDesiredStatus: desired,
    GroupLifecycleEventsStatus: status,
  },
})

async function turn({ rest, advance }: Pick<TestService, 'rest' | 'advance'>, desired: string) {
  await rest('POST /update-account-settings', { GroupLifecycleEventsDesiredStatus: desired })
  await advance(SETTLED_MS)
}

test('events are turned on and off, each in progress for a while', async () => {
  const { rest, advance } = await openForTest(subgraph)
  const update = (GroupLifecycleEventsDesiredStatus: string) =>
    rest('POST /update-account-settings', { GroupLifecycleEventsDesiredStatus })

  const before = await rest('POST /get-account-settings')
  const turnedOn = await update('ACTIVE')
  const meanwhile = await rest('POST /get-account-settings')
  await advance(SETTLED_MS)
  const on = await rest('POST /get-account-settings')
  const again = await update('ACTIVE')
  const turnedOff = await update('INACTIVE')
  await advance(SETTLED_MS)
  const off = await rest('POST /get-account-settings')

  expect(before).toMatchObject({ status: 200 })
  expect(before.body).toEqual(settingsOf('INACTIVE', 'INACTIVE'))
  expect(turnedOn.body).toEqual(settingsOf('ACTIVE', 'IN_PROGRESS'))
  expect(meanwhile.body).toEqual(turnedOn.body)
  expect(on.body).toEqual(settingsOf('ACTIVE', 'ACTIVE'))
  expect(again.body).toEqual(on.body)
  expect(turnedOff.body).toEqual(settingsOf('INACTIVE', 'IN_PROGRESS'))
  expect(off.body).toEqual(before.body)
})

test('a change of mind while it is in progress ends where it was wanted last', async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /update-account-settings', {
    GroupLifecycleEventsDesiredStatus: 'ACTIVE',
  })

  await turn(service, 'INACTIVE')

  const { body } = await service.rest('POST /get-account-settings')
  expect(body).toEqual(settingsOf('INACTIVE', 'INACTIVE'))
})

test('an update that names nothing changes nothing, and one that names something else is refused', async () => {
  const { rest } = await openForTest(subgraph)

  const nothing = await rest('POST /update-account-settings', {})
  const wrong = await rest('POST /update-account-settings', {
    GroupLifecycleEventsDesiredStatus: 'IN_PROGRESS',
  })

  expect(nothing.body).toEqual(settingsOf('INACTIVE', 'INACTIVE'))
  expect(wrong).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
})

test('the graph reads and changes the settings of the own account', async () => {
  const service = await openForTest(subgraph)
  const fields = '{ groupLifecycleEventsDesiredStatus groupLifecycleEventsStatus }'

  const changed = await service.graphql(`mutation {
    updateResourceGroupAccountSettings(groupLifecycleEventsDesiredStatus: ACTIVE) ${fields} }`)
  const read = await service.graphql(`{ resourceGroupAccountSettings ${fields} }`)
  const other = await service.rest('POST /get-account-settings', {}, { credential: 'bob' })

  expect(changed.data.updateResourceGroupAccountSettings).toEqual({
    groupLifecycleEventsDesiredStatus: 'ACTIVE',
    groupLifecycleEventsStatus: 'IN_PROGRESS',
  })
  expect(read.data.resourceGroupAccountSettings).toEqual(
    changed.data.updateResourceGroupAccountSettings,
  )
  expect(other.body).toEqual(settingsOf('INACTIVE', 'INACTIVE'))
})

test('what happens to groups is kept while events are active, and only then', async () => {
  const groups = await openGroups()
  const { rest, service } = groups
  const arn = await groups.makeSet('a')
  await rest('POST /groups', { Name: 'before' })
  await turn(groups, 'ACTIVE')

  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await groups.advance(1)
  await rest('POST /group-resources', { Group: 'g', ResourceArns: [arn] })
  await groups.advance(1)
  await rest('POST /ungroup-resources', { Group: 'g', ResourceArns: [arn] })
  await groups.advance(1)
  await rest('POST /delete-group', { Group: 'g' })
  await groups.advance(1)
  await turn(groups, 'INACTIVE')
  await rest('POST /groups', { Name: 'after' })
  await groups.advance(1)

  const { data } = await service.graphql(EVENTS)
  const event = (stateChange: string, second: string, changes = {}) => ({
    time: `2030-01-01T00:00:02.00${second}Z`,
    groupArn: `${GROUP_ARN}/g`,
    stateChange,
    addedResourceArns: [],
    removedResourceArns: [],
    ...changes,
  })
  expect(data.resourceGroupLifecycleEvents).toEqual({
    nodes: [
      event('deleted', '3'),
      event('changed', '2', { removedResourceArns: [arn] }),
      event('changed', '1', { addedResourceArns: [arn] }),
      event('created', '0'),
    ],
    pageInfo: { hasNextPage: false },
  })
})

test('events are forgotten after 30 days', async () => {
  const service = await openForTest(subgraph)
  await turn(service, 'ACTIVE')
  await service.rest('POST /groups', { Name: 'old' })
  await service.advance(30 * 24 * 3600_000 + 1)

  await service.rest('POST /groups', { Name: 'new' })
  await service.advance(1)

  const { data } = await service.graphql(EVENTS)
  expect(data.resourceGroupLifecycleEvents.nodes).toMatchObject([{ groupArn: `${GROUP_ARN}/new` }])
})
