// Finds the entities that a plan asks a subgraph in this process for, as @apollo/subgraph does, which
// waits for each of them even where there is nothing to wait for.
import { isObjectType, type GraphQLField, type GraphQLSchema } from 'graphql'

type Resolve = (source: unknown, told: any, context: unknown, info: any) => unknown
type ResolveReference = (reference: object, context: unknown, info: unknown) => unknown

interface Reference {
  readonly __typename: string
}

/** Undefined for fields that do not find entities. */
export function entityResolverOf(
  { name, resolve }: GraphQLField<any, any>,
  schema: GraphQLSchema,
): Resolve | undefined {
  if (name !== '_entities') return undefined
  return (source, told, context, info) => {
    const references: readonly Reference[] = told.representations
    // References to an interface are few, and its own affair.
    if (!references.every(({ __typename }) => isObjectType(schema.getType(__typename)))) {
      return resolve!(source, told, context, info)
    }
    return references.map((reference) => {
      const { __typename } = reference
      const type = schema.getType(__typename)!
      const { subgraph } = (type.extensions.apollo ?? {}) as { subgraph?: any }
      const find: ResolveReference | undefined = subgraph?.resolveReference
      const found = find ? find(reference, context, info) : reference
      return found instanceof Promise
        ? found.then((entity) => named(entity, __typename))
        : named(found, __typename)
    })
  }
}

/** With the name of its type, by which the union of all entities is resolved. */
function named(entity: any, name: string): unknown {
  if (typeof entity !== 'object' || entity === null || entity.__typename === name) return entity
  if ('__typename' in entity) return { ...entity, __typename: name }
  return Object.defineProperty(entity, '__typename', { value: name })
}
