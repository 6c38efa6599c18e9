// Two people never see or change each other's databases, whatever they try.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-db.ts'
import { byIdInputs, checkIsolation, seedOf } from '../management-isolation.ts'

const GROUP = '/subscriptions/{subscriptionId}/resourceGroups/shared'
const SERVER = `${GROUP}/providers/Vendor.Sql/servers/one`
const DATABASES = ['a', 'b'].map((name) => `${SERVER}/databases/${name}`)
const POOL = `${SERVER}/elasticPools/pool`
const LOCATED = { location: 'westus', tags: { mark: '{mark}' } }

test('what is in one subscription is never seen or changed from another', async () => {
  const counts = await checkIsolation({
    subgraph,
    inputs: {
      resourceGroupName: ['shared'],
      serverName: ['one'],
      elasticPoolName: ['pool'],
      databaseName: ['a', 'b'],
      location: ['westus'],
      operationId: ['none'],
      sql: [
        `CREATE TABLE IF NOT EXISTS secret AS SELECT '{mark}' AS text`,
        'SELECT * FROM sqlite_master',
        'SELECT * FROM secret',
      ],
      ...byIdInputs(...DATABASES),
      'putSqlServer.parameters': [LOCATED],
      'putElasticPool.parameters': [LOCATED],
      'putSqlDatabase.parameters': [
        LOCATED,
        { ...LOCATED, properties: { elasticPoolId: POOL } },
        { ...LOCATED, properties: { createMode: 'Copy', sourceDatabaseId: DATABASES[0] } },
      ],
      'patchSqlDatabase.parameters': [
        { tags: { mark: '{mark}', more: '1' } },
        { sku: { name: 'S1' } },
      ],
      'renameSqlDatabase.parameters': DATABASES.map((id) => ({ id })),
    },
    references: {
      SqlDatabase: DATABASES,
      SqlServer: [SERVER],
      ElasticPool: [POOL],
      CloudAccount: ['{subscriptionId}'],
    },
    list: '/resourceGroups/shared/providers/Vendor.Sql/servers/one/databases',
    listStatus: [200, 404],
    tries: 300,
    seed: seedOf('sql-db'),
  })

  expect(counts.foreign).toBeGreaterThan(50)
  // Had nobody made or seen anything, the silence would prove nothing.
  expect(counts.own).toBeGreaterThan(3)
}, 30_000)
