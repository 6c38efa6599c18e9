// Answers given again to ApolloGateway, which goes over an execution that was unusual.
//
// It words errors and null, and shapes the rest, exactly as its clients know it. Nothing is asked twice,
// least of all a mutation; what was not asked yet, it asks.
import type { Answered } from './plan.ts'
import { keyOf } from './representations.ts'
import type { Answer, AnswerError, Variables } from './source.ts'
import type { Target } from './targets.ts'

/** What was answered to this fetch; undefined if it was not asked. */
export function answerAgain(
  answered: readonly Answered[],
  serviceName: string,
  { query, variables }: { query: string; variables: Variables },
): Answer | undefined {
  const same = answered.find(
    ({ fetch }) => fetch.serviceName === serviceName && fetch.operation === query,
  )
  if (!same) return undefined
  if (same.failure !== undefined) throw same.failure
  if (!same.entities) return same.answer
  return entitiesAgain(same, variables.representations as readonly Target[])
}

/** An entity that was told once is answered as often as it is told now. */
function entitiesAgain(
  { entities, answer }: Answered,
  told: readonly Target[],
): Answer | undefined {
  const indexes = new Map(entities!.representations.map((one, i) => [keyOf(one), i]))
  const wanted = told.map((representation) => indexes.get(keyOf(representation)))
  if (wanted.includes(undefined)) return undefined
  const { data, errors } = answer!
  const found = data?._entities
  const again = Array.isArray(found)
    ? { ...data, _entities: wanted.map((index) => found[index!]) }
    : data
  return {
    ...(again !== undefined && { data: again }),
    ...(errors && { errors: errors.flatMap((error) => errorsAgain(error, wanted)) }),
  }
}

/** An error as it is about the entities that are wanted, by their places. */
export function errorsAgain(
  error: AnswerError,
  wanted: readonly (number | undefined)[],
): AnswerError[] {
  const { message, path, extensions } = error
  const index = path?.[1]
  if (typeof index !== 'number') return [error]
  return wanted.flatMap((one, i) =>
    one === index ? [{ message, extensions, path: [path![0]!, i, ...path!.slice(2)] }] : [],
  )
}
