// An operation of a subgraph in this process, made into functions once for all times it is asked.
//
// It answers what `execute` of graphql-js answers, errors and their places included. What it does once
// that `execute` does for each object: find the fields, their resolvers and their arguments. Resolvers are
// told of their field what is the same each time, so neither the path nor the variables.
import {
  execute,
  getOperationAST,
  getVariableValues,
  GraphQLError,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  locatedError,
  print,
  type DocumentNode,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionSetNode,
  type VariableDefinitionNode,
} from 'graphql'
import { fragmentsOf } from '../fragments.ts'
import { argumentsReader } from './arguments.ts'
import { entityResolverOf } from './entities.ts'
import { PLAIN, plainVariables } from './plain-variables.ts'
import { selectedFields, type SelectedField, type Selecting } from './selected.ts'
import type { Answer, Variables } from './source.ts'
import { objectOf, writtenOut } from './written-out.ts'

const VARIABLE_ERRORS_MAX = 50

export type Run = (variables: Variables, contextValue: unknown) => Answer | Promise<Answer>

/** One execution. */
interface Execution {
  readonly context: unknown
  readonly variables: Variables
  readonly errors: GraphQLError[]
  /** The arguments of each field that takes some, from when it is first resolved. */
  readonly argumentsOf: Record<string, unknown>[]
}

/** Where in the answer something stands. It is written out for errors alone. */
interface Place {
  readonly within: Place | undefined
  readonly key: string | number
}

type Complete = (value: any, execution: Execution, place: Place) => unknown
type Fields = (source: any, execution: Execution, place: Place | undefined) => unknown

interface Compiling extends Selecting {
  /** How many fields take arguments. */
  withArguments: number
}

/** Leaves to `execute` what is asked so rarely that it is not compiled. */
export function compileOperation(schema: GraphQLSchema, document: DocumentNode): Run {
  try {
    return compiled(schema, document)
  } catch {
    return (variableValues, contextValue) =>
      execute({ schema, document, variableValues, contextValue }) as Answer | Promise<Answer>
  }
}

/** Throws for what is not compiled. */
export function compiled(schema: GraphQLSchema, document: DocumentNode): Run {
  const operation = getOperationAST(document)
  const root = operation && schema.getRootType(operation.operation)
  if (!root || operation.operation === 'subscription') throw new Error('neither query nor mutation')
  const compiling: Compiling = { schema, fragments: fragmentsOf(document), withArguments: 0 }
  const isSerial = operation.operation === 'mutation'
  const fields = fieldsOf(root, [operation.selectionSet], compiling, isSerial)
  const coerce = coercion(schema, operation.variableDefinitions ?? [])

  return (sent, context) => {
    const { coerced, errors: wrong } = coerce(sent)
    if (!coerced) return { errors: wrong! }
    const errors: GraphQLError[] = []
    const argumentsOf = Array(compiling.withArguments)
    const execution: Execution = { context, variables: coerced, errors, argumentsOf }
    const answer = (data: unknown) =>
      (errors.length > 0 ? { errors, data } : { data }) as unknown as Answer
    const fail = (error: unknown) => {
      errors.push(error as GraphQLError)
      return answer(null)
    }
    try {
      const data = fields({}, execution, undefined)
      return data instanceof Promise ? data.then(answer, fail) : answer(data)
    } catch (error) {
      return fail(error)
    }
  }
}

type Coerced = { coerced?: Variables; errors?: readonly GraphQLError[] }

/** Representations may be anything, and are many: they are taken as they are. */
function coercion(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
): (sent: Variables) => Coerced {
  const others = definitions.filter(({ type }) => print(type) !== '[_Any!]!')
  const arePlain = plainVariables(others)
  const isPlain = (sent: Variables) =>
    (others.length === definitions.length || Array.isArray(sent.representations)) &&
    arePlain?.(sent) === true
  return (sent) =>
    isPlain(sent)
      ? { coerced: sent }
      : getVariableValues(schema, definitions, sent, { maxErrors: VARIABLE_ERRORS_MAX })
}

function fieldsOf(
  type: GraphQLObjectType,
  selections: readonly SelectionSetNode[],
  compiling: Compiling,
  isSerial = false,
): Fields {
  const fields = selectedFields(type, selections, compiling).map((selected) => ({
    ...selected,
    ...fieldOf(selected, type, compiling),
  }))
  if (isSerial) {
    return async (source, execution, place) => {
      const output: Record<string, unknown> = {}
      for (const { name, run, isOn } of fields) {
        if (!isOn || isOn(execution.variables)) output[name] = await run(source, execution, place)
      }
      return output
    }
  }
  return fields.length > 0 ? together(fields) : () => ({})
}

