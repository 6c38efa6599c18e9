// What a database is to be, and whether its tier allows that. Specification 3, service Q.
import { Invalid } from '../kernel/fault.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { objectiveOfPool } from './elastic-pools.ts'
import {
  ElasticPoolNotFound,
  ElasticPoolSkuCombinationInvalid,
  FeatureNotSupportedForTier,
  InvalidMaxSizeTierCombination,
  InvalidSkuName,
  QuotaExceeded,
} from './errors.ts'
import {
  DEFAULT_OBJECTIVE,
  isServerless,
  isSizeOf,
  objectiveOf,
  objectiveOfSku,
  TIERS,
  type Objective,
  type Tier,
} from './objectives.ts'
import { databases, elasticPools, ownKey, POOL, serverIdOf } from './places.ts'
import type { SentDatabase, SentProperties, SentSku, Settings, Sku, SqlDatabase } from './shapes.ts'

const GIB = 1024 ** 3
const IN_POOL = 'ElasticPool'
const COLLATION = 'SQL_Latin1_General_CP1_CI_AS'
const REPLICAS_MAX = 4
const REPLICAS_DEFAULT = 1
const PAUSE_MINUTES_MIN = 60
const PAUSE_MINUTES_MAX = 10_080
/** What a client sends so that a database never pauses by itself. */
export const NEVER = -1

/** Where a database gets what it needs: its own objective, or a pool. */
export interface Placement {
  readonly sku: Sku
  readonly tier: Tier
  readonly kind: string
  readonly maxSizeBytes: number
  readonly defaultSizeBytes: number
  /** Absent in a pool. */
  readonly objective?: Objective
  readonly elasticPoolId?: string
}

const POOLED_DEFAULT_GIB: Partial<Record<Tier, number>> = { Basic: 2, Standard: 250, Premium: 500 }
const CORES_DEFAULT_GIB = 32

/** Who asks, and for which database. */
interface At {
  readonly id: string
  readonly tx: Records
  readonly ctx: Context
}

/**
 * The placement that was asked for. What was not named stays as it is `before`, which for a new
 * database is what it is made from. A sku of its own takes a database out of its pool.
 */
export async function placementOf(
  { sku, properties }: Pick<SentDatabase, 'sku' | 'properties'>,
  before: SqlDatabase | undefined,
  at: At,
): Promise<Placement> {
  const isPooled = sku?.name.toLowerCase() === IN_POOL.toLowerCase()
  const kept = !sku || isPooled ? before?.properties.elasticPoolId : undefined
  const elasticPoolId = properties?.elasticPoolId ?? kept
  if (elasticPoolId === undefined) {
    if (isPooled) {
      throw ElasticPoolSkuCombinationInvalid(
        `The sku ${IN_POOL} needs an elasticPoolId; without a pool, name a sku such as S0.`,
      )
    }
    return ownPlacement(sku, before)
  }
  if (sku && !isPooled) {
    throw ElasticPoolSkuCombinationInvalid(
      `A database is in a pool or has the sku ${sku.name} for itself. Leave out one of them.`,
    )
  }
  return poolPlacement(elasticPoolId, before, at)
}

function ownPlacement(sku: SentSku | undefined, before: SqlDatabase | undefined): Placement {
  const named = sku ?? before?.sku
  const objective = named ? objectiveOfSku(named) : DEFAULT_OBJECTIVE
  const isFamily = !sku?.family || sku.family === objective?.family
  if (!objective || !isFamily) {
    throw InvalidSkuName(
      `There is no service objective ${named!.name} of this tier, family and capacity. The graph lists them: sqlServiceObjectives.`,
    )
  }
  return objectivePlacement(objective)
}

export function objectivePlacement(objective: Objective): Placement {
  const { name, tier, family, capacity, maxSizeBytes, defaultSizeBytes } = objective
  const words = [
    'v12.0,user',
    ...(tier === 'DataWarehouse' ? ['datawarehouse'] : []),
    ...(family ? ['vcore'] : []),
    ...(isServerless(objective) ? ['serverless'] : []),
  ]
  return {
    sku: { name, tier, ...(family && { family }), capacity },
    tier,
    kind: words.join(','),
    maxSizeBytes,
    defaultSizeBytes,
    objective,
  }
}

async function poolPlacement(
  elasticPoolId: string,
  before: SqlDatabase | undefined,
  { id, tx, ctx }: At,
): Promise<Placement> {
  const key = ownKey(POOL, elasticPoolId, ctx)
  const pool = key === undefined ? undefined : await tx.get(elasticPools, key)
  if (!pool) throw ElasticPoolNotFound(`The elastic pool ${elasticPoolId} was not found.`)
  const server = id.slice(0, id.lastIndexOf('/databases/'))
  if (serverIdOf(POOL, pool).toLowerCase() !== server.toLowerCase()) {
    throw ElasticPoolSkuCombinationInvalid(
      `The pool ${pool.name} stands on another server than the database.`,
    )
  }
  const { tier, family, databasesMax, databaseMaxSizeBytes } = objectiveOfPool(pool)
  const isThere = before?.id === id && before.properties.elasticPoolId === pool.id
  const held = await tx.count(databases, { where: { pool: pool.id.toLowerCase() } })
  if (!isThere && held >= databasesMax) {
    throw QuotaExceeded(`The pool ${pool.name} holds ${held} databases, and has room for no more.`)
  }
  return {
    sku: { name: IN_POOL, tier, ...(family && { family }), capacity: 0 },
    tier,
    kind: `v12.0,user${family ? ',vcore' : ''},pool`,
    maxSizeBytes: databaseMaxSizeBytes,
    defaultSizeBytes: (POOLED_DEFAULT_GIB[tier] ?? CORES_DEFAULT_GIB) * GIB,
    elasticPoolId: pool.id,
  }
}

