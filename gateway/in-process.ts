// A subgraph in this process: a fetch of a plan executes its parsed document at once.
import { execute, parse } from 'graphql'
import type { Opened } from '../subgraphs/server/open.ts'
import type { Answer, Source } from './executor/source.ts'

export function inProcess(opened: Opened): Source {
  const { subgraph, contextFor } = opened
  return {
    prepare(query) {
      const { schema } = opened
      const document = parse(query, { noLocation: true })
      return (variableValues, { caller, publicUrl, headers }) =>
        execute({
          schema,
          document,
          variableValues,
          contextValue: contextFor(caller, { address: `${publicUrl}/${subgraph.name}`, headers }),
        }) as Answer | Promise<Answer>
    },
  }
}
