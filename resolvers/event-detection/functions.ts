// The functions that expressions can call. Pure.
import { asNumber, asText, isEqual, isScalar } from './values.ts'

export interface BuiltIn {
  readonly takes: number
  /** Gets values, of which any may be undefined. */
  readonly of?: (...values: any[]) => unknown
  /** The one value is the name of such a thing, or a kind of trigger. */
  readonly names?: 'timer' | 'input' | 'trigger'
  /** The first value is a keyword. */
  readonly hasKeyword?: boolean
  /** Whether what it makes is a decimal by the first word it was given. */
  readonly isDecimal?: (word: unknown) => boolean
}

export const KEYWORDS: ReadonlySet<string> = new Set(['String', 'Boolean', 'Decimal'])

const onNumber = (of: (value: number) => number): BuiltIn => ({
  takes: 1,
  of: (value) => (asNumber(value) === undefined ? undefined : of(value)),
})

const onTexts = (of: (one: string, other: string) => boolean): BuiltIn => ({
  takes: 2,
  of: (one, other) =>
    typeof one === 'string' && typeof other === 'string' ? of(one, other) : undefined,
})

const onWholes = (of: (one: number, other: number) => number): BuiltIn => ({
  takes: 2,
  of: (one, other) =>
    Number.isSafeInteger(one) && Number.isSafeInteger(other) ? of(one, other) : undefined,
})

export const FUNCTIONS: Readonly<Record<string, BuiltIn>> = {
  timeout: { takes: 1, names: 'timer' },
  currentInput: { takes: 1, names: 'input' },
  triggerType: { takes: 1, names: 'trigger' },
  isUndefined: { takes: 1, of: (value) => value === undefined },
  convert: {
    takes: 2,
    hasKeyword: true,
    of: convert,
    isDecimal: (word) => word === 'Decimal',
  },
  // Whether the first text holds the second.
  matches: onTexts((one, other) => one.includes(other)),
  startsWith: onTexts((one, other) => one.startsWith(other)),
  endsWith: onTexts((one, other) => one.endsWith(other)),
  contains: {
    takes: 2,
    of: (list, value) =>
      Array.isArray(list) && value !== undefined
        ? list.some((one) => isEqual(one, value))
        : undefined,
  },
  length: {
    takes: 1,
    of: (value) => (typeof value === 'string' || Array.isArray(value) ? value.length : undefined),
  },
  bitor: onWholes((one, other) => one | other),
  bitand: onWholes((one, other) => one & other),
  bitxor: onWholes((one, other) => one ^ other),
  bitlshift: onWholes((one, other) => one << other),
  bitrshift: onWholes((one, other) => one >> other),
  bitnot: {
    takes: 1,
    of: (value) => (Number.isSafeInteger(value) ? ~value : undefined),
  },
  abs: onNumber(Math.abs),
  ceil: onNumber(Math.ceil),
  floor: onNumber(Math.floor),
  round: onNumber(Math.round),
  sqrt: onNumber(Math.sqrt),
}

/** Only between text and the two other types; anything else has no value. */
function convert(to: unknown, value: unknown): unknown {
  switch (to) {
    case 'String':
      return asText(value)
    case 'Boolean':
      if (typeof value === 'boolean') return value
      return value === 'true' ? true : value === 'false' ? false : undefined
    case 'Decimal': {
      if (typeof value === 'number') return value
      const isDecimal =
        isScalar(value) && /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(String(value))
      return isDecimal ? Number(value) : undefined
    }
    default:
      return undefined
  }
}
