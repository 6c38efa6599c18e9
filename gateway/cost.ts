// What a query may cost: the objects that its answer can hold at most, pages counted whole.
import type { ApolloServerPlugin } from '@apollo/server'
import {
  GraphQLError,
  getNamedType,
  isCompositeType,
  isInterfaceType,
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

const OBJECTS_MAX = 10_000
/** How many items a list has where the query does not say. */
const PAGE_DEFAULT = 25
/** The arguments by which the services let a caller choose the size of a page. */
const PAGE_ARGUMENTS = new Set(['first', 'top', 'pageSize', 'maxResults'])

interface Measured {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: Readonly<Record<string, unknown>>
  /** Set when the size of a page was taken from a variable. */
  isVaried?: boolean
}

// The server keeps parsed documents, so that the same operation comes again and again. What it costs
// is the same each time, unless its variables say how large the pages are.
const known = new WeakMap<OperationDefinitionNode, number>()

/** Refuses a query whose answer could hold too many objects, before anything of it runs. */
export const costLimit: ApolloServerPlugin = {
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, document, operation, request }) {
        if (!operation) return
        const objects = objectsOf({ schema, document, operation }, request.variables ?? {})
        if (objects <= OBJECTS_MAX) return
        throw new GraphQLError(
          `The answer could hold ${objects} objects, and at most ${OBJECTS_MAX} are allowed. ` +
            'Ask for smaller pages or fewer levels.',
          { extensions: { code: 'QUERY_TOO_COSTLY', http: { status: 400 } } },
        )
      },
    }
  },
}

export interface Costly {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
}

export const isAffordable = (costly: Costly, variables: Measured['variables']): boolean =>
  objectsOf(costly, variables) <= OBJECTS_MAX

const objectsOf = (costly: Costly, variables: Measured['variables']): number =>
  known.get(costly.operation) ?? measure(costly, variables)

function measure(
  { schema, document, operation }: Costly,
  variables: Measured['variables'],
): number {
  const measured: Measured = { schema, fragments: fragmentsOf(document), variables }
  const cost = costOf(operation, measured)
  if (!measured.isVaried) known.set(operation, cost)
  return cost
}

function costOf(operation: OperationDefinitionNode, measured: Measured): number {
  const root = measured.schema.getRootType(operation.operation)
  return root ? costOfSelections(operation.selectionSet, root, measured) : 0
}

function costOfSelections(
  { selections }: SelectionSetNode,
  parent: GraphQLNamedType,
  measured: Measured,
): number {
  let cost = 0
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      cost += costOfField(selection, parent, measured)
      continue
    }
    // Validation has already refused fragments that contain themselves.
    const fragment =
      selection.kind === Kind.FRAGMENT_SPREAD ? measured.fragments[selection.name.value] : selection
    const condition = fragment?.typeCondition?.name.value
    const type = condition ? measured.schema.getType(condition) : parent
    if (fragment && type) cost += costOfSelections(fragment.selectionSet, type, measured)
  }
  return cost
}

function costOfField(field: FieldNode, parent: GraphQLNamedType, measured: Measured): number {
  const hasFields = isObjectType(parent) || isInterfaceType(parent)
  const definition = hasFields ? parent.getFields()[field.name.value] : undefined
  const type = definition && getNamedType(definition.type)
  if (!type || !isCompositeType(type) || !field.selectionSet) return 0
  const isPaged = definition.args.some(({ name }) => PAGE_ARGUMENTS.has(name))
  const items = isPaged ? pageSizeOf(field, measured) : 1
  return 1 + items * costOfSelections(field.selectionSet, type, measured)
}

function pageSizeOf(field: FieldNode, measured: Measured): number {
  const { variables } = measured
  const argument = field.arguments?.find(({ name }) => PAGE_ARGUMENTS.has(name.value))?.value
  if (argument?.kind === Kind.VARIABLE) measured.isVaried = true
  const size =
    argument?.kind === Kind.VARIABLE
      ? Number(variables[argument.name.value])
      : argument?.kind === Kind.INT || argument?.kind === Kind.STRING
        ? Number(argument.value)
        : NaN
  return Number.isFinite(size) && size > 0 ? size : PAGE_DEFAULT
}
