// 100,000 jobs due over a day, run on the virtual clock by processes that are killed three times.
// It takes minutes, and so runs by itself: node bench/scheduler.ts [jobs]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stillClock } from '../resolvers/kernel/clock.ts'
import { closedOutbound } from '../resolvers/kernel/outbound.ts'
import { BEGIN, openVolume, outcomeOf, putJobs, runDay } from '../tests/scheduler/volume.ts'

const JOBS = 100_000
const MOMENTS = 50_000
/** A process that dies leaves leases that run out after a minute. */
const LATE_MS_MAX = 60_000

export async function benchScheduler(count = JOBS): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  const file = join(folder, 'scheduler.db')
  const synchronous = 'FULL'
  const openAt = (moment: string) =>
    openVolume({ file, synchronous, clock: stillClock(moment), outbound: closedOutbound })

  const beganPut = performance.now()
  const putting = await openAt(BEGIN)
  await putJobs(putting, { count, moments: Math.min(MOMENTS, count / 2) })
  await putting.close()
  const beganDay = performance.now()
  const quarter = Math.floor(count / 4)
  const calls = await runDay({
    folder,
    file,
    synchronous,
    crashes: [
      { at: quarter, where: 'before' },
      { at: quarter + 1, where: 'after' },
      { at: quarter, where: 'after' },
    ],
  })
  const seconds = (performance.now() - beganDay) / 1_000

  const looking = await openAt(BEGIN)
  const { completed, runs, entries, lateMs } = await outcomeOf(looking.ground.store)
  await looking.close()
  await rm(folder, { recursive: true, force: true })
  const called = new Set(calls.map(({ job, tag }) => `${job} ${tag}`)).size
  const isExact = [completed, runs, entries, called].every((figure) => figure === count)
  const isGood = isExact && lateMs <= LATE_MS_MAX
  const putSeconds = Math.round((beganDay - beganPut) / 1_000)
  console.log(
    `${isGood ? 'ok    ' : 'MISSED'} ${count} jobs over a day with three crashes: ` +
      `${completed} completed, ${runs} runs, ${entries} entries of history, ${calls.length} calls ` +
      `of ${called} runs, at most ${lateMs / 1_000} s late; ${Math.round(seconds)} s on SQLite ` +
      `(${((seconds * 1e6) / count).toFixed(0)} µs a run), put in ${putSeconds} s`,
  )
  return isGood
}

if (import.meta.main) process.exit((await benchScheduler(Number(process.argv[2] ?? JOBS))) ? 0 : 1)