/** Refuses a step between tiers that no database can take. */
export function checkStep(before: SqlDatabase, to: Pick<Placement, 'tier' | 'objective'>): void {
  const { tier, name } = before.sku
  const refuse = (message: string) => {
    throw FeatureNotSupportedForTier(message)
  }
  if (tier !== to.tier) {
    if (tier === 'DataWarehouse' || to.tier === 'DataWarehouse') {
      refuse(`A database cannot change between ${tier} and ${to.tier}. Copy what it holds.`)
    }
    if (tier === 'Hyperscale') refuse('A database stays in the tier Hyperscale once it is there.')
  }
  const from = objectiveOf(name)
  const isFirst = from?.upgradesTo !== undefined
  const isToFirst = to.objective?.upgradesTo !== undefined
  if (tier === 'DataWarehouse' && isFirst !== isToFirst) {
    refuse(
      isFirst
        ? `${name} is of the first generation. upgradeDataWarehouse takes it to the second.`
        : `${name} is of the second generation and cannot go back to the first.`,
    )
  }
}

/** The settings that were asked for; what was not named stays, or is what the tier has. */
export function settingsOf(
  sent: SentProperties | undefined,
  before: SqlDatabase | undefined,
  to: Placement,
): Settings {
  const rules = TIERS[to.tier]
  const kept: Partial<Settings> = before?.properties ?? {}
  const needs = (isThere: boolean, isAsked: boolean, what: string) => {
    if (isAsked && !isThere) {
      throw FeatureNotSupportedForTier(`${what} is not offered for ${to.sku.name} in ${to.tier}.`)
    }
  }
  needs(rules.hasZones, sent?.zoneRedundant === true, 'zoneRedundant')
  needs(rules.hasReadScale, sent?.readScale === 'Enabled', 'readScale')
  needs(rules.hasLicense, sent?.licenseType !== undefined, 'licenseType')
  needs(rules.hasReplicas, sent?.readReplicaCount !== undefined, 'readReplicaCount')
  const hasPause = to.objective !== undefined && isServerless(to.objective)
  needs(hasPause, sent?.autoPauseDelay !== undefined, 'autoPauseDelay')
  needs(hasPause, sent?.minCapacity !== undefined, 'minCapacity')
  const readScale = sent?.readScale ?? kept.readScale ?? 'Disabled'
  return {
    collation: sent?.collation ?? kept.collation ?? COLLATION,
    catalogCollation: sent?.catalogCollation ?? kept.catalogCollation ?? COLLATION,
    maxSizeBytes: sizeOf(sent?.maxSizeBytes, kept.maxSizeBytes, to),
    zoneRedundant: rules.hasZones && (sent?.zoneRedundant ?? kept.zoneRedundant ?? false),
    readScale: rules.hasReadScale ? readScale : 'Disabled',
    ...(rules.hasLicense && {
      licenseType: sent?.licenseType ?? kept.licenseType ?? 'LicenseIncluded',
    }),
    ...(rules.hasReplicas && {
      readReplicaCount: replicasOf(
        sent?.readReplicaCount ?? kept.readReplicaCount ?? REPLICAS_DEFAULT,
      ),
    }),
    ...(hasPause && pauseOf(sent, kept, to.objective!)),
  }
}

function sizeOf(sent: number | undefined, kept: number | undefined, to: Placement): number {
  if (sent === undefined) {
    // A size that the new tier does not have gives way to the usual one there.
    const isKept = kept !== undefined && isSizeOf(to.tier, kept, to.maxSizeBytes)
    return isKept ? kept : to.defaultSizeBytes
  }
  if (isSizeOf(to.tier, sent, to.maxSizeBytes)) return sent
  throw InvalidMaxSizeTierCombination(
    `maxSizeBytes ${sent} is not a size of ${to.sku.name} in ${to.tier}, whose greatest is ${to.maxSizeBytes}.`,
    { details: { target: 'properties.maxSizeBytes' } },
  )
}

function replicasOf(count: number): number {
  if (count >= 0 && count <= REPLICAS_MAX) return count
  throw Invalid(`readReplicaCount must be 0 to ${REPLICAS_MAX}.`)
}

function pauseOf(
  sent: SentProperties | undefined,
  kept: Partial<Settings>,
  { minCapacity: least, capacity }: Objective,
) {
  const autoPauseDelay = sent?.autoPauseDelay ?? kept.autoPauseDelay ?? PAUSE_MINUTES_MIN
  const isDelay = autoPauseDelay >= PAUSE_MINUTES_MIN && autoPauseDelay <= PAUSE_MINUTES_MAX
  if (autoPauseDelay !== NEVER && !isDelay) {
    throw Invalid(
      `autoPauseDelay must be ${NEVER}, or ${PAUSE_MINUTES_MIN} to ${PAUSE_MINUTES_MAX} minutes.`,
    )
  }
  const minCapacity = sent?.minCapacity ?? kept.minCapacity ?? least!
  if (minCapacity < least! || minCapacity > capacity) {
    if (sent?.minCapacity === undefined) return { autoPauseDelay, minCapacity: least! }
    throw Invalid(`minCapacity must be ${least} to ${capacity}.`)
  }
  return { autoPauseDelay, minCapacity }
}
