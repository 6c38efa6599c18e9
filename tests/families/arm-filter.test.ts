// $filter of management lists: what is read, what is refused, what it selects.
import { expect, test } from 'vitest'
import { Fault } from '../../resolvers/kernel/fault.ts'
import { parseFilter, readFilter, type FilterFields } from '../../resolvers/families/arm-filter.ts'

interface Job {
  name: string
  state?: string
  runs?: number
  isPaused?: boolean
  due?: string
}

const FIELDS: FilterFields<Job> = {
  name: { type: 'text', of: ({ name }) => name, ignoreCase: true },
  state: { type: 'text', of: ({ state }) => state },
  'properties/runs': { type: 'number', of: ({ runs }) => runs },
  isPaused: { type: 'flag', of: ({ isPaused }) => isPaused },
  due: { type: 'moment', of: ({ due }) => due },
}

const JOBS: Job[] = [
  { name: 'Alpha', state: 'Enabled', runs: 1, isPaused: false, due: '2030-01-01T00:00:00Z' },
  { name: 'beta', state: 'Disabled', runs: 20, isPaused: true, due: '2030-06-01T00:00:00+02:00' },
  { name: 'Gamma', state: 'Enabled', runs: 3.5 },
  { name: "d'elta" },
]

const chosen = (filter: string) =>
  JOBS.filter(readFilter(filter, FIELDS))
    .map(({ name }) => name)
    .join(' ')

test.each([
  ["name eq 'alpha'", 'Alpha'],
  ["name ne 'ALPHA'", "beta Gamma d'elta"],
  ["name gt 'b'", "beta Gamma d'elta"],
  ["name ge 'BETA'", "beta Gamma d'elta"],
  ["name lt 'b'", 'Alpha'],
  ["name le 'beta'", 'Alpha beta'],
  ["'beta' gt name", 'Alpha'],
  ["'beta' le name", "beta Gamma d'elta"],
  ["substringof('ET', name)", 'beta'],
  ["contains(name,'m')", 'Gamma'],
  ["startswith(name, 'a')", 'Alpha'],
  ["endswith(name,'TA')", "beta d'elta"],
  ["startswith(name,'')", "Alpha beta Gamma d'elta"],
  ["substringof('a',name) eq true", "Alpha beta Gamma d'elta"],
  ["contains(name,'l') eq false", 'beta Gamma'],
  ["contains(name,'l') ne true", 'beta Gamma'],
  ["state eq 'Enabled'", 'Alpha Gamma'],
  ["state eq 'enabled'", ''],
  ["state ne 'Enabled'", "beta d'elta"],
  ["state gt ''", 'Alpha beta Gamma'],
  ['state eq null', "d'elta"],
  ['null ne state', 'Alpha beta Gamma'],
  ['state gt null', ''],
  ["name eq 'd''elta'", "d'elta"],
  ['properties/runs gt 3', 'beta Gamma'],
  ['properties/runs le 3.5', 'Alpha Gamma'],
  ['-1 lt properties/runs', 'Alpha beta Gamma'],
  ['isPaused eq true', 'beta'],
  ['false eq isPaused', 'Alpha'],
  ['due gt 2030-05-31T21:59:59Z', 'beta'],
  ["due eq datetime'2030-05-31T22:00:00Z'", 'beta'],
  ["due lt '2030-02-01'", 'Alpha'],
])('%s selects: %s', (filter, names) => {
  expect(chosen(filter)).toBe(names)
})

test.each([
  ["state eq 'Enabled' and name eq 'gamma'", 'Gamma'],
  ["name eq 'alpha' or name eq 'beta'", 'Alpha beta'],
  // and binds closer than or.
  ["name eq 'beta' or state eq 'Enabled' and properties/runs gt 3", 'beta Gamma'],
  ["(name eq 'beta' or state eq 'Enabled') and properties/runs gt 3", 'beta Gamma'],
  ["(name eq 'alpha' or name eq 'beta') and state eq 'Disabled'", 'beta'],
  ["name eq 'alpha' or (name eq 'beta' and state eq 'Enabled')", 'Alpha'],
  // not binds closest.
  ["not name eq 'alpha' and state eq 'Enabled'", 'Gamma'],
  ["not (name eq 'alpha' and state eq 'Enabled')", "beta Gamma d'elta"],
  ["not not contains(name,'bet')", 'beta'],
  ["  NAME  EQ  'alpha'\tOR StartsWith( Name , 'be' ) ", 'Alpha beta'],
])('%s selects: %s', (filter, names) => {
  expect(chosen(filter)).toBe(names)
})

