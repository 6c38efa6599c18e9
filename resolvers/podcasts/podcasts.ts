// Podcasts, one or many. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { optional, text, oneOf } from '../kernel/shape.ts'
import type { Query } from '../kernel/store.ts'
import { BadRequest, NotFound } from './errors.ts'
import { regionNamed } from './genres.ts'
import { metered } from './quotas.ts'
import { domainOf, episodes, podcasts, type Episode, type Podcast } from './records.ts'
import { bit, count, listOf, numbersOf, page, pageEnvelope } from './shapes.ts'
import {
  episodeAnswer,
  episodeSimpleAnswer,
  ranksOf,
  showEpisode,
  showEpisodeSimple,
  showSimple,
  simpleAnswer,
  type Beside,
  type Heard,
} from './show.ts'

const EPISODES_A_PAGE = 10
const LOOKUP_MAX = 10
const LATEST_MAX = 15
const OF_DOMAIN_A_PAGE = 10

const sorts = oneOf(['recent_first', 'oldest_first'])
type Sort = z.output<typeof sorts>

export const operations = [
  operation({
    name: 'podcast',
    rest: get('/podcasts/{id}', {
      show: showFull,
      answer: simpleAnswer.extend({
        episodes: z.array(episodeAnswer).max(EPISODES_A_PAGE),
        next_episode_pub_date: z.int().nullable(),
      }),
    }),
    input: { id: text, next_episode_pub_date: optional(count), sort: optional(sorts) },
    refuses: { 404: 'There is no such podcast.', 429: 'The quota of the key is used up.' },
    run: metered(readPodcast),
  }),
  operation({
    name: 'podcastsByIds',
    rest: post('/podcasts', {
      media: 'form',
      show: showLookup,
      answer: z.object({
        podcasts: z.array(simpleAnswer),
        latest_episodes: z.array(episodeSimpleAnswer).optional(),
        next_episode_pub_date: z.int().nullable().optional(),
      }),
    }),
    input: {
      ids: optional(text),
      rsses: optional(text),
      storeone_ids: optional(text),
      storetwo_ids: optional(text),
      show_latest_episodes: optional(bit),
      next_episode_pub_date: optional(count),
    },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(lookUp),
  }),
  operation({
    name: 'podcastsByDomain',
    rest: get('/podcasts/domains/{domain_name}', {
      show: ({ podcasts, ranks, ...envelope }: any, ctx) => ({
        ...envelope,
        podcasts: podcasts.map((podcast: Podcast) => showSimple(podcast, { ranks }, ctx)),
      }),
      answer: z.object({ podcasts: z.array(simpleAnswer), page_number: z.int() }).loose(),
    }),
    input: { domain_name: text, page: optional(page) },
    refuses: { 404: 'No podcast has its website there.', 429: 'The quota of the key is used up.' },
    run: metered(listDomain),
  }),
  operation({
    name: 'podcastAudience',
    rest: get('/podcasts/{id}/audience', {
      show: (by_regions: object[]) => ({
        by_regions: by_regions.map(({ region, ratio }: any) => ({ region, ratio })),
      }),
      answer: z.object({
        by_regions: z.array(z.object({ region: z.string(), ratio: z.string() })),
      }),
    }),
    input: { id: text },
    refuses: { 404: 'There is no such podcast.', 429: 'The quota of the key is used up.' },
    run: metered(async ({ id }, ctx) => audienceOf(await needPodcast(id, ctx))),
  }),
]

export async function needPodcast(id: string, ctx: Context): Promise<Podcast> {
  const podcast = await load(ctx, podcasts, id)
  if (!podcast) throw NotFound(`There is no podcast ${id}.`)
  return podcast
}

/** Each episode with its podcast, without those whose podcast is gone. */
export async function withPodcasts(some: readonly Episode[], ctx: Context): Promise<Heard[]> {
  const found = await Promise.all(some.map(({ podcast_id }) => load(ctx, podcasts, podcast_id)))
  return some.flatMap((episode, at) => (found[at] ? [{ episode, podcast: found[at] }] : []))
}

interface EpisodePage {
  readonly episode_page: readonly Episode[]
  readonly next_episode_pub_date: number | null
}

async function readPodcast(
  {
    id,
    ...place
  }: { id: string; next_episode_pub_date?: number | undefined; sort?: Sort | undefined },
  ctx: Context,
): Promise<Podcast & EpisodePage & Beside> {
  const podcast = await needPodcast(id, ctx)
  const { items } = await ctx.store.list(episodes, pageQuery(id, place))
  return { ...podcast, ...episodePage(items), ranks: await ranksOf(ctx) }
}

/** The episodes strictly after a moment, in the order that is asked for. */
function pageQuery(
  podcast: string,
  {
    next_episode_pub_date: at,
    sort,
  }: { next_episode_pub_date?: number | undefined; sort?: Sort | undefined },
  limit = EPISODES_A_PAGE,
): Query {
  const descending = sort !== 'oldest_first'
  return {
    where: { podcast },
    order: 'published',
    descending,
    limit,
    ...(at !== undefined && (descending ? { below: at } : { from: at + 1 })),
  }
}

