// What the graph joins on, and what the directory adds to people. Specification 1, service S5.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect, type Paging } from '../kernel/paging.ts'
import { curatedLists, listUrl, podcastsOf, type CuratedList } from './curated-lists.ts'
import { feeds } from './feed-records.ts'
import { genreOf } from './genres.ts'
import { playlistItems, type PlaylistItem } from './playlist-items.ts'
import { playlists, playlistUrl, visiblePlaylist, type Playlist } from './playlists.ts'
import { audienceOf, episodePage } from './podcasts.ts'
import {
  episodesLike,
  episodeRecommendation,
  podcastRecommendation,
  podcastsLike,
} from './recommendations.ts'
import {
  averageLength,
  episodes,
  podcasts,
  updateFrequency,
  type Episode,
  type Podcast,
} from './records.ts'
import { episodeUrl, podcastUrl, rankOf, ranksOf } from './show.ts'

const EPISODES_A_PAGE = 10
const LIST_PODCASTS_MAX = 100
const HOLDING_MAX = 20

interface Reference {
  readonly id: string
}

/** People see what is theirs; administrators see everyone's. */
const mayKnow = (id: string | null, { caller }: Context): boolean =>
  id !== null && (caller.isAdmin || (caller.kind === 'user' && caller.userId === id))

export const entities = {
  Podcast: async ({ id }: Reference, ctx: Context) => (await load(ctx, podcasts, id)) ?? null,
  Episode: async ({ id }: Reference, ctx: Context) => (await load(ctx, episodes, id)) ?? null,
  CuratedList: async ({ id }: Reference, ctx: Context) =>
    (await load(ctx, curatedLists, id)) ?? null,
  Playlist: async ({ id }: Reference, ctx: Context) => (await visiblePlaylist(id, ctx)) ?? null,
  User: ({ id }: Reference, ctx: Context) => (mayKnow(id, ctx) ? { id } : null),
}

export const fields = {
  Podcast: {
    vendorUrl: (podcast: Podcast, _args: object, ctx: Context) => podcastUrl(podcast, ctx),
    listenScoreGlobalRank: async (podcast: Podcast, _args: object, ctx: Context) =>
      rankOf(podcast, await ranksOf(ctx)),
    audioLengthSec: averageLength,
    updateFrequencyHours: updateFrequency,
    genres: ({ genre_ids }: Podcast) => genre_ids.map(genreOf).filter(Boolean),
    audience: audienceOf,
    episodes: (podcast: Podcast, { first, after }: Paging, ctx: Context) =>
      connect(ctx, episodes, {
        first,
        after,
        where: { podcast: podcast.id },
        order: 'published',
        descending: true,
      }),
    episodePage: async (podcast: Podcast & Page, _args: object, ctx: Context) =>
      podcast.episode_page ?? (await newestPage(podcast, ctx)).episode_page,
    nextEpisodePubDate: async (podcast: Podcast & Page, _args: object, ctx: Context) =>
      podcast.next_episode_pub_date ?? (await newestPage(podcast, ctx)).next_episode_pub_date,
    recommendations: async (podcast: Podcast, _args: object, ctx: Context) =>
      (await podcastsLike(podcast, false, ctx)).map(podcastRecommendation),
    submittedBy: ({ submitted_by: id }: Podcast, _args: object, ctx: Context) =>
      mayKnow(id, ctx) ? { __typename: 'User', id } : null,
    feed: ({ id }: Podcast, _args: object, ctx: Context) => load(ctx, feeds, id),
    myPlaylists: holdingPlaylists,
  },

  Episode: {
    vendorUrl: (episode: Episode, _args: object, ctx: Context) => episodeUrl(episode, ctx),
    vendorEditUrl: (episode: Episode, _args: object, ctx: Context) =>
      `${episodeUrl(episode, ctx)}#edit`,
    podcast: ({ podcast_id }: Episode, _args: object, ctx: Context) =>
      load(ctx, podcasts, podcast_id),
    recommendations: async (episode: Episode, _args: object, ctx: Context) =>
      (await episodesLike(episode, false, ctx)).map(episodeRecommendation),
  },

  CuratedList: {
    vendorUrl: (list: CuratedList, _args: object, ctx: Context) => listUrl(list, ctx),
    total: ({ podcast_ids }: CuratedList) => podcast_ids.length,
    podcasts: (list: CuratedList, _args: object, ctx: Context) =>
      podcastsOf(list, LIST_PODCASTS_MAX, ctx),
  },

  Playlist: {
    vendorUrl: (playlist: Playlist, _args: object, ctx: Context) => playlistUrl(playlist, ctx),
    episodeItems: (playlist: Playlist, page: Paging, ctx: Context) =>
      itemsOf(playlist, 'episode_list', page, ctx),
    podcastItems: (playlist: Playlist, page: Paging, ctx: Context) =>
      itemsOf(playlist, 'podcast_list', page, ctx),
    owner: ({ owner: id }: Playlist, _args: object, ctx: Context) =>
      mayKnow(id, ctx) ? { __typename: 'User', id } : null,
  },

  PlaylistItem: {
    episode: ({ type, target_id }: PlaylistItem, _args: object, ctx: Context) =>
      type === 'episode' ? load(ctx, episodes, target_id) : null,
    podcast: ({ podcast_id }: PlaylistItem, _args: object, ctx: Context) =>
      podcast_id === '' ? null : load(ctx, podcasts, podcast_id),
  },

  User: {
    playlists: ({ id }: Reference, { first, after }: Paging, ctx: Context) =>
      connect(ctx, playlists, {
        first,
        after,
        where: { owner: id },
        order: 'created',
        descending: true,
      }),
    submittedPodcasts: ({ id }: Reference, { first, after }: Paging, ctx: Context) =>
      connect(ctx, podcasts, { first, after, where: { submittedBy: id } }),
  },
}

/** The page that the operation was asked for, where the podcast came from it. */
type Page = Partial<ReturnType<typeof episodePage>>

async function newestPage({ id }: Podcast, ctx: Context) {
  const { nodes } = await connect(ctx, episodes, {
    first: EPISODES_A_PAGE,
    after: undefined,
    where: { podcast: id },
    order: 'published',
    descending: true,
  })
  return episodePage(nodes)
}

const itemsOf = (
  { id }: Playlist,
  list: 'episode_list' | 'podcast_list',
  { first, after }: Paging,
  ctx: Context,
) =>
  connect(ctx, playlistItems, {
    first,
    after,
    where: { list: `${id}/${list}` },
    order: 'added',
    descending: true,
  })

/** The caller's own playlists that hold a podcast or an episode of it. */
async function holdingPlaylists({ id }: Podcast, _args: object, ctx: Context): Promise<Playlist[]> {
  if (ctx.caller.kind !== 'user') return []
  const { nodes } = await connect(ctx, playlistItems, {
    first: HOLDING_MAX,
    after: undefined,
    where: { own: `${ctx.caller.userId}/${id}` },
  })
  const ids = [...new Set(nodes.map(({ playlist_id }) => playlist_id))]
  const found = await Promise.all(ids.map((playlist) => load(ctx, playlists, playlist)))
  return found.filter((playlist) => playlist !== undefined)
}
