// What the services of one process stand on, as the configuration says.
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newsInProcess, type News } from '../resolvers/kernel/news.ts'
import type { Store } from '../resolvers/kernel/store.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import { kindsOf, migrationsOf } from '../subgraphs/server/open.ts'
import type { Subgraph } from '../subgraphs/server/subgraph.ts'
import type { Configuration } from './configuration.ts'

const KEY_BYTES = 32

/** Each service has a database of its own: a file, or a schema. */
export async function openStores(
  { databaseUrl, dataFolder }: Configuration,
  onFailure: (error: unknown) => void,
): Promise<{
  open(subgraph: Subgraph): Promise<Store>
  /** What their services announce: in this process, or in all that share the database. */
  readonly news: News
  /** To be called when every store is closed. */
  close(): Promise<void>
}> {
  if (databaseUrl) {
    // The driver is loaded by those alone who use it.
    const { openPool } = await import('../resolvers/kernel/postgres-pool.ts')
    const { openPostgres } = await import('../resolvers/kernel/store-postgres.ts')
    const { newsOverPostgres } = await import('../resolvers/kernel/news-postgres.ts')
    const pool = openPool(databaseUrl)
    const news = newsOverPostgres({ pool, onFailure })
    return {
      news,
      open: (subgraph) =>
        openPostgres({
          pool,
          schema: subgraph.name,
          kinds: kindsOf(subgraph),
          migrations: migrationsOf(subgraph),
        }),
      async close() {
        await news.close()
        await pool.end()
      },
    }
  }
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  return {
    news: newsInProcess(),
    open: (subgraph) =>
      openSqlite({
        file: join(dataFolder, `${subgraph.name}.db`),
        kinds: kindsOf(subgraph),
        migrations: migrationsOf(subgraph),
      }),
    close: async () => {},
  }
}

/** The key from which all others of the installation come: configured, or made at the first start. */
export async function masterKey({ secretKey, dataFolder }: Configuration): Promise<Uint8Array> {
  if (secretKey) return secretKey
  const file = join(dataFolder, 'secret.key')
  await mkdir(dataFolder, { recursive: true, mode: 0o700 })
  try {
    await writeFile(file, randomBytes(KEY_BYTES).toString('base64'), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const key = Buffer.from(await readFile(file, 'utf8'), 'base64')
  if (key.length !== KEY_BYTES) throw new Error(`${file} does not hold a key of ${KEY_BYTES} bytes`)
  return key
}
