// Playlists: what a person keeps to listen to. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { del, get, operation, post, put, reply } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { slugOf } from './curated-lists.ts'
import { BadRequest, NotFound } from './errors.ts'
import { shortId } from './ids.ts'
import { metered } from './quotas.ts'
import { page, pageEnvelope } from './shapes.ts'

const PLAYLISTS_MAX = 1_000
const PLAYLISTS_A_PAGE = 20
const NAME_MAX = 200
const TEXT_MAX = 4_000
const REMOVED_AT_ONCE = 200

export interface Playlist {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly description: string
  readonly image: string
  readonly thumbnail: string
  readonly visibility: 'public' | 'unlisted' | 'private'
  readonly created_at_ms: number
  readonly episode_count: number
  readonly podcast_count: number
  readonly total_audio_length_sec: number
  /** When the last item was added. */
  readonly last_timestamp_ms: number
  readonly last_item_id: number
}

export const playlists = kind<Playlist>('playlist', {
  key: ({ id }) => id,
  columns: {
    owner: textOf(({ owner }) => owner),
    created: numberOf(({ created_at_ms }) => created_at_ms),
    name: textOf(({ name }) => name.toLowerCase()),
  },
  indexes: [
    ['owner', 'created'],
    ['owner', 'name'],
  ],
})
export const kinds = [playlists]

const visibilities = oneOf(['public', 'unlisted', 'private'])
const sorts = oneOf(['recent_added_first', 'oldest_added_first', 'name_a_to_z', 'name_z_to_a'])

const summaryAnswer = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  image: z.string(),
  thumbnail: z.string(),
  vendor_url: z.string(),
  visibility: visibilities,
  episode_count: z.int(),
  podcast_count: z.int(),
  total_audio_length_sec: z.int(),
  last_timestamp_ms: z.int(),
})

export const operations = [
  operation({
    name: 'playlists',
    rest: get('/playlists', {
      show: ({ playlists, ...envelope }: any, ctx) => ({
        ...envelope,
        playlists: playlists.map((playlist: Playlist) => showSummary(playlist, ctx)),
      }),
      answer: z.object({ total: z.int(), playlists: z.array(summaryAnswer) }).loose(),
    }),
    input: { sort: optional(sorts), page: optional(page) },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(listOwn),
  }),
  operation({
    name: 'createPlaylist',
    rest: post('/playlists', {
      status: [201],
      media: 'form',
      isBeyond: true,
      show: showSummary,
      answer: summaryAnswer,
    }),
    input: {
      name: text.min(1).max(NAME_MAX),
      description: optional(text.max(TEXT_MAX)),
      visibility: optional(visibilities),
    },
    run: createPlaylist,
  }),
  operation({
    name: 'updatePlaylist',
    rest: put('/playlists/{id}', {
      media: 'form',
      isBeyond: true,
      show: showSummary,
      answer: summaryAnswer,
    }),
    input: {
      id: text,
      name: optional(text.min(1).max(NAME_MAX)),
      description: optional(text.max(TEXT_MAX)),
      visibility: optional(visibilities),
    },
    refuses: { 404: 'There is no such playlist.' },
    run: updatePlaylist,
  }),
  operation({
    name: 'deletePlaylist',
    rest: del('/playlists/{id}', { status: [204], isBeyond: true }),
    input: { id: text },
    refuses: { 404: 'There is no such playlist.' },
    run: deletePlaylist,
  }),
]

/** The person who asks. */
export function personOf({ caller }: Context): string {
  if (caller.kind !== 'user') throw Forbidden('Only a person can have this.')
  return caller.userId
}

/** A playlist that the caller may see: a private one is its owner's alone. */
export async function visiblePlaylist(id: string, ctx: Context): Promise<Playlist | undefined> {
  const playlist = await load(ctx, playlists, id)
  return playlist?.visibility === 'private' && playlist.owner !== ctx.caller.userId
    ? undefined
    : playlist
}

