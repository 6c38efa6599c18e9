// How a database is created and changed: PUT and PATCH. Specification 3, service Q.
import { armKey } from '../families/arm.ts'
import { InvalidResourceLocation, PropertyChangeNotAllowed } from '../families/arm-errors.ts'
import { checkSubscription, idAt, plainLocation, type Input } from '../families/arm-paths.ts'
import type { TagChange } from '../families/by-id.ts'
import type { Context } from '../kernel/context.ts'
import { checkIfMatch, checkIfNoneMatch, etagOf } from '../kernel/etag.ts'
import { reply } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { pauseWhenIdle } from './auto-pause.ts'
import { announce, beginChange, checkIdle, endChange, having, type At } from './changes.ts'
import { blobKeyOf, EMPTY, findById } from './content.ts'
import {
  CannotUseReservedDatabaseName,
  DatabaseAlreadyExists,
  DatabaseNotOnline,
  FeatureNotSupportedForTier,
  QuotaExceeded,
} from './errors.ts'
import { smallestOf, type Tier } from './objectives.ts'
import {
  checkStep,
  objectivePlacement,
  placementOf,
  settingsOf,
  type Placement,
} from './placement.ts'
import {
  below,
  DATABASE,
  DATABASE_TYPE,
  databaseKeyOf,
  databases,
  droppedDatabases,
  findServer,
  isReservedName,
  missing,
  type SqlServer,
} from './places.ts'
import type { SentDatabase, SqlDatabase } from './shapes.ts'
import { sourceOf, type Source } from './sources.ts'

/** Chosen: as many as the vendor's service allows. */
const DATABASES_MAX = 5_000
const CREATE = 'create database'
const SCALE = 'scale database'

/**
 * Creates or changes. What a PUT leaves out stays as it is, but for the tags.
 *
 * Chosen: 201 where the database is there at once, which is an empty one in a pool; 200 for a change
 * that is; 202 where something has to be set aside or copied first.
 */
export async function put(input: Input, ctx: Context) {
  const asked = checkSubscription(input, ctx)
  const sent: SentDatabase = input['parameters']
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(databases, armKey({ id: idAt(DATABASE, asked) }))
    checkIfMatch(ctx.headers['if-match'], before)
    checkIfNoneMatch(ctx.headers['if-none-match'], before)
    const server = await findServer(tx, asked)
    checkLocation(server, sent)
    if (before) return change(before, sent, sent.tags, { tx, ctx })
    return create(`${server.id}/databases/${asked['databaseName']}`, server, sent, { tx, ctx })
  })
}

/** Replaces the tags as a whole where they are sent, and leaves what is not sent. */
export async function patch(input: Input, ctx: Context) {
  const id = idAt(DATABASE, checkSubscription(input, ctx))
  const sent: SentDatabase = input['parameters']
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(databases, armKey({ id }))
    if (!before) throw missing(id)
    checkIfMatch(ctx.headers['if-match'], before)
    checkLocation(before, sent)
    return change(before, sent, sent.tags ?? before.tags, { tx, ctx })
  })
}

/** Changes the tags, as a PATCH of nothing else. */
export async function retag(id: string, to: TagChange, ctx: Context) {
  const key = databaseKeyOf(id, ctx)
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(databases, key)
    if (!before) throw missing(id)
    checkIfMatch(ctx.headers['if-match'], before)
    return change(before, NOTHING, to(before.tags ?? {}), { tx, ctx })
  })
}

const NOTHING: SentDatabase = {
  location: undefined,
  tags: undefined,
  sku: undefined,
  properties: undefined,
}

function checkLocation({ location, name }: SqlServer | SqlDatabase, sent: SentDatabase): void {
  if (!sent.location || plainLocation(sent.location) === plainLocation(location)) return
  throw InvalidResourceLocation(
    `${name} is in '${location}'. What stands on it cannot be in '${sent.location}'.`,
  )
}

async function create(id: string, server: SqlServer, sent: SentDatabase, { tx, ctx }: At) {
  const name = id.slice(id.lastIndexOf('/') + 1)
  await checkRoom(name, server, tx)
  const source = await sourceOf(sent.properties, { id, tx, ctx })
  const template = source && movable(source.template, server)
  const placement = await placementOf(sent, template, { id, tx, ctx })
  if (source && placement.tier !== source.template.sku.tier) checkSource(source, placement)
  const now = ctx.clock.now().toISOString()
  const settings = settingsOf(sent.properties, template, placement)
  const isAtOnce = !source && placement.elasticPoolId !== undefined
  const database: SqlDatabase = {
    id,
    name,
    type: DATABASE_TYPE,
    location: server.location,
    ...(sent.tags && { tags: sent.tags }),
    kind: placement.kind,
    sku: placement.sku,
    properties: {
      status: isAtOnce ? 'Online' : (source?.status ?? 'Creating'),
      databaseId: ctx.newId(),
      creationDate: now,
      ...settings,
      ...placed(placement),
      currentSku: placement.sku,
      currentServiceObjectiveName: placement.sku.name,
    },
    held: { restorableFrom: now, ...source?.held },
  }
  await announce('created', database, { tx, ctx })
  if (!isAtOnce) return beginChange(database, CREATE, { tx, ctx })
  await tx.save(databases, database)
  return reply(201, database, { ETag: etagOf(database) })
}

/** Refuses a name that no database can have, and one database more than a server holds. */
export async function checkRoom(name: string, server: SqlServer, tx: Records): Promise<void> {
  if (isReservedName(name)) {
    throw CannotUseReservedDatabaseName(`A database cannot be called ${name}.`)
  }
  if ((await tx.count(databases, below(server, 'databases'))) < DATABASES_MAX) return
  throw QuotaExceeded(`The server holds ${DATABASES_MAX} databases, which is the most.`)
}

