// How a $filter is read, word after word, into a condition. Specification 3, D, J.
//
//   condition   either ('or' either)*
//   either      term ('and' term)*
//   term        'not' term | '(' condition ')' | comparison | call (('eq' | 'ne') ('true' | 'false'))?
//   comparison  field operator value | value operator field
//   call        substringof('x', field) | contains(field, 'x')
//               | startswith(field, 'x') | endswith(field, 'x')
import type {
  Call,
  Condition,
  FilterFields,
  FilterType,
  FilterValue,
  Operator,
} from './arm-filter.ts'
import type { Word } from './arm-filter-words.ts'

const DEPTH_MAX = 16

interface Place {
  readonly fields: FilterFields<any>
  /** Where the filter ends. */
  readonly end: number
  /** Makes the refusal of what is found at a place. */
  readonly refuse: (at: number, what: string) => Error
}

/** What is being read, and the next word of it. */
interface Reading extends Place {
  readonly words: readonly Word[]
  readonly spellings: ReadonlyMap<string, string>
  next: number
}

/** Reads all the words. Throws what `refuse` makes of the first that does not fit. */
export function parseWords(words: readonly Word[], place: Place): Condition {
  const names = Object.keys(place.fields)
  const spellings = new Map(names.map((name) => [name.toLowerCase(), name]))
  const reading: Reading = { ...place, words, spellings, next: 0 }
  const whole = condition(reading, 1)
  if (reading.next < words.length) throw expected(reading, "the end, 'and' or 'or'")
  return whole
}

function condition(reading: Reading, depth: number): Condition {
  return joined(reading, 'or', () => joined(reading, 'and', () => term(reading, depth)))
}

function joined(reading: Reading, is: 'and' | 'or', part: () => Condition): Condition {
  const parts = [part()]
  while (take(reading, is)) parts.push(part())
  return parts.length === 1 ? parts[0]! : { is, parts }
}

function term(reading: Reading, depth: number): Condition {
  if (depth > DEPTH_MAX) {
    throw reading.refuse(atNext(reading), `more than ${DEPTH_MAX} levels`)
  }
  if (take(reading, 'not')) return { is: 'not', part: term(reading, depth + 1) }
  if (take(reading, '(')) {
    const inner = condition(reading, depth + 1)
    need(reading, ')')
    return inner
  }
  const isCall = Object.keys(IS_TEXT_FIRST).some((name) => isNext(reading, name))
  return isCall ? call(reading) : comparison(reading)
}

/** Which functions take the text before the field. */
const IS_TEXT_FIRST: Record<Call, boolean> = {
  substringof: true,
  contains: false,
  startswith: false,
  endswith: false,
}

function call(reading: Reading): Condition {
  const name = reading.words[reading.next]!.value as Call
  reading.next += 1
  need(reading, '(')
  const before = IS_TEXT_FIRST[name] ? value(reading, 'text') : undefined
  if (before !== undefined) need(reading, ',')
  const of = field(reading, 'text')
  if (before === undefined) need(reading, ',')
  const sought = before ?? value(reading, 'text')
  need(reading, ')')
  return truth(reading, { is: 'call', call: name, field: of, value: sought as string })
}

/** A call may be compared with what it is: `substringof('x', name) eq true`. */
function truth(reading: Reading, called: Condition): Condition {
  const isEqual = take(reading, 'eq')
  if (!isEqual && !take(reading, 'ne')) return called
  return value(reading, 'flag') === isEqual ? called : { is: 'not', part: called }
}

function comparison(reading: Reading): Condition {
  if (!isValue(reading.words[reading.next])) {
    const of = field(reading)
    const sign = operator(reading)
    return { is: 'comparison', field: of, operator: sign, value: fitting(reading, of) }
  }
  // The value comes first, and only the field after it tells which type it must have.
  const start = reading.next
  reading.next += 1
  const sign = MIRRORED[operator(reading)]
  const of = field(reading)
  const end = reading.next
  reading.next = start
  const fits = fitting(reading, of)
  reading.next = end
  return { is: 'comparison', field: of, operator: sign, value: fits }
}

/** What an operator becomes when its sides are exchanged. */
const MIRRORED: Record<Operator, Operator> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
}

function operator(reading: Reading): Operator {
  const word = reading.words[reading.next]
  if (word?.kind !== 'word' || !Object.hasOwn(MIRRORED, word.value)) {
    throw expected(reading, 'one of eq, ne, gt, ge, lt and le')
  }
  reading.next += 1
  return word.value as Operator
}

function field(reading: Reading, type?: FilterType): string {
  const word = reading.words[reading.next]
  const name = word?.kind === 'word' ? reading.spellings.get(String(word.value)) : undefined
  const offered = Object.keys(reading.fields).filter(
    (name) => type === undefined || reading.fields[name]!.type === type,
  )
  if (name === undefined || !offered.includes(name)) {
    throw expected(reading, `a field (${offered.join(', ')})`)
  }
  reading.next += 1
  return name
}

/** A value of the type that the field has, or null. */
function fitting(reading: Reading, name: string): FilterValue {
  const isNull = take(reading, 'null')
  return isNull ? null : value(reading, reading.fields[name]!.type)
}

function value(reading: Reading, type: FilterType): FilterValue {
  const word = reading.words[reading.next]
  const found = word?.kind === 'word' ? NAMED.get(word.value) : word?.value
  const isFitting = word?.kind !== 'mark' && found != null && FITS[type](found)
  if (!isFitting) throw expected(reading, WANTED[type])
  reading.next += 1
  return found
}

const NAMED: ReadonlyMap<unknown, FilterValue> = new Map<string, FilterValue>([
  ['true', true],
  ['false', false],
  ['null', null],
])

const isValue = (word: Word | undefined): boolean =>
  word?.kind === 'value' || (word?.kind === 'word' && NAMED.has(word.value))

const FITS: Record<FilterType, (value: unknown) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  flag: (value) => typeof value === 'boolean',
  moment: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
}

const WANTED: Record<FilterType, string> = {
  text: 'text in quotes',
  number: 'a number',
  flag: 'true or false',
  moment: 'a moment such as 2030-01-01T00:00:00Z',
}

function isNext({ words, next }: Reading, expected: string): boolean {
  return words[next]?.kind !== 'value' && words[next]?.value === expected
}

function take(reading: Reading, expected: string): boolean {
  if (!isNext(reading, expected)) return false
  reading.next += 1
  return true
}

function need(reading: Reading, mark: string): void {
  if (!take(reading, mark)) throw expected(reading, `'${mark}'`)
}

const atNext = ({ words, next, end }: Reading): number => words[next]?.at ?? end

function expected(reading: Reading, what: string): Error {
  const found = reading.words[reading.next]?.text ?? 'its end'
  return reading.refuse(atNext(reading), `${found} where ${what} is expected`)
}
