// Translation of text into braille, in five forms. Specification 1, service S4.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { linesOf, TABLE_DEFAULT, textOf, WIDTH_DEFAULT } from './cells.ts'
import { displayOf, dotsOf, htmlOf, imagesOf, unicodeOf } from './render.ts'
import { tableNamed, type Table } from './tables.ts'

const TEXT_MAX = 10_000
const WIDTH_MIN = 10
const WIDTH_MAX = 1_000

const source = text
  .min(1, 'must not be empty')
  .max(TEXT_MAX, `must have at most ${TEXT_MAX} characters`)

const width = whole.pipe(
  z
    .number()
    .min(WIDTH_MIN, `must be at least ${WIDTH_MIN}`)
    .max(WIDTH_MAX, `must be at most ${WIDTH_MAX}`),
)

const envelope = (translated: z.ZodType) =>
  z.object({
    success: z.object({ total: z.int() }),
    contents: z.object({
      translated,
      text: z.string(),
      translation: z.object({ source: z.string(), destination: z.string() }),
    }),
  })

const string = { answer: envelope(z.string()) }
const strings = { answer: envelope(z.array(z.string())) }
const refuses = {
  400: 'The text is missing, empty or too long.',
  401: 'The API key is missing or wrong.',
  503: 'Too many translations are waiting.',
}
const given = { input: { text: source }, refuses }

export const operations = [
  operation({
    ...given,
    name: 'braille',
    rest: get('/translate/braille', string),
    run: ({ text }) => translate(text, 'braille display', displayOf),
  }),
  operation({
    ...given,
    name: 'brailleDots',
    rest: get('/translate/braille/dots', strings),
    run: ({ text }) => translate(text, 'braille dots', dotsOf),
  }),
  operation({
    ...given,
    name: 'brailleUnicode',
    rest: get('/translate/braille/unicode', strings),
    run: ({ text }) => translate(text, 'braille unicode', unicodeOf),
  }),
  operation({
    ...given,
    name: 'brailleImages',
    rest: get('/translate/braille/image', strings),
    run: ({ text }, { address }) =>
      translate(text, 'braille images', (lines) => imagesOf(lines, address)),
  }),
  operation({
    ...given,
    name: 'brailleHtml',
    rest: get('/translate/braille/html', strings),
    run: ({ text }) => translate(text, 'braille html', htmlOf),
  }),
  operation({
    name: 'brailleTranslation',
    input: { text: source, table: optional(text), width: optional(width) },
    async run({ text, table, width = WIDTH_DEFAULT }) {
      const used = await tableOf(table)
      return { text, table: used, width, lines: await linesOf(text, { table: used, width }) }
    },
  }),
  operation({
    name: 'brailleBackTranslation',
    input: { text: source, table: optional(text) },
    async run({ text, table }) {
      const used = await tableOf(table)
      return { text, table: used, translated: await textOf(text, used) }
    },
  }),
]

interface Translation {
  readonly lines: readonly string[]
}

export const fields = {
  BrailleTranslation: {
    display: ({ lines }: Translation) => displayOf(lines),
    dots: ({ lines }: Translation) => dotsOf(lines),
    unicode: ({ lines }: Translation) => unicodeOf(lines),
    html: ({ lines }: Translation) => htmlOf(lines),
    images: ({ lines }: Translation, _: object, ctx: Context) => imagesOf(lines, ctx.address),
  },
}

const tableOf = async (name: string | undefined): Promise<Table> =>
  name === undefined ? TABLE_DEFAULT : tableNamed(name)

async function translate<T>(
  text: string,
  destination: string,
  render: (lines: readonly string[]) => T,
) {
  const lines = await linesOf(text, { table: TABLE_DEFAULT, width: WIDTH_DEFAULT })
  return {
    success: { total: 1 },
    contents: {
      translated: render(lines),
      text,
      translation: { source: 'english', destination },
    },
  }
}
