import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/braille.ts'
import { openForTest } from '../open.ts'

const EXAMPLE = 'Fun Translations has something for everyone.'
const ASKED = `?text=${encodeURIComponent(EXAMPLE)}`

const DISPLAY = '  ,fun ,transl,ns has "s?+ =\r\n"ey"o4\r\n'

const lineOf = (cells: string) => [...cells.split(' '), '\r', '\n']

const DOTS = [
  'none none 6 124 136 1345 none 6 2345 1235 1 1345 234 123 6 1345 234 none ' +
    '125 1 234 none 5 234 1456 346 none 123456',
  '5 15 13456 5 135 256',
].flatMap(lineOf)

const UNICODE = ['⠀ ⠀ ⠠ ⠋ ⠥ ⠝ ⠀ ⠠ ⠞ ⠗ ⠁ ⠝ ⠎ ⠇ ⠠ ⠝ ⠎ ⠀ ⠓ ⠁ ⠎ ⠀ ⠐ ⠎ ⠹ ⠬ ⠀ ⠿', '⠐ ⠑ ⠽ ⠐ ⠕ ⠲'].flatMap(
  lineOf,
)

const HTML_START = ['&#x2800;', '&#x2800;', '&#x2820;', '&#x280b;', '&#x2825;', '&#x281d;']

const IMAGE_OF_F =
  "<img src='http://polygraph.test/img/braille/char/0b.gif' alt='char 0x280b = &#x280b;' " +
  "title='char 0x280b = &#x280b;' class='img-braille-char'>"

const envelope = (destination: string, translated: unknown) => ({
  success: { total: 1 },
  contents: { translated, text: EXAMPLE, translation: { source: 'english', destination } },
})

const FIELDS = 'success { total } contents { translated text translation { source destination } }'

test('the public example is braille ASCII in two lines', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`GET /translate/braille${ASKED}`)

  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toContain('application/json')
  expect(answer.body).toEqual(envelope('braille display', DISPLAY))
})

test('the public example in dots has 38 entries, a line end being two of them', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`GET /translate/braille/dots${ASKED}`)

  expect(DOTS).toHaveLength(38)
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual(envelope('braille dots', DOTS))
})

test('the public example in Unicode has one pattern for each cell', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`GET /translate/braille/unicode${ASKED}`)

  expect(answer.status).toBe(200)
  expect(answer.body).toEqual(envelope('braille unicode', UNICODE))
})

test('the public example in HTML has one entity for each cell', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET /translate/braille/html${ASKED}`)

  expect(status).toBe(200)
  expect(body.contents.translation.destination).toBe('braille html')
  expect(body.contents.translated).toHaveLength(38)
  expect(body.contents.translated.slice(0, 6)).toEqual(HTML_START)
  expect(body.contents.translated.slice(26, 31)).toEqual([
    '&#x2800;',
    '&#x283f;',
    '\r',
    '\n',
    '&#x2810;',
  ])
})

test('the public example in images has one tag for each cell, which points to this service', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET /translate/braille/image${ASKED}`)

  expect(status).toBe(200)
  expect(body.contents.translation.destination).toBe('braille images')
  expect(body.contents.translated).toHaveLength(38)
  expect(body.contents.translated[3]).toBe(IMAGE_OF_F)
  expect(body.contents.translated.slice(28, 30)).toEqual(['\r', '\n'])
})

test('the graph gives the five forms as REST does', async () => {
  const service = await openForTest(subgraph)

  const { data, errors } = await service.graphql(
    `query ($text: String!) {
      braille(text: $text) { ${FIELDS} }
      brailleDots(text: $text) { ${FIELDS} }
      brailleUnicode(text: $text) { ${FIELDS} }
      brailleHtml(text: $text) { ${FIELDS} }
      brailleImages(text: $text) { ${FIELDS} }
    }`,
    { text: EXAMPLE },
  )

  expect(errors).toBeUndefined()
  expect(data.braille).toEqual(envelope('braille display', DISPLAY))
  expect(data.brailleDots).toEqual(envelope('braille dots', DOTS))
  expect(data.brailleUnicode).toEqual(envelope('braille unicode', UNICODE))
  expect(data.brailleHtml.contents.translated.slice(0, 6)).toEqual(HTML_START)
  expect(data.brailleHtml.contents.translation.destination).toBe('braille html')
  expect(data.brailleImages.contents.translated[3]).toBe(IMAGE_OF_F)
  expect(data.brailleImages.contents.translation.destination).toBe('braille images')
})

test.for(['', '/dots', '/unicode', '/html', '/image'])(
  'a caller without a key, or with a wrong one, is refused at /translate/braille%s',
  async (form) => {
    const service = await openForTest(subgraph)
    const request = `GET /translate/braille${form}${ASKED}`
    const wrong = { 'x-vendor-api-secret': 'no such key' }

    const missing = await service.rest(request, undefined, { credential: null })
    const unknown = await service.rest(request, undefined, { credential: null, headers: wrong })

    for (const { status, body } of [missing, unknown]) {
      expect(status).toBe(401)
      expect(body).toEqual({ error: { code: 401, message: 'Unauthorized' } })
    }
  },
)

test('a caller of the graph without a credential is refused', async () => {
  const service = await openForTest(subgraph)

  const { errors } = await service.graphql(
    '{ braille(text: "a") { success { total } } }',
    {},
    { credential: null },
  )

  expect(errors?.[0].extensions).toMatchObject({ code: 'Unauthenticated', status: 401 })
})

test('a text is required', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest('GET /translate/braille')

  expect(status).toBe(400)
  expect(body).toEqual({ error: { code: 400, message: 'text is required.' } })
})

