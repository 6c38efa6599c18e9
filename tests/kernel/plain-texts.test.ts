// The short way through the check of inputs, held against the long one.
import { expect, test } from 'vitest'
import { z } from 'zod'
import { plainReaderOf } from '../../resolvers/kernel/plain-texts.ts'
import { optional, text, whole } from '../../resolvers/kernel/shape.ts'

const name = text.regex(/^[a-z]{2,4}$/, 'must be a name')
const shapes: Record<string, z.ZodRawShape> = {
  nothing: {},
  one: { a: text },
  two: { a: name, b: text.min(1).max(3) },
}
const VALUES = ['', 'ab', 'abcd', 'abcde', 'AB', 'a\0', 'ab\n', 1, null, undefined, ['ab'], {}]

test.each(Object.keys(shapes))('%s is read as the long way reads it, or left to it', (shape) => {
  const input = shapes[shape]!
  const reader = plainReaderOf(input)!
  let taken = 0
  for (const a of VALUES) {
    for (const b of VALUES) {
      const sent = { a, b, other: 'x' }
      const short = reader(sent)
      const long = z.object(input).safeParse(sent)
      expect([short !== undefined, short ?? null]).toEqual([long.success, long.data ?? null])
      if (short) taken += 1
    }
  }
  expect(taken).toBeGreaterThan(0)
})

test('what is inherited was not sent', () => {
  expect(plainReaderOf({ toString: text })!({})).toBeUndefined()
})

test.each([
  ['a number', { a: whole }],
  ['what may be left out', { a: optional(text) }],
  ['text that is changed on the way', { a: z.string().trim() }],
  ['text in a format of its own', { a: z.email() }],
  ['what becomes text', { a: z.coerce.string() }],
  ['a pattern that remembers', { a: z.string().regex(/a/g) }],
  ['a check of another kind', { a: z.string().superRefine(() => {}) }],
])('%s goes the long way', (_what, input) => {
  expect(plainReaderOf(input)).toBeUndefined()
})