test.each([
  ['', 1, 'its end where a field (name, state, properties/runs, isPaused, due) is expected'],
  ['name', 5, 'its end where one of eq, ne, gt, ge, lt and le is expected'],
  ['name is 1', 6, 'is where one of eq, ne, gt, ge, lt and le is expected'],
  ['name eq', 8, 'its end where text in quotes is expected'],
  ['name eq alpha', 9, 'alpha where text in quotes is expected'],
  ['name eq 5', 9, '5 where text in quotes is expected'],
  ['5 eq name', 1, '5 where text in quotes is expected'],
  ['name eq state', 9, 'state where text in quotes is expected'],
  ["properties/runs eq '5'", 20, "'5' where a number is expected"],
  ["isPaused eq 'true'", 13, "'true' where true or false is expected"],
  ["due gt 'soon'", 8, "'soon' where a moment such as 2030-01-01T00:00:00Z is expected"],
  [
    "size eq 'x'",
    1,
    'size where a field (name, state, properties/runs, isPaused, due) is expected',
  ],
  [
    "constructor eq 'x'",
    1,
    'constructor where a field (name, state, properties/runs, isPaused, due) is expected',
  ],
  ["name constructor 'x'", 6, 'constructor where one of eq, ne, gt, ge, lt and le is expected'],
  ["name eq 'x' name eq 'y'", 13, "name where the end, 'and' or 'or' is expected"],
  [
    "name eq 'x' and",
    16,
    'its end where a field (name, state, properties/runs, isPaused, due) is expected',
  ],
  ["(name eq 'x'", 13, "its end where ')' is expected"],
  ["name eq 'x')", 12, ") where the end, 'and' or 'or' is expected"],
  ["contains('x', name)", 10, "'x' where a field (name, state) is expected"],
  ["substringof(name, 'x')", 13, 'name where text in quotes is expected'],
  ["contains(properties/runs, 'x')", 10, 'properties/runs where a field (name, state) is expected'],
  ["contains(name 'x')", 15, "'x' where ',' is expected"],
  ["contains(name, 'x'", 19, "its end where ')' is expected"],
  ["contains(name, 'x') eq 1", 24, '1 where true or false is expected'],
  ["name eq 'x", 9, 'something that is no word, mark, number or quoted text'],
  ['name = 1', 6, 'something that is no word, mark, number or quoted text'],
  ['name eq 1a', 9, 'something that is no word, mark, number or quoted text'],
])('%s is refused at character %i', (filter, at, what) => {
  const refusal = refusalOf(filter)

  expect(refusal.status).toBe(400)
  expect(refusal.message).toBe(`$filter has at character ${at} ${what}.`)
  expect(refusal.details.fields).toEqual([
    { name: '$filter', message: `has at character ${at} ${what}` },
  ])
})

test('a filter has at most 16 levels', () => {
  const nested = (levels: number) => `${'('.repeat(levels)}name eq 'alpha'${')'.repeat(levels)}`

  expect(chosen(nested(15))).toBe('Alpha')
  expect(refusalOf(nested(16)).message).toBe('$filter has at character 17 more than 16 levels.')
  expect(refusalOf('not '.repeat(400)).message).toBe(
    '$filter has at character 65 more than 16 levels.',
  )
})

test('a filter has at most 2048 characters', () => {
  const long = (length: number) => `name eq '${'x'.repeat(length - 10)}'`

  expect(chosen(long(2048))).toBe('')
  expect(refusalOf(long(2049)).message).toBe('$filter must be at most 2048 characters.')
})

test('many conditions side by side are no depth', () => {
  const filter = Array.from({ length: 100 }, () => "name eq 'beta'").join(' or ')

  expect(chosen(filter)).toBe('beta')
})

test('a filter can be read as a condition, with fields spelled as declared', () => {
  const condition = parseFilter("not (NAME eq 'a' and startswith(state,'E'))", FIELDS)

  expect(condition).toEqual({
    is: 'not',
    part: {
      is: 'and',
      parts: [
        { is: 'comparison', field: 'name', operator: 'eq', value: 'a' },
        { is: 'call', call: 'startswith', field: 'state', value: 'E' },
      ],
    },
  })
})

function refusalOf(filter: string): Fault {
  try {
    readFilter(filter, FIELDS)
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
  throw new Error(`${filter} was accepted`)
}
