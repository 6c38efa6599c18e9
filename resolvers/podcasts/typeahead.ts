// What is offered while someone types: terms, genres and podcasts. Specification 1, service S5.
//
// The word that is being typed is completed from the words of titles first, so that the engine is
// asked for whole words: that costs the same however many podcasts there are.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional } from '../kernel/shape.ts'
import type { TextQuery } from '../kernel/store.ts'
import { wordsOf } from '../kernel/text-search.ts'
import { genresNamed, type Genre } from './genres.ts'
import { highlight } from './highlight.ts'
import { metered } from './quotas.ts'
import { EXPLICIT_MARK, podcasts, TOP_MARK, type Podcast } from './records.ts'
import { searchesStartedBy } from './searches.ts'
import { bit, searched } from './shapes.ts'
import { alikeOf, countsOf, wordsStartedBy } from './words.ts'

const TERMS_MAX = 10
const SEARCHES_MAX = 4
const PODCASTS_MAX = 5
const GENRES_MAX = 5
const WORDS_MAX = 8
const COMPLETIONS_MAX = 8
const LOOKED_AT = 24
/** How many words of a title follow the one that is being typed. */
const TERM_TAIL_WORDS = 2

export const operations = [
  operation({
    name: 'podcastTypeahead',
    rest: get('/typeahead', {
      show: ({ terms, genres, podcasts }: Offered) => ({
        terms,
        ...(genres && { genres }),
        ...(podcasts && { podcasts: podcasts.map(showOffered) }),
      }),
      answer: z.object({
        terms: z.array(z.string()).max(TERMS_MAX),
        genres: z.array(z.object({ id: z.int(), name: z.string() }).loose()).optional(),
        podcasts: z
          .array(z.object({ id: z.string(), title_highlighted: z.string() }).loose())
          .max(PODCASTS_MAX)
          .optional(),
      }),
    }),
    input: {
      q: searched,
      show_podcasts: optional(bit),
      show_genres: optional(bit),
      safe_mode: optional(bit),
    },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(offer),
  }),
]

interface OfferedPodcast {
  readonly podcast: Podcast
  readonly title_highlighted: string
  readonly publisher_highlighted: string
}

interface Offered {
  readonly terms: readonly string[]
  readonly genres: readonly Genre[] | null
  readonly podcasts: readonly OfferedPodcast[] | null
}

/** What was typed, with the words it may become. */
interface Typed {
  readonly text: string
  readonly before: readonly string[]
  readonly last: string
  readonly completions: readonly string[]
  /** Words that stand for one that no text holds. */
  readonly alike: Readonly<Record<string, readonly string[]>>
}

async function offer(
  sent: {
    q: string
    show_podcasts?: number | undefined
    show_genres?: number | undefined
    safe_mode?: number | undefined
  },
  ctx: Context,
): Promise<Offered> {
  const typed = await readTyped(sent.q, ctx)
  const found = typed ? await podcastsFor(typed, sent.safe_mode === 1, ctx) : []
  const byNumber = sent.show_podcasts === 1 ? await podcastNumbered(sent.q, ctx) : []
  const shown = [...byNumber, ...found].slice(0, PODCASTS_MAX)
  return {
    terms: typed ? await termsFor(typed, found, ctx) : [],
    genres: sent.show_genres === 1 ? genresFor(sent.q) : null,
    podcasts: sent.show_podcasts === 1 ? shown.map((podcast) => offered(podcast, typed)) : null,
  }
}

async function readTyped(q: string, ctx: Context): Promise<Typed | undefined> {
  const words = wordsOf(q).slice(0, WORDS_MAX)
  const last = words.at(-1)
  if (last === undefined) return undefined
  const before = words.slice(0, -1)
  const started = await wordsStartedBy(ctx.store, last, COMPLETIONS_MAX)
  const completions =
    started.length > 0 ? started : (await alikeOf(ctx.store, last)).map(({ word }) => word)
  const alike: Record<string, string[]> = {}
  if (before.length > 0) {
    const counts = await countsOf(ctx.store, before)
    for (const word of before) {
      if (counts.of(word).texts > 0) continue
      alike[word] = (await alikeOf(ctx.store, word)).map(({ word }) => word)
    }
  }
  return { text: words.join(' '), before, last, completions, alike }
}

