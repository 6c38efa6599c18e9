// Tag sets, which hold tags that belong together. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, get, post } from '../kernel/operation.ts'
import { load } from '../kernel/load.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, textOf } from '../kernel/store.ts'
import { FULL, personOf } from './access.ts'
import { logChange } from './change-log.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { listed, listPage, showEach } from './lists.ts'
import { id, line, pages, urlWords } from './shapes.ts'

const OWNED_MAX = 1_000

export interface TagSet {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly urlWords: string
}

export const tagSets = kind<TagSet>('tag_set', {
  key: (set) => set.id,
  columns: { owner: textOf((set) => set.owner), urlWords: textOf((set) => set.urlWords) },
  indexes: [['owner'], ['urlWords'], ['owner', 'urlWords']],
})
export const kinds = [tagSets]

const TAG_SET = z.object({ id: z.string(), name: z.string() })

/** A tag set as REST shows it. */
export const showTagSet = ({ id, name }: TagSet) => ({ id, name })

export const operations = [
  operation({
    name: 'tagSets',
    rest: get('/tagsets', { show: showEach(showTagSet), answer: z.array(TAG_SET) }),
    input: { ownedBy: optional(id), urlWords: optional(text.max(200)), ...pages },
    async run({ ownedBy, urlWords, ...page }, ctx) {
      const where = {
        ...(ownedBy !== undefined && { owner: ownedBy }),
        ...(urlWords !== undefined && { urlWords }),
      }
      return listed(await listPage(ctx, tagSets, { where }, page))
    },
  }),
  operation({
    name: 'createTagSet',
    rest: post('/tagsets', { show: showTagSet, answer: TAG_SET }),
    needs: FULL,
    input: { name: line, urlWords },
    run: createTagSet,
  }),
  operation({
    name: 'tagSet',
    rest: get('/tagsets/{id}', { show: showTagSet, answer: TAG_SET }),
    refuses: { 404: 'There is no such tag set.' },
    input: { id },
    async run({ id }, ctx) {
      const set = await load(ctx, tagSets, id)
      if (!set) throw missing('tag set', id)
      return set
    },
  }),
]

export async function createTagSet(
  { name, urlWords }: { name: string; urlWords: string },
  ctx: Context,
): Promise<TagSet> {
  const set: TagSet = { id: ctx.newId(), owner: personOf(ctx), name, urlWords }
  const { owner } = set
  return ctx.store.transaction(async (tx) => {
    if ((await tx.count(tagSets, { where: { owner } })) >= OWNED_MAX) {
      throw invalidField('name', `is one too many: a person has at most ${OWNED_MAX} tag sets`)
    }
    if ((await tx.count(tagSets, { where: { owner, urlWords } })) > 0) {
      throw invalidField('urlWords', 'are those of another tag set of yours')
    }
    await meet(tx, ctx)
    await tx.insert(tagSets, set)
    await ctx.events.announce(tx, {
      type: 'contributions.tagset.created',
      subject: set.id,
      body: { id: set.id },
    })
    await logChange(tx, ctx, { owner, title: `Tag set ${name} was created` })
    return set
  })
}
