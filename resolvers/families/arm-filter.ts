// $filter of management lists: a condition that is read once and asked of each record.
// Specification 3, D, J.
//
// 1. A field is one that the list declares, so that nothing else of a record can be asked about.
// 2. Words are read in any case. A quote inside text is written twice.
// 3. What a record does not have equals null and nothing else, and is neither more nor less.
import { Invalid } from '../kernel/fault.ts'
import { parseWords } from './arm-filter-parse.ts'
import { wordsOf } from './arm-filter-words.ts'

const FILTER_MAX = 2_048

export type FilterValue = string | number | boolean | null

/** A field that a list can be filtered by. */
export interface FilterField<R> {
  /** A moment is text in RFC 3339, compared by time. */
  readonly type: FilterType
  readonly of: (record: R) => FilterValue | undefined
  /** Whether text is compared in any case, as the names of resources are. */
  readonly ignoreCase?: boolean
}

export type FilterType = 'text' | 'number' | 'flag' | 'moment'
export type FilterFields<R> = Readonly<Record<string, FilterField<R>>>

export type Operator = 'eq' | 'ne' | 'gt' | 'ge' | 'lt' | 'le'
export type Call = 'substringof' | 'contains' | 'startswith' | 'endswith'

/** What a filter says, for who wants more than to ask it. Fields are spelled as declared. */
export type Condition =
  | { readonly is: 'and' | 'or'; readonly parts: readonly Condition[] }
  | { readonly is: 'not'; readonly part: Condition }
  | {
      readonly is: 'comparison'
      readonly field: string
      readonly operator: Operator
      readonly value: FilterValue
    }
  | { readonly is: 'call'; readonly call: Call; readonly field: string; readonly value: string }

/**
 * The records that a filter asks for, as a predicate: `state eq 'Enabled'` with a field `state`.
 * Refuses a filter that is not understood, and says at which character.
 */
export function readFilter<R>(filter: string, fields: FilterFields<R>): (record: R) => boolean {
  const condition = parseFilter(filter, fields)
  return (record) => holds(condition, record, fields)
}

/** Reads a filter over declared fields. Refuses as `readFilter` does. */
export function parseFilter(filter: string, fields: FilterFields<any>): Condition {
  if (filter.length > FILTER_MAX) throw refused(`must be at most ${FILTER_MAX} characters`)
  const words = wordsOf(filter, unclear)
  return parseWords(words, { fields, end: filter.length, refuse: unclear })
}

/** Whether a condition holds for a record. */
export function holds<R>(condition: Condition, record: R, fields: FilterFields<R>): boolean {
  switch (condition.is) {
    case 'and':
      return condition.parts.every((part) => holds(part, record, fields))
    case 'or':
      return condition.parts.some((part) => holds(part, record, fields))
    case 'not':
      return !holds(condition.part, record, fields)
    case 'comparison': {
      const field = fields[condition.field]!
      const left = comparable(field, field.of(record) ?? null)
      return COMPARE[condition.operator](left, comparable(field, condition.value))
    }
    case 'call': {
      const field = fields[condition.field]!
      const value = comparable(field, field.of(record) ?? null)
      const sought = String(comparable(field, condition.value))
      return typeof value === 'string' && CALLS[condition.call](value, sought)
    }
  }
}

const CALLS: Record<Call, (value: string, sought: string) => boolean> = {
  substringof: (value, sought) => value.includes(sought),
  contains: (value, sought) => value.includes(sought),
  startswith: (value, sought) => value.startsWith(sought),
  endswith: (value, sought) => value.endsWith(sought),
}

const COMPARE: Record<Operator, (a: FilterValue, b: FilterValue) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: (a, b) => a !== null && b !== null && a > b,
  ge: (a, b) => a !== null && b !== null && a >= b,
  lt: (a, b) => a !== null && b !== null && a < b,
  le: (a, b) => a !== null && b !== null && a <= b,
}

function comparable({ type, ignoreCase }: FilterField<any>, value: FilterValue): FilterValue {
  if (typeof value !== 'string') return value
  if (type === 'moment') return Date.parse(value)
  return ignoreCase ? value.toLowerCase() : value
}

/** Characters are counted from 1, as people count. */
const unclear = (at: number, what: string) => refused(`has at character ${at + 1} ${what}`)

function refused(message: string) {
  const field = { name: '$filter', message }
  return Invalid(`${field.name} ${message}.`, { details: { fields: [field] } })
}
