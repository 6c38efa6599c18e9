// Functions written out for the fields of one kind of object.
//
// One function that goes over the fields of every object has V8 look up each of them by its name. In one
// that names the fields of a selection it knows where they are, and makes its objects in one step.
import { LRUCache } from 'lru-cache'

const KEPT_MAX = 2_000

type Maker = (...given: readonly unknown[]) => unknown
const makers = new LRUCache<string, Maker>({ max: KEPT_MAX })

/**
 * A function with this text, in which what is given is called f0, f1 and so on. Nothing of the text may
 * come from elsewhere but names of GraphQL, which are letters, digits and underscores.
 */
export function writtenOut<F>(text: string, given: readonly unknown[]): F {
  const names = given.map((_, i) => `f${i}`).join()
  const key = `${names} ${text}`
  let maker = makers.get(key)
  // oxlint-disable-next-line no-new-func -- see above
  if (!maker) makers.set(key, (maker = new Function(names, `return ${text}`) as Maker))
  return maker(...given) as F
}

export interface WrittenField {
  readonly name: string
  readonly value: string
  /** Undefined for a field that is always there. */
  readonly isOn?: string | undefined
}

/** Statements that return an object with these fields, in this order. */
export function objectOf(fields: readonly WrittenField[]): string {
  const first = fields.findIndex(({ isOn }) => isOn !== undefined)
  const always = first === -1 ? fields : fields.slice(0, first)
  const literal = `{ ${always.map(({ name, value }) => `${name}: ${value}`).join(', ')} }`
  const rest = fields
    .slice(always.length)
    .map(({ name, value, isOn }) => `${isOn ? `if (${isOn}) ` : ''}output.${name} = ${value}`)
  return rest.length > 0
    ? `const output = ${literal}; ${rest.join('; ')}; return output`
    : `return ${literal}`
}
