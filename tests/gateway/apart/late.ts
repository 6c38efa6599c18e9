// Stores that take a moment to answer, as those in another process do.
//
// SQLite answers a read at once, so that requests would come one after another however many are sent
// together. Here all reads of one turn of the process are answered in the next, and their requests go
// on at the same moment.
import { setImmediate as immediate } from 'node:timers/promises'
import { READS } from '../../reads.ts'
import type { Whole } from '../whole.ts'

export function makeLate({ polygraph }: Whole): void {
  let turn: Promise<void> | undefined
  const nextTurn = () =>
    (turn ??= immediate().then(() => {
      turn = undefined
    }))
  for (const { ground } of polygraph.services) {
    const store = ground.store as any
    for (const name of READS) {
      const read = store[name].bind(store)
      store[name] = async (...asked: unknown[]) => {
        await nextTurn()
        return read(...asked)
      }
    }
  }
}
