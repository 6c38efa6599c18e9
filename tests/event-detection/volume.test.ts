// Many detectors fed by processes that are killed: no acknowledged message is lost, and order is kept.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { feedAcrossCrashes, makeModel, openVolume, progressOf } from './volume.ts'

const TIME_MS_MAX = 60_000

test(
  '200 detectors get 2,000 messages, each once and in order, across two crashes',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'polygraph-volume-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const file = join(folder, 'event-detection.db')
    const synchronous = 'OFF'
    const making = await openVolume({ file, synchronous })
    await makeModel(making)
    await making.close()

    const said = await feedAcrossCrashes({
      folder,
      file,
      synchronous,
      volume: { keys: 200, each: 10, inCall: 5, lanes: 8 },
      crashes: [701, 703],
    })

    const looking = await openVolume({ file, synchronous })
    const progress = await progressOf(looking.store)
    await looking.close()
    expect(said.size).toBe(200)
    expect([...said.values()].every((number) => number === 10)).toBe(true)
    expect(progress.size).toBe(200)
    expect(new Set([...progress.values()].map((it) => JSON.stringify(it)))).toEqual(
      new Set(['{"last":10,"count":10,"wrong":0}']),
    )
  },
  TIME_MS_MAX,
)
