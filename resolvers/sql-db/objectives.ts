// What a database can be: its tiers, service objectives and sizes. Specification 3, service Q.
//
// Chosen: the specification has no numbers. These follow what the vendor's service offered around this
// version, as far as it is known; its limits changed over time, and it is not the authority here.

const MIB = 1024 ** 2
const GIB = 1024 ** 3
const TIB = 1024 ** 4

export type Tier =
  | 'Basic'
  | 'Standard'
  | 'Premium'
  | 'GeneralPurpose'
  | 'BusinessCritical'
  | 'Hyperscale'
  | 'DataWarehouse'

export interface Objective {
  /** The name that a sku and a service objective have. */
  readonly name: string
  readonly tier: Tier
  /** The hardware, where one is chosen. */
  readonly family?: string
  /** Transaction units, cores or warehouse units. */
  readonly capacity: number
  readonly maxSizeBytes: number
  readonly defaultSizeBytes: number
  /** The least capacity of a database that scales and pauses by itself. */
  readonly minCapacity?: number
  /** What a warehouse of the first generation becomes. */
  readonly upgradesTo?: string
}

/** What a tier allows. */
export interface TierRules {
  readonly retentionDays: number
  readonly hasZones: boolean
  readonly hasReadScale: boolean
  readonly hasLicense: boolean
  readonly hasReplicas: boolean
  /** The sizes to choose from. Without them, any whole number of GiB. */
  readonly sizes?: readonly number[]
}

const SMALL = [100 * MIB, 250 * MIB, 500 * MIB, ...[1, 2].map((size) => size * GIB)]
const MIDDLE = [
  ...SMALL,
  ...[5, 10, 20, 30, 40, 50, 100, 150, 200, 250, 300, 400, 500, 750, 1024].map((n) => n * GIB),
]
const LARGE = [...MIDDLE, ...Array.from({ length: 12 }, (_, n) => (5 + n) * 256 * GIB)]
const WAREHOUSE = [250, 500, 750, 1024, 5 * 1024, 10 * 1024]
  .map((n) => n * GIB)
  .concat([20, 30, 40, 50, 60, 80, 100, 120, 160, 200, 240].map((n) => n * TIB))

const NOTHING = { hasZones: false, hasReadScale: false, hasLicense: false, hasReplicas: false }

export const TIERS: Readonly<Record<Tier, TierRules>> = {
  Basic: { ...NOTHING, retentionDays: 7, sizes: SMALL },
  Standard: { ...NOTHING, retentionDays: 35, sizes: MIDDLE },
  Premium: { ...NOTHING, retentionDays: 35, hasZones: true, hasReadScale: true, sizes: LARGE },
  GeneralPurpose: { ...NOTHING, retentionDays: 7, hasLicense: true },
  BusinessCritical: {
    ...NOTHING,
    retentionDays: 7,
    hasZones: true,
    hasReadScale: true,
    hasLicense: true,
  },
  Hyperscale: {
    ...NOTHING,
    retentionDays: 7,
    hasReadScale: true,
    hasLicense: true,
    hasReplicas: true,
  },
  DataWarehouse: { ...NOTHING, retentionDays: 7, sizes: WAREHOUSE },
}

/** Name, capacity, and the greatest and the usual size in GiB. */
type Row = readonly [name: string, capacity: number, maxGib: number, defaultGib: number]

const rows = (tier: Tier, table: readonly Row[]): Objective[] =>
  table.map(([name, capacity, max, usual]) => ({
    name,
    tier,
    capacity,
    maxSizeBytes: max * GIB,
    defaultSizeBytes: usual * GIB,
  }))

/** Cores, and the greatest size in GiB. */
type CoreRow = readonly [cores: number, maxGib: number]

const CORES_DEFAULT_GIB = 32

const cores = (tier: Tier, prefix: string, family: string, table: readonly CoreRow[]) =>
  table.map(([capacity, max]): Objective => ({
    name: `${prefix}_${family}_${capacity}`,
    tier,
    family,
    capacity,
    maxSizeBytes: max * GIB,
    defaultSizeBytes: CORES_DEFAULT_GIB * GIB,
  }))

