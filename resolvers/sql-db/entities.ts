// What the graph joins on: servers, pools, databases, accounts. Specification 3, service Q.
import { connectAccount, skipTokenOf } from '../families/arm-lists.ts'
import type { Context } from '../kernel/context.ts'
import { load, loadBy } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import type { Kind, Query } from '../kernel/store.ts'
import { viewOf } from './changes.ts'
import { shownVersion } from './console.ts'
import { blobKeyOf } from './content.ts'
import {
  below,
  DATABASE,
  databases,
  droppedDatabases,
  elasticPools,
  ownKey,
  POOL,
  SERVER,
  serverIdOf,
  sqlServers,
  VERSION,
} from './places.ts'
import { SECONDARIES_MAX } from './replication.ts'
import type { SqlDatabase } from './shapes.ts'

type Reference = { id: string }
type Page = { first?: number | null; after?: string | null }

/** The id may be spelled in any case. Null when it is not the caller's, or nobody's. */
const own =
  <R extends object>(kind: Kind<R>, path: string) =>
  async ({ id }: Reference, ctx: Context) => {
    const key = ownKey(path, id, ctx)
    return key === undefined ? null : ((await load(ctx, kind, key)) ?? null)
  }

const findServer = own(sqlServers, SERVER)
const findPool = own(elasticPools, POOL)
export const findOwnDatabase = own(databases, DATABASE)

export const entities = {
  SqlDatabase: findOwnDatabase,
  SqlServer: findServer,
  ElasticPool: findPool,
  CloudAccount: ({ id }: Reference, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

const pageOf = ({ first, after }: Page) => ({
  first: first ?? undefined,
  after: after ?? undefined,
})

const listed = { version: VERSION, kind: databases }
const listedServers = { version: VERSION, kind: sqlServers }

export const fields = {
  CloudAccount: {
    sqlDatabases: (account: Reference, page: Page, ctx: Context) =>
      connectAccount(listed, account, page, ctx),
    sqlServers: (account: Reference, page: Page, ctx: Context) =>
      connectAccount(listedServers, account, page, ctx),
  },
  SqlServer: {
    databases: (server: Reference, page: Page, ctx: Context) =>
      connect(ctx, databases, { ...below(server, 'databases'), ...pageOf(page) }),
    elasticPools: (server: Reference, page: Page, ctx: Context) =>
      connect(ctx, elasticPools, { ...below(server, 'elasticPools'), ...pageOf(page) }),
    droppedDatabases: (server: Reference, page: Page, ctx: Context) =>
      connect(ctx, droppedDatabases, {
        ...below(server, 'restorableDroppedDatabases'),
        ...pageOf(page),
      }),
  },
  ElasticPool: {
    server: (pool: Reference, _args: object, ctx: Context) =>
      findServer({ id: serverIdOf(POOL, pool) }, ctx),
    databases: ({ id }: Reference, page: Page, ctx: Context) =>
      connect(ctx, databases, { where: { pool: id.toLowerCase() }, ...pageOf(page) }),
  },
  SqlDatabase: {
    properties: (database: SqlDatabase, _args: object, ctx: Context) =>
      viewOf(database, ctx).properties,
    server: (database: SqlDatabase, _args: object, ctx: Context) =>
      findServer({ id: serverIdOf(DATABASE, database) }, ctx),
    elasticPool: ({ properties }: SqlDatabase, _args: object, ctx: Context) =>
      properties.elasticPoolId === undefined
        ? null
        : findPool({ id: properties.elasticPoolId }, ctx),
    content: async (database: SqlDatabase, _args: object, ctx: Context) => {
      const readAll = (keys: readonly string[]) => ctx.blobs.latestOf(ctx.store, keys)
      const version = await loadBy(ctx, 'newest contents', readAll, blobKeyOf(database))
      if (!version) return { ...shownVersion(undefined), sha256: null, changed: null }
      const changed = new Date(version.timeMs).toISOString()
      return { ...shownVersion(version), sha256: version.digest, changed }
    },
    primary: async ({ held }: SqlDatabase, _args: object, ctx: Context) =>
      held.primary === undefined
        ? null
        : ((await related(ctx, { databaseId: held.primary }, 1))[0] ?? null),
    secondaries: ({ properties }: SqlDatabase, _args: object, ctx: Context) =>
      related(ctx, { primary: properties.databaseId }, SECONDARIES_MAX),
  },
  SqlDatabaseList: { skipToken: skipTokenOf },
  SqlServerList: { skipToken: skipTokenOf },
  ElasticPoolList: { skipToken: skipTokenOf },
}

/** Databases that a replication joins, of which the caller sees their own. */
async function related(ctx: Context, where: Record<string, string>, limit: number) {
  const readAll = (queries: readonly Query[]) => ctx.store.listMany(databases, queries)
  const { items } = await loadBy(ctx, 'replicated databases', readAll, { where, limit })
  return items.filter(({ id }) => ownKey(DATABASE, id, ctx) !== undefined)
}
