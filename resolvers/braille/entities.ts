// Texts of other services in braille: what they say comes with the reference.
import type { Context } from '../kernel/context.ts'
import { Invalid, Unauthenticated } from '../kernel/fault.ts'
import { linesOf, TABLE_DEFAULT } from './cells.ts'
import { displayOf, dotsOf, htmlOf, imagesOf } from './render.ts'

/** As long as a transcript is in the directory of podcasts. */
const TEXT_MAX = 200_000
const LINE_END = '\r\n'
/** So wide that no line is broken, but where a paragraph ends. */
const WIDTH = Number.MAX_SAFE_INTEGER
const INDENT = /^\u2800+/

type Form = 'DISPLAY' | 'DOTS' | 'UNICODE' | 'HTML' | 'IMAGES'

interface Asked {
  readonly form?: Form | null
}

// Nothing is kept here of either: whoever asks sees the text already.
export const entities = {
  Episode: (reference: object) => reference,
  Contribution: (reference: object) => reference,
}

export const fields = {
  Episode: {
    titleBraille: ({ title }: { title: string }, { form }: Asked, ctx: Context) =>
      spell(title, form, ctx),
    transcriptBraille: (
      { transcript }: { transcript: string | null },
      { form }: Asked,
      ctx: Context,
    ) => (transcript === null ? null : spell(transcript, form, ctx)),
  },
  Contribution: {
    headlineBraille: ({ headline }: { headline: string }, { form }: Asked, ctx: Context) =>
      spell(headline, form, ctx),
  },
}

async function spell(text: string, form: Asked['form'], ctx: Context): Promise<string> {
  if (ctx.caller.kind === 'nobody') throw Unauthenticated('Show a credential of this service.')
  if (text.length > TEXT_MAX) {
    throw Invalid(
      `A text of ${text.length} characters is too long for braille; ${TEXT_MAX} are not.`,
    )
  }
  const lines = await linesOf(text, { table: TABLE_DEFAULT, width: WIDTH })
  return lines.map((line) => write(line.replace(INDENT, ''), form ?? 'UNICODE', ctx)).join(LINE_END)
}

function write(line: string, form: Form, { address }: Context): string {
  switch (form) {
    case 'DISPLAY':
      return displayOf([line]).slice(0, -LINE_END.length)
    case 'DOTS':
      return cellsOf(dotsOf([line])).join(' ')
    case 'UNICODE':
      return line
    case 'HTML':
      return cellsOf(htmlOf([line])).join('')
    case 'IMAGES':
      return cellsOf(imagesOf([line], address)).join('')
  }
}

/** The entries of a line without the two that end it. */
const cellsOf = (entries: readonly string[]): readonly string[] => entries.slice(0, -2)
