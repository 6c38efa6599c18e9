// The words of titles, each with the podcasts that have it, those that are heard most first.
//
// While someone types, one of the words is looked up here, and the others are looked for in the titles
// that come with it: one stretch of so many rows, however many podcasts there are.
import { wordsOf } from '../kernel/text-search.ts'
import type { Migration, Records } from '../kernel/store.ts'
import { podcasts, type Podcast } from './records.ts'
import { inRows } from './words.ts'

/** How many rows are looked at: for words that are looked up alone, and with others to look for. */
const ROWS_ALONE = 200
const ROWS_MAX = 1_000
const FILLED_TOGETHER = 100
/** Chosen: what stands beyond this does not find a podcast here. PostgreSQL indexes no long rows. */
const TITLE_CHARS_MAX = 300
const NO_SCORE = -1

export const titlesMigration: Migration = {
  number: 5,
  name: 'titles',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const integer = engine === 'postgres' ? 'bigint' : 'INTEGER'
    // The key leads to whole rows, so that a stretch is read from one place.
    const [including, without] =
      engine === 'postgres' ? ['INCLUDE (title, explicit)', ''] : ['', 'WITHOUT ROWID']
    await tx.sql(`CREATE TABLE title_word (
      word ${text} NOT NULL, score ${integer} NOT NULL, podcast ${text} NOT NULL,
      title ${text} NOT NULL, explicit ${integer} NOT NULL,
      PRIMARY KEY (word, score, podcast) ${including}) ${without}`)
    let after: string | undefined
    do {
      const page = await tx.list(podcasts, { limit: FILLED_TOGETHER, after })
      const changes = page.items.map((podcast) => ({ after: podcast }))
      await saveTitles(tx, changes)
      after = page.next
    } while (after !== undefined)
  },
}

/** A podcast as its title finds it. */
export interface Titled {
  readonly id: string
  readonly score: number
  /** The words of the title, folded, with a space between them. */
  readonly title: string
}

export const titledOf = ({ id, title, listen_score }: Podcast): Titled => ({
  id,
  score: listen_score ?? NO_SCORE,
  title: shortened(wordsOf(title).join(' ')),
})

const shortened = (title: string): string =>
  title.length > TITLE_CHARS_MAX ? title.slice(0, title.lastIndexOf(' ', TITLE_CHARS_MAX)) : title

/** Writes what changed of titles, in the transaction of the podcasts. */
export async function saveTitles(
  tx: Records,
  changes: readonly { before?: Podcast | undefined; after?: Podcast | undefined }[],
): Promise<void> {
  const added: Row[] = []
  for (const { before, after } of changes) {
    const old = before ? rowsOf(before) : []
    const now = after ? rowsOf(after) : []
    if (JSON.stringify(old) === JSON.stringify(now)) continue
    for (const [word, score, podcast] of old) {
      await tx.sql('DELETE FROM title_word WHERE word = ? AND score = ? AND podcast = ?', [
        word,
        score,
        podcast,
      ])
    }
    added.push(...now)
  }
  await inRows(added, (rows) =>
    tx.sql(
      `INSERT INTO title_word (word, score, podcast, title, explicit)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?)').join(', ')}
       ON CONFLICT (word, score, podcast) DO UPDATE
       SET title = excluded.title, explicit = excluded.explicit`,
      rows.flat(),
    ),
  )
}

type Row = [word: string, score: number, podcast: string, title: string, explicit: number]

function rowsOf(podcast: Podcast): Row[] {
  const { id, score, title } = titledOf(podcast)
  const explicit = podcast.explicit_content ? 1 : 0
  const words = new Set(title.split(' ').filter((word) => word !== ''))
  // Each word stands between two spaces, so that a pattern finds whole words and beginnings.
  return [...words].map((word) => [word, score, id, ` ${title} `, explicit])
}

interface TitleQuery {
  /** What is looked up: titles have one of these. */
  readonly words: readonly string[]
  /** Of each list a title must fit one: words, or where it ends in `%`, the beginning of one. */
  readonly others: readonly (readonly string[])[]
  /** Titles that begin so come first. */
  readonly start: string
  readonly isSafe: boolean
  readonly limit: number
}

/** How many podcasts are looked at for each word that is looked up. */
export const stretchOf = ({ words, others }: Pick<TitleQuery, 'words' | 'others'>): number =>
  Math.ceil((others.length > 0 ? ROWS_MAX : ROWS_ALONE) / words.length)

/** The podcasts whose titles hold all of that, among those that are heard most for each word. */
export async function titlesWith(
  records: Pick<Records, 'sql'>,
  { words, others, start, isSafe, limit }: TitleQuery,
): Promise<Titled[]> {
  const heard = words.map(
    (_, at) => `SELECT * FROM (SELECT podcast, score, title, explicit FROM title_word WHERE word = ?
      ORDER BY score DESC, podcast DESC LIMIT ${stretchOf({ words, others })}) AS heard_${at}`,
  )
  const fits = others.map((some) => `(${some.map(() => 'title LIKE ?').join(' OR ')})`)
  const rows = await records.sql(
    `SELECT podcast, score, title FROM (${heard.join(' UNION ALL ')}) AS heard
     WHERE ${[isSafe ? 'explicit = 0' : '1 = 1', ...fits].join(' AND ')}
     ORDER BY CASE WHEN title LIKE ? THEN 0 ELSE 1 END, score DESC, title LIMIT ?`,
    [...words, ...others.flat().map(patternOf), ` ${start}%`, limit],
  )
  return rows.map(({ podcast, score, title }) => ({
    id: podcast,
    score: Number(score),
    title: title.trim(),
  }))
}

// Words hold letters and digits alone, so nothing needs escaping.
const patternOf = (word: string): string => (word.endsWith('%') ? `% ${word}` : `% ${word} %`)
