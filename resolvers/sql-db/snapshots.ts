// Databases by their id: read, tagged, taken as a whole and put back. Specification 3, service Q.
//
// 1. A database is taken with its content. What it held before is not taken: one that is put back can
//    be restored to moments from then on.
// 2. What is put back is Online, on its own and not a secondary, with a databaseId of its own, since
//    what was deleted may still be kept under the old one.
// 3. Its server must be there, and the pool that it was in, with the names that they had. A copy on
//    another server is in the pool of that name there.
import { armKey } from '../families/arm.ts'
import { checkSubscription, partsOf, resourceTags } from '../families/arm-paths.ts'
import { byId } from '../families/by-id.ts'
import { snapshots, type Restored, type Snapshot } from '../families/snapshots.ts'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import type { Records } from '../kernel/store.ts'
import { pauseWhenIdle } from './auto-pause.ts'
import { announce } from './changes.ts'
import { blobKeyOf } from './content.ts'
import { findOwnDatabase } from './entities.ts'
import { DatabaseNotOnline, ElasticPoolNotFound } from './errors.ts'
import {
  DATABASE,
  DATABASE_TYPE,
  databases,
  elasticPools,
  findServer,
  isDatabaseName,
  missing,
  ownKey,
  POOL,
  type SqlServer,
} from './places.ts'
import type { Settings, SqlDatabase, Status } from './shapes.ts'
import { checkRoom, retag } from './writing.ts'

const TYPE = 'SqlDatabase'

/** While a database is made its content is not there, and while it is deleted it is on its way out. */
const INCOMPLETE: ReadonlySet<Status> = new Set(['Creating', 'Copying', 'Restoring', 'Shutdown'])

interface State extends Pick<SqlDatabase, 'tags' | 'kind' | 'sku'> {
  readonly settings: Settings
  /** The name of the pool that it is in. */
  readonly pool?: string | undefined
}

interface Own {
  readonly creationDate: string
}

const keyOf = (id: string, ctx: Context) => ownKey(DATABASE, id, ctx)

const taken = snapshots({ type: TYPE, kind: databases, keyOf, missing, take, put })

export const operations = [
  ...byId({
    type: TYPE,
    find: (id, ctx) => findOwnDatabase({ id }, ctx),
    tags: { shape: resourceTags, change: retag },
  }),
  ...taken.operations,
]
export const { kinds, steps } = taken

async function take(
  tx: Records,
  key: string,
  ctx: Context,
): Promise<Snapshot<State, Own> | undefined> {
  const database = await tx.get(databases, key)
  if (!database) return undefined
  const { id, name, tags, kind, sku, properties } = database
  if (INCOMPLETE.has(properties.status)) {
    throw DatabaseNotOnline(`The database ${name} is ${properties.status}, and cannot be taken.`)
  }
  const { elasticPoolId, creationDate } = properties
  const pool = elasticPoolId && partsOf(POOL, elasticPoolId)!['elasticPoolName']
  const state = { tags, kind, sku, settings: settingsIn(properties), pool }
  const at = blobKeyOf(database)
  const latest = await ctx.blobs.latest(tx, at)
  const content = latest && (await ctx.blobs.read(tx, at, latest.version))
  return { id, state, own: { creationDate }, content }
}

/** What a client may set, and nothing of what the system does with it. */
function settingsIn(properties: SqlDatabase['properties']): Settings {
  const {
    status: _status,
    databaseId: _databaseId,
    creationDate: _creationDate,
    elasticPoolId: _elasticPoolId,
    currentSku: _currentSku,
    currentServiceObjectiveName: _currentServiceObjectiveName,
    requestedServiceObjectiveName: _requestedServiceObjectiveName,
    pausedDate: _pausedDate,
    resumedDate: _resumedDate,
    ...settings
  } = properties
  return settings
}

async function put(tx: Records, restored: Restored<State, Own>, ctx: Context): Promise<void> {
  const { state, own, isCopy, content } = restored
  const parts = checkSubscription(partsOf(DATABASE, restored.id)!, ctx)
  const name = parts['databaseName']!
  if (!isDatabaseName(name)) throw Invalid(`${name} cannot be the name of a database.`)
  const server = await findServer(tx, parts)
  await checkRoom(name, server, tx)
  const { tags, kind, sku, settings, pool } = state
  const elasticPoolId = pool === undefined ? undefined : await poolOn(server, pool, tx)
  const now = ctx.clock.now().toISOString()
  const database: SqlDatabase = {
    id: isCopy ? `${server.id}/databases/${name}` : restored.id,
    name,
    type: DATABASE_TYPE,
    location: server.location,
    ...(tags && { tags }),
    kind,
    sku,
    properties: {
      ...settings,
      status: 'Online',
      databaseId: ctx.newId(),
      creationDate: isCopy ? now : own!.creationDate,
      ...(elasticPoolId !== undefined && { elasticPoolId }),
      currentSku: sku,
      currentServiceObjectiveName: sku.name,
      requestedServiceObjectiveName: sku.name,
    },
    held: { restorableFrom: now },
  }
  await tx.save(databases, database)
  if (content) await ctx.blobs.write(tx, blobKeyOf(database), content)
  await pauseWhenIdle(database, { tx, ctx })
  await announce('created', database, { tx, ctx })
}

async function poolOn(server: SqlServer, name: string, tx: Records): Promise<string> {
  const id = `${server.id}/elasticPools/${name}`
  const pool = await tx.get(elasticPools, armKey({ id }))
  if (pool) return pool.id
  throw ElasticPoolNotFound(`The database was in the pool ${id}, which is gone. Make it first.`)
}
