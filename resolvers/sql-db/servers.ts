// Servers, made in the graph alone. Specification 3, service Q.
import { z } from 'zod'
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { CannotDeleteResource } from '../families/arm-errors.ts'
import { group, paging, partsOf, resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { QuotaExceeded } from './errors.ts'
import {
  AREA,
  below,
  databases,
  droppedDatabases,
  elasticPools,
  SERVER,
  serverKey,
  sqlServers,
  VERSION,
  type SqlServer,
} from './places.ts'

/** Chosen: how many servers a subscription may have in one group. */
const SERVERS_MAX = 20
const LOGIN_MAX = 128
const SERVER_VERSION = '12.0'

const parameters = z.object({
  location: resourceLocation,
  tags: optional(resourceTags),
  properties: optional(
    z.object({
      administratorLogin: optional(text.max(LOGIN_MAX, `must be at most ${LOGIN_MAX} characters`)),
    }),
  ),
})

export const servers = armResource<SqlServer>({
  type: `${AREA}/servers`,
  path: SERVER,
  version: VERSION,
  kind: sqlServers,
  body: 'parameters',
  announces: 'sql-db.server',
  accept,
  checkRemoval,
})

export const operations = [
  operation({ name: 'putSqlServer', input: { ...serverKey, parameters }, run: servers.put }),
  operation({ name: 'deleteSqlServer', input: serverKey, run: servers.remove }),
  operation({ name: 'sqlServer', input: serverKey, run: servers.get }),
  operation({ name: 'sqlServers', input: { ...group, ...paging }, run: servers.listByGroup }),
]

export const kinds = [sqlServers, elasticPools, databases, droppedDatabases]

async function accept(
  { location, tags, properties }: z.output<typeof parameters>,
  { id, before, tx }: Acceptance<SqlServer>,
): Promise<Accepted<SqlServer>> {
  if (!before) await checkQuota(id, tx)
  const login = properties?.administratorLogin ?? before?.properties.administratorLogin
  return {
    location: before?.location ?? location,
    tags,
    kind: `v${SERVER_VERSION}`,
    properties: {
      ...(login !== undefined && { administratorLogin: login }),
      version: SERVER_VERSION,
      state: 'Ready',
    },
  }
}

async function checkQuota(id: string, tx: Records): Promise<void> {
  const { serverName } = partsOf(SERVER, id)!
  const prefix = armKey({ id }).slice(0, -serverName!.length)
  const held = await tx.count(sqlServers, { prefix })
  if (held >= SERVERS_MAX) {
    throw QuotaExceeded(`The group holds ${held} servers, which is its quota. Delete one first.`)
  }
}

async function checkRemoval(server: SqlServer, tx: Records): Promise<void> {
  const held = await Promise.all([
    tx.count(databases, below(server, 'databases')),
    tx.count(elasticPools, below(server, 'elasticPools')),
  ])
  if (held[0] + held[1] === 0) return
  throw CannotDeleteResource(
    `The server ${server.name} holds ${held[0]} databases and ${held[1]} elastic pools. Delete them first.`,
  )
}
