// The operators of expressions that take two values. Pure.
import { bounded, isEqual } from './values.ts'

type Combine = (one: unknown, other: unknown) => unknown

const onNumbers =
  (combine: (one: number, other: number) => unknown): Combine =>
  (one, other) =>
    typeof one === 'number' && typeof other === 'number' ? bounded(combine(one, other)) : undefined

const onWholes =
  (combine: (one: number, other: number) => number): Combine =>
  (one, other) =>
    Number.isSafeInteger(one) && Number.isSafeInteger(other)
      ? combine(one as number, other as number)
      : undefined

/** Numbers by value, texts by their letters. */
const ordering =
  (isSo: (one: any, other: any) => boolean): Combine =>
  (one, other) =>
    typeof one === typeof other && (typeof one === 'number' || typeof one === 'string')
      ? isSo(one, other)
      : undefined

export const OPERATORS: ReadonlyMap<string, Combine> = new Map<string, Combine>([
  [
    '+',
    (one, other) =>
      typeof one === 'string' && typeof other === 'string'
        ? bounded(one + other)
        : onNumbers((a, b) => a + b)(one, other),
  ],
  ['-', onNumbers((a, b) => a - b)],
  ['*', onNumbers((a, b) => a * b)],
  ['|', onWholes((a, b) => a | b)],
  ['&', onWholes((a, b) => a & b)],
  ['^', onWholes((a, b) => a ^ b)],
  ['<', ordering((a, b) => a < b)],
  ['<=', ordering((a, b) => a <= b)],
  ['>', ordering((a, b) => a > b)],
  ['>=', ordering((a, b) => a >= b)],
  ['==', isEqual],
  ['!=', (one, other) => !isEqual(one, other)],
])

/**
 * Whole numbers divide to a rounded whole number, unless one of them is a decimal.
 * Chosen: 20.0 in a message is the whole number 20, since JSON does not tell them apart.
 */
export const divider = (isDecimal: boolean): Combine =>
  onNumbers((one, other) => {
    const isWhole = !isDecimal && Number.isInteger(one) && Number.isInteger(other)
    return isWhole ? Math.round(one / other) : one / other
  })
