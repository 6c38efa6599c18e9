// How twenty graphs become one: plans, batches, forwards. It holds no rule and no data.
import { setImmediate as immediate } from 'node:timers/promises'
import {
  ApolloServer,
  type ApolloServerOptionsWithGateway,
  type ApolloServerPlugin,
} from '@apollo/server'
import { ApolloServerPluginLandingPageDisabled } from '@apollo/server/plugin/disabled'
import { ApolloArmor } from '@escape.tech/graphql-armor'
import { GraphQLError, isObjectType, type GraphQLFormattedError } from 'graphql'
import type { GraphAnswer } from '../resolvers/kernel/graph.ts'
import { goOn, type Soon } from '../resolvers/kernel/soon.ts'
import type { GatewayContext } from './callers.ts'
import { BadConfiguration } from './configuration.ts'
import { COST_MAX, costLimit } from './cost.ts'
import { TOKENS_MAX, weightsOf, type Weights } from './cost-measured.ts'
import type { Executor } from './executor/apollos.ts'
import { openEntityCache } from './entity-cache.ts'
import { examples } from './examples.ts'
import { areGood, compiledExecution, type Outcome } from './executor/executor.ts'
import { loadGraph, type Graph } from './executor/graph.ts'
import type { Source } from './executor/source.ts'
import { graphFigures, type GraphFigures } from './graph-figures.ts'
import { planShown } from './plan-shown.ts'
import { listedTexts, type Safelist } from './safelist.ts'
import { readComposed } from './supergraph.ts'
import { watched } from './watched-source.ts'

// What one query may ask. docs/security.md states these numbers.
const DEPTH_MAX = 12
const ALIASES_MAX = 30
const DIRECTIVES_MAX = 50

interface GatewayOptions {
  readonly sourceOf: (subgraph: string) => Source
  readonly isIntrospectable: boolean
  /** What is served, where it is not what was composed. */
  readonly supergraph?: string
  /** What is allowed, where it is not the usual. */
  readonly limits?: Limits
  /** The operations that clients may send. Without it they may send any. */
  readonly safelist?: Safelist | undefined
  /** For how many seconds entities are kept, by type. */
  readonly entitySeconds?: ReadonlyMap<string, number>
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
  readonly figures: GraphFigures
  /**
   * The answer to a query that came before in the same words, without all that the server does for one
   * that may be new. Undefined if it has to go that long way; or the context with which it does.
   */
  shortly(asked: Asked, context: GatewayContext): Soon<Outcome | undefined>
  /** The answer, by whichever way. */
  answer(asked: Asked, context: GatewayContext): Promise<GraphAnswer>
  /** The same, with the status that HTTP has for it. */
  answerWithStatus(
    asked: Asked,
    context: GatewayContext,
  ): Promise<{ readonly answer: GraphAnswer; readonly status: number }>
  /**
   * Does what the first queries would wait for, in small pieces: it plans those that people are offered,
   * those that are listed, and those that services will ask.
   */
  makeReady(asked: readonly string[]): Promise<void>
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const graph = loadGraph(
    options.supergraph === undefined ? readComposed() : { sdl: options.supergraph },
  )
  const { safelist, limits: { queryCostMax = COST_MAX, queryMsMax, batchMax = 1 } = {} } = options
  const figures = graphFigures()
  const keeping = keeperOf(graph, options.entitySeconds)
  let weights: Weights | undefined
  const costs = costLimit(() => (weights ??= weightsOf(graph.supergraphSchema)), queryCostMax)
  const execution = compiledExecution({
    graph,
    sourceOf: (name) => keeping(name, watched(name, options.sourceOf(name), figures)),
    budgetMs: queryMsMax,
    // What may be asked is listed word for word.
    isLifting: !safelist,
    counts: figures.plans,
  })
  const server = new ApolloServer<GatewayContext>({
    gateway: gatewayOver(graph, execution.executor),
    introspection: options.isIntrospectable,
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    parseOptions: { maxTokens: TOKENS_MAX },
    allowBatchedHttpRequests: batchMax > 1,
    ...(safelist && { persistedQueries: { cache: listedTexts(safelist) } }),
    formatError,
    validationRules: [...protection.validationRules],
    plugins: [
      longWay(figures),
      ...protection.plugins,
      costs.plugin,
      planShown({ planOf: execution.planOf, isIntrospectable: options.isIntrospectable }),
      ...(safelist ? [safelist.plugin] : []),
      ApolloServerPluginLandingPageDisabled(),
    ] as ApolloServerPlugin<any>[],
  })
  await server.start()

