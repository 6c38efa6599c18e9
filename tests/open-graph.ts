// Opens several services for a test, joined by a gateway: one clock, one graph, no port.
//
// Identity is always among them, and knows alice and bob as tests/people.ts does.
import { onTestFinished } from 'vitest'
import type { GatewayContext } from '../gateway/callers.ts'
import { compose } from '../gateway/compose.ts'
import { openGateway } from '../gateway/gateway.ts'
import { graphInProcess, typesOf } from '../gateway/graph-port.ts'
import { inProcess } from '../gateway/in-process.ts'
import { cloudAccounts, users } from '../resolvers/identity/users.ts'
import { stillClock } from '../resolvers/kernel/clock.ts'
import { NOBODY, type Caller } from '../resolvers/kernel/context.ts'
import { advanceTo } from '../resolvers/kernel/work.ts'
import { subgraph as identity } from '../subgraphs/identity.ts'
import type { Subgraph } from '../subgraphs/server/subgraph.ts'
import { HOST, openForTest, START, type OpenOptions, type TestService } from './open.ts'
import { people, testCredentials, type Person } from './people.ts'

type Options = Omit<OpenOptions, 'store' | 'clock' | 'graph' | 'advance'>
const composed = new Map<string, string>()

export async function openGraphForTest(others: readonly Subgraph[], options: Options = {}) {
  const clock = stillClock(START)
  const subgraphs = [identity, ...others.filter(({ name }) => name !== 'identity')]
  const supergraph = composeOnce(subgraphs.map(({ name }) => name))
  const types = typesOf(supergraph)
  const port = graphInProcess({
    gateway: () => gateway,
    credentials: options.credentials ?? testCredentials,
    publicUrl: `http://${HOST}`,
    types: () => types,
  })
  const services = new Map<string, TestService>()
  for (const subgraph of subgraphs) {
    const service = await openForTest(subgraph, { ...options, clock, graph: port, advance })
    services.set(subgraph.name, service)
  }
  await settle(services.get('identity')!)
  const gateway = await openGateway({
    isIntrospectable: true,
    supergraph,
    sourceOf: (name) => inProcess(services.get(name)!.opened),
  })
  onTestFinished(() => gateway.server.stop())

  async function advance(byMs: number) {
    const target = new Date(clock.now().getTime() + byMs)
    const runners = [...services.values()].map(({ opened }) => opened.work)
    const stepsRun = await advanceTo(target, clock, runners)
    return { now: clock.now(), stepsRun }
  }

  /** Asks the joined graph. */
  async function ask(
    query: string,
    variables: Record<string, unknown> = {},
    credential: Person | null = 'alice',
  ): Promise<{ data: any; errors?: any[] }> {
    return askAs(credential ? people[credential] : NOBODY, query, variables)
  }

  async function askAs(caller: Caller, query: string, variables: Record<string, unknown> = {}) {
    const contextValue: GatewayContext = {
      caller,
      publicUrl: `http://${HOST}`,
      requestId: '',
      headers: {},
    }
    return JSON.parse(JSON.stringify(await gateway.answer({ query, variables }, contextValue)))
  }

  return {
    service: (name: string) => services.get(name)!,
    ask,
    askAs,
    advance,
    clock,
    port,
    gateway,
  }
}

/** Composing takes longer than most tests, and a file's tests mostly join the same services. */
function composeOnce(names: readonly string[]): string {
  const key = names.toSorted().join(' ')
  let supergraph = composed.get(key)
  if (!supergraph) composed.set(key, (supergraph = compose(names)))
  return supergraph
}

async function settle({ store }: TestService): Promise<void> {
  for (const { userId, accounts } of Object.values(people)) {
    const email = `${userId}@example.org`
    await store.insert(users, { id: userId, name: userId, email, isAdmin: false, created: START })
    for (const account of accounts) {
      const about = { name: userId, ownerId: userId, created: START }
      await store.insert(cloudAccounts, { ...account, ...about })
    }
  }
}
