// SQL virtual machines as a subgraph. Specification 3, service V.
import { demo } from '../resolvers/sql-vm/demo.ts'
import * as entities from '../resolvers/sql-vm/entities.ts'
import * as groups from '../resolvers/sql-vm/groups.ts'
import { VERSION } from '../resolvers/sql-vm/kinds.ts'
import * as listeners from '../resolvers/sql-vm/listeners.ts'
import * as machines from '../resolvers/sql-vm/machines.ts'
import * as operations from '../resolvers/sql-vm/operations.ts'
import * as snapshots from '../resolvers/sql-vm/snapshots.ts'
import { bearer } from './server/auth/bearer.ts'
import { arm } from './server/dialects/arm.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'sql-vm',
  title: 'SQL virtual machine management',
  version: VERSION,
  basePath: '',
  scheme: bearer(),
  dialect: arm,
  resources: [groups, listeners, machines, operations, snapshots, entities],
  demo,
}
