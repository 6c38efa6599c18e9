// The subgraphs in a process of their own, each at its own port, as cheap as they can be. They take a query
// as every subgraph does, and the fetches of our gateway together as our services do.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execute, parse, type DocumentNode, type GraphQLSchema } from 'graphql'
import type { Answer } from '../../gateway/executor/source.ts'
import { answerFetches, FETCHES_PATH, type Fetch } from '../../gateway/fetches.ts'
import { WholeBody } from '../../gateway/whole-body.ts'
import type { Soon } from '../../resolvers/kernel/soon.ts'
import { serveParent } from './child.ts'
import { openSchemas } from './subgraphs.ts'

const BODY_MAX = 1024 * 1024
let fetches = 0

serveParent({
  /** The addresses, by name. */
  async open() {
    const opened = Object.entries(openSchemas()).map(
      async ([name, schema]) => [name, await listen(schema)] as const,
    )
    return Object.fromEntries(await Promise.all(opened))
  },
  fetches: () => fetches,
})

function listen(schema: GraphQLSchema): Promise<string> {
  const documents = new Map<string, DocumentNode>()
  function documentOf(query: string): DocumentNode {
    let document = documents.get(query)
    if (!document) documents.set(query, (document = parse(query, { noLocation: true })))
    return document
  }
  function answerOf({ query, variables }: Pick<Fetch, 'query' | 'variables'>): Soon<Answer> {
    fetches += 1
    const document = documentOf(query)
    return execute({
      schema,
      document,
      variableValues: variables,
      contextValue: {},
    }) as Soon<Answer>
  }
  const server = createServer({ IncomingMessage: WholeBody }, (request, response) => {
    request.gather(BODY_MAX, async (read) => {
      const asked = JSON.parse(read!.toString())
      if (request.url === FETCHES_PATH) return answerFetches(asked, response, answerOf)
      const body = Buffer.from(JSON.stringify(await answerOf(asked)))
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
      response.end(body)
    })
  })
  // A connection that the server ends just when it is used again would be an error of nobody.
  server.keepAliveTimeout = 60_000
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    )
  })
}
