// ApolloGateway's own execution, for what is unusual. It is loaded when something first is.
import type { ApolloGateway, GraphQLDataSource } from '@apollo/gateway'
import { GraphQLError } from 'graphql'
import type { Graph } from './graph.ts'

export type Executor = ApolloGateway['executor']
type GatewayAnswer = Awaited<ReturnType<Executor>>

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

interface Completion {
  readonly message: string
  readonly path?: readonly (string | number)[]
}

/**
 * ApolloGateway tells beside the answer, and not among its errors, why something is null that the schema
 * does not let be null. Where all of the answer is, a client would have nothing to go by.
 */
export function withErrors(answer: GatewayAnswer): GatewayAnswer {
  const { data, errors, extensions } = answer
  const completions = extensions?.valueCompletion
  if (data || errors?.length || !Array.isArray(completions)) return answer
  const added = completions.map(
    ({ message, path = [] }: Completion) =>
      new GraphQLError(message, { path, extensions: { code: 'NULL_WHERE_NONE_MAY_BE' } }),
  )
  return { data: null, errors: added }
}