  function shortly(
    { query, variables, operationName }: Asked,
    context: GatewayContext,
  ): Soon<Outcome | undefined> {
    const known = execution.known(query, operationName ?? undefined)
    if (!known) return undefined
    const { prepared, literals } = known
    const sent = literals ? { ...variables, ...literals } : (variables ?? {})
    if (!areGood(prepared, sent) || !costs.isAffordable(prepared, sent)) return undefined
    if (safelist && !safelist.allows(prepared, context)) return undefined
    figures.plans.ready += 1
    return goOn(execution.execute(prepared, sent, context), (outcome) => {
      if (outcome.data) figures.ways.short += 1
      return outcome
    })
  }

  async function answerWithStatus(asked: Asked, context: GatewayContext) {
    const outcome = await shortly(asked, context)
    if (outcome?.data) return { answer: { data: outcome.data }, status: 200 }
    const { query, variables, operationName } = asked
    const { body, http } = await server.executeOperation(
      { query, ...(variables && { variables }), ...(operationName && { operationName }) },
      { contextValue: outcome?.context ?? context },
    )
    if (body.kind !== 'single') throw new Error('the graph answered in pieces')
    return { answer: body.singleResult as GraphAnswer, status: http.status ?? 200 }
  }

  return {
    server,
    figures,
    shortly,
    answerWithStatus,
    async makeReady(asked) {
      void graph.planner
      await immediate()
      void graph.supergraphSchema
      for (const query of [...expected(options.isIntrospectable, safelist), ...asked]) {
        await immediate()
        execution.prepareAhead(query)
      }
      await execution.loadRest()
    },
    answer: async (asked, context) => (await answerWithStatus(asked, context)).answer,
  }
}

/** What the server leaves to its gateway to say, and ApolloGateway would say as if it had failed. */
const longWay = ({ ways }: GraphFigures): ApolloServerPlugin<GatewayContext> => ({
  async requestDidStart() {
    ways.long += 1
    return {
      async didResolveOperation({ operation, request: { operationName } }) {
        if (operation) return
        const message = operationName
          ? `Unknown operation named "${operationName}".`
          : 'The query has several operations. Name the one to run: operationName.'
        const extensions = { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } }
        throw new GraphQLError(message, { extensions })
      },
    }
  },
})

/** Keeps entities where an operator says so. */
function keeperOf({ schema }: Graph, seconds: GatewayOptions['entitySeconds'] = new Map()) {
  const unknown = [...seconds.keys()].filter((name) => !isObjectType(schema.getType(name)))
  if (unknown.length > 0) {
    throw new BadConfiguration(`  - POLYGRAPH_ENTITY_CACHE: there is no type ${unknown.join(', ')}`)
  }
  return seconds.size > 0
    ? openEntityCache(seconds).keeping
    : (_name: string, source: Source) => source
}

/** The operations that are listed, and those that people find in GraphiQL. */
const expected = (hasExamples: boolean, safelist: Safelist | undefined): Iterable<string> =>
  safelist?.texts() ?? (hasExamples ? examples.map(({ query }) => query) : [])

/** The graph as the server wants to be given one. It never changes while it is served. */
export const gatewayOver = (
  { schema, sdl }: Graph,
  executor: Executor,
): ApolloServerOptionsWithGateway<any>['gateway'] => ({
  load: async () => ({ executor }),
  onSchemaLoadOrUpdate(callback) {
    callback({ apiSchema: schema, coreSupergraphSdl: sdl })
    return () => {}
  },
  stop: async () => {},
})

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