const GEN4 = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 16, 24]
const GEN5: readonly CoreRow[] = [
  [2, 1024],
  [4, 1024],
  [6, 1536],
  [8, 1536],
  [10, 1536],
  [12, 3072],
  [14, 3072],
  [16, 3072],
  [18, 3072],
  [20, 3072],
  [24, 4096],
  [32, 4096],
  [40, 4096],
  [80, 4096],
]
const gen4Gib = (n: number) => (n <= 3 ? 1024 : n <= 7 ? 1536 : n <= 10 ? 3072 : 4096)
const HYPERSCALE_GIB = 100 * 1024
const WAREHOUSE_GIB = 240 * 1024
const WAREHOUSE_DEFAULT_GIB = 10 * 1024

/** Cores, the least of them, and the greatest size in GiB. */
const SERVERLESS = [
  [1, 0.5, 512],
  [2, 0.5, 1024],
  [4, 0.5, 1024],
  [6, 0.75, 1024],
  [8, 1, 1536],
  [10, 1.25, 1536],
  [12, 1.5, 3072],
  [14, 1.75, 3072],
  [16, 2, 3072],
] as const

/** Warehouses of the first generation, and what each becomes. */
const FIRST_GENERATION = [
  [100, 100],
  [200, 200],
  [300, 300],
  [400, 400],
  [500, 500],
  [600, 500],
  [1000, 1000],
  [1200, 1000],
  [1500, 1500],
  [2000, 2000],
  [3000, 3000],
  [6000, 6000],
] as const
const SECOND_GENERATION = [
  100, 200, 300, 400, 500, 1000, 1500, 2000, 2500, 3000, 5000, 6000, 7500, 10000, 15000, 30000,
]

export const OBJECTIVES: readonly Objective[] = [
  ...rows('Basic', [['Basic', 5, 2, 2]]),
  ...rows('Standard', [
    ['S0', 10, 250, 250],
    ['S1', 20, 250, 250],
    ['S2', 50, 250, 250],
    ['S3', 100, 1024, 250],
    ['S4', 200, 1024, 250],
    ['S6', 400, 1024, 250],
    ['S7', 800, 1024, 250],
    ['S9', 1600, 1024, 250],
    ['S12', 3000, 1024, 250],
  ]),
  ...rows('Premium', [
    ['P1', 125, 1024, 500],
    ['P2', 250, 1024, 500],
    ['P4', 500, 1024, 500],
    ['P6', 1000, 1024, 500],
    ['P11', 1750, 4096, 1024],
    ['P15', 4000, 4096, 1024],
  ]),
  ...cores(
    'GeneralPurpose',
    'GP',
    'Gen4',
    GEN4.map((n) => [n, gen4Gib(n)]),
  ),
  ...cores('GeneralPurpose', 'GP', 'Gen5', GEN5),
  ...SERVERLESS.map(([capacity, minCapacity, max]) => ({
    ...cores('GeneralPurpose', 'GP_S', 'Gen5', [[capacity, max]])[0]!,
    minCapacity,
  })),
  ...cores(
    'BusinessCritical',
    'BC',
    'Gen4',
    GEN4.map((n) => [n, 1024]),
  ),
  ...cores('BusinessCritical', 'BC', 'Gen5', GEN5),
  ...cores(
    'Hyperscale',
    'HS',
    'Gen4',
    GEN4.map((n) => [n, HYPERSCALE_GIB]),
  ),
  ...cores(
    'Hyperscale',
    'HS',
    'Gen5',
    GEN5.map(([n]) => [n, HYPERSCALE_GIB]),
  ),
  ...FIRST_GENERATION.map(([units, becomes]) => ({
    ...rows('DataWarehouse', [[`DW${units}`, units, WAREHOUSE_GIB, WAREHOUSE_DEFAULT_GIB]])[0]!,
    upgradesTo: `DW${becomes}c`,
  })),
  ...rows(
    'DataWarehouse',
    SECOND_GENERATION.map((n) => [`DW${n}c`, n, WAREHOUSE_GIB, WAREHOUSE_DEFAULT_GIB]),
  ),
]

const byName = new Map(OBJECTIVES.map((objective) => [objective.name.toLowerCase(), objective]))

/** Chosen: what a new database is when nobody says, as in the vendor's service of this version. */
export const DEFAULT_OBJECTIVE = byName.get('s0')!

/** The objective of this name, in any case. */
export const objectiveOf = (name: string): Objective | undefined => byName.get(name.toLowerCase())

