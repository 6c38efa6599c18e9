// Text to lines of cells, and back. Specification 1, service S4.
import { Invalid } from '../kernel/fault.ts'
import { openLouis } from './louis.ts'
import { cellOfAscii } from './render.ts'
import type { Table } from './tables.ts'

/**
 * Chosen: of the widths that lay the public example out as it is (28 to 34 cells), the one that
 * braille displays have.
 */
export const WIDTH_DEFAULT = 32
/** The two cells by which braille sets a paragraph in, and with which the public example begins. */
const INDENT = '\u2800\u2800'
const BLANK = '\u2800'
const BLANK_CODE = 0x2800
const SIX_DOTS = 0x3f

/** American English contracted, as written before the unified code. */
export const TABLE_DEFAULT: Table = {
  name: 'en-us-g2.ctb',
  displayName: 'English, U.S. Grade 2 (ABAE) table',
  language: 'en-US',
  grade: 2,
  dots: 6,
}

// One translator serves all callers: what it remembers is a function of the text alone.
const louis = openLouis()

/** Starts the translator with its usual table, for which the first text would wait. */
export const makeReady = (): Promise<unknown> =>
  louis.translate({ table: TABLE_DEFAULT.name, direction: 'forward', text: 'a' })

interface Layout {
  readonly table: Table
  readonly width: number
}

/**
 * Lines of Unicode braille without line ends, none longer than the width.
 *
 * Chosen: a line of the text is a paragraph, which begins on a line of its own and set in like the
 * first. An empty line stays an empty line.
 *
 * Chosen: a character that the table does not know is spelled by its code point, in the way of
 * liblouis ('\x20ac' in braille), so that nothing is lost in silence.
 */
export async function linesOf(text: string, { table, width }: Layout): Promise<string[]> {
  const { name, dots } = table
  const source = { table: name, direction: 'forward', text: readable(text) } as const
  const paragraphs = (await louis.translate(source)).split('\n')
  return paragraphs.flatMap((paragraph) => wrap(cellsOf(paragraph, dots), width))
}

/**
 * Text of Unicode braille or braille ASCII. Chosen: a line end in braille is a blank between words,
 * unless the next line is set in or empty, which begins a paragraph: what `linesOf` laid out comes
 * back as it was, except that a word it had to cut comes back in two.
 */
export async function textOf(braille: string, table: Table): Promise<string> {
  const lines = patternsOf(braille)
    .split(/\r\n|\r|\n/)
    .map((line) => line.trimEnd())
  if (lines.at(-1) === '') lines.pop()
  const paragraphs: string[] = []
  for (const [i, line] of lines.entries()) {
    const isNew = i === 0 || line === '' || lines[i - 1] === '' || line.startsWith('  ')
    if (isNew) paragraphs.push(line.trimStart())
    else paragraphs[paragraphs.length - 1] += ` ${line.trimStart()}`
  }
  return louis.translate({ table: table.name, direction: 'back', text: paragraphs.join('\n') })
}

/**
 * The text as the tables expect it: composed letters, one space between words, and nothing that
 * leaves no mark on paper. Tables know the three full stops of an ellipsis better than its character.
 */
const readable = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replace(/\p{Default_Ignorable_Code_Point}+/gu, '')
    .replace(/(?:(?!\n)[\s\p{Cc}])+/gu, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replaceAll('…', '...')
    .trimEnd()

/**
 * Chosen: a table of six dots loses the dots 7 and 8 that it puts under the signs of computers,
 * such as @, for which six-dot braille has the same cell without them.
 */
function cellsOf(translated: string, dots: Table['dots']): string {
  return Array.from(translated, (character) => {
    const offset = character.codePointAt(0)! - BLANK_CODE
    if (offset < 0 || offset > 0xff) return BLANK
    return String.fromCharCode(BLANK_CODE + (dots === 6 ? offset & SIX_DOTS : offset))
  }).join('')
}

/**
 * Breaks between words. Chosen: blanks between words are one blank, and a word longer than a line is
 * cut where the line ends.
 */
function wrap(paragraph: string, width: number): string[] {
  const words = paragraph.split(BLANK).filter((word) => word !== '')
  if (words.length === 0) return ['']
  const lines: string[] = []
  let line = INDENT
  for (const [i, word] of words.entries()) {
    let rest = word
    const isFirst = i === 0
    if (!isFirst && line.length + BLANK.length + rest.length <= width) {
      line += BLANK + rest
      continue
    }
    if (!isFirst) {
      lines.push(line)
      line = ''
    }
    while (line.length + rest.length > width) {
      lines.push(line + rest.slice(0, width - line.length))
      rest = rest.slice(width - line.length)
      line = ''
    }
    line += rest
  }
  return [...lines, line]
}

/**
 * Unicode braille with spaces for blanks. Chosen: braille with any braille pattern in it is Unicode
 * braille, all other is braille ASCII.
 */
function patternsOf(braille: string): string {
  const isUnicode = /[\u2800-\u28ff]/.test(braille)
  return Array.from(braille, (character) => {
    if (/[\r\n]/.test(character)) return character
    if (/[\s\u2800]/.test(character)) return ' '
    const cell = isUnicode ? patternOf(character) : cellOfAscii(character)
    if (cell !== undefined) return cell
    const expected = isUnicode ? 'Unicode braille' : 'braille ASCII or Unicode braille'
    throw Invalid(`text must be ${expected}, and ${character} is not.`)
  }).join('')
}

const patternOf = (character: string): string | undefined =>
  /^[\u2800-\u28ff]$/.test(character) ? character : undefined
