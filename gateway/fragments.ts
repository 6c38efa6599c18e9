// What parsed documents are asked in several places: their fragments, and the names of types.
import { Kind, type DocumentNode, type FragmentDefinitionNode, type TypeNode } from 'graphql'

/** By name. */
export function fragmentsOf({ definitions }: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments: Record<string, FragmentDefinitionNode> = {}
  for (const node of definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node
  }
  return fragments
}

/** Without lists, and whether it may be null. */
export const namedType = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : namedType(type.type)
