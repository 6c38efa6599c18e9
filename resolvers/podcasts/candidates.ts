// What a query may mean and what the engine finds for it, before it is put in order.
//
// 1. All words must occur. Words that the directory does not have stand for those spelled like them,
//    and for those that begin so.
// 2. Where that finds too little, each word also stands for its neighbours; then the commonest words
//    are left out one after the other.
// 3. No stage reads more than a number of records, however many match: of many, those that have the
//    words in their title, and podcasts that are heard most, are among the ones that are read.
import type { Context } from '../kernel/context.ts'
import { phrasesOf } from '../kernel/text-search.ts'
import type { Kind, TextQuery } from '../kernel/store.ts'
import { rarityOf, type Field, type Wanted } from './ranking.ts'
import { podcasts, TOP_MARK } from './records.ts'
import { alikeOf, countsOf, isCommon, wordsStartedBy } from './words.ts'

const CANDIDATES_MAX = 100
/** Chosen: nobody sees more hits than this, so that nobody waits until more are counted. */
export const TOTAL_MAX = 10_000
const ENOUGH = 10
const RELAXED_MAX = 4
const COMPLETIONS_MAX = 5
const COMPLETED_CHARS_MIN = 3

const BEGINNING_QUALITY = 0.75
const MISSPELLED_QUALITY = 0.85
const TWICE_MISSPELLED_QUALITY = 0.6
/** A word that is right as it is, but may have been meant otherwise. */
const NEIGHBOUR_QUALITY = 0.4

/** By what a search is narrowed, as the store takes it. */
export type Narrowing = Pick<TextQuery, 'marks' | 'unmarked' | 'bounds' | 'where'>

/** A query, understood. */
interface Understood {
  /** What the engine is asked: words and phrases. */
  readonly parts: readonly (readonly string[])[]
  readonly wanted: readonly Wanted[]
}

export interface Candidates<T> extends Understood {
  readonly records: readonly T[]
  readonly total: number
  /** The query that found them, for those who look beyond. */
  readonly query: Omit<TextQuery, 'limit'> | undefined
}

/** Reads a query with the words of the directory beside it. */
async function understand(q: string, ctx: Context): Promise<Understood> {
  const all = phrasesOf(q)
  const telling = all.filter((phrase) => phrase.length > 1 || !isCommon(phrase[0]!))
  const parts = telling.length > 0 ? telling : all
  const words = [...new Set(parts.flat())]
  const counts = await countsOf(ctx.store, words)
  const wanted: Wanted[] = []
  for (const word of words) {
    const { texts } = counts.of(word)
    wanted.push(
      texts > 0
        ? { word, isKnown: true, rarity: rarityOf(texts, counts.all), alike: new Map() }
        : await unknownWord(word, ctx),
    )
  }
  return { parts, wanted }
}

/** A word that nobody wrote is as rare as the commonest that it may stand for. */
async function unknownWord(word: string, ctx: Context): Promise<Wanted> {
  const alike = await meantBy(word, ctx)
  const counts = await countsOf(ctx.store, [...alike.keys()])
  const texts = Math.max(1, ...[...alike.keys()].map((other) => counts.of(other).texts))
  return { word, isKnown: false, rarity: rarityOf(texts, counts.all), alike }
}

async function meantBy(word: string, ctx: Context): Promise<Map<string, number>> {
  const meant = new Map<string, number>()
  if (word.length >= COMPLETED_CHARS_MIN) {
    for (const { word: longer } of await wordsStartedBy(ctx.store, word, COMPLETIONS_MAX)) {
      meant.set(longer, BEGINNING_QUALITY)
    }
  }
  for (const { word: other, edits } of await alikeOf(ctx.store, word)) {
    meant.set(other, edits === 1 ? MISSPELLED_QUALITY : TWICE_MISSPELLED_QUALITY)
  }
  return meant
}

async function withNeighbours(understood: Understood, ctx: Context): Promise<Understood> {
  const wanted = await Promise.all(
    understood.wanted.map(async (one) => {
      if (one.alike.size > 0) return one
      const near = await alikeOf(ctx.store, one.word)
      const alike = new Map(
        near.filter(({ edits }) => edits === 1).map(({ word }) => [word, NEIGHBOUR_QUALITY]),
      )
      return { ...one, alike }
    }),
  )
  return { ...understood, wanted }
}

