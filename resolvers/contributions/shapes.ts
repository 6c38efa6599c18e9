// The words in which this interface says what it takes. Specification 1, service S2.
import { z } from 'zod'
import { optional, text, whole } from '../kernel/shape.ts'
import { invalidField } from './errors.ts'

const PAGE_SIZE_DEFAULT = 25
const PAGE_SIZE_MAX = 100
const PAGE_MAX = 1_000_000
const ID_CHARS_MAX = 200
const LINE_CHARS_MAX = 500
const WORDS_CHARS_MAX = 100
const ADDRESS_CHARS_MAX = 2_048

/** An id, or what else names one thing. */
export const id = text.min(1).max(ID_CHARS_MAX)

/** One line of text: a name, a heading. */
export const line = text.trim().min(1).max(LINE_CHARS_MAX)

/** Words in an address: `spring-floods`. */
export const urlWords = text
  .max(WORDS_CHARS_MAX)
  .regex(
    /^[\p{Ll}\p{Lo}\p{N}]+(-[\p{Ll}\p{Lo}\p{N}]+)*$/u,
    'must be words in small letters, joined by hyphens',
  )

/** An address on the web, without a name and a password in it. */
export const webAddress = text.max(ADDRESS_CHARS_MAX).refine((sent) => {
  const url = URL.parse(sent)
  return url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
}, 'must be an http or https address without a user name')

/** Another record; its other fields may be sent along and say nothing. */
export const reference = z.object({ id })

/** A number; a query string spells it in digits. */
export const decimal = z
  .preprocess(
    (value) =>
      typeof value === 'string' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value) ? Number(value) : value,
    z.number(),
  )
  .meta({ type: 'number' })

/** A moment with its zone. The graph reads it before we do. */
export const moment = z
  .preprocess(
    (value) => (value instanceof Date ? value.toISOString() : value),
    z.iso.datetime({ offset: true }),
  )
  .transform((value) => new Date(value).toISOString())
  .meta({ type: 'string', format: 'date-time' })

/** Pages are numbered from 1. */
export const pages = {
  page: optional(whole.pipe(z.int().min(1).max(PAGE_MAX))),
  pageSize: optional(whole.pipe(z.int().min(1).max(PAGE_SIZE_MAX))),
}

export interface Pages {
  readonly page: number | undefined
  readonly pageSize: number | undefined
}

export interface Slice {
  readonly offset: number
  readonly limit: number
}

export const sliceOf = ({ page = 1, pageSize = PAGE_SIZE_DEFAULT }: Pages): Slice => ({
  offset: (page - 1) * pageSize,
  limit: pageSize,
})

/** A page of a list, and how many there are on all pages, unless that takes too long to count. */
export interface Listed<T> {
  readonly items: readonly T[]
  readonly total?: number
}

/** The header fields of a list. */
export const totalHeader = ({ total }: Listed<unknown>): Record<string, string> =>
  total === undefined ? {} : { 'x-total-count': String(total) }

/** Words in an address, made of a name. */
export function urlWordsOf(name: string): string {
  const words = name.toLowerCase().match(/[\p{Ll}\p{Lo}\p{N}]+/gu) ?? []
  return [...words.join('-')].slice(0, WORDS_CHARS_MAX).join('').replace(/-$/, '')
}

/** The parts of a list that is written with commas. */
export function commaList(name: string, sent: string, max: number): string[] {
  const parts = sent.split(',').map((part) => part.trim())
  const wanted = [...new Set(parts.filter((part) => part !== ''))]
  if (wanted.length > max) throw invalidField(name, `holds at most ${max} values`)
  return wanted
}
