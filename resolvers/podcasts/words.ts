// The directory's own words: how many texts hold each, and which are spelled alike.
//
// 1. Counts change in the transaction of the texts that hold the words.
// 2. A word is found by what it becomes without one letter. Two words that are one edit apart share
//    such a form, so that a misspelled word costs a few lookups, however many words there are.
import { editsBetween, wordsOf } from '../kernel/text-search.ts'
import type { Migration, Records } from '../kernel/store.ts'

const WORD_CHARS_MIN = 2
const WORD_CHARS_MAX = 24
/** A shorter word is one edit away from too many others. */
const SPELLED_CHARS_MIN = 4
/** From here on a word may have two letters wrong. */
const LONG_CHARS = 8
const ALIKE_MAX = 5
const STARTED_SCAN_MAX = 400
/** As many rows as one statement writes. Few sizes, so that few statements are prepared. */
const ROWS = [64, 8, 1]

export const wordsMigration: Migration = {
  number: 2,
  name: 'words',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const integer = engine === 'postgres' ? 'bigint' : 'INTEGER'
    await tx.sql(`CREATE TABLE word (
      word ${text} PRIMARY KEY, start1 ${text} NOT NULL, start2 ${text} NOT NULL,
      start3 ${text} NOT NULL, titles ${integer} NOT NULL, texts ${integer} NOT NULL)`)
    for (const start of ['start1', 'start2', 'start3']) {
      await tx.sql(`CREATE INDEX word_by_${start} ON word (${start}, titles, texts, word)`)
    }
    await tx.sql(
      `CREATE TABLE spelling (form ${text} NOT NULL, word ${text} NOT NULL, PRIMARY KEY (form, word))`,
    )
  },
}

/** Words that are too common to tell texts apart, and are left out where others are there. */
const COMMON = new Set(
  'a about an and are as at be but by episode episodes for from has have how in into is it its of on or our out over podcast podcasts show shows that the their this to was we what when where who why will with you your'.split(
    ' ',
  ),
)

export const isCommon = (word: string): boolean => COMMON.has(word)

/** Whether it is known how many texts hold a word: not of single letters, nor of very long ones. */
export const isCounted = (word: string): boolean =>
  word.length >= WORD_CHARS_MIN && word.length <= WORD_CHARS_MAX

/** How many texts hold a word, and how many of them are titles of podcasts. */
interface WordCount {
  titles: number
  texts: number
}

/** What a change of the directory does to the counts, and to the number of texts. */
export interface WordChanges {
  readonly counts: Map<string, WordCount>
  texts: number
}

/** Adds a text, or takes it away. */
export function noteText(
  changes: WordChanges,
  by: 1 | -1,
  { title = '', texts }: { title?: string; texts: readonly string[] },
): void {
  changes.texts += by
  const inTitle = new Set(wordsOf(title))
  for (const word of new Set([...inTitle, ...texts.flatMap(wordsOf)])) {
    if (!isCounted(word)) continue
    let count = changes.counts.get(word)
    if (!count) changes.counts.set(word, (count = { titles: 0, texts: 0 }))
    count.texts += by
    if (inTitle.has(word)) count.titles += by
  }
}

// The row without a word counts the texts.
const ALL = ''

export async function saveWords(tx: Records, changes: WordChanges): Promise<void> {
  const changed = [...changes.counts].filter(([, { titles, texts }]) => titles !== 0 || texts !== 0)
  if (changes.texts !== 0) changed.push([ALL, { titles: 0, texts: changes.texts }])
  // Always in the same order, so that no two transactions wait for each other.
  changed.sort(([a], [b]) => (a < b ? -1 : 1))
  const added: string[] = []
  const gone: string[] = []
  await inRows(changed, async (rows) => {
    const values = rows.flatMap(([word, { titles, texts }]) => [
      word,
      word.slice(0, 1),
      word.slice(0, 2),
      word.slice(0, 3),
      titles,
      texts,
    ])
    const written = await tx.sql(
      `INSERT INTO word (word, start1, start2, start3, titles, texts)
       VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?)').join(', ')}
       ON CONFLICT (word) DO UPDATE
       SET titles = word.titles + excluded.titles, texts = word.texts + excluded.texts
       RETURNING word, texts`,
      values,
    )
    for (const { word, texts } of written) {
      if (word === ALL) continue
      if (Number(texts) <= 0) gone.push(word)
      else if (Number(texts) === changes.counts.get(word)!.texts) added.push(word)
    }
  })
  await saveSpellings(tx, added)
  await removeWords(tx, gone)
}

