// What is delicate in the store, on both of its engines.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest } from '../open.ts'
import { HOSTS, openGroups, tagQuery } from './ground.ts'

test.each(engines)('groups, members, stacks and events on $engine', async ({ database }) => {
  const groups = await openGroups()
  const [a, b] = [await groups.makeSet('a'), await groups.makeSet('b')]
  const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
  const { clock, port: graph } = groups.graph
  const { rest, advance, graphql } = await openForTest(subgraph, { store, clock, graph })
  await rest('POST /update-account-settings', { GroupLifecycleEventsDesiredStatus: 'ACTIVE' })
  await advance(2_000)

  await rest('POST /groups', { Name: 'g', Configuration: HOSTS })
  await rest('POST /groups', { Name: 'g.2', ResourceQuery: tagQuery({ n: ['1'] }) })
  await rest('POST /put-group-configuration', { Group: 'g', Configuration: HOSTS })
  const pending = await rest('POST /group-resources', { Group: 'g', ResourceArns: [a, b] })
  await advance(5_000)
  await rest('POST /ungroup-resources', { Group: 'g', ResourceArns: [b] })
  const inside = await rest('POST /list-group-resources', { Group: 'g' })
  const races = await Promise.all(
    [1, 2, 3, 4].map(() => rest('POST /groups', { Name: 'contested' })),
  )
  const stacks = await Promise.all(
    [1, 2, 3].map(() => graphql('mutation { createResourceStack(stackName: "s") { stackName } }')),
  )
  const { data: ofResource } = await graphql(
    `
      query ($r: [_Any!]!) {
        _entities(representations: $r) {
          ... on CloudResource {
            groups {
              nodes {
                name
              }
            }
          }
        }
      }
    `,
    { r: [{ __typename: 'CloudResource', id: a }] },
  )
  const page = await rest('POST /groups-list?maxResults=2')
  const next = await rest(`POST /groups-list?nextToken=${page.body.NextToken}`)
  await rest('POST /delete-group', { Group: 'g' })
  await advance(1)
  const { data } = await graphql(
    '{ resourceGroupLifecycleEvents { nodes { stateChange } } resourceStacks { nodes { stackName } } }',
  )

  expect(pending.body.Pending).toHaveLength(2)
  expect(inside.body.ResourceIdentifiers.map((it: any) => it.ResourceArn)).toEqual([a])
  expect(races.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400])
  expect(stacks.filter(({ errors }) => errors === undefined)).toHaveLength(1)
  expect(ofResource._entities).toEqual([{ groups: { nodes: [{ name: 'g' }] } }])
  expect(page.body.Groups.map((it: any) => it.Name)).toEqual(['contested', 'g'])
  expect(next.body.Groups.map((it: any) => it.Name)).toEqual(['g.2'])
  expect(data.resourceGroupLifecycleEvents.nodes[0]).toEqual({ stateChange: 'deleted' })
  expect(data.resourceStacks.nodes).toEqual([{ stackName: 's' }])
})
