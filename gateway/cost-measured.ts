// A query measured by what its answer can hold at most, and by what its fields weigh.
//
// 1. An object of the answer costs 1, a leaf nothing. A field adds its weight: what the schema declares
//    (@cost), or that of a mutation.
// 2. A page multiplies what is selected in it by its size; the lists directly in it are its items. Any
//    other list is as long as the schema assumes (@listSize).
// 3. A fragment costs what it costs written out, as often as it is used; it is measured once.
import {
  getDirectiveValues,
  getNamedType,
  getNullableType,
  isCompositeType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { fragmentsOf } from './fragments.ts'

/** How long a query may be, in words and signs. */
export const TOKENS_MAX = 5_000
const MUTATION_WEIGHT = 10
/** How many items a page has where the query does not say. */
const PAGE_DEFAULT = 25
/** How many items a list has that is no page, where the schema does not say. */
const LIST_DEFAULT = 5
/** The arguments by which the services let a caller choose the size of a page. */
export const PAGE_ARGUMENTS = new Set(['first', 'top', 'pageSize', 'maxResults'])
/** Reading the schema costs nothing, but its fields are counted. */
const SCHEMA_FIELDS: Readonly<Record<string, string>> = { __schema: '__Schema', __type: '__Type' }

export interface Costly {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
}

export interface Cost {
  readonly cost: number
  /** How many fields there are with fragments written out. */
  readonly fields: number
  /** The field that costs most by itself, without what is in it. */
  readonly most: { readonly path: string; readonly cost: number }
}

/** What the composed graph declares, by `Type.field`. */
export interface Weights {
  readonly weights: ReadonlyMap<string, number>
  readonly sizes: ReadonlyMap<string, number>
}

export function weightsOf(supergraph: GraphQLSchema): Weights {
  const weights = new Map<string, number>()
  const sizes = new Map<string, number>()
  const [cost, listSize] = ['cost', 'listSize'].map((name) => supergraph.getDirective(name))
  for (const type of Object.values(supergraph.getTypeMap())) {
    if (!isObjectType(type) && !isInterfaceType(type)) continue
    for (const { name, astNode } of Object.values(type.getFields())) {
      if (!astNode?.directives?.length) continue
      const weight = cost && getDirectiveValues(cost, astNode)?.weight
      const size = listSize && getDirectiveValues(listSize, astNode)?.assumedSize
      if (weight !== undefined) weights.set(`${type.name}.${name}`, Number(weight))
      if (size !== undefined) sizes.set(`${type.name}.${name}`, Number(size))
    }
  }
  return { weights, sizes }
}

interface Measuring extends Weights {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: Readonly<Record<string, unknown>>
  /** What fragments cost, in a page and elsewhere. */
  readonly measured: Map<string, Cost>
  /** Set when the size of a page was taken from a variable. */
  isVaried: boolean
}

/** `isVaried` if other variables might make another cost. */
export function measure(
  { schema, document, operation }: Costly,
  variables: Measuring['variables'],
  weights: Weights,
): Cost & { readonly isVaried: boolean } {
  const fragments = fragmentsOf(document)
  const measuring: Measuring = {
    ...weights,
    schema,
    fragments,
    variables: { ...defaultsOf(operation), ...variables },
    measured: new Map(),
    isVaried: false,
  }
  const root = schema.getRootType(operation.operation)
  const cost = root ? costOfSelections(operation.selectionSet, root, false, measuring) : NOTHING
  return { ...cost, isVaried: measuring.isVaried }
}

function defaultsOf({ variableDefinitions = [] }: OperationDefinitionNode) {
  const defaults: Record<string, unknown> = {}
  for (const { variable, defaultValue } of variableDefinitions) {
    if (defaultValue && 'value' in defaultValue) defaults[variable.name.value] = defaultValue.value
  }
  return defaults
}

const NOTHING: Cost = { cost: 0, fields: 0, most: { path: '', cost: 0 } }

function costOfSelections(
  { selections }: SelectionSetNode,
  parent: GraphQLNamedType,
  isInPage: boolean,
  measuring: Measuring,
): Cost {
  let all = NOTHING
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      all = add(all, costOfField(selection, parent, isInPage, measuring))
    } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
      all = add(all, costOfFragment(selection.name.value, isInPage, measuring))
    } else {
      const condition = selection.typeCondition?.name.value
      const type = condition === undefined ? parent : measuring.schema.getType(condition)
      if (type) all = add(all, costOfSelections(selection.selectionSet, type, isInPage, measuring))
    }
  }
  return all
}