async function saveSpellings(tx: Records, words: readonly string[]): Promise<void> {
  const forms = words
    .filter(isSpelled)
    .flatMap((word) => formsOf(word).map((form): [string, string] => [form, word]))
  await inRows(forms, (rows) =>
    tx.sql(
      `INSERT INTO spelling (form, word) VALUES ${rows.map(() => '(?, ?)').join(', ')}
       ON CONFLICT (form, word) DO NOTHING`,
      rows.flat(),
    ),
  )
}

async function removeWords(tx: Records, words: readonly string[]): Promise<void> {
  for (const word of words) {
    await tx.sql('DELETE FROM word WHERE word = ?', [word])
    const forms = formsOf(word)
    await tx.sql(
      `DELETE FROM spelling WHERE word = ? AND form IN (${forms.map(() => '?').join(', ')})`,
      [word, ...forms],
    )
  }
}

/** Writes rows some at a time. */
export async function inRows<R>(rows: readonly R[], write: (some: R[]) => Promise<unknown>) {
  let at = 0
  for (const size of ROWS) {
    for (; rows.length - at >= size; at += size) await write(rows.slice(at, at + size))
  }
}

/** The words of a query, each once, with its counts. */
export async function countsOf(
  records: Pick<Records, 'sql'>,
  words: readonly string[],
): Promise<{ all: number; of: (word: string) => WordCount }> {
  const asked = [...new Set(words), ALL]
  const rows = await records.sql(
    `SELECT word, titles, texts FROM word WHERE word IN (${asked.map(() => '?').join(', ')})`,
    asked,
  )
  const found = new Map(
    rows.map(({ word, titles, texts }) => [
      word as string,
      { titles: Number(titles), texts: Number(texts) },
    ]),
  )
  const none = { titles: 0, texts: 0 }
  return { all: found.get(ALL)?.texts ?? 0, of: (word) => found.get(word) ?? none }
}

/** The words that are spelled like this one, the most likely first, with their counts. */
export async function alikeOf(
  records: Pick<Records, 'sql'>,
  word: string,
): Promise<(WordCount & { word: string; edits: number })[]> {
  if (!isSpelled(word)) return []
  const forms = formsOf(word)
  const rows = await records.sql(
    `SELECT DISTINCT word.word AS word, word.titles AS titles, word.texts AS texts
     FROM spelling JOIN word ON word.word = spelling.word
     WHERE spelling.form IN (${forms.map(() => '?').join(', ')})`,
    forms,
  )
  const editsMax = word.length >= LONG_CHARS ? 2 : 1
  return rows
    .map((row) => ({
      word: row['word'] as string,
      titles: Number(row['titles']),
      texts: Number(row['texts']),
      edits: editsBetween(word, row['word']),
    }))
    .filter((other) => other.edits > 0 && other.edits <= editsMax)
    .sort(
      (a, b) =>
        a.edits - b.edits ||
        // People rarely miss the first letter.
        Number(b.word[0] === word[0]) - Number(a.word[0] === word[0]) ||
        b.texts - a.texts ||
        (a.word < b.word ? -1 : 1),
    )
    .slice(0, ALIKE_MAX)
}

/** The words that begin so, those of most titles of podcasts first. */
export async function wordsStartedBy(
  records: Pick<Records, 'sql'>,
  start: string,
  limit: number,
): Promise<(WordCount & { word: string })[]> {
  const column = ['start1', 'start2', 'start3'][start.length - 1]
  const rows = column
    ? await records.sql(
        `SELECT word, titles, texts FROM word WHERE ${column} = ?
         ORDER BY titles DESC, texts DESC, word DESC LIMIT ?`,
        [start, limit],
      )
    : await records.sql(
        'SELECT word, titles, texts FROM word WHERE word >= ? AND word < ? ORDER BY word LIMIT ?',
        [start, `${start}\u{10ffff}`, STARTED_SCAN_MAX],
      )
  return rows
    .map(({ word, titles, texts }) => ({
      word: word as string,
      titles: Number(titles),
      texts: Number(texts),
    }))
    .sort((a, b) => b.titles - a.titles || b.texts - a.texts)
    .slice(0, limit)
}

const isSpelled = (word: string): boolean =>
  word.length >= SPELLED_CHARS_MIN && word.length <= WORD_CHARS_MAX && /^\p{L}+$/u.test(word)

/** A word, and the word without each of its letters. */
function formsOf(word: string): string[] {
  const forms = new Set([word])
  for (let at = 0; at < word.length; at += 1) forms.add(word.slice(0, at) + word.slice(at + 1))
  return [...forms]
}
