// Alarm models: a threshold, how severe it is to breach it, and whom to call then. Of the graph alone.
import { accountOf, REGION, resourceTags } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, reply } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { readRule } from './alarm-rules.ts'
import { LimitExceeded, ResourceAlreadyExists } from './errors.ts'
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
  alarmCapabilities,
  alarmNotification,
  alarmRule,
  attributePath,
  description,
  modelName,
  severity,
  watchedResourceIds,
  type AlarmCapabilities,
  type AlarmNotification,
  type AlarmRule,
} from './shapes.ts'

const RESOURCE_TYPE = 'AWS::IoTEvents::AlarmModel'
export const RESOURCE = 'alarmModel'
/** POST /alarms/acknowledge and the like. */
const RESERVED = ['acknowledge', 'disable', 'enable', 'reset', 'snooze']

export interface AlarmModel extends Model {
  readonly alarmModelName: string
  readonly alarmModelDescription?: string | undefined
  readonly severity?: number | undefined
  readonly alarmRule: AlarmRule
  readonly alarmCapabilities?: AlarmCapabilities | undefined
  readonly alarmNotification?: AlarmNotification | undefined
  readonly watchedResourceIds: readonly string[]
  /** Who is behind what the alarms of the model do by themselves, and what that person permitted. */
  readonly userId: string
  readonly permissions: readonly string[]
}

export const alarmModels = kind<AlarmModel>('alarm_model', {
  key: ({ account, alarmModelName }) => modelKey(account, alarmModelName),
})
export const kinds = [alarmModels]

const defined = {
  alarmModelName: modelName,
  alarmModelDescription: description,
  severity: optional(severity),
  alarmRule,
  alarmCapabilities: optional(alarmCapabilities),
  alarmNotification: optional(alarmNotification),
  watchedResourceIds: optional(watchedResourceIds),
}

export const operations = [
  operation({
    name: 'createAlarmModel',
    input: { ...defined, key: optional(attributePath), tags: optional(resourceTags) },
    needs: 'iotevents:CreateAlarmModel',
    refuses: {
      409: 'The account has an alarm model of this name.',
      410: 'There are as many models as there may be.',
    },
    run: createAlarmModel,
  }),
  operation({
    name: 'updateAlarmModel',
    input: defined,
    needs: 'iotevents:UpdateAlarmModel',
    refuses: { 404: 'There is no such model.' },
    run: updateAlarmModel,
  }),
  operation({
    name: 'deleteAlarmModel',
    input: { alarmModelName: modelName },
    needs: 'iotevents:DeleteAlarmModel',
    refuses: { 404: 'There is no such model.' },
    run: deleteAlarmModel,
  }),
  operation({
    name: 'alarmModel',
    input: { alarmModelName: modelName },
    needs: 'iotevents:DescribeAlarmModel',
    run: ({ alarmModelName }, ctx) => needAlarmModel(ctx.store, accountOf(ctx), alarmModelName),
  }),
  operation({
    name: 'alarmModels',
    input: paging,
    needs: 'iotevents:ListAlarmModels',
    run: ({ first, after }, ctx) =>
      connect(ctx, alarmModels, { first, after, prefix: ownPrefix(ctx) }),
  }),
]

export const fields = {
  AlarmModel: {
    id: (model: AlarmModel) => alarmModelArn(model),
    name: ({ alarmModelName }: AlarmModel) => alarmModelName,
    type: () => RESOURCE_TYPE,
    location: () => REGION,
    alarmModelVersion: ({ version }: AlarmModel) => version,
    inputName: ({ inputNames }: AlarmModel) => inputNames[0]!,
  },
}

interface SentModel {
  readonly alarmModelName: string
  readonly alarmModelDescription?: string | undefined
  readonly severity?: number | undefined
  readonly alarmRule: AlarmRule
  readonly alarmCapabilities?: AlarmCapabilities | undefined
  readonly alarmNotification?: AlarmNotification | undefined
  readonly watchedResourceIds?: readonly string[] | undefined
}

interface NewModel extends SentModel {
  readonly key?: string | undefined
  readonly tags?: Readonly<Record<string, string>> | undefined
}

type About = Omit<Model, 'inputNames'> & Pick<AlarmModel, 'userId' | 'permissions'>

