// Configuration sets by their ARN: read, tagged, taken as a whole and put back. In the graph alone.
import { byId, type TagChange } from '../families/by-id.ts'
import { readArn, resourceTags } from '../families/aws.ts'
import { snapshots, type Restored, type Snapshot } from '../families/snapshots.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import {
  configurationSets,
  insertSet,
  keyOfOwnSet,
  needSet,
  readName,
  saveSet,
  setArn,
  setNameIn,
  type ConfigurationSet,
} from './configuration-sets.ts'
import { resolveConfigurationSet } from './entities.ts'
import { NotFound } from './errors.ts'

const TYPE = 'VoiceConfigurationSet'
const READ = 'sms-voice:GetConfigurationSetEventDestinations'

type State = Pick<ConfigurationSet, 'EventDestinations' | 'Tags'>
type Own = Pick<ConfigurationSet, 'CreatedTime'>

const taken = snapshots({
  type: TYPE,
  kind: configurationSets,
  needs: { take: READ, restore: 'sms-voice:CreateConfigurationSet' },
  keyOf: keyOfOwnSet,
  missing,
  take,
  put,
})

export const operations = [
  ...byId({
    type: TYPE,
    needs: { read: READ, tag: 'sms-voice:TagResource', untag: 'sms-voice:UntagResource' },
    find: (id, ctx) => resolveConfigurationSet({ id }, ctx),
    tags: { shape: resourceTags, change: changeTags },
  }),
  ...taken.operations,
]
export const { kinds, steps } = taken

export async function changeTags(
  id: string,
  to: TagChange,
  ctx: Context,
): Promise<ConfigurationSet> {
  const key = keyOfOwnSet(id, ctx)
  if (key === undefined) throw missing(id)
  return ctx.store.transaction(async (tx) => {
    const set = await needSet(tx, key)
    const changed = { ...set, Tags: to(set.Tags ?? {}) }
    await saveSet(changed, tx, ctx)
    return changed
  })
}

async function take(tx: Records, key: string): Promise<Snapshot<State, Own> | undefined> {
  const set = await tx.get(configurationSets, key)
  if (!set) return undefined
  const { Account: _, ConfigurationSetName: __, CreatedTime, ...state } = set
  return { id: setArn(set), state, own: { CreatedTime } }
}

async function put(tx: Records, restored: Restored<State, Own>, ctx: Context): Promise<void> {
  const { id, state, own, isCopy } = restored
  const set: ConfigurationSet = {
    ...state,
    Account: readArn(id)!.account,
    ConfigurationSetName: readName('ConfigurationSetName', setNameIn(id)),
    CreatedTime: isCopy ? ctx.clock.now().toISOString() : own!.CreatedTime,
  }
  await insertSet(set, tx, ctx)
}

function missing(id: string) {
  return NotFound(`There is no configuration set ${id}.`)
}
