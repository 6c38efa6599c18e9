// Finds contributions: pages by number, and sums.
//
// 1. What lies in one scope alone is paged by the counts of its buckets, at the same cost everywhere.
// 2. Otherwise an index that finds few candidates is asked, if one of the filters has one; else the
//    list is walked in its order, newest first, until the page is full.
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import type { SqlRow } from '../kernel/store.ts'
import { boundsOf, driversOf, othersOf, sql, type Driver } from './conditions.ts'
import type { Filter } from './filters.ts'
import { EVERYTHING, scopeOf } from './lines.ts'
import type { Contribution } from './records.ts'
import type { Listed, Slice } from './shapes.ts'
import {
  ask,
  CANDIDATES_MAX,
  drivenBy,
  firstWithin,
  joined,
  ORDER,
  readAll,
  sourceOf,
  walkOf,
} from './sources.ts'

/** How far numbered pages go where filters are combined, and how many are looked at to count. */
const DEPTH_MAX = 100_000
const COUNTED_MAX = 10_000
const BUCKETS_AT_ONCE = 256

/** The page of so many after so many, and how many there are in all. */
export async function findPage(
  filter: Filter,
  { offset, limit }: Slice,
  ctx: Context,
): Promise<Listed<Contribution>> {
  const scope = scopeIn(filter)
  if (scope !== undefined) return pageOfScope(filter, scope, { offset, limit }, ctx)
  if (offset > DEPTH_MAX) {
    throw Invalid(`Numbered pages of a filtered list end after ${DEPTH_MAX}. Narrow the filters.`)
  }
  const drivers = await driversOf(filter)
  const driver = await firstWithin(CANDIDATES_MAX, drivers, ctx)
  const rows = await ask(
    ctx,
    sql('SELECT l.id AS id FROM'),
    driver ? drivenBy(driver, filter) : walkOf(filter),
    sql(`${ORDER} LIMIT ? OFFSET ?`, limit, offset),
  )
  const total = await totalOf(filter, driver ? [driver] : drivers, ctx)
  const items = await readAll(ctx, idsOf(rows))
  return total === undefined ? { items } : { items, total }
}

/** How many fit, where that takes no more than looking at so many candidates, or at so many lines. */
async function totalOf(
  filter: Filter,
  drivers: readonly Driver[],
  ctx: Context,
): Promise<number | undefined> {
  const driver = await firstWithin(COUNTED_MAX, drivers, ctx)
  if (driver) {
    const [row] = await ask(ctx, sql('SELECT count(*) AS total FROM'), drivenBy(driver, filter))
    return Number(row!['total'])
  }
  const bounds = joined(boundsOf(filter))
  const others = joined(othersOf(filter))
  const [row] = await ask(
    ctx,
    sql('SELECT count(*) AS seen, sum(CASE WHEN'),
    others,
    sql('THEN 1 ELSE 0 END) AS total FROM (SELECT l.* FROM contribution_line AS l WHERE'),
    bounds,
    sql('LIMIT ?) AS l', COUNTED_MAX + 1),
  )
  return Number(row!['seen']) > COUNTED_MAX ? undefined : Number(row!['total'] ?? 0)
}

export interface Summary {
  readonly contributions: number
  readonly media: number
  readonly totalMediaSize: number
}

/** How many contributions are meant, with how many files of which size. */
export async function sumOf(filter: Filter, ctx: Context): Promise<Summary> {
  const scope = scopeIn(filter)
  const seen = filter.seesAll ? '' : 'public_'
  const rows =
    scope === undefined
      ? await ask(
          ctx,
          sql(`SELECT count(*) AS entries, sum(l.images + l.videos) AS media,
            sum(l.media_bytes) AS bytes FROM`),
          await sourceOf(filter, ctx),
        )
      : await ctx.store.sql(
          `SELECT ${seen}entries AS entries, ${seen}media AS media, ${seen}media_bytes AS bytes
           FROM contribution_total WHERE scope = ?`,
          [scope],
        )
  const figure = (name: string) => Number(rows[0]?.[name] ?? 0)
  return {
    contributions: figure('entries'),
    media: figure('media'),
    totalMediaSize: figure('bytes'),
  }
}

/** The scope, if the filter says no more than that. */
export function scopeIn(filter: Filter): string | undefined {
  const { seesAll: _seesAll, isOther: _isOther, assignment, user, ownedBy, ...others } = filter
  if (Object.keys(others).length > 0) return undefined
  const scopes = [
    ...(assignment === undefined ? [] : [scopeOf.assignment(assignment)]),
    ...(user === undefined ? [] : [scopeOf.user(user)]),
    ...(ownedBy === undefined ? [] : [scopeOf.owner(ownedBy)]),
  ]
  return scopes.length > 1 ? undefined : (scopes[0] ?? EVERYTHING)
}

async function pageOfScope(
  filter: Filter,
  scope: string,
  { offset, limit }: Slice,
  ctx: Context,
): Promise<Listed<Contribution>> {
  const { contributions: total } = await sumOf(filter, ctx)
  if (offset >= total) return { items: [], total }
  const { belowMs, skip } = await bucketOf(filter, scope, offset, ctx)
  const bounded = belowMs === undefined ? filter : { ...filter, belowMs }
  const rows = await ask(
    ctx,
    sql('SELECT l.id AS id FROM'),
    walkOf(bounded),
    sql(`${ORDER} LIMIT ? OFFSET ?`, limit, skip),
  )
  return { items: await readAll(ctx, idsOf(rows)), total }
}

/** The bucket in which the page begins: where it ends, and how many of its lines come before. */
async function bucketOf(
  { seesAll }: Filter,
  scope: string,
  offset: number,
  ctx: Context,
): Promise<{ belowMs?: number; skip: number }> {
  let skip = offset
  let before = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = await ctx.store.sql(
      `SELECT bucket, ${seesAll ? 'entries' : 'public_entries'} AS entries FROM contribution_count
       WHERE scope = ? AND bucket < ? ORDER BY bucket DESC LIMIT ?`,
      [scope, before, BUCKETS_AT_ONCE],
    )
    for (const row of rows) {
      const entries = Number(row['entries'])
      if (entries > skip) return { skip, ...(await endOf(Number(row['bucket']), ctx)) }
      skip -= entries
      before = Number(row['bucket'])
    }
    if (rows.length < BUCKETS_AT_ONCE) return { skip }
  }
}

async function endOf(bucket: number, ctx: Context): Promise<{ belowMs?: number }> {
  const [next] = await ctx.store.sql('SELECT start_ms FROM contribution_bucket WHERE bucket = ?', [
    bucket + 1,
  ])
  return next ? { belowMs: Number(next['start_ms']) } : {}
}

const idsOf = (rows: readonly SqlRow[]): string[] => rows.map((row) => row['id'] as string)
