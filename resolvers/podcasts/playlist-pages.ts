// A playlist, page by page, with what its items stand for. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import type { Query } from '../kernel/store.ts'
import { NotFound } from './errors.ts'
import { playlistItems, showItemAlone, type ListType, type PlaylistItem } from './playlist-items.ts'
import { playlistUrl, visiblePlaylist, type Playlist } from './playlists.ts'
import { withPodcasts } from './podcasts.ts'
import { metered } from './quotas.ts'
import { episodes, podcasts } from './records.ts'
import { count } from './shapes.ts'
import { ranksOf, showEpisodeSimple, showSimple, type Beside } from './show.ts'

const ITEMS_A_PAGE = 20

const sorts = oneOf([
  'recent_added_first',
  'oldest_added_first',
  'recent_published_first',
  'oldest_published_first',
])
const types = oneOf(['episode_list', 'podcast_list'])

const itemAnswer = z.object({
  id: z.int(),
  type: z.enum(['episode', 'custom_audio', 'podcast']),
  notes: z.string(),
  added_at_ms: z.int(),
  data: z.record(z.string(), z.unknown()),
})

export const operations = [
  operation({
    name: 'playlist',
    rest: get('/playlists/{id}', {
      show: showPage,
      answer: z.object({
        id: z.string(),
        name: z.string(),
        description: z.string(),
        image: z.string(),
        thumbnail: z.string(),
        vendor_url: z.string(),
        visibility: z.string(),
        last_timestamp_ms: z.int(),
        total: z.int(),
        total_audio_length_sec: z.int(),
        type: types,
        items: z.array(itemAnswer).max(ITEMS_A_PAGE),
      }),
    }),
    input: {
      id: text,
      type: optional(types),
      last_timestamp_ms: optional(count),
      sort: optional(sorts),
    },
    refuses: { 404: 'There is no such playlist.', 429: 'The quota of the key is used up.' },
    run: metered(readPage),
  }),
]

/** What an item stands for, as it is now. */
type ItemData = ReturnType<typeof showEpisodeSimple> | ReturnType<typeof showSimple> | object

interface ItemPage extends Playlist, Beside {
  readonly type: ListType
  readonly total: number
  readonly items: readonly PlaylistItem[]
  readonly page_last_timestamp_ms: number
  readonly data: readonly ItemData[]
}

async function readPage(
  sent: {
    id: string
    type?: ListType | undefined
    last_timestamp_ms?: number | undefined
    sort?: z.output<typeof sorts> | undefined
  },
  ctx: Context,
): Promise<ItemPage> {
  const { id, type = 'episode_list', sort = 'recent_added_first' } = sent
  const playlist = await visiblePlaylist(id, ctx)
  if (!playlist) throw NotFound(`There is no playlist ${id}.`)
  const order = sort.includes('added') ? 'added' : 'published'
  const { items } = await ctx.store.list(playlistItems, {
    where: { list: `${id}/${type}` },
    order,
    limit: ITEMS_A_PAGE,
    ...placeOf(sent.last_timestamp_ms, sort.startsWith('recent')),
  })
  const last = items.at(-1)
  const ranks = await ranksOf(ctx)
  return {
    ...playlist,
    type,
    total: type === 'podcast_list' ? playlist.podcast_count : playlist.episode_count,
    total_audio_length_sec: type === 'podcast_list' ? 0 : playlist.total_audio_length_sec,
    items,
    page_last_timestamp_ms: (order === 'added' ? last?.added_at_ms : last?.published_ms) ?? 0,
    data: await dataOf(items, { ranks }, ctx),
    ranks,
  }
}

function placeOf(at: number | undefined, descending: boolean): Partial<Query> {
  if (!at) return { descending }
  return descending ? { descending, below: at } : { descending, from: at + 1 }
}

/** What the items stand for, read together. */
async function dataOf(
  items: readonly PlaylistItem[],
  beside: Beside,
  ctx: Context,
): Promise<ItemData[]> {
  return Promise.all(
    items.map(async (item) => {
      if (item.type === 'custom_audio') return item.custom!
      if (item.type === 'podcast') {
        const podcast = await load(ctx, podcasts, item.target_id)
        if (podcast) return showSimple(podcast, beside, ctx)
      } else {
        const episode = await load(ctx, episodes, item.target_id)
        const [heard] = episode ? await withPodcasts([episode], ctx) : []
        if (heard) return showEpisodeSimple(heard, beside, ctx)
      }
      return goneOf(item)
    }),
  )
}

const goneOf = ({ target_id, title, type }: PlaylistItem) => ({
  id: target_id,
  title,
  status: 'deleted',
  error: `This ${type} was deleted.`,
})

function showPage(page: ItemPage, ctx: Context) {
  const { id, name, description, image, thumbnail, visibility, type, total } = page
  return {
    id,
    name,
    description,
    image,
    thumbnail,
    vendor_url: playlistUrl(page, ctx, type === 'podcast_list' ? 'podcasts' : 'episodes'),
    visibility,
    last_timestamp_ms: page.page_last_timestamp_ms,
    total,
    total_audio_length_sec: page.total_audio_length_sec,
    type,
    items: page.items.map((item, at) => ({ ...showItemAlone(item), data: page.data[at]! })),
  }
}
