// What a feed tells, taken into the directory: new episodes added, changed ones replaced, none lost.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { writeDirectory, type EpisodeChange } from './directory.ts'
import type { Feed } from './feed-records.ts'
import type { ReadEpisode, ReadFeed } from './feeds.ts'
import { genresNamed, languageNamed, regionNamed } from './genres.ts'
import {
  episodeId,
  episodes,
  factsOf,
  podcasts,
  type Episode,
  type Podcast,
  type PodcastFacts,
} from './records.ts'
import { planTranscript } from './transcripts.ts'

const WRITTEN_TOGETHER = 200
const RESPREAD_TOGETHER = 100
const DAY_MS = 24 * 3_600_000

const SPREAD_STEP = 'spreadPodcastFacts'

/** The links that a podcast can have elsewhere. A feed names none of them. */
const EXTRA_KEYS = [
  'social_handle',
  'photo_handle',
  'microblog_handle',
  'chat_handle',
  'patron_handle',
  'video_url',
  'music_url',
  'professional_url',
  'storetwo_url',
  'url1',
  'url2',
  'url3',
] as const

export const NO_LINKS: Readonly<Record<string, string>> = Object.fromEntries(
  EXTRA_KEYS.map((key) => [key, '']),
)

export const steps = { [SPREAD_STEP]: spreadFacts }

/**
 * Takes a feed in, some episodes at a time, the newest first. Each part is whole: what was taken in
 * before a crash is counted, and taking the same feed again changes nothing.
 */
export async function takeIn(read: ReadFeed, feed: Feed, ctx: Context): Promise<Podcast> {
  const nowMs = ctx.clock.now().getTime()
  const latestMs = nowMs + DAY_MS
  const dated = read.episodes
    // Nothing is published later than tomorrow, whatever a feed says.
    .map((one) => ({ ...one, publishedMs: Math.min(one.publishedMs ?? nowMs, latestMs) }))
    .sort((a, b) => b.publishedMs - a.publishedMs)
  let taken: Podcast | undefined
  for (let at = 0; at === 0 || at < dated.length; at += WRITTEN_TOGETHER) {
    const some = dated.slice(at, at + WRITTEN_TOGETHER)
    taken = await ctx.store.transaction((tx) => takePart(tx, { read, feed, some }, ctx))
  }
  return taken!
}

interface Part {
  readonly read: ReadFeed
  readonly feed: Feed
  readonly some: readonly (ReadEpisode & { publishedMs: number })[]
}

async function takePart(tx: Records, { read, feed, some }: Part, ctx: Context): Promise<Podcast> {
  const before = await tx.get(podcasts, feed.podcast_id)
  const described = describe(before, read, feed, ctx)
  const facts = factsOf(described)
  const known = await tx.getMany(
    episodes,
    some.map(({ guid }) => episodeId(described.id, guid)),
  )
  const changes: EpisodeChange[] = []
  const moments = new Set(known.flatMap((one) => (one ? [one.pub_date_ms] : [])))
  for (const [at, one] of some.entries()) {
    const old = known[at]
    const pub_date_ms = old
      ? old.pub_date_ms
      : await freeMoment(tx, described.id, one.publishedMs, moments)
    moments.add(pub_date_ms)
    const after = episodeOf(one, described, facts, { pub_date_ms, old })
    if (!old || !isSame(old, after)) changes.push({ before: old, after })
    if (!old && one.transcript) await planTranscript(tx, after.id, one.transcript, ctx)
  }
  const after = counted(described, changes)
  const isNew = before === undefined
  if (isNew || changes.length > 0 || JSON.stringify(before) !== JSON.stringify(after)) {
    await writeDirectory(tx, [{ before, after, episodes: changes }])
    await announce(tx, ctx, after, isNew, changes)
  }
  if (before && JSON.stringify(factsOf(before)) !== JSON.stringify(facts)) {
    await ctx.work.later(tx, 0, SPREAD_STEP, { podcast_id: after.id })
  }
  return after
}

