// Databases that were deleted and can be restored for a while. Beside specification 3, service Q.
import { armKey } from '../families/arm.ts'
import { idAt, partsOf } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { blobKeyOf, retentionMsOf } from './content.ts'
import { DATABASE, DROPPED, droppedDatabases } from './places.ts'
import type { SqlDatabase } from './shapes.ts'

const FORGET = 'forget dropped database'

/** From 1601 to 1970, and the ticks of a millisecond: the vendor's ids count from there. */
const EPOCH_MS = 11_644_473_600_000n
const TICKS_PER_MS = 10_000n

/** The id of a database that was deleted at a moment. */
export function droppedIdOf({ id }: { id: string }, deleted: Date): string {
  const parts = partsOf(DATABASE, id)!
  const ticks = (BigInt(deleted.getTime()) + EPOCH_MS) * TICKS_PER_MS
  return idAt(DROPPED, { ...parts, droppedName: `${parts['databaseName']},${ticks}` })
}

/** Keeps what a database held, until its retention ends. */
export async function keepDropped(tx: Records, ctx: Context, database: SqlDatabase) {
  const deleted = ctx.clock.now()
  const id = droppedIdOf(database, deleted)
  await tx.save(droppedDatabases, {
    id,
    name: partsOf(DROPPED, id)!['droppedName']!,
    location: database.location,
    databaseName: database.name,
    creationDate: database.properties.creationDate,
    deletionDate: deleted.toISOString(),
    restorableFrom: database.held.restorableFrom,
    database,
  })
  await ctx.work.later(tx, retentionMsOf(database), FORGET, { key: armKey({ id }) })
}

const forget: Step = async ({ key }: { key: string }, ctx) => {
  await ctx.store.transaction(async (tx) => {
    const dropped = await tx.get(droppedDatabases, key)
    // This step ran already.
    if (!dropped) return
    await ctx.blobs.remove(tx, blobKeyOf(dropped.database))
    await tx.remove(droppedDatabases, key)
  })
}

export const steps = { [FORGET]: forget }
