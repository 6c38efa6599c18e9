// Feeds that people hand in and have looked at again. Specification 1, service S5.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Fault, Forbidden } from '../kernel/fault.ts'
import { operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { deletions } from './deletions.ts'
import { BadRequest } from './errors.ts'
import { feeds, newFeed, type Feed } from './feed-records.ts'
import { fetchFeed, type Fetched } from './fetching.ts'
import { readFeed } from './feeds.ts'
import { takeIn } from './intake.ts'
import { personOf } from './playlists.ts'
import { needPodcast } from './podcasts.ts'
import { metered } from './quotas.ts'
import { podcastId, podcasts, type Podcast } from './records.ts'
import { minimumAnswer, podcastUrl, ranksOf, showMinimum, type Beside } from './show.ts'

const URL_MAX = 1_000
const EMAIL_MAX = 320
const BODY_MAX = 2_000_000
const REVIEWING_MAX = 100
const TRIES_MAX = 5
const TRY_AGAIN_MS = 60_000
const LOOK_AGAIN_MS = 24 * 3_600_000
/** How long a feed that was rejected stays so before it may be handed in again. */
const REJECTED_MS = 3_600_000
const ERROR_MAX = 500

const LOOK_STEP = 'lookAtFeed'

export const operations = [
  operation({
    name: 'submitPodcast',
    rest: post('/podcasts/submit', {
      media: 'form',
      show: ({ status, podcast, id, ranks }: Submission & Beside, ctx) => ({
        status,
        podcast: podcast ? showMinimum(podcast, { ranks }, ctx) : expected(id, ctx),
      }),
      answer: z.object({
        status: z.enum(['found', 'in review', 'rejected']),
        podcast: minimumAnswer,
      }),
    }),
    input: { rss: text.max(URL_MAX), email: optional(text.max(EMAIL_MAX)) },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(async (sent: { rss: string; email?: string | undefined }, ctx) => ({
      ...(await submit(sent, ctx)),
      ranks: await ranksOf(ctx),
    })),
  }),
  operation({
    name: 'submitFeed',
    input: { rss: text.max(URL_MAX), feed: z.string().min(1).max(BODY_MAX) },
    run: submitFeed,
  }),
  operation({
    name: 'refreshPodcast',
    rest: post('/podcasts/{id}/rss', {
      media: 'form',
      answer: z.object({ status: z.string(), last_refreshed_at_ms: z.int() }),
    }),
    input: { id: text },
    refuses: { 404: 'There is no such podcast.', 429: 'The quota of the key is used up.' },
    run: metered(refresh),
  }),
]

export const steps = { [LOOK_STEP]: look }

interface Submission {
  readonly status: 'found' | 'in review' | 'rejected'
  readonly id: string
  readonly podcast: Podcast | null
  readonly error: string | null
}

/** What is known of a podcast before its feed was read: its id. */
const expected = (id: string, ctx: Context) => ({
  id,
  title: '',
  publisher: '',
  image: '',
  thumbnail: '',
  vendor_url: podcastUrl({ id }, ctx),
  listen_score: null,
  listen_score_global_rank: null,
})

async function submit(
  { rss: sent, email = '' }: { rss: string; email?: string | undefined },
  ctx: Context,
): Promise<Submission> {
  const rss = feedAddress(sent)
  const submitted_by = personOf(ctx)
  return ctx.store.transaction(async (tx): Promise<Submission> => {
    const { podcast, id } = await podcastOf(tx, rss)
    if (podcast) return { status: 'found', id, podcast, error: null }
    const gone = await tx.get(deletions, id)
    if (gone?.state === 'granted') {
      return { status: 'rejected', id, podcast: null, error: 'The podcast was removed on request.' }
    }
    const feed = await tx.get(feeds, id)
    if (feed?.state === 'in review') return { status: 'in review', id, podcast: null, error: null }
    const nowMs = ctx.clock.now().getTime()
    if (feed && nowMs - feed.last_tried_at_ms < REJECTED_MS) {
      return { status: 'rejected', id, podcast: null, error: feed.error }
    }
    const reviewing = await tx.count(feeds, { where: { reviewing: submitted_by } })
    if (reviewing >= REVIEWING_MAX) {
      throw BadRequest(`${REVIEWING_MAX} of your feeds are in review. Wait until they are read.`)
    }
    const contact = email
    await queue(
      tx,
      newFeed({ podcast_id: id, rss, state: 'in review', submitted_by, contact }),
      ctx,
    )
    return { status: 'in review', id, podcast: null, error: null }
  })
}

/** Takes a feed as it was handed over. Another's podcast is not anyone's to rewrite. */
async function submitFeed(
  { rss: sent, feed: body }: { rss: string; feed: string },
  ctx: Context,
): Promise<Submission> {
  const rss = feedAddress(sent)
  const person = personOf(ctx)
  const { podcast, id } = await podcastOf(ctx.store, rss)
  const isForeign = podcast && podcast.submitted_by !== person && !ctx.caller.isAdmin
  if (isForeign) throw Forbidden('This podcast was submitted by someone else.')
  const gone = await ctx.store.get(deletions, id)
  if (gone?.state === 'granted') throw BadRequest('The podcast was removed on request.')
  const read = await readFeed(body).catch((error: Error) => {
    throw BadRequest(`The feed cannot be read: ${error.message}.`)
  })
  const given = { podcast_id: id, rss, submitted_by: person, contact: '' }
  const feed = (await ctx.store.get(feeds, id)) ?? newFeed({ ...given, state: 'active' })
  const taken = await takeIn(read, feed, ctx)
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.save(feeds, {
    ...feed,
    state: 'active',
    error: '',
    digest: digestOf(body),
    last_refreshed_at_ms: nowMs,
    last_tried_at_ms: nowMs,
  })
  return { status: 'found', id, podcast: taken, error: null }
}

/** Chosen: to refresh is to queue a look at the feed; one that is queued already is not queued twice. */
async function refresh({ id }: { id: string }, ctx: Context) {
  const podcast = await needPodcast(id, ctx)
  const feed = await ctx.store.transaction(async (tx) => {
    const { rss, submitted_by } = podcast
    const given = { podcast_id: id, rss, submitted_by, contact: '' }
    const feed = (await tx.get(feeds, id)) ?? newFeed({ ...given, state: 'active' })
    return feed.is_queued ? feed : await queue(tx, feed, ctx)
  })
  return { status: 'queued', last_refreshed_at_ms: feed.last_refreshed_at_ms }
}

/** Has a feed looked at; a look that was planned for later is replaced. */
async function queue(tx: Records, feed: Feed, ctx: Context, delayMs = 0): Promise<Feed> {
  const queued = { ...feed, round: feed.round + 1, is_queued: delayMs === 0 }
  await tx.save(feeds, queued)
  const { podcast_id, round } = queued
  await ctx.work.later(tx, delayMs, LOOK_STEP, { podcast_id, round })
  return queued
}

async function podcastOf(
  records: Pick<Records, 'get' | 'list'>,
  rss: string,
): Promise<{ id: string; podcast: Podcast | undefined }> {
  const { items } = await records.list(podcasts, { where: { rss }, limit: 1 })
  const podcast = items[0] ?? (await records.get(podcasts, podcastId(rss)))
  return { id: podcast?.id ?? podcastId(rss), podcast }
}

function feedAddress(sent: string): string {
  const url = URL.parse(sent.trim())
  const isFitting = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isFitting || url.href.length > URL_MAX) {
    throw BadRequest('rss must be an http or https address without a user name.')
  }
  url.hash = ''
  return url.href
}