/** All fields of an object are resolved before any of them is waited for. */
function together(fields: readonly RunField[]): Fields {
  const given: unknown[] = [failBeside, settleAll]
  const steps = fields.map(({ run, shown, isOn }, i) => {
    const resolve = `v${i} = f${given.push(run) - 1}(source, execution, place)`
    const step = shown
      ? `v${i} = source.${shown.member}; if (!f${given.push(shown.isShown) - 1}(v${i})) ${resolve}`
      : resolve
    return isOn ? `if (o${i} = f${given.push(isOn) - 1}(execution.variables)) { ${step} }` : step
  })
  const names = fields.map((_, i) => `v${i}`).join()
  const object = objectOf(
    fields.map(({ name, isOn }, i) => ({ name, value: `v${i}`, isOn: isOn && `o${i}` })),
  )
  return writtenOut(
    `(source, execution, place) => {
      let ${names}, ${fields.map((_, i) => `o${i}`).join()}
      try { ${steps.join('\n')} } catch (error) { return f0([${names}], error) }
      if (${fields.map((_, i) => `v${i} instanceof Promise`).join(' || ')})
        return f1([${names}], (${names}) => { ${object} })
      ${object}
    }`,
    given,
  )
}

/** What waits may fail too, which must not go unseen. */
function failBeside(values: readonly unknown[], error: unknown): Promise<never> {
  const pending = values.filter((value) => value instanceof Promise)
  if (pending.length === 0) throw error
  return failAfter(pending, error)
}

const settleAll = (values: readonly unknown[], make: (...settled: unknown[]) => unknown) =>
  Promise.all(values).then((settled) => make(...settled))

/** Nothing goes on unseen, and nothing that fails meanwhile is left without a listener. */
const failAfter = (pending: readonly unknown[], error: unknown): Promise<never> =>
  Promise.allSettled(pending).then(() => {
    throw error
  })

/** How a field is resolved and completed. */
interface Field {
  readonly run: Fields
  /** Where a member of the object is its value, if that is already what its type would make of it. */
  readonly shown?: { readonly member: string; readonly isShown: (value: unknown) => boolean }
}

type RunField = Field & Pick<SelectedField, 'name' | 'isOn'>

function fieldOf(
  { name, fields, selections }: SelectedField,
  parent: GraphQLObjectType,
  compiling: Compiling,
): Field {
  const [field] = fields
  const fieldName = field.name.value
  if (fieldName === '__typename') return { run: () => parent.name }
  const definition = parent.getFields()[fieldName]
  if (!definition) throw new Error(`${fieldName} is about the schema itself`)
  const { type: returnType } = definition
  const at: At = { fields, coordinate: `${parent.name}.${fieldName}` }
  const complete = completionOf(returnType, selections, compiling, at)
  const { schema } = compiling
  const info = { fieldName, fieldNodes: fields, returnType, parentType: parent, schema }
  const resolve = (entityResolverOf(definition, schema) ?? definition.resolve) as
    ((...told: unknown[]) => unknown) | undefined
  const readArguments = argumentsReader(definition, field)
  const slot = definition.args.length > 0 ? compiling.withArguments++ : -1
  const isShown = resolve || slot !== -1 ? undefined : shownAsIs(returnType)

  const run: Fields = (source, execution, within) => {
    const place: Place = { within, key: name }
    try {
      const told =
        slot === -1 ? {} : (execution.argumentsOf[slot] ??= readArguments(execution.variables))
      let value: unknown
      if (resolve) value = resolve(source, told, execution.context, info)
      else {
        value = source[fieldName]
        if (typeof value === 'function') value = source[fieldName](told, execution.context, info)
      }
      if (isPromise(value)) {
        return Promise.resolve(value)
          .then((settled) => complete(settled, execution, place))
          .catch((error: unknown) => refuse(error, returnType, at, execution, place))
      }
      const completed = complete(value, execution, place)
      if (!(completed instanceof Promise)) return completed
      return completed.catch((error: unknown) => refuse(error, returnType, at, execution, place))
    } catch (error) {
      return refuse(error, returnType, at, execution, place)
    }
  }
  return isShown ? { run, shown: { member: fieldName, isShown } } : { run }
}

const isPromise = (value: any): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && typeof value.then === 'function'

/** The field under which a value stands, for errors. */
interface At {
  readonly fields: readonly FieldNode[]
  readonly coordinate: string
}

/** Null with an error, where the schema lets a value be null; or else its parent fails too. */
function refuse(
  raw: unknown,
  type: GraphQLOutputType,
  { fields }: At,
  { errors }: Execution,
  place: Place,
): null {
  const error = locatedError(raw, fields, pathOf(place))
  if (isNonNullType(type)) throw error
  errors.push(error)
  return null
}

