// Tags, by which assignments, forms and contributions are sorted. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { FULL, personOf } from './access.ts'
import { logChange } from './change-log.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { listed, listPage, showEach } from './lists.ts'
import { id, line, pages, reference, urlWords, urlWordsOf } from './shapes.ts'
import { showTagSet, tagSets } from './tag-sets.ts'

const OWNED_MAX = 10_000
const TAGS_MAX = 50

export interface Tag {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly urlWords: string
  readonly colour?: string | undefined
  readonly tagSet?: string | undefined
}

export const tags = kind<Tag>('tag', {
  key: (tag) => tag.id,
  columns: {
    owner: textOf((tag) => tag.owner),
    tagSet: textOf((tag) => tag.tagSet),
    urlWords: textOf((tag) => tag.urlWords),
  },
  indexes: [
    ['owner'],
    ['tagSet'],
    ['urlWords'],
    ['owner', 'tagSet'],
    ['owner', 'urlWords'],
    ['tagSet', 'urlWords'],
    ['owner', 'tagSet', 'urlWords'],
  ],
})
export const kinds = [tags]

/** Tags as something that carries them names them. */
export const tagReferences = optional(z.array(reference).max(TAGS_MAX))

export const TAG = z.object({
  id: z.string(),
  name: z.string(),
  urlWords: z.string().optional(),
  colour: z.string().optional(),
  tagSet: z.object({ id: z.string(), name: z.string() }).optional(),
})

export const operations = [
  operation({
    name: 'contributionTags',
    rest: get('/tags', { show: showEach(showTag), answer: z.array(TAG) }),
    input: {
      ownedBy: optional(id),
      tagSet: optional(id),
      urlWords: optional(text.max(200)),
      ...pages,
    },
    async run({ ownedBy, tagSet, urlWords, ...page }, ctx) {
      const where = {
        ...(ownedBy !== undefined && { owner: ownedBy }),
        ...(tagSet !== undefined && { tagSet }),
        ...(urlWords !== undefined && { urlWords }),
      }
      return listed(await listPage(ctx, tags, { where }, page))
    },
  }),
  operation({
    name: 'createContributionTag',
    rest: post('/tags', { show: showTag, answer: TAG }),
    refuses: { 400: 'The tag is not valid; the body says why.', 500: 'The service failed.' },
    needs: FULL,
    input: {
      name: line,
      urlWords: optional(urlWords),
      colour: optional(text.regex(/^#[0-9A-Fa-f]{6}$/, 'must be a colour such as #0061a6')),
      tagSet: optional(reference),
    },
    run: createTag,
  }),
  operation({
    name: 'contributionTag',
    rest: get('/tags/{id}', { show: showTag, answer: TAG }),
    refuses: { 404: 'There is no such tag.' },
    input: { id },
    async run({ id }, ctx) {
      const tag = await load(ctx, tags, id)
      if (!tag) throw missing('tag', id)
      return tag
    },
  }),
]

export const fields = {
  Tag: {
    tagSet: ({ tagSet }: Tag, _args: unknown, ctx: Context) =>
      tagSet === undefined ? null : load(ctx, tagSets, tagSet),
    owner: ({ owner }: Tag) => ({ __typename: 'User', id: owner }),
  },
  TagSet: { owner: ({ owner }: { owner: string }) => ({ __typename: 'User', id: owner }) },
}

/** A tag as REST shows it. */
export async function showTag({ id, name, urlWords, colour, tagSet }: Tag, ctx: Context) {
  const set = tagSet === undefined ? undefined : await load(ctx, tagSets, tagSet)
  return {
    id,
    name,
    urlWords,
    ...(colour !== undefined && { colour }),
    ...(set && { tagSet: showTagSet(set) }),
  }
}

export const loadTags = async (ids: readonly string[], ctx: Context): Promise<Tag[]> =>
  (await Promise.all(ids.map((id) => load(ctx, tags, id)))).filter((tag) => tag !== undefined)

/** The ids of tags that were sent. Refuses one that is not there. */
export async function readTags(
  sent: readonly { id: string }[] | undefined,
  tx: Records,
): Promise<string[]> {
  const ids = [...new Set((sent ?? []).map(({ id }) => id))]
  const found = await tx.getMany(tags, ids)
  const unknown = ids.find((_, at) => !found[at])
  if (unknown !== undefined) throw invalidField('tags', `name ${unknown}, which is no tag`)
  return ids
}

interface TagSubmission {
  readonly name: string
  readonly urlWords?: string | undefined
  readonly colour?: string | undefined
  readonly tagSet?: { readonly id: string } | undefined
}

export async function createTag(
  { name, colour, tagSet, ...sent }: TagSubmission,
  ctx: Context,
): Promise<Tag> {
  const owner = personOf(ctx)
  const id = ctx.newId()
  const tag: Tag = {
    id,
    owner,
    name,
    urlWords: sent.urlWords ?? (urlWordsOf(name) || id),
    ...(colour !== undefined && { colour: colour.toLowerCase() }),
    ...(tagSet && { tagSet: tagSet.id }),
  }
  return ctx.store.transaction(async (tx) => {
    if (tagSet && !(await tx.get(tagSets, tagSet.id))) {
      throw invalidField('tagSet', `names ${tagSet.id}, which is no tag set`)
    }
    if ((await tx.count(tags, { where: { owner } })) >= OWNED_MAX) {
      throw invalidField('name', `is one too many: a person has at most ${OWNED_MAX} tags`)
    }
    if ((await tx.count(tags, { where: { owner, urlWords: tag.urlWords } })) > 0) {
      throw invalidField('urlWords', `${tag.urlWords} are those of another tag of yours`)
    }
    await meet(tx, ctx)
    await tx.insert(tags, tag)
    await ctx.events.announce(tx, {
      type: 'contributions.tag.created',
      subject: id,
      body: { id },
    })
    await logChange(tx, ctx, { owner, title: `Tag ${name} was created` })
    return tag
  })
}
