// Something to look at: a directory of shows, lists of some of them, a person's own show and playlist.
import type { Context } from '../kernel/context.ts'
import { createCuratedList } from './curated-lists.ts'
import { loadDirectory } from './demo-directory.ts'
import { showOf } from './demo-shows.ts'
import { feeds, newFeed } from './feed-records.ts'
import type { ReadEpisode, ReadFeed } from './feeds.ts'
import { takeIn } from './intake.ts'
import { addItem } from './playlist-items.ts'
import { createPlaylist } from './playlists.ts'
import { podcastId, type Podcast } from './records.ts'

export const DEMO_SIZE = { podcasts: 2_400, episodes: 20_000 }
/** As many as are there when the start has ended; the others follow. */
const SHOWS_AT_ONCE = 10
const WEEK_MS = 7 * 24 * 3_600_000
const OWN_RSS = 'https://feeds.example.org/storks-on-film.xml'
const OWN_SHOW: Omit<ReadFeed, 'episodes'> = {
  title: 'Storks on Film',
  publisher: 'Ada Lovelace',
  description: 'Birds in the cinema, from silent film to documentary making.',
  website: 'https://www.example.org/storks-on-film',
  image: 'https://images.example.org/storks-on-film.jpg',
  email: 'ada@example.org',
  language: 'en-gb',
  type: 'episodic',
  isExplicit: false,
  hasGuests: false,
  categories: ['TV & Film'],
  movedTo: undefined,
}
const OWN_EPISODES = [
  'The first nest on celluloid',
  'Why storks stand still',
  'A documentary from the roof',
]

/** Loads the first shows and plans the others. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  await loadDirectory(DEMO_SIZE, SHOWS_AT_ONCE, ctx)
  const ids = Array.from({ length: SHOWS_AT_ONCE }, (_, number) => showOf(number, 0, 0).podcast.id)
  const list = await createCuratedList(
    {
      title: 'Ten shows to begin with',
      description: 'Film, faith and sport: the first shows of the demo directory.',
      source_url: 'https://www.example.org/ten-shows',
      podcast_ids: ids,
    },
    ctx,
  )
  const playlist = await createPlaylist({ name: 'On the way home', visibility: 'public' }, ctx)
  for (const podcast_id of ids.slice(0, 3)) await addItem({ id: playlist.id, podcast_id }, ctx)
  const own = await addOwnShow(ctx)
  await addItem({ id: playlist.id, podcast_id: own.id }, ctx)
  return { podcastId: ids[0]!, curatedListId: list.id, playlistId: playlist.id }
}

/** A show of the person's own, with an episode a week, taken in as if its feed had been read. */
async function addOwnShow(ctx: Context): Promise<Podcast> {
  const podcast_id = podcastId(OWN_RSS)
  const submitted_by = ctx.caller.userId
  const feed = newFeed({ podcast_id, rss: OWN_RSS, state: 'active', submitted_by, contact: '' })
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.save(feeds, { ...feed, last_refreshed_at_ms: nowMs, last_tried_at_ms: nowMs })
  return takeIn({ ...OWN_SHOW, episodes: OWN_EPISODES.map(episodeAt(nowMs)) }, feed, ctx)
}

const episodeAt =
  (nowMs: number) =>
  (title: string, at: number): ReadEpisode => ({
    guid: `storks-${at + 1}`,
    title,
    description: `Episode ${at + 1} of storks on film.`,
    audio: `https://audio.example.org/storks-${at + 1}.mp3`,
    isAudio: true,
    image: OWN_SHOW.image,
    link: `${OWN_SHOW.website}/${at + 1}`,
    publishedMs: nowMs - (OWN_EPISODES.length - at) * WEEK_MS,
    lengthSec: 1_500,
    isExplicit: false,
    transcript: undefined,
  })
