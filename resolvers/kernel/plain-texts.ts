// Whether what was sent is plainly right, for inputs that are nothing but required texts.
//
// Most reads are of this form, with the parts of a path, and the general check costs more than all
// else that they do. What is not plainly right goes to the general check, which says what is wrong.
import type { z } from 'zod'

type Test = (value: string) => boolean
type Field = readonly [name: string, tests: readonly Test[]]

/** What is sent, reduced to the inputs; undefined if it is not plainly right. */
export type PlainReader = (
  sent: Readonly<Record<string, unknown>>,
) => Record<string, string> | undefined

/** Undefined for inputs of any other form. */
export function plainReaderOf(input: z.ZodRawShape): PlainReader | undefined {
  const fields: Field[] = []
  for (const [name, schema] of Object.entries(input)) {
    const tests = testsOf(schema as z.ZodType)
    if (!tests) return undefined
    fields.push([name, tests])
  }
  return (sent) => {
    const read: Record<string, string> = {}
    for (const [name, tests] of fields) {
      const value = sent[name]
      if (typeof value !== 'string' || !Object.hasOwn(sent, name)) return undefined
      for (const test of tests) if (!test(value)) return undefined
      read[name] = value
    }
    return read
  }
}

function testsOf(schema: z.ZodType): Test[] | undefined {
  const def = schema._zod.def as z.core.$ZodStringDef
  // A text of a format, such as an e-mail address, is checked by the schema itself.
  if (def.type !== 'string' || def.coerce || 'format' in def) return undefined
  const { checks = [] } = def
  const tests = checks.map((check) => testOf(check._zod.def as CheckDef))
  return tests.every((test) => test !== undefined) ? tests : undefined
}

type CheckDef =
  | { check: 'min_length'; minimum: number }
  | { check: 'max_length'; maximum: number }
  | { check: 'string_format'; format: string; pattern?: RegExp }
  | { check: 'custom'; fn?: (value: unknown) => unknown }
  | { check: 'other' }

function testOf(def: CheckDef): Test | undefined {
  switch (def.check) {
    case 'min_length':
      return (value) => value.length >= def.minimum
    case 'max_length':
      return (value) => value.length <= def.maximum
    case 'string_format': {
      const { format, pattern } = def
      // Other formats check more than their pattern, and some patterns remember where they were.
      const isPlain = format === 'regex' && pattern && !pattern.global && !pattern.sticky
      return isPlain ? (value) => pattern.test(value) : undefined
    }
    case 'custom': {
      const { fn } = def
      return fn && ((value) => fn(value) === true)
    }
    default:
      return undefined
  }
}
