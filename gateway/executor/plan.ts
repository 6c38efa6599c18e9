// A query plan made into functions, once for all requests that have it.
//
// 1. A plan keeps to what happens nearly always. It throws `Unusual` as soon as anything does not, such
//    as an error in an answer, and whoever runs it has recorded what was answered until then.
// 2. What fits in one turn of the process stays in it: a fetch that is answered at once is not waited
//    for.
import type { FetchNode, PlanNode, QueryPlan } from '@apollo/query-planner'
import type { GraphQLSchema } from 'graphql'
import type { GatewayContext } from '../callers.ts'
import { asksOf } from './merged-asks.ts'
import { entitiesReader, type Entities } from './representations.ts'
import { changerOf } from './rewrites.ts'
import type { Answer, Ask, Source, Variables } from './source.ts'
import { collectorOf, merge, type Target } from './targets.ts'

/** What happens rarely, and is left to who does it slowly and exactly. */
export class Unusual extends Error {}

/** One execution of a plan. */
export interface Run {
  readonly root: Target
  readonly variables: Variables
  readonly context: GatewayContext
  /** What fetches of the same place have in common. */
  readonly shared: unknown[]
  readonly answered: Answered[]
  /** When no more is sent, by performance.now(). */
  readonly deadlineMs: number
}

/** A fetch as it was asked and answered, for who goes over it again. */
export interface Answered {
  readonly fetch: FetchNode
  readonly entities: Entities | undefined
  readonly answer: Answer | undefined
  /** Why nothing was answered. */
  readonly failure?: unknown
}

type Node = (run: Run) => void | Promise<void>

export interface CompiledPlan {
  readonly sharedCount: number
  readonly execute: Node
}

interface Compiling {
  readonly supergraph: GraphQLSchema
  readonly askOf: (fetch: FetchNode) => Ask
  readonly defaults: Variables
  /** Where in `shared` something stands, by its description. */
  readonly slots: Map<string, number>
}

/** Throws for plans of another form, which are few. */
export function compilePlan(
  { node }: QueryPlan,
  options: Pick<Compiling, 'supergraph' | 'defaults'> & {
    readonly sourceOf: (service: string) => Source
  },
): CompiledPlan {
  if (node?.kind === 'Subscription') throw new Error('no subscription is planned')
  const { sourceOf, ...others } = options
  const compiling: Compiling = { ...others, askOf: asksOf(node, sourceOf), slots: new Map() }
  const execute = node ? compile(node, [], compiling) : () => {}
  return { execute, sharedCount: compiling.slots.size }
}

function compile(node: PlanNode, path: readonly string[], compiling: Compiling): Node {
  switch (node.kind) {
    case 'Sequence':
      return sequence(node.nodes.map((one) => compile(one, path, compiling)))
    case 'Parallel':
      return parallel(node.nodes.map((one) => compile(one, path, compiling)))
    case 'Flatten':
      return compile(node.node, [...path, ...node.path.map(String)], compiling)
    case 'Condition': {
      const [then, otherwise] = [node.ifClause, node.elseClause].map(
        (branch) => branch && compile(branch, path, compiling),
      )
      const { condition } = node
      const { defaults } = compiling
      return (run) => ((run.variables[condition] ?? defaults[condition]) ? then : otherwise)?.(run)
    }
    case 'Fetch':
      return compileFetch(node, path, compiling)
    default:
      throw new Error(`no plan for ${node.kind}`)
  }
}

const sequence = (nodes: readonly Node[]): Node =>
  function from(run, at = 0): void | Promise<void> {
    for (let i = at; i < nodes.length; i += 1) {
      const pending = nodes[i]!(run)
      if (pending) return pending.then(() => from(run, i + 1))
    }
  } as (run: Run, at?: number) => void | Promise<void>

const parallel =
  (nodes: readonly Node[]): Node =>
  (run) => {
    const pending: Promise<void>[] = []
    for (const node of nodes) {
      try {
        const one = node(run)
        if (one) pending.push(one)
      } catch (error) {
        // Those that were sent before it are still on their way, and must not fail unseen.
        pending.push(Promise.reject(error))
      }
    }
    if (pending.length > 0) return settle(pending)
  }

