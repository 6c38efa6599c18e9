// The podcast directory as a subgraph. Specification 1, service S5.
import * as bestPodcasts from '../resolvers/podcasts/best-podcasts.ts'
import * as curatedLists from '../resolvers/podcasts/curated-lists.ts'
import * as deletions from '../resolvers/podcasts/deletions.ts'
import * as demoDirectory from '../resolvers/podcasts/demo-directory.ts'
import { demo } from '../resolvers/podcasts/demo.ts'
import { listingMigration } from '../resolvers/podcasts/directory.ts'
import * as entities from '../resolvers/podcasts/entities.ts'
import * as episodes from '../resolvers/podcasts/episodes.ts'
import * as feedRecords from '../resolvers/podcasts/feed-records.ts'
import * as genres from '../resolvers/podcasts/genres.ts'
import * as intake from '../resolvers/podcasts/intake.ts'
import * as playlistItems from '../resolvers/podcasts/playlist-items.ts'
import * as playlistPages from '../resolvers/podcasts/playlist-pages.ts'
import * as playlists from '../resolvers/podcasts/playlists.ts'
import * as podcasts from '../resolvers/podcasts/podcasts.ts'
import * as quotas from '../resolvers/podcasts/quotas.ts'
import * as recommendations from '../resolvers/podcasts/recommendations.ts'
import * as records from '../resolvers/podcasts/records.ts'
import * as search from '../resolvers/podcasts/search.ts'
import * as searches from '../resolvers/podcasts/searches.ts'
import * as spellcheck from '../resolvers/podcasts/spellcheck.ts'
import * as submissions from '../resolvers/podcasts/submissions.ts'
import { titlesMigration } from '../resolvers/podcasts/titles.ts'
import * as transcripts from '../resolvers/podcasts/transcripts.ts'
import * as typeahead from '../resolvers/podcasts/typeahead.ts'
import { wordsMigration } from '../resolvers/podcasts/words.ts'
import { addPages } from './podcasts/pages.ts'
import { apiKey } from './server/auth/api-key.ts'
import type { Dialect, Subgraph } from './server/subgraph.ts'

/** Chosen: nothing public shows the body of a refusal, and clients look at the status alone. */
const dialect: Dialect = {
  spelling: 'snake',
  refuse: ({ status, message }) => ({ status, headers: {}, body: { error: message } }),
  refusalSchema: {
    type: 'object',
    properties: { error: { type: 'string' } },
    required: ['error'],
  },
}

export const subgraph: Subgraph = {
  name: 'podcasts',
  title: 'Podcast directory service',
  version: '2.0',
  basePath: '/api/v2',
  scheme: apiKey('X-Vendor-Api-Key'),
  dialect,
  resources: [
    records,
    search,
    typeahead,
    searches,
    spellcheck,
    bestPodcasts,
    podcasts,
    episodes,
    curatedLists,
    genres,
    recommendations,
    submissions,
    feedRecords,
    intake,
    transcripts,
    deletions,
    playlists,
    playlistPages,
    playlistItems,
    quotas,
    demoDirectory,
    entities,
  ],
  migrations: [
    quotas.usageMigration,
    wordsMigration,
    listingMigration,
    searches.searchesMigration,
    titlesMigration,
  ],
  mount: addPages,
  async sweep(ctx) {
    await quotas.sweepUsage(ctx)
    await searches.sweepSearches(ctx)
    await demoDirectory.resumeLoad(ctx)
  },
  demo,
}
