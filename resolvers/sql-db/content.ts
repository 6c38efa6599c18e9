// What a database holds: SQLite, as a blob with its versions. Beside specification 3, service Q.
//
// 1. The content of a database is the blob under its databaseId, so that it stays with it when the
//    database is renamed. A database in which nothing was ever written has none.
// 2. Every change of the content is a version, written in one transaction with what it means for the
//    record.
// 3. Chosen: a database can be restored to the state after any one of its changes, as long as the
//    version is kept: for the retention of its tier, at most VERSIONS_MAX, and at most
//    HISTORY_BYTES_MAX of what the versions differ by. The moment is compared in milliseconds.
import type { BlobVersion } from '../kernel/blobs.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { DatabaseNotOnline, DatabaseReadOnly } from './errors.ts'
import { TIERS, type Tier } from './objectives.ts'
import { databases } from './places.ts'
import { replicateLater } from './replication.ts'
import type { SqlDatabase } from './shapes.ts'

/** How much content is really kept, whatever size was asked for. */
export const CONTENT_BYTES_MAX = 64 * 1024 * 1024
/** What stands for a version where nothing was written yet. */
export const EMPTY = 0
const VERSIONS_MAX = 500
const HISTORY_BYTES_MAX = 256 * 1024 * 1024
const DAY_MS = 24 * 60 * 60 * 1000

export const blobKeyOf = ({ properties }: SqlDatabase): string => properties.databaseId

export const contentMaxOf = ({ properties }: SqlDatabase): number =>
  Math.min(properties.maxSizeBytes, CONTENT_BYTES_MAX)

export const retentionMsOf = ({ sku }: SqlDatabase): number =>
  TIERS[sku.tier as Tier].retentionDays * DAY_MS

/** The earliest moment that a restore can go back to. A secondary has no history of its own. */
export function earliestRestoreOf(database: SqlDatabase, now: Date): Date | undefined {
  const { primary, source, restorableFrom } = database.held
  if (primary !== undefined || source !== undefined) return undefined
  const from = Date.parse(restorableFrom)
  return new Date(Math.max(from, now.getTime() - retentionMsOf(database)))
}

/** Refuses a database whose content cannot be read now. */
export function checkReadable({ name, properties }: SqlDatabase): void {
  // While it scales, a database serves on.
  if (properties.status === 'Online' || properties.status === 'Scaling') return
  throw DatabaseNotOnline(
    properties.status === 'Paused'
      ? `The database ${name} is paused. Resume it first.`
      : `The database ${name} is ${properties.status}. Wait until it is Online.`,
  )
}

/** Refuses a database whose content cannot be changed now. */
export function checkWritable(database: SqlDatabase): void {
  checkReadable(database)
  if (database.held.primary === undefined) return
  throw DatabaseReadOnly(
    `The database ${database.name} is a secondary: it follows its primary and can only be read.`,
  )
}

/**
 * Writes the next version of the content of a database that `tx` read. Returns undefined, and changes
 * nothing, when the content is no longer at the version that the change was made from.
 */
export async function writeContent(
  tx: Records,
  ctx: Context,
  database: SqlDatabase,
  change: { bytes: Uint8Array; from: number | undefined },
): Promise<BlobVersion | undefined> {
  const key = blobKeyOf(database)
  const latest = await ctx.blobs.latest(tx, key)
  if (latest?.version !== change.from) return undefined
  const written = await ctx.blobs.write(tx, key, change.bytes)
  if (written.version === latest?.version) return written
  await trimContent(tx, ctx, database)
  await replicateLater(tx, ctx, database)
  const { id, name, type } = database
  await ctx.events.announce(tx, {
    type: 'sql-db.content.changed',
    subject: id,
    body: { id, name, type, version: written.version, sizeBytes: written.sizeBytes },
  })
  return written
}

async function trimContent(tx: Records, ctx: Context, database: SqlDatabase): Promise<void> {
  const trimmed = await ctx.blobs.trim(tx, blobKeyOf(database), {
    sinceMs: ctx.clock.now().getTime() - retentionMsOf(database),
    versionsMax: VERSIONS_MAX,
    bytesMax: HISTORY_BYTES_MAX,
  })
  if (!trimmed?.isCutShort) return
  const restorableFrom = new Date(trimmed.oldest.timeMs).toISOString()
  await tx.save(databases, { ...database, held: { ...database.held, restorableFrom } })
}

/** The database of this databaseId, wherever it is now and whatever it is called. */
export async function findById(tx: Records, databaseId: string): Promise<SqlDatabase | undefined> {
  const { items } = await tx.list(databases, { where: { databaseId }, limit: 1 })
  return items[0]
}
