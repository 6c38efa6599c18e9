// Many detectors fed with many messages, for volume.test.ts and bench/event-detection.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { createDetectorModel } from '../../resolvers/event-detection/detector-models.ts'
import { createInput } from '../../resolvers/event-detection/inputs.ts'
import { detectors, type Detector } from '../../resolvers/event-detection/instances.ts'
import { detectorModelDefinition } from '../../resolvers/event-detection/shapes.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { noGraph } from '../../resolvers/kernel/graph.ts'
import { perform } from '../../resolvers/kernel/operation.ts'
import { closedOutbound } from '../../resolvers/kernel/outbound.ts'
import { openSecrets } from '../../resolvers/kernel/secrets.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import type { Page, Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/event-detection.ts'
import { operationsOf } from '../../subgraphs/server/graphql.ts'
import { kindsOf, migrationsOf, open } from '../../subgraphs/server/open.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import { people, testCredentials } from '../people.ts'

const BEGIN = '2030-01-01T00:00:00.000Z'
const PAGE = 10_000
const SENDER = join(import.meta.dirname, 'volume-sender.ts')

/** OFF trusts the operating system to write what a killed process handed to it. For tests. */
export type Synchronous = 'FULL' | 'OFF'

export interface Volume {
  readonly keys: number
  /** How many messages each key gets. */
  readonly each: number
  /** How many messages are in one call. */
  readonly inCall: number
  /** How many calls are under way together. Messages of one key are never in two of them. */
  readonly lanes: number
}

/** Opens event detection on a file, as a process of its own would. */
export async function openVolume({
  file,
  synchronous,
}: {
  file: string
  synchronous: Synchronous
}) {
  const [kinds, migrations] = [kindsOf(subgraph), migrationsOf(subgraph)]
  const clock = stillClock(BEGIN)
  const opened = await open(subgraph, {
    store: await openSqlite({ file, kinds, migrations, synchronous }),
    clock,
    wallClock: clock,
    credentials: testCredentials,
    telemetry: openTelemetry(pino({ level: 'error' })),
    outbound: closedOutbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
  })
  const ctx = () => opened.contextFor(people.alice, { address: '', headers: {} })
  return { opened, store: opened.ground.store, ctx, close: () => opened.close() }
}

export type OpenVolume = Awaited<ReturnType<typeof openVolume>>

const NUMBER = '$input.step.number'

/** Counts messages, and those that did not come next after the one before. */
const FOLLOWING = {
  initialStateName: 'early',
  states: [
    {
      stateName: 'early',
      onEnter: {
        events: [{ eventName: 'begin', actions: ['last', 'count', 'wrong'].map(zero) }],
      },
      onInput: {
        events: follow(),
        transitionEvents: [{ eventName: 'age', condition: `${NUMBER} > 5`, nextState: 'late' }],
      },
    },
    { stateName: 'late', onInput: { events: follow() } },
  ],
}

function zero(variableName: string) {
  return { setVariable: { variableName, value: '0' } }
}

function follow() {
  const set = (variableName: string, value: string) => ({ setVariable: { variableName, value } })
  return [
    {
      eventName: 'wrong',
      condition: `${NUMBER} != $variable.last + 1`,
      actions: [set('wrong', '$variable.wrong + 1')],
    },
    {
      eventName: 'follow',
      actions: [set('last', NUMBER), set('count', '$variable.count + 1')],
    },
  ]
}

export async function makeModel({ ctx }: OpenVolume): Promise<void> {
  const attributes = [{ jsonPath: 'key' }, { jsonPath: 'number' }]
  await createInput({ inputName: 'step', inputDefinition: { attributes } }, ctx())
  const definition = detectorModelDefinition.parse(FOLLOWING)
  const model = { detectorModelName: 'following', key: 'key', detectorModelDefinition: definition }
  await createDetectorModel(model, ctx())
}

/** The last message that every key has had. */
export async function progressOf(store: Store): Promise<Map<string, Detector['variables']>> {
  const progress = new Map<string, Detector['variables']>()
  let after: string | undefined
  do {
    const page: Page<Detector> = await store.list(detectors, { after, limit: PAGE })
    for (const { keyValue, variables } of page.items) progress.set(keyValue, variables)
    after = page.next
  } while (after !== undefined)
  return progress
}

/** Sends every key its messages, one after the other, and tells of each call that was acknowledged. */
export async function feed(
  { ctx, store }: OpenVolume,
  { keys, each, inCall, lanes }: Volume,
  acknowledged: (messages: readonly { key: string; number: number }[]) => void = () => {},
): Promise<void> {
  const put = operationsOf(subgraph).find(({ name }) => name === 'batchPutMessage')!
  const before = await progressOf(store)
  const feedLane = async (lane: number) => {
    const own = Array.from({ length: keys }, (_, i) => `key-${i}`).filter(
      (_, i) => i % lanes === lane,
    )
    for (let number = 1; number <= each; number += 1) {
      const due = own.filter((key) => number > Number(before.get(key)?.['last'] ?? 0))
      for (let at = 0; at < due.length; at += inCall) {
        const sent = due.slice(at, at + inCall).map((key) => ({ key, number }))
        const messages = sent.map((payload, i) => ({
          messageId: `m${i}`,
          inputName: 'step',
          payload: Buffer.from(JSON.stringify(payload)).toString('base64'),
        }))
        const answer = (await perform(put, { messages }, ctx())) as any
        if (answer.BatchPutMessageErrorEntries.length > 0) throw new Error(JSON.stringify(answer))
        acknowledged(sent)
      }
    }
  }
  await Promise.all(Array.from({ length: lanes }, (_, lane) => feedLane(lane)))
}

interface CrashingFeed {
  readonly folder: string
  readonly file: string
  readonly synchronous: Synchronous
  readonly volume: Volume
  /** After how many acknowledged messages each process but the last is killed. */
  readonly crashes: readonly number[]
}

/** Feeds in processes that are killed, and returns how far each key was said to be, at any time. */
export async function feedAcrossCrashes(feeding: CrashingFeed): Promise<Map<string, number>> {
  const { folder, file, synchronous, volume, crashes } = feeding
  const saidFile = join(folder, 'acknowledged')
  writeFileSync(saidFile, '')
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') }
  for (const crash of [...crashes, undefined]) {
    const parameters = [file, synchronous, saidFile, JSON.stringify(volume), String(crash ?? 0)]
    const child = spawn(process.execPath, [SENDER, ...parameters], { stdio: 'inherit', env })
    const [code, signal] = await once(child, 'close')
    const isAsMeant = crash ? signal === 'SIGKILL' : code === 0
    if (!isAsMeant) throw new Error(`the sender ended with ${code ?? signal}`)
  }
  const said = new Map<string, number>()
  // The last line of a process may have been cut; what was not said in full was not acknowledged.
  for (const line of readFileSync(saidFile, 'utf8').split('\n').slice(0, -1)) {
    const [key, number] = line.split(' ') as [string, string]
    said.set(key, Math.max(said.get(key) ?? 0, Number(number)))
  }
  return said
}
