// The subgraphs in a process of their own, each at its own port, as cheap as they can be.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { execute, parse, type DocumentNode, type GraphQLSchema } from 'graphql'
import { serveParent } from './child.ts'
import { openSchemas } from './subgraphs.ts'

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
  const server = createServer(async (request, response) => {
    const { query, variables } = JSON.parse(await bodyOf(request))
    fetches += 1
    const answer = await execute({
      schema,
      document: documentOf(query),
      variableValues: variables,
      contextValue: {},
    })
    const body = Buffer.from(JSON.stringify(answer))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
  // A connection that the server ends just when it is used again would be an error of nobody.
  server.keepAliveTimeout = 60_000
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    )
  })
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  request.setEncoding('utf8')
  for await (const chunk of request) body += chunk
  return body
}
