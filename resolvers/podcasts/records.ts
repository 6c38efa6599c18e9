// Podcasts and their episodes as they are kept. Specification 1, service S5.
import { createHash } from 'node:crypto'
import { kind, numberOf, textOf } from '../kernel/store.ts'
import { regions, withAncestors } from './genres.ts'
import { plainText } from './plain-text.ts'

/** A podcast that is heard this much stands among those that are looked at first. */
const TOP_SCORE = 60

export interface Podcast {
  readonly id: string
  readonly title: string
  readonly publisher: string
  readonly description: string
  readonly image: string
  readonly thumbnail: string
  readonly website: string
  readonly rss: string
  readonly email: string
  /** An English name, such as `German`. */
  readonly language: string
  /** An English name, such as `Germany`. */
  readonly country: string
  readonly type: 'episodic' | 'serial'
  readonly explicit_content: boolean
  readonly is_claimed: boolean
  readonly has_guest_interviews: boolean
  readonly has_sponsors: boolean
  readonly storeone_id: number | null
  readonly storetwo_id: string | null
  readonly genre_ids: readonly number[]
  readonly looking_for: LookingFor
  readonly extra: Readonly<Record<string, string>>
  readonly total_episodes: number
  readonly total_audio_sec: number
  readonly earliest_pub_date_ms: number
  readonly latest_pub_date_ms: number
  readonly latest_episode_id: string
  /** 0 to 100, as the directory that was loaded gave it. A feed does not tell. */
  readonly listen_score: number | null
  /** Where its listeners are, the greatest share first, as the directory that was loaded gave it. */
  readonly audience: readonly { readonly region: string; readonly share: number }[]
  readonly added_at_ms: number
  readonly submitted_by: string | null
}

interface LookingFor {
  readonly cohosts: boolean
  readonly cross_promotion: boolean
  readonly sponsors: boolean
  readonly guests: boolean
}

export interface Episode {
  readonly id: string
  readonly podcast_id: string
  readonly guid_from_rss: string
  readonly title: string
  readonly description: string
  readonly audio: string
  readonly image: string
  readonly thumbnail: string
  readonly link: string
  /** No other episode of the podcast has the same, so that pages can be cut by it. */
  readonly pub_date_ms: number
  readonly audio_length_sec: number
  readonly explicit_content: boolean
  readonly maybe_audio_invalid: boolean
  readonly transcript: string | null
  /** What a search for episodes asks of their podcast. It follows the podcast a little later. */
  readonly podcast: PodcastFacts
}

export interface PodcastFacts {
  readonly title: string
  readonly publisher: string
  readonly marks: readonly string[]
}

export const podcasts = kind<Podcast>('podcast', {
  key: ({ id }) => id,
  columns: {
    rss: textOf(({ rss }) => rss || null),
    storeone: numberOf(({ storeone_id }) => storeone_id),
    storetwo: textOf(({ storetwo_id }) => storetwo_id),
    domain: textOf(({ website }) => domainOf(website)),
    submittedBy: textOf(({ submitted_by }) => submitted_by),
    latest: numberOf(({ latest_pub_date_ms }) => latest_pub_date_ms),
    length: numberOf((podcast) => averageLength(podcast)),
    episodes: numberOf(({ total_episodes }) => total_episodes),
    frequency: numberOf((podcast) => updateFrequency(podcast)),
  },
  indexes: [['rss'], ['storeone'], ['storetwo'], ['domain'], ['submittedBy']],
  text: {
    title: { of: ({ title }) => title, weight: 'A', fuzzy: true },
    author: { of: ({ publisher }) => publisher, weight: 'B' },
    description: { of: ({ description }) => plainText(description), weight: 'C' },
  },
  // Beginnings are completed from the words of the directory before the engine is asked.
  hasQuickPrefixes: false,
  marks: (podcast) => [...factsOf(podcast).marks, monthMark(podcast.latest_pub_date_ms)],
})

