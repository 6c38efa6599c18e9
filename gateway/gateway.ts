// How twenty graphs become one: plans, batches, forwards. It holds no rule and no data.
import { readFileSync } from 'node:fs'
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway'
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import { ApolloArmor } from '@escape.tech/graphql-armor'
import { parse, type GraphQLFormattedError } from 'graphql'
import type { GatewayContext } from './callers.ts'
import { openForwarding } from './forward.ts'
import { costLimit } from './cost.ts'
import { SUPERGRAPH } from './supergraph.ts'

// What one query may ask. docs/security.md states these numbers.
const DEPTH_MAX = 12
const ALIASES_MAX = 30
const DIRECTIVES_MAX = 50
const TOKENS_MAX = 5_000

interface GatewayOptions {
  readonly dataSourceOf: (subgraph: string) => GraphQLDataSource<GatewayContext>
  readonly isIntrospectable: boolean
  /** What is served, where it is not what was composed. */
  readonly supergraph?: string
}

export async function openGateway(options: GatewayOptions): Promise<ApolloServer<GatewayContext>> {
  const supergraphSdl = options.supergraph ?? readFileSync(SUPERGRAPH, 'utf8')
  const forwarding = openForwarding(parse(supergraphSdl), options.dataSourceOf)
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => forwarding.sourceOf(name),
    experimental_didResolveQueryPlan: forwarding.didResolveQueryPlan,
  })
  gateway.executor = forwarding.executor(gateway.executor)
  const server = new ApolloServer<GatewayContext>({
    gateway,
    introspection: options.isIntrospectable,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: TOKENS_MAX },
    formatError,
    validationRules: [...protection.validationRules],
    plugins: [
      ...protection.plugins,
      costLimit,
      ApolloServerPluginLandingPageDisabled(),
    ] as ApolloServerPlugin<any>[],
  })
  await server.start()
  return server
}

const protection = new ApolloArmor({
  maxDepth: { n: DEPTH_MAX },
  maxAliases: { n: ALIASES_MAX },
  maxDirectives: { n: DIRECTIVES_MAX },
  // Its cost does not know pages; ours does.
  costLimit: { enabled: false },
  // Its token limit answers 500; the parser's own says what is wrong.
  maxTokens: { enabled: false },
  blockFieldSuggestion: { enabled: false },
}).protect()

/** What is wrong, without what it looks like inside. */
function formatError(error: GraphQLFormattedError): GraphQLFormattedError {
  const { stacktrace: _, exception: __, ...extensions } = error.extensions ?? {}
  return { ...error, extensions }
}
