// What the graph has to offer: every operation, described, typed, and in pages where it can grow.
import { readFileSync } from 'node:fs'
import {
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isSpecifiedScalarType,
  type GraphQLNamedType,
  type GraphQLType,
} from 'graphql'
import { expect, test } from 'vitest'
import { clientsSchema } from '../gateway/schema-changes.ts'
import { loadServices, SERVICES } from '../gateway/services.ts'
import { SUPERGRAPH } from '../gateway/supergraph.ts'
import { operationsOf } from '../subgraphs/server/graphql.ts'

const graph = clientsSchema(readFileSync(SUPERGRAPH, 'utf8'))
const subgraphs = await loadServices(Object.keys(SERVICES))
const roots = { ...graph.getQueryType()!.getFields(), ...graph.getMutationType()!.getFields() }
const types: readonly GraphQLNamedType[] = Object.values(graph.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
)
const isRoot = (name: string) => name === 'Query' || name === 'Mutation'

/** Every place that has a type: fields, their arguments, and what inputs hold. */
const places: readonly Place[] = types.flatMap((type): Place[] => {
  if (isInputObjectType(type)) {
    return Object.values(type.getFields()).map((field) => ({
      at: `${type.name}.${field.name}`,
      type: field.type,
    }))
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return []
  return Object.values(type.getFields()).flatMap((field) => [
    {
      at: `${type.name}.${field.name}`,
      type: field.type,
      args: field.args.map(({ name }) => name),
      description: field.description ?? '',
    },
    ...field.args.map(({ name, type: argument }) => ({
      at: `${type.name}.${field.name}(${name})`,
      type: argument,
    })),
  ])
})

interface Place {
  readonly at: string
  readonly type: GraphQLType
  /** Of a field that answers. */
  readonly args?: readonly string[]
  readonly description?: string
}

test('every operation of every service is a field of the one graph', () => {
  const missing = subgraphs.flatMap((subgraph) =>
    operationsOf(subgraph)
      .filter(({ name, rest }) => rest && !(name in roots))
      .map(({ name }) => `${subgraph.name}: ${name}`),
  )

  expect(missing).toEqual([])
})

test('what is hidden from clients is what services ask of each other', () => {
  const hidden = subgraphs.flatMap((subgraph) =>
    operationsOf(subgraph)
      .map(({ name }) => name)
      .filter((name) => !(name in roots)),
  )

  expect(hidden.toSorted()).toEqual([
    'callerByApiKey',
    'callerByJwt',
    'callerByPassword',
    'callerByToken',
    'callerByUser',
    'clockAheadMs',
    'demoCredentials',
    'firstUserPath',
    'growDemoDirectory',
    'keepDemoCredentials',
    'signingKey',
  ])
})

test('every type, every root field and every field with arguments is described', () => {
  const silentTypes = types.filter(({ name, description }) => !isRoot(name) && !description)
  const silentFields = places.filter(
    ({ at, args, description }) =>
      args && !description && (args.length > 0 || isRoot(at.split('.')[0]!)),
  )

  expect(silentTypes.map(({ name }) => name)).toEqual([])
  expect(silentFields.map(({ at }) => at)).toEqual([])
})

/** Lists of what is read for them that are no pages, and why they stay short. */
const SHORT_LISTS: Readonly<Record<string, string>> = {
  'Query.backupSupportedResourceTypes': 'as many as the graph has types of resources',
  'BackupPlan.rules': 'part of the plan',
  'BackupPlan.advancedBackupSettings': 'part of the plan',
  'BackupSelection.resources': 'part of the selection',
  'BackupSelection.notResources': 'part of the selection',
  'BackupSelection.listOfTags': 'part of the selection',
  'BackupFramework.evaluations': 'one for each control of the framework',
  'BackupRecoveryPoint.legalHolds': 'an account has so many active holds and no more',
  'Query.bankInstallations': 'the one of the client that asks',
  'BrailleTranslation.dots': 'as long as the text that was sent',
  'BrailleTranslation.unicode': 'as long as the text that was sent',
  'BrailleTranslation.html': 'as long as the text that was sent',
  'BrailleTranslation.images': 'as long as the text that was sent',
  'ConfigStore.keys': 'four',
  'ConfigStoreIdentity.userAssignedIdentities': 'part of the store',
  'Query.contributionRefinements': 'as many as there are names of refinements',
  'Query.contributionRefinementTypes': 'the same for all',
  'Query.contributionCredentials': 'the one that was shown',
  'Query.contributionScopes': 'the same for all',
  'Query.contributionEventTypes': 'the same for all',
  'Query.contributionSubscriptionTypes': 'the same for all',
  'Query.moderationActions': 'the same for all',
  'Assignment.tags': 'part of the assignment',
  'Contribution.media': 'part of the contribution',
  'Contribution.tags': 'part of the contribution',
  'Contribution.moderationHistory': 'a contribution takes so many decisions and no more',
  'Form.tags': 'part of the form',
  'MediaFile.artifacts': 'one for each format',
  'Alarm.detectors': 'an input has so many models that read it and no more',
  'AlarmModel.watchedResources': 'as many as its conditions name',
  'DetectorInput.detectorModelNames': 'an input has so many models that read it and no more',
  'DetectorInput.alarmModelNames': 'an input has so many models that read it and no more',
  'Session.clientIds': 'part of the session',
  'Query.trendingSearches': 'a fixed number',
  'Query.relatedSearches': 'a fixed number',
  'Query.podcastAudience': 'one for each region',
  'Query.podcastGenres': 'the same for all',
  'Query.podcastRegions': 'the same for all',
  'Query.podcastLanguages': 'the same for all',
  'Podcast.genres': 'part of the podcast',
  'Podcast.audience': 'one for each region',
  'Podcast.episodePage': 'ten',
  'Podcast.recommendations': 'a fixed number',
  'Podcast.myPlaylists': 'a fixed number',
  'Episode.recommendations': 'a fixed number',
  'CuratedList.podcasts': 'a fixed number',
  'PodcastGenre.children': 'the same for all',
  'Query.sqlServiceObjectives': 'the same for all',
  'SqlDatabase.secondaries': 'four',
  'SqlVmLoadBalancerConfiguration.machines': 'part of the listener',
  'Query.voiceEventDestinations': 'a set has so many destinations and no more',
}
const LIMITS = new Set(['first', 'top', 'limit'])

test('a list that can grow is a page of a connection, or takes a limit', () => {
  // What has no resolver is a member of a record, which has its own limits.
  const resolved = new Set(
    subgraphs.flatMap(({ resources }) =>
      resources.flatMap(({ fields = {} }) =>
        Object.entries(fields).flatMap(([type, own]) =>
          Object.keys(own).map((field) => `${type}.${field}`),
        ),
      ),
    ),
  )
  const unlimited = places.filter(
    ({ at, type, args }) =>
      args &&
      isListType(isNonNullType(type) ? type.ofType : type) &&
      (isRoot(at.split('.')[0]!) || resolved.has(at)) &&
      !args.some((name) => LIMITS.has(name)),
  )

  expect(unlimited.map(({ at }) => at).toSorted()).toEqual(Object.keys(SHORT_LISTS).toSorted())
})

/** Where the graph has JSON, and why no type could say what it holds. */
const OPEN_MAPS: readonly [places: RegExp, reason: string][] = [
  [/[.(]\w*[tT]ags\)?$/, 'whoever tags chooses the keys'],
  [/^(SchedulerJob\w*|SchedulerHttp\w*)\.headers$/, 'whoever schedules chooses the headers'],
  [
    /^FormResponse\.responses$|^Mutation\.createFormResponse\(responses\)$/,
    'the form has the keys',
  ],
  [/^SqlStatementResult\.rows$/, 'the statement chooses the columns'],
  [/^Mutation\.executeSql\(parameters\)$/, 'the statement chooses its parameters'],
  [/^ConfigStoreIdentityInput\.userAssignedIdentities$/, 'ids, of which null takes one away'],
  [/[.(]backupOptions\)?$/, 'each type of resource may have options of its own'],
  [/[.(](restoreMetadata|restoreMetadataOverrides|metadata)\)?$/, 'given back as it was told'],
  [/[.(]resourceType\w+Preference\)?$/, 'the keys are the types of resources in the graph'],
]

test('JSON stands only where the keys are chosen by those who ask', () => {
  const open = places
    .filter(({ type }) => ['JSON', 'JSONObject'].includes(getNamedType(type).name))
    .map(({ at }) => at)
  const unknown = open.filter((at) => !OPEN_MAPS.some(([rule]) => rule.test(at)))
  const unused = OPEN_MAPS.filter(([rule]) => !open.some((at) => rule.test(at)))

  expect(unknown).toEqual([])
  expect(unused).toEqual([])
})