/** Waits for all, also where one fails: what they answer is needed to go over it again. */
async function settle(pending: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(pending)
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
}

function compileFetch(fetch: FetchNode, path: readonly string[], compiling: Compiling): Node {
  const { supergraph, askOf, slots } = compiling
  if (fetch.contextRewrites?.length) throw new Error('no plan for contexts')
  const ask = askOf(fetch)
  const used = fetch.variableUsages ?? []
  const collect = collectorOf(path)
  const targets = once(slots, path.join('/'), ({ root }) => collect(root))
  if (!fetch.requires) {
    const change = changerOf(fetch.outputRewrites, supergraph)
    return (run) => {
      const places = targets(run)
      if (places.length === 0) return
      return send(ask, run, pick(run.variables, used), { fetch, entities: undefined }, (data) => {
        change?.(data)
        for (const place of places) merge(place, data)
      })
    }
  }
  const read = readingEntities(fetch, targets, compiling)
  const entities = fetch.inputRewrites?.length
    ? read
    : once(slots, `${path.join('/')} ${JSON.stringify(fetch.requires)}`, read)
  const change = changerOf(fetch.outputRewrites, supergraph)
  return (run) => {
    const about = entities(run)
    const { representations } = about
    if (representations.length === 0) return
    const variables = { ...pick(run.variables, used), representations }
    return send(ask, run, variables, { fetch, entities: about }, (data) =>
      addEntities(data, about, change),
    )
  }
}

function readingEntities(
  { requires, inputRewrites }: FetchNode,
  targets: (run: Run) => readonly Target[],
  { supergraph }: Compiling,
): (run: Run) => Entities {
  const read = entitiesReader(requires!, supergraph)
  const change = changerOf(inputRewrites, supergraph)
  return (run) => {
    const entities = read(targets(run))
    if (change) for (const representation of entities.representations) change(representation)
    return entities
  }
}

/**
 * What is computed for one fetch holds for the others that describe it alike, until more is answered:
 * that may be more objects to add to, or more of their fields.
 */
function once<T>(slots: Map<string, number>, name: string, compute: (run: Run) => T) {
  let slot = slots.get(name)
  if (slot === undefined) slots.set(name, (slot = slots.size))
  const at = slot
  return (run: Run): T => {
    const known = run.shared[at] as { value: T; after: number } | undefined
    if (known?.after === run.answered.length) return known.value
    const value = compute(run)
    run.shared[at] = { value, after: run.answered.length }
    return value
  }
}

function send(
  ask: Ask,
  run: Run,
  variables: Variables,
  asked: Pick<Answered, 'fetch' | 'entities'>,
  add: (data: Target) => void,
): void | Promise<void> {
  const take = (answer: Answer) => {
    run.answered.push({ ...asked, answer })
    if (answer.errors?.length || !answer.data) throw new Unusual()
    add(answer.data)
  }
  const fail = (failure: unknown) => {
    if (failure instanceof Unusual) throw failure
    run.answered.push({ ...asked, answer: undefined, failure })
    throw new Unusual()
  }
  if (performance.now() >= run.deadlineMs) return Promise.reject(new Unusual())
  let answer
  try {
    answer = ask(variables, run.context)
  } catch (failure) {
    return fail(failure)
  }
  if (answer instanceof Promise) return answer.then(take, fail)
  take(answer)
}

function addEntities(
  data: Target,
  { places }: Entities,
  change: ((e: unknown) => void) | undefined,
) {
  const { _entities: found } = data
  if (!Array.isArray(found) || found.length !== places.length) throw new Unusual()
  for (const [i, entity] of found.entries()) {
    if (entity === null || entity === undefined) continue
    const same = places[i]!
    if (change) {
      entity.__typename ??= same[0]!.__typename
      change(entity)
    }
    for (const place of same) merge(place, entity)
  }
}

function pick(sent: Variables, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const name of names) {
    if (Object.hasOwn(sent, name) && sent[name] !== undefined) picked[name] = sent[name]
  }
  return picked
}
