// Both engines, each with a fresh database for every test that asks for one.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { onTestFinished } from 'vitest'
import type { AnyKind } from '../../resolvers/kernel/kind-table.ts'
import type { MigrationSet } from '../../resolvers/kernel/migrations.ts'
import { openPool } from '../../resolvers/kernel/postgres-pool.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { openPostgres } from '../../resolvers/kernel/store-postgres.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import { postgresUrl } from '../postgres.ts'

export interface Database {
  /** Opens it, and closes it when the test has finished. */
  open(kinds: readonly AnyKind[], migrations?: readonly MigrationSet[]): Promise<Store>
}

interface Engine {
  readonly engine: Store['engine']
  database(): Promise<Database>
}

let pool: Promise<pg.Pool> | undefined

/** The pool of all test files of this process. It ends with the process. */
export function testPool(): Promise<pg.Pool> {
  pool ??= postgresUrl().then((url) => openPool(url))
  return pool
}

/** A schema that is dropped when the test has finished. */
export async function testSchema(): Promise<string> {
  const schema = `test_${randomBytes(6).toString('hex')}`
  const pool = await testPool()
  onTestFinished(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  })
  return schema
}

/** A folder that is deleted when the test has finished. */
export async function testFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export const engines: readonly Engine[] = [
  {
    engine: 'sqlite',
    async database() {
      const file = join(await testFolder(), 'test.db')
      return {
        open: async (kinds, migrations = []) =>
          closing(await openSqlite({ file, kinds, migrations, synchronous: 'OFF' })),
      }
    },
  },
  {
    engine: 'postgres',
    async database() {
      const pool = await testPool()
      const schema = await testSchema()
      return {
        open: async (kinds, migrations = []) =>
          closing(await openPostgres({ pool, schema, kinds, migrations })),
      }
    },
  },
]

function closing(store: Store): Store {
  let isOpen = true
  onTestFinished(async () => {
    if (isOpen) await store.close()
  })
  return {
    ...store,
    async close() {
      isOpen = false
      await store.close()
    },
  }
}
