// The fundraiser that an assignment supports, joined with the bank.
import { expect, test } from 'vitest'
import { subgraph as banking } from '../../subgraphs/banking.ts'
import { subgraph as contributions } from '../../subgraphs/contributions.ts'
import { bankOf } from '../banking/bank.ts'
import { openGraphForTest } from '../open-graph.ts'
import { countingReads } from '../reads.ts'
import { assign, openContributions } from './scene.ts'

const SUPPORT = `mutation ($assignment: ID!, $fundraiser: ID) {
  supportFundraiser(assignment: $assignment, fundraiser: $fundraiser) { name fundraiser { id } } }`
const SEEN = `query ($id: ID!) { assignment(id: $id) { name
  fundraiser { id description total { value } assignments { nodes { name } } } } }`

async function ready() {
  const graph = await openGraphForTest([contributions, banking])
  const bank = bankOf(graph.service('banking'))
  await bank.holder('alice')
  await bank.holder('bob')
  const assignment = await assign(graph.service('contributions'))
  return { graph, assignment }
}

test('an assignment shows the fundraiser that it supports, and the fundraiser its assignments, until it ends', async () => {
  const { graph, assignment } = await ready()
  const other = await assign(graph.service('contributions'), { name: 'Fires' })

  const supported = await graph.ask(SUPPORT, { assignment, fundraiser: '1' })
  await graph.ask(SUPPORT, { assignment: other, fundraiser: '1' })

  expect(supported.data.supportFundraiser).toEqual({ name: 'Floods', fundraiser: { id: '1' } })
  const { data, errors } = await graph.ask(SEEN, { id: assignment })
  expect(errors).toBeUndefined()
  expect(data.assignment).toEqual({
    name: 'Floods',
    fundraiser: {
      id: '1',
      description: '',
      total: { value: '0.00' },
      assignments: { nodes: [{ name: 'Fires' }, { name: 'Floods' }] },
    },
  })
  const ended = await graph.ask(SUPPORT, { assignment: other })
  expect(ended.data.supportFundraiser).toEqual({ name: 'Fires', fundraiser: null })
  const after = await graph.ask(SEEN, { id: assignment })
  expect(after.data.assignment.fundraiser.assignments.nodes).toEqual([{ name: 'Floods' }])
})

test('others see no more of the fundraiser than that there is one, and REST what is documented', async () => {
  const { graph, assignment } = await ready()
  await graph.ask(SUPPORT, { assignment, fundraiser: '1' })

  const { data } = await graph.ask(SEEN, { id: assignment }, 'bob')
  const { body } = await graph.service('contributions').rest(`GET /1/assignments/${assignment}`)

  expect(data.assignment).toEqual({ name: 'Floods', fundraiser: null })
  expect(body).not.toHaveProperty('fundraiser')
})

test('who may not know the owner of an assignment sees the assignment, and null for the owner', async () => {
  const { graph, assignment } = await ready()
  const query = `query ($id: ID!) { assignment(id: $id) { name owner { id } known: owner { id name } } }`

  const own = await graph.ask(query, { id: assignment })
  const others = await graph.ask(query, { id: assignment }, 'bob')

  expect(own.data.assignment.known).toEqual({ id: 'alice', name: 'alice' })
  expect(others.data.assignment).toEqual({ name: 'Floods', owner: { id: 'alice' }, known: null })
})

test('only the owner of an assignment says what it supports, and only a fundraiser of theirs', async () => {
  const { graph, assignment } = await ready()

  const foreign = await graph.ask(SUPPORT, { assignment, fundraiser: '2' }, 'bob')
  const ofBob = await graph.ask(SUPPORT, { assignment, fundraiser: '2' })
  const none = await graph.ask(SUPPORT, { assignment: 'none', fundraiser: '1' })

  expect(foreign.errors).toMatchObject([{ extensions: { code: 'Forbidden', status: 403 } }])
  expect(ofBob.errors).toMatchObject([
    { message: 'There is no fundraiser of yours 2.', extensions: { status: 404 } },
  ])
  expect(none.errors).toMatchObject([{ extensions: { status: 404 } }])
  const { data } = await graph.ask(SEEN, { id: assignment })
  expect(data.assignment.fundraiser).toBeNull()
})

test('the assignments of many fundraisers cost one read, and a service alone says what it misses', async () => {
  const { counted, wrap } = countingReads(['listMany'])
  const service = await openContributions({ wrap })
  const assignment = await assign(service)

  const alone = await service.graphql(SUPPORT, { assignment, fundraiser: '1' })
  const { data } = await service.graphql(
    `query ($of: [_Any!]!) { _entities(representations: $of) {
       ... on FundraiserProfile { assignments { nodes { name } } } } }`,
    { of: ['1', '2', '3'].map((id) => ({ __typename: 'FundraiserProfile', id })) },
  )

  expect(alone.errors).toMatchObject([{ extensions: { status: 503 } }])
  expect(data._entities).toHaveLength(3)
  expect(counted.reads).toBe(1)
})
