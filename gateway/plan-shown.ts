// The plan of a query beside its answer, for those who ask for it and may see it.
import type { ApolloServerPlugin } from '@apollo/server'
import { prettyFormatQueryPlan, type QueryPlan } from '@apollo/query-planner'
import { GraphQLError, type DocumentNode } from 'graphql'
import { PLAN_HEADER, type GatewayContext } from './callers.ts'
import type { Fetched } from './watched-source.ts'

interface PlanOptions {
  readonly planOf: (document: DocumentNode, operationName: string | undefined) => QueryPlan
  /** Who may read the schema may also read how it is asked. Administrators always may. */
  readonly isIntrospectable: boolean
}

/** A query that asks for its plan is refused before anything of it runs, if the plan is not for its caller. */
export const planShown = ({
  planOf,
  isIntrospectable,
}: PlanOptions): ApolloServerPlugin<GatewayContext> => ({
  async requestDidStart({ request, contextValue }) {
    const asked = request.http?.headers.get(PLAN_HEADER)
    if (asked === undefined) return undefined
    const fetches: Fetched[] = []
    Object.assign(contextValue, { fetched: fetches })
    let isExecuted = false
    return {
      async didResolveOperation() {
        if (asked !== 'show') throw refusal('BAD_REQUEST', 400, `${PLAN_HEADER} must be show.`)
        if (isIntrospectable || contextValue.caller.isAdmin) return
        throw refusal('FORBIDDEN', 403, `${PLAN_HEADER} is for administrators. Leave it out.`)
      },
      async executionDidStart() {
        isExecuted = true
      },
      async willSendResponse({ document, request: { operationName }, response: { body } }) {
        if (!isExecuted || !document || body.kind !== 'single') return
        const text = prettyFormatQueryPlan(planOf(document, operationName ?? undefined))
        body.singleResult.extensions = {
          ...body.singleResult.extensions,
          plan: { text, fetches: fetches.map((fetch) => ({ ...fetch, ms: rounded(fetch.ms) })) },
        }
      },
    }
  },
})

const refusal = (code: string, status: number, message: string) =>
  new GraphQLError(message, { extensions: { code, http: { status } } })

const rounded = (ms: number): number => Math.round(ms * 1000) / 1000
