// The GraphQL door: every operation is the root field of its name.
import { readFileSync } from 'node:fs'
import { buildSubgraphSchema } from '@apollo/subgraph'
import {
  GraphQLError,
  getNamedType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  parse,
  type DocumentNode,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'
import { resolvers as scalars } from 'graphql-scalars'
import type { Context } from '../../resolvers/kernel/context.ts'
import { Fault } from '../../resolvers/kernel/fault.ts'
import { perform, Reply, type Operation } from '../../resolvers/kernel/operation.ts'
import { thawed } from '../../resolvers/kernel/row-cache.ts'
import { guardMembers, needsOf, wordRefusal, wordsOf } from './needs.ts'
import { graphNameOf, serviceNameOf } from './spelling.ts'
import type { Subgraph } from './subgraph.ts'

const SCHEMA_FOLDER = new URL('../../schema/', import.meta.url)

/** The executable schema of a subgraph. Throws, naming each difference, if schema and code differ. */
export function graphqlDoor(subgraph: Subgraph, watcher: Watcher): GraphQLSchema {
  const file = new URL(`${subgraph.name}.graphql`, SCHEMA_FOLDER)
  return bind(parse(readFileSync(file, 'utf8'), { noLocation: true }), subgraph, watcher)
}

/** Told of what goes on at this door. */
export interface Watcher {
  /** An operation was performed, or refused, with the status that REST has for it. */
  performed(operation: string, status: number, ms: number): void
  /** A resolver threw what is not a refusal. */
  mistake(error: unknown, operation: string): void
}

/** Gives every root field its operation and every other field its member. */
export function bind(typeDefs: DocumentNode, subgraph: Subgraph, watcher: Watcher): GraphQLSchema {
  const schema = buildSubgraphSchema([
    { typeDefs, resolvers: resolversOf(subgraph, typeDefs, watcher) },
  ])
  const problems: string[] = []
  bindRoots(schema, subgraph, watcher, problems)
  checkEntities(typeDefs, subgraph, problems)
  if (problems.length > 0) {
    const list = problems.map((problem) => `  - ${problem}`).join('\n')
    throw new Error(`${subgraph.name} does not start: its schema and its code differ.\n${list}`)
  }
  bindMembers(schema, subgraph)
  guardMembers(schema, subgraph.name)
  return schema
}

function resolversOf(
  { name: service, resources }: Subgraph,
  typeDefs: DocumentNode,
  watcher: Watcher,
): any {
  const all: Record<string, any> = {}
  // What is known at once is answered at once: many objects have such fields.
  const guarded = (name: string, resolve: (...args: any[]) => unknown) => {
    const fail = (error: unknown) => {
      throw worded(error, name, service, watcher)
    }
    return (...args: unknown[]) => {
      try {
        const value = resolve(...args)
        return value instanceof Promise ? value.catch(fail) : value
      } catch (error) {
        return fail(error)
      }
    }
  }
  for (const { kind, ...node } of typeDefs.definitions) {
    const name = 'name' in node ? node.name?.value : undefined
    if (kind === 'ScalarTypeDefinition' && name && name in scalars) {
      all[name] = (scalars as Record<string, unknown>)[name]
    }
  }
  for (const { entities = {}, fields = {} } of resources) {
    for (const [type, resolve] of Object.entries(entities)) {
      // @apollo/subgraph writes the name of the type into what it is given.
      const found = async (...asked: [any, Context]) => thawed(await resolve(...asked))
      all[type] = { ...all[type], __resolveReference: guarded(type, found) }
    }
    for (const [type, own] of Object.entries(fields)) {
      for (const [field, resolve] of Object.entries(own)) {
        all[type] = { ...all[type], [field]: guarded(`${type}.${field}`, resolve) }
      }
    }
  }
  return all
}

function bindRoots(
  schema: GraphQLSchema,
  subgraph: Subgraph,
  watcher: Watcher,
  problems: string[],
): void {
  const fields = { ...schema.getMutationType()?.getFields(), ...schema.getQueryType()?.getFields() }
  const bound = new Set(['_entities', '_service'])
  for (const operation of operationsOf(subgraph)) {
    const field = fields[operation.name]
    if (!field) {
      problems.push(`schema/${subgraph.name}.graphql has no field ${operation.name}`)
      continue
    }
    if (bound.has(operation.name)) problems.push(`${operation.name} is an operation twice`)
    bound.add(operation.name)
    const asked = argumentsAsked(operation)
    const offered = field.args.map(({ name, type }) => name + (isNonNullType(type) ? '!' : ''))
    if (asked.toSorted().join() !== offered.toSorted().join()) {
      problems.push(
        `${operation.name} takes (${asked.join(', ')}) but its field offers (${offered.join(', ')})`,
      )
    }
    const [needs, declared] = [operation, needsOf(field, schema) ?? {}].map(wordsOf)
    if (needs !== declared) {
      problems.push(`${operation.name} needs (${needs}) but its field declares (${declared})`)
    }
    field.resolve = resolverOf(operation, field, subgraph, watcher)
  }
  for (const name of Object.keys(fields)) {
    if (!bound.has(name)) problems.push(`no operation of ${subgraph.name} is called ${name}`)
  }
}

export const operationsOf = ({ resources }: Pick<Subgraph, 'resources'>): Operation[] =>
  resources.flatMap(({ operations = [] }) => operations)

const argumentsAsked = ({ input }: Operation): string[] =>
  Object.entries(input).map(([name, shape]) => {
    const isOptional = (shape as any).safeParse(undefined).success
    return graphNameOf(name) + (isOptional ? '' : '!')
  })

function checkEntities(typeDefs: DocumentNode, { name, resources }: Subgraph, problems: string[]) {
  const resolved = new Set(resources.flatMap(({ entities = {} }) => Object.keys(entities)))
  for (const node of typeDefs.definitions) {
    if (node.kind !== 'ObjectTypeDefinition' && node.kind !== 'ObjectTypeExtension') continue
    const isEntity = node.directives?.some(
      (directive) =>
        directive.name.value === 'key' &&
        !directive.arguments?.some(
          ({ name, value }) =>
            name.value === 'resolvable' && value.kind === 'BooleanValue' && !value.value,
        ),
    )
    if (isEntity && !resolved.has(node.name.value)) {
      problems.push(`${node.name.value} has a key, but no entities of ${name} resolve it`)
    }
  }
}

function resolverOf(
  operation: Operation,
  field: GraphQLField<unknown, Context>,
  subgraph: Subgraph,
  watcher: Watcher,
) {
  const readers = Object.keys(operation.input).map((name) => {
    const argument = graphNameOf(name)
    const type = field.args.find((arg) => arg.name === argument)?.type
    return { name, argument, read: (type && inputReader(type, subgraph)) ?? asIs }
  })
  return async (_source: unknown, args: Record<string, unknown>, ctx: Context) => {
    const sent: Record<string, unknown> = {}
    for (const { name, argument, read } of readers) {
      if (argument in args) sent[name] = read(args[argument])
    }
    const startedMs = performance.now()
    let status = operation.rest?.status[0] ?? 200
    try {
      const performed = await perform(operation, sent, ctx)
      if (!(performed instanceof Reply)) return performed
      status = performed.status
      // An answer without a body is `true` in the graph.
      return performed.result ?? true
    } catch (error) {
      status = error instanceof Fault ? error.status : 500
      throw worded(error, operation.name, subgraph.name, watcher)
    } finally {
      watcher.performed(operation.name, status, performance.now() - startedMs)
    }
  }
}

/** A refusal as the graph words it. A mistake of ours keeps its details to the log. */
function worded(error: unknown, operation: string, service: string, watcher: Watcher) {
  if (error instanceof Fault) return wordRefusal(error, service)
  watcher.mistake(error, operation)
  return new GraphQLError('The service failed to answer.', {
    extensions: { code: 'INTERNAL_SERVER_ERROR', status: 500, service },
  })
}

const asIs = (value: unknown) => value

/** Respells the fields of input objects. Undefined for types without any. */
function inputReader(
  type: GraphQLInputType,
  subgraph: Subgraph,
): ((value: any) => unknown) | undefined {
  if (isNonNullType(type)) return inputReader(type.ofType, subgraph)
  if (isListType(type)) {
    const read = inputReader(type.ofType, subgraph)
    return read && ((value) => (Array.isArray(value) ? value.map(read) : value))
  }
  if (!isInputObjectType(type)) return undefined
  // The members' readers are made at first use, since input types may refer to themselves.
  let members: { graph: string; own: string; read: (value: any) => unknown }[] | undefined
  return (value) => {
    if (value === null || value === undefined) return value
    members ??= Object.values(type.getFields()).map(({ name, type }) => ({
      graph: name,
      own: serviceNameOf(name, subgraph),
      read: inputReader(type, subgraph) ?? asIs,
    }))
    const own: Record<string, unknown> = {}
    for (const member of members) {
      if (member.graph in value) own[member.own] = member.read(value[member.graph])
    }
    return own
  }
}

/** Lets fields without a resolver read the member of their parent in the service's spelling. */
function bindMembers(schema: GraphQLSchema, subgraph: Subgraph): void {
  const roots = new Set([schema.getQueryType(), schema.getMutationType()])
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('_') || roots.has(type)) continue
    for (const field of Object.values(type.getFields())) {
      const own = serviceNameOf(field.name, subgraph)
      if (field.resolve || own === field.name || getNamedType(field.type).name === '_Any') continue
      // Connections and the like are the graph's own and are spelled its way by everyone.
      field.resolve = (source) => source[own] ?? source[field.name]
    }
  }
}
