// Which names of types fit a type condition.
import { isAbstractType, isInterfaceType, isObjectType, type GraphQLSchema } from 'graphql'

export function typeTest(condition: string, schema: GraphQLSchema): (name: unknown) => boolean {
  const type = schema.getType(condition)
  if (!type || !(isObjectType(type) || isAbstractType(type))) {
    throw new Error(`${condition} is no type of objects`)
  }
  if (isObjectType(type)) return (name) => name === condition
  const names = new Set([condition, ...schema.getPossibleTypes(type).map(({ name }) => name)])
  if (isInterfaceType(type)) {
    for (const { name } of schema.getImplementations(type).interfaces) names.add(name)
  }
  return (name) => names.has(name as string)
}
