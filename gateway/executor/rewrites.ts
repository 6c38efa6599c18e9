// Small changes of what is sent to a subgraph or comes from it, as a plan orders them: an entity may
// have another type there, and a field another name.
import type { FetchNode } from '@apollo/query-planner'
import type { GraphQLSchema } from 'graphql'
import { typeTest } from './types.ts'
import type { Target } from './targets.ts'

type Rewrite = NonNullable<FetchNode['inputRewrites']>[number]
export type Change = (value: unknown) => void

const ON_TYPE = '... on '

export function changerOf(
  rewrites: readonly Rewrite[] | undefined,
  supergraph: GraphQLSchema,
): Change | undefined {
  if (!rewrites?.length) return undefined
  const changes = rewrites.map((rewrite) => changeOf(rewrite, supergraph))
  return (value) => {
    for (const change of changes) change(value)
  }
}

function changeOf(rewrite: Rewrite, supergraph: GraphQLSchema): Change {
  const name = rewrite.path.at(-1)!
  if (name.startsWith(ON_TYPE)) throw new Error('a rewrite that ends at a type')
  let change: Change = each((object) => {
    if (rewrite.kind === 'ValueSetter') {
      object[name] = rewrite.setValueTo
    } else if (object[name]) {
      object[rewrite.renameKeyTo] = object[name]
      object[name] = undefined
    }
  })
  for (const step of rewrite.path.slice(0, -1).toReversed()) change = at(step, change, supergraph)
  return change
}

function at(step: string, change: Change, supergraph: GraphQLSchema): Change {
  if (!step.startsWith(ON_TYPE)) return each((object) => change(object[step]))
  const isOfType = typeTest(step.slice(ON_TYPE.length), supergraph)
  // An object that does not tell its type is of the only one that there can be.
  return each((object) => {
    if (!object.__typename || isOfType(object.__typename)) change(object)
  })
}

const each = (change: (object: Target) => void): Change => {
  return function visit(value) {
    if (Array.isArray(value)) value.forEach(visit)
    else if (typeof value === 'object' && value !== null) change(value)
  }
}
