// Numbered changes of what is stored, each applied once and recorded in its own transaction.
import type { Dialect, Sql } from './kind-table.ts'
import type { Migration, Records } from './store.ts'

/** Migrations with numbers of their own: a service's, or those of a part of the kernel. */
export interface MigrationSet {
  readonly set: string
  readonly list: readonly Migration[]
}

type InTransaction = <R>(step: (tx: Records, sql: Sql) => Promise<R>) => Promise<R>

/**
 * Applies what is missing, in order. Refuses a database in which something was applied that this
 * code does not know, and a number that was added below one that is applied already.
 */
export async function migrate(
  inTransaction: InTransaction,
  sets: readonly MigrationSet[],
  dialect: Dialect,
): Promise<void> {
  const applied = dialect.table('polygraph_migration')
  const { text, number } = dialect.types
  await inTransaction(async (_tx, sql) => {
    await sql(
      `CREATE TABLE IF NOT EXISTS ${applied} (set_name ${text} NOT NULL, number ${number} NOT NULL,
       name ${text} NOT NULL, PRIMARY KEY (set_name, number))`,
      [],
    )
  })
  checkSets(sets)
  for (const { set, list } of sets) {
    const last = await inTransaction(async (_tx, sql) => checkApplied(sql, applied, { set, list }))
    for (const migration of list.filter(({ number }) => number > last)) {
      await inTransaction((tx, sql) => apply(tx, sql, migration)).catch((cause: unknown) => {
        const name = `${migration.number} (${migration.name}) of ${set}`
        throw new Error(`migration ${name} failed, and left nothing`, { cause })
      })
    }

    async function apply(tx: Records, sql: Sql, { number, name, up }: Migration): Promise<void> {
      // Another process may have been faster.
      const rows = await sql(
        `INSERT INTO ${applied} (set_name, number, name) VALUES (?, ?, ?)
         ON CONFLICT (set_name, number) DO NOTHING RETURNING number`,
        [set, number, name],
      )
      if (rows.length > 0) await up(tx, dialect.engine)
    }
  }
}

function checkSets(sets: readonly MigrationSet[]): void {
  if (new Set(sets.map(({ set }) => set)).size < sets.length) {
    throw new Error('two sets of migrations have the same name')
  }
  for (const { set, list } of sets) {
    const isRising = list.every(({ number }, at) => at === 0 || list[at - 1]!.number < number)
    if (!isRising) throw new Error(`the migrations of ${set} are not in the order of their numbers`)
  }
}

/** Returns the highest number applied. */
async function checkApplied(
  sql: Sql,
  applied: string,
  { set, list }: MigrationSet,
): Promise<number> {
  const rows = await sql(`SELECT number FROM ${applied} WHERE set_name = ?`, [set])
  const numbers = new Set(rows.map((row) => row['number'] as number))
  for (const number of numbers) {
    if (!list.some((migration) => migration.number === number)) {
      throw new Error(`the database has migration ${number} of ${set}, which this code lacks`)
    }
  }
  const last = Math.max(-Infinity, ...numbers)
  const late = list.find(({ number }) => number < last && !numbers.has(number))
  if (late) throw new Error(`migration ${late.number} of ${set} comes too late: ${last} is applied`)
  return last
}
