// Found words, marked in the text that holds them.
import { writtenWordsOf } from '../kernel/text-search.ts'
import { escapeHtml } from './plain-text.ts'

const OPEN = '<span class="vendor-search-highlight">'
const CLOSE = '</span>'
const FRAGMENT_CHARS = 240
/** How much of a fragment stands before the first word that was found. */
const LEAD_CHARS = 60

/** Whether a word, folded, is one that was looked for. */
export type IsFound = (word: string) => boolean

/** A text as HTML with each found word marked. */
export function highlight(text: string, isFound: IsFound): string {
  let marked = ''
  let done = 0
  for (const { written, at, words } of writtenWordsOf(text)) {
    if (!words.some(isFound)) continue
    marked += `${escapeHtml(text.slice(done, at))}${OPEN}${escapeHtml(written)}${CLOSE}`
    done = at + written.length
  }
  return marked + escapeHtml(text.slice(done))
}

/** The part of a text around the first found word, as HTML. A cut shows as three dots. */
export function highlightFragment(text: string, isFound: IsFound): string {
  const first = writtenWordsOf(text).find(({ words }) => words.some(isFound))
  return highlightFrom(text, first?.at ?? 0, isFound)
}

/** The first parts of a text that hold found words, apart from each other, as HTML. */
export function highlightFragments(text: string, isFound: IsFound, max: number): string[] {
  const fragments: string[] = []
  let end = 0
  for (const { at, words } of writtenWordsOf(text)) {
    if (fragments.length === max) break
    if (at < end || !words.some(isFound)) continue
    fragments.push(highlightFrom(text, at, isFound))
    end = at + FRAGMENT_CHARS
  }
  return fragments
}

function highlightFrom(text: string, at: number, isFound: IsFound): string {
  const from = startOf(text, at)
  const isCut = from + FRAGMENT_CHARS < text.length
  const to = isCut ? wordEndBefore(text, from + FRAGMENT_CHARS) : text.length
  const dots = from > 0 ? '...' : ''
  return `${dots}${highlight(text.slice(from, to), isFound)}${isCut ? '...' : ''}`
}

function startOf(text: string, at: number): number {
  if (at <= LEAD_CHARS || text.length <= FRAGMENT_CHARS) return 0
  const space = text.indexOf(' ', at - LEAD_CHARS)
  return space < 0 || space >= at ? at : space + 1
}

function wordEndBefore(text: string, at: number): number {
  const space = text.lastIndexOf(' ', at)
  return space < at - LEAD_CHARS ? at : space
}
