// What a database goes through after a 202, and how it is polled. Specification 3, service Q.
//
// 1. At most one change of a database is under way. Another is refused until it has ended.
// 2. A change is begun and ended in transactions of its own; the step that ends it names the
//    operation that it ends, so that running twice ends nothing else.
import { armKey } from '../families/arm.ts'
import { AnotherOperationInProgress } from '../families/arm-errors.ts'
import {
  armOperations,
  beginOperation,
  endOperation,
  RETRY,
  runningOperation,
  type ArmOperation,
} from '../families/arm-operations.ts'
import { partsOf, plainLocation } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { etagOf } from '../kernel/etag.ts'
import { reply } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import { earliestRestoreOf } from './content.ts'
import { AREA, DATABASE, databases, VERSION } from './places.ts'
import type { SqlDatabase } from './shapes.ts'

/** How long a change takes. */
const CHANGE_MS = 1_000

export const polling = armOperations({ area: AREA, version: VERSION })

export interface At {
  readonly tx: Records
  readonly ctx: Context
}

/** What the steps of work are handed. */
export interface Ending {
  readonly target: string
  readonly operationId: string
}

/** A database as answers show it. */
export function viewOf({ held, ...shown }: SqlDatabase, { clock }: Pick<Context, 'clock'>) {
  const earliest = earliestRestoreOf({ held, ...shown }, clock.now())
  const { properties } = shown
  return {
    ...shown,
    properties: { ...properties, ...(earliest && { earliestRestoreDate: earliest.toISOString() }) },
  }
}

export const showDatabase = (result: unknown, ctx: Context) => viewOf(result as SqlDatabase, ctx)

/** Refuses while a change is under way. */
export async function checkIdle(tx: Records, database: SqlDatabase): Promise<void> {
  if (!(await runningOperation(tx, armKey(database)))) return
  throw AnotherOperationInProgress(
    `The database ${database.name} is ${database.properties.status}. Wait until that has ended.`,
    { headers: RETRY },
  )
}

/** Saves the database as it is meanwhile, and answers 202 with what to poll. */
export async function beginChange(database: SqlDatabase, step: string, { tx, ctx }: At) {
  await tx.save(databases, database)
  const target = armKey(database)
  const { subscriptionId } = partsOf(DATABASE, database.id)!
  const location = plainLocation(database.location)
  const operation = await beginOperation(tx, ctx, {
    subscriptionId: subscriptionId!,
    location,
    target,
  })
  const ending: Ending = { target, operationId: operation.operationId }
  await ctx.work.later(tx, CHANGE_MS, step, ending)
  return accepted(database, operation, ctx)
}

export const accepted = (database: SqlDatabase, operation: ArmOperation, ctx: Context) =>
  reply(202, database, { ...polling.headers(ctx, operation), ETag: etagOf(database) })

/** What became of a change: the database as it is now, nothing where it is gone, or why it failed. */
export type Outcome =
  | { readonly database: SqlDatabase }
  | { readonly error: { code: string; message: string } }
  | undefined

/** Ends a change. `effect` saves what it changes, but for the database that it returns. */
export async function endChange(
  { target, operationId }: Ending,
  ctx: Context,
  effect: (database: SqlDatabase, tx: Records) => Promise<Outcome>,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const operation = await runningOperation(tx, target)
    // This step ran already.
    if (operation?.operationId !== operationId) return
    const before = await tx.get(databases, target)
    if (!before) throw new Error(`${target} is gone while it changes`)
    const outcome = await effect(before, tx)
    if (outcome && 'database' in outcome) {
      await tx.save(databases, outcome.database)
      await announce('changed', outcome.database, { tx, ctx })
      return endOperation(tx, ctx, operation, { result: viewOf(outcome.database, ctx) })
    }
    await endOperation(tx, ctx, operation, outcome)
  })
}

export async function announce(
  happened: 'created' | 'changed' | 'deleted',
  { id, name, type, properties }: SqlDatabase,
  { tx, ctx }: At,
): Promise<void> {
  const { databaseId, status } = properties
  await ctx.events.announce(tx, {
    type: `sql-db.database.${happened}`,
    subject: id,
    body: { id, name, type, databaseId, status },
  })
}

/** The database with some of its properties changed. */
export const having = (
  database: SqlDatabase,
  properties: Partial<SqlDatabase['properties']>,
): SqlDatabase => ({ ...database, properties: { ...database.properties, ...properties } })
