// A subgraph in a process of its own: a fetch goes over HTTP, with the gateway's note.
import { GraphQLError } from 'graphql'
import { Agent, request as send } from 'undici'
import { NOTE_HEADER, type Notes } from '../subgraphs/server/auth/gateway.ts'
import { ACCOUNT_HEADER } from './callers.ts'
import type { Answer, Source } from './executor/source.ts'

const TIME_MS = 10_000
const CONNECTIONS_MAX = 64

interface HttpOptions {
  readonly name: string
  /** Several addresses of one subgraph stand in for each other. */
  readonly urls: readonly string[]
  readonly notes: Notes
}

interface Asked {
  readonly query?: string | undefined
  readonly variables?: object | undefined
  readonly operationName?: string | undefined
}

const agent = new Agent({
  connections: CONNECTIONS_MAX,
  keepAliveTimeout: 30_000,
  headersTimeout: TIME_MS,
  bodyTimeout: TIME_MS,
  connect: { timeout: 2_000 },
})

export function overHttp({ name, urls, notes }: HttpOptions): Source {
  const ask = askOverHttp({ name, urls })
  return {
    prepare: (query, operationName) => async (variables, context) => {
      const headers: Record<string, string> = {
        [NOTE_HEADER]: await notes.write(context.caller, name),
        'x-request-id': context.requestId,
      }
      const account = context.headers[ACCOUNT_HEADER]
      if (account) headers[ACCOUNT_HEADER] = account
      if (context.traceparent) headers.traceparent = context.traceparent
      return (await ask({ query, variables, operationName }, headers)) as Answer
    },
  }
}

/** Sends a GraphQL request to the first of a subgraph's addresses that can be reached. */
export function askOverHttp({ name, urls }: Pick<HttpOptions, 'name' | 'urls'>) {
  let preferred = 0
  return async (body: Asked, headers: Record<string, string>): Promise<unknown> => {
    const payload = JSON.stringify(body)
    const isRead = !/^\s*mutation\b/.test(body.query ?? '')
    let failure: unknown
    // A connection may have broken since it was last used, so that one address is tried again too.
    for (let tries = 0; tries <= urls.length; tries += 1) {
      const at = (preferred + tries) % urls.length
      try {
        const answer = await send(`${urls[at]}/graphql`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: payload,
          dispatcher: agent,
        })
        preferred = at
        return await answer.body.json()
      } catch (error) {
        failure = error
        // A mutation must not run twice, so it is sent elsewhere only if it certainly did not arrive.
        const { code = '' } = error as { code?: string }
        if (!UNREACHED.has(code) && !(isRead && BROKEN.has(code))) break
      }
    }
    throw new GraphQLError(`The service ${name} does not answer.`, {
      originalError: failure as Error,
      extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, service: name },
    })
  }
}

const UNREACHED = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENOTFOUND'])
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
