// A subgraph whose fetches are counted, and told to who asked for the plan, follows a trace or waits
// for changes.
import type { GatewayContext } from './callers.ts'
import type { Answer, Source, Variables } from './executor/source.ts'
import { answerOfFailed } from './failed-fetch.ts'
import { countFetch, outcomeOf, type FetchOutcome, type GraphFigures } from './graph-figures.ts'

/** A fetch as it is shown beside a plan. */
export interface Fetched {
  readonly service: string
  readonly outcome: FetchOutcome
  readonly ms: number
  /** How many entities it told; none where it asked a root field. */
  readonly representations: number
}

export function watched(
  service: string,
  source: Source,
  { fetchesOf }: Pick<GraphFigures, 'fetchesOf'>,
): Source {
  const figures = fetchesOf(service)
  return {
    prepare(query, operationName) {
      const ask = source.prepare(query, operationName)
      return (variables, context) => {
        const startedMs = performance.now()
        const { trace, reads, fetched } = context
        const span = trace?.fetch(service, representationsIn(variables))
        const done = (outcome: FetchOutcome) => {
          const ms = performance.now() - startedMs
          countFetch(figures, outcome, ms)
          fetched?.push({
            service,
            outcome,
            ms,
            representations: representationsIn(variables),
          })
          span?.end(outcome)
        }
        const take = (answer: Answer) => {
          reads?.add(service, variables, answer)
          done(outcomeOf(answer))
          return answer
        }
        const fail = (failure: unknown) => {
          reads?.add(service, variables, undefined)
          done('failed')
          return answerOfFailed(failure, { query, variables })
        }
        let answer: Answer | Promise<Answer>
        try {
          answer = ask(variables, span ? within(context, span.traceparent) : context)
        } catch (failure) {
          return fail(failure)
        }
        return answer instanceof Promise ? answer.then(take, fail) : take(answer)
      }
    },
  }
}

const within = (context: GatewayContext, traceparent: string): GatewayContext => ({
  ...context,
  traceparent,
})

const representationsIn = ({ representations }: Variables): number =>
  Array.isArray(representations) ? representations.length : 0
