// 10,000 detectors fed 100,000 messages: how fast against bare writes, and whether a crash loses any.
// It takes minutes, and so runs by itself: node bench/event-detection.ts [detectors]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { detectors, type Detector } from '../resolvers/event-detection/instances.ts'
import {
  feed,
  feedAcrossCrashes,
  makeModel,
  openVolume,
  progressOf,
  type Volume,
} from '../tests/event-detection/volume.ts'
import { compare } from './measure.ts'

const DETECTORS = 10_000
const EACH = 10
const LANES = 64
const ROUNDS = 3
const synchronous = 'FULL'

/** How many messages are in a call, and what share of the bare writes a second must be reached. */
const CALLS = [
  { inCall: 1, atLeast: 0.25 },
  { inCall: 10, atLeast: 0.3 },
  { inCall: 100, atLeast: 0.35 },
]

export async function benchEventDetection(keys = DETECTORS): Promise<boolean> {
  const results: boolean[] = []
  for (const { inCall, atLeast } of CALLS) {
    const volume = { keys, each: EACH, inCall, lanes: LANES }
    const isFast = await compare({
      title: `${keys * EACH} messages to ${keys} detectors, ${inCall} in a call, rate against bare writes of as many rows`,
      atLeast,
      rounds: ROUNDS,
      ours: () => inFolder((file) => fedMessages(file, volume)),
      theirs: () => inFolder((file) => bareWrites(file, keys)),
      unit: 'a second',
    })
    results.push(isFast)
  }
  results.push(await crashes(keys))
  return results.every(Boolean)
}

/** How many rows a second the store takes, one in a write, as many together as there are lanes. */
async function bareWrites(file: string, keys: number): Promise<number> {
  const opened = await openVolume({ file, synchronous })
  const row = (key: number, number: number): Detector => ({
    account: '111111111111',
    modelName: 'following',
    version: '1',
    revision: '00000000-0000-7000-8000-000000000000',
    keyValue: `key-${key}`,
    creationTime: '2030-01-01T00:00:00.000Z',
    lastUpdateTime: '2030-01-01T00:00:00.000Z',
    stateName: number > 5 ? 'late' : 'early',
    variables: { last: number, count: number, wrong: 0 },
    timers: {},
  })
  const beganMs = performance.now()
  const lane = async (at: number) => {
    for (let number = 1; number <= EACH; number += 1) {
      for (let key = at; key < keys; key += LANES) {
        await opened.store.save(detectors, row(key, number))
      }
    }
  }
  await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)))
  const seconds = (performance.now() - beganMs) / 1000
  await opened.close()
  return (keys * EACH) / seconds
}

/** How many messages a second are acknowledged, which is when they have been evaluated. */
async function fedMessages(file: string, volume: Volume): Promise<number> {
  const opened = await openVolume({ file, synchronous })
  await makeModel(opened)
  const beganMs = performance.now()
  await feed(opened, volume)
  const seconds = (performance.now() - beganMs) / 1000
  await opened.close()
  return (volume.keys * volume.each) / seconds
}

/** Feeds across three crashes, and looks whether every key had every message once and in order. */
const crashes = (keys: number): Promise<boolean> =>
  inFolder(async (file, folder) => {
    const making = await openVolume({ file, synchronous })
    await makeModel(making)
    await making.close()
    const quarter = Math.floor((keys * EACH) / 4)
    const volume = { keys, each: EACH, inCall: 10, lanes: LANES }
    const said = await feedAcrossCrashes({
      folder,
      file,
      synchronous,
      volume,
      crashes: [quarter, quarter + 1, quarter],
    })
    const looking = await openVolume({ file, synchronous })
    const progress = await progressOf(looking.store)
    await looking.close()
    const all = [...progress.values()]
    const isWhole = (it: Detector['variables']) => it['last'] === EACH && it['count'] === EACH
    const lost = [...said].filter(([key, number]) => Number(progress.get(key)?.['last']) < number)
    const wrong = all.filter((it) => it['wrong'] !== 0).length
    const isGood = all.length === keys && all.every(isWhole) && lost.length === 0 && wrong === 0
    console.log(
      `${isGood ? 'ok    ' : 'MISSED'} across three kills: ${all.filter(isWhole).length} of ${keys} ` +
        `detectors had all ${EACH} messages once, ${wrong} out of order, ${lost.length} lost one`,
    )
    return isGood
  })

async function inFolder<R>(run: (file: string, folder: string) => Promise<R>): Promise<R> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  try {
    return await run(join(folder, 'event-detection.db'), folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  process.exit((await benchEventDetection(Number(process.argv[2] ?? DETECTORS))) ? 0 : 1)
}
