// Curated lists: podcasts that someone put together and wrote about. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, numberOf } from '../kernel/store.ts'
import { BadRequest, NotFound } from './errors.ts'
import { shortId } from './ids.ts'
import { metered } from './quotas.ts'
import { domainOf, podcasts, type Podcast } from './records.ts'
import { page, pageEnvelope } from './shapes.ts'
import {
  minimumAnswer,
  ranksOf,
  showMinimum,
  showSimple,
  simpleAnswer,
  type Beside,
} from './show.ts'

const LISTS_A_PAGE = 20
const PODCASTS_SHOWN = 5
const PODCASTS_MAX = 100
const TITLE_MAX = 200
const TEXT_MAX = 4_000
const URL_MAX = 1_000

export interface CuratedList {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly source_url: string
  readonly source_domain: string
  readonly pub_date_ms: number
  readonly podcast_ids: readonly string[]
}

export const curatedLists = kind<CuratedList>('curated_list', {
  key: ({ id }) => id,
  columns: { published: numberOf(({ pub_date_ms }) => pub_date_ms) },
  indexes: [['published']],
  text: {
    title: { of: ({ title }) => title, weight: 'A' },
    author: { of: ({ source_domain }) => source_domain, weight: 'B' },
    description: { of: ({ description }) => description, weight: 'C' },
  },
})
export const kinds = [curatedLists]

const listAnswer = z.object({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  source_url: z.string(),
  source_domain: z.string(),
  vendor_url: z.string(),
  pub_date_ms: z.int(),
  total: z.int(),
})

export const operations = [
  operation({
    name: 'curatedList',
    rest: get('/curated_podcasts/{id}', {
      show: ({ list, ranks }: { list: ListedPodcasts } & Beside, ctx) => ({
        ...showList(list, ctx),
        podcasts: list.podcasts.map((podcast) => showSimple(podcast, { ranks }, ctx)),
      }),
      answer: listAnswer.extend({ podcasts: z.array(simpleAnswer) }),
    }),
    input: { id: text },
    refuses: { 404: 'There is no such list.', 429: 'The quota of the key is used up.' },
    run: metered(async ({ id }, ctx) => {
      const found = await load(ctx, curatedLists, id)
      if (!found) throw NotFound(`There is no curated list ${id}.`)
      const list = { ...found, podcasts: await podcastsOf(found, PODCASTS_MAX, ctx) }
      return { ...found, list, ranks: await ranksOf(ctx) }
    }),
  }),
  operation({
    name: 'curatedLists',
    rest: get('/curated_podcasts', {
      show: ({ shown, curated_lists: _, ranks, ...envelope }: any, ctx) => ({
        ...envelope,
        curated_lists: shown.map((list: ListedPodcasts) => showListSimple(list, { ranks }, ctx)),
      }),
      answer: z
        .object({
          total: z.int(),
          curated_lists: z.array(
            listAnswer.extend({ podcasts: z.array(minimumAnswer).max(PODCASTS_SHOWN) }),
          ),
        })
        .loose(),
    }),
    input: { page: optional(page) },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(listCurated),
  }),
  operation({
    name: 'createCuratedList',
    access: 'administrators',
    input: {
      title: text.min(1).max(TITLE_MAX),
      description: text.max(TEXT_MAX),
      source_url: text.max(URL_MAX),
      podcast_ids: z.array(text).min(1).max(PODCASTS_MAX),
    },
    run: createCuratedList,
  }),
]

/** A list with some of its podcasts. */
export interface ListedPodcasts extends CuratedList {
  readonly podcasts: readonly Podcast[]
}

/** The first podcasts of a list that are still there. */
export async function podcastsOf(
  { podcast_ids }: CuratedList,
  limit: number,
  ctx: Context,
): Promise<Podcast[]> {
  const found = await Promise.all(podcast_ids.map((id) => load(ctx, podcasts, id)))
  return found.filter((podcast) => podcast !== undefined).slice(0, limit)
}

export const withSomePodcasts = (
  lists: readonly CuratedList[],
  ctx: Context,
): Promise<ListedPodcasts[]> =>
  Promise.all(
    lists.map(async (list) => ({ ...list, podcasts: await podcastsOf(list, PODCASTS_SHOWN, ctx) })),
  )

async function listCurated({ page = 1 }: { page?: number | undefined }, ctx: Context) {
  const { items, next } = await ctx.store.list(curatedLists, {
    order: 'published',
    descending: true,
    limit: page * LISTS_A_PAGE,
  })
  const curated_lists = items.slice((page - 1) * LISTS_A_PAGE)
  return {
    ...pageEnvelope(page, next !== undefined),
    total: await ctx.store.count(curatedLists),
    curated_lists,
    shown: await withSomePodcasts(curated_lists, ctx),
    ranks: await ranksOf(ctx),
  }
}

export async function createCuratedList(
  sent: Pick<CuratedList, 'title' | 'description' | 'source_url' | 'podcast_ids'>,
  ctx: Context,
): Promise<CuratedList> {
  const source_domain = domainOf(sent.source_url)
  if (!source_domain)
    throw BadRequest('source_url must be an address such as https://example.org/.')
  const pub_date_ms = ctx.clock.now().getTime()
  const list: CuratedList = { ...sent, id: shortId(ctx), source_domain, pub_date_ms }
  await ctx.store.transaction(async (tx) => {
    const found = await tx.getMany(podcasts, sent.podcast_ids)
    const missing = sent.podcast_ids.find((_, at) => !found[at])
    if (missing !== undefined) throw BadRequest(`There is no podcast ${missing}.`)
    await tx.insert(curatedLists, list)
    await ctx.events.announce(tx, {
      type: 'podcasts.curated-list.created',
      subject: list.id,
      body: { id: list.id, title: list.title },
    })
  })
  return list
}

export const listUrl = ({ id, title }: CuratedList, { address }: Context): string =>
  `${address}/curated-podcasts/${slugOf(title)}-${id}/`

export const slugOf = (title: string): string =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

export const showList = (list: CuratedList, ctx: Context) => ({
  id: list.id,
  title: list.title,
  description: list.description,
  source_url: list.source_url,
  source_domain: list.source_domain,
  vendor_url: listUrl(list, ctx),
  pub_date_ms: list.pub_date_ms,
  total: list.podcast_ids.length,
})

const showListSimple = (list: ListedPodcasts, beside: Beside, ctx: Context) => ({
  ...showList(list, ctx),
  podcasts: list.podcasts.map((podcast) => showMinimum(podcast, beside, ctx)),
})
