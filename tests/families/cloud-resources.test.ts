// Resources of all cloud services, found through the graph.
import { expect, test } from 'vitest'
import {
  expectedDocuments,
  findResources,
  listResources,
  resourceTypes,
} from '../../resolvers/families/cloud-resources.ts'
import { graphFor } from '../../resolvers/kernel/graph.ts'
import { subgraph as configStore } from '../../subgraphs/config-store.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import { MANY, PLAIN } from '../hsm/modules.ts'
import { openGraphForTest } from '../open-graph.ts'
import { people } from '../people.ts'

const open = () => openGraphForTest([hsm, configStore])

async function all(pages: AsyncGenerator<readonly { name: string }[]>): Promise<string[]> {
  const names: string[] = []
  for await (const page of pages) names.push(...page.map(({ name }) => name))
  return names
}

test('types are read from the graph', async () => {
  const graph = await open()

  const types = resourceTypes(graphFor(graph.port, people.alice))

  expect(types.map(({ name, listed }) => [name, listed])).toEqual([
    ['ConfigStore', 'configStores'],
    ['DedicatedHsm', 'dedicatedHsms'],
  ])
})

test("a person's resources are listed over all pages, and nobody else's", async () => {
  const graph = await open()
  for (const location of ['westus', 'eastus']) {
    for (let n = 0; n < 70; n += 1) {
      await graph
        .service('hsm')
        .rest(`PUT ${MANY}/${location}-${n}?api-version=2018-10-31-preview`, {
          ...PLAIN,
          location,
        })
    }
  }

  const own = await all(listResources(graphFor(graph.port, people.alice)))
  const others = await all(listResources(graphFor(graph.port, people.bob)))

  expect(own).toHaveLength(140)
  expect(new Set(own).size).toBe(140)
  expect(others).toEqual([])
})

test('a key of one account reaches the other accounts of its owner through the graph', async () => {
  const graph = await open()
  await graph.service('hsm').rest(`PUT ${MANY}/safe?api-version=2018-10-31-preview`, PLAIN)
  const accounts = people.alice.accounts.filter(({ kind }) => kind === 'ACCOUNT')

  const seen = await all(listResources(graphFor(graph.port, { ...people.alice, accounts })))

  expect(seen).toEqual(['safe'])
})

test('a service asks as a person, and never as itself', async () => {
  const graph = await open()
  const own = graphFor(graph.port, serviceCaller('backup'))

  await expect(own.ask('{ me { id } }')).rejects.toThrow('use as(userId)')
  await expect(own.as('nobody-there').ask('{ me { id } }')).rejects.toThrow(
    'no person nobody-there',
  )
  expect((await own.as('bob').ask('{ me { id } }')).data).toEqual({ me: { id: 'bob' } })
})

test('what the first who looks for a resource asks can be planned ahead', async () => {
  const { port } = await open()
  const asked: string[] = []
  const listening = {
    ...port,
    ask(...question: Parameters<typeof port.ask>) {
      asked.push(question[1])
      return port.ask(...question)
    },
  }

  await findResources(graphFor(listening, people.alice), ['/subscriptions/of/nobody'])

  expect(asked).toEqual(expectedDocuments(port.types()))
})
