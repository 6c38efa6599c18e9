// What an answer was made of, so that it is known which changes may make another of it.
//
// 1. A service that was asked a root field, or anything in which objects or lists are: any of its
//    events counts. What a list left out, or was not asked the id of, has no name to be found by.
// 2. A service that was asked only plain fields of entities that others named: those of its events that
//    name such an entity, and creations and removals, since a plain field may be a count.
// 3. A service that was not asked: none.
import type { Change } from '../resolvers/kernel/news.ts'
import type { Answer, Variables } from './executor/source.ts'

const NAMES_MAX = 5_000

export interface Reads {
  /** A fetch was answered; without an answer it failed. */
  add(service: string, variables: Variables, answer: Answer | undefined): void
  /** Whether the change may make another answer. */
  areTouchedBy(change: Change): boolean
}

export function newReads(): Reads {
  const anything = new Set<string>()
  const named = new Map<string, Set<string>>()

  return {
    add(service, { representations }, answer) {
      if (anything.has(service)) return
      const names = named.get(service) ?? new Set()
      named.set(service, names)
      if (Array.isArray(representations)) {
        for (const one of representations) for (const name of namesIn(one)) names.add(name)
        if (names.size <= NAMES_MAX && isPlain(answer)) return
      }
      anything.add(service)
      named.delete(service)
    },

    areTouchedBy({ service, type, names }) {
      if (anything.has(service)) return true
      const told = named.get(service)
      if (!told) return false
      return IS_MEMBERSHIP.test(type) || names.some((name) => told.has(name.toLowerCase()))
    },
  }
}

const IS_MEMBERSHIP = /\.(created|deleted)$/

/** The ids of management resources are the same in any case of their letters. */
const namesIn = ({ __typename, ...key }: Record<string, unknown>): string[] =>
  Object.values(key).flatMap((value) =>
    typeof value === 'string' || typeof value === 'number' ? [String(value).toLowerCase()] : [],
  )

/** Whether entities were answered, with nothing inside of them that could have a name of its own. */
function isPlain(answer: Answer | undefined): boolean {
  const entities: unknown = answer?.data?._entities
  if (answer?.errors?.length || !Array.isArray(entities)) return false
  return entities.every(
    (entity) =>
      !entity ||
      Object.values(entity).every((value) => typeof value !== 'object' || value === null),
  )
}
