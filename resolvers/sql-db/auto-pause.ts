// Serverless databases, which pause when nobody uses them. Specification 3, service Q.
import { runningOperation } from '../families/arm-operations.ts'
import { armKey } from '../families/arm.ts'
import { kind, type Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { announce, having, type At } from './changes.ts'
import { findById } from './content.ts'
import { NEVER } from './placement.ts'
import { databases } from './places.ts'
import type { SqlDatabase } from './shapes.ts'

const MINUTE_MS = 60_000
const PAUSE = 'pause idle database'

/** When a serverless database was last used. */
interface Use {
  databaseId: string
  usedMs: number
}

const uses = kind<Use>('sql_database_uses', { key: ({ databaseId }) => databaseId })

const delayMsOf = ({ properties }: SqlDatabase): number | undefined => {
  const { autoPauseDelay } = properties
  return autoPauseDelay === undefined || autoPauseDelay === NEVER
    ? undefined
    : autoPauseDelay * MINUTE_MS
}

/** Lets a serverless database pause once nobody has used it for its delay. */
export async function pauseWhenIdle(database: SqlDatabase, { tx, ctx }: At): Promise<void> {
  const delayMs = delayMsOf(database)
  const { databaseId, status } = database.properties
  if (delayMs === undefined || status !== 'Online') return
  await tx.save(uses, { databaseId, usedMs: ctx.clock.now().getTime() })
  await ctx.work.later(tx, delayMs, PAUSE, { databaseId })
}

/** Remembers that a serverless database is used, and resumes one that is paused. */
export async function use(database: SqlDatabase, { tx, ctx }: At): Promise<SqlDatabase> {
  if (database.properties.autoPauseDelay === undefined) return database
  const { databaseId, status } = database.properties
  if (status !== 'Paused') {
    await tx.save(uses, { databaseId, usedMs: ctx.clock.now().getTime() })
    return database
  }
  const resumedDate = ctx.clock.now().toISOString()
  const resumed = having(database, { status: 'Online', resumedDate })
  await tx.save(databases, resumed)
  await announce('changed', resumed, { tx, ctx })
  await pauseWhenIdle(resumed, { tx, ctx })
  return resumed
}

export const forgetUse = (tx: Records, { properties }: SqlDatabase) =>
  tx.remove(uses, properties.databaseId)

const pause: Step = async ({ databaseId }: { databaseId: string }, ctx) => {
  await ctx.store.transaction(async (tx) => {
    const database = await findById(tx, databaseId)
    const delayMs = database && delayMsOf(database)
    // It was deleted, or it does not pause any longer, or it has paused already.
    if (!database || delayMs === undefined || database.properties.status !== 'Online') return
    if (await runningOperation(tx, armKey(database))) return
    const nowMs = ctx.clock.now().getTime()
    const idleMs = nowMs - ((await tx.get(uses, databaseId))?.usedMs ?? 0)
    if (idleMs < delayMs) {
      return ctx.work.later(tx, delayMs - idleMs, PAUSE, { databaseId })
    }
    const pausedDate = ctx.clock.now().toISOString()
    const paused = having(database, { status: 'Paused', pausedDate })
    await tx.save(databases, paused)
    await announce('changed', paused, { tx, ctx })
  })
}

export const kinds = [uses]
export const steps = { [PAUSE]: pause }
