// Where a fetch of a plan is answered: a subgraph in this process, or one elsewhere.
import { LRUCache } from 'lru-cache'
import type { GatewayContext } from '../callers.ts'

const KEPT_MAX = 2_000

export interface Answer {
  data?: Record<string, any> | null
  errors?: readonly AnswerError[]
}

export interface AnswerError {
  readonly message: string
  readonly path?: readonly (string | number)[] | undefined
  readonly extensions?: Readonly<Record<string, unknown>> | undefined
}

export type Variables = Readonly<Record<string, unknown>>

/** Asks one operation of a subgraph, which was made ready when its plan was. */
export type Ask = (variables: Variables, context: GatewayContext) => Answer | Promise<Answer>

/** As a planner writes it, and as people do. */
export const isMutation = (query: string): boolean => /^\s*mutation\b/.test(query)

export interface Source {
  prepare(query: string, operationName: string | undefined): Ask
}

/** For who is asked in texts that come again, and not by plans that keep what they ask. */
export function keepingAsks({ prepare }: Source): Source {
  const asks = new LRUCache<string, Ask>({ max: KEPT_MAX })
  return {
    prepare(query, operationName) {
      let ask = asks.get(query)
      if (!ask) asks.set(query, (ask = prepare(query, operationName)))
      return ask
    },
  }
}
