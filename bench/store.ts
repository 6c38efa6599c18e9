// One record read and one record written: SQLite against PostgreSQL, both durable.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../gateway/embedded-postgres.ts'
import { openPool } from '../resolvers/kernel/postgres-pool.ts'
import { openPostgres } from '../resolvers/kernel/store-postgres.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import { kind, textOf, type Store } from '../resolvers/kernel/store.ts'
import { compare, passedTime } from './measure.ts'

const ROUNDS = 7
const RECORDS = 1_000
const READS = { calls: 2_000, together: 1 }
const WRITES = { calls: 500, together: 1 }
const WRITES_TOGETHER = { calls: 2_000, together: 16 }

interface Thing {
  readonly id: string
  readonly colour: string
  readonly note: string
}

const things = kind<Thing>('things', {
  key: ({ id }) => id,
  columns: { colour: textOf(({ colour }) => colour) },
  indexes: [['colour']],
})

const thing = (i: number): Thing => ({
  id: `owner/${i % RECORDS}`,
  colour: i % 2 === 0 ? 'red' : 'blue',
  note: 'x'.repeat(300),
})

export async function benchStore(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  const directory = await mkdtemp(join(tmpdir(), 'polygraph-bench-postgres-'))
  const server = await startPostgres({ directory })
  const pool = openPool(server.url)
  const kinds = [things]
  const sqlite = await openSqlite({ file: join(folder, 'bench.db'), kinds, migrations: [] })
  const postgres = await openPostgres({ pool, schema: 'bench', kinds, migrations: [] })
  for (const store of [sqlite, postgres]) {
    await store.transaction(async (tx) => {
      for (let i = 0; i < RECORDS; i += 1) await tx.insert(things, thing(i))
    })
  }
  const read = (store: Store) => () =>
    passedTime((i) => store.get(things, `owner/${i % RECORDS}`), READS)
  const write = (store: Store, how: typeof WRITES) => () =>
    passedTime((i) => store.save(things, thing(i)), how)

  const results = [
    await compare({
      title: 'store read, time on SQLite against PostgreSQL',
      atMost: 0.5,
      rounds: ROUNDS,
      ours: read(sqlite),
      theirs: read(postgres),
      unit: 'µs',
    }),
    await compare({
      title: 'store write, one after the other, time on SQLite against PostgreSQL',
      atMost: 1.5,
      rounds: ROUNDS,
      ours: write(sqlite, WRITES),
      theirs: write(postgres, WRITES),
      unit: 'µs',
    }),
    await compare({
      title: `store write, ${WRITES_TOGETHER.together} together, time on SQLite against PostgreSQL`,
      atMost: 1,
      rounds: ROUNDS,
      ours: write(sqlite, WRITES_TOGETHER),
      theirs: write(postgres, WRITES_TOGETHER),
      unit: 'µs',
    }),
  ]
  await sqlite.close()
  await postgres.close()
  await pool.end()
  await server.stop()
  for (const used of [folder, directory]) await rm(used, { recursive: true, force: true })
  return results.every(Boolean)
}
