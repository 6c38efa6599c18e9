// The GraphQL door of one subgraph, as a server: for a service that runs alone.
import { ApolloServer } from '@apollo/server'
import {
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled'
import type { Context } from '../../resolvers/kernel/context.ts'
import type { Opened } from './open.ts'

/** Far above what the gateway plans, far below what would exhaust the parser. */
const TOKENS_MAX = 10_000

export async function apolloDoor(
  { schema }: Pick<Opened, 'schema'>,
  { introspection }: { introspection: boolean },
): Promise<ApolloServer<Context>> {
  const server = new ApolloServer<Context>({
    schema,
    introspection,
    includeStacktraceInErrorResponses: false,
    parseOptions: { maxTokens: TOKENS_MAX },
    stopOnTerminationSignals: false,
    plugins: [ApolloServerPluginInlineTraceDisabled(), ApolloServerPluginLandingPageDisabled()],
  })
  await server.start()
  return server
}
