// The one way out: HTTP calls to other people's servers, off unless the operator allows hosts.
import { fault } from './fault.ts'

export const OutboundRefused = fault('OutboundRefused', 400)

export interface Outbound {
  /** Throws OutboundRefused for a host that is not allowed. The answer's body is cut at a limit. */
  send(request: OutboundRequest): Promise<OutboundAnswer>
}

export interface OutboundRequest {
  readonly method: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array
  /** Where the answer's body is cut, in bytes; a megabyte unless said. */
  readonly answerMax?: number
}

export interface OutboundAnswer {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: Buffer
}

/** Nothing goes out. */
export const closedOutbound: Outbound = {
  send: ({ url }) =>
    Promise.reject(
      OutboundRefused(
        `Calls to ${url} are not allowed. An operator allows hosts with POLYGRAPH_OUTBOUND_HOSTS.`,
      ),
    ),
}
