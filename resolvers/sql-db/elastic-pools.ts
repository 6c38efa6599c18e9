// Elastic pools, made in the graph alone. Specification 3, service Q.
import { z } from 'zod'
import { armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { CannotDeleteResource, InvalidResourceLocation } from '../families/arm-errors.ts'
import {
  paging,
  partsOf,
  plainLocation,
  resourceLocation,
  resourceTags,
} from '../families/arm-paths.ts'
import { operation } from '../kernel/operation.ts'
import { optional } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { ElasticPoolSkuCombinationInvalid, InvalidSkuName, QuotaExceeded } from './errors.ts'
import { poolObjectiveOf, type PoolObjective } from './objectives.ts'
import {
  AREA,
  below,
  databases,
  elasticPools,
  findServer,
  POOL,
  poolKey,
  serverKey,
  VERSION,
  type ElasticPool,
} from './places.ts'
import { sku } from './shapes.ts'

/** Chosen: how many pools a server may have. */
const POOLS_MAX = 100

const parameters = z.object({
  location: resourceLocation,
  tags: optional(resourceTags),
  sku: optional(sku),
})

export const pools = armResource<ElasticPool>({
  type: `${AREA}/servers/elasticPools`,
  path: POOL,
  version: VERSION,
  kind: elasticPools,
  body: 'parameters',
  announces: 'sql-db.pool',
  accept,
  checkRemoval,
})

export const operations = [
  operation({ name: 'putElasticPool', input: { ...poolKey, parameters }, run: pools.put }),
  operation({ name: 'deleteElasticPool', input: poolKey, run: pools.remove }),
  operation({ name: 'elasticPool', input: poolKey, run: pools.get }),
  operation({ name: 'elasticPools', input: { ...serverKey, ...paging }, run: pools.listByGroup }),
]

/** What a pool is. It was checked when the pool was put. */
export const objectiveOfPool = ({ sku }: ElasticPool): PoolObjective => poolObjectiveOf(sku)!

const SMALLEST = { name: 'StandardPool' }

async function accept(
  sent: z.output<typeof parameters>,
  { id, before, tx, ctx }: Acceptance<ElasticPool>,
): Promise<Accepted<ElasticPool>> {
  const server = await findServer(tx, partsOf(POOL, id)!)
  if (plainLocation(sent.location) !== plainLocation(server.location)) {
    throw InvalidResourceLocation(
      `A pool stands where its server stands: ${server.location}, not ${sent.location}.`,
    )
  }
  const objective = poolObjectiveOf(sent.sku ?? before?.sku ?? SMALLEST)
  if (!objective) {
    throw InvalidSkuName(`There is no pool ${sent.sku?.name} of this tier and capacity.`)
  }
  if (before) await checkFit(before, objective, tx)
  else if ((await tx.count(elasticPools, below(server, 'elasticPools'))) >= POOLS_MAX) {
    throw QuotaExceeded(`The server holds ${POOLS_MAX} pools, which is its quota.`)
  }
  const { name, tier, capacity, family } = objective
  const creationDate = before?.properties.creationDate ?? ctx.clock.now().toISOString()
  return {
    location: server.location,
    tags: sent.tags,
    sku: { name, tier, capacity, ...(family && { family }) },
    properties: { state: 'Ready', creationDate },
  }
}

const heldBy = ({ id }: { id: string }, tx: Records) =>
  tx.count(databases, { where: { pool: id.toLowerCase() } })

/** Chosen: the tier of a pool that holds databases stays, since each was made for that tier. */
async function checkFit(pool: ElasticPool, objective: PoolObjective, tx: Records): Promise<void> {
  const held = await heldBy(pool, tx)
  if (held === 0) return
  if (objective.tier !== pool.sku.tier) {
    throw ElasticPoolSkuCombinationInvalid(
      `The pool ${pool.name} holds ${held} databases of the tier ${pool.sku.tier}. Move them out before its tier changes.`,
    )
  }
  if (held > objective.databasesMax) {
    throw ElasticPoolSkuCombinationInvalid(
      `The pool ${pool.name} holds ${held} databases, and one of capacity ${objective.capacity} holds at most ${objective.databasesMax}.`,
    )
  }
}

async function checkRemoval(pool: ElasticPool, tx: Records): Promise<void> {
  const held = await heldBy(pool, tx)
  if (held === 0) return
  throw CannotDeleteResource(
    `The pool ${pool.name} holds ${held} databases. Move them out or delete them first.`,
  )
}
