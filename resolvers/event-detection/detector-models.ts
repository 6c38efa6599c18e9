// Detector models: states, and what moves a detector between them. Of the graph alone.
import { accountOf, REGION, resourceTags } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, reply } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { readDefinition } from './definitions.ts'
import { InvalidRequest, LimitExceeded, ResourceAlreadyExists } from './errors.ts'
import {
  attach,
  checkName,
  missingModel,
  modelArn,
  modelKey,
  MODELS_MAX,
  nextVersion,
  ownPrefix,
  readsOf,
  scopeOf,
  type Model,
} from './models.ts'
import { leaveBehind } from './removals.ts'
import {
  attributePath,
  description,
  detectorModelDefinition,
  evaluationMethod,
  modelName,
  type DetectorModelDefinition,
} from './shapes.ts'

const RESOURCE_TYPE = 'AWS::IoTEvents::DetectorModel'
export const RESOURCE = 'detectorModel'
/** POST /detectors/delete. */
const RESERVED = ['delete']

export interface DetectorModel extends Model {
  readonly detectorModelName: string
  readonly detectorModelDescription?: string | undefined
  readonly detectorModelDefinition: DetectorModelDefinition
  readonly evaluationMethod: 'BATCH' | 'SERIAL'
  readonly warnings: readonly string[]
}

export const detectorModels = kind<DetectorModel>('detector_model', {
  key: ({ account, detectorModelName }) => modelKey(account, detectorModelName),
})
export const kinds = [detectorModels]

const defined = {
  detectorModelName: modelName,
  detectorModelDescription: description,
  detectorModelDefinition,
  evaluationMethod: optional(evaluationMethod),
}

export const operations = [
  operation({
    name: 'createDetectorModel',
    input: { ...defined, key: optional(attributePath), tags: optional(resourceTags) },
    needs: 'iotevents:CreateDetectorModel',
    refuses: {
      409: 'The account has a detector model of this name.',
      410: 'There are as many models as there may be.',
    },
    run: createDetectorModel,
  }),
  operation({
    name: 'updateDetectorModel',
    input: defined,
    needs: 'iotevents:UpdateDetectorModel',
    refuses: { 404: 'There is no such model.' },
    run: updateDetectorModel,
  }),
  operation({
    name: 'deleteDetectorModel',
    input: { detectorModelName: modelName },
    needs: 'iotevents:DeleteDetectorModel',
    refuses: { 404: 'There is no such model.' },
    run: deleteDetectorModel,
  }),
  operation({
    name: 'detectorModel',
    input: { detectorModelName: modelName },
    needs: 'iotevents:DescribeDetectorModel',
    run: ({ detectorModelName }, ctx) =>
      needDetectorModel(ctx.store, accountOf(ctx), detectorModelName),
  }),
  operation({
    name: 'detectorModels',
    input: paging,
    needs: 'iotevents:ListDetectorModels',
    run: ({ first, after }, ctx) =>
      connect(ctx, detectorModels, { first, after, prefix: ownPrefix(ctx) }),
  }),
]

export const fields = {
  DetectorModel: {
    id: (model: DetectorModel) => detectorModelArn(model),
    name: ({ detectorModelName }: DetectorModel) => detectorModelName,
    type: () => RESOURCE_TYPE,
    location: () => REGION,
    detectorModelVersion: ({ version }: DetectorModel) => version,
  },
}

interface SentModel {
  readonly detectorModelName: string
  readonly detectorModelDescription?: string | undefined
  readonly detectorModelDefinition: DetectorModelDefinition
  readonly evaluationMethod?: 'BATCH' | 'SERIAL' | undefined
}

interface NewModel extends SentModel {
  readonly key?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
}

export async function createDetectorModel(sent: NewModel, ctx: Context): Promise<DetectorModel> {
  const now = ctx.clock.now().toISOString()
  const { model, reads } = readModel(sent, {
    account: accountOf(ctx),
    key: sent.key,
    version: '1',
    revision: ctx.newId(),
    tags: sent.tags ?? {},
    creationTime: now,
    lastUpdateTime: now,
  })
  await ctx.store.transaction((tx) => insertDetectorModel(tx, { model, reads }, ctx))
  return model
}