function pathOf(place: Place): (string | number)[] {
  const path: (string | number)[] = []
  for (let at: Place | undefined = place; at; at = at.within) path.push(at.key)
  return path.toReversed()
}

function completionOf(
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  compiling: Compiling,
  at: At,
): Complete {
  if (isNonNullType(type)) {
    const complete = completionOf(type.ofType, selections, compiling, at)
    const present = (completed: unknown) => {
      if (completed !== null) return completed
      throw new Error(`Cannot return null for non-nullable field ${at.coordinate}.`)
    }
    return (value, execution, place) => {
      const completed = complete(value, execution, place)
      return completed instanceof Promise ? completed.then(present) : present(completed)
    }
  }
  const complete = presentCompletionOf(type, selections, compiling, at)
  return (value, execution, place) => {
    if (value === null || value === undefined) return null
    if (value instanceof Error) throw value
    return complete(value, execution, place)
  }
}

function presentCompletionOf(
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  compiling: Compiling,
  at: At,
): Complete {
  if (isLeafType(type)) return leafCompletionOf(type)
  if (isListType(type)) return listCompletionOf(type.ofType, selections, compiling, at)
  if (isAbstractType(type)) return abstractCompletionOf(type, selections, compiling, at)
  if (!isObjectType(type) || type.isTypeOf) throw new Error(`${type} is not compiled`)
  return fieldsOf(type, selections, compiling)
}

/** For leaves of GraphQL's own: whether a value is already what they would make of it. */
function shownAsIs(type: GraphQLOutputType): ((value: unknown) => boolean) | undefined {
  const leaf = isNonNullType(type) ? type.ofType : type
  return isLeafType(leaf) && !isEnumType(leaf) ? PLAIN[leaf.name] : undefined
}

function leafCompletionOf(type: GraphQLLeafType): Complete {
  const isShown = shownAsIs(type)
  return (value) => {
    if (isShown?.(value)) return value
    const shown = type.serialize(value)
    if (shown !== null && shown !== undefined) return shown
    throw new Error(
      `Expected \`${type}.serialize(${value})\` to return non-nullable value, returned: ${shown}`,
    )
  }
}

function listCompletionOf(
  type: GraphQLOutputType,
  selections: readonly SelectionSetNode[],
  compiling: Compiling,
  at: At,
): Complete {
  const complete = completionOf(type, selections, compiling, at)
  const completeItem = (item: any, execution: Execution, place: Place): unknown => {
    try {
      const completed = isPromise(item)
        ? Promise.resolve(item).then((settled) => complete(settled, execution, place))
        : complete(item, execution, place)
      if (!(completed instanceof Promise)) return completed
      return completed.catch((error: unknown) => refuse(error, type, at, execution, place))
    } catch (error) {
      return refuse(error, type, at, execution, place)
    }
  }
  return (value, execution, place) => {
    const items: unknown[] = Array.isArray(value) ? value : itemsOf(value, at)
    const completed: unknown[] = []
    let isPending = false
    try {
      for (const [key, item] of items.entries()) {
        const one = completeItem(item, execution, { within: place, key })
        completed.push(one)
        isPending ||= one instanceof Promise
      }
    } catch (error) {
      if (isPending) return failAfter(completed, error)
      throw error
    }
    return isPending ? Promise.all(completed) : completed
  }
}

function itemsOf(value: any, { coordinate }: At): unknown[] {
  if (typeof value === 'object' && typeof value[Symbol.iterator] === 'function') return [...value]
  throw new GraphQLError(`Expected Iterable, but did not find one for field "${coordinate}".`)
}

function abstractCompletionOf(
  type: GraphQLAbstractType,
  selections: readonly SelectionSetNode[],
  compiling: Compiling,
  { coordinate }: At,
): Complete {
  const { schema } = compiling
  const fieldsByName = new Map(
    schema
      .getPossibleTypes(type)
      .map((one) => [one.name, fieldsOf(one, selections, compiling)] as const),
  )
  const fieldsOfNamed = (name: unknown): Fields => {
    const fields = fieldsByName.get(name as string)
    if (fields) return fields
    throw new GraphQLError(
      `Abstract type "${type.name}" must resolve to an Object type at runtime for field "${coordinate}", not to "${name}".`,
    )
  }
  const { resolveType } = type
  return (value, execution, place) => {
    const name = resolveType
      ? resolveType(value, execution.context, { schema } as any, type)
      : value.__typename
    if (!isPromise(name)) return fieldsOfNamed(name)(value, execution, place)
    return Promise.resolve(name).then((told) => fieldsOfNamed(told)(value, execution, place))
  }
}
