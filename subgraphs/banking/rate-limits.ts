// How often an address may ask an endpoint: as the clients of such a bank know it.
//
// Chosen: it holds for those who came by a session, and for those who want one. Who holds an API key of
// identity is known by name, and is not counted.
import type { FastifyRequest } from 'fastify'
import { TooMany } from '../../resolvers/kernel/fault.ts'

const WINDOW_MS = 3_000
const CALLS_MAX: Readonly<Record<string, number>> = { GET: 3, HEAD: 3, POST: 5, PUT: 2, DELETE: 2 }
const SESSION_WINDOW_MS = 30_000
const SESSION_CALLS_MAX = 1
const REMEMBERED_MAX = 50_000

const SESSION_PATH = '/v1/session-server'
/** Paths that are open to those who have shown nothing yet. */
const OPEN_PATHS = /^\/v1\/(installation|sandbox-user-\w+)\/?$/
const TOKEN = /^[0-9a-f]{64}$/

export interface RateLimits {
  /** Counts a call, and refuses one too many. */
  check(request: FastifyRequest, remote: string, nowMs: number): void
}

export function rateLimits(): RateLimits {
  // By address and endpoint, oldest first: when the calls of the window were made.
  const made = new Map<string, number[]>()

  return {
    check(request, remote, nowMs) {
      const url = request.routeOptions.url ?? ''
      const shown = String(request.headers['x-vendor-client-authentication'] ?? '')
      const isCounted = TOKEN.test(shown) || (request.method === 'POST' && OPEN_PATHS.test(url))
      const max = url === SESSION_PATH ? SESSION_CALLS_MAX : CALLS_MAX[request.method]
      if (!isCounted || max === undefined) return
      const windowMs = url === SESSION_PATH ? SESSION_WINDOW_MS : WINDOW_MS
      const name = `${remote} ${request.method} ${url}`
      const calls = (made.get(name) ?? []).filter((atMs) => atMs > nowMs - windowMs)
      made.delete(name)
      if (made.size >= REMEMBERED_MAX) made.delete(made.keys().next().value!)
      made.set(name, calls)
      if (calls.length >= max) {
        const seconds = Math.ceil((calls[0]! + windowMs - nowMs) / 1000)
        throw TooMany(
          `Too many requests: at most ${max} in ${windowMs / 1000} seconds here. Try again in ${seconds} s.`,
          { headers: { 'retry-after': String(seconds) } },
        )
      }
      calls.push(nowMs)
    },
  }
}
