// Many jobs in one store, for volume.test.ts and bench/scheduler.ts.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import type { Clock } from '../../resolvers/kernel/clock.ts'
import { perform } from '../../resolvers/kernel/operation.ts'
import { noGraph } from '../../resolvers/kernel/graph.ts'
import type { Outbound } from '../../resolvers/kernel/outbound.ts'
import { openSecrets } from '../../resolvers/kernel/secrets.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import type { Page, Store } from '../../resolvers/kernel/store.ts'
import { history, jobs, type HistoryEntry, type Job } from '../../resolvers/scheduler/kinds.ts'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { operationsOf } from '../../subgraphs/server/graphql.ts'
import { kindsOf, migrationsOf, open } from '../../subgraphs/server/open.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import { people, SUBSCRIPTION, testCredentials } from '../people.ts'

export const BEGIN = '2030-01-01T00:00:00.000Z'
export const END = '2030-01-02T00:10:00.000Z'
const DAY_S = 24 * 60 * 60
const IN_COLLECTION = 1_000
const TOGETHER = 64
const PAGE = 10_000
const RUNNER = join(import.meta.dirname, 'volume-runner.ts')

/** OFF trusts the operating system to write what a killed process handed to it. For tests. */
export type Synchronous = 'FULL' | 'OFF'

interface VolumeOptions {
  readonly file: string
  readonly clock: Clock
  readonly outbound: Outbound
  readonly synchronous: Synchronous
}

/** Opens the scheduler on a file, as a process of its own would. */
export async function openVolume({ file, clock, outbound, synchronous }: VolumeOptions) {
  const [kinds, migrations] = [kindsOf(subgraph), migrationsOf(subgraph)]
  return open(subgraph, {
    store: await openSqlite({ file, kinds, migrations, synchronous }),
    clock,
    wallClock: clock,
    credentials: testCredentials,
    telemetry: openTelemetry(pino({ level: 'error' })),
    outbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
  })
}

/** Puts so many jobs that are to run once, spread over a day, several at the same moment. */
export async function putJobs(
  { contextFor }: Awaited<ReturnType<typeof openVolume>>,
  { count, moments }: { count: number; moments: number },
): Promise<void> {
  const ctx = () => contextFor(people.alice, { address: '', headers: {} })
  const named = (name: string) => operationsOf(subgraph).find((it) => it.name === name)!
  const place = { subscriptionId: SUBSCRIPTION, resourceGroupName: 'Ops' }
  const collectionOf = (n: number) => `volume-${Math.floor(n / IN_COLLECTION)}`
  for (let n = 0; n < count; n += IN_COLLECTION) {
    const jobCollection = { properties: { sku: { name: 'P20Premium' } } }
    const sent = { ...place, jobCollectionName: collectionOf(n), jobCollection }
    await perform(named('putJobCollection'), sent, ctx())
  }
  let next = 0
  const lane = async () => {
    while (next < count) {
      const n = (next += 1) - 1
      const second = Math.floor(((n % moments) * DAY_S) / moments)
      const startTime = new Date(Date.parse(BEGIN) + second * 1_000).toISOString()
      const action = { type: 'Https', request: { uri: 'https://hooks.example/run' } }
      const job = { properties: { startTime, action } }
      const names = { jobCollectionName: collectionOf(n), jobName: `job-${n}` }
      await perform(named('putSchedulerJob'), { ...place, ...names, job }, ctx())
    }
  }
  await Promise.all(Array.from({ length: TOGETHER }, lane))
}

export interface Crash {
  /** After how many calls, or in which one, the process dies. */
  readonly at: number
  readonly where: 'before' | 'after'
}

interface DayOptions {
  /** Where the store is, the file of the calls and what Node has compiled. */
  readonly folder: string
  readonly file: string
  readonly synchronous: Synchronous
  readonly crashes: readonly Crash[]
}

/** Runs the day in processes of which each but the last is killed, and returns the calls made. */
export async function runDay({ folder, file, synchronous, crashes }: DayOptions) {
  const callsFile = join(folder, 'calls')
  writeFileSync(callsFile, '')
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const read = () => readFileSync(callsFile, 'utf8').split('\n').slice(0, -1)
  for (const crash of [...crashes, undefined]) {
    const begin = read().at(-1)?.split(' ')[0] ?? BEGIN
    const place = [file, synchronous, begin, END, callsFile]
    const parameters = [...place, String(crash?.at ?? 0), crash?.where ?? '']
    const child = spawn(process.execPath, [RUNNER, ...parameters], { stdio: 'inherit', env })
    const [code, signal] = await once(child, 'close')
    const isAsMeant = crash ? signal === 'SIGKILL' : code === 0
    if (!isAsMeant) throw new Error(`the runner ended with ${code ?? signal}`)
  }
  return read().map((line) => {
    const [at, job, tag] = line.split(' ') as [string, string, string]
    return { at, job, tag }
  })
}

/** What became of every job, and what history says. */
export async function outcomeOf(store: Store) {
  const outcome = { completed: 0, runs: 0, entries: 0, lateMs: 0 }
  let after: string | undefined
  do {
    const page: Page<Job> = await store.list(jobs, { after, limit: PAGE })
    for (const { properties, counts } of page.items) {
      if (properties.state === 'Completed') outcome.completed += 1
      outcome.runs += counts.executionCount
    }
    after = page.next
  } while (after !== undefined)
  do {
    const page: Page<HistoryEntry> = await store.list(history, { after, limit: PAGE })
    for (const { properties } of page.items) {
      const { endTime, expectedExecutionTime } = properties
      outcome.entries += 1
      const lateMs = Date.parse(endTime) - Date.parse(expectedExecutionTime)
      outcome.lateMs = Math.max(outcome.lateMs, lateMs)
    }
    after = page.next
  } while (after !== undefined)
  return outcome
}
