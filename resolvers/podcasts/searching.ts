// One search: candidates put in order, a page of them cut out, and what was found in each.
import type { Context } from '../kernel/context.ts'
import type { Kind } from '../kernel/store.ts'
import { findCandidates, TOTAL_MAX, type Candidates, type Narrowing } from './candidates.ts'
import { curatedLists, type CuratedList } from './curated-lists.ts'
import type { IsFound } from './highlight.ts'
import { plainText } from './plain-text.ts'
import { scorerOf, type Field, type Texts } from './ranking.ts'
import { episodes, monthMark, podcasts, TOP_MARK, type Episode, type Podcast } from './records.ts'

/** Up to here all that match are read and sorted by date; beyond, month after month is. */
const SORTED_MAX = 1_000
const MONTH_MAX = 5_000
const MONTHS_BACK_MAX = 600

/** How far a score of 100 lifts a podcast above an equal one without. */
const HEARD_SHARE = 0.3
const TOP_EPISODE_SHARE = 0.1

/** Something that can be found. */
export interface Findable<T extends object> {
  readonly kind: Kind<T>
  textsOf(record: T): Texts
  /** When it appeared, or was last added to. */
  dateOf(record: T): number
  /** A factor of at least 1 for what people listen to. */
  heardOf(record: T): number
}

export const findablePodcast: Findable<Podcast> = {
  kind: podcasts,
  textsOf: ({ title, publisher, description }) => ({
    title,
    author: publisher,
    description: plainText(description),
    audio: '',
  }),
  dateOf: ({ latest_pub_date_ms }) => latest_pub_date_ms,
  heardOf: ({ listen_score }) => 1 + (HEARD_SHARE * (listen_score ?? 0)) / 100,
}

export const findableEpisode: Findable<Episode> = {
  kind: episodes,
  textsOf: ({ title, description, transcript, podcast }) => ({
    title,
    author: `${podcast.title}. ${podcast.publisher}`,
    description: plainText(description),
    audio: transcript ?? '',
  }),
  dateOf: ({ pub_date_ms }) => pub_date_ms,
  heardOf: ({ podcast }) => (podcast.marks.includes(TOP_MARK) ? 1 + TOP_EPISODE_SHARE : 1),
}

export const findableList: Findable<CuratedList> = {
  kind: curatedLists,
  textsOf: ({ title, description, source_domain }) => ({
    title,
    author: source_domain,
    description,
    audio: '',
  }),
  dateOf: ({ pub_date_ms }) => pub_date_ms,
  heardOf: () => 1,
}

export interface Asked {
  readonly q: string
  readonly fields: readonly Field[]
  readonly narrowing: Narrowing
  readonly isByDate: boolean
  /** Leaves out all but the first of each group. */
  readonly groupOf?: ((record: any) => string) | undefined
  readonly offset: number
  readonly limit: number
}

export interface Page<T> {
  readonly items: readonly T[]
  readonly total: number
  readonly isFound: IsFound
}

export async function searchPage<T extends object>(
  ctx: Context,
  findable: Findable<T>,
  asked: Asked,
): Promise<Page<T>> {
  const candidates = await findCandidates(ctx, findable.kind, asked)
  const found = new Set(candidates.wanted.flatMap(({ word, alike }) => [word, ...alike.keys()]))
  const isFound: IsFound = (word) => found.has(word)
  const { offset, limit, groupOf } = asked
  const sorted = asked.isByDate
    ? await newestOf(ctx, findable, candidates, offset + limit)
    : bestOf(findable, candidates, asked.fields)
  if (groupOf) {
    const ones = firstOfEach(sorted, groupOf)
    return { items: ones.slice(offset, offset + limit), total: ones.length, isFound }
  }
  const total = Math.max(candidates.total, sorted.length)
  const items =
    offset + limit <= sorted.length || sorted.length >= total
      ? sorted.slice(offset, offset + limit)
      : await beyond(ctx, findable, candidates, sorted, { offset, limit })
  return { items, total, isFound }
}

function bestOf<T extends object>(
  { kind, textsOf, dateOf, heardOf }: Findable<T>,
  { records, wanted }: Candidates<T>,
  fields: readonly Field[],
): T[] {
  const score = scorerOf(wanted, fields)
  return records
    .map((record) => ({
      record,
      score: score(textsOf(record)) * heardOf(record),
      date: dateOf(record),
      key: kind.key(record),
    }))
    .sort((a, b) => b.score - a.score || b.date - a.date || (a.key < b.key ? -1 : 1))
    .map(({ record }) => record)
}

/** What is beyond the candidates, in the order in which the engine has it. */
async function beyond<T extends object>(
  ctx: Context,
  { kind }: Findable<T>,
  { query }: Candidates<T>,
  sorted: readonly T[],
  { offset, limit }: { offset: number; limit: number },
): Promise<T[]> {
  if (!query) return sorted.slice(offset, offset + limit)
  const ranked = new Set(sorted.map((record) => kind.key(record)))
  const most = Math.min(offset + limit + ranked.size, TOTAL_MAX)
  const { items } = await ctx.store.search(kind, { ...query, totalMax: 1, limit: most })
  const rest = items.map(({ record }) => record).filter((record) => !ranked.has(kind.key(record)))
  return [...sorted, ...rest].slice(offset, offset + limit)
}

/** The newest that match, as many as are needed. */
async function newestOf<T extends object>(
  ctx: Context,
  findable: Findable<T>,
  { records, total, query }: Candidates<T>,
  needed: number,
): Promise<T[]> {
  const { kind, dateOf } = findable
  const byDate = (some: readonly T[]) =>
    some.toSorted((a, b) => dateOf(b) - dateOf(a) || (kind.key(a) < kind.key(b) ? -1 : 1))
  if (!query || total <= records.length) return byDate(records)
  const read = async (more: object, limit: number) => {
    const { items } = await ctx.store.search(kind, { ...query, ...more, totalMax: 1, limit })
    return items.map(({ record }) => record)
  }
  if (total <= SORTED_MAX || !kind.marks) return byDate(await read({}, SORTED_MAX))
  const newest: T[] = []
  const now = ctx.clock.now()
  for (let back = -1; back < MONTHS_BACK_MAX && newest.length < needed; back += 1) {
    const month = monthMark(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1))
    const marks = [...(query.marks ?? []), [month]]
    newest.push(...byDate(await read({ marks }, MONTH_MAX)))
  }
  return newest
}

function firstOfEach<T>(records: readonly T[], groupOf: (record: T) => string): T[] {
  const seen = new Set<string>()
  return records.filter((record) => {
    const group = groupOf(record)
    return !seen.has(group) && seen.add(group)
  })
}
