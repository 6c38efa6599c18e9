// Models made ready to run, remembered by their revision, of which nothing ever changes.
import { LRUCache } from 'lru-cache'
import type { Records } from '../kernel/store.ts'
import { alarmModels, type AlarmModel } from './alarm-models.ts'
import { readRule, type Rule } from './alarm-rules.ts'
import { readDefinition, type Machine } from './definitions.ts'
import { detectorModels } from './detector-models.ts'
import { valueAt } from './expressions.ts'
import { modelKey, type Place } from './models.ts'
import { isKeyValue } from './shapes.ts'
import { asText } from './values.ts'

const READY_MAX = 1_000

interface Ready {
  readonly version: string
  /** Where the key is in a message; absent where the model has none. */
  readonly keyPath?: readonly (string | number)[] | undefined
}

export interface ReadyDetectorModel extends Ready {
  readonly machine: Machine
}

export interface ReadyAlarmModel extends Ready {
  readonly rule: Rule
  readonly model: AlarmModel
}

const readyDetectorModels = new LRUCache<string, ReadyDetectorModel>({ max: READY_MAX })
const readyAlarmModels = new LRUCache<string, ReadyAlarmModel>({ max: READY_MAX })

/** Undefined when the model has another revision by now, or is gone, and this one is not remembered. */
export async function readyDetectorModel(
  tx: Records,
  { account, modelName, revision }: Place,
): Promise<ReadyDetectorModel | undefined> {
  const known = readyDetectorModels.get(revision)
  if (known) return known
  const model = await tx.get(detectorModels, modelKey(account, modelName))
  if (model?.revision !== revision) return undefined
  const { detectorModelDefinition, evaluationMethod, version, key } = model
  const { machine } = readDefinition(detectorModelDefinition, evaluationMethod)
  const ready = { machine, version, keyPath: key === undefined ? undefined : pathIn(key) }
  readyDetectorModels.set(revision, ready)
  return ready
}

/** The same of an alarm model. */
export async function readyAlarmModel(
  tx: Records,
  { account, modelName, revision }: Place,
): Promise<ReadyAlarmModel | undefined> {
  const known = readyAlarmModels.get(revision)
  if (known) return known
  const model = await tx.get(alarmModels, modelKey(account, modelName))
  if (model?.revision !== revision) return undefined
  const { version, key } = model
  const { rule } = readRule(model)
  const ready = { rule, model, version, keyPath: key === undefined ? undefined : pathIn(key) }
  readyAlarmModels.set(revision, ready)
  return ready
}

/** The key value that a message has for a model; undefined when it has none that fits. */
export function keyValueIn(payload: unknown, { keyPath }: Ready): string | undefined {
  if (!keyPath) return ''
  const value = asText(valueAt(payload, keyPath))
  return value !== undefined && isKeyValue(value) ? value : undefined
}

/** The steps of a path such as `sensor.values[0]`. */
const pathIn = (path: string): (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|([A-Za-z_]\w*)/g)].map(([, place, name]) =>
    place === undefined ? name! : Number(place),
  )
