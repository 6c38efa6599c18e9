// Search for episodes, podcasts and curated lists. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import { TOTAL_MAX } from './candidates.ts'
import { showList, withSomePodcasts, type ListedPodcasts } from './curated-lists.ts'
import { BadRequest } from './errors.ts'
import { highlight, highlightFragment, highlightFragments, type IsFound } from './highlight.ts'
import { plainText } from './plain-text.ts'
import { withPodcasts } from './podcasts.ts'
import { metered } from './quotas.ts'
import { podcastMark, podcasts, type Podcast } from './records.ts'
import { fieldsAsked, narrowingAsked, searchInput, type SearchInput } from './search-input.ts'
import { noteSearch } from './searches.ts'
import {
  findableEpisode,
  findableList,
  findablePodcast,
  searchPage,
  type Asked,
  type Page,
} from './searching.ts'
import { count, searched } from './shapes.ts'
import {
  episodeUrl,
  podcastUrl,
  rankOf,
  ranksOf,
  showMinimum,
  showSimple,
  type Beside,
  type Heard,
} from './show.ts'

const PAGE_SIZE = 10
const TRANSCRIPTS_MAX = 2

const answer = z.object({
  took: z.number(),
  total: z.int(),
  count: z.int(),
  next_offset: z.int(),
  results: z.array(z.object({ id: z.string(), title_original: z.string() }).loose()),
})

const idTypes = oneOf(['vendor_id', 'storeone_id', 'storetwo_id', 'rss'])

export const operations = [
  operation({
    name: 'podcastSearch',
    rest: get('/search', { show: showPage, answer }),
    input: searchInput,
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(search),
  }),
  operation({
    name: 'episodeTitleSearch',
    rest: get('/search_episode_titles', { show: showPage, answer }),
    input: {
      q: searched,
      podcast_id: optional(text),
      podcast_id_type: optional(idTypes),
      offset: optional(
        count.refine((value) => value < TOTAL_MAX, `must be less than ${TOTAL_MAX}`),
      ),
    },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(searchTitles),
  }),
]

/** One thing that was found. The graph tells them apart by their type. */
type Hit =
  | ({ readonly __typename: 'EpisodeHit'; readonly transcripts_highlighted: string[] } & Heard &
      Highlighted)
  | ({ readonly __typename: 'PodcastHit'; readonly podcast: Podcast } & Highlighted)
  | ({ readonly __typename: 'CuratedListHit'; readonly curated_list: ListedPodcasts } & Highlighted)

interface Highlighted {
  readonly title_highlighted: string
  readonly description_highlighted: string
  readonly publisher_highlighted: string
  readonly podcast_title_highlighted: string
}

interface Found extends Beside {
  readonly took: number
  readonly total: number
  readonly count: number
  readonly next_offset: number
  readonly results: readonly Hit[]
}

async function search(sent: SearchInput, ctx: Context): Promise<Found> {
  const { type = 'episode', offset = 0, page_size = PAGE_SIZE } = sent
  const isUnique = type === 'episode' && sent.unique_podcasts === 1
  const asked: Asked = {
    q: sent.q,
    fields: fieldsAsked(sent),
    narrowing: narrowingAsked(sent),
    isByDate: sent.sort_by_date === 1,
    groupOf: isUnique ? ({ podcast_id }) => podcast_id : undefined,
    offset,
    limit: page_size,
  }
  const find = { episode: findEpisodes, podcast: findPodcasts, curated: findLists }[type]
  const found = await timed(offset, ctx, () => find(asked, ctx))
  if (found.count > 0 && offset === 0) await noteSearch(sent.q, ctx)
  return found
}

async function searchTitles(
  sent: {
    q: string
    podcast_id?: string | undefined
    podcast_id_type?: z.output<typeof idTypes> | undefined
    offset?: number | undefined
  },
  ctx: Context,
): Promise<Found> {
  const { q, podcast_id, podcast_id_type = 'vendor_id', offset = 0 } = sent
  const id = podcast_id === undefined ? undefined : await idOf(podcast_id, podcast_id_type, ctx)
  const asked: Asked = {
    q,
    fields: ['title'],
    narrowing: id === undefined ? {} : { marks: [[podcastMark(id)]] },
    isByDate: false,
    offset,
    limit: PAGE_SIZE,
  }
  return timed(offset, ctx, () => findEpisodes(asked, ctx))
}

/** The id of a podcast that is named in another way. */
async function idOf(named: string, type: z.output<typeof idTypes>, ctx: Context): Promise<string> {
  const where = {
    vendor_id: undefined,
    storeone_id: { storeone: Number(named) },
    storetwo_id: { storetwo: named },
    rss: { rss: named },
  }[type]
  const isNumber = type !== 'storeone_id' || /^\d{1,15}$/.test(named)
  const found = where
    ? isNumber && (await ctx.store.list(podcasts, { where, limit: 1 })).items[0]
    : await ctx.store.get(podcasts, named)
  if (!found) throw BadRequest(`No podcast has the ${type} ${named}.`)
  return found.id
}

