// Exports as tests and benches need them: a service on a file, and an archive that was read.
import { crc32 } from 'node:zlib'
import pino from 'pino'
import yauzl from 'yauzl'
import type { Clock } from '../../resolvers/kernel/clock.ts'
import { noGraph } from '../../resolvers/kernel/graph.ts'
import { closedOutbound } from '../../resolvers/kernel/outbound.ts'
import { openSecrets } from '../../resolvers/kernel/secrets.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/contributions.ts'
import { kindsOf, migrationsOf, open } from '../../subgraphs/server/open.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import { testCredentials } from '../people.ts'

const NOTHING = Buffer.alloc(0)

interface FileOptions {
  readonly file: string
  readonly clock: Clock
  readonly synchronous: 'FULL' | 'OFF'
  readonly wrap?: (store: Store) => Store
}

/** Opens the service on a file, as a process of its own would. */
export async function openOnFile({
  file,
  clock,
  synchronous,
  wrap = (store) => store,
}: FileOptions) {
  const [kinds, migrations] = [kindsOf(subgraph), migrationsOf(subgraph)]
  return open(subgraph, {
    store: wrap(await openSqlite({ file, kinds, migrations, synchronous })),
    clock,
    wallClock: clock,
    credentials: testCredentials,
    telemetry: openTelemetry(pino({ level: 'error' })),
    outbound: closedOutbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
  })
}

interface UnzipOptions {
  /** Which files are read; the others are there without content. */
  readonly isWanted?: (name: string) => boolean
  /** Takes what was read, which is then not kept. */
  readonly onFile?: (name: string, content: Buffer) => void
}

/** The files of an archive by name. Throws when one is damaged, or there twice. */
export async function unzip(
  archive: Buffer | string,
  { isWanted = () => true, onFile }: UnzipOptions = {},
): Promise<Map<string, Buffer>> {
  const options = { lazyEntries: true }
  const zip =
    typeof archive === 'string'
      ? await yauzl.openPromise(archive, options)
      : await yauzl.fromBufferPromise(archive, options)
  const files = new Map<string, Buffer>()
  for await (const entry of zip.eachEntry()) {
    const name = entry.fileName
    if (files.has(name)) throw new Error(`${name} is there twice`)
    files.set(name, NOTHING)
    if (!isWanted(name)) continue
    const parts: Buffer[] = []
    for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer)
    const content = Buffer.concat(parts)
    if (crc32(content) !== entry.crc32) throw new Error(`${name} is damaged`)
    if (onFile) onFile(name, content)
    else files.set(name, content)
  }
  return files
}
