// Posts JSON to the first of a service's addresses that can be reached, over connections that are kept.
import type { Dispatcher, Pool } from 'undici'

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

/** One of the addresses of a service. */
interface Address {
  readonly pool: Pool
  readonly path: string
}

export type Post = (posted: Posted) => Promise<object>

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
        const answer = await send(addresses[at]!, posted, untilMs)
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
    return { pool, path: `${pathname.replace(/\/$/, '')}/graphql` }
  })
}

/** Without the streams that a client would put around a small answer. */
function send(
  { pool, path }: Address,
  { body, headers }: Posted,
  untilMs: number,
): Promise<object> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
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
      { path, method: 'POST', headers: headers as string[], body },
      {
        onRequestStart(controller) {
          sent = controller
          // It waited for a connection until nobody waited for it.
          if (isOver) controller.abort(new TooSlow())
        },
        onResponseStart: (_controller, statusCode) => void (status = statusCode),
        onResponseData: (_controller, part) => void parts.push(part),
        onResponseEnd() {
          clearTimeout(timer)
          try {
            resolve(readAnswer(parts.length === 1 ? parts[0]! : Buffer.concat(parts), status))
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

/** A server that stands between may answer with a page of its own. */
function readAnswer(bytes: Buffer, status: number): object {
  let answer: unknown
  try {
    answer = JSON.parse(bytes.toString())
  } catch {
    throw new NoAnswer(`It answered ${status} with what is no JSON.`)
  }
  if (typeof answer === 'object' && answer !== null && ('data' in answer || 'errors' in answer)) {
    return answer
  }
  throw new NoAnswer(`It answered ${status} with neither data nor errors.`)
}
