// Asks of one plan that are the same but for the entities that they are about, sent as one.
//
// A plan has a fetch for each place in the answer: who owns an assignment and who likes it are two,
// though both ask identity the same about people. Those that come in one turn go to the service
// together, each entity once, and each takes its own out of the answer.
import type { FetchNode, PlanNode } from '@apollo/query-planner'
import type { GatewayContext } from '../callers.ts'
import { errorsAgain } from './replay.ts'
import { keyOf } from './representations.ts'
import type { Answer, Ask, Source, Variables } from './source.ts'
import type { Target } from './targets.ts'

/** Gives every fetch of a plan its ask; those that nothing is like are asked as they are. */
export function asksOf(
  plan: PlanNode | undefined,
  sourceOf: (service: string) => Source,
): (fetch: FetchNode) => Ask {
  const alike = new Map<string, number>()
  const merged = new Map<string, Ask>()
  if (plan) countAlike(plan, alike)
  return (fetch) => {
    const prepare = () => sourceOf(fetch.serviceName).prepare(fetch.operation, fetch.operationName)
    const words = wordsOf(fetch)
    if (words === undefined || alike.get(words) === 1) return prepare()
    let ask = merged.get(words)
    if (!ask) merged.set(words, (ask = merging(prepare())))
    return ask
  }
}

function countAlike(node: PlanNode, alike: Map<string, number>): void {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      for (const one of node.nodes) countAlike(one, alike)
      return
    case 'Flatten':
      return countAlike(node.node, alike)
    case 'Condition':
      if (node.ifClause) countAlike(node.ifClause, alike)
      if (node.elseClause) countAlike(node.elseClause, alike)
      return
    case 'Fetch': {
      const words = wordsOf(node)
      if (words !== undefined) alike.set(words, (alike.get(words) ?? 0) + 1)
    }
  }
}

/** What a fetch of entities asks, without the name that the planner numbers. */
const wordsOf = ({ serviceName, operation, requires }: FetchNode): string | undefined =>
  requires && `${serviceName} ${operation.replace(/^query\s+\w+/, 'query')}`

interface Merged {
  readonly representations: Target[]
  /** Where each representation stands, by its key. */
  readonly places: Map<string, number>
  /** Which places were taken already: an answer may be changed by who takes it. */
  readonly taken: Set<number>
  readonly answer: Promise<Answer>
}

function merging(ask: Ask): Ask {
  // By request, and there by all other variables, since several operations may share a request.
  const waiting = new WeakMap<GatewayContext, Map<string, Merged>>()
  return async (variables, context) => {
    const { representations, ...others } = variables
    let ofRequest = waiting.get(context)
    if (!ofRequest) waiting.set(context, (ofRequest = new Map()))
    const key = JSON.stringify(others)
    let merged = ofRequest.get(key)
    if (!merged) {
      const end = () => ofRequest.delete(key)
      ofRequest.set(key, (merged = begin(ask, others, context, end)))
    }
    const wanted = (representations as readonly Target[]).map((one) => placeOf(one, merged))
    return partOf(await merged.answer, wanted, merged.taken)
  }
}

function begin(ask: Ask, others: Variables, context: GatewayContext, end: () => void): Merged {
  const representations: Target[] = []
  // All that the plan asks in this turn has come when the turn is over.
  const answer = Promise.resolve().then(() => {
    end()
    return ask({ ...others, representations }, context)
  })
  return { representations, places: new Map(), taken: new Set(), answer }
}

function placeOf(representation: Target, { representations, places }: Merged): number {
  const key = keyOf(representation)
  let place = places.get(key)
  if (place === undefined) {
    places.set(key, (place = representations.length))
    representations.push(representation)
  }
  return place
}

function partOf(answer: Answer, wanted: readonly number[], taken: Set<number>): Answer {
  const { data, errors } = answer
  const found = data?._entities
  if (!Array.isArray(found)) return answer
  const own = errors?.flatMap((error) => errorsAgain(error, wanted))
  return {
    data: { ...data, _entities: wanted.map((place) => takenOnce(found[place], place, taken)) },
    ...(own?.length && { errors: own }),
  }
}

function takenOnce(entity: unknown, place: number, taken: Set<number>): unknown {
  if (taken.has(place)) return structuredClone(entity)
  taken.add(place)
  return entity
}
