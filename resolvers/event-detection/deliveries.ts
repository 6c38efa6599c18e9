// Where messages go: to every detector and alarm that their inputs and key values name.
//
// Each detector and alarm is read and written once, however many of the messages go there.
import type { Context } from '../kernel/context.ts'
import type { Fault } from '../kernel/fault.ts'
import type { Kind, Records } from '../kernel/store.ts'
import { evaluateAlarm, firstState } from './alarm-rules.ts'
import { keepAlarm, watch } from './alarms.ts'
import { InvalidRequest } from './errors.ts'
import { inputKey, inputs, missing, type Input, type Taker } from './inputs.ts'
import { alarms, detectors, type Alarm, type Detector } from './instances.ts'
import { react, type DetectorState } from './machine.ts'
import { instanceKey, scopeOf } from './models.ts'
import { notify } from './notifications.ts'
import {
  keyValueIn,
  readyAlarmModel,
  readyDetectorModel,
  type ReadyAlarmModel,
  type ReadyDetectorModel,
} from './ready.ts'
import { keepDetector } from './timers.ts'

/** A message on its way to one detector or alarm. */
interface Target<Model> {
  readonly taker: Taker
  readonly account: string
  readonly model: Model
  readonly keyValue: string
  readonly key: string
  readonly inputName: string
  readonly payload: unknown
}

interface Targets {
  readonly detectors: Target<ReadyDetectorModel>[]
  readonly alarms: Target<ReadyAlarmModel>[]
}

/** A message that was read, or why it cannot be. */
export type Delivery = { readonly account: string; readonly inputName: string } & (
  { readonly payload: unknown } | { readonly fault: Fault }
)

/** Evaluates messages in their order, and returns for each why it was refused, if it was. */
export async function deliver(
  tx: Records,
  deliveries: readonly Delivery[],
  ctx: Context,
): Promise<(Fault | undefined)[]> {
  const keys = deliveries.map(({ account, inputName }) => inputKey(account, inputName))
  const byKey = await readAll(tx, inputs, keys)
  const targets: Targets = { detectors: [], alarms: [] }
  const outcomes: (Fault | undefined)[] = []
  for (const [i, delivery] of deliveries.entries()) {
    const input = byKey.get(keys[i]!)
    if ('fault' in delivery) outcomes.push(delivery.fault)
    else if (!input) outcomes.push(missing(delivery.inputName))
    else outcomes.push(await address(tx, input, delivery.payload, targets))
  }
  await runDetectors(tx, targets.detectors, ctx)
  await runAlarms(tx, targets.alarms, ctx)
  return outcomes
}

/**
 * Finds what a message goes to.
 * Chosen: a message without the key of one model still goes to the others. Where it goes to none of
 * those that read its input, it is refused: nothing would tell its sender that it was of no use.
 */
async function address(
  tx: Records,
  { account, inputName, takers }: Input,
  payload: unknown,
  targets: Targets,
): Promise<Fault | undefined> {
  let taken = 0
  for (const taker of takers) {
    const place = { account, modelName: taker.modelName, revision: taker.revision }
    const isDetector = taker.type === 'detector'
    const model = await (isDetector ? readyDetectorModel(tx, place) : readyAlarmModel(tx, place))
    if (!model) throw new Error(`${inputName} is taken by ${scopeOf(place)}, which is not there`)
    const keyValue = keyValueIn(payload, model)
    if (keyValue === undefined) continue
    taken += 1
    const key = instanceKey(place, keyValue)
    const list: Target<any>[] = isDetector ? targets.detectors : targets.alarms
    list.push({ taker, account, model, keyValue, key, inputName, payload })
  }
  if (taken > 0 || takers.length === 0) return undefined
  return InvalidRequest(
    `The payload holds the key of no model that reads ${inputName}: ` +
      'it must be 1 to 128 letters, digits, hyphens, underscores or colons.',
  )
}

/** The records of these keys as they are stored. */
async function readAll<T extends object>(
  tx: Records,
  kind: Kind<T>,
  keys: readonly string[],
): Promise<Map<string, T | undefined>> {
  const wanted = [...new Set(keys)]
  if (wanted.length === 0) return new Map()
  const records = await tx.getMany(kind, wanted)
  return new Map(wanted.map((key, i) => [key, records[i]]))
}

const keysOf = (targets: readonly Target<unknown>[]): string[] => targets.map(({ key }) => key)

async function runDetectors(
  tx: Records,
  targets: readonly Target<ReadyDetectorModel>[],
  ctx: Context,
): Promise<void> {
  const nowMs = ctx.clock.now().getTime()
  const before = await readAll(tx, detectors, keysOf(targets))
  const after = new Map<string, Detector>()
  for (const target of targets) {
    const { key, inputName, payload, model } = target
    const last = after.get(key) ?? before.get(key)
    const trigger = { inputName, payload }
    const state = react(last, { machine: model.machine, trigger, nowMs })
    if (last && isSame(last, state)) continue
    after.set(key, { ...(last ?? instanceOf(target, ctx)), ...state })
  }
  for (const [key, detector] of after) await keepDetector(tx, before.get(key), detector, ctx)
}

async function runAlarms(
  tx: Records,
  targets: readonly Target<ReadyAlarmModel>[],
  ctx: Context,
): Promise<void> {
  const before = await readAll(tx, alarms, keysOf(targets))
  const after = new Map<string, Alarm>()
  for (const target of targets) {
    const { key, inputName, payload, model } = target
    const last = after.get(key) ?? before.get(key)
    const state = last?.alarmState ?? firstState(model.rule)
    const scope = { inputName, payload, variables: {} }
    const alarmState = evaluateAlarm(state, model.rule, scope)
    if (last && alarmState === state) continue
    const { severity } = model.model
    const alarm = { severity, ...(last ?? instanceOf(target, ctx)), alarmState }
    after.set(key, alarm)
    if (!last) await watch(tx, alarm, model.model.watchedResourceIds)
    const hasBecomeActive = alarmState.stateName === 'ACTIVE' && state.stateName !== 'ACTIVE'
    if (hasBecomeActive) await notify(tx, alarm, model, scope, ctx)
  }
  for (const [key, alarm] of after) await keepAlarm(tx, before.get(key), alarm, ctx)
}

/** What a new detector or alarm is called. */
function instanceOf(
  { taker, account, model, keyValue }: Target<{ version: string }>,
  ctx: Context,
) {
  const { modelName, revision } = taker
  const now = ctx.clock.now().toISOString()
  const { version } = model
  return { account, modelName, version, revision, keyValue, creationTime: now, lastUpdateTime: now }
}

const isSame = (one: DetectorState, other: DetectorState): boolean =>
  one.stateName === other.stateName &&
  haveSame(one.variables, other.variables, (a, b) => a === b) &&
  haveSame(one.timers, other.timers, (a, b) => a.dueMs === b.dueMs && a.seconds === b.seconds)

function haveSame<T>(
  one: Readonly<Record<string, T>>,
  other: Readonly<Record<string, T>>,
  isSameValue: (one: T, other: T) => boolean,
): boolean {
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSameValue(one[name]!, other[name]!))
  )
}
