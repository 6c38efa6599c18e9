// Proves the caller once, for all subgraphs that a query reaches.
import type { IncomingHttpHeaders } from 'node:http'
import { NOBODY, type Caller } from '../resolvers/kernel/context.ts'
import { Forbidden, Unauthenticated } from '../resolvers/kernel/fault.ts'
import { goOn, type Soon } from '../resolvers/kernel/soon.ts'
import { bearerTokenOf } from '../subgraphs/server/auth/bearer.ts'
import type { Credentials } from '../subgraphs/server/subgraph.ts'
import type { Trace } from './traces.ts'
import type { Fetched } from './watched-source.ts'
import type { Batch } from './batch.ts'
import type { Reads } from './live-reads.ts'

/** The audience of tokens that open the graph. */
export const GRAPH = 'graph'
/** What the gateway is called beside the services, and the audience of the notes that it reads. */
export const GATEWAY = 'gateway'
/** Which of several accounts of the signed services is meant. */
export const ACCOUNT_HEADER = 'x-polygraph-account'
/** Asks for the plan beside the answer; see plan-shown.ts. */
export const PLAN_HEADER = 'polygraph-plan'

export interface GatewayContext {
  readonly caller: Caller
  readonly publicUrl: string
  readonly requestId: string
  readonly headers: Readonly<Record<string, string | undefined>>
  /** What was fetched so far, where the plan is to be shown. */
  readonly fetched?: Fetched[]
  /** Told what is read, where the query is asked again when that changes. */
  readonly reads?: Reads
  /** The trace of the request, where traces are wanted. */
  readonly trace?: Trace | undefined
  /** The header that continues the trace elsewhere. */
  readonly traceparent?: string
  /** Whether a service of ours asks, and no client. */
  readonly isOurs?: boolean
  /** The request that it came in, if others came in it too. */
  readonly batch?: Batch | undefined
  /** When it is given up, by performance.now(). */
  readonly deadlineMs?: number
}

/** Without a token the caller is nobody, to whom operations open to anyone answer. */
export function callerOf(headers: IncomingHttpHeaders, credentials: Credentials): Soon<Caller> {
  if (headers.authorization === undefined) return NOBODY
  const token = bearerTokenOf(headers.authorization)
  return goOn(token && credentials.byToken(GRAPH, token), (caller) => {
    if (!caller) {
      throw Unauthenticated('The access token is unknown, expired, revoked or not for the graph.')
    }
    return onAccount(caller, headers[ACCOUNT_HEADER] as string | undefined)
  })
}

function onAccount(caller: Caller, account: string | undefined): Caller {
  if (account === undefined) return caller
  const isOther = ({ kind, id }: Caller['accounts'][number]) => kind === 'ACCOUNT' && id !== account
  const accounts = caller.accounts.filter((owned) => !isOther(owned))
  if (!accounts.some(({ kind }) => kind === 'ACCOUNT')) {
    throw Forbidden(`${ACCOUNT_HEADER} names ${account}, which is not an account of yours.`)
  }
  return { ...caller, accounts }
}
