// Requests to have a podcast removed, and what is decided on them. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { del, operation } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { flag, optional, text } from '../kernel/shape.ts'
import { kind, textOf } from '../kernel/store.ts'
import { writeDirectory } from './directory.ts'
import { NotFound } from './errors.ts'
import { feeds } from './feed-records.ts'
import { metered } from './quotas.ts'
import { episodes, podcasts } from './records.ts'

const REASON_MAX = 2_000
const REMOVED_TOGETHER = 100
/** A reason with which clients try the operation out: nothing comes of it. */
const TESTING = 'testing'

const REMOVE_STEP = 'removeEpisodes'

interface Deletion {
  readonly podcast_id: string
  readonly title: string
  readonly reason: string
  readonly requested_by: string
  readonly requested_at_ms: number
  readonly state: 'in review' | 'granted' | 'refused'
}

export const deletions = kind<Deletion>('deletion', {
  key: ({ podcast_id }) => podcast_id,
  columns: { state: textOf(({ state }) => state) },
  indexes: [['state']],
})
export const kinds = [deletions]

export const operations = [
  operation({
    name: 'deletePodcast',
    rest: del('/podcasts/{id}', {
      answer: z.object({ status: z.enum(['deleted', 'in review']) }),
    }),
    input: { id: text, reason: optional(text.max(REASON_MAX)) },
    refuses: { 404: 'There is no such podcast.', 429: 'The quota of the key is used up.' },
    run: metered(request),
  }),
  operation({
    name: 'podcastDeletions',
    access: 'administrators',
    input: paging,
    run: ({ first, after }, ctx) =>
      connect(ctx, deletions, { first, after, where: { state: 'in review' } }),
  }),
  operation({
    name: 'decidePodcastDeletion',
    access: 'administrators',
    input: { podcast_id: text, is_granted: flag },
    run: decide,
  }),
]

export const steps = { [REMOVE_STEP]: removeEpisodes }

async function request(
  { id, reason = '' }: { id: string; reason?: string | undefined },
  ctx: Context,
): Promise<{ status: 'deleted' | 'in review' }> {
  return ctx.store.transaction(async (tx) => {
    const podcast = await tx.get(podcasts, id)
    const before = await tx.get(deletions, id)
    if (!podcast) {
      if (before?.state === 'granted') return { status: 'deleted' as const }
      throw NotFound(`There is no podcast ${id}.`)
    }
    if (reason.trim().toLowerCase() !== TESTING && before?.state !== 'in review') {
      const requested: Deletion = {
        podcast_id: id,
        title: podcast.title,
        reason,
        requested_by: ctx.caller.userId,
        requested_at_ms: ctx.clock.now().getTime(),
        state: 'in review',
      }
      await tx.save(deletions, requested)
      const body = { podcast_id: id, reason }
      await ctx.events.announce(tx, { type: 'podcasts.deletion.requested', subject: id, body })
    }
    return { status: 'in review' as const }
  })
}

/** A podcast whose removal is granted is gone at once, and its episodes follow. */
async function decide(
  { podcast_id, is_granted }: { podcast_id: string; is_granted: boolean },
  ctx: Context,
): Promise<Deletion> {
  return ctx.store.transaction(async (tx) => {
    const asked = await tx.get(deletions, podcast_id)
    if (asked?.state !== 'in review') {
      throw NotFound(`Nobody waits for a decision on podcast ${podcast_id}.`)
    }
    const decided: Deletion = { ...asked, state: is_granted ? 'granted' : 'refused' }
    await tx.save(deletions, decided)
    const before = await tx.get(podcasts, podcast_id)
    if (is_granted && before) {
      await writeDirectory(tx, [{ before, episodes: [] }])
      await tx.remove(feeds, podcast_id)
      await ctx.work.later(tx, 0, REMOVE_STEP, { podcast_id })
      const body = { id: podcast_id, title: before.title }
      await ctx.events.announce(tx, { type: 'podcasts.podcast.deleted', subject: podcast_id, body })
    }
    return decided
  })
}

async function removeEpisodes({ podcast_id }: { podcast_id: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const { items, next } = await tx.list(episodes, {
      where: { podcast: podcast_id },
      limit: REMOVED_TOGETHER,
    })
    await writeDirectory(tx, [{ episodes: items.map((before) => ({ before })) }])
    for (const { id, title } of items) {
      const body = { id, podcast_id, title }
      await ctx.events.announce(tx, { type: 'podcasts.episode.deleted', subject: id, body })
    }
    if (next) await ctx.work.later(tx, 0, REMOVE_STEP, { podcast_id })
  })
}
