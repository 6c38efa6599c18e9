// SQL as text: where its parameters are, and that it is one statement.

const QUOTED_OR_MARK =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$|--[^\n]*|\/\*[\s\S]*?\*\/|[?;]/g
const TRIGGER = /^\s*create\s+(?:temp\s+|temporary\s+)?trigger\b/i
const READ = /^\s*(?:select|values)\b/i

/** Replaces each `?` outside quotes and comments by `$1`, `$2` and so on. */
export function dollarsOf(text: string): string {
  let count = 0
  return text.replace(QUOTED_OR_MARK, (found) => (found === '?' ? `$${(count += 1)}` : found))
}

/** Texts that were checked before: a service asks the same few again and again. */
const checked = new Set<string>()
const CHECKED_MAX = 1000

/**
 * Refuses text with more than one statement. SQLite would run the first and ignore the others
 * without a word.
 */
export function checkOneStatement(text: string): void {
  if (checked.has(text)) return
  checkEnds(text)
  if (checked.size < CHECKED_MAX) checked.add(text)
}

function checkEnds(text: string): void {
  if (TRIGGER.test(text)) return
  for (const found of text.matchAll(QUOTED_OR_MARK)) {
    if (found[0] === ';' && text.slice(found.index + 1).trim() !== '') {
      throw new Error(`one statement at a time: ${text}`)
    }
  }
}

/** Whether a statement can only read. When in doubt, it writes. */
export const isRead = (text: string): boolean => READ.test(text)

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
