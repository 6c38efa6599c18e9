// All that an operation may touch. It has no request, no response and no environment.
import type { Blobs } from './blobs.ts'
import type { Clock } from './clock.ts'
import type { Events } from './events.ts'
import type { Graph } from './graph.ts'
import type { Outbound } from './outbound.ts'
import type { Cursors } from './paging.ts'
import type { Secrets } from './secrets.ts'
import type { Store } from './store.ts'
import type { Work } from './work.ts'

export interface Context {
  readonly caller: Caller
  readonly store: Store
  /** The time that services live by; it can be advanced. */
  readonly clock: Clock
  /** The time of the world outside, in which credentials and signatures expire. */
  readonly wallClock: Clock
  readonly work: Work
  readonly events: Events
  readonly cursors: Cursors
  readonly outbound: Outbound
  /** All services joined, as the caller sees them. */
  readonly graph: Graph
  readonly secrets: Secrets
  /** Bytes beside the records, in the same store. */
  readonly blobs: Blobs
  readonly newId: () => string
  /** Moves the clock and runs what falls due, where this process keeps the time of all services. */
  readonly advance?: (byMs: number) => Promise<{ now: Date; stepsRun: number }>
  /** Where the caller reached this service, without a final slash, for links in answers. */
  readonly address: string
  /** The network address that the request came from, where there is one. */
  readonly remote?: string | undefined
  /** The header fields of the request that operations may read, such as If-Match; lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** Who is asking, as proved. */
export interface Caller {
  /** `service` is one of our own services asking another. */
  readonly kind: 'user' | 'service' | 'nobody'
  /** The identity of the person behind the credential. */
  readonly userId: string
  /** The credential that was shown, for logs and quotas. */
  readonly credentialId: string
  /** The cloud accounts that the credential opens. */
  readonly accounts: readonly CallerAccount[]
  /** What the credential permits, such as `sms-voice:*`; `*` matches any run of characters. */
  readonly permissions: readonly string[]
  readonly isAdmin: boolean
}

export interface CallerAccount {
  readonly id: string
  readonly kind: 'SUBSCRIPTION' | 'PROJECT' | 'ACCOUNT'
}

export const NOBODY: Caller = {
  kind: 'nobody',
  userId: '',
  credentialId: '',
  accounts: [],
  permissions: [],
  isAdmin: false,
}

/** Whether the caller may use this cloud account. */
export const mayUse = (caller: Caller, kind: CallerAccount['kind'], id: string): boolean =>
  caller.accounts.some((account) => account.kind === kind && account.id === id)

/** Whether a permission of the caller matches, wildcards considered. */
export const isPermitted = (caller: Caller, permission: string): boolean =>
  caller.permissions.some((granted) => granted === '*' || matches(granted, permission))

// `*` matches any run of characters. Written without a regular expression, so that no pattern a
// caller stored can take exponential time.
function matches(pattern: string, value: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === value
  const first = parts[0]!
  const last = parts.at(-1)!
  if (!value.startsWith(first) || !value.endsWith(last)) return false
  let at = first.length
  const end = value.length - last.length
  if (at > end) return false
  for (const part of parts.slice(1, -1)) {
    const found = value.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
