// Whether values are already what their types would make of them, as nearly all are.
import { Kind, type TypeNode, type VariableDefinitionNode } from 'graphql'
import type { Variables } from './source.ts'

type Test = (value: unknown) => boolean

/** What the scalars of GraphQL itself leave as it is, both ways. */
export const PLAIN: Readonly<Record<string, Test>> = {
  String: (value) => typeof value === 'string',
  ID: (value) => typeof value === 'string',
  Boolean: (value) => typeof value === 'boolean',
  Int: (value) => typeof value === 'number' && (value | 0) === value,
  Float: (value) => typeof value === 'number' && Number.isFinite(value),
}

/** Undefined where something must be looked at closer: other types, defaults, names that are not meant. */
export function plainVariables(
  definitions: readonly VariableDefinitionNode[],
): ((sent: Variables) => boolean) | undefined {
  const tests: [string, Test][] = []
  for (const { variable, type, defaultValue } of definitions) {
    const test = testOf(type)
    if (!test || defaultValue) return undefined
    tests.push([variable.name.value, test])
  }
  return (sent) => {
    for (const [name, test] of tests) if (!test(sent[name])) return false
    return true
  }
}

/** What is absent or null is looked at closer too: whether it may be depends on the type. */
function testOf(type: TypeNode): Test | undefined {
  if (type.kind === Kind.NON_NULL_TYPE) return testOf(type.type)
  return type.kind === Kind.NAMED_TYPE ? PLAIN[type.name.value] : undefined
}
