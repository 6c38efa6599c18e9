// The fragments of a document, by name.
import { Kind, type DocumentNode, type FragmentDefinitionNode } from 'graphql'

export function fragmentsOf({ definitions }: DocumentNode): Record<string, FragmentDefinitionNode> {
  const fragments: Record<string, FragmentDefinitionNode> = {}
  for (const node of definitions) {
    if (node.kind === Kind.FRAGMENT_DEFINITION) fragments[node.name.value] = node
  }
  return fragments
}