const add = (one: Cost, other: Cost): Cost => ({
  cost: one.cost + other.cost,
  fields: one.fields + other.fields,
  most: other.most.cost > one.most.cost ? other.most : one.most,
})

/** Validation has already refused fragments that contain themselves. */
function costOfFragment(name: string, isInPage: boolean, measuring: Measuring): Cost {
  const key = `${name} ${isInPage}`
  let cost = measuring.measured.get(key)
  if (!cost) {
    const fragment = measuring.fragments[name]
    const type = fragment && measuring.schema.getType(fragment.typeCondition.name.value)
    cost = type ? costOfSelections(fragment.selectionSet, type, isInPage, measuring) : NOTHING
    measuring.measured.set(key, cost)
  }
  return cost
}

function costOfField(
  field: FieldNode,
  parent: GraphQLNamedType,
  isInPage: boolean,
  measuring: Measuring,
): Cost {
  const name = field.name.value
  const path = field.alias?.value ?? name
  const hasFields = isObjectType(parent) || isInterfaceType(parent)
  const definition = hasFields ? parent.getFields()[name] : undefined
  if (!definition) {
    const type = measuring.schema.getType(SCHEMA_FIELDS[name] ?? '')
    const { fields } =
      type && field.selectionSet
        ? costOfSelections(field.selectionSet, type, false, measuring)
        : NOTHING
    return { ...NOTHING, fields: 1 + fields }
  }
  const isMutation = parent === measuring.schema.getMutationType()
  const declared = measuring.weights.get(`${parent.name}.${name}`)
  const weight = declared ?? (isMutation ? MUTATION_WEIGHT : 0)
  const type = getNamedType(definition.type)
  if (!isCompositeType(type) || !field.selectionSet) {
    return { cost: weight, fields: 1, most: { path, cost: weight } }
  }

  const isPage = definition.args.some((argument) => PAGE_ARGUMENTS.has(argument.name))
  const isList = isListType(getNullableType(definition.type))
  const inside = costOfSelections(field.selectionSet, type, isPage && !isList, measuring)
  const assumed = measuring.sizes.get(`${parent.name}.${name}`)
  const times = isPage
    ? pageSizeOf(field, assumed ?? PAGE_DEFAULT, measuring)
    : isList && !isInPage
      ? (assumed ?? LIST_DEFAULT)
      : 1
  const own = weight + (isList ? times : 1)
  const within = inside.most.cost * times
  return {
    cost: own + times * inside.cost,
    fields: 1 + inside.fields,
    most:
      within > own ? { path: `${path}.${inside.most.path}`, cost: within } : { path, cost: own },
  }
}

function pageSizeOf(field: FieldNode, assumed: number, measuring: Measuring): number {
  const argument = field.arguments?.find(({ name }) => PAGE_ARGUMENTS.has(name.value))?.value
  if (argument?.kind === Kind.VARIABLE) measuring.isVaried = true
  const size =
    argument?.kind === Kind.VARIABLE
      ? Number(measuring.variables[argument.name.value])
      : argument?.kind === Kind.INT || argument?.kind === Kind.STRING
        ? Number(argument.value)
        : NaN
  return Number.isFinite(size) && size > 0 ? size : assumed
}
