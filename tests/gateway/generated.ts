// Random queries over a schema, the same for the same seed.
import {
  getNamedType,
  getNullableType,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isListType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql'

export interface Generated {
  readonly query: string
  readonly variables: Record<string, unknown>
}

export interface GeneratorOptions {
  readonly schema: GraphQLSchema
  readonly seed: number
  /** A value for an argument; undefined leaves it out where it may be. */
  readonly valueOf: (argument: GraphQLArgument, chance: Chance) => unknown
  readonly depthMax?: number
  /** Fields that are left alone. */
  readonly isLeft?: (type: string, field: string) => boolean
}

export interface Chance {
  /** True once in so many times. */
  once(times: number): boolean
  pick<T>(values: readonly T[]): T
}

/** Mulberry32: small, and good enough to choose fields. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    once: (times) => next() < 1 / times,
    pick: (values) => values[Math.floor(next() * values.length)]!,
  }
}

export function* generate(options: GeneratorOptions): Generator<Generated, never> {
  for (let n = 0; ; n += 1) yield generateOne(options, chanceOf(options.seed + n))
}

interface Writing extends Required<Pick<GeneratorOptions, 'schema' | 'valueOf' | 'isLeft'>> {
  readonly chance: Chance
  readonly variables: Record<string, unknown>
  readonly definitions: string[]
  readonly fragments: string[]
}

function generateOne(options: GeneratorOptions, chance: Chance): Generated {
  const { schema, valueOf, isLeft = () => false, depthMax = 4 } = options
  const writing: Writing = {
    schema,
    valueOf,
    isLeft,
    chance,
    variables: {},
    definitions: [],
    fragments: [],
  }
  const selection = selectionOf(schema.getQueryType()!, depthMax, writing)
  const { definitions, fragments, variables } = writing
  const head = definitions.length > 0 ? `query (${definitions.join(', ')})` : 'query'
  return { query: [`${head} ${selection}`, ...fragments].join('\n'), variables }
}

function selectionOf(type: GraphQLCompositeType, depth: number, writing: Writing): string {
  const { chance } = writing
  const count = chance.pick([1, 2, 3, 4])
  const parts: string[] = []
  for (let n = 0; n < count; n += 1) parts.push(partOf(type, depth, n, writing))
  const written = parts.filter((part) => part !== '')
  if (written.length === 0 || chance.once(8)) written.push('__typename')
  return `{ ${written.join(' ')} }`
}

function partOf(type: GraphQLCompositeType, depth: number, n: number, writing: Writing): string {
  const { chance, schema, fragments } = writing
  if (isAbstractType(type) && (chance.once(2) || !('getFields' in type))) {
    const one = chance.pick(schema.getPossibleTypes(type))
    return `... on ${one.name} ${selectionOf(one, depth, writing)}`
  }
  if (chance.once(9) && depth > 1) {
    const inner = selectionOf(type, depth - 1, writing)
    return `...${conditionOf(writing)} ${inner}`
  }
  if (chance.once(12) && depth > 1) {
    const inner = selectionOf(type, depth - 1, writing)
    const name = `F${fragments.length}`
    fragments.push(`fragment ${name} on ${type.name} ${inner}`)
    return `...${name}`
  }
  return fieldOf(type, depth, n, writing)
}

function fieldOf(type: GraphQLCompositeType, depth: number, n: number, writing: Writing): string {
  const { chance, isLeft } = writing
  if (!('getFields' in type)) return ''
  const all = Object.values(type.getFields()).filter(
    (field) =>
      !isLeft(type.name, field.name) && (depth > 0 || !isCompositeType(getNamedType(field.type))),
  )
  if (all.length === 0) return ''
  const field = chance.pick(all) as GraphQLField<unknown, unknown>
  const sent = argumentsOf(field, writing)
  if (sent === undefined) return ''
  // Always an alias where arguments may differ, since one name must mean one thing.
  const alias =
    sent !== '' || chance.once(4) ? `a${depth}_${n}_${writing.definitions.length}: ` : ''
  const named = getNamedType(field.type)
  const inner = isCompositeType(named) ? ` ${selectionOf(named, depth - 1, writing)}` : ''
  return `${alias}${field.name}${sent}${conditionOf(writing)}${inner}`
}

function conditionOf({ chance, definitions, variables }: Writing): string {
  if (!chance.once(10)) return ''
  const name = `v${definitions.length}`
  const isOn = chance.once(2)
  const hasDefault = chance.once(4)
  definitions.push(`$${name}: Boolean! ${hasDefault ? `= ${isOn}` : ''}`)
  if (!hasDefault) variables[name] = isOn
  return chance.once(2) ? ` @include(if: $${name})` : ` @skip(if: $${name})`
}

/** Undefined where an argument that must be there has no value. */
function argumentsOf(field: GraphQLField<unknown, unknown>, writing: Writing): string | undefined {
  const { chance, definitions, variables, valueOf } = writing
  const sent: string[] = []
  for (const argument of field.args) {
    const value = valueOf(argument, chance)
    const isNeeded = isNonNullType(argument.type) && argument.defaultValue === undefined
    if (value === undefined) {
      if (isNeeded) return undefined
      continue
    }
    if (chance.once(2)) {
      sent.push(`${argument.name}: ${literalOf(argument.type, value)}`)
      continue
    }
    const name = `v${definitions.length}`
    definitions.push(`$${name}: ${String(argument.type)}`)
    variables[name] = value
    sent.push(`${argument.name}: $${name}`)
  }
  return sent.length > 0 ? `(${sent.join(', ')})` : ''
}

function literalOf(type: GraphQLInputType, value: unknown): string {
  const plain = getNullableType(type)
  if (isEnumType(plain)) return String(value)
  if (isListType(plain) && Array.isArray(value)) {
    return `[${value.map((one) => literalOf(plain.ofType, one)).join(', ')}]`
  }
  return JSON.stringify(value)
}
