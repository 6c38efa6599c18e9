// Podcasts and episodes as the documented bodies show them. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { loadBy } from '../kernel/load.ts'
import { averageLength, updateFrequency, type Episode, type Podcast } from './records.ts'

const text = z.string()
const score = z.int().nullable()

export const minimumAnswer = z.object({
  id: text,
  title: text,
  publisher: text,
  image: text,
  thumbnail: text,
  vendor_url: text,
  listen_score: score,
  listen_score_global_rank: text.nullable(),
})

export const simpleAnswer = minimumAnswer.extend({
  country: text,
  language: text,
  description: text,
  website: text,
  rss: text,
  email: text,
  latest_episode_id: text,
  type: z.enum(['episodic', 'serial']),
  storeone_id: z.int().nullable(),
  total_episodes: z.int(),
  audio_length_sec: z.int(),
  update_frequency_hours: z.int(),
  earliest_pub_date_ms: z.int(),
  latest_pub_date_ms: z.int(),
  is_claimed: z.boolean(),
  explicit_content: z.boolean(),
  has_guest_interviews: z.boolean(),
  has_sponsors: z.boolean(),
  looking_for: z.object({
    cohosts: z.boolean(),
    cross_promotion: z.boolean(),
    sponsors: z.boolean(),
    guests: z.boolean(),
  }),
  extra: z.record(text, text),
  genre_ids: z.array(z.int()),
})

export const episodeAnswer = z.object({
  id: text,
  title: text,
  description: text,
  audio: text,
  image: text,
  thumbnail: text,
  link: text,
  vendor_url: text,
  vendor_edit_url: text,
  guid_from_rss: text,
  pub_date_ms: z.int(),
  audio_length_sec: z.int(),
  explicit_content: z.boolean(),
  maybe_audio_invalid: z.boolean(),
})

export const episodeSimpleAnswer = episodeAnswer.extend({ podcast: minimumAnswer })

/** What stands beside records when they are shown. */
export interface Beside {
  readonly ranks: Ranks
}

/** The share of podcasts that are heard as much or more, by score. */
type Ranks = ReadonlyMap<number, string>

/** Read once for a request. */
export const ranksOf = (ctx: Context): Promise<Ranks> =>
  loadBy(
    ctx,
    'ranks',
    async (keys: readonly string[]) => {
      const rows = await ctx.store.sql(
        'SELECT score, podcasts FROM score_count ORDER BY score DESC',
      )
      const all = rows.reduce((sum, row) => sum + Number(row['podcasts']), 0)
      const ranks = new Map<number, string>()
      let above = 0
      for (const row of rows) {
        above += Number(row['podcasts'])
        ranks.set(Number(row['score']), percentOf(above / all))
      }
      return keys.map(() => ranks)
    },
    '',
  )

/** `0.05%`, `1.5%`, `10%`: small shares are told more exactly. */
function percentOf(share: number): string {
  const percent = share * 100
  const digits = percent < 1 ? 2 : percent < 10 ? 1 : 0
  return `${Number(percent.toFixed(digits))}%`
}

export const rankOf = ({ listen_score }: Podcast, ranks: Ranks): string | null =>
  listen_score === null ? null : (ranks.get(listen_score) ?? null)

export const podcastUrl = ({ id }: { id: string }, { address }: Context): string =>
  `${address}/c/${id}/`
export const episodeUrl = ({ id }: { id: string }, { address }: Context): string =>
  `${address}/e/${id}/`

export const showMinimum = (podcast: Podcast, { ranks }: Beside, ctx: Context) => ({
  id: podcast.id,
  title: podcast.title,
  publisher: podcast.publisher,
  image: podcast.image,
  thumbnail: podcast.thumbnail,
  vendor_url: podcastUrl(podcast, ctx),
  listen_score: podcast.listen_score,
  listen_score_global_rank: rankOf(podcast, ranks),
})

export const showSimple = (podcast: Podcast, beside: Beside, ctx: Context) => ({
  ...showMinimum(podcast, beside, ctx),
  country: podcast.country,
  language: podcast.language,
  description: podcast.description,
  website: podcast.website,
  rss: podcast.rss,
  email: podcast.email,
  latest_episode_id: podcast.latest_episode_id,
  type: podcast.type,
  storeone_id: podcast.storeone_id,
  total_episodes: podcast.total_episodes,
  audio_length_sec: averageLength(podcast),
  update_frequency_hours: updateFrequency(podcast),
  earliest_pub_date_ms: podcast.earliest_pub_date_ms,
  latest_pub_date_ms: podcast.latest_pub_date_ms,
  is_claimed: podcast.is_claimed,
  explicit_content: podcast.explicit_content,
  has_guest_interviews: podcast.has_guest_interviews,
  has_sponsors: podcast.has_sponsors,
  looking_for: podcast.looking_for,
  extra: podcast.extra,
  genre_ids: podcast.genre_ids,
})

export const showEpisode = (episode: Episode, ctx: Context) => ({
  id: episode.id,
  title: episode.title,
  description: episode.description,
  audio: episode.audio,
  image: episode.image,
  thumbnail: episode.thumbnail,
  link: episode.link,
  vendor_url: episodeUrl(episode, ctx),
  vendor_edit_url: `${episodeUrl(episode, ctx)}#edit`,
  guid_from_rss: episode.guid_from_rss,
  pub_date_ms: episode.pub_date_ms,
  audio_length_sec: episode.audio_length_sec,
  explicit_content: episode.explicit_content,
  maybe_audio_invalid: episode.maybe_audio_invalid,
})

/** An episode together with its podcast, which is there. */
export interface Heard {
  readonly episode: Episode
  readonly podcast: Podcast
}

export const showEpisodeSimple = ({ episode, podcast }: Heard, beside: Beside, ctx: Context) => ({
  ...showEpisode(episode, ctx),
  podcast: showMinimum(podcast, beside, ctx),
})
