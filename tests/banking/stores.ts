// The bank's stores on both engines, for tests and benches.
import type pg from 'pg'
import { openPostgres } from '../../resolvers/kernel/store-postgres.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/banking.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'

const kinds = kindsOf(subgraph)
const migrations = migrationsOf(subgraph)

export const openSqliteBank = (
  file: string,
  synchronous: 'FULL' | 'OFF' = 'FULL',
): Promise<Store> => openSqlite({ file, kinds, migrations, synchronous })

export const openPostgresBank = (pool: pg.Pool, schema: string): Promise<Store> =>
  openPostgres({ pool, schema, kinds, migrations })
