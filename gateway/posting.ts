// Posts JSON to the first of a service's addresses that can be reached, over connections that are kept.
import type { Pool } from 'undici'

const CONNECTIONS_MAX = 64
const KEPT_MS = 30_000
const CONNECT_MS = 2_000

export interface Posted {
  readonly body: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** What only reads may be sent again where a connection broke; what writes must not run twice. */
  readonly isRead: boolean
}

export type Post = (posted: Posted) => Promise<unknown>

export function posting(urls: readonly string[], timeMs: number): Post {
  let opening: Promise<Pool[]> | undefined
  let preferred = 0
  return async (posted) => {
    const pools = await (opening ??= openPools(urls, timeMs))
    let failure: unknown
    // A connection may have broken since it was last used, so that one address is tried again too.
    for (let tries = 0; tries <= pools.length; tries += 1) {
      const at = (preferred + tries) % pools.length
      try {
        const answer = await send(pools[at]!, posted)
        preferred = at
        return answer
      } catch (error) {
        failure = error
        const { code = '' } = error as { code?: string }
        if (!UNREACHED.has(code) && !(posted.isRead && BROKEN.has(code))) break
      }
    }
    throw failure
  }
}

const UNREACHED = new Set(['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'EHOSTUNREACH', 'ENOTFOUND'])
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** The client is loaded by those alone who have somebody to ask. */
async function openPools(urls: readonly string[], timeMs: number): Promise<Pool[]> {
  const { Pool } = await import('undici')
  return urls.map(
    (url) =>
      new Pool(new URL(url).origin, {
        connections: CONNECTIONS_MAX,
        keepAliveTimeout: KEPT_MS,
        headersTimeout: timeMs,
        bodyTimeout: timeMs,
        connect: { timeout: CONNECT_MS },
      }),
  )
}

/** Without the streams that a client would put around a small answer. */
function send(pool: Pool, { body, headers }: Posted): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    pool.dispatch(
      { path: '/graphql', method: 'POST', headers: headers as string[], body },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller, part) => void parts.push(part),
        onResponseEnd() {
          try {
            resolve(JSON.parse((parts.length === 1 ? parts[0]! : Buffer.concat(parts)).toString()))
          } catch (error) {
            reject(error as Error)
          }
        },
        onResponseError: (_controller, error) => reject(error),
      },
    )
  })
}
