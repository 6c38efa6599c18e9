// Episodes, one or many, or any. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { NotFound } from './errors.ts'
import { withPodcasts } from './podcasts.ts'
import { metered } from './quotas.ts'
import { episodes, type Episode } from './records.ts'
import { bit, listOf } from './shapes.ts'
import {
  episodeAnswer,
  episodeSimpleAnswer,
  ranksOf,
  showEpisode,
  showEpisodeSimple,
  showSimple,
  simpleAnswer,
  type Beside,
  type Heard,
} from './show.ts'

const LOOKUP_MAX = 10
const SURPRISES_MAX = 5
/** The last groups of an id, which chance makes. */
const CHANCE = /-([0-9a-f]{4})-([0-9a-f]{12})$/

export const operations = [
  operation({
    name: 'episode',
    rest: get('/episodes/{id}', {
      show: ({ heard, transcript, ranks }: Episode & Found, ctx) => ({
        ...showEpisode(heard.episode, ctx),
        transcript,
        podcast: showSimple(heard.podcast, { ranks }, ctx),
      }),
      answer: episodeAnswer.extend({ transcript: z.string().nullable(), podcast: simpleAnswer }),
    }),
    input: { id: text, show_transcript: optional(bit) },
    refuses: { 404: 'There is no such episode.', 429: 'The quota of the key is used up.' },
    run: metered(async ({ id, show_transcript }, ctx) => {
      const heard = await needEpisode(id, ctx)
      const transcript = show_transcript === 1 ? heard.episode.transcript : null
      return { ...heard.episode, transcript, heard, ranks: await ranksOf(ctx) }
    }),
  }),
  operation({
    name: 'episodesByIds',
    rest: post('/episodes', {
      media: 'form',
      show: ({ heard, ranks }: Beside & { heard: Heard[] }, ctx) => ({
        episodes: heard.map((one) => showEpisodeSimple(one, { ranks }, ctx)),
      }),
      answer: z.object({ episodes: z.array(episodeSimpleAnswer) }),
    }),
    input: { ids: text },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(async ({ ids }, ctx) => {
      const asked = listOf('ids', ids, LOOKUP_MAX)
      const found = await Promise.all(asked.map((id) => load(ctx, episodes, id)))
      const heard = await withPodcasts(
        found.filter((one) => one !== undefined),
        ctx,
      )
      return { heard, episodes: heard.map(({ episode }) => episode), ranks: await ranksOf(ctx) }
    }),
  }),
  operation({
    name: 'justListen',
    rest: get('/just_listen', {
      show: ({ heard, ranks }: Found, ctx) => showEpisodeSimple(heard, { ranks }, ctx),
      answer: episodeSimpleAnswer,
    }),
    input: {},
    refuses: {
      404: 'The directory holds no episode yet.',
      429: 'The quota of the key is used up.',
    },
    run: metered(surprise),
  }),
]

interface Found extends Beside {
  readonly heard: Heard
}

/** An episode whose podcast is there. */
export async function needEpisode(id: string, ctx: Context): Promise<Heard> {
  const episode = await load(ctx, episodes, id)
  const [heard] = episode ? await withPodcasts([episode], ctx) : []
  if (!heard) throw NotFound(`There is no episode ${id}.`)
  return heard
}

/** Any episode. Ids are spread evenly, so that the first after any place is as likely as another. */
async function surprise(_input: object, ctx: Context): Promise<Episode & Found> {
  const [, one, other] = CHANCE.exec(ctx.newId())!
  for (const after of [JSON.stringify([`${other}${one}`]), undefined]) {
    const { items } = await ctx.store.list(episodes, { after, limit: SURPRISES_MAX })
    // A podcast may just be going, and its episodes after it.
    const [heard] = await withPodcasts(items, ctx)
    if (heard) return { ...heard.episode, heard, ranks: await ranksOf(ctx) }
  }
  throw NotFound('The directory holds no episode yet.')
}
