// Names of requests, by which an answer and its line in the log are found together.
import { randomBytes } from 'node:crypto'

const PREFIX_BYTES = 8

/** Makes names that no other process makes. They need not sort, so they cost next to nothing. */
export function requestIds(): () => string {
  const prefix = randomBytes(PREFIX_BYTES).toString('hex')
  let made = 0
  return () => `${prefix}-${(made += 1).toString(36)}`
}
