// Many jobs over a day, in processes that are killed: none is lost and none runs twice.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { closedOutbound } from '../../resolvers/kernel/outbound.ts'
import { BEGIN, openVolume, outcomeOf, putJobs, runDay } from './volume.ts'

const TIME_MS_MAX = 120_000

test(
  '2,000 jobs of a day run once each, on time, across three crashes',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'polygraph-volume-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'scheduler.db')
    const synchronous = 'OFF'
    const clock = stillClock(BEGIN)
    const openAt = () => openVolume({ file, synchronous, clock, outbound: closedOutbound })
    const putting = await openAt()
    await putJobs(putting, { count: 2_000, moments: 400 })
    await putting.close()

    // The second of five at one moment, so that some of a batch have run and some have not: killed
    // with the run claimed and not made, and made and not recorded.
    const calls = await runDay({
      folder,
      file,
      synchronous,
      crashes: [
        { at: 502, where: 'before' },
        { at: 503, where: 'after' },
        { at: 501, where: 'after' },
      ],
    })

    const looking = await openAt()
    const outcome = await outcomeOf(looking.ground.store)
    await looking.close()
    const runs = new Set(calls.map(({ job, tag }) => `${job} ${tag}`))
    expect(outcome).toMatchObject({ completed: 2_000, runs: 2_000, entries: 2_000 })
    expect(runs.size).toBe(2_000)
    // Only a call whose outcome died with its process is made again.
    expect(calls).toHaveLength(2_002)
    // What a process had leased when it died waits until the lease has run out.
    expect(outcome.lateMs).toBeLessThanOrEqual(60_000)
  },
  TIME_MS_MAX,
)
