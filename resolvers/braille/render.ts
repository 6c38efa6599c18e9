// Lines of cells in the forms that the interface gives. Specification 1, service S4.
import { IMAGE_PATH } from './images.ts'

const BLANK = 0x2800
const SIX_DOTS = 0x3f
const LINE_END = ['\r', '\n']

/** North American braille ASCII: the character at n stands for the cell U+2800 + n. */
const ASCII = ' a1b\'k2l@cif/msp"e3h9o6r^djg>ntq,*5<-u8v.%[$+x!&;:4\\0z7(_?w]#y)='

/** One string. Chosen: dots 7 and 8 are left out, since braille ASCII has six. */
export const displayOf = (lines: readonly string[]): string =>
  lines
    .flatMap((line) => [
      ...Array.from(line, (cell) => ASCII[offsetOf(cell) & SIX_DOTS]),
      ...LINE_END,
    ])
    .join('')

export const dotsOf = (lines: readonly string[]): string[] => entriesOf(lines, dotsOfCell)

export const unicodeOf = (lines: readonly string[]): string[] => entriesOf(lines, (cell) => cell)

export const htmlOf = (lines: readonly string[]): string[] => entriesOf(lines, entityOf)

/** `address` is where the images are served. */
export function imagesOf(lines: readonly string[], address: string): string[] {
  const folder = address.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`) + IMAGE_PATH
  return entriesOf(lines, (cell) => {
    const name = `char 0x${hexOf(cell)} = ${entityOf(cell)}`
    const src = `${folder}/${hexOf(cell).slice(2)}.gif`
    return `<img src='${src}' alt='${name}' title='${name}' class='img-braille-char'>`
  })
}

/** Unicode braille of braille ASCII in either case; undefined for what is no braille ASCII. */
export function cellOfAscii(character: string): string | undefined {
  // Below 0x60 stand the capitals of what stands from 0x60 on: ` and @ are the same cell.
  const code = character.charCodeAt(0)
  const sign = code >= 0x60 && code < 0x7f ? String.fromCharCode(code - 0x20) : character
  const offset = ASCII.indexOf(sign.toLowerCase())
  return offset < 0 ? undefined : String.fromCharCode(BLANK + offset)
}

/** The numbers of the raised dots of a cell, ascending. */
export const raisedDots = (offset: number): number[] =>
  [1, 2, 3, 4, 5, 6, 7, 8].filter((dot) => offset & (1 << (dot - 1)))

/** One entry for each cell, and two for each end of a line. */
const entriesOf = (lines: readonly string[], spell: (cell: string) => string): string[] =>
  lines.flatMap((line) => [...Array.from(line, spell), ...LINE_END])

const offsetOf = (cell: string): number => cell.charCodeAt(0) - BLANK
const hexOf = (cell: string): string => cell.charCodeAt(0).toString(16)
const entityOf = (cell: string): string => `&#x${hexOf(cell)};`
const dotsOfCell = (cell: string): string => raisedDots(offsetOf(cell)).join('') || 'none'
