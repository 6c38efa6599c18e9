// The composed graph, loaded for planning.
//
// These are the parts that ApolloGateway is made of. It would load them as well, but it checks once more
// what composition has checked, and needs as long again for what nobody here uses.
import { buildSchemaFromAST, Supergraph, type Schema } from '@apollo/federation-internals'
import { QueryPlanner } from '@apollo/query-planner'
import { buildASTSchema, parse, type GraphQLSchema } from 'graphql'
import type { Composed } from '../supergraph.ts'

export interface Graph {
  readonly sdl: string
  readonly supergraph: Supergraph
  /** What clients may ask, as the planner knows it. */
  readonly apiSchema: Schema
  /** The same, as everybody else does. */
  readonly schema: GraphQLSchema
  /** Made with the first query, or ahead of it. */
  readonly planner: QueryPlanner
  /** With all that is declared in it, and all that clients may not ask. Made like the planner. */
  readonly supergraphSchema: GraphQLSchema
}

export function loadGraph({ sdl, apiSdl }: Composed): Graph {
  const document = parse(sdl, { noLocation: true })
  const supergraph = Supergraph.build(document, { validateSupergraph: false })
  const { schema, apiSchema } = apiSdl === undefined ? apiOf(supergraph) : readApi(apiSdl)
  let planner: QueryPlanner | undefined
  let supergraphSchema: GraphQLSchema | undefined
  return {
    sdl,
    supergraph,
    apiSchema,
    schema,
    get planner() {
      return (planner ??= new QueryPlanner(supergraph))
    },
    get supergraphSchema() {
      return (supergraphSchema ??= buildASTSchema(document, { assumeValidSDL: true }))
    },
  }
}

type Api = Pick<Graph, 'schema' | 'apiSchema'>

/** What clients may ask, found out. It takes longer than all the rest. */
export function apiOf(supergraph: Supergraph): Api {
  const apiSchema = supergraph.apiSchema()
  return { apiSchema, schema: apiSchema.toGraphQLJSSchema() }
}

/** The same, as it was written down when the graph was composed. */
function readApi(sdl: string): Api {
  const document = parse(sdl, { noLocation: true })
  const apiSchema = buildSchemaFromAST(document, { validate: false })
  apiSchema.assumeValid()
  const schema = buildASTSchema(document, { assumeValid: true, assumeValidSDL: true })
  return { apiSchema, schema }
}
