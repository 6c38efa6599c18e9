// What a new supergraph changes for those who ask the graph.
import { Supergraph } from '@apollo/federation-internals'
import { findBreakingChanges, findDangerousChanges, type GraphQLSchema } from 'graphql'

export interface SchemaChanges {
  /** After these a query that was right is wrong, or is answered in another form. */
  readonly breaking: readonly string[]
  /** After these an answer may hold what a client did not expect. */
  readonly dangerous: readonly string[]
}

/** Of what clients see: which service answers a field is no concern of theirs. */
export function schemaChanges(before: string, after: string): SchemaChanges {
  const [old, young] = [clientsSchema(before), clientsSchema(after)]
  return {
    breaking: findBreakingChanges(old, young).map(({ description }) => description),
    dangerous: findDangerousChanges(old, young).map(({ description }) => description),
  }
}

/** The schema that clients see. */
export const clientsSchema = (supergraph: string): GraphQLSchema =>
  Supergraph.build(supergraph).apiSchema().toGraphQLJSSchema()
