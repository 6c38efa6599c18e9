// The arguments of a field, read in the way that was found once for all requests.
import {
  isNonNullType,
  Kind,
  valueFromAST,
  type FieldNode,
  type GraphQLArgument,
  type GraphQLField,
  type ValueNode,
} from 'graphql'
import { getArgumentValues } from 'graphql/execution/values.js'
import type { Variables } from './source.ts'

type Read = (variables: Variables) => Record<string, unknown>
/** Adds one argument; false if more must be known to say what is wrong with it. */
type Add = (variables: Variables, values: Record<string, unknown>) => boolean

/** Most arguments are variables or plain values; what is written out otherwise is read each time. */
export function argumentsReader(
  definition: GraphQLField<unknown, unknown>,
  field: FieldNode,
): Read {
  const adders = definition.args.map((argument) => adderOf(argument, field))
  const read: Read = (variables) => getArgumentValues(definition, field, variables)
  if (!adders.every((add) => add !== undefined)) return read
  return (variables) => {
    const values: Record<string, unknown> = {}
    for (const add of adders) if (!add(variables, values)) return read(variables)
    return values
  }
}

function adderOf(argument: GraphQLArgument, { arguments: sent }: FieldNode): Add | undefined {
  const { name, type, defaultValue } = argument
  // What a default holds must not be changed by who gets it.
  if (typeof defaultValue === 'object' && defaultValue !== null) return undefined
  const isNeeded = isNonNullType(type)
  const addDefault: Add = (_variables, values) => {
    if (defaultValue !== undefined) values[name] = defaultValue
    return defaultValue !== undefined || !isNeeded
  }
  const node = sent?.find((one) => one.name.value === name)?.value
  if (!node) return addDefault
  if (node.kind === Kind.VARIABLE) {
    const variable = node.name.value
    return (variables, values) => {
      if (!Object.hasOwn(variables, variable)) return addDefault(variables, values)
      const value = variables[variable]
      values[name] = value
      return value !== undefined && (value !== null || !isNeeded)
    }
  }
  if (!isPlain(node)) return undefined
  const value = valueFromAST(node, type)
  if (value === undefined || typeof value === 'object') return undefined
  return (_variables, values) => {
    values[name] = value
    return true
  }
}

const isPlain = ({ kind }: ValueNode): boolean =>
  kind !== Kind.OBJECT && kind !== Kind.LIST && kind !== Kind.NULL