test('a text must not be empty', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest('GET /translate/braille/dots?text=')

  expect(status).toBe(400)
  expect(body).toEqual({ error: { code: 400, message: 'text must not be empty.' } })
})

test('a text of 10000 characters is translated, and one more is refused at both doors', async () => {
  const service = await openForTest(subgraph)
  const query = 'query ($text: String!) { brailleDots(text: $text) { contents { translated } } }'

  const longest = await service.rest(`GET /translate/braille/dots?text=${'x'.repeat(10_000)}`)
  const rest = await service.rest(`GET /translate/braille/dots?text=${'x'.repeat(10_001)}`)
  const graph = await service.graphql(query, { text: 'x'.repeat(10_001) })

  expect(longest.status).toBe(200)
  expect(rest.status).toBe(400)
  expect(rest.body).toEqual({
    error: { code: 400, message: 'text must have at most 10000 characters.' },
  })
  expect(graph.errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})

test('a second text in the query is refused', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest('GET /translate/braille?text=a&text=b')

  expect(status).toBe(400)
  expect(body.error.code).toBe(400)
})

test('a path that nobody documented answers in the same words', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest('GET /translate/klingon?text=a')

  expect(status).toBe(404)
  expect(body).toEqual({
    error: { code: 404, message: 'Nothing is served at /translate/klingon.' },
  })
})

test('the graph translates by another table, in another width, into all forms at once', async () => {
  const service = await openForTest(subgraph)

  const { data, errors } = await service.graphql(`{
    brailleTranslation(text: "Translations of the days", table: "en-ueb-g2.ctb", width: 10) {
      text width lines display dots unicode html images
      table { name displayName language grade dots }
    }
  }`)

  expect(errors).toBeUndefined()
  expect(data.brailleTranslation).toMatchObject({
    text: 'Translations of the days',
    width: 10,
    table: {
      name: 'en-ueb-g2.ctb',
      displayName: 'Unified English Braille Code (Grade 2)',
      language: 'en',
      grade: 2,
      dots: 6,
    },
    lines: ['⠀⠀⠠⠞⠗⠁⠝⠎⠇⠁', '⠰⠝⠎⠀⠷⠀⠮', '⠐⠙⠎'],
    display: '  ,transla\r\n;ns ( !\r\n"ds\r\n',
  })
  expect(data.brailleTranslation.dots).toEqual(
    [
      'none none 6 2345 1235 1 1345 234 123 1',
      '56 1345 234 none 12356 none 2346',
      '5 145 234',
    ].flatMap(lineOf),
  )
  expect(data.brailleTranslation.unicode.slice(-5)).toEqual(['⠐', '⠙', '⠎', '\r', '\n'])
  expect(data.brailleTranslation.html.slice(-4)).toEqual(['&#x2819;', '&#x280e;', '\r', '\n'])
  expect(data.brailleTranslation.images.at(-3)).toContain('/img/braille/char/0e.gif')
})

test('without a table and a width the graph translates as the documented operations do', async () => {
  const service = await openForTest(subgraph)

  const { data } = await service.graphql(
    'query ($text: String!) { brailleTranslation(text: $text) { display width table { name } } }',
    { text: EXAMPLE },
  )

  expect(data.brailleTranslation).toEqual({
    display: DISPLAY,
    width: 32,
    table: { name: 'en-us-g2.ctb' },
  })
})

test.for([
  ['a table that nobody has', 'table: "../package.json"'],
  ['a table that is only a part of others', 'table: "chardefs.cti"'],
  ['a line of 9 cells', 'width: 9'],
  ['a line of 1001 cells', 'width: 1001'],
] as const)('%s is refused', async ([, argument]) => {
  const service = await openForTest(subgraph)

  const { errors } = await service.graphql(
    `{ brailleTranslation(text: "a", ${argument}) { display } }`,
  )

  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})

test('the graph turns braille ASCII and Unicode braille back into text', async () => {
  const service = await openForTest(subgraph)

  const { data, errors } = await service.graphql(
    `query ($ascii: String!, $unicode: String!) {
      ascii: brailleBackTranslation(text: $ascii) { text translated table { name } }
      unicode: brailleBackTranslation(text: $unicode, table: "en-ueb-g2.ctb") { translated }
    }`,
    { ascii: DISPLAY, unicode: '⠠⠞⠗⠁⠝⠎⠇⠁⠰⠝⠎ ⠷ ⠮ ⠐⠙' },
  )

  expect(errors).toBeUndefined()
  expect(data.ascii).toEqual({
    text: DISPLAY,
    translated: EXAMPLE,
    table: { name: 'en-us-g2.ctb' },
  })
  expect(data.unicode).toEqual({ translated: 'Translations of the day' })
})

test('back-translation refuses what is no braille', async () => {
  const service = await openForTest(subgraph)

  const { errors } = await service.graphql(
    '{ brailleBackTranslation(text: "naïve") { translated } }',
  )

  expect(errors?.[0].message).toBe('text must be braille ASCII or Unicode braille, and ï is not.')
  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})

test('two hundred requests at once all get their own answer', async () => {
  const service = await openForTest(subgraph)
  const numbers = Array.from({ length: 200 }, (_, i) => i)

  const answers = await Promise.all(
    numbers.map((i) => service.rest(`GET /translate/braille?text=number${i}`)),
  )

  expect(answers.every(({ status }) => status === 200)).toBe(true)
  expect(answers[0]!.body.contents.translated).toBe('  numb]#j\r\n')
  expect(answers[199]!.body.contents.translated).toBe('  numb]#aii\r\n')
  expect(new Set(answers.map(({ body }) => body.contents.translated)).size).toBe(200)
})

test('the translator can be started before anyone asks', async () => {
  expect(await subgraph.makeReady!()).toBe('⠁')
})
