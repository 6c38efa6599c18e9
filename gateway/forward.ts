// Queries that one subgraph answers whole: its answer is the answer.
//
// ApolloGateway goes over every answer again, to join, to shorten and to check. Where its plan is one
// fetch of exactly what the client selected, that changes nothing and costs more than the fetch.
//
// 1. The plan is always ApolloGateway's own: a document's first execution is left to it, and shows it.
// 2. Only object types are forwarded. An abstract type may be another in the subgraph.
// 3. What is not plainly right goes to ApolloGateway together with what the subgraph answered: it
//    words errors, and nothing is asked twice, least of all a mutation.
import type {
  ApolloGateway,
  Experimental_DidResolveQueryPlanCallback,
  GraphQLDataSource,
  GraphQLDataSourceProcessOptions,
} from '@apollo/gateway'
import {
  getVariableValues,
  type DocumentNode,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql'
import { enumsThatHide, isWhole } from './whole-selection.ts'

type Executor = ApolloGateway['executor']
type Source = GraphQLDataSource<any>
type Answer = ReturnType<Source['process']>
type Plan = Parameters<Experimental_DidResolveQueryPlanCallback>[0]['queryPlan']
type Fetch = Extract<NonNullable<Plan['node']>, { kind: 'Fetch' }>

interface Forwarded {
  readonly fetch: Fetch
  readonly schema: GraphQLSchema
  readonly variables: readonly VariableDefinitionNode[]
}

export interface Forwarding {
  /** For ApolloGateway's configuration: tells of plans. */
  readonly didResolveQueryPlan: Experimental_DidResolveQueryPlanCallback
  /** For ApolloGateway's configuration: where it asks. */
  sourceOf(name: string): Source
  /** Answers what can be forwarded, and leaves the rest to ApolloGateway's executor. */
  executor(apollos: Executor): Executor
}

export function openForwarding(
  supergraph: DocumentNode,
  dataSourceOf: (name: string) => Source,
): Forwarding {
  const hiding = enumsThatHide(supergraph)
  const sources = new Map<string, Source>()
  // The server parses a text once and keeps the document as long as it is used.
  const known = new WeakMap<DocumentNode, Map<string | undefined, Forwarded | undefined>>()
  const answered = new WeakMap<object, Answer>()

  return {
    didResolveQueryPlan({ queryPlan: { node }, requestContext, operationContext }) {
      const { document, request } = requestContext
      let ofDocument = known.get(document)
      if (!ofDocument) known.set(document, (ofDocument = new Map()))
      if (ofDocument.has(request.operationName)) return
      const { schema, operation } = operationContext
      const isForwarded = isPlain(node) && isWhole(node.operation, operationContext, hiding)
      const { variableDefinitions: variables = [] } = operation
      ofDocument.set(
        request.operationName,
        isForwarded ? { fetch: node, schema, variables } : undefined,
      )
    },

    sourceOf(name) {
      const source = dataSourceOf(name)
      sources.set(name, source)
      return {
        process: (options) =>
          answered.get((options as Partial<IncomingOptions>).incomingRequestContext ?? {}) ??
          source.process(options),
      }
    },

    executor: (apollos) => async (requestContext) => {
      const { document, request, context } = requestContext
      const { variables = {}, operationName } = request
      const forwarded = known.get(document)?.get(operationName)
      if (!forwarded || !areGood(forwarded, variables)) return apollos(requestContext)
      const { serviceName, operation: query, operationName: name, variableUsages } = forwarded.fetch
      const answer = sources.get(serviceName)!.process({
        kind: INCOMING_OPERATION,
        request: { query, variables: pick(variables, variableUsages), operationName: name },
        incomingRequestContext: requestContext,
        context,
      } as unknown as IncomingOptions)
      const result = await answer.catch(() => undefined)
      if (result?.data && !result.errors) return { data: result.data }
      answered.set(requestContext, answer)
      return apollos(requestContext)
    },
  }
}

type IncomingOptions = Extract<GraphQLDataSourceProcessOptions, { incomingRequestContext: object }>
/** What ApolloGateway calls a fetch for a client; its enumeration is not exported. */
const INCOMING_OPERATION = 'incoming operation'

function isPlain(node: Plan['node']): node is Fetch {
  if (node?.kind !== 'Fetch' || node.operationKind === 'subscription') return false
  const { requires, inputRewrites, outputRewrites, contextRewrites } = node
  return ![requires, inputRewrites, outputRewrites, contextRewrites].some((list) => list?.length)
}

/** The subgraph would word a wrong variable by its own schema, which clients do not know. */
const areGood = ({ schema, variables }: Forwarded, sent: Record<string, unknown>): boolean =>
  variables.length === 0 || !getVariableValues(schema, variables, sent).errors

function pick(sent: Readonly<Record<string, unknown>>, names: readonly string[] = []) {
  const picked: Record<string, unknown> = {}
  for (const name of names) {
    if (Object.hasOwn(sent, name) && sent[name] !== undefined) picked[name] = sent[name]
  }
  return picked
}
