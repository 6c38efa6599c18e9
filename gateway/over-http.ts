// A subgraph in a process of its own: a fetch goes over HTTP, with the gateway's note.
import { GraphQLError } from 'graphql'
import { wallClock, type Clock } from '../resolvers/kernel/clock.ts'
import { goOn } from '../resolvers/kernel/soon.ts'
import type { Notes } from '../subgraphs/server/auth/gateway.ts'
import { openBreaker } from './breaker.ts'
import { isMutation, type Answer, type Source } from './executor/source.ts'
import { FETCHES_PATH, readingLines, type FetchedFor, type Lines } from './fetches.ts'
import { NoAnswer, posting, TooSlow, type Post } from './posting.ts'

/** How long a service may take to answer one fetch. */
const FETCH_MS = 10_000
/** How many characters travel together, unless one fetch alone has more. */
const TOGETHER_LENGTH_MAX = 256 * 1024
const HEADERS = ['content-type', 'application/json']

interface HttpOptions {
  readonly name: string
  /** Several addresses of one subgraph stand in for each other. */
  readonly urls: readonly string[]
  readonly fetchMs?: number | undefined
  /** What pauses are measured by, where it is not the time of the world. */
  readonly clock?: Clock
}

export function overHttp(options: HttpOptions & { readonly notes: Notes }): Source {
  const { name, notes } = options
  const send = fetching(postingTo(options))
  return {
    prepare(query) {
      const asked = `"query":${JSON.stringify(query)},"variables":`
      const isRead = !isMutation(query)
      return (variables, { caller, requestId, traceparent }) =>
        goOn(notes.write(caller, name), (note) => {
          const whom = JSON.stringify({ note, requestId, traceparent } satisfies FetchedFor)
          return send(`${whom.slice(0, -1)},${asked}${JSON.stringify(variables)}}`, isRead)
        })
    },
  }
}

/** A fetch that waits for its answer. */
interface Waiting {
  readonly text: string
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** Sends the fetches of one turn together; those that write go alone, since they are not sent again. */
function fetching(post: Post) {
  let waiting: Waiting[] = []
  let length = 0
  function flush(): void {
    if (waiting.length > 0) void postAll(post, waiting, true)
    waiting = []
    length = 0
  }
  return (text: string, isRead: boolean): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const one = { text, resolve, reject }
      if (!isRead) return void postAll(post, [one], false)
      if (length + text.length > TOGETHER_LENGTH_MAX) flush()
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(one)
      length += text.length
    })
}

/** Never fails itself: each fetch learns what became of it. */
async function postAll(post: Post, all: readonly Waiting[], isRead: boolean): Promise<void> {
  const left = new Set(all)
  let sent: Waiting[] = []
  let lines: Lines
  try {
    await post({
      path: FETCHES_PATH,
      headers: HEADERS,
      isRead,
      body() {
        sent = [...left]
        lines = readingLines((line) => {
          const one = sent[line?.index ?? -1]
          if (!one || !isAnswer(line?.answer)) throw new NoAnswer(NO_ANSWER)
          left.delete(one)
          one.resolve(line.answer)
        })
        return `[${sent.map(({ text }) => text).join(',')}]`
      },
      take: (part, status) => inWords(status, () => lines.take(part)),
      end: (status) =>
        inWords(status, () => {
          lines.end()
          if (left.size > 0) throw new NoAnswer(NO_ANSWER)
        }),
    })
  } catch (error) {
    for (const { reject } of left) reject(error)
  }
}

interface Asked {
  readonly query: string
  readonly variables?: object | undefined
}

/** For questions that are not part of a plan. */
export function askOverHttp(options: HttpOptions) {
  const post = postingTo(options)
  return async (asked: Asked, headers: Record<string, string>): Promise<unknown> => {
    let parts: Buffer[] = []
    let answer: unknown
    await post({
      path: '/graphql',
      headers: [...HEADERS, ...Object.entries(headers).flat()],
      isRead: !isMutation(asked.query),
      body() {
        parts = []
        return JSON.stringify(asked)
      },
      take: (part) => void parts.push(part),
      end: (status) =>
        inWords(status, () => {
          answer = JSON.parse(Buffer.concat(parts).toString())
          if (!isAnswer(answer)) throw new NoAnswer(NO_ANSWER)
        }),
    })
    return answer
  }
}

const NO_ANSWER = 'without an answer to what was asked'
const isAnswer = (answer: unknown): answer is Answer =>
  typeof answer === 'object' && answer !== null && ('data' in answer || 'errors' in answer)

/** A server that stands between may answer with a page of its own. */
function inWords(status: number, read: () => void): void {
  try {
    read()
  } catch (error) {
    const what = error instanceof NoAnswer ? error.message : 'with what is no JSON'
    throw new NoAnswer(`It answered ${status} ${what}.`)
  }
}

/** Posts to a service until it does not answer, and after that now and then, to see whether it does. */
function postingTo({ name, urls, fetchMs = FETCH_MS, clock = wallClock }: HttpOptions): Post {
  const post = posting(urls, fetchMs)
  const breaker = openBreaker(clock)
  return async (posted) => {
    const pauseMs = breaker.pauseMs()
    if (pauseMs > 0) {
      const seconds = Math.ceil(pauseMs / 1000)
      throw unavailable(name, `It is asked again in ${seconds} s.`)
    }
    try {
      await post(posted)
      breaker.succeeded()
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
