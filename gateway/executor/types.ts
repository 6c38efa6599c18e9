// Which names of types fit a type condition.
import {
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type Schema,
} from '@apollo/federation-internals'

export function typeTest(condition: string, supergraph: Schema): (name: unknown) => boolean {
  const type = supergraph.type(condition)
  if (!type || !(isObjectType(type) || isAbstractType(type))) {
    throw new Error(`${condition} is no type of objects`)
  }
  if (isObjectType(type)) return (name) => name === condition
  const fitting = isInterfaceType(type) ? type.allImplementations() : type.types()
  const names = new Set([condition, ...fitting.map(({ name }) => name)])
  return (name) => names.has(name as string)
}
