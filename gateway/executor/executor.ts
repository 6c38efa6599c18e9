// Executes queries over all subgraphs by compiled plans.
//
// ApolloGateway loads and checks the supergraph and plans. Its own execution goes over every plan and
// every answer with much that is the same each time; here that is done once for each operation. What is
// unusual goes to ApolloGateway, with what was answered so far.
import { operationFromDocument } from '@apollo/federation-internals'
import type { ApolloGateway, GraphQLDataSource } from '@apollo/gateway'
import {
  getOperationAST,
  getVariableValues,
  isInterfaceType,
  typeFromAST,
  valueFromAST,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import type { GatewayContext } from '../callers.ts'
import { fragmentsOf } from '../fragments.ts'
import { withoutRefused } from '../needs.ts'
import { isOver, openDeadlines, timeIsUp } from '../time-budget.ts'
import { keepingTypes } from './own-types.ts'
import { compilePlan, Unusual, type Answered, type CompiledPlan, type Run } from './plan.ts'
import { answerAgain } from './replay.ts'
import { compileShape, type Shape } from './shaper.ts'
import type { Ask, Source, Variables } from './source.ts'

const PREPARED_MAX = 2_000
/** How long a query may take, unless it is said otherwise. */
const BUDGET_MS = 60_000

/** An operation that is ready to be executed. */
export interface Prepared {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly schema: GraphQLSchema
  readonly plan: CompiledPlan
  readonly shape: Shape
  readonly defaults: Variables
}

/** What was answered until something unusual happened, with the request that goes the long way. */
const ANSWERED = Symbol('answered')
type Context = GatewayContext & { readonly [ANSWERED]?: readonly Answered[] }

export interface Execution {
  /** For ApolloGateway's configuration: where it asks what it executes itself. */
  dataSourceOf(name: string): GraphQLDataSource<any>
  /** Takes over the execution of a gateway. */
  takeOver(gateway: ApolloGateway): void
  /** An operation that has come before, in the same words, and was found to be right. */
  known(query: string, operationName: string | undefined): Prepared | undefined
  /** The graph that is served, with all that is declared in it. */
  supergraph(): GraphQLSchema
  /** The data; or, if anything unusual happened, the context with which to go the long way. */
  execute(prepared: Prepared, variables: Variables, context: GatewayContext): Promise<Outcome>
}

export type Outcome =
  | { readonly data: Record<string, unknown> }
  | { readonly data?: undefined; readonly context: GatewayContext }

/** What ApolloGateway knows, beyond what its types tell. */
interface Inside {
  readonly schema: GraphQLSchema
  readonly apiSchema: Parameters<typeof operationFromDocument>[0]
  readonly supergraphSchema: GraphQLSchema
  readonly queryPlanner: { buildQueryPlan(operation: unknown): any }
}

export function compiledExecution(
  plainSourceOf: (name: string) => Source,
  budgetMs: number = BUDGET_MS,
): Execution {
  let inside: Inside | undefined
  const isInterface = (name: string) => isInterfaceType(inside?.supergraphSchema.getType(name))
  const sourceOf = (name: string) =>
    keepingTypes(
      withoutRefused(plainSourceOf(name), name, () => inside?.supergraphSchema),
      isInterface,
    )
  const { inTime } = openDeadlines()
  // False for what cannot be compiled.
  const prepared = new LRUCache<string, Prepared | false>({ max: PREPARED_MAX })

  async function execute(
    { plan, shape, defaults }: Prepared,
    variables: Variables,
    context: GatewayContext,
  ): Promise<Outcome> {
    const { deadlineMs = performance.now() + budgetMs } = context
    const run: Run = {
      root: {},
      variables,
      context,
      shared: Array(plan.sharedCount),
      answered: [],
      deadlineMs,
    }
    try {
      const pending = plan.execute(run)
      // Whoever goes the long way finds out there that it is too late.
      if (pending) await inTime(pending, deadlineMs, () => new Unusual())
      return { data: shape(run.root, withDefaults(variables, defaults)) }
    } catch (error) {
      if (!(error instanceof Unusual)) throw error
      return { context: { ...context, deadlineMs, [ANSWERED]: run.answered } as Context }
    }
  }

  return {
    execute,
    supergraph: () => inside!.supergraphSchema,
    known: (query, operationName) => prepared.get(nameOf(query, operationName)) || undefined,

    dataSourceOf(name) {
      const source = sourceOf(name)
      const asks = new LRUCache<string, Ask>({ max: PREPARED_MAX })
      return {
        async process({ request, context }) {
          const { query = '', variables = {}, operationName } = request
          if (isOver((context as Context | undefined)?.deadlineMs)) throw timeIsUp(budgetMs)
          const answered = (context as Context | undefined)?.[ANSWERED]
          const again = answered && answerAgain(answered, name, { query, variables })
          if (again) return again as any
          let ask = asks.get(query)
          if (!ask) asks.set(query, (ask = source.prepare(query, operationName)))
          return ask(variables, context as Context) as any
        },
      }
    },

    takeOver(gateway) {
      const own = (inside = gateway as unknown as Inside)
      const apollos = gateway.executor
      gateway.executor = async (requestContext) => {
        const { deadlineMs = performance.now() + budgetMs } = requestContext.context as Context
        if (isOver(deadlineMs)) throw timeIsUp(budgetMs)
        const context = { ...requestContext.context, deadlineMs }
        const answering = answerOf({ ...requestContext, context } as typeof requestContext)
        const answer = await inTime(answering, deadlineMs, () => timeIsUp(budgetMs))
        // Fetches that were not sent any more left errors of their own.
        if (answer.errors && isOver(deadlineMs)) throw timeIsUp(budgetMs)
        return answer
      }
      const answerOf: typeof apollos = async (requestContext) => {
        const { document, source, request } = requestContext
        const context = requestContext.context as Context
        if (context[ANSWERED]) return apollos(requestContext)
        // Over HTTP, what is not named is null.
        const operationName = request.operationName ?? undefined
        const name = nameOf(source, operationName)
        let found = prepared.get(name)
        if (found === undefined) {
          found = prepare(own, document, operationName, sourceOf)
          prepared.set(name, found)
        }
        const variables = request.variables ?? {}
        if (!found || !areGood(found, variables)) return apollos(requestContext)
        const outcome = await execute(found, variables, context)
        if (outcome.data) return { data: outcome.data }
        return apollos({ ...requestContext, context: outcome.context } as typeof requestContext)
      }
    },
  }
}

const nameOf = (query: string, operationName = ''): string =>
  operationName === '' ? query : `${operationName}\n${query}`

function prepare(
  { schema, apiSchema, supergraphSchema: supergraph, queryPlanner }: Inside,
  document: DocumentNode,
  operationName: string | undefined,
  sourceOf: (name: string) => Source,
): Prepared | false {
  const operation = getOperationAST(document, operationName)
  if (!operation || operation.operation === 'subscription') return false
  const fragments = fragmentsOf(document)
  const defaults = defaultsOf(operation, schema)
  try {
    const shape = compileShape(operation, { schema, fragments })
    const named = operationName === undefined ? {} : { operationName }
    const planned = queryPlanner.buildQueryPlan(operationFromDocument(apiSchema, document, named))
    const plan = compilePlan(planned, { supergraph, sourceOf, defaults })
    return { document, operation, schema, plan, shape, defaults }
  } catch {
    // What cannot be compiled is executed by ApolloGateway, which also says what is wrong with it.
    return false
  }
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode, schema: GraphQLSchema) {
  const defaults: Record<string, unknown> = {}
  for (const { variable, type, defaultValue } of variableDefinitions) {
    const inputType = typeFromAST(schema, type as any) as GraphQLInputType | undefined
    if (defaultValue && inputType) {
      defaults[variable.name.value] = valueFromAST(defaultValue, inputType)
    }
  }
  return defaults
}

/** ApolloGateway words a wrong variable by the schema that clients know. */
export function areGood({ schema, operation }: Prepared, sent: Variables): boolean {
  const { variableDefinitions = [] } = operation
  return (
    variableDefinitions.length === 0 || !getVariableValues(schema, variableDefinitions, sent).errors
  )
}

const withDefaults = (sent: Variables, defaults: Variables): Variables =>
  Object.keys(defaults).length === 0 ? sent : { ...defaults, ...sent }
