// Something to look at: a directory of shows, lists of some of them, and a person's playlists.
import type { Context } from '../kernel/context.ts'
import { createCuratedList } from './curated-lists.ts'
import { loadDirectory } from './demo-directory.ts'
import { showOf } from './demo-shows.ts'
import { addItem } from './playlist-items.ts'
import { createPlaylist } from './playlists.ts'

export const DEMO_SIZE = { podcasts: 2_400, episodes: 20_000 }
/** As many as are there when the start has ended; the others follow. */
const SHOWS_AT_ONCE = 10

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
  return { podcastId: ids[0]!, curatedListId: list.id, playlistId: playlist.id }
}
