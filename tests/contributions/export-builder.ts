// Builds the exports of a file until it kills itself. Run by exports.test.ts and bench/contributions.ts:
// file, how it is synchronised, moment, after how many transactions it dies (0: never), and whether
// before the last of them is committed or after.
import { flushCompileCache } from 'node:module'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { openOnFile } from './archive.ts'

const [file, synchronous, moment, killAt, killWhere] = process.argv.slice(2)

// Node would keep what it compiled when it exits, which a process that is killed never does.
flushCompileCache()

let transactions = 0
const die = () => process.kill(process.pid, 'SIGKILL')

const wrap = (store: Store): Store => ({
  ...store,
  async transaction(step) {
    const isLast = (transactions += 1) === Number(killAt)
    const result = await store.transaction(async (tx) => {
      const result = await step(tx)
      if (isLast && killWhere === 'before') die()
      return result
    })
    if (isLast) die()
    return result
  },
})

const opened = await openOnFile({
  file: file!,
  synchronous: synchronous as 'FULL' | 'OFF',
  clock: stillClock(moment!),
  wrap,
})
await opened.work.runDue()
const peakMb = Math.round(process.resourceUsage().maxRSS / 1024)
await opened.close()
console.log(JSON.stringify({ peakMb }))
