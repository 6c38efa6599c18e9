// Executes queries over all subgraphs by compiled plans.
//
// The plans are those of Apollo's planner. ApolloGateway's own execution goes over every plan and every
// answer with much that is the same each time; here that is done once for each operation. What is
// unusual goes to ApolloGateway, with what was answered so far.
import { operationFromDocument } from '@apollo/federation-internals'
import type { GraphQLDataSource } from '@apollo/gateway'
import type { QueryPlan } from '@apollo/query-planner'
import {
  getOperationAST,
  getVariableValues,
  Kind,
  parse,
  typeFromAST,
  validate,
  valueFromAST,
  type DocumentNode,
  type GraphQLInputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Soon } from '../../resolvers/kernel/soon.ts'
import type { GatewayContext } from '../callers.ts'
import { fragmentsOf } from '../fragments.ts'
import { withoutRefused } from '../needs.ts'
import { isOver, openDeadlines, timeIsUp } from '../time-budget.ts'
import { apollosExecution, withErrors, type Executor } from './apollos.ts'
import type { Graph } from './graph.ts'
import { openLifting } from './literals.ts'
import { openMutations } from './mutations.ts'
import { keepingTypes } from './own-types.ts'
import { compilePlan, Unusual, type Answered, type CompiledPlan, type Run } from './plan.ts'
import { plainVariables } from './plain-variables.ts'
import { answerAgain } from './replay.ts'
import { compileShape, type Shape } from './shaper.ts'
import { keepingAsks, type Source, type Variables } from './source.ts'

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
  /** Whether variables are good at first sight. */
  readonly arePlain: ((sent: Variables) => boolean) | undefined
}

export interface Known {
  readonly prepared: Prepared
  /** The values that were written into the query, as further variables. */
  readonly literals: Variables | undefined
}

/** What was answered until something unusual happened, with the request that goes the long way. */
const ANSWERED = Symbol('answered')
type Context = GatewayContext & { readonly [ANSWERED]?: readonly Answered[] }

export interface Execution {
  /** For the server: executes an operation that may be new. */
  readonly executor: Executor
  /** An operation that has come before, in the same words but for values, and was found to be right. */
  known(query: string, operationName: string | undefined): Known | undefined
  /** The data; or, if anything unusual happened, the context with which to go the long way. */
  execute(prepared: Prepared, variables: Variables, context: GatewayContext): Soon<Outcome>
  /** How an operation is planned. */
  planOf(document: DocumentNode, operationName: string | undefined): QueryPlan
  /** Plans an operation that is expected. It still is new to those who decide whether it may be asked. */
  prepareAhead(query: string): void
  /** Loads what only the unusual needs. */
  loadRest(): Promise<unknown>
}

interface ExecutionOptions {
  readonly graph: Graph
  readonly sourceOf: (name: string) => Source
  readonly budgetMs?: number | undefined
  /** Whether queries that differ in values alone share a plan. */
  readonly isLifting?: boolean
  /** Told of each operation that is left to ApolloGateway. */
  readonly onUnusual?: () => void
  readonly counts?: PlanCounts
}

/** How many plans were there already, were made, or could not be compiled. */
type PlanCounts = Record<'ready' | 'made' | 'uncompiled', number>

export type Outcome =
  | { readonly data: Record<string, unknown> }
  | { readonly data?: undefined; readonly context: GatewayContext }

