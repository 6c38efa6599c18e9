// Posts JSON to the first of a service's addresses that can be reached, over connections that are kept.
import type { Dispatcher, Pool } from 'undici'

const CONNECTIONS_MAX = 64
const KEPT_MS = 30_000
const CONNECT_MS = 2_000

/** What is posted, and how what is answered is read. */
export interface Posted {
  readonly path: string
  /** Asked for anew when it is sent again. */
  readonly body: () => string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** What only reads may be sent again where a connection broke; what writes must not run twice. */
  readonly isRead: boolean
  /** Takes a part of the answer; what it throws ends the request. */
  readonly take: (part: Buffer, status: number) => void
  /** After the last part; it throws if that was no answer. */
  readonly end: (status: number) => void
}

/** One of the addresses of a service. */
interface Address {
  readonly pool: Pool
  /** What stands before all paths. */
  readonly prefix: string
}

export type Post = (posted: Posted) => Promise<void>

/** It was not answered in time. What it asked may go on where it was sent. */
export class TooSlow extends Error {}
/** What was answered is no answer of a graph. */
export class NoAnswer extends Error {}

/** `timeMs` is what all tries have together, waiting for a connection and reading included. */
export function posting(urls: readonly string[], timeMs: number): Post {
  let opening: Promise<Address[]> | undefined
  let preferred = 0
  return async (posted) => {
    const addresses = await (opening ??= openAll(urls))
    const untilMs = performance.now() + timeMs
    let failure: unknown
    // A connection may have broken since it was last used, so that one address is tried again too.
    for (let tries = 0; tries <= addresses.length; tries += 1) {
      const at = (preferred + tries) % addresses.length
      try {
        await send(addresses[at]!, posted, untilMs)
        preferred = at
        return
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
async function openAll(urls: readonly string[]): Promise<Address[]> {
  const { Pool } = await import('undici')
  return urls.map((url) => {
    const { origin, pathname } = new URL(url)
    const pool = new Pool(origin, {
      connections: CONNECTIONS_MAX,
      keepAliveTimeout: KEPT_MS,
      // Its times begin anew with each part of an answer; ours is for the whole.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: CONNECT_MS },
    })
    return { pool, prefix: pathname.replace(/\/$/, '') }
  })
}

/** Without the streams that a client would put around a small answer. */
function send({ pool, prefix }: Address, posted: Posted, untilMs: number): Promise<void> {
  const { path, headers } = posted
  return new Promise((resolve, reject) => {
    let status = 0
    let sent: Dispatcher.DispatchController | undefined
    let isOver = false
    const giveUp = () => {
      isOver = true
      reject(new TooSlow())
      sent?.abort(new TooSlow())
    }
    const timer = setTimeout(giveUp, Math.max(1, untilMs - performance.now()))
    pool.dispatch(
      { path: prefix + path, method: 'POST', headers: headers as string[], body: posted.body() },
      {
        onRequestStart(controller) {
          sent = controller
          // It waited for a connection until nobody waited for it.
          if (isOver) controller.abort(new TooSlow())
        },
        onResponseStart: (_controller, statusCode) => void (status = statusCode),
        onResponseData: (_controller, part) => posted.take(part, status),
        onResponseEnd() {
          clearTimeout(timer)
          try {
            posted.end(status)
            resolve()
          } catch (error) {
            reject(error as Error)
          }
        },
        onResponseError(_controller, error) {
          clearTimeout(timer)
          reject(error)
        },
      },
    )
  })
}
