// A fetch without the fields that its caller may not have, and the gaps that they leave in its answer.
import {
  getNamedType,
  GraphQLList,
  GraphQLString,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type InlineFragmentNode,
  type OperationDefinitionNode,
  type SelectionNode,
} from 'graphql'
import type { Fault } from '../resolvers/kernel/fault.ts'
import type { Needs } from '../resolvers/kernel/operation.ts'
import { needsOf, wordRefusal } from '../subgraphs/server/needs.ts'
import { conditionOf as isOnBy } from './executor/selected.ts'
import type { AnswerError, Variables } from './executor/source.ts'
import type { Target } from './executor/targets.ts'
import { typeTest } from './executor/types.ts'
import { fragmentsOf } from './fragments.ts'

/** What is missing in the objects of one selection. */
export interface Gaps {
  readonly refused: readonly Gap[]
  readonly inside: readonly { key: string; type: GraphQLOutputType; gaps: Gaps }[]
}

interface Gap {
  readonly key: string
  readonly fault: Fault
  readonly isNonNull: boolean
  /** Whether it was asked for in an object of this type, with these variables. */
  readonly isAsked: (type: unknown, variables: Variables) => boolean
}

/** Returns why a field is refused, or nothing. */
type Decide = (needs: Needs) => Fault | void

export interface Pruned {
  /** Undefined if nothing is left. */
  readonly document: DocumentNode | undefined
  readonly gaps: Gaps
}

/** Where the type of an object with gaps stands in the answer to a pruned fetch. */
const TYPE_KEY = '_typeWithGaps'
const TYPE_FIELD: FieldNode = {
  kind: Kind.FIELD,
  alias: { kind: Kind.NAME, value: TYPE_KEY },
  name: { kind: Kind.NAME, value: '__typename' },
}
/** `_entities` is no field of the composed graph. Only that it is a list of what can be null matters. */
const ENTITIES = new GraphQLList(GraphQLString)

interface Level extends Gaps {
  readonly refused: Gap[]
  readonly inside: Gaps['inside'][number][]
  readonly schema: GraphQLSchema
  readonly decide: Decide
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  /** Whether it is of the root fields of a mutation, which are performed in order. */
  readonly isInOrder: boolean
}

export function prune(document: DocumentNode, schema: GraphQLSchema, decide: Decide): Pruned {
  const operation = document.definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!
  const isInOrder = operation.operation === 'mutation'
  const fragments = fragmentsOf(document)
  const gaps: Level = { refused: [], inside: [], schema, decide, fragments, isInOrder }
  const root = schema.getRootType(operation.operation) ?? undefined
  const selections = pruneSelections(operation.selectionSet.selections, root, always, gaps)
  if (selections.length === 0) return { document: undefined, gaps }
  const used = new Set<string>()
  for (const selection of selections) {
    visit(selection, { Variable: ({ name }) => void used.add(name.value) })
  }
  const left: OperationDefinitionNode = {
    ...operation,
    variableDefinitions: (operation.variableDefinitions ?? []).filter(({ variable }) =>
      used.has(variable.name.value),
    ),
    selectionSet: { kind: Kind.SELECTION_SET, selections },
  }
  return { document: { kind: Kind.DOCUMENT, definitions: [left] }, gaps }
}

const always: Gap['isAsked'] = () => true

/** What is left of the selections of one object. What is refused is noted in its level. */
function pruneSelections(
  selections: readonly SelectionNode[],
  parent: GraphQLNamedType | undefined,
  isAsked: Gap['isAsked'],
  level: Level,
): SelectionNode[] {
  const left: SelectionNode[] = []
  for (const selection of selections) {
    if (selection.kind !== Kind.FIELD) {
      const fragment =
        selection.kind === Kind.FRAGMENT_SPREAD ? level.fragments[selection.name.value]! : selection
      const condition = fragment.typeCondition?.name.value
      const type = condition === undefined ? parent : level.schema.getType(condition)
      const asked = both(isAsked, conditionOf(condition, selection.directives, level.schema))
      const within = pruneSelections(fragment.selectionSet.selections, type, asked, level)
      if (within.length > 0) left.push({ ...selection, ...inlined(fragment, within) })
      continue
    }
    const definition = fieldOf(parent, selection)
    const gap = definition && gapOf(selection, definition, isAsked, level)
    if (!gap) {
      left.push(pruneField(selection, definition?.type, level))
      continue
    }
    level.refused.push(gap)
    // One that fails and cannot be null is the last.
    if (level.isInOrder && gap.isNonNull) break
  }
  return left
}

