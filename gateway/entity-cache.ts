// Entities that a gateway keeps for a while, by type, where an operator says so. Off unless one does.
//
// 1. What is kept for a caller is shown to that caller alone: who asks is part of the name.
// 2. Only whole answers are kept: nothing that came with an error, and nothing that was not found.
// 3. A mutation through this gateway forgets all of it. A change by another way is seen when the time of
//    the type is over.
import { LRUCache } from 'lru-cache'
import { wallClock, type Clock } from '../resolvers/kernel/clock.ts'
import { isMutation, type Answer, type Ask, type Source } from './executor/source.ts'
import type { Target } from './executor/targets.ts'

const ENTITIES_MAX = 10_000

export interface EntityCache {
  /** A subgraph that is asked only for what is not kept. */
  keeping(service: string, source: Source): Source
}

/** `secondsOf` has the types that are kept. */
export function openEntityCache(
  secondsOf: ReadonlyMap<string, number>,
  clock: Clock = wallClock,
): EntityCache {
  // As text: whoever gets an entity may add to it.
  const kept = new LRUCache<string, string>({
    max: ENTITIES_MAX,
    ttlResolution: 0,
    perf: { now: () => clock.now().getTime() },
  })

  return {
    keeping: (service, source) => ({
      prepare(query, operationName) {
        const ask = source.prepare(query, operationName)
        if (isMutation(query)) {
          return async (variables, context) => {
            try {
              return await ask(variables, context)
            } finally {
              kept.clear()
            }
          }
        }
        return query.includes('_entities(') ? keepingEntities(ask, `${service} ${query}`) : ask
      },
    }),
  }

  function keepingEntities(ask: Ask, words: string): Ask {
    return (variables, context) => {
      const { representations, ...others } = variables as { representations: readonly Target[] }
      const isKept = representations.some(({ __typename }) => secondsOf.has(__typename))
      // A live query is asked because something has changed.
      if (!isKept || context.reads) {
        return ask(variables, context)
      }
      const beginning = `${JSON.stringify([context.caller, others])} ${words} `
      const names = representations.map((one) => beginning + JSON.stringify(one))
      const texts = names.map((name) => kept.get(name))
      const missing = representations.filter((_, i) => texts[i] === undefined)
      const take = (answer: Answer) => join(answer, { representations, names, texts })
      if (missing.length === 0) return take({ data: { _entities: [] } })
      if (missing.length === representations.length) return after(ask(variables, context), take)
      return after(ask({ ...others, representations: missing }, context), take)
    }
  }

  interface Asked {
    readonly representations: readonly Target[]
    readonly names: readonly string[]
    /** What was kept. */
    readonly texts: readonly (string | undefined)[]
  }

  function join(answer: Answer, { representations, names, texts }: Asked): Answer {
    const found: unknown = answer.data?._entities
    if (!Array.isArray(found)) return answer
    const places: number[] = []
    const entities = texts.map((text, i) => {
      if (text !== undefined) return JSON.parse(text)
      const entity: unknown = found[places.push(i) - 1]
      const seconds = secondsOf.get(representations[i]!.__typename)
      if (entity && seconds !== undefined && !answer.errors?.length) {
        kept.set(names[i]!, JSON.stringify(entity), { ttl: seconds * 1000 })
      }
      return entity
    })
    const errors = answer.errors?.map((error) => ({ ...error, path: moved(error.path, places) }))
    return { data: { ...answer.data, _entities: entities }, ...(errors && { errors }) }
  }
}

const after = (answer: Answer | Promise<Answer>, take: (answer: Answer) => Answer) =>
  answer instanceof Promise ? answer.then(take) : take(answer)

/** The place of an error among all that was asked, and not among what was missing. */
function moved(
  path: readonly (string | number)[] | undefined,
  places: readonly number[],
): readonly (string | number)[] | undefined {
  const [field, at, ...rest] = path ?? []
  return typeof at === 'number' ? [field!, places[at] ?? at, ...rest] : path
}
