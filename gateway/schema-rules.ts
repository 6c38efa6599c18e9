// What a schema must not use, since ApolloGateway refuses it or answers it wrongly.
import {
  Kind,
  parse,
  visit,
  type DirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InterfaceTypeDefinitionNode,
  type ObjectTypeDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import { namedType } from './fragments.ts'

type Composite = Pick<
  ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode,
  'name' | 'fields' | 'directives'
>

/** What is wrong with the schema of a service, a sentence for each place. */
export function brokenRules(document: DocumentNode): string[] {
  const types = document.definitions.filter(isComposite)
  return [
    ...refusedDirectives(document),
    ...answersInPieces(document),
    ...types.flatMap(unplainKeys),
    ...types.flatMap((type) => requiredArguments(type, types)),
    ...types.flatMap(unlikeRequirements),
    ...returnedInterfaceObjects(types),
  ]
}

const isComposite = (node: { kind: Kind }): node is ObjectTypeDefinitionNode =>
  node.kind === Kind.OBJECT_TYPE_DEFINITION ||
  node.kind === Kind.OBJECT_TYPE_EXTENSION ||
  node.kind === Kind.INTERFACE_TYPE_DEFINITION ||
  node.kind === Kind.INTERFACE_TYPE_EXTENSION

const REFUSED = new Set(['authenticated', 'requiresScopes', 'policy', 'context', 'fromContext'])

/** With one of these in it the supergraph is not loaded. */
function refusedDirectives(document: DocumentNode): string[] {
  const used = new Set<string>()
  visit(document, {
    Directive({ name }) {
      used.add(name.value.replace(/^federation__/, ''))
    },
    // What @link imports.
    StringValue({ value }) {
      if (value.startsWith('@')) used.add(value.slice(1))
    },
  })
  return [...REFUSED]
    .filter((name) => used.has(name))
    .map((name) => `@${name} is refused by the gateway: check it in the operation instead.`)
}

/** The gateway answers a query once and whole. */
function answersInPieces({ definitions }: DocumentNode): string[] {
  return definitions.flatMap((node) => {
    if (isComposite(node) && node.name.value === 'Subscription') {
      return ['Subscription is not served: let clients ask again, or call them.']
    }
    const isPiecewise =
      node.kind === Kind.DIRECTIVE_DEFINITION && ['defer', 'stream'].includes(node.name.value)
    return isPiecewise ? [`@${node.name.value} is not served: leave it out.`] : []
  })
}

/** Several keys, and keys of fields of fields, lead to plans that find nothing. */
function unplainKeys(type: Composite): string[] {
  const keys = directivesOf(type, 'key').map(fieldsOf)
  const { value: name } = type.name
  return [
    ...(keys.length > 1 ? [`${name} has several keys: give it one.`] : []),
    ...keys
      .filter((key) => key.includes('{'))
      .map((key) => `${name} has the key "${key}": let a key be fields of ${name} itself.`),
  ]
}

/** A client that selects the same field with other arguments would decide what is required. */
function requiredArguments(type: Composite, types: readonly Composite[]): string[] {
  return (type.fields ?? []).flatMap((field) => {
    const required = directivesOf(field, 'requires').map(fieldsOf)
    return required
      .filter((fields) => takesArguments(selected(fields), type.name.value, types))
      .map(
        (fields) =>
          `${type.name.value}.${field.name.value} requires "${fields}", of which something takes arguments: require a field without any.`,
      )
  })
}

function takesArguments(
  { selections }: SelectionSetNode,
  type: string,
  types: readonly Composite[],
): boolean {
  return selections.some((selection) => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return false
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const on = selection.typeCondition?.name.value ?? type
      return takesArguments(selection.selectionSet, on, types)
    }
    const field = types
      .filter(({ name }) => name.value === type)
      .flatMap(({ fields = [] }) => fields)
      .find(({ name }) => name.value === selection.name.value)
    const isAsked = [selection.arguments, field?.arguments].some((all = []) => all.length > 0)
    if (isAsked || !selection.selectionSet || !field) return isAsked
    return takesArguments(selection.selectionSet, namedType(field.type), types)
  })
}

/**
 * Where a query leaves out by @skip the one field that requires something, that is not fetched, and the
 * plan then finds nothing of what the same service adds beside it.
 */
function unlikeRequirements(type: Composite): string[] {
  const keys = new Set(directivesOf(type, 'key').flatMap((key) => fieldsOf(key).split(/\s+/)))
  const added = (type.fields ?? []).filter(
    (field) => !keys.has(field.name.value) && directivesOf(field, 'external').length === 0,
  )
  const required = added.map((field) => directivesOf(field, 'requires').map(fieldsOf).join())
  if (new Set(required).size <= 1) return []
  const list = added.map(
    ({ name }, i) => `${name.value} (${required[i] === '' ? 'nothing' : required[i]})`,
  )
  return [
    `What is added to ${type.name.value} requires different fields: ${list.join(', ')}. Let all require the same.`,
  ]
}

/** Who returns it does not know which type it is, and the plan does not find out. */
function returnedInterfaceObjects(types: readonly Composite[]): string[] {
  const objects = new Set(
    types
      .filter((type) => directivesOf(type, 'interfaceObject').length > 0)
      .map(({ name }) => name.value),
  )
  return types.flatMap(({ name, fields = [] }) =>
    fields
      .filter(({ type }) => objects.has(namedType(type)))
      .map(
        (field) =>
          `${name.value}.${field.name.value} returns ${namedType(field.type)}, of which this service does not know the types: return its id.`,
      ),
  )
}

const directivesOf = (
  { directives = [] }: Composite | FieldDefinitionNode,
  name: string,
): DirectiveNode[] => directives.filter((directive) => directive.name.value === name)

function fieldsOf({ arguments: given = [] }: DirectiveNode): string {
  const fields = given.find(({ name }) => name.value === 'fields')?.value
  return fields?.kind === Kind.STRING ? fields.value.trim() : ''
}

function selected(fields: string): SelectionSetNode {
  const [query] = parse(`{ ${fields} }`).definitions
  return (query as { selectionSet: SelectionSetNode }).selectionSet
}
