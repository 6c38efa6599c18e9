// What was searched for lately: trending and related searches. Specification 1, service S5.
//
// 1. Nothing of who searched is kept, and a term is shown only when it was searched more than once.
// 2. A count halves with every three days, so that what nobody searches any more is forgotten.
// 3. Searches are noted in memory and written some at a time: a search does not wait for the disk,
//    and a crash loses a few counts.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import type { Migration, Store } from '../kernel/store.ts'
import { wordsOf } from '../kernel/text-search.ts'
import { metered } from './quotas.ts'
import { searched } from './shapes.ts'
import { isCommon } from './words.ts'

const TERMS_SHOWN = 10
const TERM_CHARS_MAX = 80
const TERM_WORDS_MAX = 8
const HALF_MS = 3 * 24 * 3_600_000
const WRITTEN_TOGETHER = 25
const WRITTEN_MS = 5_000
const SHOWN_COUNT_MIN = 1.5
const FORGOTTEN_COUNT = 0.1
const TERMS_MAX = 10_000

export const searchesMigration: Migration = {
  number: 4,
  name: 'searches',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const real = engine === 'postgres' ? 'double precision' : 'REAL'
    // What a count would be at the beginning of time: it is compared without being brought up to date.
    await tx.sql(`CREATE TABLE search_term (term ${text} PRIMARY KEY, log_count ${real} NOT NULL)`)
    await tx.sql('CREATE INDEX search_term_by_count ON search_term (log_count, term)')
    await tx.sql(`CREATE TABLE search_term_word (
      word ${text} NOT NULL, term ${text} NOT NULL, PRIMARY KEY (word, term))`)
  },
}

const answer = z.object({ terms: z.array(z.string()).max(TERMS_SHOWN) })
const show = (terms: readonly string[]) => ({ terms })

export const operations = [
  operation({
    name: 'trendingSearches',
    rest: get('/trending_searches', { show, answer }),
    input: {},
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(async (_input: object, ctx) => {
      await writeNoted(ctx)
      const rows = await ctx.store.sql(
        `SELECT term FROM search_term WHERE log_count >= ?
         ORDER BY log_count DESC, term DESC LIMIT ?`,
        [logNow(SHOWN_COUNT_MIN, ctx), TERMS_SHOWN],
      )
      return rows.map(({ term }) => term as string)
    }),
  }),
  operation({
    name: 'relatedSearches',
    rest: get('/related_searches', { show, answer }),
    input: { q: searched },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(async ({ q }, ctx) => {
      await writeNoted(ctx)
      return relatedTo(q, ctx)
    }),
  }),
]

/** Searches that begin so, the most frequent first, for those who are typing. */
export async function searchesStartedBy(
  start: string,
  limit: number,
  ctx: Context,
): Promise<string[]> {
  const rows = await ctx.store.sql(
    `SELECT term FROM search_term WHERE term >= ? AND term < ? AND log_count >= ?
     ORDER BY log_count DESC, term DESC LIMIT ?`,
    [start, `${start}\u{10ffff}`, logNow(SHOWN_COUNT_MIN, ctx), limit],
  )
  return rows.map(({ term }) => term as string)
}

/** Searches that share the most telling words with this one, the most frequent first. */
async function relatedTo(q: string, ctx: Context): Promise<string[]> {
  const own = termOf(q)
  const words = [...new Set(wordsOf(q))].filter((word) => !isCommon(word)).slice(0, TERM_WORDS_MAX)
  if (words.length === 0) return []
  const rows = await ctx.store.sql(
    `SELECT search_term.term AS term, log_count, count(*) AS shared
     FROM search_term_word JOIN search_term ON search_term.term = search_term_word.term
     WHERE word IN (${words.map(() => '?').join(', ')}) AND search_term.term <> ? AND log_count >= ?
     GROUP BY search_term.term, log_count
     ORDER BY shared DESC, log_count DESC, search_term.term LIMIT ?`,
    [...words, own ?? '', logNow(SHOWN_COUNT_MIN, ctx), TERMS_SHOWN],
  )
  return rows.map(({ term }) => term as string)
}

interface Noted {
  readonly counts: Map<string, number>
  searches: number
  sinceMs: number
}

const noted = new WeakMap<Store, Noted>()

/** Counts a search that found something. */
export async function noteSearch(q: string, ctx: Context): Promise<void> {
  const term = termOf(q)
  if (term === undefined) return
  const nowMs = ctx.clock.now().getTime()
  let own = noted.get(ctx.store)
  if (!own) noted.set(ctx.store, (own = { counts: new Map(), searches: 0, sinceMs: nowMs }))
  own.counts.set(term, (own.counts.get(term) ?? 0) + 1)
  own.searches += 1
  if (own.searches >= WRITTEN_TOGETHER || nowMs - own.sinceMs >= WRITTEN_MS) await writeNoted(ctx)
}

async function writeNoted(ctx: Context): Promise<void> {
  const own = noted.get(ctx.store)
  if (!own || own.counts.size === 0) return
  noted.delete(ctx.store)
  const terms = [...own.counts.keys()].sort()
  await ctx.store.transaction(async (tx) => {
    const rows = await tx.sql(
      `SELECT term, log_count FROM search_term WHERE term IN (${terms.map(() => '?').join(', ')})`,
      terms,
    )
    const before = new Map(rows.map(({ term, log_count }) => [term as string, Number(log_count)]))
    for (const term of terms) {
      const added = logNow(own.counts.get(term)!, ctx)
      const old = before.get(term)
      await tx.sql(
        `INSERT INTO search_term (term, log_count) VALUES (?, ?)
         ON CONFLICT (term) DO UPDATE SET log_count = excluded.log_count`,
        [term, old === undefined ? added : logSum(old, added)],
      )
      if (old !== undefined) continue
      for (const word of new Set(wordsOf(term))) {
        await tx.sql(
          `INSERT INTO search_term_word (word, term) VALUES (?, ?) ON CONFLICT (word, term) DO NOTHING`,
          [word, term],
        )
      }
    }
  })
}

/** Forgets what is searched no more, and all but the most frequent. */
export async function sweepSearches(ctx: Context): Promise<void> {
  const [last] = await ctx.store.sql(
    'SELECT log_count FROM search_term ORDER BY log_count DESC LIMIT 1 OFFSET ?',
    [TERMS_MAX],
  )
  const least = Math.max(logNow(FORGOTTEN_COUNT, ctx), Number(last?.['log_count'] ?? -Infinity))
  await ctx.store.transaction(async (tx) => {
    await tx.sql(
      `DELETE FROM search_term_word WHERE term IN (SELECT term FROM search_term WHERE log_count <= ?)`,
      [least],
    )
    await tx.sql('DELETE FROM search_term WHERE log_count <= ?', [least])
  })
}

/** A search as it is counted: its words, folded. Undefined for what is too long to be one. */
function termOf(q: string): string | undefined {
  const words = wordsOf(q)
  const term = words.join(' ')
  const isTerm = words.length > 0 && words.length <= TERM_WORDS_MAX && term.length <= TERM_CHARS_MAX
  return isTerm ? term : undefined
}

// Counts that halve with time keep their order when all are brought back to one moment; as logarithms
// to base two they stay small: log2(count) + age in halves.
const logNow = (count: number, { clock }: Context): number =>
  Math.log2(count) + clock.now().getTime() / HALF_MS

const logSum = (a: number, b: number): number =>
  Math.max(a, b) + Math.log2(1 + 2 ** -Math.abs(a - b))
