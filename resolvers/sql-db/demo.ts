// A server, a pool and a database with a small table to look at. Specification 3, service Q.
import { inGroup } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { perform } from '../kernel/operation.ts'
import * as console from './console.ts'
import * as databases from './databases.ts'
import * as elasticPools from './elastic-pools.ts'
import * as servers from './servers.ts'

const OPERATIONS = [servers, elasticPools, databases, console].flatMap(
  ({ operations }) => operations,
)
const LOCATION = 'westus'
const TABLE = `CREATE TABLE IF NOT EXISTS product (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, price REAL NOT NULL, stock INTEGER NOT NULL);
  INSERT OR IGNORE INTO product (id, name, price, stock) VALUES
    (1, 'Bicycle', 429.00, 7), (2, 'Helmet', 39.90, 41), (3, 'Pump', 18.50, 60), (4, 'Bell', 6.20, 112)`

/** Makes what is missing in the caller's subscription, and returns the names. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'SUBSCRIPTION')
  if (!account) throw new Error('the demo caller owns no subscription')
  const call = (name: string, input: object) =>
    perform(
      OPERATIONS.find((operation) => operation.name === name)!,
      input,
      ctx,
    )
  const serverName = 'demo-sql'
  const elasticPoolName = 'demo-pool'
  const databaseName = 'demo-shop'
  const place = { subscriptionId: account.id, resourceGroupName: 'polygraph-demo', serverName }
  const tags = { environment: 'demo' }
  const server = inGroup(`Vendor.Sql/servers/${serverName}`)
    .replace('{subscriptionId}', account.id)
    .replace('{resourceGroupName}', place.resourceGroupName)
  await call('putSqlServer', { ...place, parameters: { location: LOCATION, tags } })
  await call('putElasticPool', {
    ...place,
    elasticPoolName,
    parameters: { location: LOCATION, tags, sku: { name: 'StandardPool', capacity: 50 } },
  })
  const elasticPoolId = `${server}/elasticPools/${elasticPoolName}`
  const parameters = {
    location: LOCATION,
    tags: { ...tags, backup: 'weekly' },
    properties: { elasticPoolId },
  }
  await call('putSqlDatabase', { ...place, databaseName, parameters })
  await call('executeSql', { id: `${server}/databases/${databaseName}`, sql: TABLE })
  return { serverName, elasticPoolName, databaseName }
}