/** Looks at a feed, once. What went wrong is kept with it, and what was there stays. */
async function look(
  { podcast_id, round }: { podcast_id: string; round: number },
  ctx: Context,
): Promise<void> {
  const feed = await ctx.store.get(feeds, podcast_id)
  if (!feed || feed.round !== round) return
  let outcome: Outcome
  try {
    outcome = await lookAt(feed, ctx)
  } catch (error) {
    // Other people's servers fail: that is told, and no reason to try without end.
    const isFinal = error instanceof Fault || error instanceof Unusable
    outcome = { error: String((error as Error).message).slice(0, ERROR_MAX), isFinal }
  }
  await ctx.store.transaction(async (tx) => {
    const now = await tx.get(feeds, podcast_id)
    if (now?.round === round) await conclude(tx, now, outcome, ctx)
  })
}

type Outcome =
  | { readonly error: ''; readonly fetched: Fetched; readonly digest: string }
  | { readonly error: string; readonly isFinal: boolean }

/** What no further try would mend. */
class Unusable extends Error {}

async function lookAt(feed: Feed, ctx: Context): Promise<Outcome> {
  const fetched = await fetchFeed(feed, ctx)
  if (fetched.status === 304) return { error: '', fetched, digest: feed.digest }
  if (fetched.status !== 200) {
    const isPassing = fetched.status >= 500 || fetched.status === 429
    return { error: `the server answered ${fetched.status}`, isFinal: !isPassing }
  }
  const digest = digestOf(fetched.text)
  if (digest === feed.digest) return { error: '', fetched, digest }
  const read = await readFeed(fetched.text).catch((error: Error) => {
    throw new Unusable(error.message)
  })
  const movedTo = read.movedTo ?? fetched.movedTo
  await takeIn(read, { ...feed, rss: movedTo ?? feed.rss }, ctx)
  return { error: '', fetched: { ...fetched, movedTo }, digest }
}

async function conclude(tx: Records, feed: Feed, outcome: Outcome, ctx: Context): Promise<void> {
  const last_tried_at_ms = ctx.clock.now().getTime()
  if ('fetched' in outcome) {
    const { etag, lastModified: last_modified, movedTo } = outcome.fetched
    const done = {
      ...feed,
      state: 'active' as const,
      rss: movedTo ?? feed.rss,
      etag,
      last_modified,
      digest: outcome.digest,
      error: '',
      tries: 0,
      last_tried_at_ms,
      last_refreshed_at_ms: last_tried_at_ms,
    }
    await queue(tx, done, ctx, LOOK_AGAIN_MS)
    return
  }
  const { error, isFinal } = outcome
  const tries = feed.tries + 1
  const hasEnded = isFinal || tries >= TRIES_MAX
  const state = feed.state === 'in review' ? 'rejected' : 'broken'
  if (hasEnded) {
    const ended = { ...feed, state, error, tries: 0, last_tried_at_ms, is_queued: false } as const
    await tx.save(feeds, ended)
    const body = { podcast_id: feed.podcast_id, error }
    await ctx.events.announce(tx, {
      type: `podcasts.feed.${state}`,
      subject: feed.podcast_id,
      body,
    })
  } else {
    const delayMs = TRY_AGAIN_MS * 2 ** (tries - 1)
    await queue(tx, { ...feed, error, tries, last_tried_at_ms }, ctx, delayMs)
  }
}

const digestOf = (body: string): string => createHash('sha256').update(body).digest('base64url')
