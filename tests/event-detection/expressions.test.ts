import { describe, expect, test } from 'vitest'
import {
  BadExpression,
  noReferences,
  readExpression,
  readTemplate,
  type Scope,
} from '../../resolvers/event-detection/expressions.ts'

const scope: Scope = {
  inputName: 'reading',
  payload: {
    pressure: 88,
    level: 2.5,
    name: 'north',
    isOpen: true,
    nothing: null,
    list: [3, 5],
    deep: { values: [{ at: 7 }] },
  },
  variables: { count: 3, text: 'a', flag: false },
}

const valueOf = (text: string, of: Scope = scope) => readExpression(text, noReferences())(of)
const refusalOf = (text: string) => {
  try {
    readExpression(text, noReferences())
  } catch (error) {
    if (error instanceof BadExpression) return error.message
    throw error
  }
  return undefined
}

describe('an expression', () => {
  test.each([
    ['1 + 2 * 3', 7],
    ['(1 + 2) * 3', 9],
    ['-2 - -3', 1],
    ["'my' + 'string'", 'mystring'],
    ['"double" + \'single\'', 'doublesingle'],
    ['13 | 5', 13],
    ['13 & 5', 5],
    ['13 ^ 5', 8],
    ['~13', -14],
    ['3 >= 3 && 2 < 1', false],
    ['2 > 1 || 1 > 2', true],
    ['!(1 == 2)', true],
    ["'b' > 'a'", true],
    ['1 != 2', true],
    ['$input.reading.pressure > 80', true],
    ['$input.reading.list[1]', 5],
    ['$input.reading.deep.values[0].at', 7],
    ['$variable.count + 1', 4],
    ['$variable.flag', false],
  ])('%s is %s', (text, value) => {
    expect(valueOf(text)).toBe(value)
  })

  test.each([
    ['7 / 2', 4],
    ['13 / 5', 3],
    ['7.0 / 2', 3.5],
    ['7 / 2.0', 3.5],
    ['$input.reading.level / 2', 1.25],
    ['$variable.count / 2', 2],
    ['convert(Decimal, $variable.count) / 2', 1.5],
    ["convert('Decimal', $variable.count) / 2", 1.5],
    ['($variable.count * 1.0) / 2', 1.5],
    ['-7 / 2.0', -3.5],
  ])('%s divides to %s: whole numbers to a rounded whole number', (text, value) => {
    expect(valueOf(text)).toBe(value)
  })

  test.each([
    ['convert(String, true)', 'true'],
    ['convert(String, 1.5)', '1.5'],
    ["convert(Boolean, 'false')", false],
    ["convert(Decimal, '1.25')", 1.25],
    ["convert('Decimal', '2')", 2],
    ['isUndefined($input.reading.missing)', true],
    ['isUndefined($input.other.pressure)', true],
    ['isUndefined($variable.count)', false],
    ["matches('rolling stone', 'stone')", true],
    ["startsWith('abc', 'b')", false],
    ["endsWith('abc', 'bc')", true],
    ['contains($input.reading.list, 5)', true],
    ['length($input.reading.list)', 2],
    ["length('four')", 4],
    ['bitor(8, 1)', 9],
    ['bitand(13, 5)', 5],
    ['bitxor(13, 5)', 8],
    ['bitlshift(1, 4)', 16],
    ['bitrshift(16, 4)', 1],
    ['bitnot(13)', -14],
    ['abs(-2)', 2],
    ['floor(2.7) + ceil(2.1) + round(2.5)', 8],
    ['sqrt(9)', 3],
    ["currentInput('reading')", true],
    ["currentInput('other')", false],
    ["triggerType('Message')", true],
    ["triggerType('Timer')", false],
    ["timeout('t')", false],
  ])('%s is %s', (text, value) => {
    expect(valueOf(text)).toBe(value)
  })

  test.each([
    '$input.reading.missing',
    '$input.reading.nothing',
    '$input.other.pressure',
    '$variable.none',
    '$input.reading.missing > 3',
    '$input.reading.missing != 3',
    '!$input.reading.missing',
    '$input.reading.missing && true',
    "1 + 'a'",
    "1 < 'a'",
    '1 / 0',
    '2.5 | 1',
    "convert(Decimal, 'abc')",
    "convert(Boolean, 'yes')",
    'sqrt(-1)',
    '$input.reading.constructor',
    '$input.reading.list.length',
    '$variable.toString',
    '$variable.__proto__',
    '$input.reading.name[0]',
  ])('%s has no value', (text) => {
    expect(valueOf(text)).toBeUndefined()
  })

  test('what has no value is false within ||, and false at the end of &&', () => {
    expect(valueOf('$input.reading.missing > 1 || true')).toBe(true)
    expect(valueOf('$input.reading.missing > 1 || false')).toBe(false)
    expect(valueOf('false && $input.reading.missing > 1')).toBe(false)
  })

  test('a text that grows beyond its limit has no value', () => {
    const long = { ...scope, variables: { long: 'x'.repeat(600) } }

    expect(valueOf('$variable.long + $variable.long', long)).toBeUndefined()
  })

  test('a timer that elapsed is seen by its name, and the trigger is a timer', () => {
    const elapsed: Scope = { variables: {}, timerName: 't' }

    expect(valueOf("timeout('t') && triggerType('Timer')", elapsed)).toBe(true)
    expect(valueOf("timeout('other')", elapsed)).toBe(false)
    expect(valueOf('isUndefined($input.reading.pressure)', elapsed)).toBe(true)
  })

  test.each([
    ['', 'is empty'],
    ['1 +', 'cannot be read'],
    ['1 2', 'more than one expression'],
    ['pressure > 1', 'names pressure'],
    ['$output.x', 'names $output'],
    ['$input.reading', 'names no attribute of $input.reading'],
    ['$variable.a.b', 'reads within $variable.a'],
    ['$input.reading[$variable.count]', 'between brackets'],
    ['constructor("return 1")()', 'calls something'],
    ['$input.reading.toString()', 'calls something'],
    ['process.exit()', 'calls something'],
    ['eval("1")', 'calls eval'],
    ['abs(1, 2)', 'calls abs with 2 values'],
    ['timeout($variable.x)', 'without a name in quotes'],
    ["triggerType('Never')", 'neither Message nor Timer'],
    ['convert(Number, 1)', 'converts to Number'],
    ['this', 'ThisExpression'],
    ['true ? 1 : 2', 'ConditionalExpression'],
    ['[1]', 'ArrayExpression'],
    ['null', 'holds null'],
    ['1 % 2', 'operator %'],
    ['1 === 1', 'operator ==='],
    ['+1', 'operator +'],
    [`'${'x'.repeat(600)}'`, 'longer than 512'],
  ])('%s is refused', (text, why) => {
    expect(refusalOf(text)).toContain(why)
  })

  test('it says what it refers to', () => {
    const refers = noReferences()

    readExpression(
      "$input.a.x.y[0] > $variable.v && (timeout('t') || currentInput('b')) && $input.a.z",
      refers,
    )

    expect([...refers.inputs]).toEqual(['a', 'b'])
    expect([...refers.attributes.get('a')!]).toEqual(['x.y[0]', 'z'])
    expect([...refers.variables]).toEqual(['v'])
    expect([...refers.timers]).toEqual(['t'])
  })
})

test('a template fills in values, and says so where there is none', () => {
  const text = 'Pump ${$input.reading.name} is at ${$input.reading.pressure}, ${$variable.none}.'

  expect(readTemplate(text, noReferences())(scope)).toBe('Pump north is at 88, unknown.')
})
