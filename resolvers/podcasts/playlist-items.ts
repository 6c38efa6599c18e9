// What is on a playlist: episodes, podcasts and audio of one's own. Specification 1, service S5.
import type { Context } from '../kernel/context.ts'
import { del, operation, post, put, reply } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { BadRequest, NotFound } from './errors.ts'
import { episodes, podcasts } from './records.ts'
import { announce, needOwn, playlists, REMOVE_ITEMS_STEP, type Playlist } from './playlists.ts'
import { count } from './shapes.ts'

const ITEMS_MAX = 10_000
const ITEMS_A_PAGE = 20
const NOTES_MAX = 4_000
const TITLE_MAX = 500
const URL_MAX = 1_000
const AUDIO_SEC_MAX = 7 * 24 * 3600

export interface PlaylistItem {
  readonly playlist_id: string
  readonly id: number
  readonly type: 'episode' | 'custom_audio' | 'podcast'
  /** Of the episode or the podcast; empty for audio of one's own. */
  readonly target_id: string
  /** Of the podcast that the item is, or is an episode of; empty for audio of one's own. */
  readonly podcast_id: string
  /** Kept, so that an item whose target is gone can still be named. */
  readonly title: string
  readonly custom: CustomAudio | null
  readonly notes: string
  /** No other item of the playlist has the same, and neither the next: pages are cut by them. */
  readonly added_at_ms: number
  readonly published_ms: number
  readonly audio_length_sec: number
  readonly owner: string
}

interface CustomAudio {
  readonly title: string
  readonly audio: string
  readonly image: string
  readonly thumbnail: string
  readonly audio_length_sec: number
  readonly pub_date_ms: number
}

export type ListType = 'episode_list' | 'podcast_list'
const listOf = ({ type }: PlaylistItem): ListType =>
  type === 'podcast' ? 'podcast_list' : 'episode_list'

export const playlistItems = kind<PlaylistItem>('playlist_item', {
  key: ({ playlist_id, id }) => `${playlist_id}/${id}`,
  columns: {
    list: textOf((item) => `${item.playlist_id}/${listOf(item)}`),
    added: numberOf(({ added_at_ms }) => added_at_ms),
    published: numberOf(({ published_ms }) => published_ms),
    target: textOf(({ target_id }) => target_id || null),
    onList: textOf(({ playlist_id, target_id }) => target_id && `${playlist_id}/${target_id}`),
    podcast: textOf(({ podcast_id }) => podcast_id || null),
    own: textOf(({ owner, podcast_id }) => podcast_id && `${owner}/${podcast_id}`),
  },
  indexes: [['list', 'added'], ['list', 'published'], ['target'], ['onList'], ['podcast'], ['own']],
})
export const kinds = [playlistItems]

export const operations = [
  operation({
    name: 'addPlaylistItem',
    rest: post('/playlists/{id}/items', {
      status: [201, 200],
      media: 'form',
      isBeyond: true,
      show: showItemAlone,
    }),
    input: {
      id: text,
      episode_id: optional(text),
      podcast_id: optional(text),
      notes: optional(text.max(NOTES_MAX)),
    },
    refuses: { 404: 'There is no such playlist.' },
    run: addItem,
  }),
  operation({
    name: 'addPlaylistAudio',
    input: {
      id: text,
      title: text.min(1).max(TITLE_MAX),
      audio: text.max(URL_MAX),
      image: optional(text.max(URL_MAX)),
      audio_length_sec: whole.refine(
        (value) => value >= 0 && value <= AUDIO_SEC_MAX,
        `must be between 0 and ${AUDIO_SEC_MAX}`,
      ),
      pub_date_ms: optional(count),
      notes: optional(text.max(NOTES_MAX)),
    },
    run: addAudio,
  }),
  operation({
    name: 'updatePlaylistItem',
    rest: put('/playlists/{id}/items/{item_id}', {
      media: 'form',
      isBeyond: true,
      show: showItemAlone,
    }),
    input: { id: text, item_id: whole, notes: text.max(NOTES_MAX) },
    refuses: { 404: 'There is no such item.' },
    run: ({ id, item_id, notes }, ctx) =>
      changeItem(id, item_id, ctx, async (tx, item) => {
        const changed = { ...item, notes }
        await tx.save(playlistItems, changed)
        return changed
      }),
  }),
  operation({
    name: 'deletePlaylistItem',
    rest: del('/playlists/{id}/items/{item_id}', { status: [204], isBeyond: true }),
    input: { id: text, item_id: whole },
    refuses: { 404: 'There is no such item.' },
    async run({ id, item_id }, ctx) {
      await changeItem(id, item_id, ctx, async (tx, item, playlist) => {
        await tx.remove(playlistItems, playlistItems.key(item))
        await tx.save(playlists, counted(playlist, item, -1))
      })
      return reply(204)
    },
  }),
]

export const steps = {
  /** Removes the items of a playlist that is gone. */
  async [REMOVE_ITEMS_STEP]({ id, limit }: { id: string; limit: number }, ctx: Context) {
    await ctx.store.transaction(async (tx) => {
      const removed = await tx.removeMany(playlistItems, { prefix: `${id}/`, limit })
      if (removed === limit) await ctx.work.later(tx, 0, REMOVE_ITEMS_STEP, { id, limit })
    })
  },
}

export function showItemAlone({ id, type, notes, added_at_ms }: PlaylistItem) {
  return { id, type, notes, added_at_ms }
}

type NewItem = Pick<
  PlaylistItem,
  'type' | 'target_id' | 'podcast_id' | 'title' | 'custom' | 'published_ms' | 'audio_length_sec'
