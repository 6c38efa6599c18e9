// What a subgraph is told of the entities that a fetch is about: their types and their keys.
//
// The same entity is often in an answer many times. It is told once, and what is answered is added to
// each of its places.
import type { QueryPlanSelectionNode } from '@apollo/query-planner'
import type { GraphQLSchema } from 'graphql'
import { merge, type Target } from './targets.ts'
import { typeTest } from './types.ts'
import { objectOf, writtenOut } from './written-out.ts'

export interface Entities {
  readonly representations: readonly Target[]
  /** By representation, the objects that it stands for. */
  readonly places: readonly Target[][]
}

/** Undefined where an object cannot be told, and so is not asked for. */
type Tell = (target: Target) => Target | undefined

export function entitiesReader(
  requires: readonly QueryPlanSelectionNode[],
  supergraph: GraphQLSchema,
): (targets: readonly Target[]) => Entities {
  const tell = tellerOf(requires, supergraph)
  return (targets) => {
    const representations: Target[] = []
    const places: Target[][] = []
    const known = new Map<string, Target[]>()
    for (const target of targets) {
      const told = tell(target)
      if (!told || !told.__typename) continue
      const key = keyOf(told)
      const same = known.get(key)
      if (same) {
        same.push(target)
        continue
      }
      const first = [target]
      known.set(key, first)
      representations.push(told)
      places.push(first)
    }
    return { representations, places }
  }
}

/** Most entities have one key, a text, whose representation need not be written out. */
export function keyOf(representation: Target): string {
  const { __typename, id } = representation
  let members = 0
  for (const _name in representation) members += 1
  return members === 2 && typeof id === 'string'
    ? `${__typename} ${id}`
    : JSON.stringify(representation)
}

function tellerOf(requires: readonly QueryPlanSelectionNode[], supergraph: GraphQLSchema): Tell {
  const fragments = requires.map((node) => {
    if (node.kind !== 'InlineFragment' || !node.typeCondition) throw new Error('an odd requirement')
    const { typeCondition, selections } = node
    return { isOfType: typeTest(typeCondition, supergraph), read: readerOf(selections, supergraph) }
  })
  return (target) => {
    let told: Target | undefined
    for (const { isOfType, read } of fragments) {
      if (!isOfType(target.__typename)) continue
      const part = read(target)
      if (!part) continue
      if (told) merge(told, part)
      else told = part
    }
    return told
  }
}

type Read = (source: any) => Target | null | undefined

/** Reads the fields of an object; undefined if one of them is not there. */
function readerOf(selections: readonly QueryPlanSelectionNode[], supergraph: GraphQLSchema): Read {
  const leaves = selections.map(leafOf)
  if (leaves.every((name) => name !== undefined)) return leavesReader(leaves)
  const steps = selections.map((node) => stepOf(node, supergraph))
  return (source) => {
    if (source === null) return null
    const read: Target = {}
    for (const step of steps) if (!step(source, read)) return undefined
    return read
  }
}

const leafOf = (node: QueryPlanSelectionNode): string | undefined =>
  node.kind === 'Field' && !node.selections ? (node.alias ?? node.name) : undefined

/** For keys without objects in them, as nearly all are. */
const leavesReader = (names: readonly string[]): Read =>
  writtenOut(
    `(source) => {
      if (source === null) return null
      ${names.map((name, i) => `const v${i} = source.${name}; if (v${i} === undefined) return undefined`).join('\n')}
      ${objectOf(names.map((name, i) => ({ name, value: `v${i}` })))}
    }`,
    [],
  )

/** Adds a part of what is read; false if it is not there. */
type Step = (source: Target, read: Target) => boolean

function stepOf(node: QueryPlanSelectionNode, supergraph: GraphQLSchema): Step {
  if (node.kind === 'InlineFragment') {
    const isOfType = node.typeCondition ? typeTest(node.typeCondition, supergraph) : () => false
    const reader = readerOf(node.selections, supergraph)
    return (source, read) => {
      if (isOfType(source.__typename)) merge(read, reader(source) ?? {})
      return true
    }
  }
  const name = node.alias ?? node.name
  if (!node.selections) {
    return (source, read) => {
      const value = source[name]
      if (value === undefined) return false
      read[name] = value
      return true
    }
  }
  const inner = readerOf(node.selections, supergraph)
  return (source, read) => {
    const value = source[name]
    if (value === undefined) return false
    // What is not there is told as null, within a key as within a list.
    read[name] = Array.isArray(value)
      ? value.map((element) => inner(element) ?? null)
      : (inner(value) ?? null)
    return true
  }
}
