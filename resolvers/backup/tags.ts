// Tags on whatever the service keeps, by ARN. Specification 3, service K, group tags.
import { z } from 'zod'
import { isOwnArn, readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post, reply } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import { kind, type Kind, type Records } from '../kernel/store.ts'
import { InvalidParameterValue, LimitExceeded, ResourceNotFound } from './errors.ts'
import { legalHolds } from './legal-hold-records.ts'
import { frameworks, reportPlans } from './audit-records.ts'
import { plans, recoveryPoints, vaults } from './kinds.ts'
import { testingPlans } from './testing-records.ts'
import { nothing, paged, tagMap } from './shapes.ts'

const TAGS_MAX = 50

interface Tagged {
  readonly Arn: string
  readonly Tags: Readonly<Record<string, string>>
}

export const tagged = kind<Tagged>('backup_tagged', { key: ({ Arn }) => Arn })
export const kinds = [tagged]

/** What stands first in the resource of an ARN, what it is announced as, and its kind. */
const TAGGABLE: Readonly<Record<string, [announced: string, kind: Kind<any>]>> = {
  'backup-vault': ['vault', vaults],
  'backup-plan': ['plan', plans],
  'recovery-point': ['recovery-point', recoveryPoints],
  'legal-hold': ['legal-hold', legalHolds],
  framework: ['framework', frameworks],
  'report-plan': ['report-plan', reportPlans],
  'restore-testing-plan': ['restore-testing-plan', testingPlans],
}

export const operations = [
  operation({
    name: 'backupTags',
    rest: get('/tags/{ResourceArn}', {
      isBeyond: true,
      show: (Tags: object) => ({ Tags }),
    }),
    input: { ResourceArn: text, ...paged },
    needs: 'backup:ListTags',
    // Chosen: a resource has few tags by rule, so one page holds all of them.
    async run({ ResourceArn }, ctx) {
      await needTaggable(ctx.store, ResourceArn, ctx)
      return tagsOf(ctx, ResourceArn)
    },
  }),
  operation({
    name: 'tagBackupResource',
    rest: post('/tags/{ResourceArn}', { isBeyond: true, ...nothing }),
    input: { ResourceArn: text, Tags: tagMap },
    needs: 'backup:TagResource',
    run: ({ ResourceArn, Tags }, ctx) => tag(ResourceArn, Tags, ctx),
  }),
  operation({
    name: 'untagBackupResource',
    rest: post('/untag/{ResourceArn}', { isBeyond: true, ...nothing }),
    input: { ResourceArn: text, TagKeyList: z.array(text).max(TAGS_MAX) },
    needs: 'backup:UntagResource',
    run: ({ ResourceArn, TagKeyList }, ctx) => untag(ResourceArn, TagKeyList, ctx),
  }),
]

/** The tags of one ARN, read with all others that are asked for in the same tick. */
export async function tagsOf(ctx: Context, arn: string): Promise<Readonly<Record<string, string>>> {
  return (await load(ctx, tagged, arn))?.Tags ?? {}
}

export const tagsIn = async (tx: Records, arn: string): Promise<Tagged['Tags']> =>
  (await tx.get(tagged, arn))?.Tags ?? {}

/** Replaces all tags; none removes the record. */
export async function setTags(
  tx: Records,
  Arn: string,
  Tags: Readonly<Record<string, string>> = {},
): Promise<void> {
  const count = Object.keys(Tags).length
  if (count > TAGS_MAX) throw LimitExceeded(`A resource has at most ${TAGS_MAX} tags.`)
  if (count === 0) await tx.remove(tagged, Arn)
  else await tx.save(tagged, { Arn, Tags })
}

/** Adds tags and overwrites those of the same names. */
export async function tag(arn: string, tags: Readonly<Record<string, string>>, ctx: Context) {
  const reserved = Object.keys(tags).find((key) => /^aws:/i.test(key))
  if (reserved !== undefined) {
    throw InvalidParameterValue(`Tags must not begin with aws:, as ${reserved} does.`)
  }
  return changeTags(arn, ctx, (before) => ({ ...before, ...tags }))
}

export const untag = (arn: string, keys: readonly string[], ctx: Context) =>
  changeTags(arn, ctx, (before) =>
    Object.fromEntries(Object.entries(before).filter(([key]) => !keys.includes(key))),
  )

export async function changeTags(
  arn: string,
  ctx: Context,
  to: (tags: Tagged['Tags']) => Tagged['Tags'],
) {
  await ctx.store.transaction(async (tx) => {
    const announced = await needTaggable(tx, arn, ctx)
    const tags = to(await tagsIn(tx, arn))
    await setTags(tx, arn, tags)
    const type = `backup.${announced}.changed`
    await ctx.events.announce(tx, { type, subject: arn, body: { tags } })
  })
  return reply(200)
}

/** Refuses what has no tags. Returns what it is announced as. */
async function needTaggable(from: Records, arn: string, ctx: Context): Promise<string> {
  const parts = readArn(arn)
  const [, thing = '', name = ''] = /^([a-z-]+):(.+)$/.exec(parts?.resource ?? '') ?? []
  const taggable = Object.hasOwn(TAGGABLE, thing) ? TAGGABLE[thing] : undefined
  if (parts && taggable && isOwnArn(ctx, parts, 'backup')) {
    const [announced, kind] = taggable
    if (await from.get(kind, `${parts.account}/${name}`)) return announced
  }
  throw ResourceNotFound(`There is no resource ${arn} that has tags.`)
}
