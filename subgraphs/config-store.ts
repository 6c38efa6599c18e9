// Configuration stores as a subgraph. Specification 3, service C.
import * as accessKeys from '../resolvers/config-store/access-keys.ts'
import { demo } from '../resolvers/config-store/demo.ts'
import * as entities from '../resolvers/config-store/entities.ts'
import * as keyValues from '../resolvers/config-store/key-values.ts'
import * as privateEndpoints from '../resolvers/config-store/private-endpoints.ts'
import * as programReads from '../resolvers/config-store/program-reads.ts'
import * as providerOperations from '../resolvers/config-store/provider-operations.ts'
import { VERSION } from '../resolvers/config-store/records.ts'
import * as snapshots from '../resolvers/config-store/snapshots.ts'
import * as stores from '../resolvers/config-store/stores.ts'
import { bearer } from './server/auth/bearer.ts'
import { arm } from './server/dialects/arm.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'config-store',
  title: 'Configuration stores',
  version: VERSION,
  basePath: '',
  scheme: bearer(),
  dialect: arm,
  resources: [
    stores,
    accessKeys,
    keyValues,
    privateEndpoints,
    providerOperations,
    programReads,
    snapshots,
    entities,
  ],
  demo,
}