function gapOf(
  { name, alias, directives = [] }: FieldNode,
  definition: GraphQLField<unknown, unknown>,
  isAsked: Gap['isAsked'],
  { schema, decide, isInOrder }: Level,
): Gap | undefined {
  // Whether those after it are performed depends on a variable then; the service decides.
  if (isInOrder && directives.length > 0) return undefined
  const needs = needsOf(definition, schema)
  const fault = needs && decide(needs)
  return fault
    ? {
        key: (alias ?? name).value,
        fault,
        isNonNull: isNonNullType(definition.type),
        isAsked: both(isAsked, conditionOf(undefined, directives, schema)),
      }
    : undefined
}

function pruneField(field: FieldNode, type: GraphQLOutputType | undefined, level: Level) {
  const { selectionSet, name, alias } = field
  if (!selectionSet) return field
  const gaps: Level = { ...level, refused: [], inside: [], isInOrder: false }
  const parent = type && getNamedType(type)
  const selections = pruneSelections(selectionSet.selections, parent, always, gaps)
  if (gaps.refused.length === 0 && gaps.inside.length === 0) return field
  if (gaps.refused.length > 0) selections.push(TYPE_FIELD)
  level.inside.push({ key: (alias ?? name).value, type: type ?? ENTITIES, gaps })
  return { ...field, selectionSet: { ...selectionSet, selections } }
}

const inlined = (
  { typeCondition }: Pick<InlineFragmentNode, 'typeCondition'>,
  selections: readonly SelectionNode[],
) => ({
  kind: Kind.INLINE_FRAGMENT as const,
  ...(typeCondition && { typeCondition }),
  selectionSet: { kind: Kind.SELECTION_SET as const, selections },
})

const fieldOf = (parent: GraphQLNamedType | undefined, { name }: FieldNode) =>
  isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name.value] : undefined

const both = (one: Gap['isAsked'], other: Gap['isAsked']): Gap['isAsked'] =>
  other === always ? one : (type, variables) => one(type, variables) && other(type, variables)

/** Under a type condition, @skip and @include. */
function conditionOf(
  condition: string | undefined,
  directives: readonly DirectiveNode[] = [],
  schema: GraphQLSchema,
): Gap['isAsked'] {
  if (condition === undefined && directives.length === 0) return always
  const fits = condition === undefined ? () => true : typeTest(condition, schema)
  const isOn = isOnBy(directives)
  return (type, variables) => fits(type) && isOn(variables)
}

interface Mending {
  readonly variables: Variables
  readonly service: string
  readonly errors: AnswerError[]
}

/** Puts null and a refusal in every gap. Returns null if an object cannot be without what is missing. */
export function mend(
  object: Target,
  { refused, inside }: Gaps,
  mending: Mending,
  path: readonly (string | number)[] = [],
): Target | null {
  let stays = true
  for (const { key, fault, isNonNull, isAsked } of refused) {
    if (!isAsked(object[TYPE_KEY], mending.variables)) continue
    const { message, extensions } = wordRefusal(fault, mending.service)
    mending.errors.push({ message, path: [...path, key], extensions })
    if (isNonNull) stays = false
    else object[key] = null
  }
  delete object[TYPE_KEY]
  for (const { key, type, gaps } of inside) {
    const value = object[key]
    if (value === null || value === undefined) continue
    const mended = mendValue(value, type, gaps, mending, [...path, key])
    if (mended === null && isNonNullType(type)) stays = false
    else object[key] = mended
  }
  return stays ? object : null
}

function mendValue(
  value: any,
  type: GraphQLOutputType,
  gaps: Gaps,
  mending: Mending,
  path: readonly (string | number)[],
): unknown {
  if (value === null) return null
  if (isNonNullType(type)) return mendValue(value, type.ofType, gaps, mending, path)
  if (!isListType(type)) return mend(value, gaps, mending, path)
  const { ofType } = type
  const items = value.map((item: unknown, i: number) =>
    mendValue(item, ofType, gaps, mending, [...path, i]),
  )
  return isNonNullType(ofType) && items.includes(null) ? null : items
}
