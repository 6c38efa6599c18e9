// The answer to a query, cut out of what the subgraphs answered: the selected fields in their order.
//
// It shapes what is as the schema says. Anything else, such as null where the schema has none, is left
// to ApolloGateway, which knows how to word it.
import {
  getNullableType,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { Unusual } from './plan.ts'
import { PLAIN } from './plain-variables.ts'
import { selectedFields, type SelectedField, type Selecting } from './selected.ts'
import type { Variables } from './source.ts'
import type { Target } from './targets.ts'

export type Shape = (input: Target, variables: Variables) => Record<string, unknown>
type ShapeValue = (value: any, variables: Variables) => unknown
/** Adds fields of an object to its shape. */
type Part = (input: Target, output: Record<string, unknown>, variables: Variables) => void

/** Throws for operations that ask about the schema itself. */
export function compileShape(operation: OperationDefinitionNode, shaping: Selecting): Shape {
  const root = shaping.schema.getRootType(operation.operation)
  if (!root) throw new Error('no such root')
  return shapeOfObject(root, [operation.selectionSet], shaping)
}

function shapeOfObject(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  shaping: Selecting,
): Shape {
  const parts = selectedFields(type, selections, shaping).map((one) => partOf(one, type, shaping))
  const { name } = type
  return (input, variables) => {
    const told = input.__typename
    if (told !== undefined && told !== name) throw new Unusual()
    const output: Record<string, unknown> = {}
    for (const part of parts) part(input, output, variables)
    return output
  }
}

function partOf(
  { name, fields: [field], selections, isOn }: SelectedField,
  type: GraphQLObjectType,
  shaping: Selecting,
): Part {
  const shape = shapeOfField(field, type, selections, shaping)
  if (!isOn)
    return (input, output, variables) => void (output[name] = shape(input[name], variables))
  return (input, output, variables) => {
    if (isOn(variables)) output[name] = shape(input[name], variables)
  }
}

function shapeOfField(
  field: FieldNode,
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  shaping: Selecting,
): ShapeValue {
  const name = field.name.value
  if (name === '__typename') return () => type.name
  const definition = type.getFields()[name]
  if (!definition) throw new Error(`${name} is about the schema itself`)
  return shapeOfValue(definition.type, selections, shaping)
}

function shapeOfValue(
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  shaping: Selecting,
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
  shaping: Selecting,
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
  shaping: Selecting,
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
const LEAVES: typeof PLAIN = {
  ...PLAIN,
  ID: (value) => typeof value === 'string' || Number.isInteger(value),
}
