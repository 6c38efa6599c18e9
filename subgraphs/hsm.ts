// Dedicated hardware security modules as a subgraph. Specification 3, service H.
import * as dedicatedHsms from '../resolvers/hsm/dedicated-hsms.ts'
import { demo } from '../resolvers/hsm/demo.ts'
import * as entities from '../resolvers/hsm/entities.ts'
import * as snapshots from '../resolvers/hsm/snapshots.ts'
import { bearer } from './server/auth/bearer.ts'
import { arm } from './server/dialects/arm.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'hsm',
  title: 'Dedicated hardware security modules',
  version: dedicatedHsms.VERSION,
  basePath: '',
  scheme: bearer(),
  dialect: arm,
  resources: [dedicatedHsms, snapshots, entities],
  demo,
}
