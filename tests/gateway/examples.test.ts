// The example queries, each with its whole answer over the demo, and what it costs: fetches and reads.
//
// Time stands still, so that answers have the same times in every run. Only the order of the person's
// cloud accounts is left to chance, since it is that of their ids: they are compared by kind.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { GRAPH } from '../../gateway/callers.ts'
import { readConfiguration } from '../../gateway/configuration.ts'
import { ensureDemo } from '../../gateway/demo.ts'
import { examples } from '../../gateway/examples.ts'
import type { Source } from '../../gateway/executor/source.ts'
import { openGateway, type Gateway } from '../../gateway/gateway.ts'
import { inProcess } from '../../gateway/in-process.ts'
import { silent } from '../../gateway/logging.ts'
import { openPolygraph, type Polygraph } from '../../gateway/polygraph.ts'
import { SERVICES } from '../../gateway/services.ts'
import type { VirtualClock } from '../../resolvers/kernel/clock.ts'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { advanceTo } from '../../resolvers/kernel/work.ts'
import type { Opened } from '../../subgraphs/server/open.ts'
import { READS } from '../reads.ts'

const START = '2030-01-01T00:00:00.000Z'
/** So long after the start all that the demo set going has come to its end. */
const LATER_MS = 120_000

/** What each example costs: fetches of its plan, and reads of all stores, those of rules that ask the graph too. */
const COSTS: Readonly<Record<string, { fetches: number; reads: number }>> = {
  alarm: { fetches: 5, reads: 12 },
  assignment: { fetches: 3, reads: 17 },
  'everything-in-the-cloud': { fetches: 28, reads: 59 },
  'oauth-client': { fetches: 2, reads: 4 },
  podcast: { fetches: 4, reads: 11 },
  'scheduler-jobs': { fetches: 2, reads: 4 },
  'sql-database': { fetches: 6, reads: 19 },
  'who-am-i': { fetches: 5, reads: 9 },
}

interface Fetched {
  readonly service: string
  readonly entities: readonly string[]
}

let folder: string
let polygraph: Polygraph
let gateway: Gateway
let caller: Caller
let reads = 0
let fetched: Fetched[] = []
const firstAnswers = new Map<string, unknown>()

/** A subgraph whose fetches are noted. Rules that ask the graph themselves ask another gateway. */
function noted(opened: Opened): Source {
  const source = inProcess(opened)
  return {
    prepare(query, operationName) {
      const send = source.prepare(query, operationName)
      return (variables, context) => {
        note(opened.subgraph.name, variables)
        return send(variables, context)
      }
    },
  }
}

function note(service: string, { representations = [] }: { representations?: any }): void {
  const entities = representations.map(({ __typename, id, clientId }: any) =>
    JSON.stringify([__typename, id ?? clientId]),
  )
  fetched.push({ service, entities })
}

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(START) })
  folder = await mkdtemp(join(tmpdir(), 'polygraph-examples-'))
  const env = { PORT: '0', POLYGRAPH_LOG: 'silent', POLYGRAPH_DATA: folder }
  polygraph = await openPolygraph(readConfiguration(env, Object.keys(SERVICES)), silent)
  await ensureDemo(polygraph)
  const runners = polygraph.services.map(({ work }) => work)
  const later = new Date(Date.parse(START) + LATER_MS)
  await advanceTo(later, polygraph.ground.clock as VirtualClock, runners)
  const { answer } = await polygraph.ask('{ answer: demoCredentials }', {})
  const { token } = (answer as Record<string, Record<string, string>>)[GRAPH]!
  caller = (await polygraph.ground.credentials.byToken(GRAPH, token!))!
  for (const { ground } of polygraph.services) countReads(ground.store)
  gateway = await openGateway({
    isIntrospectable: true,
    sourceOf: (name) => noted(polygraph.services.find(({ subgraph }) => subgraph.name === name)!),
  })
  // The first time everything is planned, and kinds of ids are told apart.
  for (const { name, query } of examples) firstAnswers.set(name, await ask(query))
}, 60_000)

afterAll(async () => {
  await gateway.server.stop()
  await polygraph.close()
  await rm(folder, { recursive: true, force: true })
  vi.useRealTimers()
})

function countReads(store: any): void {
  for (const name of READS) {
    const read = store[name].bind(store)
    store[name] = (...asked: unknown[]) => {
      reads += 1
      return read(...asked)
    }
  }
}

async function ask(query: string): Promise<any> {
  const context = { caller, publicUrl: '', requestId: '', headers: {} }
  return inOrder(JSON.parse(JSON.stringify(await gateway.answer({ query }, context))))
}

/** With the person's cloud accounts by kind. */
function inOrder(answer: any): any {
  const accounts = answer.data?.cloudAccounts?.nodes
  accounts?.sort((a: { kind: string }, b: { kind: string }) => (a.kind < b.kind ? -1 : 1))
  return answer
}

test.each(examples)('$name is answered whole, first and again', async ({ name, query }) => {
  const expected = await readFile(join(import.meta.dirname, `examples/${name}.json`), 'utf8')

  const again = await ask(query)

  expect(firstAnswers.get(name)).toEqual({ data: JSON.parse(expected) })
  expect(again).toEqual({ data: JSON.parse(expected) })
})

test.each(examples)('$name costs the fetches and reads that it should', async ({ name, query }) => {
  fetched = []
  reads = 0

  await ask(query)

  expect({ fetches: fetched.length, reads }).toEqual(COSTS[name])
  const asked = fetched.flatMap(({ service, entities }) =>
    entities.map((entity) => `${service} ${entity}`),
  )
  expect(new Set(asked).size, 'an entity is asked of a service once').toBe(asked.length)
})
