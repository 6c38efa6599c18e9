// ApolloGateway's own execution, for what is unusual. It is loaded when something first is.
import type { ApolloGateway, GraphQLDataSource } from '@apollo/gateway'
import type { Graph } from './graph.ts'

export type Executor = ApolloGateway['executor']

export interface Apollos {
  readonly execute: Executor
  /** Loads it before it is needed, so that nobody waits for it. */
  load(): Promise<unknown>
}

export function apollosExecution(
  graph: Graph,
  dataSourceOf: (name: string) => GraphQLDataSource<any>,
): Apollos {
  let loaded: Promise<Executor> | undefined
  const load = () => (loaded ??= loadExecutor(graph, dataSourceOf))
  return { load, execute: async (requestContext) => (await load())(requestContext) }
}

async function loadExecutor(
  { sdl, supergraph, supergraphSchema, apiSchema, schema, planner }: Graph,
  dataSourceOf: (name: string) => GraphQLDataSource<any>,
): Promise<Executor> {
  const { ApolloGateway } = await import('@apollo/gateway')
  const gateway = new ApolloGateway({ supergraphSdl: sdl })
  const sources = supergraph
    .subgraphsMetadata()
    .map(({ name, url }) => [name, { url, dataSource: dataSourceOf(name) }])
  // What it would load itself is there already.
  Object.assign(gateway, {
    schema,
    apiSchema,
    supergraphSchema,
    queryPlanner: planner,
    serviceMap: Object.fromEntries(sources),
  })
  return gateway.executor
}
