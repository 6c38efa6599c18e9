// Whether a fetch asks a subgraph for exactly what the client selected, in the same order.
import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isObjectType,
  parse,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'

export interface Selected {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
}

/** False also where it could be true but is not plain: directives, abstract types, introspection. */
export function isWhole(
  fetched: string,
  { schema, operation, fragments }: Selected,
  hiding: ReadonlySet<string>,
): boolean {
  const root = schema.getRootType(operation.operation)
  if (!root) return false
  try {
    const selected = outline({ schema, fragments, hiding }, root, [operation.selectionSet])
    const document = parse(fetched, { noLocation: true })
    const asked = document.definitions.find(({ kind }) => kind === 'OperationDefinition')
    const own = Object.fromEntries(
      document.definitions
        .filter((node) => node.kind === 'FragmentDefinition')
        .map((node) => [node.name.value, node]),
    )
    const { selectionSet } = asked as OperationDefinitionNode
    return selected === outline({ schema, fragments: own, hiding }, root, [selectionSet])
  } catch (error) {
    if (error === NOT_PLAIN) return false
    throw error
  }
}

/** The enumerations with values that the graph does not show: it checks each answer for them. */
export function enumsThatHide(supergraph: DocumentNode): ReadonlySet<string> {
  const names = new Set<string>()
  for (const node of supergraph.definitions) {
    if (node.kind !== 'EnumTypeDefinition') continue
    const isHidden = node.values?.some(({ directives }) =>
      directives?.some(({ name }) => name.value === 'inaccessible'),
    )
    if (isHidden) names.add(node.name.value)
  }
  return names
}

interface Within extends Pick<Selected, 'schema' | 'fragments'> {
  readonly hiding: ReadonlySet<string>
}

const NOT_PLAIN = new Error('a selection is not plain')

/** What an answer will look like, as text: names in order, with what is below them. */
function outline(within: Within, type: GraphQLObjectType, sets: SelectionSetNode[]): string {
  const fields = new Map<string, FieldNode[]>()
  for (const set of sets) collect(within, type, set, fields)
  const parts = [...fields].map(([shown, nodes]) => {
    const name = nodes[0]!.name.value
    if (name === '__typename') return `${shown}:${name}`
    const field = type.getFields()[name]
    if (!field) throw NOT_PLAIN
    const below = getNamedType(field.type)
    if (isEnumType(below) && within.hiding.has(below.name)) throw NOT_PLAIN
    if (!isCompositeType(below)) return `${shown}:${name}`
    if (!isObjectType(below)) throw NOT_PLAIN
    const inner = nodes.map(({ selectionSet }) => selectionSet!)
    return `${shown}:${name}${outline(within, below, inner)}`
  })
  return `{${parts.join()}}`
}

function collect(
  within: Within,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fields: Map<string, FieldNode[]>,
): void {
  for (const node of selections) {
    if (node.directives?.length) throw NOT_PLAIN
    if (node.kind === 'Field') {
      const shown = node.alias?.value ?? node.name.value
      const same = fields.get(shown)
      if (same) same.push(node)
      else fields.set(shown, [node])
      continue
    }
    const fragment = node.kind === 'FragmentSpread' ? within.fragments[node.name.value] : node
    if (!fragment || fragment.directives?.length) throw NOT_PLAIN
    // On an object, a fragment on its own type adds its fields, and one on another could add none.
    const condition = fragment.typeCondition?.name.value ?? type.name
    if (condition !== type.name) throw NOT_PLAIN
    collect(within, type, fragment.selectionSet, fields)
  }
}
