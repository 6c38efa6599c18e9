// Batches: each item is done or refused by itself, and the answer says which were refused and why.
import { Fault } from '../kernel/fault.ts'
import { entryOf, InvalidRequest, type ErrorEntry } from './errors.ts'

/** Does one item after the other, and returns the entries of those that were refused. */
export async function eachOf<Item, Name extends string>(
  items: readonly (Item & Record<Name, string>)[],
  name: Name,
  run: (item: Item) => Promise<void>,
): Promise<(ErrorEntry & Record<Name, string>)[]> {
  const refused: (ErrorEntry & Record<Name, string>)[] = []
  for (const item of items) {
    try {
      await run(item)
    } catch (error) {
      // A refusal is this item's; a mistake of ours ends the batch.
      if (!(error instanceof Fault)) throw error
      refused.push({ [name]: item[name], ...entryOf(error) } as (typeof refused)[number])
    }
  }
  return refused
}

/** Refuses a batch in which two items have the same name, since its answer could not tell them apart. */
export function checkUnique(items: readonly object[], name: string): void {
  const names = items.map((item) => (item as Record<string, unknown>)[name])
  const twice = names.find((one, i) => names.indexOf(one) !== i)
  if (twice !== undefined) throw InvalidRequest(`${name} ${String(twice)} is there twice.`)
}
