// What is offered while someone types: terms, genres and podcasts. Specification 1, service S5.
//
// The word that is being typed is completed from the words of titles first. Of all that was typed, the
// word that the fewest titles have is looked up, so that it costs the same however many podcasts there
// are. Only where the podcasts that are heard most do not have the other words, all are searched.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional } from '../kernel/shape.ts'
import { wordsOf } from '../kernel/text-search.ts'
import { genresNamed, type Genre } from './genres.ts'
import { highlight } from './highlight.ts'
import { metered } from './quotas.ts'
import { EXPLICIT_MARK, podcasts, type Podcast } from './records.ts'
import { searchesStartedBy } from './searches.ts'
import { bit, searched } from './shapes.ts'
import { stretchOf, titledOf, titlesWith, type Titled } from './titles.ts'
import { alikeOf, countsOf, isCounted, wordsStartedBy } from './words.ts'

const TERMS_MAX = 10
const SEARCHES_MAX = 4
const PODCASTS_MAX = 5
const GENRES_MAX = 5
const WORDS_MAX = 8
const COMPLETIONS_MAX = 8
const LOOKED_AT = 48
/** With fewer than this, of titles that are too many to look at, all are searched. */
const ENOUGH = PODCASTS_MAX
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
  /** Whether the completions begin as the last word does, and are not only spelled like it. */
  readonly isStarted: boolean
  /** By each word before the last, those that stand for it because no text holds it. */
  readonly alike: Readonly<Record<string, readonly string[]>>
  /** How many titles hold each word or what stands for it, the last word's at the end. */
  readonly titles: readonly number[]
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
  const found = typed ? await titlesFor(typed, sent.safe_mode === 1, ctx) : []
  return {
    terms: typed ? await termsFor(typed, found, ctx) : [],
    genres: sent.show_genres === 1 ? genresFor(sent.q) : null,
    podcasts:
      sent.show_podcasts === 1
        ? (await podcastsFor(sent.q, found, ctx)).map((podcast) => offered(podcast, typed))
        : null,
  }
}

async function podcastsFor(q: string, found: readonly Titled[], ctx: Context): Promise<Podcast[]> {
  const ids = found.slice(0, PODCASTS_MAX).map(({ id }) => id)
  const titled = await ctx.store.getMany(podcasts, ids)
  const all = [...(await podcastNumbered(q, ctx)), ...titled]
  return all.filter((podcast) => podcast !== undefined).slice(0, PODCASTS_MAX)
}

async function readTyped(q: string, ctx: Context): Promise<Typed | undefined> {
  const words = wordsOf(q).slice(0, WORDS_MAX)
  const last = words.at(-1)
  if (last === undefined) return undefined
  const before = words.slice(0, -1)
  const started = await wordsStartedBy(ctx.store, last, COMPLETIONS_MAX)
  const isStarted = started.length > 0
  const completions = isStarted ? started : await alikeOf(ctx.store, last)
  const alike: Record<string, string[]> = {}
  const titles: number[] = []
  if (before.length > 0) {
    const counts = await countsOf(ctx.store, before)
    for (const word of before) {
      const count = counts.of(word)
      const others = count.texts > 0 ? [] : await alikeOf(ctx.store, word)
      alike[word] = others.map(({ word }) => word)
      titles.push(isCounted(word) ? titlesOf([count, ...others]) : Infinity)
    }
  }
  // Where titles may hold yet other words that begin so, another word is the one to look up.
  const areAll = isCounted(last) && completions.length < COMPLETIONS_MAX
  titles.push(areAll || before.length === 0 ? titlesOf(completions) : Infinity)
  return {
    text: words.join(' '),
    before,
    last,
    completions: completions.map(({ word }) => word),
    isStarted,
    alike,
    titles,
  }
}

const titlesOf = (words: readonly { titles: number }[]): number =>
  words.reduce((sum, { titles }) => sum + titles, 0)

/** The podcasts whose titles hold what was typed, or else those of such publishers. */
async function titlesFor(typed: Typed, isSafe: boolean, ctx: Context): Promise<Titled[]> {
  const { text, before, last, completions, isStarted, alike, titles } = typed
  const [first, ...others] = completions
  if (first === undefined) return []
  const meant = [...before.map((word) => [word, ...alike[word]!]), completions]
  const fewest = Math.min(...titles)
  const rarest = titles.indexOf(fewest)
  const words = meant[rarest]!
  const held = isStarted ? meant.with(before.length, [`${last}%`]) : meant
  const query = { words, others: held.toSpliced(rarest, 1), start: text, isSafe, limit: LOOKED_AT }
  const found = new Map<string, Titled>()
  if (fewest > 0) {
    for (const one of await titlesWith(ctx.store, query)) found.set(one.id, one)
  }
  const look = async (field: 'title' | 'author') => {
    const { items } = await ctx.store.search(podcasts, {
      words: [...before, first].join(' '),
      alike: { ...alike, [first]: others },
      fields: [field],
      unmarked: isSafe ? [EXPLICIT_MARK] : [],
      isRanked: false,
      totalMax: 1,
      limit: LOOKED_AT,
    })
    for (const { record } of items) found.set(record.id, titledOf(record))
  }
  if (fewest > stretchOf(query) && found.size < ENOUGH) await look('title')
  if (found.size === 0) await look('author')
  const begins = ({ title }: Titled) => Number(title.startsWith(text))
  return [...found.values()].sort(
    (a, b) => begins(b) - begins(a) || b.score - a.score || (a.title < b.title ? -1 : 1),
  )
}

async function podcastNumbered(q: string, ctx: Context): Promise<Podcast[]> {
  if (!/^\d{1,15}$/.test(q.trim())) return []
  const { items } = await ctx.store.list(podcasts, { where: { storeone: Number(q) }, limit: 1 })
  return items
}

/** What was searched and begins so, the words that begin so, and how titles go on from there. */
async function termsFor(typed: Typed, found: readonly Titled[], ctx: Context): Promise<string[]> {
  const { text, before, completions } = typed
  const searches = await searchesStartedBy(text, SEARCHES_MAX, ctx)
  const words = before.length === 0 ? completions : []
  const phrases = found.flatMap(({ title }) => phraseIn(title.split(' '), typed) ?? [])
  return [...new Set([...searches, ...words.slice(0, SEARCHES_MAX), ...phrases, ...words])].slice(
    0,
    TERMS_MAX,
  )
}

/** The words of a title from the first that was typed to some after the last. */
function phraseIn(words: readonly string[], typed: Typed): string | undefined {
  const last = words.findIndex((word) => isLast(word, typed))
  if (last < 0) return undefined
  const first = Math.max(0, last - typed.before.length)
  return words.slice(first, last + 1 + TERM_TAIL_WORDS).join(' ')
}

const isLast = (word: string, { last, completions }: Typed): boolean =>
  word.startsWith(last) || completions.includes(word)

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
  const isFound = (word: string) => known.has(word) || (typed !== undefined && isLast(word, typed))
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