/** What is made on another server cannot be in the pool of the first. */
function movable(template: SqlDatabase, server: SqlServer): SqlDatabase {
  const { elasticPoolId } = template.properties
  if (elasticPoolId?.toLowerCase().startsWith(`${server.id}/`.toLowerCase()) ?? true) {
    return template
  }
  const { elasticPoolId: _left, ...properties } = template.properties
  const { sku } = objectivePlacement(smallestOf(template.sku.tier as Tier))
  return { ...template, sku, properties }
}

function checkSource({ template, held }: Source, { tier }: Placement): void {
  checkStep(template, { tier })
  if (held.primary !== undefined) {
    throw FeatureNotSupportedForTier(
      `A secondary is of the tier of its primary, which is ${template.sku.tier}.`,
    )
  }
}

const placed = ({ sku, elasticPoolId }: Placement) => ({
  requestedServiceObjectiveName: sku.name,
  ...(elasticPoolId !== undefined && { elasticPoolId }),
})

async function change(
  before: SqlDatabase,
  sent: SentDatabase,
  tags: Record<string, string> | undefined,
  { tx, ctx }: At,
) {
  const { id, name } = before
  const mode = sent.properties?.createMode ?? 'Default'
  if (mode !== 'Default') {
    throw DatabaseAlreadyExists(
      `There is a database ${name} already, and ${mode} makes a new one. Choose another name.`,
    )
  }
  await checkIdle(tx, before)
  checkFixed(before, sent)
  const placement = await placementOf(sent, before, { id, tx, ctx })
  checkStep(before, placement)
  const settings = settingsOf(sent.properties, before, placement)
  const { properties, held, location, type } = before
  const { status, databaseId, creationDate, pausedDate, resumedDate } = properties
  const after: SqlDatabase = {
    id,
    name,
    type,
    location,
    ...(tags && { tags }),
    kind: placement.kind,
    sku: placement.sku,
    properties: {
      status,
      databaseId,
      creationDate,
      ...settings,
      ...placed(placement),
      currentSku: properties.currentSku,
      currentServiceObjectiveName: properties.currentServiceObjectiveName,
      ...(pausedDate && { pausedDate }),
      ...(resumedDate && { resumedDate }),
    },
    held,
  }
  await announce('changed', after, { tx, ctx })
  if (!needsScaling(before, after)) {
    await tx.save(databases, after)
    await pauseWhenIdle(after, { tx, ctx })
    return reply(200, after, { ETag: etagOf(after) })
  }
  if (status !== 'Online') {
    throw DatabaseNotOnline(`The database ${name} is ${status}. It changes while it is Online.`)
  }
  return beginChange(having(after, { status: 'Scaling' }), SCALE, { tx, ctx })
}

/** Whether a change sets aside other resources than the database has. */
function needsScaling(before: SqlDatabase, after: SqlDatabase): boolean {
  const asText = ({ sku, properties }: SqlDatabase) =>
    JSON.stringify([
      sku.name,
      sku.tier,
      properties.elasticPoolId?.toLowerCase(),
      properties.zoneRedundant,
      properties.readReplicaCount,
    ])
  return asText(before) !== asText(after)
}

function checkFixed({ name, properties }: SqlDatabase, sent: SentDatabase): void {
  for (const field of ['collation', 'catalogCollation'] as const) {
    const asked = sent.properties?.[field]
    if (asked === undefined || asked === properties[field]) continue
    const target = `properties.${field}`
    throw PropertyChangeNotAllowed(
      `${target} of ${name} cannot be changed. Create another database with it.`,
      { details: { target } },
    )
  }
}

const finishCreation: Step = (ending, ctx) =>
  endChange(ending, ctx, async (database, tx) => {
    const { source: _used, ...held } = database.held
    if (!(await fillFromSource(database, { tx, ctx }))) {
      // A database that could not be filled is not left behind empty.
      await tx.remove(databases, armKey(database))
      await announce('deleted', database, { tx, ctx })
      const message = `What ${database.name} was to be made from is gone.`
      return { error: { code: 'SourceDatabaseNotFound', message } }
    }
    const restorableFrom = ctx.clock.now().toISOString()
    const ready = having({ ...database, held: { ...held, restorableFrom } }, { status: 'Online' })
    await pauseWhenIdle(ready, { tx, ctx })
    return { database: ready }
  })

/** Returns false, and changes nothing, when what the database is made from is gone. */
async function fillFromSource(database: SqlDatabase, { tx, ctx }: At): Promise<boolean> {
  const { source } = database.held
  if (!source) return true
  const { databaseId: key } = source
  const dropped = await tx.count(droppedDatabases, { where: { databaseId: key } })
  if (dropped === 0 && !(await findById(tx, key))) return false
  const version = source.version ?? (await ctx.blobs.latest(tx, key))?.version ?? EMPTY
  if (version === EMPTY) return true
  return (await ctx.blobs.copy(tx, { key, version }, blobKeyOf(database))) !== undefined
}

const finishScaling: Step = (ending, ctx) =>
  endChange(ending, ctx, async (database, tx) => {
    const { sku, properties } = database
    const scaled = having(database, {
      status: 'Online',
      currentSku: sku,
      currentServiceObjectiveName: properties.requestedServiceObjectiveName,
    })
    await pauseWhenIdle(scaled, { tx, ctx })
    return { database: scaled }
  })

export const steps = { [CREATE]: finishCreation, [SCALE]: finishScaling }