/** The caller's own playlist, to be changed. */
export async function needOwn(tx: Records, id: string, ctx: Context): Promise<Playlist> {
  const playlist = await tx.get(playlists, id)
  if (playlist && playlist.owner === personOf(ctx)) return playlist
  throw NotFound(`You have no playlist ${id}.`)
}

async function listOwn(
  {
    sort = 'recent_added_first',
    page = 1,
  }: { sort?: z.output<typeof sorts> | undefined; page?: number | undefined },
  ctx: Context,
) {
  const where = { owner: personOf(ctx) }
  const { items, next } = await ctx.store.list(playlists, {
    where,
    order: sort.startsWith('name') ? 'name' : 'created',
    descending: sort === 'recent_added_first' || sort === 'name_z_to_a',
    limit: page * PLAYLISTS_A_PAGE,
  })
  return {
    ...pageEnvelope(page, next !== undefined),
    total: await ctx.store.count(playlists, { where }),
    playlists: items.slice((page - 1) * PLAYLISTS_A_PAGE),
  }
}

export async function createPlaylist(
  sent: {
    name: string
    description?: string | undefined
    visibility?: Playlist['visibility'] | undefined
  },
  ctx: Context,
): Promise<Playlist> {
  const owner = personOf(ctx)
  const playlist: Playlist = {
    id: shortId(ctx),
    owner,
    name: sent.name,
    description: sent.description ?? '',
    image: '',
    thumbnail: '',
    visibility: sent.visibility ?? 'private',
    created_at_ms: ctx.clock.now().getTime(),
    episode_count: 0,
    podcast_count: 0,
    total_audio_length_sec: 0,
    last_timestamp_ms: 0,
    last_item_id: 0,
  }
  await ctx.store.transaction(async (tx) => {
    if ((await tx.count(playlists, { where: { owner } })) >= PLAYLISTS_MAX) {
      throw BadRequest(`A person has at most ${PLAYLISTS_MAX} playlists.`)
    }
    await tx.insert(playlists, playlist)
    await announce(tx, ctx, 'created', playlist)
  })
  return playlist
}

interface Changes {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly visibility?: Playlist['visibility'] | undefined
}

async function updatePlaylist(
  { id, ...sent }: { id: string } & Changes,
  ctx: Context,
): Promise<Playlist> {
  return ctx.store.transaction(async (tx) => {
    const playlist = await needOwn(tx, id, ctx)
    const given = Object.entries(sent).filter(([, value]) => value !== undefined)
    const changed: Playlist = { ...playlist, ...Object.fromEntries(given) }
    await tx.save(playlists, changed)
    await announce(tx, ctx, 'changed', changed)
    return changed
  })
}

export const REMOVE_ITEMS_STEP = 'removePlaylistItems'

async function deletePlaylist({ id }: { id: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const playlist = await needOwn(tx, id, ctx)
    await tx.remove(playlists, id)
    // Nobody can reach the items any more, so they go later, some at a time.
    await ctx.work.later(tx, 0, REMOVE_ITEMS_STEP, { id, limit: REMOVED_AT_ONCE })
    await announce(tx, ctx, 'deleted', playlist)
  })
  return reply(204)
}

export const announce = (
  tx: Records,
  ctx: Context,
  happened: 'created' | 'changed' | 'deleted',
  { id, owner, name }: Playlist,
): Promise<void> =>
  ctx.events.announce(tx, {
    type: `podcasts.playlist.${happened}`,
    subject: id,
    body: { id, owner, name },
  })

export const playlistUrl = (
  { id, name }: Playlist,
  { address }: Context,
  list: 'episodes' | 'podcasts' = 'episodes',
): string => `${address}/playlists/${slugOf(name)}-${id}/${list}/`

function showSummary(playlist: Playlist, ctx: Context) {
  const { owner: _owner, created_at_ms: _created, last_item_id: _last, ...shown } = playlist
  return { ...shown, vendor_url: playlistUrl(playlist, ctx) }
}
