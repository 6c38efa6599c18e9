// Text in PostgreSQL: two tsvector columns in the row, written as they are and not parsed there.
import { fieldWordsOf, indexedMark, marksOf } from './kind-table.ts'
import type { Table, TextDialect } from './kind-table.ts'
import { quoted } from './sql-text.ts'
import { trigramsOf, WEIGHTS } from './text-search.ts'
import type { TextTerm } from './text-search.ts'

// PostgreSQL keeps this many places of a word, and counts this far.
const PLACES_MAX = 255
const PLACE_MAX = 16_383

// Between fields, so that a phrase does not begin in one and end in the next.
const FIELD_GAP = 2

// D to A, of which the greatest may be 1.
const RANKS = [WEIGHTS.D, WEIGHTS.C, WEIGHTS.B, WEIGHTS.A].map((weight) => weight / WEIGHTS.A)

// Divides a rank by the logarithm of the length, so that long texts do not win by length.
const BY_LENGTH = 1

const hasFuzzy = (table: Table) => table.text.some((field) => field.isFuzzy)

export const postgresText: TextDialect = {
  columns: (table) =>
    ['words', ...(hasFuzzy(table) ? ['trigrams'] : [])].map((name) => ({
      name,
      placeholder: '?::tsvector',
    })),

  values(table, record) {
    const fields = fieldWordsOf(table, record)
    const vector = [vectorOf(fields), ...marksOf(table, record).map((mark) => `'${mark}'`)].join(
      ' ',
    )
    if (!hasFuzzy(table)) return [vector]
    const words = new Set(fields.filter((field) => field.isFuzzy).flatMap(({ words }) => words))
    const trigrams = new Set([...words].flatMap(trigramsOf))
    return [vector, [...trigrams].map((group) => `'${group}'`).join(' ')]
  },

  async create(sql, table) {
    for (const { name } of postgresText.columns(table)) {
      await sql(`ALTER TABLE ${table.name} ADD COLUMN ${name} tsvector`, [])
      const index = quoted(`${table.kind.name}.${name}`)
      await sql(`CREATE INDEX ${index} ON ${table.name} USING gin (${name})`, [])
    }
  },

  async drop(sql, table) {
    await sql(`ALTER TABLE ${table.name} DROP COLUMN IF EXISTS words`, [])
    await sql(`ALTER TABLE ${table.name} DROP COLUMN IF EXISTS trigrams`, [])
  },

  put: async () => {},
  forget: async () => {},
  print,

  select(table, filters, order) {
    if (order === 'none') {
      return `SELECT key, version, body, 0::float8 AS score FROM ${table.name}
        WHERE ${['words @@ ?::tsquery', ...filters].join(' AND ')} LIMIT ? OFFSET ?`
    }
    const isLikely = order === 'likely'
    // The same parameter serves the condition and the rank.
    const asked = `(SELECT ?::tsquery AS term) AS asked`
    const score = isLikely
      ? 'ts_rank(trigrams, term)'
      : `ts_rank_cd('{${RANKS.join(',')}}', words, term, ${BY_LENGTH})`
    return `SELECT key, version, body, ${score}::float8 AS score
      FROM ${asked}, ${table.name}
      WHERE ${[`${isLikely ? 'trigrams' : 'words'} @@ term`, ...filters].join(' AND ')}
      ORDER BY score DESC, key LIMIT ? OFFSET ?`
  },

  count: (table, filters) =>
    `SELECT count(*) AS count FROM (SELECT 1 FROM ${table.name}
     WHERE ${['words @@ ?::tsquery', ...filters].join(' AND ')} LIMIT ?) AS counted`,
}

/** A tsvector in its written form: each word with the places where it stands. */
function vectorOf(fields: ReturnType<typeof fieldWordsOf>): string {
  const places = new Map<string, string[]>()
  let place = 0
  for (const { words, weight } of fields) {
    for (const word of words) {
      place = Math.min(place + 1, PLACE_MAX)
      let own = places.get(word)
      if (!own) places.set(word, (own = []))
      if (own.length < PLACES_MAX) own.push(`${place}${weight}`)
    }
    place += FIELD_GAP
  }
  return [...places].map(([word, own]) => `'${word}':${own.join(',')}`).join(' ')
}

// Words and marks hold letters, digits and `_` alone, so nothing needs escaping.
function print(term: TextTerm, table: Table): string {
  const printed = (one: TextTerm) => print(one, table)
  if ('every' in term) return `(${term.every.map(printed).join(' & ')})`
  if ('some' in term) return `(${term.some.map(printed).join(' | ')})`
  if ('without' in term) return `(${printed(term.found)} & !${printed(term.without)})`
  if ('mark' in term) return `'${indexedMark(table, term.mark)}'`
  const last = term.phrase.length - 1
  const weights = term.fields ? weightsOf(table, term.fields) : ''
  const words = term.phrase.map((word, at) => {
    const label = `${term.isPrefix && at === last ? '*' : ''}${weights}`
    return `'${word}'${label && `:${label}`}`
  })
  return `(${words.join(' <-> ')})`
}

// A place in a vector has no field, but a weight.
const weightsOf = (table: Table, fields: readonly string[]): string =>
  [...new Set(table.text.filter(({ name }) => fields.includes(name)).map(({ weight }) => weight))]
    .toSorted()
    .join('')
