// What a query may cost, before anything of it runs. docs/security.md has the weights in words.
import type { ApolloServerPlugin } from '@apollo/server'
import { GraphQLError, type OperationDefinitionNode } from 'graphql'
import type { GatewayContext } from './callers.ts'
import { measure, type Cost, type Costly, type Weights } from './cost-measured.ts'

/** What a query may cost, unless it is said otherwise. */
export const COST_MAX = 10_000
/** How many fields a query may have with its fragments written out, since each must be planned. */
const FIELDS_MAX = 5_000
/** Asks for the cost in the answer. */
export const COST_HEADER = 'x-polygraph-cost'

type Variables = Readonly<Record<string, unknown>>

export interface Costs {
  /** Refuses what costs too much. */
  readonly plugin: ApolloServerPlugin<GatewayContext>
  isAffordable(costly: Costly, variables: Variables): boolean
}

/** The weights are asked for late, since the graph is loaded after its server is made. */
export function costLimit(weights: () => Weights, max: number): Costs {
  // The server keeps parsed documents, so that the same operation comes again and again. What it costs
  // is the same each time, unless its variables say how large the pages are.
  const known = new WeakMap<OperationDefinitionNode, Cost>()

  function costOf(costly: Costly, variables: Variables): Cost {
    const before = known.get(costly.operation)
    if (before) return before
    const measured = measure(costly, variables, weights())
    if (!measured.isVaried) known.set(costly.operation, measured)
    return measured
  }

  return {
    isAffordable(costly, variables) {
      const { cost, fields } = costOf(costly, variables)
      return cost <= max && fields <= FIELDS_MAX
    },
    plugin: {
      async requestDidStart({ contextValue: { batch } }) {
        let told: Cost | undefined
        return {
          async didResolveOperation({ schema, document, operation, request }) {
            told = costOf({ schema, document, operation: operation! }, request.variables ?? {})
            const sum = batch ? await batch.add(told.cost) : told.cost
            if (told.fields > FIELDS_MAX) throw tooManyFields(told)
            if (sum > max) throw tooCostly(told, { sum, max })
          },
          async willSendResponse({ request, response: { body } }) {
            // What was wrong before it could be measured must not keep the others of its batch.
            if (!told) void batch?.add(0)
            else if (request.http?.headers.has(COST_HEADER) && body.kind === 'single') {
              const cost = { cost: told.cost, max }
              body.singleResult.extensions = { ...body.singleResult.extensions, cost }
            }
          },
        }
      },
    },
  }
}

function tooCostly({ cost, most }: Cost, { sum, max }: { sum: number; max: number }) {
  const allowed = `and at most ${max} is allowed`
  return refusal(
    (sum === cost
      ? `The query costs ${cost}, ${allowed}. `
      : `The queries of this batch cost ${sum} together, ${allowed}; this one costs ${cost}. `) +
      `Most of it, ${most.cost}, is ${most.path}. Ask for smaller pages or fewer levels.`,
    { cost, max, field: most.path },
  )
}

const tooManyFields = ({ fields }: Cost) =>
  refusal(
    `The query has ${fields} fields with its fragments written out, and at most ${FIELDS_MAX} are ` +
      'allowed. Use its fragments less often.',
    { fields, max: FIELDS_MAX },
  )

const refusal = (message: string, more: object) =>
  new GraphQLError(message, {
    extensions: { code: 'QUERY_TOO_COSTLY', ...more, http: { status: 400 } },
  })
