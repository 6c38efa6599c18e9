// The best podcasts of a genre in a region. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import { BadRequest, NotFound } from './errors.ts'
import { askedLanguage, genreOf, regionNamed, ROOT_GENRE, type Genre } from './genres.ts'
import { metered } from './quotas.ts'
import { podcasts, type Podcast } from './records.ts'
import { bit, page, pageEnvelope } from './shapes.ts'
import { ranksOf, showSimple, simpleAnswer, type Beside } from './show.ts'

/** Chosen: the best are those most heard, this many of each genre and region; sorts are within them. */
const BEST_MAX = 500
const BEST_A_PAGE = 20

const sorts = oneOf([
  'recent_added_first',
  'oldest_added_first',
  'recent_published_first',
  'oldest_published_first',
  'listen_score',
])
type Sort = z.output<typeof sorts>

const asked = {
  genre_id: optional(text.regex(/^\d{1,9}$/, 'must be the number of a genre')),
  page: optional(page),
  region: optional(text),
  publisher_region: optional(text),
  language: optional(text),
  sort: optional(sorts),
  safe_mode: optional(bit),
}
type Asked = z.output<z.ZodObject<typeof asked>>

export const operations = [
  operation({
    name: 'bestPodcasts',
    rest: get('/best_podcasts', {
      show: ({ podcasts, ranks, genre: _genre, ...list }: Best, ctx) => ({
        ...list,
        podcasts: podcasts.map((podcast) => showSimple(podcast, { ranks }, ctx)),
      }),
      answer: z
        .object({
          id: z.int(),
          name: z.string(),
          parent_id: z.int().nullable(),
          total: z.int(),
          has_next: z.boolean(),
          has_previous: z.boolean(),
          page_number: z.int(),
          next_page_number: z.int(),
          previous_page_number: z.int(),
          vendor_url: z.string(),
          podcasts: z.array(simpleAnswer).max(BEST_A_PAGE),
        })
        .strict(),
    }),
    input: asked,
    refuses: { 404: 'There is no such genre.', 429: 'The quota of the key is used up.' },
    run: metered(listBest),
  }),
]

interface Best extends Beside, ReturnType<typeof pageEnvelope> {
  readonly id: number
  readonly name: string
  readonly parent_id: number | null
  readonly vendor_url: string
  readonly total: number
  readonly genre: Genre
  readonly podcasts: readonly Podcast[]
}

/** An entry of the list, with what it is sorted by. */
interface Entry {
  readonly podcast: string
  readonly added_ms: number
  readonly latest_ms: number
}

async function listBest(sent: Asked, ctx: Context): Promise<Best> {
  const { page = 1, sort = 'recent_added_first' } = sent
  const genre = genreOf(Number(sent.genre_id ?? ROOT_GENRE))
  if (!genre) throw NotFound(`There is no genre ${sent.genre_id}.`)
  const entries = sortEntries(await bestEntries(genre, sent, ctx), sort)
  const shown = entries.slice((page - 1) * BEST_A_PAGE, page * BEST_A_PAGE)
  const found = await ctx.store.getMany(
    podcasts,
    shown.map(({ podcast }) => podcast),
  )
  const slug = genre.name.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  return {
    ...pageEnvelope(page, entries.length > page * BEST_A_PAGE),
    ...genre,
    genre,
    vendor_url: `${ctx.address}/best-${slug}-podcasts-${genre.id}/`,
    total: entries.length,
    podcasts: found.filter((podcast) => podcast !== undefined),
    ranks: await ranksOf(ctx),
  }
}

/** The best of a genre and a region, those heard most first. */
async function bestEntries(genre: Genre, sent: Asked, ctx: Context): Promise<Entry[]> {
  const conditions = ['genre = ?', 'region = ?']
  const values: (string | number)[] = [genre.id, regionAsked('region', sent.region ?? 'us')]
  if (sent.publisher_region !== undefined) {
    conditions.push('country = ?')
    values.push(regionNamed(regionAsked('publisher_region', sent.publisher_region)))
  }
  const language = sent.language === undefined ? 'any' : askedLanguage(sent.language)
  if (language === undefined) throw BadRequest(`${sent.language} is no language of GET /languages.`)
  if (language !== 'any') {
    conditions.push('language = ?')
    values.push(language)
  }
  if (sent.safe_mode === 1) conditions.push('explicit = 0')
  const rows = await ctx.store.sql(
    `SELECT podcast, added_ms, latest_ms FROM listing WHERE ${conditions.join(' AND ')}
     ORDER BY score DESC, podcast DESC LIMIT ?`,
    [...values, BEST_MAX],
  )
  return rows.map(({ podcast, added_ms, latest_ms }) => ({
    podcast,
    added_ms: Number(added_ms),
    latest_ms: Number(latest_ms),
  }))
}

export function regionAsked(name: string, sent: string): string {
  const code = sent.toLowerCase()
  if (regionNamed(code)) return code
  throw BadRequest(`${name} must be a code of GET /regions, and not ${sent}.`)
}

function sortEntries(entries: readonly Entry[], sort: Sort): readonly Entry[] {
  switch (sort) {
    case 'listen_score':
      return entries
    case 'recent_added_first':
      return entries.toSorted((a, b) => b.added_ms - a.added_ms)
    case 'oldest_added_first':
      return entries.toSorted((a, b) => a.added_ms - b.added_ms)
    case 'recent_published_first':
      return entries.toSorted((a, b) => b.latest_ms - a.latest_ms)
    case 'oldest_published_first':
      return entries.toSorted((a, b) => a.latest_ms - b.latest_ms)
  }
}
