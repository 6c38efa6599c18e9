// Both sorts of models as cloud resources: found by their ARN, and tagged. Of the graph alone.
import { resourceTags } from '../families/aws.ts'
import { byId, type ResourceById, type TagChange } from '../families/by-id.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import type { Kind } from '../kernel/store.ts'
import * as alarm from './alarm-models.ts'
import * as detector from './detector-models.ts'
import { keyInArn, missingModel, type Model } from './models.ts'

interface Sort<T extends Model> {
  readonly sort: 'detector' | 'alarm'
  /** What its ARN calls it. */
  readonly resource: string
  readonly kind: Kind<T>
}

const DETECTOR_MODELS: Sort<detector.DetectorModel> = {
  sort: 'detector',
  resource: detector.RESOURCE,
  kind: detector.detectorModels,
}
const ALARM_MODELS: Sort<alarm.AlarmModel> = {
  sort: 'alarm',
  resource: alarm.RESOURCE,
  kind: alarm.alarmModels,
}

export const operations = [
  ...byId(resourceOf('DetectorModel', DETECTOR_MODELS)),
  ...byId(resourceOf('AlarmModel', ALARM_MODELS)),
]

export const entities = {
  DetectorModel: ({ id }: { id: string }, ctx: Context) => find(DETECTOR_MODELS, id, ctx),
  AlarmModel: ({ id }: { id: string }, ctx: Context) => find(ALARM_MODELS, id, ctx),
}

function resourceOf<T extends Model>(type: string, sort: Sort<T>): ResourceById {
  return {
    type,
    needs: {
      read: `iotevents:Describe${type}`,
      tag: 'iotevents:TagResource',
      untag: 'iotevents:UntagResource',
    },
    find: (id, ctx) => find(sort, id, ctx),
    tags: { shape: resourceTags, change: (id, to, ctx) => retag(sort, { id, to }, ctx) },
  }
}

/** Null if there is none, or it is not the caller's. */
async function find<T extends Model>(sort: Sort<T>, id: string, ctx: Context): Promise<T | null> {
  const key = keyInArn(id, sort.resource, ctx)
  return key === undefined ? null : ((await load(ctx, sort.kind, key)) ?? null)
}

/** Tags are no part of the definition: a change of them leaves version and detectors alone. */
async function retag<T extends Model>(
  { kind, resource, sort }: Sort<T>,
  { id, to }: { id: string; to: TagChange },
  ctx: Context,
): Promise<T> {
  const key = keyInArn(id, resource, ctx)
  return ctx.store.transaction(async (tx) => {
    const before = key === undefined ? undefined : await tx.get(kind, key)
    if (!before) throw missingModel(sort, id)
    const model: T = { ...before, tags: to(before.tags) }
    await tx.save(kind, model)
    await ctx.events.announce(tx, {
      type: `event-detection.${sort}-model.changed`,
      subject: id,
      body: { account: model.account, tags: model.tags },
    })
    return model
  })
}
