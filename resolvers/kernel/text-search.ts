// Text as search sees it: words without case and accents, and the terms that a query makes of them.
//
// Folding happens here and not in the database, so that both engines index the same words and
// neither depends on the locale of a server.
import type { TextField, TextQuery } from './store.ts'

const WORD_CHARS_MAX = 64
const TEXT_CHARS_MAX = 200_000
const QUERY_WORDS_MAX = 32

// A short word that is misspelled may share only one group of letters with the right one.
const SHORT_WORD_CHARS = 5

// One letter in four may be wrong, or two in six.
const LIKENESS_MIN = 0.65

export const WEIGHTS: Readonly<Record<TextField<object>['weight'], number>> = {
  A: 10,
  B: 4,
  C: 2,
  D: 1,
}

/** What must occur. The last word of a phrase may be only the beginning of one. */
export type TextTerm =
  | {
      readonly phrase: readonly string[]
      readonly isPrefix: boolean
      readonly fields?: readonly string[]
    }
  | { readonly every: readonly TextTerm[] }
  | { readonly some: readonly TextTerm[] }
  | { readonly found: TextTerm; readonly without: TextTerm }
  | { readonly mark: string }

/** The words of a text, folded, in order. */
export function wordsOf(text: string): string[] {
  const cut = text.slice(0, TEXT_CHARS_MAX)
  // Most text is ASCII, which folds to itself.
  const words = IS_BEYOND_ASCII.test(cut)
    ? folded(cut).match(/[\p{L}\p{N}]+/gu)
    : cut.toLowerCase().match(/[a-z0-9]+/g)
  return (words ?? []).map((word) =>
    word.length > WORD_CHARS_MAX ? word.slice(0, WORD_CHARS_MAX).toWellFormed() : word,
  )
}

const IS_BEYOND_ASCII = /[\u0080-\uffff]/

const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()

/** The words of a text as they are written there, each with where it begins and its folded form. */
export function writtenWordsOf(text: string): { written: string; at: number; words: string[] }[] {
  return [...text.slice(0, TEXT_CHARS_MAX).matchAll(/[\p{L}\p{N}][\p{L}\p{N}\p{M}]*/gu)].map(
    ({ 0: written, index }) => ({ written, at: index, words: wordsOf(written) }),
  )
}

/** Every three neighbours of a word, its ends marked; each once. */
export function trigramsOf(word: string): string[] {
  const letters = [...`__${word}_`]
  const found = new Set<string>()
  for (let at = 0; at + 3 <= letters.length; at += 1) {
    found.add(letters.slice(at, at + 3).join(''))
  }
  return [...found]
}

/** What a query asks of words and marks. Returns undefined when it holds neither. */
export function termOf(query: TextQuery): TextTerm | undefined {
  const { fields, marks = [], unmarked = [] } = query
  const phrases = phrasesOf(query.words)
  const terms = phrases.map((phrase, at) => {
    const isPrefix = query.prefix === true && at === phrases.length - 1
    const term = { phrase, isPrefix, ...(fields && { fields }) }
    const alike = (phrase.length === 1 && query.alike?.[phrase[0]!]) || []
    if (alike.length === 0) return term
    return { some: [term, ...alike.map((word) => ({ ...term, phrase: [word], isPrefix: false }))] }
  })
  const marked = marks.map((some) => ({ some: some.map((mark) => ({ mark })) }))
  const asked = [...(terms.length > 0 ? [joined(query, terms)] : []), ...marked]
  if (asked.length === 0) return undefined
  const found = asked.length === 1 ? asked[0]! : { every: asked }
  if (unmarked.length === 0) return found
  return { found, without: { some: unmarked.map((mark) => ({ mark })) } }
}

/** What a query asks of the groups of three letters, so that likely spellings are among the answers. */
export function fuzzyTermOf(query: TextQuery): TextTerm | undefined {
  const words = phrasesOf(query.words).flat()
  if (words.length === 0) return undefined
  return joined(query, words.map(likelyTermOf))
}

/**
 * How well texts fit the words of a query, spelling aside: 0 when they do not, 1 when every word
 * stands as it is in a field of the greatest weight.
 */
export function likenessOf(
  query: TextQuery,
  fields: readonly { words: readonly string[]; weight: TextField<object>['weight'] }[],
): number {
  const wanted = phrasesOf(query.words).flat()
  let sum = 0
  for (const [at, word] of wanted.entries()) {
    const isPrefix = query.prefix === true && at === wanted.length - 1
    let best = 0
    for (const field of fields) {
      for (const other of field.words) {
        const likeness = wordLikeness(word, other, isPrefix)
        if (likeness >= LIKENESS_MIN) best = Math.max(best, likeness * WEIGHTS[field.weight])
      }
    }
    if (best === 0 && query.match !== 'any') return 0
    sum += best
  }
  return sum / (wanted.length * WEIGHTS.A)
}

/** What a query is made of: single words, and those in quotes together. */
export function phrasesOf(words: string): string[][] {
  const phrases: string[][] = []
  let left = QUERY_WORDS_MAX
  for (const [, inQuotes, plain] of words.matchAll(/"([^"]*)"?|([^"]+)/g)) {
    const found = wordsOf(inQuotes ?? plain ?? '').slice(0, left)
    left -= found.length
    if (inQuotes === undefined) phrases.push(...found.map((word) => [word]))
    else if (found.length > 0) phrases.push(found)
  }
  return phrases
}

const joined = (query: TextQuery, terms: readonly TextTerm[]): TextTerm =>
  query.match === 'any' ? { some: terms } : { every: terms }

// Two groups of letters that fit keep the candidates few: "a and one of the later, or b and one of
// the later, and so on" says that with one mention of each per level.
function likelyTermOf(word: string): TextTerm {
  const groups = trigramsOf(word).map((group) => ({ phrase: [group], isPrefix: false }))
  if (word.length <= SHORT_WORD_CHARS) return { some: groups }
  return {
    some: groups
      .slice(0, -1)
      .map((group, at) => ({ every: [group, { some: groups.slice(at + 1) }] })),
  }
}

function wordLikeness(word: string, other: string, isPrefix: boolean): number {
  const whole = 1 - editsBetween(word, other) / Math.max(word.length, other.length)
  if (!isPrefix || other.length <= word.length) return whole
  return Math.max(whole, 1 - editsBetween(word, other.slice(0, word.length)) / word.length)
}

/** How many letters to insert, drop, change or swap with their neighbour. */
export function editsBetween(a: string, b: string): number {
  if (a === b) return 0
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1]
      let edits = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        edits = Math.min(edits, before[j - 2]! + 1)
      }
      next.push(edits)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
