// How twenty graphs become one: plans, batches, forwards. It holds no rule and no data.
import { readFileSync } from 'node:fs'
import { ApolloGateway } from '@apollo/gateway'
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import { ApolloArmor } from '@escape.tech/graphql-armor'
import type { GraphQLFormattedError } from 'graphql'
import type { GraphAnswer } from '../resolvers/kernel/graph.ts'
import type { GatewayContext } from './callers.ts'
import { COST_MAX, costLimit } from './cost.ts'
import { weightsOf, type Weights } from './cost-measured.ts'
import { areGood, compiledExecution, type Outcome } from './executor/executor.ts'
import type { Source } from './executor/source.ts'
import { listedTexts, type Safelist } from './safelist.ts'
import { SUPERGRAPH } from './supergraph.ts'

// What one query may ask. docs/security.md states these numbers.
const DEPTH_MAX = 12
const ALIASES_MAX = 30
const DIRECTIVES_MAX = 50
const TOKENS_MAX = 5_000

interface GatewayOptions {
  readonly sourceOf: (subgraph: string) => Source
  readonly isIntrospectable: boolean
  /** What is served, where it is not what was composed. */
  readonly supergraph?: string
  /** What is allowed, where it is not the usual. */
  readonly limits?: Limits
  /** The operations that clients may send. Without it they may send any. */
  readonly safelist?: Safelist | undefined
}

export interface Limits {
  readonly queryCostMax?: number
  readonly queryMsMax?: number
  /** How many operations may come in one request. */
  readonly batchMax?: number
}

/** A request to the graph. */
export interface Asked {
  readonly query: string
  readonly variables?: Readonly<Record<string, unknown>> | null | undefined
  readonly operationName?: string | null | undefined
}

export interface Gateway {
  readonly server: ApolloServer<GatewayContext>
  /**
   * The answer to a query that came before in the same words, without all that the server does for one
   * that may be new. Undefined if it has to go that long way; or the context with which it does.
   */
  shortly(asked: Asked, context: GatewayContext): Promise<Outcome | undefined>
  /** The answer, by whichever way. */
  answer(asked: Asked, context: GatewayContext): Promise<GraphAnswer>
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const supergraphSdl = options.supergraph ?? readFileSync(SUPERGRAPH, 'utf8')
  const { safelist, limits: { queryCostMax = COST_MAX, queryMsMax, batchMax = 1 } = {} } = options
  const execution = compiledExecution(options.sourceOf, queryMsMax)
  let weights: Weights | undefined
  const costs = costLimit(() => (weights ??= weightsOf(execution.supergraph())), queryCostMax)
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => execution.dataSourceOf(name),
  })
  execution.takeOver(gateway)
  const server = new ApolloServer<GatewayContext>({
    gateway,
    introspection: options.isIntrospectable,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: TOKENS_MAX },
    allowBatchedHttpRequests: batchMax > 1,
    ...(safelist && { persistedQueries: { cache: listedTexts(safelist) } }),
    formatError,
    validationRules: [...protection.validationRules],
    plugins: [
      ...protection.plugins,
      costs.plugin,
      ...(safelist ? [safelist.plugin] : []),
      ApolloServerPluginLandingPageDisabled(),
    ] as ApolloServerPlugin<any>[],
  })
  await server.start()

  async function shortly({ query, variables, operationName }: Asked, context: GatewayContext) {
    const known = execution.known(query, operationName ?? undefined)
    const sent = variables ?? {}
    if (!known || !areGood(known, sent) || !costs.isAffordable(known, sent)) return undefined
    if (safelist && !safelist.allows(known, context)) return undefined
    return execution.execute(known, sent, context)
  }

  return {
    server,
    shortly,
    async answer(asked, context) {
      const outcome = await shortly(asked, context)
      if (outcome?.data) return { data: outcome.data }
      const contextValue = outcome?.context ?? context
      const { query, variables, operationName } = asked
      const { body } = await server.executeOperation(
        { query, ...(variables && { variables }), ...(operationName && { operationName }) },
        { contextValue },
      )
      if (body.kind !== 'single') throw new Error('the graph answered in pieces')
      return body.singleResult as GraphAnswer
    },
  }
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
