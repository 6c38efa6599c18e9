// How long a query may take. When its time is up it is answered at once, and what was not sent yet is
// not sent any more; what a service is doing already, a mutation among it, goes on there.
import { GraphQLError } from 'graphql'

interface Waiting {
  readonly deadlineMs: number
  readonly giveUp: () => void
}

export interface Deadlines {
  /** Settles as the promise does, or with the reason when the moment comes first. */
  inTime<T>(pending: Promise<T>, deadlineMs: number, reason: () => Error): Promise<T>
}

/** One timer for all queries, since nearly all end long before their time is up. */
export function openDeadlines(): Deadlines {
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined
  let armedMs = Infinity

  function arm(deadlineMs: number): void {
    clearTimeout(timer)
    armedMs = deadlineMs
    // A timer may fire a millisecond early, and the moment must have come.
    const leftMs = Math.ceil(deadlineMs - performance.now()) + 1
    timer = setTimeout(giveUp, Math.max(1, leftMs)).unref()
  }

  function giveUp(): void {
    armedMs = Infinity
    let nextMs = Infinity
    for (const one of waiting) {
      if (isOver(one.deadlineMs)) one.giveUp()
      else nextMs = Math.min(nextMs, one.deadlineMs)
    }
    if (nextMs < Infinity) arm(nextMs)
  }

  return {
    inTime: (pending, deadlineMs, reason) =>
      new Promise((resolve, reject) => {
        const one: Waiting = { deadlineMs, giveUp: () => end(reject, reason()) }
        const end = <V>(settle: (value: V) => void, value: V) => {
          waiting.delete(one)
          settle(value)
        }
        waiting.add(one)
        if (deadlineMs < armedMs) arm(deadlineMs)
        pending.then(
          (value) => end(resolve, value),
          (error: unknown) => end(reject, error),
        )
      }),
  }
}

export const isOver = (deadlineMs: number | undefined): boolean =>
  deadlineMs !== undefined && performance.now() >= deadlineMs

export const timeIsUp = (budgetMs: number): GraphQLError =>
  new GraphQLError(
    `The query took longer than ${budgetMs} ms, which is all that it has, and was given up. ` +
      'Ask for less at a time. A mutation that had begun may still take effect.',
    { extensions: { code: 'QUERY_TIMEOUT', max: budgetMs, http: { status: 504 } } },
  )