export const episodePage = (items: readonly Episode[]): EpisodePage => ({
  episode_page: items,
  next_episode_pub_date: items.at(-1)?.pub_date_ms ?? null,
})

function showFull(shown: Podcast & EpisodePage & Beside, ctx: Context) {
  return {
    ...showSimple(shown, shown, ctx),
    episodes: shown.episode_page.map((episode) => showEpisode(episode, ctx)),
    next_episode_pub_date: shown.next_episode_pub_date,
  }
}

interface Lookup extends Beside {
  readonly podcasts: readonly Podcast[]
  readonly latest?: readonly Heard[]
  readonly next_episode_pub_date?: number | null
}

async function lookUp(
  sent: {
    ids?: string | undefined
    rsses?: string | undefined
    storeone_ids?: string | undefined
    storetwo_ids?: string | undefined
    show_latest_episodes?: number | undefined
    next_episode_pub_date?: number | undefined
  },
  ctx: Context,
): Promise<Lookup & { latest_episodes: Episode[] | null }> {
  const ids = listOf('ids', sent.ids)
  const queries: Query[] = [
    ...listOf('rsses', sent.rsses).map((rss) => ({ where: { rss }, limit: 1 })),
    ...numbersOf('storeone_ids', sent.storeone_ids).map((storeone) => ({
      where: { storeone },
      limit: 1,
    })),
    ...listOf('storetwo_ids', sent.storetwo_ids).map((storetwo) => ({
      where: { storetwo },
      limit: 1,
    })),
  ]
  const asked = ids.length + queries.length
  if (asked === 0) {
    throw BadRequest('Name podcasts by ids, rsses, storeone_ids or storetwo_ids.')
  }
  if (asked > LOOKUP_MAX) {
    throw BadRequest(`${asked} podcasts are asked for; ${LOOKUP_MAX} at a time is the most.`)
  }
  const byId = await Promise.all(ids.map((id) => load(ctx, podcasts, id)))
  const pages = queries.length > 0 ? await ctx.store.listMany(podcasts, queries) : []
  const found = new Map<string, Podcast>()
  for (const podcast of [...byId, ...pages.map(({ items }) => items[0])]) {
    if (podcast) found.set(podcast.id, podcast)
  }
  const ranks = await ranksOf(ctx)
  const shown = { podcasts: [...found.values()], ranks }
  if (sent.show_latest_episodes !== 1) return { ...shown, latest_episodes: null }
  const latest = await latestOf(shown.podcasts, sent.next_episode_pub_date, ctx)
  const next_episode_pub_date = latest.at(-1)?.episode.pub_date_ms ?? null
  const latest_episodes = latest.map(({ episode }) => episode)
  return { ...shown, latest, latest_episodes, next_episode_pub_date }
}

async function latestOf(
  some: readonly Podcast[],
  before: number | undefined,
  ctx: Context,
): Promise<Heard[]> {
  if (some.length === 0) return []
  const place = { next_episode_pub_date: before }
  const pages = await ctx.store.listMany(
    episodes,
    some.map(({ id }) => pageQuery(id, place, LATEST_MAX)),
  )
  return some
    .flatMap((podcast, at) => pages[at]!.items.map((episode) => ({ episode, podcast })))
    .sort((a, b) => b.episode.pub_date_ms - a.episode.pub_date_ms)
    .slice(0, LATEST_MAX)
}

function showLookup(shown: Lookup, ctx: Context) {
  const { latest, next_episode_pub_date } = shown
  return {
    podcasts: shown.podcasts.map((podcast) => showSimple(podcast, shown, ctx)),
    ...(latest && {
      latest_episodes: latest.map((heard) => showEpisodeSimple(heard, shown, ctx)),
      next_episode_pub_date,
    }),
  }
}

/** Chosen: a domain is the host of a podcast's website, with or without `www.`. */
async function listDomain(
  { domain_name, page = 1 }: { domain_name: string; page?: number | undefined },
  ctx: Context,
) {
  const domain = domainOf(`https://${domain_name}/`)
  const query = { where: { domain: domain ?? '' }, limit: page * OF_DOMAIN_A_PAGE }
  const { items, next } = await ctx.store.list(podcasts, query)
  if (items.length === 0) throw NotFound(`No podcast has its website at ${domain_name}.`)
  return {
    ...pageEnvelope(page, next !== undefined),
    podcasts: items.slice((page - 1) * OF_DOMAIN_A_PAGE),
    ranks: await ranksOf(ctx),
  }
}

/** The shares by region, the greatest first; none where nobody knows. */
export const audienceOf = ({ audience }: Podcast) =>
  audience.map(({ region, share }) => ({
    region,
    region_name: regionNamed(region),
    ratio: `${(share * 100).toFixed(2)}%`,
  }))
