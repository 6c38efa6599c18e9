// Models taken as a whole, with their detectors or alarms, and put back. Of the graph alone.
//
// 1. Inputs are no resources of their own, so those that a model reads are taken with it, and made
//    again where they are gone. One that is there stays as it is.
// 2. Chosen: the notifications of an alarm are what was said, and no part of its state.
import { readArn } from '../families/aws.ts'
import { everyOf, snapshots, type Restored, type Snapshot } from '../families/snapshots.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import * as alarm from './alarm-models.ts'
import type { AlarmModel } from './alarm-models.ts'
import { restoreAlarm } from './alarms.ts'
import * as detector from './detector-models.ts'
import type { DetectorModel } from './detector-models.ts'
import { InvalidRequest } from './errors.ts'
import { inputKey, inputs, insertInput, type Input } from './inputs.ts'
import { alarms, detectors, type Alarm, type Detector } from './instances.ts'
import { keyInArn, missingModel, nameInArn, scopeOf } from './models.ts'
import { modelName } from './shapes.ts'
import { restoreDetector } from './timers.ts'

type TakenInput = Pick<Input, 'inputName' | 'inputDescription' | 'inputDefinition'>
type Naming = 'account' | 'modelName' | 'version' | 'revision'

interface Own {
  readonly creationTime: string
  readonly lastUpdateTime: string
  readonly inputs: readonly TakenInput[]
}

interface DetectorModelState extends Pick<
  DetectorModel,
  | 'detectorModelDescription'
  | 'detectorModelDefinition'
  | 'evaluationMethod'
  | 'key'
  | 'tags'
  | 'version'
> {
  readonly detectors: readonly Omit<Detector, Naming | 'wakeMs'>[]
}

interface AlarmModelState extends Pick<
  AlarmModel,
  | 'alarmModelDescription'
  | 'severity'
  | 'alarmRule'
  | 'alarmCapabilities'
  | 'alarmNotification'
  | 'watchedResourceIds'
  | 'key'
  | 'tags'
  | 'version'
> {
  readonly alarms: readonly Omit<Alarm, Naming>[]
}

export const { operations, kinds, steps } = snapshots(
  {
    type: 'DetectorModel',
    kind: detector.detectorModels,
    needs: {
      take: 'iotevents:DescribeDetectorModel',
      restore: 'iotevents:CreateDetectorModel',
    },
    keyOf: (id, ctx) => keyInArn(id, detector.RESOURCE, ctx),
    missing: (id) => missingModel('detector', id),
    take: takeDetectorModel,
    put: putDetectorModel,
  },
  {
    type: 'AlarmModel',
    kind: alarm.alarmModels,
    needs: { take: 'iotevents:DescribeAlarmModel', restore: 'iotevents:CreateAlarmModel' },
    keyOf: (id, ctx) => keyInArn(id, alarm.RESOURCE, ctx),
    missing: (id) => missingModel('alarm', id),
    take: takeAlarmModel,
    put: putAlarmModel,
  },
)

async function takeDetectorModel(
  tx: Records,
  key: string,
): Promise<Snapshot<DetectorModelState, Own> | undefined> {
  const model = await tx.get(detector.detectorModels, key)
  if (!model) return undefined
  const place = { ...model, modelName: model.detectorModelName }
  const made = await everyOf(tx, detectors, `${scopeOf(place)}/`)
  const { detectorModelDescription, detectorModelDefinition, evaluationMethod } = model
  return {
    id: detector.detectorModelArn(model),
    state: {
      detectorModelDescription,
      detectorModelDefinition,
      evaluationMethod,
      key: model.key,
      tags: model.tags,
      version: model.version,
      detectors: made.map(({ wakeMs: _, ...rest }) => unnamed(rest)),
    },
    own: await takeOwn(tx, model),
  }
}

async function putDetectorModel(
  tx: Records,
  restored: Restored<DetectorModelState, Own>,
  ctx: Context,
): Promise<void> {
  const { detectors: taken, ...state } = restored.state
  const { modelName, ...about } = await putGround(tx, restored, detector.RESOURCE, ctx)
  const read = detector.readModel({ ...state, detectorModelName: modelName }, about)
  await detector.insertDetectorModel(tx, read, ctx)
  const { account, version, revision } = about
  for (const one of taken) {
    await restoreDetector(tx, { ...one, account, modelName, version, revision }, ctx)
  }
}

async function takeAlarmModel(
  tx: Records,
  key: string,
): Promise<Snapshot<AlarmModelState, Own> | undefined> {
  const model = await tx.get(alarm.alarmModels, key)
  if (!model) return undefined
  const place = { ...model, modelName: model.alarmModelName }
  const made = await everyOf(tx, alarms, `${scopeOf(place)}/`)
  return {
    id: alarm.alarmModelArn(model),
    state: {
      alarmModelDescription: model.alarmModelDescription,
      severity: model.severity,
      alarmRule: model.alarmRule,
      alarmCapabilities: model.alarmCapabilities,
      alarmNotification: model.alarmNotification,
      watchedResourceIds: model.watchedResourceIds,
      key: model.key,
      tags: model.tags,
      version: model.version,
      alarms: made.map(unnamed),
    },
    own: await takeOwn(tx, model),
  }
}

async function putAlarmModel(
  tx: Records,
  restored: Restored<AlarmModelState, Own>,
  ctx: Context,
): Promise<void> {
  const { alarms: taken, ...state } = restored.state
  const { modelName, ...about } = await putGround(tx, restored, alarm.RESOURCE, ctx)
  const read = alarm.readModel(
    { ...state, alarmModelName: modelName },
    { ...about, ...alarm.behind(ctx) },
  )
  await alarm.insertAlarmModel(tx, read, ctx)
  const { account, version, revision } = about
  for (const one of taken) {
    const restoredAlarm = { ...one, account, modelName, version, revision }
    await restoreAlarm(tx, restoredAlarm, state.watchedResourceIds, ctx)
  }
}

/** Without what names the model, which a copy is not. */
function unnamed<T extends Detector | Alarm>(instance: T): Omit<T, Naming> {
  const { account: _, modelName: __, version: ___, revision: ____, ...rest } = instance
  return rest
}

async function takeOwn(
  tx: Records,
  { account, inputNames, creationTime, lastUpdateTime }: DetectorModel | AlarmModel,
): Promise<Own> {
  const read = await tx.getMany(
    inputs,
    inputNames.map((name) => inputKey(account, name)),
  )
  const taken = read.map((input) => {
    const { inputName, inputDescription, inputDefinition } = input!
    return { inputName, inputDescription, inputDefinition }
  })
  return { creationTime, lastUpdateTime, inputs: taken }
}

/** Makes the inputs that are gone, and says what the model is called and when it was made. */
async function putGround(
  tx: Records,
  { id, own, state, isCopy }: Restored<DetectorModelState | AlarmModelState, Own>,
  resource: string,
  ctx: Context,
) {
  const { account } = readArn(id)!
  const name = modelName.safeParse(nameInArn(id, resource, ctx))
  if (!name.success) throw InvalidRequest(`${id} names no model that there could be.`)
  for (const input of own!.inputs) {
    const isThere = await tx.get(inputs, inputKey(account, input.inputName))
    if (!isThere) await insertInput(tx, { ...input, account }, ctx)
  }
  const now = ctx.clock.now().toISOString()
  return {
    account,
    modelName: name.data,
    key: state.key,
    tags: state.tags,
    version: state.version,
    revision: ctx.newId(),
    creationTime: isCopy ? now : own!.creationTime,
    lastUpdateTime: isCopy ? now : own!.lastUpdateTime,
  }
}
