// The fields that a selection has for one type of objects, its fragments resolved.
import {
  getDirectiveValues,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  Kind,
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql'
import type { Variables } from './source.ts'

export interface Selecting {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
}

/** One place where a field is selected. */
interface Selected {
  readonly field: FieldNode
  readonly selections: readonly SelectionSetNode[]
  readonly isOn: (variables: Variables) => boolean
}

/** A field with all that is selected under it. */
export interface SelectedField {
  /** Its name in the answer. */
  readonly name: string
  readonly fields: readonly [FieldNode, ...FieldNode[]]
  readonly selections: readonly SelectionSetNode[]
  /** Undefined for what no variable leaves out. */
  readonly isOn: ((variables: Variables) => boolean) | undefined
}

const always = () => true

/** Throws for what few queries do, and whose answer may differ with every request. */
export function selectedFields(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  selecting: Selecting,
): SelectedField[] {
  const selected = new Map<string, Selected[]>()
  for (const set of selections) select(set, type, always, selected, selecting)
  return [...selected].map(([name, all]) => {
    const isAlways = all.every(({ isOn }) => isOn === always)
    if (!isAlways && all.length > 1) throw new Error('one field under several conditions')
    if (name === '__proto__') throw new Error('no name for a member of an object')
    return {
      name,
      fields: all.map(({ field }) => field) as [FieldNode],
      selections: all.flatMap(({ selections }) => selections),
      isOn: isAlways ? undefined : all[0]!.isOn,
    }
  })
}

function select(
  { selections }: SelectionSetNode,
  type: GraphQLObjectType,
  isOn: Selected['isOn'],
  selected: Map<string, Selected[]>,
  selecting: Selecting,
): void {
  const { schema, fragments } = selecting
  for (const selection of selections) {
    const isOnHere = both(isOn, conditionOf(selection.directives))
    if (selection.kind === Kind.FIELD) {
      const name = (selection.alias ?? selection.name).value
      const inner = selection.selectionSet ? [selection.selectionSet] : []
      const one = { field: selection, selections: inner, isOn: isOnHere }
      const same = selected.get(name)
      if (same) same.push(one)
      else selected.set(name, [one])
      continue
    }
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? fragments[selection.name.value]! : selection
    const condition = fragment.typeCondition && schema.getType(fragment.typeCondition.name.value)
    const fits =
      !condition ||
      condition === type ||
      (isAbstractType(condition) && schema.isSubType(condition, type))
    if (fits) select(fragment.selectionSet, type, isOnHere, selected, selecting)
  }
}

/** Whether @skip and @include let something be. */
export function conditionOf(directives: readonly DirectiveNode[] = []): Selected['isOn'] {
  const isConditional = directives.some(
    ({ name: { value } }) => value === 'skip' || value === 'include',
  )
  if (!isConditional) return always
  const node = { directives }
  return (variables) =>
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.if !== true &&
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if !== false
}

function both(first: Selected['isOn'], second: Selected['isOn']): Selected['isOn'] {
  if (first === always) return second
  if (second === always) return first
  return (variables) => first(variables) && second(variables)
}
