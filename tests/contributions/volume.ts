// Many contributions at once, for finding.test.ts and bench/contributions.ts: the same lines, terms
// and counts that the service writes one by one.
import {
  count,
  insertLines,
  lineOf,
  termsOf,
  type Line,
} from '../../resolvers/contributions/lines.ts'
import type { Contribution } from '../../resolvers/contributions/records.ts'
import type { Store } from '../../resolvers/kernel/store.ts'

const AT_ONCE = 500
const BUCKET_LINES = 1_000

/** Stores contributions, which must come oldest first and each at a moment of its own. */
export async function fillStore(
  store: Store,
  {
    total,
    contributionAt,
    now,
  }: { total: number; contributionAt: (n: number) => Contribution; now: Date },
): Promise<void> {
  const uncounted: Line[] = []
  for (let from = 0; from < total; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, total - from) }, (_, at) =>
      contributionAt(from + at),
    )
    const lines = await Promise.all(
      some.map((contribution, at) =>
        lineOf(contribution, { media: [], now, bucket: Math.floor((from + at) / BUCKET_LINES) }),
      ),
    )
    uncounted.push(...lines)
    const isLast = from + AT_ONCE >= total
    await store.transaction(async (tx) => {
      await tx.sql(
        `INSERT INTO contribution (key, version, body) VALUES ${some.map(() => '(?, ?, ?)').join(', ')}`,
        some.flatMap((contribution) => [contribution.id, 'bulk', JSON.stringify(contribution)]),
      )
      await insertLines(tx, lines)
      const terms = lines.flatMap((line, at) =>
        termsOf(some[at]!, line).map((term) => [term, line.created_ms, line.id]),
      )
      await tx.sql(
        `INSERT INTO term (term, created_ms, id) VALUES ${terms.map(() => '(?, ?, ?)').join(', ')}`,
        terms.flat(),
      )
      if (from % BUCKET_LINES === 0) {
        const start = from === 0 ? 0 : lines[0]!.created_ms
        await tx.sql('INSERT INTO contribution_bucket (bucket, start_ms) VALUES (?, ?)', [
          from / BUCKET_LINES,
          start,
        ])
      }
      if (isLast || uncounted.length >= BUCKET_LINES * 20) {
        await count(
          tx,
          uncounted.splice(0).map((line) => [line, 1]),
        )
      }
    })
  }
  if (store.engine === 'postgres') {
    for (const table of ['contribution_line', 'term']) await store.sql(`ANALYZE ${table}`)
  }
}
