// What inputs of the podcast directory are made of. Specification 1, service S5.
import { text, whole } from '../kernel/shape.ts'
import { BadRequest } from './errors.ts'

const QUERY_CHARS_MAX = 300
const LIST_MAX = 100
const PAGE_MAX = 1_000

/** Chosen: flags other than 0 and 1 are refused, as the limits of the specification say. */
export const bit = whole.refine((value) => value === 0 || value === 1, 'must be 0 or 1')

export const count = whole.refine((value) => value >= 0, 'must not be negative')

export const page = whole.refine(
  (value) => value >= 1 && value <= PAGE_MAX,
  `must be between 1 and ${PAGE_MAX}`,
)

/** What is searched for. Nothing but spaces is nothing. */
export const searched = text
  .max(QUERY_CHARS_MAX)
  .refine((value) => value.trim() !== '', 'is required')

/** A comma list, without empty parts and each part once. */
export function listOf(name: string, sent: string | undefined, max = LIST_MAX): string[] {
  if (sent === undefined) return []
  const parts = [...new Set(sent.split(',').map((part) => part.trim()))].filter(Boolean)
  if (parts.length > max) throw BadRequest(`${name} names ${parts.length}; ${max} is the most.`)
  return parts
}

/** A comma list of whole numbers. */
export function numbersOf(name: string, sent: string | undefined, max?: number): number[] {
  return listOf(name, sent, max).map((part) => {
    if (/^\d{1,15}$/.test(part)) return Number(part)
    throw BadRequest(`${name} must be whole numbers with commas between them, and not ${part}.`)
  })
}

/** The fields around a page that is named by a number. */
export function pageEnvelope(page: number, hasNext: boolean) {
  return {
    has_next: hasNext,
    has_previous: page > 1,
    page_number: page,
    next_page_number: page + 1,
    previous_page_number: page - 1,
  }
}
