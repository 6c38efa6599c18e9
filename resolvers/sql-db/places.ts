// Where servers, pools and databases live, and their kinds. Specification 3, service Q.
import { armKey, type ArmResource } from '../families/arm.ts'
import { ParentResourceNotFound, ResourceNotFound } from '../families/arm-errors.ts'
import {
  group,
  idAt,
  inGroup,
  ownSubscription,
  partsOf,
  type Input,
} from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { text } from '../kernel/shape.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import type { Sku, SqlDatabase } from './shapes.ts'

export const VERSION = '2017-10-01-preview'
export const AREA = 'Vendor.Sql'
export const SERVERS = inGroup(`${AREA}/servers`)
export const SERVER = `${SERVERS}/{serverName}`
const POOLS = `${SERVER}/elasticPools`
export const POOL = `${POOLS}/{elasticPoolName}`
export const DATABASES = `${SERVER}/databases`
export const DATABASE = `${DATABASES}/{databaseName}`
export const DATABASE_TYPE = `${AREA}/servers/databases`
export const DROPPED = `${SERVER}/restorableDroppedDatabases/{droppedName}`
export const RECOVERABLE = `${SERVER}/recoverableDatabases/{databaseName}`

export interface SqlServer extends ArmResource {
  location: string
  kind: string
  properties: {
    administratorLogin?: string
    version: string
    state: string
    provisioningState?: never
  }
}

export interface ElasticPool extends ArmResource {
  location: string
  sku: Sku
  properties: { state: string; creationDate: string; provisioningState?: never }
}

/** A database that is gone, as long as it can be restored. */
export interface DroppedDatabase {
  id: string
  name: string
  location: string
  databaseName: string
  creationDate: string
  deletionDate: string
  restorableFrom: string
  /** As it was. */
  database: SqlDatabase
}

export const sqlServers = kind<SqlServer>('sql_servers', { key: armKey })
export const elasticPools = kind<ElasticPool>('elastic_pools', { key: armKey })

export const databases = kind<SqlDatabase>('sql_databases', {
  key: armKey,
  columns: {
    databaseId: textOf(({ properties }) => properties.databaseId),
    pool: textOf(({ properties }) => properties.elasticPoolId?.toLowerCase()),
    primary: textOf(({ held }) => held.primary),
  },
  indexes: [['databaseId'], ['pool'], ['primary']],
})

export const droppedDatabases = kind<DroppedDatabase>('dropped_databases', {
  key: armKey,
  columns: { databaseId: textOf(({ database }) => database.properties.databaseId) },
  indexes: [['databaseId']],
})

const NAME_MAX = 128

export const serverKey = {
  ...group,
  serverName: text.regex(
    /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i,
    'must be 1 to 63 letters, digits or hyphens, and must not begin or end with a hyphen',
  ),
}
const resourceName = text.regex(
  new RegExp(`^[^<>*%&:\\\\/?\\p{Cc}]{0,${NAME_MAX - 1}}[^<>*%&:\\\\/?\\p{Cc}. ]$`, 'u'),
  `must be 1 to ${NAME_MAX} characters without < > * % & : \\ / ? and must not end with a period or a space`,
)
export const poolKey = { ...serverKey, elasticPoolName: resourceName }
export const databaseKey = { ...serverKey, databaseName: resourceName }

const RESERVED = new Set(['master', 'model', 'msdb', 'tempdb'])

/** Whether the server keeps this name for itself. */
export const isReservedName = (name: string): boolean => RESERVED.has(name.toLowerCase())

/** Whether this can be the name of a database. */
export const isDatabaseName = (name: string): boolean => resourceName.safeParse(name).success

/** Everything below a resource: the records whose keys begin with its own. */
export const below = ({ id }: { id: string }, collection: string) => ({
  prefix: `${id}/${collection}/`.toLowerCase(),
})

/** Refuses where there is no such server. */
export async function findServer(from: Records, asked: Input): Promise<SqlServer> {
  const id = idAt(SERVER, asked)
  const server = await from.get(sqlServers, armKey({ id }))
  if (server) return server
  throw ParentResourceNotFound(
    `The server ${id} was not found. Make it first: putSqlServer in the graph.`,
  )
}

/** The key of an id of this path, in any case; undefined when it is malformed or not the caller's. */
export function ownKey(path: string, id: string, ctx: Context): string | undefined {
  const parts = partsOf(path, id)
  return parts && ownSubscription(ctx, parts['subscriptionId']!) && armKey({ id })
}

/** The key of a database that the caller names by its id. Another's is as unknown as nobody's. */
export function databaseKeyOf(id: string, ctx: Context): string {
  const key = ownKey(DATABASE, id, ctx)
  if (key === undefined) throw missing(id)
  return key
}

export const missing = (id: string) => ResourceNotFound(`The resource ${id} was not found.`)

/** The id of the server that a resource of this path stands on. */
export const serverIdOf = (path: string, { id }: { id: string }): string =>
  idAt(SERVER, partsOf(path, id)!)
