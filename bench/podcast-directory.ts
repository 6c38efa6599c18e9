// What the benches of the podcast directory stand on: the service alone, with as many demo shows.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { startPostgres } from '../gateway/embedded-postgres.ts'
import { stillClock } from '../resolvers/kernel/clock.ts'
import type { Caller } from '../resolvers/kernel/context.ts'
import { noGraph } from '../resolvers/kernel/graph.ts'
import { perform, Reply } from '../resolvers/kernel/operation.ts'
import { closedOutbound } from '../resolvers/kernel/outbound.ts'
import { openPool } from '../resolvers/kernel/postgres-pool.ts'
import { openSecrets } from '../resolvers/kernel/secrets.ts'
import { openPostgres } from '../resolvers/kernel/store-postgres.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import type { Store } from '../resolvers/kernel/store.ts'
import { subgraph } from '../subgraphs/podcasts.ts'
import { operationsOf } from '../subgraphs/server/graphql.ts'
import { kindsOf, migrationsOf, open, serviceCaller } from '../subgraphs/server/open.ts'
import type { Credentials } from '../subgraphs/server/subgraph.ts'
import { openTelemetry } from '../subgraphs/server/telemetry.ts'

const NOW = '2026-11-01T12:00:00.000Z'
const KEY_BYTES = 32

export type Engine = Store['engine']

export interface Directory {
  readonly engine: Engine
  readonly store: Store
  /** Asks as a person whose key has quota enough. */
  ask(operation: string, sent: object): Promise<any>
  /** Makes the directory as large as this, and returns the seconds that it took. */
  grow(podcasts: number, episodes: number): Promise<number>
  close(): Promise<void>
}

/** Opens the directory that a folder keeps; without a folder, one that is deleted when it closes. */
export async function openDirectory(engine: Engine, kept?: string): Promise<Directory> {
  if (kept !== undefined) await mkdir(kept, { recursive: true })
  const folder = kept ?? (await mkdtemp(join(tmpdir(), 'polygraph-podcasts-')))
  const { store, end } = await openStore(engine, folder)
  const clock = stillClock(NOW)
  const opened = await open(subgraph, {
    store,
    clock,
    wallClock: clock,
    credentials: { byApiKey: async () => person } as unknown as Credentials,
    telemetry: openTelemetry(pino({ level: 'silent' })),
    outbound: closedOutbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(KEY_BYTES),
    secrets: openSecrets(Buffer.alloc(KEY_BYTES)),
  })
  const operations = new Map(operationsOf(subgraph).map((one) => [one.name, one]))
  const request = { address: '', headers: {} }
  const askAs = async (caller: Caller, name: string, sent: object): Promise<any> => {
    const answer = await perform(operations.get(name)!, sent, opened.contextFor(caller, request))
    return answer instanceof Reply ? answer.result : answer
  }
  await askAs(serviceCaller('bench'), 'setPodcastQuota', { key_id: 'key', monthly: 1_000_000_000 })

  return {
    engine,
    store,
    ask: (name, sent) => askAs(person, name, sent),
    async grow(podcasts, episodes) {
      const startMs = performance.now()
      for (;;) {
        const size = { podcasts, episodes }
        const { is_done } = await askAs(serviceCaller('bench'), 'growDemoDirectory', size)
        if (is_done) return (performance.now() - startMs) / 1_000
      }
    },
    async close() {
      await opened.close()
      await end()
      if (kept === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

const person: Caller = {
  kind: 'user',
  userId: 'someone',
  credentialId: 'key',
  accounts: [],
  permissions: ['*'],
  isAdmin: false,
}

async function openStore(
  engine: Engine,
  folder: string,
): Promise<{ store: Store; end: () => Promise<void> }> {
  const made = { kinds: kindsOf(subgraph), migrations: migrationsOf(subgraph) }
  if (engine === 'sqlite') {
    return {
      store: await openSqlite({ ...made, file: join(folder, 'podcasts.db') }),
      end: async () => {},
    }
  }
  const { url, stop } = await startPostgres({ directory: folder })
  const pool = openPool(url)
  const store = await openPostgres({ ...made, pool, schema: 'podcasts' })
  return {
    store,
    async end() {
      await pool.end()
      await stop()
    },
  }
}
