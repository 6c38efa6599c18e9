// How long a query may take. When its time is up it is answered at once, and what was not sent yet is
// not sent any more; what a service is doing already, a mutation among it, goes on there.
import { GraphQLError } from 'graphql'

/** Settles as the promise does, or with the reason when the moment comes first. */
export function inTime<T>(
  pending: Promise<T>,
  deadlineMs: number,
  reason: () => Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    // A timer may fire a millisecond early, and the moment must have come.
    const leftMs = Math.ceil(deadlineMs - performance.now()) + 1
    const timer = setTimeout(() => reject(reason()), leftMs)
    pending.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

export const isOver = (deadlineMs: number | undefined): boolean =>
  deadlineMs !== undefined && performance.now() >= deadlineMs

export const timeIsUp = (budgetMs: number): GraphQLError =>
  new GraphQLError(
    `The query took longer than ${budgetMs} ms, which is all that it has, and was given up. ` +
      'Ask for less at a time. A mutation that had begun may still take effect.',
    { extensions: { code: 'QUERY_TIMEOUT', max: budgetMs, http: { status: 504 } } },
  )