function describe(before: Podcast | undefined, read: ReadFeed, feed: Feed, ctx: Context): Podcast {
  const [, country = ''] = read.language.split(/[-_]/)
  const genre_ids = genresNamed((name) =>
    read.categories.some((category) => category.toLowerCase() === name.toLowerCase()),
  ).map(({ id }) => id)
  const told = {
    title: read.title,
    publisher: read.publisher,
    description: read.description,
    image: read.image,
    thumbnail: read.image,
    website: read.website,
    rss: feed.rss,
    email: read.email,
    language: languageNamed(read.language),
    country: regionNamed(country),
    type: read.type,
    explicit_content: read.isExplicit,
    has_guest_interviews: read.hasGuests,
    genre_ids,
  }
  if (before) return { ...before, ...told }
  return {
    id: feed.podcast_id,
    ...told,
    is_claimed: false,
    has_sponsors: false,
    storeone_id: null,
    storetwo_id: null,
    looking_for: { cohosts: false, cross_promotion: false, sponsors: false, guests: false },
    extra: NO_LINKS,
    total_episodes: 0,
    total_audio_sec: 0,
    earliest_pub_date_ms: 0,
    latest_pub_date_ms: 0,
    latest_episode_id: '',
    listen_score: null,
    audience: [],
    added_at_ms: ctx.clock.now().getTime(),
    submitted_by: feed.submitted_by,
  }
}

function episodeOf(
  read: ReadEpisode,
  podcast: Podcast,
  facts: PodcastFacts,
  { pub_date_ms, old }: { pub_date_ms: number; old: Episode | undefined },
): Episode {
  return {
    id: episodeId(podcast.id, read.guid),
    podcast_id: podcast.id,
    guid_from_rss: read.guid,
    title: read.title,
    description: read.description,
    audio: read.audio,
    image: read.image || podcast.image,
    thumbnail: read.image || podcast.thumbnail,
    link: read.link,
    pub_date_ms,
    audio_length_sec: read.lengthSec,
    explicit_content: read.isExplicit,
    maybe_audio_invalid: !read.isAudio,
    transcript: old?.transcript ?? null,
    podcast: facts,
  }
}

const isSame = (a: Episode, b: Episode): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The podcast with what its new and changed episodes add. */
export function counted(podcast: Podcast, changes: readonly EpisodeChange[]): Podcast {
  let { total_episodes, total_audio_sec, earliest_pub_date_ms, latest_pub_date_ms } = podcast
  let { latest_episode_id } = podcast
  for (const { before, after } of changes) {
    if (!after) continue
    total_audio_sec += after.audio_length_sec - (before?.audio_length_sec ?? 0)
    if (before) continue
    if (total_episodes === 0 || after.pub_date_ms < earliest_pub_date_ms) {
      earliest_pub_date_ms = after.pub_date_ms
    }
    if (total_episodes === 0 || after.pub_date_ms > latest_pub_date_ms) {
      latest_pub_date_ms = after.pub_date_ms
      latest_episode_id = after.id
    }
    total_episodes += 1
  }
  return {
    ...podcast,
    total_episodes,
    total_audio_sec,
    earliest_pub_date_ms,
    latest_pub_date_ms,
    latest_episode_id,
  }
}

/**
 * Chosen: two episodes of one moment are kept a millisecond apart, since pages are cut by the moment.
 */
async function freeMoment(
  tx: Records,
  podcast: string,
  wished: number,
  taken: ReadonlySet<number>,
): Promise<number> {
  for (let moment = wished; ; moment -= 1) {
    if (taken.has(moment)) continue
    const query = { where: { podcast }, order: 'published', from: moment, below: moment + 1 }
    if ((await tx.list(episodes, { ...query, limit: 1 })).items.length === 0) return moment
  }
}

async function announce(
  tx: Records,
  ctx: Context,
  { id, title }: Podcast,
  isNew: boolean,
  changes: readonly EpisodeChange[],
): Promise<void> {
  const type = `podcasts.podcast.${isNew ? 'created' : 'changed'}`
  await ctx.events.announce(tx, { type, subject: id, body: { id, title } })
  for (const { before, after } of changes) {
    await ctx.events.announce(tx, {
      type: `podcasts.episode.${before ? 'changed' : 'created'}`,
      subject: after!.id,
      body: { id: after!.id, podcast_id: id, title: after!.title },
    })
  }
}

/** Lets the episodes of a podcast follow its new name, genres and the like, some at a time. */
async function spreadFacts(
  { podcast_id, after }: { podcast_id: string; after?: string },
  ctx: Context,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const podcast = await tx.get(podcasts, podcast_id)
    if (!podcast) return
    const facts = factsOf(podcast)
    const { items, next } = await tx.list(episodes, {
      where: { podcast: podcast_id },
      after,
      limit: RESPREAD_TOGETHER,
    })
    for (const episode of items) {
      if (JSON.stringify(episode.podcast) !== JSON.stringify(facts)) {
        await tx.save(episodes, { ...episode, podcast: facts })
      }
    }
    if (next) await ctx.work.later(tx, 0, SPREAD_STEP, { podcast_id, after: next })
  })
}
