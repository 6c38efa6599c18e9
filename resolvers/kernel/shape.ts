// The words that inputs are written in. They read a query string and a GraphQL argument alike.
import { z } from 'zod'

const TEXT_MAX = 64 * 1024

/** Text without the null character, which PostgreSQL cannot store. */
export const text = z
  .string()
  .max(TEXT_MAX)
  .refine((value) => !value.includes('\0'), 'must not contain the null character')

/** A whole number; a query string spells it in digits. */
export const whole = z
  .preprocess(
    (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : value),
    z.int(),
  )
  .meta({ type: 'integer' })

/** true or false; a query string spells it as a word. */
export const flag = z
  .preprocess((value) => (value === 'true' ? true : value === 'false' ? false : value), z.boolean())
  .meta({ type: 'boolean' })

/** An object whose fields the specification does not show. */
export const json = z.record(z.string(), z.unknown())

/** An object of text values. */
export const tags = z.record(text, text)

/** May be left out. GraphQL spells "left out" as null, so null is the same. */
export const optional = <T extends z.ZodType>(of: T) =>
  of.nullish().transform((value) => value ?? undefined) as z.ZodType<
    z.output<T> | undefined,
    z.input<T> | null | undefined
  >

export const oneOf = <const T extends readonly [string, ...string[]]>(values: T) => z.enum(values)
