// Fetches for a subgraph in a process of its own: those of one turn travel in one request, whosever they
// are, since HTTP costs more than most of them do.
//
// Each carries the note of its caller and is answered in a line of its own, as soon as its answer is
// known: none waits for another.
import type { ServerResponse } from 'node:http'
import { goOn, type Soon } from '../resolvers/kernel/soon.ts'
import type { Answer, Variables } from './executor/source.ts'

export const FETCHES_PATH = '/graphql/fetches'
const LINES = 'application/x-ndjson'
const NEW_LINE = 0x0a

/** Whom a fetch is for, and what it is part of. */
export interface FetchedFor {
  readonly note: string
  readonly requestId: string
  readonly traceparent?: string | undefined
}

export interface Fetch extends FetchedFor {
  readonly query: string
  readonly variables: Variables
}

interface Line {
  /** Which of the fetches it answers, as they came. */
  readonly index: number
  readonly answer: Answer
}

/** `answer` never fails: what goes wrong is an answer too. */
export function answerFetches(
  fetches: readonly Fetch[],
  response: ServerResponse,
  answer: (fetch: Fetch) => Soon<Answer>,
): void {
  let left = fetches.length
  let text = ''
  const flush = () => {
    if (text !== '') response.write(text)
    text = ''
  }
  // Without its length said, what is known at once goes out whole, and its length with it.
  response.setHeader('content-type', LINES)
  if (left === 0) response.end()
  for (const [index, fetch] of fetches.entries()) {
    void goOn(answer(fetch), (answered) => {
      if (text === '') setImmediate(flush)
      text += `${JSON.stringify({ index, answer: answered } satisfies Line)}\n`
      left -= 1
      if (left > 0) return
      response.end(text)
      text = ''
    })
  }
}

export interface Lines {
  /** A part of what is answered, cut anywhere. */
  take(part: Buffer): void
  /** After the last part. */
  end(): void
}

/** Reads the lines of an answer as they arrive. */
export function readingLines(tell: (line: Partial<Line> | null) => void): Lines {
  let begun: Buffer[] = []
  const tellWhole = (last: Buffer) => {
    const bytes = begun.length > 0 ? Buffer.concat([...begun, last]) : last
    begun = []
    tell(JSON.parse(bytes.toString()))
  }
  return {
    take(part) {
      let from = 0
      for (let to = part.indexOf(NEW_LINE); to !== -1; to = part.indexOf(NEW_LINE, from)) {
        tellWhole(part.subarray(from, to))
        from = to + 1
      }
      if (from < part.length) begun.push(part.subarray(from))
    },
    end() {
      if (begun.length > 0) tellWhole(Buffer.alloc(0))
    },
  }
}
