// Says something on the output at once, for processes that are killed: what Node has not handed over when
// a process dies was never said.
import { writeSync } from 'node:fs'

const RETRY_MS = 1
const still = new Int32Array(new SharedArrayBuffer(4))

/** The listener may be slow, and the output full. */
export function say(line: string): void {
  let left = Buffer.from(`${line}\n`)
  while (left.length > 0) {
    try {
      left = left.subarray(writeSync(1, left))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(still, 0, 0, RETRY_MS)
    }
  }
}