export const episodes = kind<Episode>('episode', {
  key: ({ id }) => id,
  columns: {
    podcast: textOf(({ podcast_id }) => podcast_id),
    published: numberOf(({ pub_date_ms }) => pub_date_ms),
    length: numberOf(({ audio_length_sec }) => audio_length_sec),
  },
  indexes: [['podcast', 'published'], ['podcast']],
  text: {
    title: { of: ({ title }) => title, weight: 'A' },
    author: { of: ({ podcast }) => `${podcast.title}. ${podcast.publisher}`, weight: 'B' },
    description: { of: ({ description }) => plainText(description), weight: 'C' },
    audio: { of: ({ transcript }) => transcript, weight: 'D' },
  },
  hasQuickPrefixes: false,
  marks: ({ podcast, podcast_id, pub_date_ms, explicit_content }) => [
    ...podcast.marks,
    podcastMark(podcast_id),
    monthMark(pub_date_ms),
    ...(explicit_content ? [EXPLICIT_MARK] : []),
  ],
})

export const kinds = [podcasts, episodes]

export const EXPLICIT_MARK = 'explicit'
export const INTERVIEWS_MARK = 'interviews'
export const SPONSORS_MARK = 'sponsors'
export const TOP_MARK = 'top'
export const genreMark = (id: number): string => `genre_${id}`
export const languageMark = (name: string): string =>
  `language_${name.toLowerCase().replace(/[^a-z]/g, '_')}`
export const regionMark = (code: string): string => `region_${code.toLowerCase()}`
export const podcastMark = (id: string): string => `podcast_${id}`
export function monthMark(ms: number): string {
  const date = new Date(ms)
  return `month_${date.getUTCFullYear()}_${date.getUTCMonth() + 1}`
}

/** What the episodes of a podcast are found by. */
export function factsOf(podcast: Podcast): PodcastFacts {
  const { title, publisher, language, listen_score } = podcast
  const marks = [
    ...withAncestors(podcast.genre_ids).map(genreMark),
    ...(language ? [languageMark(language)] : []),
    ...regionsOf(podcast).map(regionMark),
    ...(podcast.explicit_content ? [EXPLICIT_MARK] : []),
    ...(podcast.has_guest_interviews ? [INTERVIEWS_MARK] : []),
    ...(podcast.has_sponsors ? [SPONSORS_MARK] : []),
    ...((listen_score ?? 0) >= TOP_SCORE ? [TOP_MARK] : []),
  ]
  return { title, publisher, marks }
}

/** Where a podcast comes from and where it is heard. */
export function regionsOf({ country, audience }: Podcast): string[] {
  const own = Object.entries(regions).find(([, name]) => name === country)?.[0]
  return [...new Set([...(own ? [own] : []), ...audience.map(({ region }) => region)])]
}

export const averageLength = ({ total_audio_sec, total_episodes }: Podcast): number =>
  total_episodes === 0 ? 0 : Math.round(total_audio_sec / total_episodes)

const HOUR_MS = 3_600_000

/** How long it takes on average until the next episode; 0 while there are fewer than two. */
export const updateFrequency = (podcast: Podcast): number =>
  podcast.total_episodes < 2
    ? 0
    : Math.round(
        (podcast.latest_pub_date_ms - podcast.earliest_pub_date_ms) /
          (podcast.total_episodes - 1) /
          HOUR_MS,
      )

/** The host of an address without `www.`; null when it is none. */
export function domainOf(address: string): string | null {
  const host = URL.parse(address)
    ?.hostname.toLowerCase()
    .replace(/^www\./, '')
  return host || null
}

/** Chosen: ids come of the feed's address and of guids, so that the same thing always has the same. */
export const podcastId = (rss: string): string => digest(`podcast ${rss}`)
export const episodeId = (podcast: string, guid: string): string =>
  digest(`episode ${podcast} ${guid}`)

const digest = (of: string): string => createHash('sha256').update(of).digest('hex').slice(0, 32)
