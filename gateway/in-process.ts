// A subgraph in this process: a fetch of the gateway executes its parsed document at once.
import type { GraphQLDataSource } from '@apollo/gateway'
import { execute, parse, type DocumentNode } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Opened } from '../subgraphs/server/open.ts'
import type { GatewayContext } from './callers.ts'

const DOCUMENTS_MAX = 1_000

/** Plans write the same document again and again; parsing it each time would cost most of a fetch. */
export function inProcess(opened: Opened): GraphQLDataSource<GatewayContext> {
  const documents = new LRUCache<string, DocumentNode>({ max: DOCUMENTS_MAX })
  const { schema, subgraph } = opened

  return {
    async process({ request, context }) {
      const query = request.query!
      let document = documents.get(query)
      if (!document) documents.set(query, (document = parse(query, { noLocation: true })))
      const result = await execute({
        schema,
        document,
        variableValues: request.variables,
        // The gateway asks the subgraphs for their SDL without a caller.
        contextValue: opened.contextFor(context.caller, {
          address: `${context.publicUrl}/${subgraph.name}`,
          headers: context.headers,
        }),
      })
      return result as any
    },
  }
}