/** The first of a tier. */
export const smallestOf = (tier: Tier): Objective =>
  OBJECTIVES.find((objective) => objective.tier === tier)!

/**
 * The objective that a sku names: by itself (`S0`, `GP_Gen5_2`, `DW100c`), by a name that the capacity
 * completes (`GP_Gen5` and 2), or by its tier and the capacity (`Standard` and 10).
 */
export function objectiveOfSku({ name, tier, capacity }: SkuName): Objective | undefined {
  const named = objectiveOf(name)
  const found =
    named ??
    (capacity === undefined ? undefined : objectiveOf(`${name}_${capacity}`)) ??
    OBJECTIVES.find(
      (objective) =>
        objective.tier.toLowerCase() === name.toLowerCase() &&
        objective.family === undefined &&
        (capacity === undefined || capacity === objective.capacity),
    )
  const isAsSaid =
    found &&
    (tier === undefined || tier.toLowerCase() === found.tier.toLowerCase()) &&
    (capacity === undefined || capacity === found.capacity)
  return isAsSaid ? found : undefined
}

export interface SkuName {
  readonly name: string
  readonly tier?: string | undefined
  readonly capacity?: number | undefined
}

/** Whether a database of this tier may have this size, up to `maxSizeBytes`. */
export function isSizeOf(tier: Tier, sizeBytes: number, maxSizeBytes: number): boolean {
  const { sizes } = TIERS[tier]
  if (sizeBytes > maxSizeBytes) return false
  return sizes ? sizes.includes(sizeBytes) : sizeBytes > 0 && sizeBytes % GIB === 0
}

export const isServerless = ({ minCapacity }: Objective): boolean => minCapacity !== undefined

/** What a pool can be: capacity, how many databases it holds, how large each may be. */
export interface PoolObjective {
  readonly name: string
  readonly tier: Tier
  readonly family?: string
  readonly capacity: number
  readonly databasesMax: number
  readonly databaseMaxSizeBytes: number
}

/** Capacities with how many databases each holds. */
const pools = (
  tier: Tier,
  name: string,
  maxGib: number,
  table: readonly (readonly [capacity: number, databases: number])[],
  family?: string,
): PoolObjective[] =>
  table.map(([capacity, databasesMax]) => ({
    name,
    tier,
    ...(family && { family }),
    capacity,
    databasesMax,
    databaseMaxSizeBytes: maxGib * GIB,
  }))

const each = (capacities: readonly number[], databases: (capacity: number) => number) =>
  capacities.map((capacity) => [capacity, databases(capacity)] as const)
const byUnits = (n: number) => (n <= 50 ? 100 : n <= 100 ? 200 : 500)
const byCores = (n: number) => (n <= 2 ? 100 : n <= 4 ? 200 : 500)
const STANDARD_UNITS = [50, 100, 200, 300, 400, 800, 1200, 1600, 2000, 2500, 3000]
const PREMIUM_UNITS = [125, 250, 500, 1000, 1500, 2000, 2500, 3000, 3500, 4000]
const GEN5_CORES = GEN5.map(([n]) => n)

export const POOL_OBJECTIVES: readonly PoolObjective[] = [
  ...pools('Basic', 'BasicPool', 2, each(STANDARD_UNITS.slice(0, 8), byUnits)),
  ...pools('Standard', 'StandardPool', 1024, each(STANDARD_UNITS, byUnits)),
  ...pools(
    'Premium',
    'PremiumPool',
    1024,
    each(PREMIUM_UNITS, (n) => (n <= 125 ? 50 : 100)),
  ),
  ...pools('GeneralPurpose', 'GP_Gen5', 4096, each(GEN5_CORES, byCores), 'Gen5'),
  ...pools(
    'BusinessCritical',
    'BC_Gen5',
    4096,
    each(GEN5_CORES.slice(1), (n) => (n <= 4 ? 50 : 100)),
    'Gen5',
  ),
]

/** Without a capacity, the smallest. */
export const poolObjectiveOf = ({ name, tier, capacity }: SkuName): PoolObjective | undefined =>
  POOL_OBJECTIVES.find(
    (pool) =>
      pool.name.toLowerCase() === name.toLowerCase() &&
      (tier === undefined || pool.tier.toLowerCase() === tier.toLowerCase()) &&
      (capacity === undefined || pool.capacity === capacity),
  )
