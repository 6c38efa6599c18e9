// How a database is deleted. Specification 3, service Q.
import { runningOperation } from '../families/arm-operations.ts'
import { armKey } from '../families/arm.ts'
import { checkSubscription, idAt, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { checkIfMatch } from '../kernel/etag.ts'
import { reply } from '../kernel/operation.ts'
import type { Step } from '../kernel/work.ts'
import { forgetUse } from './auto-pause.ts'
import { announce, beginChange, checkIdle, endChange, having, polling, type At } from './changes.ts'
import { blobKeyOf } from './content.ts'
import { keepDropped } from './dropped.ts'
import { DATABASE, databases } from './places.ts'
import { secondariesOf } from './replication.ts'
import type { SqlDatabase, Status } from './shapes.ts'

const REMOVE = 'remove database'
/** Chosen: the word that is nearest, since there is none for a database that is being deleted. */
const LEAVING: Status = 'Shutdown'

/**
 * Removes at once (200) or begins to (202). What is not there needs no removing (204).
 *
 * Chosen: a database that holds something is kept as it was for its retention, so that it can be
 * restored, and that takes time. A secondary, or one in which nothing was ever written, has nothing
 * to keep and goes at once.
 */
export async function remove(input: Input, ctx: Context) {
  const target = armKey({ id: idAt(DATABASE, checkSubscription(input, ctx)) })
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(databases, target)
    if (!before) return reply(204)
    checkIfMatch(ctx.headers['if-match'], before)
    const running = await runningOperation(tx, target)
    // Asking again is answered with the removal that is under way.
    if (running && before.properties.status === LEAVING) {
      return reply(202, null, polling.headers(ctx, running))
    }
    await checkIdle(tx, before)
    const content = await ctx.blobs.latest(tx, blobKeyOf(before))
    if (!content || before.held.primary !== undefined) {
      await ctx.blobs.remove(tx, blobKeyOf(before))
      await drop(before, { tx, ctx })
      return reply(200)
    }
    const { headers } = await beginChange(having(before, { status: LEAVING }), REMOVE, { tx, ctx })
    const { ETag: _gone, ...polled } = headers
    return reply(202, null, polled)
  })
}

/** Takes a database out of the records. Its secondaries are on their own from then on. */
async function drop(database: SqlDatabase, { tx, ctx }: At): Promise<void> {
  for (const secondary of await secondariesOf(tx, database.properties.databaseId)) {
    const { primary: _left, ...held } = secondary.held
    const restorableFrom = ctx.clock.now().toISOString()
    await tx.save(databases, { ...secondary, held: { ...held, restorableFrom } })
  }
  await tx.remove(databases, armKey(database))
  await forgetUse(tx, database)
  await announce('deleted', database, { tx, ctx })
}

const finishRemoval: Step = (ending, ctx) =>
  endChange(ending, ctx, async (database, tx) => {
    await keepDropped(tx, ctx, having(database, { status: 'Online' }))
    await drop(database, { tx, ctx })
    return undefined
  })

export const steps = { [REMOVE]: finishRemoval }
