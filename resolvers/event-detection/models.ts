// What detector models and alarm models have in common: names, tags, and the inputs that they read.
//
// A change of a model gives it a new version and a new revision. What a revision made (detectors,
// alarms) is kept under it, so that a change leaves all of it behind at once, however much it is, and
// work removes it afterwards.
import { accountOf, arnOf, isOwnArn, readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { InvalidRequest, LimitExceeded, ResourceNotFound } from './errors.ts'
import type { References } from './expressions.ts'
import { firstUndeclared, inputKey, inputs, type Taker } from './inputs.ts'

export const MODELS_MAX = 1_000
const TAKERS_MAX = 50

/** What every model has. */
export interface Model {
  readonly account: string
  readonly key?: string | undefined
  /** Counts from 1. */
  readonly version: string
  readonly revision: string
  readonly inputNames: readonly string[]
  readonly tags: Readonly<Record<string, string>>
  readonly creationTime: string
  readonly lastUpdateTime: string
}

/** A record of the store stands under its account, its model, the revision of that, and its key. */
export interface Place {
  readonly account: string
  readonly modelName: string
  readonly revision: string
}

export const modelKey = (account: string, modelName: string): string => `${account}/${modelName}`

export const scopeOf = ({ account, modelName, revision }: Place): string =>
  `${account}/${modelName}/${revision}`

/** Where there is no key, there is one detector or alarm, and its key is empty. */
export const instanceKey = (place: Place, keyValue = ''): string => `${scopeOf(place)}/${keyValue}`

/** Chosen: names that stand for something else in a path of the REST interface name no model. */
export function checkName(modelName: string, reserved: readonly string[]): void {
  if (!reserved.includes(modelName)) return
  throw InvalidRequest(`${modelName} cannot name a model: it is a word of the interface.`)
}

/** The attributes that a model reads, by input: those in its expressions, and its key in each. */
export function readsOf({ attributes, inputs }: References, key: string | undefined) {
  const reads = new Map<string, string[]>()
  for (const name of inputs) {
    const paths = new Set(attributes.get(name))
    if (key !== undefined) paths.add(key)
    reads.set(name, [...paths].sort())
  }
  return reads
}

interface Attached {
  readonly account: string
  readonly type: Taker['type']
  readonly modelName: string
  /** The inputs that the model read before. */
  readonly before?: readonly string[]
  /** What it reads from now on; absent when it goes. */
  readonly reads?: ReadonlyMap<string, readonly string[]>
  readonly revision?: string
}

/** Tells the inputs of a model that it is there, or that it has changed or gone. */
export async function attach(tx: Records, attached: Attached): Promise<void> {
  const { account, type, modelName, before = [], reads = new Map(), revision = '' } = attached
  for (const inputName of new Set([...before, ...reads.keys()])) {
    const input = await tx.get(inputs, inputKey(account, inputName))
    const read = reads.get(inputName)
    if (!input) throw InvalidRequest(`There is no input named ${inputName}. Create it first.`)
    const takers = input.takers.filter(
      (taker) => taker.type !== type || taker.modelName !== modelName,
    )
    if (read) {
      const undeclared = firstUndeclared(input, read)
      if (undeclared !== undefined) {
        throw InvalidRequest(`The input ${inputName} declares no attribute ${undeclared}.`)
      }
      takers.push({ type, modelName, revision, reads: read })
    }
    if (takers.length > TAKERS_MAX) {
      throw LimitExceeded(`An input is read by at most ${TAKERS_MAX} models.`)
    }
    await tx.save(inputs, { ...input, takers })
  }
}

export const nextVersion = ({ version }: Pick<Model, 'version'>): string =>
  String(Number(version) + 1)

export const modelArn = (account: string, resource: string): string =>
  arnOf({ service: 'iotevents', account, resource })

/** The name in the ARN of a model; undefined when it is of something else or not the caller's. */
export function nameInArn(id: string, resource: string, ctx: Context): string | undefined {
  const arn = readArn(id)
  if (!arn || !isOwnArn(ctx, arn, 'iotevents') || !arn.resource.startsWith(`${resource}/`)) {
    return undefined
  }
  return arn.resource.slice(resource.length + 1)
}

/** The key of the model with this ARN. */
export function keyInArn(id: string, resource: string, ctx: Context): string | undefined {
  const name = nameInArn(id, resource, ctx)
  return name === undefined ? undefined : modelKey(readArn(id)!.account, name)
}

export const missingModel = (sort: string, name: string) =>
  ResourceNotFound(`There is no ${sort} model named ${name}.`)

export const ownPrefix = (ctx: Context): string => `${accountOf(ctx)}/`
