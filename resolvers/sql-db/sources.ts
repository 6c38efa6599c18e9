// What a new database is made from: the create modes. Specification 3, service Q.
import { armKey } from '../families/arm.ts'
import { idAt, partsOf } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import type { Kind, Records } from '../kernel/store.ts'
import { blobKeyOf, checkReadable, earliestRestoreOf, EMPTY, retentionMsOf } from './content.ts'
import { droppedIdOf } from './dropped.ts'
import {
  FeatureNotSupportedForTier,
  InvalidRestorePointInTime,
  QuotaExceeded,
  SourceDatabaseNotFound,
  UnsupportedCreateMode,
} from './errors.ts'
import {
  DATABASE,
  databases,
  DROPPED,
  droppedDatabases,
  ownKey,
  RECOVERABLE,
  serverIdOf,
} from './places.ts'
import { SECONDARIES_MAX, secondariesOf } from './replication.ts'
import type { CreateMode, Held, SentProperties, SqlDatabase, Status } from './shapes.ts'

export interface Source {
  /** What the new database is like where nothing else is said. */
  readonly template: SqlDatabase
  readonly status: Status
  readonly held: Pick<Held, 'source' | 'primary'>
}

interface At {
  /** The id that the new database is to have. */
  readonly id: string
  readonly tx: Records
  readonly ctx: Context
}

type Find = (sent: SentProperties, at: At) => Promise<Source>

/** Chosen: nothing here keeps long-term or external backups, so that nothing is restored from them. */
const NOT_KEPT: Find = async ({ createMode }) => {
  throw UnsupportedCreateMode(
    `createMode ${createMode} needs a backup that is kept elsewhere, and none is kept here.`,
  )
}

const SOURCES: Readonly<Record<Exclude<CreateMode, 'Default'>, Find>> = {
  Copy: copyOf,
  Secondary: secondaryOf,
  OnlineSecondary: secondaryOf,
  PointInTimeRestore: restoreOf,
  Restore: restoreDropped,
  Recovery: recoveryOf,
  RestoreExternalBackup: NOT_KEPT,
  RestoreExternalBackupSecondary: NOT_KEPT,
  RestoreLongTermRetentionBackup: NOT_KEPT,
}

/** Undefined for a database that begins empty. */
export async function sourceOf(
  sent: SentProperties | undefined,
  at: At,
): Promise<Source | undefined> {
  if (sent?.sampleName !== undefined) {
    throw UnsupportedCreateMode(`The sample ${sent.sampleName} is not kept here.`)
  }
  const mode = sent?.createMode ?? 'Default'
  return mode === 'Default' ? undefined : SOURCES[mode](sent!, at)
}

/** Chosen: a copy is of the moment at which it is made, and not of that at which it was asked for. */
async function copyOf(sent: SentProperties, at: At): Promise<Source> {
  const template = await findSource(databases, DATABASE, sent.sourceDatabaseId, at)
  checkTier(template, 'Copy')
  checkReadable(template)
  return { template, status: 'Copying', held: { source: { databaseId: blobKeyOf(template) } } }
}

async function secondaryOf(sent: SentProperties, at: At): Promise<Source> {
  const template = await findSource(databases, DATABASE, sent.sourceDatabaseId, at)
  checkTier(template, 'Secondary')
  checkReadable(template)
  const name = partsOf(DATABASE, at.id)!['databaseName']!
  if (template.held.primary !== undefined) {
    throw UnsupportedCreateMode(`${template.name} is a secondary itself. Name its primary.`)
  }
  if (isOnServerOf(template, at) || name.toLowerCase() !== template.name.toLowerCase()) {
    throw UnsupportedCreateMode(
      `A secondary has the name of its primary, ${template.name}, and stands on another server.`,
    )
  }
  const databaseId = blobKeyOf(template)
  if ((await secondariesOf(at.tx, databaseId)).length >= SECONDARIES_MAX) {
    throw QuotaExceeded(`${template.name} has ${SECONDARIES_MAX} secondaries, which is the most.`)
  }
  return { template, status: 'Creating', held: { source: { databaseId }, primary: databaseId } }
}

