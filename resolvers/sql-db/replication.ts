// Secondaries, which follow the content of their primary. Beside specification 3, service Q.
//
// Chosen: replication is asynchronous, as between places far apart: a change reaches the secondaries
// FOLLOW_MS after it was committed, as a version of their own.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { databases } from './places.ts'
import type { SqlDatabase } from './shapes.ts'

/** Chosen: as many as the vendor's service allows. */
export const SECONDARIES_MAX = 4
const FOLLOW_MS = 1_000
const FOLLOW = 'follow primary'

/** The secondaries of a database. */
export async function secondariesOf(tx: Records, databaseId: string): Promise<SqlDatabase[]> {
  const page = await tx.list(databases, { where: { primary: databaseId }, limit: SECONDARIES_MAX })
  return page.items
}

/** Lets the secondaries of a database follow the change that `tx` made. */
export async function replicateLater(tx: Records, ctx: Context, database: SqlDatabase) {
  const { databaseId } = database.properties
  const followed = await secondariesOf(tx, databaseId)
  if (followed.length > 0) await ctx.work.later(tx, FOLLOW_MS, FOLLOW, { databaseId })
}

const follow: Step = async ({ databaseId }: { databaseId: string }, ctx) => {
  await ctx.store.transaction(async (tx) => {
    const latest = await ctx.blobs.latest(tx, databaseId)
    // The primary is gone, and its secondaries are on their own.
    if (!latest) return
    for (const { properties, held } of await secondariesOf(tx, databaseId)) {
      // One that is still being made is filled when it is ready.
      if (held.source) continue
      const from = { key: databaseId, version: latest.version }
      await ctx.blobs.copy(tx, from, properties.databaseId)
      await ctx.blobs.trim(tx, properties.databaseId, LATEST_ONLY)
    }
  })
}

// A secondary has no history of its own: its primary has it.
const LATEST_ONLY = { sinceMs: Infinity, versionsMax: 1, bytesMax: Infinity }

export const steps = { [FOLLOW]: follow }
