// Keeps an entity its own type where another service knows it only as an interface.
//
// A service that adds fields to every type of an interface (@interfaceObject) says `CloudResource` when
// it is asked for the type. ApolloGateway takes that for the type of the object, and shows null instead
// of a module whose `__typename` was selected beside such a field, as many clients select it everywhere.
import type { Answer, Source } from './source.ts'
import type { Target } from './targets.ts'

export const keepingTypes = (source: Source, isInterface: (name: string) => boolean): Source => ({
  prepare(query, operationName) {
    const ask = source.prepare(query, operationName)
    // An entity is told by the name under which the query selects its fields.
    const names = [...query.matchAll(/\.\.\.\s*on\s+(\w+)/g)].map(([, name]) => name!)
    if (!names.some(isInterface)) return ask
    return (variables, context) => {
      const answer = ask(variables, context)
      const told = variables.representations as readonly Target[] | undefined
      if (!told?.some(({ __typename }) => isInterface(__typename))) return answer
      const keep = (answered: Answer) => withoutTypes(answered, told, isInterface)
      return answer instanceof Promise ? answer.then(keep) : keep(answer)
    }
  },
})

function withoutTypes(
  answer: Answer,
  told: readonly Target[],
  isInterface: (name: string) => boolean,
): Answer {
  const found: unknown = answer.data?._entities
  if (!Array.isArray(found)) return answer
  const entities = found.map((entity, i) => {
    if (!entity || !isInterface(told[i]?.__typename)) return entity
    const { __typename: _, ...rest } = entity
    return rest
  })
  return { ...answer, data: { ...answer.data, _entities: entities } }
}
