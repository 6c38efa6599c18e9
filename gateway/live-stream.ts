// One live query: an answer, and another whenever what it read has changed.
import { hash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { Fault } from '../resolvers/kernel/fault.ts'
import type { Change } from '../resolvers/kernel/news.ts'
import type { GatewayContext } from './callers.ts'
import { newReads } from './live-reads.ts'

/** What a client may leave unread before it is cut off. */
const UNREAD_BYTES_MAX = 256 * 1024
/** Changes that are kept while an answer is made. Above that, anything may have changed. */
const HELD_MAX = 100
/** What a client that does not read its end gets of it after this is lost. */
const END_MS = 1_000

export interface Timing {
  /** Changes that come this close together are answered once. */
  readonly gatherMs: number
  /** How long at least from one answer to the next. */
  readonly pauseMs: number
  /** How often a sign of life is sent, and the caller proved. */
  readonly beatMs: number
}

/** An answer as it is sent. */
export interface LiveAnswer {
  readonly text: string
  /** The status for it where nothing was executed. */
  readonly refused?: number
}

export interface StreamOptions {
  readonly response: ServerResponse
  readonly headers: Readonly<Record<string, string>>
  /** Proves the caller, by what the request showed. Throws a fault if it does not hold any more. */
  readonly prove: () => Promise<GatewayContext>
  readonly ask: (context: GatewayContext) => Promise<LiveAnswer>
  /** Runs what costs much, when it is its turn. */
  readonly inTurn: (run: () => Promise<void>) => Promise<void>
  readonly timing: Timing
  /** The number of the last answer that the client has. */
  readonly lastNumber: number
  readonly mistake: (error: unknown) => void
  /** Called once, however it ends. */
  readonly onEnd: () => void
}

export interface Stream {
  /** Sends the first answer; one that was refused is returned, and the stream has ended. */
  begin(context: GatewayContext): Promise<LiveAnswer | undefined>
  changed(change: Change | undefined): void
  beat(): void
  end(code: string, message: string): void
}

export function openStream(options: StreamOptions): Stream {
  const { response, prove, ask, inTurn, timing, mistake } = options
  let reads = newReads()
  // Changes that come while an answer is made, since it may have been read before them.
  let held: (Change | undefined)[] | undefined = []
  let timer: NodeJS.Timeout | undefined
  let answeredMs = 0
  let last = ''
  let number = options.lastNumber
  let isEnded = false
  response.once('close', free)

  function free(): void {
    if (isEnded) return
    isEnded = true
    clearTimeout(timer)
    options.onEnd()
  }

  function write(text: string): void {
    if (isEnded) return
    // A client that does not read gets nothing more; it comes again and has the present answer.
    if (response.writableLength > UNREAD_BYTES_MAX) response.destroy()
    else response.write(text)
  }

  function end(code: string, message: string): void {
    if (isEnded) return
    free()
    if (!response.headersSent) response.writeHead(200, options.headers)
    response.end(`event: complete\ndata: ${JSON.stringify({ code, message })}\n\n`)
    setTimeout(() => response.destroy(), END_MS).unref()
  }

  function endBy(error: unknown): void {
    if (error instanceof Fault) return end(error.code, error.message)
    mistake(error)
    end('INTERNAL_SERVER_ERROR', 'The gateway failed to answer. Connect again.')
  }

  /** Asks with what is held meanwhile compared to what is read now. */
  async function answer(context: GatewayContext): Promise<LiveAnswer> {
    const now = newReads()
    const answered = await ask({ ...context, reads: now })
    reads = now
    answeredMs = performance.now()
    const missed = held!
    held = undefined
    for (const change of missed) changed(change)
    return answered
  }

  function send({ text }: LiveAnswer): void {
    // Answers may be long, and streams many.
    const digest = hash('sha256', text, 'base64')
    if (digest === last) return
    last = digest
    number += 1
    write(`id: ${number}\nevent: next\ndata: ${text}\n\n`)
  }

  async function answerAgain(): Promise<void> {
    if (isEnded) return
    try {
      send(await answer(await prove()))
    } catch (error) {
      endBy(error)
    }
  }

  function changed(change: Change | undefined): void {
    if (isEnded || timer) return
    if (held) {
      if (held.length >= HELD_MAX) held = [undefined]
      held.push(change)
    } else if (!change || reads.areTouchedBy(change)) {
      const restMs = answeredMs + timing.pauseMs - performance.now()
      timer = setTimeout(
        () => {
          timer = undefined
          held = []
          void inTurn(answerAgain)
        },
        Math.max(timing.gatherMs, restMs),
      ).unref()
    }
  }

  return {
    async begin(context) {
      try {
        const first = await answer(context)
        if (isEnded) return undefined
        if (first.refused !== undefined) {
          free()
          return first
        }
        response.writeHead(200, options.headers)
        send(first)
        return undefined
      } catch (error) {
        free()
        throw error
      }
    },
    changed,
    beat() {
      if (!response.headersSent) return
      prove().then(() => write(': keep-alive\n\n'), endBy)
    },
    end,
  }
}
