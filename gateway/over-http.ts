// A subgraph in a process of its own: a fetch goes over HTTP, with the gateway's note.
import { GraphQLError } from 'graphql'
import { wallClock, type Clock } from '../resolvers/kernel/clock.ts'
import { NOTE_HEADER, type Notes } from '../subgraphs/server/auth/gateway.ts'
import { openBreaker } from './breaker.ts'
import { ACCOUNT_HEADER } from './callers.ts'
import { isMutation, type Answer, type Source } from './executor/source.ts'
import { NoAnswer, posting, TooSlow, type Posted } from './posting.ts'

/** How long a service may take to answer one fetch. */
const FETCH_MS = 10_000

interface HttpOptions {
  readonly name: string
  /** Several addresses of one subgraph stand in for each other. */
  readonly urls: readonly string[]
  readonly fetchMs?: number | undefined
  /** What pauses are measured by, where it is not the time of the world. */
  readonly clock?: Clock
}

interface Asked {
  readonly query: string
  readonly variables?: object | undefined
}

export function overHttp(options: HttpOptions & { readonly notes: Notes }): Source {
  const { name, notes } = options
  const post = postingTo(options)
  return {
    prepare(query, operationName) {
      const named = operationName ? `"operationName":${JSON.stringify(operationName)},` : ''
      const start = `{"query":${JSON.stringify(query)},${named}"variables":`
      const isRead = !isMutation(query)
      return async (variables, { caller, requestId, headers: sent, traceparent }) => {
        const headers = [
          'content-type',
          'application/json',
          NOTE_HEADER,
          await notes.write(caller, name),
          'x-request-id',
          requestId,
        ]
        const account = sent[ACCOUNT_HEADER]
        if (account) headers.push(ACCOUNT_HEADER, account)
        if (traceparent) headers.push('traceparent', traceparent)
        const body = `${start}${JSON.stringify(variables)}}`
        return post({ body, headers, isRead }) as Promise<Answer>
      }
    },
  }
}

/** For questions that are not part of a plan. */
export function askOverHttp(options: HttpOptions) {
  const post = postingTo(options)
  return (asked: Asked, headers: Record<string, string>): Promise<unknown> =>
    post({
      body: JSON.stringify(asked),
      headers: ['content-type', 'application/json', ...Object.entries(headers).flat()],
      isRead: !isMutation(asked.query),
    })
}

/** Posts to a service until it does not answer, and after that now and then, to see whether it does. */
function postingTo({ name, urls, fetchMs = FETCH_MS, clock = wallClock }: HttpOptions) {
  const post = posting(urls, fetchMs)
  const breaker = openBreaker(clock)
  return async (posted: Posted): Promise<object> => {
    const pauseMs = breaker.pauseMs()
    if (pauseMs > 0) {
      const seconds = Math.ceil(pauseMs / 1000)
      throw unavailable(name, `It is asked again in ${seconds} s.`)
    }
    try {
      const answer = await post(posted)
      breaker.succeeded()
      return answer
    } catch (error) {
      breaker.failed()
      if (error instanceof TooSlow) {
        throw unavailable(name, `It took longer than ${fetchMs} ms.`, 'SERVICE_TIMEOUT', error)
      }
      const why = error instanceof NoAnswer ? error.message : ''
      throw unavailable(name, why, 'SERVICE_UNAVAILABLE', error)
    }
  }
}

const unavailable = (name: string, why: string, code = 'SERVICE_UNAVAILABLE', cause?: unknown) =>
  new GraphQLError(`The service ${name} does not answer.${why && ` ${why}`}`, {
    ...(cause instanceof Error && { originalError: cause }),
    extensions: { code, status: code === 'SERVICE_TIMEOUT' ? 504 : 503, service: name },
  })
