// A database as it is kept, as it is sent and as it is shown. Specification 3, service Q.
import { z } from 'zod'
import { resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { flag, oneOf, optional, tags, text, whole } from '../kernel/shape.ts'

const WORD_MAX = 128
const ID_MAX = 1024

const CREATE_MODES = [
  'Default',
  'Copy',
  'Secondary',
  'PointInTimeRestore',
  'Restore',
  'Recovery',
  'RestoreExternalBackup',
  'RestoreExternalBackupSecondary',
  'RestoreLongTermRetentionBackup',
  'OnlineSecondary',
] as const

export const STATUSES = [
  'Online',
  'Restoring',
  'RecoveryPending',
  'Recovering',
  'Suspect',
  'Offline',
  'Standby',
  'Shutdown',
  'EmergencyMode',
  'AutoClosed',
  'Copying',
  'Creating',
  'Inaccessible',
  'OfflineSecondary',
  'Pausing',
  'Paused',
  'Resuming',
  'Scaling',
  'OfflineChangingDwPerformanceTiers',
  'OnlineChangingDwPerformanceTiers',
  'Disabled',
] as const

export type CreateMode = (typeof CREATE_MODES)[number]
export type Status = (typeof STATUSES)[number]

export interface Sku {
  name: string
  tier: string
  family?: string
  capacity: number
}

/** What a client may set and reads again. */
export interface Settings {
  collation: string
  catalogCollation: 'DATABASE_DEFAULT' | 'SQL_Latin1_General_CP1_CI_AS'
  maxSizeBytes: number
  zoneRedundant: boolean
  readScale: 'Enabled' | 'Disabled'
  licenseType?: 'LicenseIncluded' | 'BasePrice'
  readReplicaCount?: number
  autoPauseDelay?: number
  minCapacity?: number
}

export interface SqlDatabase {
  id: string
  name: string
  type: string
  location: string
  tags?: Record<string, string> | undefined
  kind: string
  /** What was asked for; `currentSku` is what it is. */
  sku: Sku
  properties: Settings & {
    status: Status
    databaseId: string
    creationDate: string
    elasticPoolId?: string
    currentSku: Sku
    currentServiceObjectiveName: string
    requestedServiceObjectiveName: string
    pausedDate?: string
    resumedDate?: string
  }
  held: Held
}

/** What the system has to know of a database and no answer shows. */
export interface Held {
  /** The first moment that a restore can go back to, before retention is considered. */
  restorableFrom: string
  /** Where its content comes from, until it is there. */
  source?: { databaseId: string; version?: number }
  /** The `databaseId` of the primary that it follows. */
  primary?: string
}

const word = text.max(WORD_MAX, `must be at most ${WORD_MAX} characters`)
const reference = text.max(ID_MAX, `must be at most ${ID_MAX} characters`)
// The graph hands over a moment as a date, REST as text.
const moment = z
  .preprocess(
    (value) => (value instanceof Date ? value.toISOString() : value),
    z.iso.datetime({ offset: true, error: 'must be a moment such as 2030-01-01T00:00:00Z' }),
  )
  .meta({ type: 'string', format: 'date-time' })

export const sku = z.object({
  name: word,
  tier: optional(word),
  size: optional(word),
  family: optional(word),
  capacity: optional(whole),
})

const properties = z.object({
  autoPauseDelay: optional(whole),
  catalogCollation: optional(oneOf(['DATABASE_DEFAULT', 'SQL_Latin1_General_CP1_CI_AS'])),
  collation: optional(word.regex(/^[A-Za-z0-9_]+$/, 'must be letters, digits and underscores')),
  createMode: optional(oneOf(CREATE_MODES)),
  elasticPoolId: optional(reference),
  licenseType: optional(oneOf(['LicenseIncluded', 'BasePrice'])),
  longTermRetentionBackupResourceId: optional(reference),
  maxSizeBytes: optional(whole),
  minCapacity: optional(z.number()),
  readReplicaCount: optional(whole),
  readScale: optional(oneOf(['Enabled', 'Disabled'])),
  recoverableDatabaseId: optional(reference),
  recoveryServicesRecoveryPointId: optional(reference),
  restorableDroppedDatabaseId: optional(reference),
  restorePointInTime: optional(moment),
  sampleName: optional(
    oneOf(['AdventureWorksLT', 'WideWorldImportersStd', 'WideWorldImportersFull']),
  ),
  sourceDatabaseDeletionDate: optional(moment),
  sourceDatabaseId: optional(reference),
  zoneRedundant: optional(flag),
})

/** The body of PUT. */
export const database = z.object({
  location: resourceLocation,
  tags: optional(resourceTags),
  sku: optional(sku),
  properties: optional(properties),
})

/** The body of PATCH. A location is read too, so that an attempt to change it is refused. */
export const databasePatch = database.extend({ location: optional(resourceLocation) })

/** The body of a move. */
export const moveDefinition = z.object({ id: reference })

export type SentDatabase = z.output<typeof databasePatch>
export type SentProperties = z.output<typeof properties>
export type SentSku = z.output<typeof sku>

const skuAnswer = z.object({
  name: text,
  tier: text.optional(),
  family: text.optional(),
  capacity: z.int().optional(),
})

export const databaseAnswer = z.object({
  id: text,
  name: text,
  type: text,
  location: text,
  kind: text,
  tags: tags.optional(),
  sku: skuAnswer,
  properties: z.object({
    status: oneOf(STATUSES),
    databaseId: text,
    creationDate: text,
    earliestRestoreDate: text.optional(),
    collation: text,
    catalogCollation: text,
    maxSizeBytes: z.int(),
    zoneRedundant: z.boolean(),
    readScale: oneOf(['Enabled', 'Disabled']),
    licenseType: text.optional(),
    readReplicaCount: z.int().optional(),
    autoPauseDelay: z.int().optional(),
    minCapacity: z.number().optional(),
    elasticPoolId: text.optional(),
    currentSku: skuAnswer,
    currentServiceObjectiveName: text,
    requestedServiceObjectiveName: text,
    pausedDate: text.optional(),
    resumedDate: text.optional(),
  }),
})

export const databaseListAnswer = z.object({
  value: z.array(databaseAnswer),
  nextLink: text.optional(),
})