/** Finds what may be meant, in stages, each only when the one before found too little. */
export async function findCandidates<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  { q, fields, narrowing }: { q: string; fields: readonly Field[]; narrowing: Narrowing },
): Promise<Candidates<T>> {
  let understood = await understand(q, ctx)
  const nothing = { ...understood, records: [], total: 0, query: undefined }
  const known = fields.filter((field) => kind.text[field])
  if (understood.parts.length === 0 || known.length === 0) return nothing
  const allFields = known.length === Object.keys(kind.text).length
  const base = { ...narrowing, ...(!allFields && { fields: known }) }

  let best = await matchAll(ctx, kind, understood, base)
  if (best.total >= ENOUGH) return { ...understood, ...best }
  const wider = await withNeighbours(understood, ctx)
  if (wider.wanted.some(({ alike }, at) => alike.size > understood.wanted[at]!.alike.size)) {
    const found = await matchAll(ctx, kind, wider, base)
    understood = wider
    best = found
  }
  if (best.total >= ENOUGH) return { ...understood, ...best }
  for (const parts of relaxed(understood)) {
    const found = await matchAll(ctx, kind, { ...understood, parts }, base)
    if (found.total <= best.total) continue
    best = { ...found, records: joined(kind, [best.records, found.records]) }
    if (best.total >= ENOUGH) break
  }
  if (best.total === 0 && isNarrowedByNothing(narrowing) && hasFuzzy(kind)) {
    const found = await ctx.store.search(kind, { words: q, fuzzy: true, limit: ENOUGH })
    const records = found.items.map(({ record }) => record)
    return { ...understood, records, total: records.length, query: undefined }
  }
  return { ...understood, ...best }
}

const isPodcast = (kind: Pick<Kind<any>, 'name'>): boolean => kind.name === podcasts.name

const hasFuzzy = (kind: Pick<Kind<any>, 'text'>): boolean =>
  Object.values(kind.text).some(({ fuzzy }) => fuzzy)

const isNarrowedByNothing = ({ marks, unmarked, bounds, where }: Narrowing): boolean =>
  ![marks, unmarked, bounds, where].some((by) => by && Object.keys(by).length > 0)

type Base = Narrowing & Pick<TextQuery, 'fields'>
type Found<T> = Pick<Candidates<T>, 'records' | 'total' | 'query'>

async function matchAll<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  { parts, wanted }: Understood,
  base: Base,
): Promise<Found<T>> {
  const query = {
    ...base,
    words: parts.map((part) => (part.length > 1 ? `"${part.join(' ')}"` : part[0]!)).join(' '),
    alike: Object.fromEntries(wanted.map(({ word, alike }) => [word, [...alike.keys()]])),
    isRanked: false,
    totalMax: TOTAL_MAX,
  }
  const found = await ctx.store.search(kind, { ...query, limit: CANDIDATES_MAX })
  const records = found.items.map(({ record }) => record)
  if (found.total <= CANDIDATES_MAX) return { records, total: found.total, query }
  // Too many to read them all: the likeliest are added to those that came first.
  const isInTitle = base.fields === undefined || base.fields.includes('title')
  const titled = isInTitle ? await readSome(ctx, kind, { ...query, fields: ['title'] }) : []
  const heard = isPodcast(kind)
    ? await readSome(ctx, kind, { ...query, marks: [...(base.marks ?? []), [TOP_MARK]] })
    : []
  return { records: joined(kind, [titled, heard, records]), total: found.total, query }
}

async function readSome<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  query: Omit<TextQuery, 'limit'>,
): Promise<T[]> {
  const limit = CANDIDATES_MAX
  // It does not matter how many there are.
  const { items } = await ctx.store.search(kind, { ...query, totalMax: 1, limit })
  return items.map(({ record }) => record)
}

function joined<T extends object>(kind: Kind<T>, lists: readonly (readonly T[])[]): T[] {
  const found = new Map<string, T>()
  for (const record of lists.flat())
    if (!found.has(kind.key(record))) found.set(kind.key(record), record)
  return [...found.values()]
}

/** The parts of a query with ever more of the commonest left out, and first what nobody ever wrote. */
function relaxed({ parts, wanted }: Understood): (readonly (readonly string[])[])[] {
  const worths = new Map(
    wanted.map(({ word, isKnown, alike, rarity }) => [
      word,
      isKnown || alike.size > 0 ? rarity : 0,
    ]),
  )
  const worthOf = (part: readonly string[]) =>
    part.reduce((sum, word) => sum + worths.get(word)!, 0)
  const byWorth = parts.toSorted((a, b) => worthOf(b) - worthOf(a))
  return Array.from({ length: Math.min(RELAXED_MAX, parts.length - 1) }, (_, at) =>
    byWorth.slice(0, parts.length - 1 - at),
  )
}