export async function createAlarmModel(sent: NewModel, ctx: Context): Promise<AlarmModel> {
  const now = ctx.clock.now().toISOString()
  const read = readModel(sent, {
    ...behind(ctx),
    account: accountOf(ctx),
    key: sent.key,
    version: '1',
    revision: ctx.newId(),
    tags: sent.tags ?? {},
    creationTime: now,
    lastUpdateTime: now,
  })
  await ctx.store.transaction((tx) => insertAlarmModel(tx, read, ctx))
  return read.model
}

/** Whoever writes the text of a notification is who sends it. */
export const behind = ({ caller: { userId, permissions } }: Context) => ({ userId, permissions })

interface ReadModel {
  readonly model: AlarmModel
  readonly reads: ReadonlyMap<string, readonly string[]>
}

export async function insertAlarmModel(
  tx: Records,
  { model, reads }: ReadModel,
  ctx: Context,
): Promise<void> {
  const { account, alarmModelName, revision } = model
  if (!(await tx.insert(alarmModels, model))) {
    throw ResourceAlreadyExists(`There is an alarm model named ${alarmModelName} already.`)
  }
  if ((await tx.count(alarmModels, { prefix: modelKey(account, '') })) > MODELS_MAX) {
    throw LimitExceeded(`An account has at most ${MODELS_MAX} alarm models.`)
  }
  await attach(tx, { account, type: 'alarm', modelName: alarmModelName, reads, revision })
  await announce(tx, model, 'created', ctx)
}

/** Chosen: as with the published service, the key of a model stays, and its alarms begin anew. */
async function updateAlarmModel(sent: SentModel, ctx: Context): Promise<AlarmModel> {
  const account = accountOf(ctx)
  return ctx.store.transaction(async (tx) => {
    const before = await needAlarmModel(tx, account, sent.alarmModelName)
    const { model, reads } = readModel(sent, {
      ...before,
      ...behind(ctx),
      version: nextVersion(before),
      revision: ctx.newId(),
      lastUpdateTime: ctx.clock.now().toISOString(),
    })
    const { alarmModelName: modelName, revision } = model
    const attached = { account, type: 'alarm', modelName, reads, revision } as const
    await attach(tx, { ...attached, before: before.inputNames })
    await tx.save(alarmModels, model)
    await leaveBehind(tx, 'alarm', scopeOf({ ...before, modelName }), ctx)
    await announce(tx, model, 'changed', ctx)
    return model
  })
}

async function deleteAlarmModel({ alarmModelName }: { alarmModelName: string }, ctx: Context) {
  const account = accountOf(ctx)
  await ctx.store.transaction(async (tx) => {
    const model = await needAlarmModel(tx, account, alarmModelName)
    const { inputNames: before } = model
    await attach(tx, { account, type: 'alarm', modelName: alarmModelName, before })
    await tx.remove(alarmModels, modelKey(account, alarmModelName))
    await leaveBehind(tx, 'alarm', scopeOf({ ...model, modelName: alarmModelName }), ctx)
    await announce(tx, model, 'deleted', ctx)
  })
  return reply(200)
}

/** Checks a rule and adds what follows from it. */
export function readModel(sent: SentModel, about: About): ReadModel {
  checkName(sent.alarmModelName, RESERVED)
  const reads = readsOf(readRule(sent).refers, about.key)
  const model: AlarmModel = {
    account: about.account,
    alarmModelName: sent.alarmModelName,
    alarmModelDescription: sent.alarmModelDescription,
    severity: sent.severity,
    alarmRule: sent.alarmRule,
    alarmCapabilities: sent.alarmCapabilities,
    alarmNotification: sent.alarmNotification,
    watchedResourceIds: [...new Set(sent.watchedResourceIds)],
    userId: about.userId,
    permissions: about.permissions,
    key: about.key,
    version: about.version,
    revision: about.revision,
    inputNames: [...reads.keys()],
    tags: about.tags,
    creationTime: about.creationTime,
    lastUpdateTime: about.lastUpdateTime,
  }
  return { model, reads }
}

export async function needAlarmModel(
  records: Records,
  account: string,
  name: string,
): Promise<AlarmModel> {
  const model = await records.get(alarmModels, modelKey(account, name))
  if (model) return model
  throw missingModel('alarm', name)
}

const announce = (tx: Records, model: AlarmModel, happened: string, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `event-detection.alarm-model.${happened}`,
    subject: alarmModelArn(model),
    body: { account: model.account, alarmModelVersion: model.version },
  })

export const alarmModelArn = ({ account, alarmModelName }: AlarmModel): string =>
  modelArn(account, `${RESOURCE}/${alarmModelName}`)
