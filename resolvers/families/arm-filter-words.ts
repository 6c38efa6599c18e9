// The words that a $filter is made of, and where each begins. Specification 3, D, J.

export interface Word {
  /** A word of the language or the name of a field, a mark such as `(`, or a value. */
  readonly kind: 'word' | 'mark' | 'value'
  /** Words are in lower case here. */
  readonly value: string | number
  readonly at: number
  /** As it stands in the filter. */
  readonly text: string
}

type Read = (found: RegExpExecArray) => Pick<Word, 'kind' | 'value'>

// Tried in this order, each where the one before ended. None looks back at what it passed, so that
// reading takes time in proportion to the length.
const WORDS: readonly [pattern: RegExp, read: Read][] = [
  [
    /(?:datetime)?'((?:[^']|'')*)'/iy,
    ([, quoted]) => ({ kind: 'value', value: quoted!.replaceAll("''", "'") }),
  ],
  [
    /\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[-+]\d\d:\d\d)?/iy,
    ([moment]) => ({ kind: 'value', value: moment }),
  ],
  [/-?\d{1,15}(?:\.\d{1,15})?(?![\w.])/y, ([digits]) => ({ kind: 'value', value: Number(digits) })],
  [/[a-z_][\w/.]*/iy, ([name]) => ({ kind: 'word', value: name.toLowerCase() })],
  [/[(),]/y, ([mark]) => ({ kind: 'mark', value: mark })],
]

const SPACE = /\s*/y

/** Reads a filter into words. Throws what `refuse` makes of the place where it cannot. */
export function wordsOf(filter: string, refuse: (at: number, what: string) => Error): Word[] {
  const words: Word[] = []
  let at = 0
  for (;;) {
    at += matchAt(SPACE, filter, at)![0].length
    if (at >= filter.length) return words
    const word = wordAt(filter, at)
    if (!word) throw refuse(at, 'something that is no word, mark, number or quoted text')
    words.push(word)
    at += word.text.length
  }
}

function wordAt(filter: string, at: number): Word | undefined {
  for (const [pattern, read] of WORDS) {
    const found = matchAt(pattern, filter, at)
    if (found) return { ...read(found), at, text: found[0] }
  }
  return undefined
}

function matchAt(pattern: RegExp, filter: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(filter)
}
