import { expect, test } from 'vitest'
import { linesOf, TABLE_DEFAULT, textOf } from '../../resolvers/braille/cells.ts'
import { displayOf } from '../../resolvers/braille/render.ts'
import { tableNamed } from '../../resolvers/braille/tables.ts'

const display = async (text: string, width = 32) =>
  displayOf(await linesOf(text, { table: TABLE_DEFAULT, width }))

test('a line of the text begins a paragraph, and an empty line stays', async () => {
  expect(await display('the first \r\n\tline\n \nthe last\n')).toBe(
    '  ! f/\r\n  l9e\r\n\r\n  ! la/\r\n',
  )
})

test('tabs and runs of spaces are one blank', async () => {
  expect(await display('  good \t\u2003 morning  ')).toBe('  gd morn+\r\n')
})

test('a text of spaces alone is an empty line', async () => {
  expect(await display(' \t ')).toBe('\r\n')
})

test('a word longer than a line is cut where the line ends', async () => {
  expect(await display('xxxxxxxxxxxxxxx dog', 10)).toBe('  xxxxxxxx\r\nxxxxxxx\r\ndog\r\n')
})

test('no line is longer than the width', async () => {
  const lines = await linesOf('It was the best of times, it was the worst of times. '.repeat(40), {
    table: TABLE_DEFAULT,
    width: 28,
  })

  expect(lines.length).toBeGreaterThan(10)
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(28)
})

test('a character that the table does not know is spelled by its code point', async () => {
  expect(await display('a 😀 b')).toBe("  a '\\y1f600' ;b\r\n")
  expect(await display('你')).toBe("  '\\x4f60'\r\n")
})

test('marks that leave nothing on paper leave nothing in braille', async () => {
  expect(await display('so\u00adme\u200dthing\ufe0f')).toBe('  "s?+\r\n')
})

test('an accent is the same composed or not, and half a character breaks nothing', async () => {
  expect(await display('cafe\u0301')).toBe(await display('caf\u00e9'))
  expect(await display('a \ud83d')).toMatch(/^ {2}a /)
})

test('capitals, numbers and computer signs have the signs of the American code', async () => {
  expect(await display('USA 1984')).toBe('  ,,usa #aihd\r\n')
  expect(await display('me@x.org')).toBe('  _+me@x.org_:\r\n')
})

test('the usual table is one of the listed ones', async () => {
  expect(await tableNamed('en-us-g2.ctb')).toEqual(TABLE_DEFAULT)
})

test('a table of eight dots keeps the dots 7 and 8', async () => {
  const table = await tableNamed('en-us-comp8.ctb')

  expect(await linesOf('Aa', { table, width: 32 })).toEqual(['⠀⠀⡁⠁'])
})

test('a hostile text of 10000 characters ends', async () => {
  const lines = await linesOf('😀'.repeat(5_000), { table: TABLE_DEFAULT, width: 32 })
  const breaks = await linesOf('a\n'.repeat(5_000), { table: TABLE_DEFAULT, width: 32 })

  const blanks = await textOf(`${' '.repeat(9_999)}a`, TABLE_DEFAULT)

  expect(lines.join('')).toHaveLength(2 + 45_000)
  expect(breaks).toHaveLength(5_000)
  expect(blanks).toBe('a')
})

test.for([
  'Fun Translations has something for everyone.',
  'The quick brown fox jumps over the lazy dog, and 42 children know it.',
  'First paragraph.\nSecond paragraph, which is long enough to be wrapped twice at least.\n\nThird.',
])('what was laid out comes back as it was: %s', async (text) => {
  const lines = await linesOf(text, { table: TABLE_DEFAULT, width: 32 })

  expect(await textOf(lines.join('\r\n'), TABLE_DEFAULT)).toBe(text)
  expect(await textOf(displayOf(lines), TABLE_DEFAULT)).toBe(text)
})

test('braille ASCII comes back in either case', async () => {
  expect(await textOf(',HELLO ,WORLD6', TABLE_DEFAULT)).toBe('Hello World!')
  expect(await textOf(',hello ,world6', TABLE_DEFAULT)).toBe('Hello World!')
})

test.for([
  ['en-ueb-g1.ctb', 'The children know 42 things.'],
  ['fr-bfu-comp6.utb', 'bonjour madame'],
  ['es.tbl', 'buenos días'],
  ['ru.tbl', 'привет мир'],
] as const)('%s translates there and back', async ([name, text]) => {
  const table = await tableNamed(name)

  const lines = await linesOf(text, { table, width: 40 })

  expect(await textOf(lines.join('\n'), table)).toBe(text)
})
