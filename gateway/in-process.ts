// A subgraph in this process: a fetch of a plan runs an operation that was compiled with it.
import { parse, type GraphQLSchema } from 'graphql'
import type { Opened } from '../subgraphs/server/open.ts'
import type { GatewayContext } from './callers.ts'
import { compileOperation } from './executor/operation.ts'
import type { Source } from './executor/source.ts'

export const inProcess = (opened: Opened): Source =>
  executing(
    () => opened.schema,
    ({ caller, publicUrl, headers }) =>
      opened.contextFor(caller, { address: `${publicUrl}/${opened.subgraph.name}`, headers }),
  )

/** A source that executes a schema, with a context made for each fetch. */
export function executing(
  schemaOf: () => GraphQLSchema,
  contextOf: (context: GatewayContext) => unknown,
): Source {
  return {
    prepare(query) {
      const run = compileOperation(schemaOf(), parse(query, { noLocation: true }))
      return (variables, context) => run(variables, contextOf(context))
    },
  }
}
