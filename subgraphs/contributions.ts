// Contribution collection as a subgraph. Specification 1, service S2.
import * as artifacts from '../resolvers/contributions/artifacts.ts'
import * as assignments from '../resolvers/contributions/assignments.ts'
import * as authority from '../resolvers/contributions/authority.ts'
import * as changeLog from '../resolvers/contributions/change-log.ts'
import * as contributionViews from '../resolvers/contributions/contribution-views.ts'
import * as contributions from '../resolvers/contributions/contributions.ts'
import * as contributors from '../resolvers/contributions/contributors.ts'
import { demo } from '../resolvers/contributions/demo.ts'
import * as entities from '../resolvers/contributions/entities.ts'
import * as exportRecords from '../resolvers/contributions/export-records.ts'
import * as exportSlices from '../resolvers/contributions/export-slices.ts'
import * as exportJobs from '../resolvers/contributions/exports.ts'
import * as flags from '../resolvers/contributions/flags.ts'
import * as formRecords from '../resolvers/contributions/form-records.ts'
import * as formResponses from '../resolvers/contributions/form-responses.ts'
import * as forms from '../resolvers/contributions/forms.ts'
import * as fundraisers from '../resolvers/contributions/fundraisers.ts'
import * as likeRecords from '../resolvers/contributions/like-records.ts'
import * as likes from '../resolvers/contributions/likes.ts'
import * as media from '../resolvers/contributions/media.ts'
import * as moderation from '../resolvers/contributions/moderation.ts'
import * as notifications from '../resolvers/contributions/notifications.ts'
import * as records from '../resolvers/contributions/records.ts'
import * as refinements from '../resolvers/contributions/refinements.ts'
import * as removals from '../resolvers/contributions/removals.ts'
import * as subscriptions from '../resolvers/contributions/subscriptions.ts'
import { sweep } from '../resolvers/contributions/sweep.ts'
import { migrations } from '../resolvers/contributions/tables.ts'
import * as tagSets from '../resolvers/contributions/tag-sets.ts'
import * as tags from '../resolvers/contributions/tags.ts'
import * as webHooks from '../resolvers/contributions/web-hooks.ts'
import { mount } from './contributions/files.ts'
import { bearer } from './server/auth/bearer.ts'
import { plain } from './server/dialects/plain.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'contributions',
  title: 'Contribution collection',
  version: '1.0.0',
  basePath: artifacts.BASE_PATH,
  scheme: bearer(),
  dialect: plain('camel'),
  resources: [
    records,
    artifacts,
    assignments,
    fundraisers,
    contributions,
    contributionViews,
    refinements,
    likeRecords,
    likes,
    flags,
    moderation,
    changeLog,
    tags,
    tagSets,
    formRecords,
    forms,
    formResponses,
    media,
    exportRecords,
    exportJobs,
    exportSlices,
    subscriptions,
    notifications,
    webHooks,
    contributors,
    authority,
    removals,
    entities,
  ],
  migrations,
  mount,
  sweep,
  demo,
  demoAfter: ['banking'],
}
