// Stock: ApolloGateway behind ApolloServer, as their documentation has them.
import { ApolloGateway, LocalGraphQLDataSource } from '@apollo/gateway'
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'
import type { Contender, Shop } from './contender.ts'

export async function openStock({ supergraph, schemas, onFetch }: Shop): Promise<Contender> {
  const gateway = new ApolloGateway({
    supergraphSdl: supergraph,
    ...(schemas && {
      buildService({ name }) {
        const source = new LocalGraphQLDataSource(schemas[name]!)
        return {
          process(options) {
            onFetch()
            return source.process(options)
          },
        }
      },
    }),
  })
  const server = new ApolloServer<{ authorization: string | undefined }>({ gateway })
  const { url } = await startStandaloneServer(server, {
    listen: { port: 0, host: '127.0.0.1' },
    context: async ({ req }) => ({ authorization: req.headers.authorization }),
  })

  return {
    url,
    async answer(asked, authorization) {
      const { body } = await server.executeOperation(asked, { contextValue: { authorization } })
      return body.kind === 'single' ? body.singleResult : undefined
    },
  }
}