export function compiledExecution(options: ExecutionOptions): Execution {
  const { graph, budgetMs = BUDGET_MS, isLifting = true, onUnusual } = options
  const { counts = { ready: 0, made: 0, uncompiled: 0 } } = options
  const { schema: supergraph } = graph.supergraph
  const isInterface = (name: string) => supergraph.type(name)?.kind === 'InterfaceType'
  // One for each subgraph, at once: it keeps connections, and says so if nobody knows where it is.
  const sources = new Map(
    graph.supergraph.subgraphsMetadata().map(({ name }) => {
      const allowed = withoutRefused(options.sourceOf(name), name, graph)
      return [name, keepingTypes(allowed, isInterface)] as const
    }),
  )
  const sourceOf = (name: string) => sources.get(name)!
  const apollos = apollosExecution(graph, dataSourceOf)
  const { inTime } = openDeadlines()
  const { inOrder } = openMutations(graph)
  // False for what cannot be compiled.
  const prepared = new LRUCache<string, Prepared | false>({ max: PREPARED_MAX })
  const ahead = new LRUCache<string, Prepared | false>({ max: PREPARED_MAX })
  // By the words in which they came, values and all.
  const texts = new LRUCache<string, Known>({ max: PREPARED_MAX })
  const lifting = isLifting ? openLifting(graph.schema) : undefined

  function execute(
    { plan, shape, defaults }: Prepared,
    variables: Variables,
    context: GatewayContext,
  ): Soon<Outcome> {
    const { deadlineMs = performance.now() + budgetMs } = context
    const run: Run = {
      root: {},
      variables,
      context,
      shared: Array(plan.sharedCount),
      answered: [],
      deadlineMs,
    }
    const answer = () => ({ data: shape(run.root, withDefaults(variables, defaults)) })
    const leave = (error: unknown) => {
      if (!(error instanceof Unusual)) throw error
      return { context: { ...context, deadlineMs, [ANSWERED]: run.answered } as Context }
    }
    try {
      const pending = plan.execute(run)
      if (!pending) return answer()
      // Whoever goes the long way finds out there that it is too late.
      return inTime(pending, deadlineMs, () => new Unusual())
        .then(answer)
        .catch(leave)
    } catch (error) {
      return leave(error)
    }
  }

  /** Where ApolloGateway asks what it executes itself. */
  function dataSourceOf(name: string): GraphQLDataSource<any> {
    const { prepare } = keepingAsks(sourceOf(name))
    return {
      async process({ request, context }) {
        const { query = '', variables = {}, operationName } = request
        if (isOver((context as Context | undefined)?.deadlineMs)) throw timeIsUp(budgetMs)
        const answered = (context as Context | undefined)?.[ANSWERED]
        return inOrder(context as Context, query, async () => {
          const again = answered && answerAgain(answered, name, { query, variables })
          if (again) return again
          return prepare(query, operationName)(variables, context as Context)
        }) as any
      },
    }
  }

  const executeUnusual: Executor = async (requestContext) => {
    onUnusual?.()
    return withErrors(await apollos.execute(requestContext))
  }

  /** The request as it is planned: with variables in place of values. */
  function planned(requestContext: Asked): Asked {
    const { source, request } = requestContext
    const lifted = lifting?.of(source)
    const document = lifted && lifting?.documentOf(lifted)
    if (!document) return requestContext
    const variables = { ...request.variables, ...lifted.values }
    const asked = { ...request, variables }
    const { template } = lifted
    return { ...requestContext, document, source: template, queryHash: template, request: asked }
  }

  const executeAny: Executor = async (requestContext) => {
    const asked = planned(requestContext)
    const { document, source, request } = asked
    const context = asked.context as Context
    if (context[ANSWERED]) return executeUnusual(asked)
    // Over HTTP, what is not named is null.
    const operationName = request.operationName ?? undefined
    const name = nameOf(source, operationName)
    let found = prepared.get(name)
    const isReady = found !== undefined
    if (found === undefined) {
      found = ahead.get(name) ?? prepare(graph, document, operationName, sourceOf)
      prepared.set(name, found)
    }
    counts[!found ? 'uncompiled' : isReady ? 'ready' : 'made'] += 1
    const variables = request.variables ?? {}
    if (!found || !areGood(found, variables)) return executeUnusual(requestContext)
    const outcome = await execute(found, variables, context)
    if (outcome.data) return { data: outcome.data }
    return executeUnusual({ ...asked, context: outcome.context as any })
  }

  return {
    execute,
    known(query, operationName) {
      const name = nameOf(query, operationName)
      let known = texts.get(name)
      if (!known) {
        const lifted = lifting?.of(query)
        const found = prepared.get(nameOf(lifted?.template ?? query, operationName))
        if (!found) return undefined
        texts.set(name, (known = { prepared: found, literals: lifted?.values }))
      }
      return known
    },
    planOf: (document, operationName) => planOf(graph, document, operationName),
    prepareAhead(query) {
      if (validate(graph.schema, parse(query)).length > 0) return
      const lifted = lifting?.of(query)
      const template = lifted && lifting?.documentOf(lifted)
      const document = template ?? parse(query, { noLocation: true })
      const text = template ? lifted.template : query
      const operations = document.definitions.filter(
        (node) => node.kind === Kind.OPERATION_DEFINITION,
      )
      for (const { name } of operations) {
        const found = prepare(graph, document, name?.value, sourceOf)
        ahead.set(nameOf(text, name?.value), found)
        // Clients name the only operation of a document or not.
        if (operations.length === 1) ahead.set(nameOf(text), found)
      }
    },
    loadRest: apollos.load,

    async executor(requestContext) {
      const { deadlineMs = performance.now() + budgetMs } = requestContext.context as Context
      if (isOver(deadlineMs)) throw timeIsUp(budgetMs)
      const context = { ...requestContext.context, deadlineMs }
      const answering = executeAny({ ...requestContext, context } as typeof requestContext)
      const answer = await inTime(answering, deadlineMs, () => timeIsUp(budgetMs))
      // Fetches that were not sent any more left errors of their own.
      if (answer.errors && isOver(deadlineMs)) throw timeIsUp(budgetMs)
      return answer
    },
  }
}

type Asked = Parameters<Executor>[0]

const nameOf = (query: string, operationName = ''): string =>
  operationName === '' ? query : `${operationName}\n${query}`

function prepare(
  graph: Graph,
  document: DocumentNode,
  operationName: string | undefined,
  sourceOf: (name: string) => Source,
): Prepared | false {
  const operation = getOperationAST(document, operationName)
  if (!operation || operation.operation === 'subscription') return false
  const { schema, supergraphSchema: supergraph } = graph
  const fragments = fragmentsOf(document)
  const defaults = defaultsOf(operation, schema)
  try {
    const shape = compileShape(operation, { schema, fragments })
    const planned = planOf(graph, document, operationName)
    const plan = compilePlan(planned, { supergraph, sourceOf, defaults })
    const arePlain = plainVariables(operation.variableDefinitions ?? [])
    return { document, operation, schema, plan, shape, defaults, arePlain }
  } catch {
    // What cannot be compiled is executed by ApolloGateway, which also says what is wrong with it.
    return false
  }
}

function planOf(
  { apiSchema, planner }: Graph,
  document: DocumentNode,
  operationName: string | undefined,
): QueryPlan {
  const named = operationName === undefined ? {} : { operationName }
  return planner.buildQueryPlan(operationFromDocument(apiSchema, document, named))
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
export function areGood({ schema, operation, arePlain }: Prepared, sent: Variables): boolean {
  if (arePlain?.(sent)) return true
  return !getVariableValues(schema, operation.variableDefinitions ?? [], sent).errors
}

const withDefaults = (sent: Variables, defaults: Variables): Variables =>
  Object.keys(defaults).length === 0 ? sent : { ...defaults, ...sent }
