// What else one may like: texts that are alike, and what others keep together. Specification 1, S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Kind, TextQuery } from '../kernel/store.ts'
import { wordsOf } from '../kernel/text-search.ts'
import { needEpisode } from './episodes.ts'
import { withAncestors } from './genres.ts'
import { plainText } from './plain-text.ts'
import { playlistItems, type PlaylistItem } from './playlist-items.ts'
import { playlists } from './playlists.ts'
import { needPodcast, withPodcasts } from './podcasts.ts'
import { metered } from './quotas.ts'
import { rarityOf } from './ranking.ts'
import {
  episodes,
  EXPLICIT_MARK,
  languageMark,
  podcasts,
  type Episode,
  type Podcast,
} from './records.ts'
import { bit } from './shapes.ts'
import {
  episodeSimpleAnswer,
  ranksOf,
  showEpisodeSimple,
  showSimple,
  simpleAnswer,
  type Beside,
  type Heard,
} from './show.ts'
import { countsOf, isCommon } from './words.ts'

const RECOMMENDED_MAX = 8
const TEXT_WORDS_MAX = 80
const TELLING_MAX = 8
const LOOKED_FOR = 4
const LOOKED_AT = 60
const ITEMS_LOOKED_AT = 200
const PLAYLISTS_LOOKED_AT = 50
const ITEMS_OF_EACH = 50
const OF_ONE_PODCAST_MAX = 2

const GENRE_SHARE = 0.3
const PLAYLIST_SHARE = 0.5
const WORDS_SHOWN = 5

export const operations = [
  operation({
    name: 'podcastRecommendations',
    rest: get('/podcasts/{id}/recommendations', {
      show: ({ recommended, ranks }: Shown<Podcast>, ctx) => ({
        recommendations: recommended.map(({ item }) => showSimple(item, { ranks }, ctx)),
      }),
      answer: z.object({ recommendations: z.array(simpleAnswer).max(RECOMMENDED_MAX) }),
    }),
    input: { id: text, safe_mode: optional(bit) },
    refuses: { 404: 'There is no such podcast.', 429: 'The quota of the key is used up.' },
    run: metered(async ({ id, safe_mode }, ctx) => {
      const podcast = await needPodcast(id, ctx)
      const recommended = await podcastsLike(podcast, safe_mode === 1, ctx)
      const recommendations = recommended.map(podcastRecommendation)
      return { recommended, recommendations, ranks: await ranksOf(ctx) }
    }),
  }),
  operation({
    name: 'episodeRecommendations',
    rest: get('/episodes/{id}/recommendations', {
      show: ({ heard, ranks }: Beside & { heard: Heard[] }, ctx) => ({
        recommendations: heard.map((one) => showEpisodeSimple(one, { ranks }, ctx)),
      }),
      answer: z.object({ recommendations: z.array(episodeSimpleAnswer).max(RECOMMENDED_MAX) }),
    }),
    input: { id: text, safe_mode: optional(bit) },
    refuses: { 404: 'There is no such episode.', 429: 'The quota of the key is used up.' },
    run: metered(async ({ id, safe_mode }, ctx) => {
      const { episode } = await needEpisode(id, ctx)
      const recommended = await episodesLike(episode, safe_mode === 1, ctx)
      const heard = await withPodcasts(
        recommended.map(({ item }) => item),
        ctx,
      )
      const recommendations = recommended.map(episodeRecommendation)
      return { recommended, recommendations, heard, ranks: await ranksOf(ctx) }
    }),
  }),
]

/** Something recommended, and why. */
interface Recommended<T> {
  readonly item: T
  readonly score: number
  readonly shared_words: readonly string[]
  readonly shared_genre_ids: readonly number[]
  readonly shared_playlists: number
}

interface Shown<T> extends Beside {
  readonly recommended: readonly Recommended<T>[]
}

export const podcastRecommendation = ({ item, ...why }: Recommended<Podcast>) => ({
  podcast: item,
  ...why,
})
export const episodeRecommendation = ({ item, ...why }: Recommended<Episode>) => ({
  episode: item,
  ...why,
})

/** Podcasts like this one, the likest first. */
export async function podcastsLike(
  podcast: Podcast,
  isSafe: boolean,
  ctx: Context,
): Promise<Recommended<Podcast>[]> {
  const telling = await tellingWords(podcastText(podcast), ctx)
  const narrowing = {
    marks: podcast.language ? [[languageMark(podcast.language)]] : [],
    unmarked: isSafe ? [EXPLICIT_MARK] : [],
  }
  const together = await keptTogether({ podcast: podcast.id }, ({ podcast_id }) => podcast_id, ctx)
  const found = await alikeIn(ctx, podcasts, telling, narrowing)
  const kept = await ctx.store.getMany(podcasts, [...together.keys()])
  for (const other of kept) {
    if (other && !(isSafe && other.explicit_content)) found.set(other.id, other)
  }
  found.delete(podcast.id)
  const genres = withAncestors(podcast.genre_ids)
  return best(
    [...found.values()].map((other) => {
      const shared_genre_ids = withAncestors(other.genre_ids).filter((id) => genres.includes(id))
      return judge(other, {
        telling,
        text: podcastText(other),
        shared_genre_ids,
        genres: genres.length,
        shared_playlists: together.get(other.id) ?? 0,
      })
    }),
  )
}