interface ReadModel {
  readonly model: DetectorModel
  readonly reads: ReadonlyMap<string, readonly string[]>
}

export async function insertDetectorModel(
  tx: Records,
  { model, reads }: ReadModel,
  ctx: Context,
): Promise<void> {
  const { account, detectorModelName, revision } = model
  if (!(await tx.insert(detectorModels, model))) {
    throw ResourceAlreadyExists(`There is a detector model named ${detectorModelName} already.`)
  }
  if ((await tx.count(detectorModels, { prefix: modelKey(account, '') })) > MODELS_MAX) {
    throw LimitExceeded(`An account has at most ${MODELS_MAX} detector models.`)
  }
  await attach(tx, { account, type: 'detector', modelName: detectorModelName, reads, revision })
  await announce(tx, model, 'created', ctx)
}

/** Chosen: as with the published service, the key of a model stays, and its detectors begin anew. */
async function updateDetectorModel(sent: SentModel, ctx: Context): Promise<DetectorModel> {
  const account = accountOf(ctx)
  return ctx.store.transaction(async (tx) => {
    const before = await needDetectorModel(tx, account, sent.detectorModelName)
    const { model, reads } = readModel(sent, {
      ...before,
      version: nextVersion(before),
      revision: ctx.newId(),
      lastUpdateTime: ctx.clock.now().toISOString(),
    })
    const { detectorModelName: modelName, revision } = model
    const attached = { account, type: 'detector', modelName, reads, revision } as const
    await attach(tx, { ...attached, before: before.inputNames })
    await tx.save(detectorModels, model)
    await leaveBehind(tx, 'detector', scopeOf({ ...before, modelName }), ctx)
    await announce(tx, model, 'changed', ctx)
    return model
  })
}

async function deleteDetectorModel(
  { detectorModelName }: { detectorModelName: string },
  ctx: Context,
) {
  const account = accountOf(ctx)
  await ctx.store.transaction(async (tx) => {
    const model = await needDetectorModel(tx, account, detectorModelName)
    await attach(tx, {
      account,
      type: 'detector',
      modelName: detectorModelName,
      before: model.inputNames,
    })
    await tx.remove(detectorModels, modelKey(account, detectorModelName))
    await leaveBehind(tx, 'detector', scopeOf({ ...model, modelName: detectorModelName }), ctx)
    await announce(tx, model, 'deleted', ctx)
  })
  return reply(200)
}

/** Checks a definition and adds what follows from it. */
export function readModel(sent: SentModel, about: Omit<Model, 'inputNames'>): ReadModel {
  const { detectorModelName, detectorModelDescription, detectorModelDefinition } = sent
  const { evaluationMethod = 'BATCH' } = sent
  checkName(detectorModelName, RESERVED)
  const { refers, warnings } = readDefinition(detectorModelDefinition, evaluationMethod)
  const [alarm] = refers.alarm
  if (alarm !== undefined) throw InvalidRequest(`$alarm.${alarm} is of alarm models alone.`)
  const reads = readsOf(refers, about.key)
  if (reads.size === 0) throw InvalidRequest('The model reads no input: no expression names one.')
  const model: DetectorModel = {
    account: about.account,
    detectorModelName,
    detectorModelDescription,
    detectorModelDefinition,
    evaluationMethod,
    key: about.key,
    version: about.version,
    revision: about.revision,
    inputNames: [...reads.keys()].sort(),
    warnings,
    tags: about.tags,
    creationTime: about.creationTime,
    lastUpdateTime: about.lastUpdateTime,
  }
  return { model, reads }
}

export async function needDetectorModel(
  records: Records,
  account: string,
  name: string,
): Promise<DetectorModel> {
  const model = await records.get(detectorModels, modelKey(account, name))
  if (model) return model
  throw missingModel('detector', name)
}

const announce = (tx: Records, model: DetectorModel, happened: string, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `event-detection.detector-model.${happened}`,
    subject: detectorModelArn(model),
    body: { account: model.account, detectorModelVersion: model.version },
  })

export const detectorModelArn = ({ account, detectorModelName }: DetectorModel): string =>
  modelArn(account, `${RESOURCE}/${detectorModelName}`)
