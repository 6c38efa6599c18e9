// The values that expressions have: numbers, texts and booleans. Pure.

export type Scalar = number | string | boolean

export const TEXT_LENGTH_MAX = 1024

export const isScalar = (value: unknown): value is Scalar =>
  (typeof value === 'number' && Number.isFinite(value)) ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && value.length <= TEXT_LENGTH_MAX)

/** A result that is infinite or too long is none. */
export const bounded = (value: unknown): unknown =>
  value === undefined || typeof value === 'object' || isScalar(value) ? value : undefined

export const asNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined

export const asFlag = (value: unknown): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined

export const asText = (value: unknown): string | undefined =>
  isScalar(value) ? String(value) : undefined

/** Values of different types are never equal. */
export const isEqual = (one: unknown, other: unknown): boolean => one === other
