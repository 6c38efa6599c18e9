// A subgraph in this process: a fetch of a plan executes its parsed document at once.
import { execute, parse, type GraphQLSchema } from 'graphql'
import type { Opened } from '../subgraphs/server/open.ts'
import type { GatewayContext } from './callers.ts'
import type { Answer, Source } from './executor/source.ts'

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
      const schema = schemaOf()
      const document = parse(query, { noLocation: true })
      return (variableValues, context) =>
        execute({ schema, document, variableValues, contextValue: contextOf(context) }) as
          Answer | Promise<Answer>
    },
  }
}
