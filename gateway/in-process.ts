// A subgraph in this process: a fetch of a plan executes its parsed document at once.
import { execute, parse, type GraphQLSchema } from 'graphql'
import type { Opened } from '../subgraphs/server/open.ts'
import type { GatewayContext } from './callers.ts'
import type { Answer, Source } from './executor/source.ts'

export const inProcess = ({ schema, subgraph, contextFor }: Opened): Source =>
  executing(schema, ({ caller, publicUrl, headers }) =>
    contextFor(caller, { address: `${publicUrl}/${subgraph.name}`, headers }),
  )

/** A source that executes a schema, with a context made for each fetch. */
export function executing(
  schema: GraphQLSchema,
  contextOf: (context: GatewayContext) => unknown,
): Source {
  return {
    prepare(query) {
      const document = parse(query, { noLocation: true })
      return (variableValues, context) =>
        execute({ schema, document, variableValues, contextValue: contextOf(context) }) as
          Answer | Promise<Answer>
    },
  }
}