/** The podcasts whose titles hold what was typed, or else those of such publishers. */
async function podcastsFor(typed: Typed, isSafe: boolean, ctx: Context): Promise<Podcast[]> {
  const { before, completions, alike } = typed
  const [first, ...others] = completions
  if (first === undefined) return []
  const query = {
    words: [...before, first].join(' '),
    alike: { ...alike, [first]: others },
    unmarked: isSafe ? [EXPLICIT_MARK] : [],
    isRanked: false,
    totalMax: 1,
    limit: LOOKED_AT,
  }
  const found = new Map<string, Podcast>()
  const look = async (more: Partial<TextQuery>) => {
    if (found.size >= LOOKED_AT) return
    const { items } = await ctx.store.search(podcasts, { ...query, ...more })
    for (const { record } of items) found.set(record.id, record)
  }
  await look({ fields: ['title'], marks: [[TOP_MARK]] })
  await look({ fields: ['title'] })
  if (found.size === 0) await look({ fields: ['author'] })
  return [...found.values()].sort(
    (a, b) =>
      Number(beginsSo(b, typed)) - Number(beginsSo(a, typed)) ||
      (b.listen_score ?? -1) - (a.listen_score ?? -1) ||
      (a.title < b.title ? -1 : 1),
  )
}

const beginsSo = ({ title }: Podcast, { text }: Typed): boolean =>
  wordsOf(title).join(' ').startsWith(text)

async function podcastNumbered(q: string, ctx: Context): Promise<Podcast[]> {
  if (!/^\d{1,15}$/.test(q.trim())) return []
  const { items } = await ctx.store.list(podcasts, { where: { storeone: Number(q) }, limit: 1 })
  return items
}

/** What was searched and begins so, the words that begin so, and how titles go on from there. */
async function termsFor(typed: Typed, found: readonly Podcast[], ctx: Context): Promise<string[]> {
  const { text, before, completions } = typed
  const searches = await searchesStartedBy(text, SEARCHES_MAX, ctx)
  const words = before.length === 0 ? completions : []
  const phrases = found.flatMap(({ title }) => phraseIn(wordsOf(title), typed) ?? [])
  return [...new Set([...searches, ...words.slice(0, SEARCHES_MAX), ...phrases, ...words])].slice(
    0,
    TERMS_MAX,
  )
}

/** The words of a title from the first that was typed to some after the last. */
function phraseIn(words: readonly string[], { before, completions }: Typed): string | undefined {
  const last = words.findIndex((word) => completions.includes(word))
  if (last < 0) return undefined
  const first = Math.max(0, last - before.length)
  return words.slice(first, last + 1 + TERM_TAIL_WORDS).join(' ')
}

function genresFor(q: string): Genre[] {
  const typed = wordsOf(q)
  const fits = (name: string) => {
    const words = wordsOf(name)
    return typed.every((start) => words.some((word) => word.startsWith(start)))
  }
  return typed.length === 0 ? [] : genresNamed(fits).slice(0, GENRES_MAX)
}

function offered(podcast: Podcast, typed: Typed | undefined): OfferedPodcast {
  const known = new Set(typed ? [...typed.before, ...Object.values(typed.alike).flat()] : [])
  const isFound = (word: string) =>
    known.has(word) ||
    (typed !== undefined && (word.startsWith(typed.last) || typed.completions.includes(word)))
  return {
    podcast,
    title_highlighted: highlight(podcast.title, isFound),
    publisher_highlighted: highlight(podcast.publisher, isFound),
  }
}

const showOffered = ({ podcast, ...highlighted }: OfferedPodcast) => ({
  id: podcast.id,
  image: podcast.image,
  thumbnail: podcast.thumbnail,
  title_original: podcast.title,
  publisher_original: podcast.publisher,
  explicit_content: podcast.explicit_content,
  ...highlighted,
})
