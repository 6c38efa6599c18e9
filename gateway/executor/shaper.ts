// The answer to a query, cut out of what the subgraphs answered: the selected fields in their order.
//
// It shapes what is as the schema says. Anything else, such as null where the schema has none, is left
// to ApolloGateway, which knows how to word it.
import {
  getDirectiveValues,
  getNullableType,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type DirectiveNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { Unusual } from './plan.ts'
import type { Variables } from './source.ts'
import type { Target } from './targets.ts'

export type Shape = (input: Target, variables: Variables) => Record<string, unknown>
type ShapeValue = (value: any, variables: Variables) => unknown
/** Adds fields of an object to its shape. */
type Part = (input: Target, output: Record<string, unknown>, variables: Variables) => void

interface Shaping {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
}

/** Throws for operations that ask about the schema itself. */
export function compileShape(operation: OperationDefinitionNode, shaping: Shaping): Shape {
  const root = shaping.schema.getRootType(operation.operation)
  if (!root) throw new Error('no such root')
  return shapeOfObject(root, [operation.selectionSet], shaping)
}

function shapeOfObject(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  shaping: Shaping,
): Shape {
  const parts = partsOf(type, selections, shaping)
  const { name } = type
  return (input, variables) => {
    const told = input.__typename
    if (told !== undefined && told !== name) throw new Unusual()
    const output: Record<string, unknown> = {}
    for (const part of parts) part(input, output, variables)
    return output
  }
}

interface Selected {
  readonly field: FieldNode
  readonly selections: SelectionSetNode[]
  readonly isOn: (variables: Variables) => boolean
}

const always = () => true

function partsOf(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  shaping: Shaping,
): Part[] {
  const selected = new Map<string, Selected[]>()
  for (const set of selections) select(set, type, always, selected, shaping)
  return [...selected].map(([name, all]) => partOf(name, all, type, shaping))
}

function partOf(
  name: string,
  all: readonly Selected[],
  type: GraphQLObjectType,
  shaping: Shaping,
): Part {
  const isAlways = all.every(({ isOn }) => isOn === always)
  // Which of its selections hold may differ with every request. Few queries do this.
  if (!isAlways && all.length > 1) throw new Error('one field under several conditions')
  const [{ field, isOn }] = all as [Selected]
  const fieldName = field.name.value
  if (fieldName === '__typename') {
    return (_input, output, variables) => {
      if (isOn(variables)) output[name] = type.name
    }
  }
  const definition = type.getFields()[fieldName]
  if (!definition) throw new Error(`${fieldName} is about the schema itself`)
  const inner = all.flatMap(({ selections }) => selections)
  const shape = shapeOfValue(definition.type, inner, shaping)
  if (isAlways) {
    return (input, output, variables) => {
      output[name] = shape(input[name], variables)
    }
  }
  return (input, output, variables) => {
    if (isOn(variables)) output[name] = shape(input[name], variables)
  }
}

function select(
  { selections }: SelectionSetNode,
  type: GraphQLObjectType,
  isOn: Selected['isOn'],
  selected: Map<string, Selected[]>,
  shaping: Shaping,
): void {
  const { schema, fragments } = shaping
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
    if (fits) select(fragment.selectionSet, type, isOnHere, selected, shaping)
  }
}

function conditionOf(directives: readonly DirectiveNode[] = []): Selected['isOn'] {
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

function shapeOfValue(
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  shaping: Shaping,
): ShapeValue {
  const shape = shapeOfPresent(getNullableType(type) as GraphQLOutputType, selections, shaping)
  if (isNonNullType(type)) {
    return (value, variables) => {
      if (value === null || value === undefined) throw new Unusual()
      return shape(value, variables)
    }
  }
  return (value, variables) =>
    value === null || value === undefined ? null : shape(value, variables)
}

function shapeOfPresent(
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  shaping: Shaping,
): ShapeValue {
  if (isListType(type)) {
    const shape = shapeOfValue(type.ofType, selections, shaping)
    return (value, variables) => {
      if (!Array.isArray(value)) throw new Unusual()
      return value.map((element) => shape(element, variables))
    }
  }
  if (isLeafType(type)) return shapeOfLeaf(type)
  if (isObjectType(type)) {
    const shape = shapeOfObject(type, selections, shaping)
    return (value, variables) => {
      if (typeof value !== 'object') throw new Unusual()
      return shape(value, variables)
    }
  }
  return shapeOfAny(type as GraphQLCompositeType, selections, shaping)
}

/** An object whose type its own name tells. */
function shapeOfAny(
  type: GraphQLCompositeType,
  selections: readonly SelectionSetNode[],
  shaping: Shaping,
): ShapeValue {
  const { schema } = shaping
  const possible = isAbstractType(type) ? schema.getPossibleTypes(type) : []
  const shapes = new Map(
    possible.map((one) => [one.name, shapeOfObject(one, selections, shaping)] as const),
  )
  return (value, variables) => {
    const shape = shapes.get(value.__typename)
    if (!shape) throw new Unusual()
    return shape(value, variables)
  }
}

function shapeOfLeaf(type: GraphQLLeafType): ShapeValue {
  const isRight = isEnumType(type) ? enumTest(type) : LEAVES[type.name]
  if (!isRight) return (value) => value
  return (value) => {
    if (!isRight(value)) throw new Unusual()
    return value
  }
}

const enumTest = (type: GraphQLEnumType) => {
  const names = new Set(type.getValues().map(({ name }) => name))
  return (value: unknown) => names.has(value as string)
}

/** What the scalars of GraphQL itself may be; those of ours may be anything. */
const LEAVES: Readonly<Record<string, (value: unknown) => boolean>> = {
  String: (value) => typeof value === 'string',
  ID: (value) => typeof value === 'string' || Number.isInteger(value),
  Int: (value) => typeof value === 'number' && (value | 0) === value,
  Float: (value) => typeof value === 'number' && Number.isFinite(value),
  Boolean: (value) => typeof value === 'boolean',
}
