// Moves the clock of a scheduler's store on and runs what falls due, and may kill itself on the way.
// Run by volume.test.ts and bench/scheduler.ts: file, how it is synchronised, moment to begin at,
// moment to end at, file that takes a line for each call, how many calls until it kills itself, and
// where in that call.
import { openSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { openVolume, type Synchronous } from './volume.ts'
import { advanceTo } from '../../resolvers/kernel/work.ts'

const [file, synchronous, begin, end, callsFile, killAt, killWhere] = process.argv.slice(2)

// Node would keep what it compiled when it exits, which a process that is killed never does.
flushCompileCache()

const clock = stillClock(begin!)
const calls = openSync(callsFile!, 'a')
let made = 0

const die = () => process.kill(process.pid, 'SIGKILL')

const opened = await openVolume({
  file: file!,
  synchronous: synchronous as Synchronous,
  clock,
  outbound: {
    async send({ headers }) {
      made += 1
      const isLast = made === Number(killAt)
      if (isLast && killWhere === 'before') die()
      const { 'x-vendor-scheduler-job-id': job, 'x-vendor-execution-tag': tag } = headers!
      writeSync(calls, `${clock.now().toISOString()} ${job} ${tag}\n`)
      if (isLast) die()
      return { status: 200, headers: {}, body: Buffer.from('') }
    },
  },
})
await advanceTo(new Date(end!), clock, [opened.work])
await opened.close()
