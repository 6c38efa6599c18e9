// Diagnostics of API management as a subgraph. Specification 3, service D.
import { demo } from '../resolvers/diagnostics/demo.ts'
import * as diagnostics from '../resolvers/diagnostics/diagnostics.ts'
import * as entities from '../resolvers/diagnostics/entities.ts'
import * as services from '../resolvers/diagnostics/services.ts'
import * as snapshots from '../resolvers/diagnostics/snapshots.ts'
import { bearer } from './server/auth/bearer.ts'
import { arm } from './server/dialects/arm.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'diagnostics',
  title: 'API management diagnostics',
  version: services.VERSION,
  basePath: '',
  scheme: bearer(),
  dialect: arm,
  resources: [diagnostics, services, snapshots, entities],
  demo,
}
