// The job scheduler as a subgraph. Specification 3, service J.
import { demo } from '../resolvers/scheduler/demo.ts'
import * as entities from '../resolvers/scheduler/entities.ts'
import * as history from '../resolvers/scheduler/history.ts'
import * as jobCollections from '../resolvers/scheduler/job-collections.ts'
import * as jobs from '../resolvers/scheduler/jobs.ts'
import { VERSION } from '../resolvers/scheduler/kinds.ts'
import * as runs from '../resolvers/scheduler/runs.ts'
import * as snapshots from '../resolvers/scheduler/snapshots.ts'
import { bearer } from './server/auth/bearer.ts'
import { arm } from './server/dialects/arm.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'scheduler',
  title: 'Job scheduler',
  version: VERSION,
  basePath: '',
  scheme: bearer(),
  dialect: arm,
  exceptions: { occurrence: 'Occurrence' },
  resources: [jobCollections, jobs, runs, history, snapshots, entities],
  demo,
}