async function timed(
  offset: number,
  ctx: Context,
  find: () => Promise<{ hits: Hit[]; total: number }>,
): Promise<Found> {
  const startedMs = performance.now()
  const { hits, total } = await find()
  const took = Number(((performance.now() - startedMs) / 1_000).toFixed(4))
  const ranks = await ranksOf(ctx)
  return {
    took,
    total,
    count: hits.length,
    next_offset: offset + hits.length,
    results: hits,
    ranks,
  }
}

async function findEpisodes(asked: Asked, ctx: Context) {
  const page = await searchPage(ctx, findableEpisode, asked)
  const heard = await withPodcasts(page.items, ctx)
  const hits = heard.map(({ episode, podcast }): Hit => {
    const { isFound } = page
    return {
      __typename: 'EpisodeHit',
      episode,
      podcast,
      ...highlighted(episode, podcast, isFound),
      transcripts_highlighted: highlightFragments(
        episode.transcript ?? '',
        isFound,
        TRANSCRIPTS_MAX,
      ),
    }
  })
  return { hits, total: page.total }
}

async function findPodcasts(asked: Asked, ctx: Context) {
  const page = await searchPage(ctx, findablePodcast, asked)
  return hitsOf(page, (podcast) => ({
    __typename: 'PodcastHit',
    podcast,
    ...highlighted(podcast, podcast, page.isFound),
  }))
}

async function findLists(asked: Asked, ctx: Context) {
  const page = await searchPage(ctx, findableList, asked)
  const lists = await withSomePodcasts(page.items, ctx)
  return hitsOf({ ...page, items: lists }, (list) => ({
    __typename: 'CuratedListHit',
    curated_list: list,
    ...highlighted(list, { title: '', publisher: '' }, page.isFound),
  }))
}

const hitsOf = <T>({ items, total }: Page<T>, hit: (item: T) => Hit) => ({
  hits: items.map(hit),
  total,
})

const highlighted = (
  { title, description }: { title: string; description: string },
  podcast: { title: string; publisher: string },
  isFound: IsFound,
): Highlighted => ({
  title_highlighted: highlight(title, isFound),
  description_highlighted: highlightFragment(plainText(description), isFound),
  publisher_highlighted: highlight(podcast.publisher, isFound),
  podcast_title_highlighted: highlight(podcast.title, isFound),
})

function showPage({ results, ranks, ...page }: Found, ctx: Context) {
  return { ...page, results: results.map((hit) => showHit(hit, { ranks }, ctx)) }
}

function showHit(hit: Hit, beside: Beside, ctx: Context): object {
  switch (hit.__typename) {
    case 'EpisodeHit':
      return showEpisodeHit(hit, beside, ctx)
    case 'PodcastHit':
      return showPodcastHit(hit, beside, ctx)
    case 'CuratedListHit': {
      const { title, description, ...list } = showList(hit.curated_list, ctx)
      return {
        ...list,
        title_original: title,
        title_highlighted: hit.title_highlighted,
        description_original: description,
        description_highlighted: hit.description_highlighted,
        podcasts: hit.curated_list.podcasts.map((podcast) => showMinimum(podcast, beside, ctx)),
      }
    }
  }
}

const showEpisodeHit = (
  hit: Extract<Hit, { __typename: 'EpisodeHit' }>,
  { ranks }: Beside,
  ctx: Context,
) => {
  const { episode, podcast } = hit
  return {
    id: episode.id,
    link: episode.link,
    audio: episode.audio,
    image: episode.image,
    thumbnail: episode.thumbnail,
    vendor_url: episodeUrl(episode, ctx),
    rss: podcast.rss,
    guid_from_rss: episode.guid_from_rss,
    title_original: episode.title,
    title_highlighted: hit.title_highlighted,
    description_original: episode.description,
    description_highlighted: hit.description_highlighted,
    transcripts_highlighted: hit.transcripts_highlighted,
    pub_date_ms: episode.pub_date_ms,
    audio_length_sec: episode.audio_length_sec,
    storeone_id: podcast.storeone_id,
    explicit_content: episode.explicit_content,
    podcast: {
      id: podcast.id,
      image: podcast.image,
      thumbnail: podcast.thumbnail,
      vendor_url: podcastUrl(podcast, ctx),
      title_original: podcast.title,
      title_highlighted: hit.podcast_title_highlighted,
      publisher_original: podcast.publisher,
      publisher_highlighted: hit.publisher_highlighted,
      genre_ids: podcast.genre_ids,
      listen_score: podcast.listen_score,
      listen_score_global_rank: rankOf(podcast, ranks),
    },
  }
}

const showPodcastHit = (
  hit: Extract<Hit, { __typename: 'PodcastHit' }>,
  beside: Beside,
  ctx: Context,
) => {
  const {
    title,
    publisher,
    description,
    country: _country,
    language: _language,
    type: _type,
    is_claimed: _claimed,
    looking_for: _looking,
    extra: _extra,
    ...shown
  } = showSimple(hit.podcast, beside, ctx)
  return {
    ...shown,
    title_original: title,
    title_highlighted: hit.title_highlighted,
    description_original: description,
    description_highlighted: hit.description_highlighted,
    publisher_original: publisher,
    publisher_highlighted: hit.publisher_highlighted,
  }
}
