// SQL text as the statements that it consists of. Beside specification 3, service Q.

// A quote or a comment that does not end goes to the end of the text, so that nothing is read twice.
const TOKEN =
  /'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`(?:[^`]|``)*(?:`|$)|\[[^\]]*(?:\]|$)|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|[\p{L}_][\p{L}\p{N}_$]*|\s+|[\s\S]/gu
const BLANK = /^(?:\s|--|\/\*)/
const TRIGGER = /^(?:explain )?create (?:temp |temporary )?trigger /

/**
 * Splits at the semicolons that end a statement: not those in quotes and comments, nor those in the
 * body of a trigger, which ends with `; END;`. What is blank is left out.
 */
export function statementsOf(sql: string): string[] {
  const statements: string[] = []
  let begin = 0
  let words: string[] = []
  const end = (at: number) => {
    if (words.length > 0) statements.push(sql.slice(begin, at).trim())
    words = []
    begin = at + 1
  }
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (BLANK.test(token)) continue
    const isTrigger = TRIGGER.test(`${words.slice(0, 5).join(' ')} `)
    const isInBody = isTrigger && !(words.at(-1) === 'end' && words.at(-2) === ';')
    if (token === ';' && !isInBody) end(index)
    else words.push(token.toLowerCase())
  }
  end(sql.length)
  return statements
}
