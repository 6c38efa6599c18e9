// The objects of an answer that a fetch adds to, by the path that its plan gives.

export type Target = Record<string, any>

/** `@` stands for every element of a list. What is null has nothing to add to. */
export function collectorOf(path: readonly string[]): (root: Target) => readonly Target[] {
  if (path.length === 0) return (root) => [root]
  return (root) => {
    let level: any[] = [root]
    for (const step of path) {
      const next: any[] = []
      if (step === '@') for (const list of level) addAll(next, list)
      else for (const object of level) addAll(next, [object[step]])
      level = next
    }
    return level.some(Array.isArray) ? level.flat(Infinity).filter(isThere) : level
  }
}

function addAll(next: unknown[], values: readonly unknown[]): void {
  for (const value of values) if (isThere(value)) next.push(value)
}

const isThere = (value: unknown): boolean => value !== null && value !== undefined

/** Adds what a subgraph answered to an object. Lists of one length are joined element by element. */
export function merge(target: Target, source: Readonly<Target>): void {
  for (const key in source) {
    const added = source[key]
    if (added === undefined) continue
    const there = target[key]
    if (there === added) continue
    if (isObject(there) && isObject(added)) merge(there, added)
    else if (areAlike(there, added)) mergeLists(there, added)
    else target[key] = added
  }
}

function mergeLists(there: unknown[], added: readonly unknown[]): void {
  for (const [i, element] of added.entries()) {
    const own = there[i]
    if (isObject(own) && isObject(element)) merge(own, element)
    else there[i] = element
  }
}

const isObject = (value: unknown): value is Target =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const areAlike = (there: unknown, added: unknown): there is unknown[] =>
  Array.isArray(there) && Array.isArray(added) && there.length === added.length
