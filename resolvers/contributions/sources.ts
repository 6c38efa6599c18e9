// Where lines are read from: from few candidates that an index finds, or on a walk through the list.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import type { SqlRow } from '../kernel/store.ts'
import { conditionsOf, driversOf, sql, type Driver, type Sql } from './conditions.ts'
import type { Filter } from './filters.ts'
import { contributions, type Contribution } from './records.ts'

/** Candidates of whom each is looked at. Where there are more, a walk meets them soon. */
export const CANDIDATES_MAX = 2_000

export const ORDER = 'ORDER BY l.created_ms DESC, l.id DESC'

/** The lines that are meant, as what follows FROM. */
export async function sourceOf(filter: Filter, ctx: Context): Promise<Sql> {
  const driver = await firstWithin(CANDIDATES_MAX, await driversOf(filter), ctx)
  return driver ? drivenBy(driver, filter) : walkOf(filter)
}

/** The candidates come first: a CROSS JOIN is read in the order in which it is written. */
export function drivenBy(driver: Driver, filter: Filter): Sql {
  const { text, values } = joined([sql('l.id = d.id'), ...conditionsOf(filter)])
  return {
    text: `(${driver.text}) AS d CROSS JOIN contribution_line AS l WHERE ${text}`,
    values: [...driver.values, ...values],
  }
}

export function walkOf(filter: Filter): Sql {
  const { text, values } = joined(conditionsOf(filter))
  return { text: `contribution_line AS l WHERE ${text}`, values }
}

export const joined = (conditions: readonly Sql[]): Sql => ({
  text: conditions.map(({ text }) => `(${text})`).join(' AND ') || '1 = 1',
  values: conditions.flatMap(({ values }) => values),
})

/** The first driver that has no more than so many candidates. */
export async function firstWithin(
  max: number,
  drivers: readonly Driver[],
  ctx: Context,
): Promise<Driver | undefined> {
  for (const driver of drivers) {
    const [row] = await ask(
      ctx,
      sql('SELECT count(*) AS candidates FROM (SELECT 1 AS one FROM ('),
      driver,
      sql(') AS d LIMIT ?) AS few', max + 1),
    )
    if (Number(row!['candidates']) <= max) return driver
  }
  return undefined
}

/** Asks the database, in one piece. */
export const ask = (ctx: Context, ...parts: Sql[]): Promise<SqlRow[]> =>
  ctx.store.sql(
    parts.map(({ text }) => text).join(' '),
    parts.flatMap(({ values }) => values),
  )

/** The records of lines, of many lists in one read. One that was deleted in between is left out. */
export async function readAll(ctx: Context, ids: readonly string[]): Promise<Contribution[]> {
  const records = await Promise.all(ids.map((id) => load(ctx, contributions, id)))
  return records.filter(
    (record) => record !== undefined && record.removed === undefined,
  ) as Contribution[]
}
