// Spelling, checked against the words that the directory itself holds. Specification 1, service S5.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { writtenWordsOf } from '../kernel/text-search.ts'
import { escapeHtml } from './plain-text.ts'
import { metered } from './quotas.ts'
import { searched } from './shapes.ts'
import { alikeOf, countsOf, isCommon } from './words.ts'

const WORDS_MAX = 32

const token = z.object({ token: z.string(), suggestion: z.string(), offset: z.int() })
type Token = z.output<typeof token>

export const operations = [
  operation({
    name: 'podcastSpellcheck',
    rest: get('/spellcheck', {
      answer: z.object({ tokens: z.array(token), corrected_text_html: z.string() }),
    }),
    input: { q: searched },
    refuses: { 429: 'The quota of the key is used up.' },
    run: metered(check),
  }),
]

/** Words that no text holds, each with the likeliest that some do. */
async function check({ q }: { q: string }, ctx: Context) {
  const written = writtenWordsOf(q).slice(0, WORDS_MAX)
  const counts = await countsOf(
    ctx.store,
    written.flatMap(({ words }) => words),
  )
  const tokens: Token[] = []
  for (const { written: token, at: offset, words } of written) {
    const [word] = words
    if (words.length !== 1 || isCommon(word!) || counts.of(word!).texts > 0) continue
    const [likeliest] = await alikeOf(ctx.store, word!)
    if (likeliest) tokens.push({ token, suggestion: likeliest.word, offset })
  }
  return { tokens, corrected_text_html: correct(q, tokens) }
}

function correct(q: string, tokens: readonly Token[]): string {
  let corrected = ''
  let done = 0
  for (const { token, suggestion, offset } of tokens) {
    const before = escapeHtml(q.slice(done, offset))
    corrected += `${before}<b><i>${escapeHtml(suggestion)}</i></b>`
    done = offset + token.length
  }
  return corrected + escapeHtml(q.slice(done))
}
