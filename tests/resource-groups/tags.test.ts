import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { openForTest } from '../open.ts'
import { GROUP_ARN, moduleArn, openGroups, pathOf, setArn } from './ground.ts'

const GROUP = `${GROUP_ARN}/a`

test('tags of a group are put beside those that are there, and removed by key', async () => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a', Tags: { stage: 'test', team: 'keys' } })

  const put = await rest(`PUT ${pathOf(GROUP)}`, { Tags: { stage: 'beta', owner: '' } })
  const between = await rest(`GET ${pathOf(GROUP)}`)
  const removed = await rest(`PATCH ${pathOf(GROUP)}`, { Keys: ['team', 'none'] })
  const after = await rest(`GET ${pathOf(GROUP)}`)

  expect(put).toMatchObject({
    status: 200,
    body: { Arn: GROUP, Tags: { stage: 'beta', owner: '' } },
  })
  expect(between.body).toEqual({ Arn: GROUP, Tags: { stage: 'beta', team: 'keys', owner: '' } })
  expect(removed).toMatchObject({ status: 200, body: { Arn: GROUP, Keys: ['team', 'none'] } })
  expect(after.body).toEqual({ Arn: GROUP, Tags: { stage: 'beta', owner: '' } })
})

test('tags of any other resource are those that its own service keeps', async () => {
  const groups = await openGroups()
  const { rest } = groups
  const arns = [
    await groups.makeSet('a', { stage: 'test' }),
    await groups.makeModule('module', { stage: 'test' }),
  ]

  for (const arn of arns) {
    const put = await rest(`PUT ${pathOf(arn)}`, { Tags: { team: 'keys' } })
    const read = await rest(`GET ${pathOf(arn)}`)
    await rest(`PATCH ${pathOf(arn)}`, { Keys: ['stage'] })

    expect(put.body).toEqual({ Arn: arn, Tags: { team: 'keys' } })
    expect(read.body).toEqual({ Arn: arn, Tags: { stage: 'test', team: 'keys' } })
  }
  const { data } = await groups.graph.ask(
    `{ cloudAccounts { nodes { voiceConfigurationSets { nodes { tags } } dedicatedHsms { nodes { tags } } } } }`,
  )
  const kept = data.cloudAccounts.nodes.flatMap((account: any) => [
    ...account.voiceConfigurationSets.nodes,
    ...account.dedicatedHsms.nodes,
  ])
  expect(kept).toEqual([{ tags: { team: 'keys' } }, { tags: { team: 'keys' } }])
})

test('an ARN in the path may be written as it is', async () => {
  const groups = await openGroups()
  await groups.rest('POST /groups', { Name: 'a', Tags: { x: 'y' } })
  const arn = await groups.makeModule('module', { stage: 'test' })

  const group = await groups.rest(`GET /resources/${GROUP}/tags`)
  const module = await groups.rest(`GET /resources/${arn}/tags`)
  const put = await groups.rest(`PUT /resources/${arn}/tags/`, { Tags: { team: 'keys' } })

  expect(group).toMatchObject({ status: 200, body: { Arn: GROUP, Tags: { x: 'y' } } })
  expect(module).toMatchObject({ status: 200, body: { Arn: arn, Tags: { stage: 'test' } } })
  expect(put).toMatchObject({ status: 200, body: { Arn: arn } })
})

test('the graph puts, reads and removes tags', async () => {
  const groups = await openGroups()
  const arn = await groups.makeSet('a', { stage: 'test' })

  const put = await groups.graph.ask(
    `mutation ($arn: String!) { putResourceTags(arn: $arn, tags: { team: "keys" }) { arn tags } }`,
    { arn },
  )
  const removed = await groups.graph.ask(
    `mutation ($arn: String!) { removeResourceTags(arn: $arn, keys: ["stage"]) { arn keys } }`,
    { arn },
  )
  const read = await groups.graph.ask(
    `query ($arn: String!) { resourceTags(arn: $arn) { arn tags } }`,
    { arn },
  )

  expect(put.data.putResourceTags).toEqual({ arn, tags: { team: 'keys' } })
  expect(removed.data.removeResourceTags).toEqual({ arn, keys: ['stage'] })
  expect(read.data.resourceTags).toEqual({ arn, tags: { team: 'keys' } })
})

test("what is not there, or another's, has no tags", async () => {
  const groups = await openGroups()
  const module = await groups.makeModule('module')
  await groups.rest('POST /groups', { Name: 'a' })
  const asAlice = [setArn('none'), `${GROUP_ARN}/none`, moduleArn('none'), 'text']
  const asBob = [GROUP, module, module.replace('111111111111', '222222222222')]

  for (const [credential, arns] of [
    ['alice', asAlice],
    ['bob', asBob],
  ] as const) {
    for (const arn of arns) {
      const answers = [
        await groups.rest(`GET ${pathOf(arn)}`, undefined, { credential }),
        await groups.rest(`PUT ${pathOf(arn)}`, { Tags: { a: 'b' } }, { credential }),
        await groups.rest(`PATCH ${pathOf(arn)}`, { Keys: ['a'] }, { credential }),
      ]
      for (const answer of answers) {
        expect(answer, arn).toMatchObject({ status: 404, body: { __type: 'NotFoundException' } })
      }
    }
  }
})

test('what the service of a resource refuses is refused, and nothing changes', async () => {
  const groups = await openGroups()
  const arn = await groups.makeModule('module', { stage: 'test' })
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`, 'x']))

  const answer = await groups.rest(`PUT ${pathOf(arn)}`, { Tags: many })

  expect(answer).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  expect((await groups.rest(`GET ${pathOf(arn)}`)).body.Tags).toEqual({ stage: 'test' })
})

test('a group has at most 50 tags', async () => {
  const { rest } = await openForTest(subgraph)
  const tags = (from: number, to: number) =>
    Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`key${from + i}`, '']))
  await rest('POST /groups', { Name: 'a', Tags: tags(0, 49) })

  const fiftieth = await rest(`PUT ${pathOf(GROUP)}`, { Tags: tags(48, 50) })
  const next = await rest(`PUT ${pathOf(GROUP)}`, { Tags: tags(50, 51) })

  expect(fiftieth.status).toBe(200)
  expect(next).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  const { body } = await rest(`GET ${pathOf(GROUP)}`)
  expect(Object.keys(body.Tags)).toHaveLength(50)
})

test.each([
  ['PUT', {}],
  ['PUT', { Tags: { 'aws:cloudformation:stack-id': 'x' } }],
  ['PUT', { Tags: { a: 1 } }],
  ['PUT', { Tags: { ['k'.repeat(129)]: '' } }],
  ['PUT', { Tags: 'a=b' }],
  ['PATCH', {}],
  ['PATCH', { Keys: [] }],
  ['PATCH', { Keys: [1] }],
  ['PATCH', { Keys: [''] }],
  ['PATCH', { Keys: 'a' }],
])('%s of %j is refused', async (method, body) => {
  const { rest } = await openForTest(subgraph)
  await rest('POST /groups', { Name: 'a', Tags: { a: 'b' } })

  const answer = await rest(`${method} ${pathOf(GROUP)}`, body)

  expect(answer).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  expect((await rest(`GET ${pathOf(GROUP)}`)).body.Tags).toEqual({ a: 'b' })
})