/** Episodes like this one, the likest first, not all of one podcast. */
export async function episodesLike(
  episode: Episode,
  isSafe: boolean,
  ctx: Context,
): Promise<Recommended<Episode>[]> {
  const telling = await tellingWords(episodeText(episode), ctx)
  const together = await keptTogether({ target: episode.id }, ({ target_id }) => target_id, ctx)
  const unmarked = isSafe ? [EXPLICIT_MARK] : []
  const found = await alikeIn(ctx, episodes, telling, { unmarked })
  const kept = await ctx.store.getMany(episodes, [...together.keys()])
  for (const other of kept) {
    if (other && !(isSafe && other.explicit_content)) found.set(other.id, other)
  }
  found.delete(episode.id)
  const judged = [...found.values()].map((other) =>
    judge(other, {
      telling,
      text: episodeText(other),
      shared_genre_ids: [],
      genres: 0,
      shared_playlists: together.get(other.id) ?? 0,
    }),
  )
  const perPodcast = new Map<string, number>()
  const mixed = best(judged, judged.length).filter(({ item }) => {
    const before = perPodcast.get(item.podcast_id) ?? 0
    perPodcast.set(item.podcast_id, before + 1)
    return before < OF_ONE_PODCAST_MAX
  })
  const there = await withPodcasts(
    mixed.slice(0, 2 * RECOMMENDED_MAX).map(({ item }) => item),
    ctx,
  )
  const ids = new Set(there.map(({ episode }) => episode.id))
  return mixed.filter(({ item }) => ids.has(item.id)).slice(0, RECOMMENDED_MAX)
}

const podcastText = ({ title, description }: Podcast): string =>
  `${title} ${plainText(description)}`
const episodeText = ({ title, description }: Episode): string =>
  `${title} ${plainText(description)}`

/** The words of a text that say most about it, by how rare they are. */
async function tellingWords(text: string, ctx: Context): Promise<Map<string, number>> {
  const words = [...new Set(wordsOf(text))]
    .filter((word) => word.length > 2 && !isCommon(word))
    .slice(0, TEXT_WORDS_MAX)
  const counts = await countsOf(ctx.store, words)
  const rare = words
    // A word that stands nowhere else leads nowhere.
    .filter((word) => counts.of(word).texts > 1)
    .map((word): [string, number] => [word, rarityOf(counts.of(word).texts, counts.all)])
    .sort(([, a], [, b]) => b - a)
  return new Map(rare.slice(0, TELLING_MAX))
}

async function alikeIn<T extends { id: string }>(
  ctx: Context,
  kind: Kind<T>,
  telling: ReadonlyMap<string, number>,
  narrowing: Pick<TextQuery, 'marks' | 'unmarked'>,
): Promise<Map<string, T>> {
  const found = new Map<string, T>()
  for (const words of [...telling.keys()].slice(0, LOOKED_FOR)) {
    const query = { ...narrowing, words, isRanked: false, totalMax: 1, limit: LOOKED_AT }
    const { items } = await ctx.store.search(kind, query)
    for (const { record } of items) found.set(record.id, record)
  }
  return found
}

/** In how many public playlists others stand together with this. */
async function keptTogether(
  where: Record<string, string>,
  idOf: (item: PlaylistItem) => string,
  ctx: Context,
): Promise<Map<string, number>> {
  const { items } = await ctx.store.list(playlistItems, { where, limit: ITEMS_LOOKED_AT })
  const ids = [...new Set(items.map(({ playlist_id }) => playlist_id))].slice(
    0,
    PLAYLISTS_LOOKED_AT,
  )
  const lists = await ctx.store.getMany(playlists, ids)
  const open = ids.filter((_, at) => lists[at]?.visibility === 'public')
  if (open.length === 0) return new Map()
  const pages = await ctx.store.listMany(
    playlistItems,
    open.map((id) => ({ prefix: `${id}/`, limit: ITEMS_OF_EACH })),
  )
  const counts = new Map<string, number>()
  for (const { items } of pages) {
    for (const id of new Set(items.map(idOf))) {
      if (id !== '') counts.set(id, (counts.get(id) ?? 0) + 1)
    }
  }
  return counts
}

function judge<T>(
  item: T,
  about: {
    telling: ReadonlyMap<string, number>
    text: string
    shared_genre_ids: number[]
    genres: number
    shared_playlists: number
  },
): Recommended<T> {
  const { telling, shared_genre_ids, shared_playlists } = about
  const words = new Set(wordsOf(about.text))
  const shared = [...telling].filter(([word]) => words.has(word))
  const all = [...telling.values()].reduce((sum, rarity) => sum + rarity, 0)
  const byWords = all === 0 ? 0 : shared.reduce((sum, [, rarity]) => sum + rarity, 0) / all
  const byGenres = about.genres === 0 ? 0 : shared_genre_ids.length / about.genres
  const score = byWords + GENRE_SHARE * byGenres + PLAYLIST_SHARE * Math.log2(1 + shared_playlists)
  const shared_words = shared.map(([word]) => word).slice(0, WORDS_SHOWN)
  return { item, score: Number(score.toFixed(4)), shared_words, shared_genre_ids, shared_playlists }
}

function best<T extends { id: string }>(
  judged: Recommended<T>[],
  max = RECOMMENDED_MAX,
): Recommended<T>[] {
  return judged
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.item.id < b.item.id ? -1 : 1))
    .slice(0, max)
}
