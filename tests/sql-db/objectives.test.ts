// What a database can be.
import { expect, test } from 'vitest'
import {
  isSizeOf,
  objectiveOfSku,
  OBJECTIVES,
  POOL_OBJECTIVES,
  TIERS,
} from '../../resolvers/sql-db/objectives.ts'
import { openShop } from './shop.ts'

const GIB = 1024 ** 3

test.each([
  ['Basic', 'Basic', 5, 2],
  ['S0', 'Standard', 10, 250],
  ['S12', 'Standard', 3000, 1024],
  ['P15', 'Premium', 4000, 4096],
  ['GP_Gen4_8', 'GeneralPurpose', 8, 3072],
  ['GP_Gen5_2', 'GeneralPurpose', 2, 1024],
  ['GP_S_Gen5_8', 'GeneralPurpose', 8, 1536],
  ['BC_Gen5_80', 'BusinessCritical', 80, 4096],
  ['HS_Gen5_4', 'Hyperscale', 4, 102_400],
  ['DW6000', 'DataWarehouse', 6000, 245_760],
  ['DW30000c', 'DataWarehouse', 30_000, 245_760],
])('%s is of the tier %s, with capacity %i and at most %i GiB', (name, tier, capacity, gib) => {
  expect(objectiveOfSku({ name })).toMatchObject({ name, tier, capacity, maxSizeBytes: gib * GIB })
})

test.each([
  [{ name: 'gp_gen5', capacity: 4 }, 'GP_Gen5_4'],
  [{ name: 'GP_S_Gen5', tier: 'GeneralPurpose', capacity: 2 }, 'GP_S_Gen5_2'],
  [{ name: 'Standard', tier: 'Standard' }, 'S0'],
  [{ name: 'Standard', capacity: 50 }, 'S2'],
  [{ name: 'premium', capacity: 1750 }, 'P11'],
  [{ name: 'dw100C' }, 'DW100c'],
  [{ name: 'GP_Gen5', capacity: 3 }, undefined],
  [{ name: 'GeneralPurpose', capacity: 2 }, undefined],
  [{ name: 'Standard', capacity: 11 }, undefined],
  [{ name: '' }, undefined],
])('the sku %j names %s', (sku, name) => {
  expect(objectiveOfSku(sku)?.name).toBe(name)
})

test('names are unique, and every usual size is one of the tier', () => {
  expect(new Set(OBJECTIVES.map(({ name }) => name.toLowerCase())).size).toBe(OBJECTIVES.length)
  for (const { tier, defaultSizeBytes, maxSizeBytes } of OBJECTIVES) {
    expect(isSizeOf(tier, defaultSizeBytes, maxSizeBytes)).toBe(true)
    expect(isSizeOf(tier, maxSizeBytes, maxSizeBytes)).toBe(true)
    expect(isSizeOf(tier, maxSizeBytes + GIB, maxSizeBytes)).toBe(false)
    expect(isSizeOf(tier, 0, maxSizeBytes)).toBe(false)
  }
})

test('what a warehouse becomes is there, and is of the second generation', () => {
  const first = OBJECTIVES.filter(({ upgradesTo }) => upgradesTo)
  for (const { upgradesTo } of first) {
    expect(objectiveOfSku({ name: upgradesTo! })?.upgradesTo).toBeUndefined()
  }
  expect(first).toHaveLength(12)
})

test('every pool is of a tier that databases have, and larger pools hold no fewer of them', () => {
  for (const pool of POOL_OBJECTIVES) expect(TIERS[pool.tier]).toBeDefined()
  for (const of of Map.groupBy(POOL_OBJECTIVES, ({ name }) => name).values()) {
    const counts = of.map(({ databasesMax }) => databasesMax)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
  }
})

test('the graph lists what a database can be', async () => {
  const service = await openShop()

  const { data } = await service.graphql(
    '{ sqlServiceObjectives { name tier capacity maxSizeBytes upgradesTo retentionDays sizes } }',
  )

  expect(data.sqlServiceObjectives).toHaveLength(OBJECTIVES.length)
  expect(data.sqlServiceObjectives[0]).toEqual({
    name: 'Basic',
    tier: 'Basic',
    capacity: 5,
    maxSizeBytes: 2_147_483_648,
    upgradesTo: null,
    retentionDays: 7,
    sizes: [104_857_600, 262_144_000, 524_288_000, 1_073_741_824, 2_147_483_648],
  })
})
