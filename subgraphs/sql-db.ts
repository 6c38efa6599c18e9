// SQL databases as a subgraph. Specification 3, service Q.
import * as console from '../resolvers/sql-db/console.ts'
import * as databases from '../resolvers/sql-db/databases.ts'
import { demo } from '../resolvers/sql-db/demo.ts'
import * as elasticPools from '../resolvers/sql-db/elastic-pools.ts'
import * as entities from '../resolvers/sql-db/entities.ts'
import { VERSION } from '../resolvers/sql-db/places.ts'
import * as servers from '../resolvers/sql-db/servers.ts'
import * as snapshots from '../resolvers/sql-db/snapshots.ts'
import * as transfer from '../resolvers/sql-db/transfer.ts'
import { bearer } from './server/auth/bearer.ts'
import { arm } from './server/dialects/arm.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'sql-db',
  title: 'SQL databases',
  version: VERSION,
  basePath: '',
  scheme: bearer(),
  dialect: arm,
  resources: [servers, elasticPools, databases, console, transfer, snapshots, entities],
  demo,
}
