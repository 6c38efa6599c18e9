// Which key-values are meant: patterns of keys and labels, read a page at a time. Specification 3,
// service C.
//
// A filter is one pattern, such as `app/*`, or up to five exact names between commas. `\` takes the
// meaning from `*`, `,` and itself.
import type { Context } from '../kernel/context.ts'
import { positionOf } from '../kernel/store.ts'
import { refuseInput } from './errors.ts'
import { keyValues, SEPARATOR, type KeyValue } from './records.ts'

const PATTERNS_MAX = 5
const BATCH_MAX = 100
/** How many key-values a page looks at, at most: one may thus be short, and still not be the last. */
const LOOKED_AT_MAX = 1_000

export interface Filter {
  readonly key?: string | undefined
  readonly label?: string | undefined
}

interface Pattern {
  readonly text: string
  /** Whether anything may follow. */
  readonly isOpen: boolean
}

export interface FilteredPage {
  readonly items: KeyValue[]
  /** Where the next page begins; absent on the last page. */
  readonly next?: string
}

/** The key-values of a store that fit, by key and label, from a place on. */
export async function listFiltered(
  store: string,
  filter: Filter,
  { limit, after }: { limit: number; after: string | undefined },
  ctx: Context,
): Promise<FilteredPage> {
  const labels = readPatterns('label', filter.label)
  const [label] = labels
  // One label is found by an index; others are picked out of what the keys give.
  const isOne = labels.length === 1 && !label!.isOpen
  const where = isOne ? { where: { label: label!.text } } : {}
  const items: KeyValue[] = []
  let place = after
  let lookedAt = 0
  for (const prefix of prefixesOf(store, filter.key)) {
    for (;;) {
      const page = await ctx.store.list(keyValues, {
        ...where,
        prefix,
        after: place,
        limit: Math.min(isOne ? limit + 1 : BATCH_MAX, BATCH_MAX),
      })
      for (const item of page.items) {
        if (!fits(labels, item.label ?? '')) continue
        // One more than asked for tells that there is more.
        if (items.length === limit) return { items, next: positionOf(keyValues, items.at(-1)!) }
        items.push(item)
      }
      lookedAt += page.items.length
      if (page.next === undefined) break
      place = page.next
      if (lookedAt >= LOOKED_AT_MAX) return { items, next: place }
    }
  }
  return { items }
}

/** How the keys of records begin that fit, in the order of records. */
function prefixesOf(store: string, filter: string | undefined): string[] {
  const prefixes = readPatterns('key', filter).map(
    ({ text, isOpen }) => `${store}\n${text}${isOpen ? '' : SEPARATOR}`,
  )
  return [...new Set(prefixes)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}

const fits = (patterns: readonly Pattern[], value: string): boolean =>
  patterns.some(({ text, isOpen }) => (isOpen ? value.startsWith(text) : value === text))

export function readPatterns(name: 'key' | 'label', filter: string | undefined): Pattern[] {
  if (filter === undefined) return [{ text: '', isOpen: true }]
  const patterns = splitPatterns(name, filter)
  if (patterns.length > PATTERNS_MAX) {
    throw refuseInput(name, `must be at most ${PATTERNS_MAX} names`)
  }
  if (patterns.length > 1 && patterns.some(({ isOpen }) => isOpen)) {
    throw refuseInput(name, 'must be one pattern with *, or several names without')
  }
  if (name === 'key' && patterns.some(({ text, isOpen }) => text === '' && !isOpen)) {
    throw refuseInput(name, 'must not name an empty key')
  }
  return patterns
}

function splitPatterns(name: string, filter: string): Pattern[] {
  const patterns = [{ text: '', isOpen: false }]
  let isMeant = false
  for (const letter of filter) {
    const last = patterns.at(-1)!
    if (letter === ',' && !isMeant) {
      patterns.push({ text: '', isOpen: false })
    } else if (last.isOpen) {
      throw refuseInput(name, 'must have * at its end only, and \\ before one that is meant')
    } else if (letter === '\\' && !isMeant) {
      isMeant = true
      continue
    } else if (letter === '*' && !isMeant) {
      last.isOpen = true
    } else if (letter !== '\0') {
      // Clients name the absent label by the null character.
      last.text += letter
    }
    isMeant = false
  }
  if (isMeant) throw refuseInput(name, 'must not end in \\')
  return patterns
}
