// Identifiers that sort by the time they were made: UUID version 7.
import { randomUUID } from 'node:crypto'
import type { Clock } from './clock.ts'

const SEQUENCE_MAX = 0xfff
const TAIL_AT = '00000000-0000-0000-'.length

/**
 * Returns a maker of ids. Ids of one maker rise strictly, also within a millisecond, so that a list
 * in id order is a list in the order of making.
 */
export function idMaker(clock: Clock): () => string {
  let lastMs = 0
  let sequence = 0

  return () => {
    const now = clock.now().getTime()
    if (now > lastMs) {
      lastMs = now
      sequence = 0
    } else if (++sequence > SEQUENCE_MAX) {
      lastMs += 1
      sequence = 0
    }
    const time = lastMs.toString(16).padStart(12, '0')
    // The last two groups of a random UUID are what a UUID of version 7 has there too, and Node makes
    // many at a time.
    const tail = randomUUID().slice(TAIL_AT)
    return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${tail}`
  }
}
