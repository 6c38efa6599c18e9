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
import { selectedFields, type Selecting } from './selected.ts'
import type { Variables } from './source.ts'
import type { Target } from './targets.ts'
import { objectOf, writtenOut } from './written-out.ts'

export type Shape = (input: Target, variables: Variables) => Record<string, unknown>
type ShapeValue = (value: any, variables: Variables) => unknown

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
  const given: unknown[] = [leave]
  const written = selectedFields(type, selections, shaping).map((selected) => {
    const { name, fields, selections, isOn } = selected
    const shape = given.push(shapeOfField(fields[0], type, selections, shaping)) - 1
    const value = `f${shape}(input.${name}, variables)`
    return { name, value, isOn: isOn && `f${given.push(isOn) - 1}(variables)` }
  })
  return writtenOut(
    `(input, variables) => {
      const told = input.__typename
      if (told !== undefined && told !== '${type.name}') f0()
      ${objectOf(written)}
    }`,
    given,
  )
}

function leave(): never {
  throw new Unusual()
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
