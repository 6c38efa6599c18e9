// Several operations in one request: so many at most, and measured together before any of them runs.
import { Invalid } from '../resolvers/kernel/fault.ts'

export interface Batch {
  /** Adds what one operation costs. The sum, once all have been measured. */
  add(cost: number): Promise<number>
}

/** Undefined for a body that is no batch. Throws if it has more operations than are allowed. */
export function batchOf(body: unknown, max: number): Batch | undefined {
  // Without batches the server itself says so.
  if (!Array.isArray(body) || max <= 1) return undefined
  if (body.length > max) {
    throw Invalid(
      `The batch has ${body.length} operations, and at most ${max} are allowed. Send several batches.`,
    )
  }
  let waiting = body.length
  let sum = 0
  const { promise, resolve } = Promise.withResolvers<number>()
  return {
    add(cost) {
      sum += cost
      waiting -= 1
      if (waiting === 0) resolve(sum)
      return promise
    },
  }
}