async function restoreOf(sent: SentProperties, at: At): Promise<Source> {
  const template = await findSource(databases, DATABASE, sent.sourceDatabaseId, at)
  if (sent.restorePointInTime === undefined) {
    throw InvalidRestorePointInTime('restorePointInTime says which moment is to be restored.')
  }
  checkServer(template, at)
  const now = at.ctx.clock.now()
  const moment = new Date(sent.restorePointInTime)
  const earliest = earliestRestoreOf(template, now)
  if (!earliest) {
    throw UnsupportedCreateMode(`${template.name} has no history of its own to restore from.`)
  }
  checkMoment(moment, earliest, now)
  return restoring(template, moment, at)
}

/** Chosen: without restorePointInTime, what the database held when it was deleted. */
async function restoreDropped(sent: SentProperties, at: At): Promise<Source> {
  const dropped = await findSource(droppedDatabases, DROPPED, droppedIdIn(sent), at)
  checkServer(dropped.database, at)
  const deleted = new Date(dropped.deletionDate)
  const moment = sent.restorePointInTime ? new Date(sent.restorePointInTime) : deleted
  const kept = at.ctx.clock.now().getTime() - retentionMsOf(dropped.database)
  const earliest = new Date(Math.max(Date.parse(dropped.restorableFrom), kept))
  if (moment !== deleted) checkMoment(moment, earliest, deleted)
  return restoring(dropped.database, moment, at)
}

/** Chosen: what is recovered is the newest content, since every change is kept when it is made. */
async function recoveryOf(sent: SentProperties, at: At): Promise<Source> {
  const named = sent.recoverableDatabaseId ?? sent.sourceDatabaseId
  const parts = named === undefined ? undefined : partsOf(RECOVERABLE, named)
  const id = parts ? idAt(DATABASE, parts) : named
  const template = await findSource(databases, DATABASE, id, at)
  return restoring(template, at.ctx.clock.now(), at)
}

async function restoring(template: SqlDatabase, moment: Date, { tx, ctx }: At): Promise<Source> {
  const databaseId = blobKeyOf(template)
  const version = await ctx.blobs.at(tx, databaseId, moment)
  // Before the first change it was empty.
  const held = { source: { databaseId, version: version?.version ?? EMPTY } }
  return { template, status: 'Restoring', held }
}

function droppedIdIn(sent: SentProperties): string | undefined {
  const { restorableDroppedDatabaseId, sourceDatabaseId, sourceDatabaseDeletionDate } = sent
  const named = restorableDroppedDatabaseId ?? sourceDatabaseId
  const parts = named === undefined ? undefined : partsOf(DATABASE, named)
  if (!parts) return named
  if (sourceDatabaseDeletionDate === undefined) {
    throw Invalid('sourceDatabaseDeletionDate says which deleted database of that name is meant.')
  }
  return droppedIdOf({ id: named! }, new Date(sourceDatabaseDeletionDate))
}

/** The record that the caller names. Another's is as unknown as nobody's. */
async function findSource<R extends object>(
  kind: Kind<R>,
  path: string,
  id: string | undefined,
  { tx, ctx }: At,
): Promise<R> {
  if (id === undefined) throw Invalid('sourceDatabaseId says what the database is made from.')
  const key = ownKey(path, id, ctx)
  const found = key === undefined ? undefined : await tx.get(kind, key)
  if (found) return found
  throw SourceDatabaseNotFound(`The source ${id} was not found.`, {
    details: { target: 'properties.sourceDatabaseId' },
  })
}

function checkTier({ name, sku }: SqlDatabase, mode: string): void {
  if (sku.tier !== 'DataWarehouse') return
  throw FeatureNotSupportedForTier(`${mode} is not offered for ${name}, which is a data warehouse.`)
}

const isOnServerOf = (template: SqlDatabase, { id }: At): boolean =>
  armKey({ id: serverIdOf(DATABASE, template) }) === armKey({ id: serverIdOf(DATABASE, { id }) })

function checkServer(template: SqlDatabase, at: At): void {
  if (isOnServerOf(template, at)) return
  throw UnsupportedCreateMode(
    `${template.name} is restored to the server that it stands on. Copy it to reach another.`,
  )
}

function checkMoment(moment: Date, earliest: Date, latest: Date): void {
  if (moment >= earliest && moment <= latest) return
  throw InvalidRestorePointInTime(
    `restorePointInTime must be from ${earliest.toISOString()} to ${latest.toISOString()}.`,
    { details: { target: 'properties.restorePointInTime' } },
  )
}
