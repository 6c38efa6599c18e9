// What other services refer to: accounts and alarms; and the alarms that watch a resource.
import { findResources, idOfArn, type FoundResource } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { load, loadBy } from '../kernel/load.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging, type Paging } from '../kernel/paging.ts'
import { text } from '../kernel/shape.ts'
import { alarmModels, RESOURCE, type AlarmModel } from './alarm-models.ts'
import { entities as models } from './cloud-resources.ts'
import { detectorModelArn, detectorModels, type DetectorModel } from './detector-models.ts'
import { inputKey, inputs } from './inputs.ts'
import { alarms, detectors, watches, watchPrefix, type Alarm, type Watch } from './instances.ts'
import { instanceKey, keyInArn, modelKey } from './models.ts'

export { expectedDocuments as asks } from '../families/cloud-resources.ts'

/**
 * The types of resources that other services keep. They are named one by one, since a graph that has
 * resources of its own cannot add to the interface of all of them (`@interfaceObject`).
 */
const WATCHED_TYPES = [
  'ApiDiagnostic',
  'BackupPlan',
  'BackupVault',
  'ConfigStore',
  'DedicatedHsm',
  'JobCollection',
  'SchedulerJob',
  'SqlDatabase',
  'SqlVirtualMachine',
  'SqlVirtualMachineGroup',
  'VoiceConfigurationSet',
]

export const entities = {
  // Whether there is such a resource its own service knows; what is shown of it here is the caller's.
  ...Object.fromEntries(WATCHED_TYPES.map((type) => [type, ({ id }: { id: string }) => ({ id })])),
  // Those of another kind have no models, but they are there.
  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
  Alarm: resolveAlarm,
}

export const operations = [
  operation({
    name: 'alarmsOfResource',
    input: { resourceId: text, ...paging },
    needs: 'iotevents:ListAlarms',
    run: ({ resourceId, ...page }, ctx) => alarmsOf(resourceId, page, ctx),
  }),
]

export const fields = {
  CloudAccount: {
    detectorModels: ({ id }: { id: string }, { first, after }: Paging, ctx: Context) =>
      connect(ctx, detectorModels, { first, after, prefix: `${id}/` }),
    alarmModels: ({ id }: { id: string }, { first, after }: Paging, ctx: Context) =>
      connect(ctx, alarmModels, { first, after, prefix: `${id}/` }),
  },
  Alarm: { detectors: detectorsBeside },
  AlarmModel: { watchedResources: resourcesWatched },
  DetectorModel: {
    alarms: (model: DetectorModel, page: Paging, ctx: Context) =>
      alarmsOf(detectorModelArn(model), page, ctx),
  },
  ...Object.fromEntries(WATCHED_TYPES.map((type) => [type, { alarms: alarmsOfReference }])),
}

function alarmsOfReference({ id }: { id: string }, page: Paging, ctx: Context) {
  return alarmsOf(id, page, ctx)
}

/** The resources of all models that are asked for in the same tick are looked for together. */
async function resourcesWatched(
  { watchedResourceIds }: AlarmModel,
  _: unknown,
  ctx: Context,
): Promise<object[]> {
  const find = async (ids: readonly string[]) => {
    const found = await findResources(ctx.graph, ids)
    return ids.map((id) => found.get(id))
  }
  const found = await Promise.all(
    watchedResourceIds.map((id) => loadBy(ctx, findResources, find, idOfArn(id))),
  )
  return Promise.all(found.flatMap((resource) => (resource ? [asEntity(resource, ctx)] : [])))
}

/** A resource of another service by its key, and one of this service as it is. */
async function asEntity({ id, typeName }: FoundResource, ctx: Context): Promise<object> {
  const own = models[typeName as keyof typeof models]
  return { ...(own ? await own({ id }, ctx) : { id }), __typename: typeName }
}

/** The id of an alarm is the ARN of its model and its key value. */
async function resolveAlarm({ id }: { id: string }, ctx: Context): Promise<Alarm | null> {
  const key = keyInArn(id, RESOURCE, ctx)
  const [account = '', modelName = '', keyValue] = key?.split('/') ?? []
  if (keyValue === undefined) return null
  const model = await load(ctx, alarmModels, modelKey(account, modelName))
  if (!model) return null
  const place = { account, modelName, revision: model.revision }
  return (await load(ctx, alarms, instanceKey(place, keyValue))) ?? null
}

/** The detectors that the same messages feed: of the models that read its input, with its key value. */
async function detectorsBeside({ account, modelName, keyValue }: Alarm, _: unknown, ctx: Context) {
  const model = await load(ctx, alarmModels, modelKey(account, modelName))
  const input = model && (await load(ctx, inputs, inputKey(account, model.inputNames[0]!)))
  const takers = (input?.takers ?? []).filter(({ type }) => type === 'detector')
  const found = await Promise.all(
    takers.map((taker) => load(ctx, detectors, instanceKey({ ...taker, account }, keyValue))),
  )
  return found.filter((detector) => detector !== undefined)
}

/** The alarms in the caller's account that watch a resource, whoever keeps that. */
async function alarmsOf(resourceId: string, { first, after }: Paging, ctx: Context) {
  // A person without an account of this service has no alarms, and may look at resources all the same.
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'ACCOUNT')?.id ?? 'none'
  const prefix = watchPrefix(account, resourceId)
  const page = await connect(ctx, watches, { first, after, prefix })
  const found = await Promise.all(page.edges.map(({ node }) => currentAlarm(node, ctx)))
  // What a changed model left behind is still there for a moment, and is not shown.
  const edges = page.edges.flatMap(({ cursor }, i) =>
    found[i] ? [{ cursor, node: found[i] }] : [],
  )
  return { nodes: edges.map(({ node }) => node), edges, pageInfo: page.pageInfo }
}

async function currentAlarm({ alarmKey }: Watch, ctx: Context): Promise<Alarm | undefined> {
  const alarm = await load(ctx, alarms, alarmKey)
  if (!alarm) return undefined
  const model = await load(ctx, alarmModels, modelKey(alarm.account, alarm.modelName))
  return model?.revision === alarm.revision ? alarm : undefined
}
