// Pausing, resuming and upgrading data warehouses. Specification 3, service Q.
import { runningOperation } from '../families/arm-operations.ts'
import { armKey } from '../families/arm.ts'
import { checkSubscription, idAt, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { checkIfMatch, etagOf } from '../kernel/etag.ts'
import { reply } from '../kernel/operation.ts'
import type { Step } from '../kernel/work.ts'
import { accepted, announce, beginChange, checkIdle, endChange, having } from './changes.ts'
import { DatabaseNotOnline, FeatureNotSupportedForTier } from './errors.ts'
import { objectiveOf } from './objectives.ts'
import { objectivePlacement } from './placement.ts'
import { DATABASE, databases, missing } from './places.ts'
import type { SqlDatabase, Status } from './shapes.ts'

/** A way from one status to another. */
interface Way {
  readonly verb: string
  readonly step: string
  readonly from: Status
  readonly meanwhile: Status
  /** Whether there is nothing to do. */
  readonly isThere: (database: SqlDatabase) => boolean
}

const PAUSE: Way = {
  verb: 'paused',
  step: 'pause database',
  from: 'Online',
  meanwhile: 'Pausing',
  isThere: ({ properties }) => properties.status === 'Paused',
}
const RESUME: Way = {
  verb: 'resumed',
  step: 'resume database',
  from: 'Paused',
  meanwhile: 'Resuming',
  isThere: ({ properties }) => properties.status === 'Online',
}
const UPGRADE: Way = {
  verb: 'upgraded',
  step: 'upgrade data warehouse',
  from: 'Online',
  meanwhile: 'OfflineChangingDwPerformanceTiers',
  isThere: ({ sku }) => objectiveOf(sku.name)?.upgradesTo === undefined,
}

export const pause = (input: Input, ctx: Context) => go(PAUSE, input, ctx)
export const resume = (input: Input, ctx: Context) => go(RESUME, input, ctx)
export const upgrade = (input: Input, ctx: Context) => go(UPGRADE, input, ctx)

/** Begins the way (202), or answers 200 where the database is at its end already. */
async function go(way: Way, input: Input, ctx: Context) {
  const id = idAt(DATABASE, checkSubscription(input, ctx))
  return ctx.store.transaction(async (tx) => {
    const database = await tx.get(databases, armKey({ id }))
    if (!database) throw missing(id)
    checkIfMatch(ctx.headers['if-match'], database)
    const { name, sku, properties } = database
    if (sku.tier !== 'DataWarehouse') {
      throw FeatureNotSupportedForTier(
        `Only data warehouses are ${way.verb}. The database ${name} is of the tier ${sku.tier}.`,
      )
    }
    // Asking again is answered with the change that is under way.
    const running = await runningOperation(tx, armKey(database))
    if (running && properties.status === way.meanwhile) return accepted(database, running, ctx)
    await checkIdle(tx, database)
    if (way.isThere(database)) return reply(200, database, { ETag: etagOf(database) })
    if (properties.status !== way.from) {
      throw DatabaseNotOnline(
        `The database ${name} is ${properties.status}. It is ${way.verb} while it is ${way.from}.`,
      )
    }
    const meanwhile = having(database, { status: way.meanwhile })
    await announce('changed', meanwhile, { tx, ctx })
    return beginChange(meanwhile, way.step, { tx, ctx })
  })
}

const finishPause: Step = (ending, ctx) =>
  endChange(ending, ctx, async (database) => ({
    database: having(database, { status: 'Paused', pausedDate: ctx.clock.now().toISOString() }),
  }))

const finishResume: Step = (ending, ctx) =>
  endChange(ending, ctx, async (database) => ({
    database: having(database, { status: 'Online', resumedDate: ctx.clock.now().toISOString() }),
  }))

const finishUpgrade: Step = (ending, ctx) =>
  endChange(ending, ctx, async (database) => {
    const { upgradesTo } = objectiveOf(database.sku.name)!
    const { sku } = objectivePlacement(objectiveOf(upgradesTo!)!)
    const upgraded = having(database, {
      status: 'Online',
      currentSku: sku,
      currentServiceObjectiveName: sku.name,
      requestedServiceObjectiveName: sku.name,
    })
    return { database: { ...upgraded, sku } }
  })

export const steps = {
  [PAUSE.step]: finishPause,
  [RESUME.step]: finishResume,
  [UPGRADE.step]: finishUpgrade,
}