>

/** Chosen: what is on the playlist already stays where it is and is answered with 200. */
export async function addItem(
  sent: {
    id: string
    episode_id?: string | undefined
    podcast_id?: string | undefined
    notes?: string | undefined
  },
  ctx: Context,
) {
  const { id, episode_id, podcast_id, notes = '' } = sent
  if ((episode_id === undefined) === (podcast_id === undefined)) {
    throw BadRequest('Name exactly one of episode_id and podcast_id.')
  }
  return ctx.store.transaction(async (tx) => {
    const playlist = await needOwn(tx, id, ctx)
    const onList = `${id}/${episode_id ?? podcast_id}`
    const { items } = await tx.list(playlistItems, { where: { onList }, limit: 1 })
    if (items[0]) return reply(200, items[0])
    const target = episode_id
      ? await episodeItem(tx, episode_id)
      : await podcastItem(tx, podcast_id!)
    return reply(201, await putItem(tx, playlist, { ...target, notes }, ctx))
  })
}

async function episodeItem(tx: Records, id: string): Promise<NewItem> {
  const episode = await tx.get(episodes, id)
  if (!episode) throw BadRequest(`There is no episode ${id}.`)
  const { podcast_id, title, pub_date_ms: published_ms, audio_length_sec } = episode
  return {
    type: 'episode',
    target_id: id,
    custom: null,
    podcast_id,
    title,
    published_ms,
    audio_length_sec,
  }
}

async function podcastItem(tx: Records, id: string): Promise<NewItem> {
  const podcast = await tx.get(podcasts, id)
  if (!podcast) throw BadRequest(`There is no podcast ${id}.`)
  const { title, latest_pub_date_ms: published_ms } = podcast
  return {
    type: 'podcast',
    target_id: id,
    podcast_id: id,
    custom: null,
    title,
    published_ms,
    audio_length_sec: 0,
  }
}

async function addAudio(
  sent: {
    id: string
    title: string
    audio: string
    image?: string | undefined
    audio_length_sec: number
    pub_date_ms?: number | undefined
    notes?: string | undefined
  },
  ctx: Context,
): Promise<PlaylistItem> {
  const { id, title, audio, image = '', audio_length_sec, notes = '' } = sent
  if (!/^https?:$/.test(URL.parse(audio)?.protocol ?? '')) {
    throw BadRequest('audio must be an http or https address.')
  }
  const pub_date_ms = sent.pub_date_ms ?? ctx.clock.now().getTime()
  const custom = { title, audio, image, thumbnail: image, audio_length_sec, pub_date_ms }
  return ctx.store.transaction(async (tx) => {
    const playlist = await needOwn(tx, id, ctx)
    const item = {
      type: 'custom_audio' as const,
      target_id: '',
      podcast_id: '',
      title,
      custom,
      published_ms: pub_date_ms,
      audio_length_sec,
    }
    return putItem(tx, playlist, { ...item, notes }, ctx)
  })
}

async function putItem(
  tx: Records,
  playlist: Playlist,
  item: NewItem & { notes: string },
  ctx: Context,
): Promise<PlaylistItem> {
  if (playlist.episode_count + playlist.podcast_count >= ITEMS_MAX) {
    throw BadRequest(`A playlist holds at most ${ITEMS_MAX} items.`)
  }
  const now = ctx.clock.now().getTime()
  const added: PlaylistItem = {
    ...item,
    playlist_id: playlist.id,
    owner: playlist.owner,
    id: playlist.last_item_id + 1,
    added_at_ms: Math.max(now, playlist.last_timestamp_ms + 1),
  }
  const placed = { ...added, published_ms: await freeMoment(tx, added) }
  await tx.insert(playlistItems, placed)
  await tx.save(playlists, {
    ...counted(playlist, placed, 1),
    last_item_id: placed.id,
    last_timestamp_ms: placed.added_at_ms,
  })
  await announce(tx, ctx, 'changed', playlist)
  return placed
}

/** The first moment from that of the item on that no other item of its list has. */
async function freeMoment(tx: Records, item: PlaylistItem): Promise<number> {
  const where = { list: `${item.playlist_id}/${listOf(item)}` }
  let free = item.published_ms
  let after: string | undefined
  for (;;) {
    const page = await tx.list(playlistItems, {
      where,
      order: 'published',
      from: item.published_ms,
      after,
      limit: ITEMS_A_PAGE,
    })
    for (const { published_ms } of page.items) {
      if (published_ms > free) return free
      free = published_ms + 1
    }
    if (page.next === undefined) return free
    after = page.next
  }
}

function counted(playlist: Playlist, item: PlaylistItem, by: 1 | -1): Playlist {
  const isPodcast = item.type === 'podcast'
  return {
    ...playlist,
    episode_count: playlist.episode_count + (isPodcast ? 0 : by),
    podcast_count: playlist.podcast_count + (isPodcast ? by : 0),
    total_audio_length_sec: playlist.total_audio_length_sec + by * item.audio_length_sec,
  }
}

const changeItem = <R>(
  id: string,
  itemId: number,
  ctx: Context,
  change: (tx: Records, item: PlaylistItem, playlist: Playlist) => Promise<R>,
): Promise<R> =>
  ctx.store.transaction(async (tx) => {
    const playlist = await needOwn(tx, id, ctx)
    const item = await tx.get(playlistItems, `${id}/${itemId}`)
    if (!item) throw NotFound(`The playlist has no item ${itemId}.`)
    const result = await change(tx, item, playlist)
    await announce(tx, ctx, 'changed', playlist)
    return result
  })
