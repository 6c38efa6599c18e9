// What a field needs of its caller, as the schema declares it: @needs(permissions:, administrator:).
//
// The gateway reads it in the composed graph and does not fetch what a caller may not have. Here it
// guards the fields inside of types; a root field is guarded by its operation, which must need the same.
import {
  defaultFieldResolver,
  getDirectiveValues,
  GraphQLError,
  isObjectType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql'
import type { Context } from '../../resolvers/kernel/context.ts'
import type { Fault } from '../../resolvers/kernel/fault.ts'
import { refusalOf, type Needs } from '../../resolvers/kernel/operation.ts'

const DIRECTIVE = 'needs'

export const hasNeeds = (schema: GraphQLSchema): boolean => !!schema.getDirective(DIRECTIVE)

/** Undefined where a field declares nothing. */
export function needsOf(
  { astNode }: Pick<GraphQLField<any, any>, 'astNode'>,
  schema: GraphQLSchema,
): Needs | undefined {
  const directive = schema.getDirective(DIRECTIVE)
  const values = directive && astNode && getDirectiveValues(directive, astNode)
  if (!values) return undefined
  const needs = values.permissions as readonly string[]
  return {
    ...(values.administrator === true && { access: 'administrators' }),
    ...(needs.length > 0 && { needs }),
  }
}

/** The same words for the same needs. */
export const wordsOf = ({ access, needs = [] }: Needs): string =>
  [access === 'administrators' ? ['administrator'] : [], needs].flat().toSorted().join(', ')

/** Guards the fields inside of types. */
export function guardMembers(schema: GraphQLSchema, service: string): void {
  const roots = new Set([schema.getQueryType(), schema.getMutationType()])
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || roots.has(type)) continue
    for (const field of Object.values(type.getFields())) {
      const needs = needsOf(field, schema)
      if (needs) guard(field, needs, service)
    }
  }
}

function guard(field: GraphQLField<any, Context>, needs: Needs, service: string): void {
  const { resolve = defaultFieldResolver } = field
  field.resolve = (source, args, ctx, info) => {
    const refused = refusalOf(ctx.caller, needs)
    if (refused) throw wordRefusal(refused, service)
    return resolve(source, args, ctx, info)
  }
}

/** A refusal as the graph words it. */
export const wordRefusal = (
  { message, details, code, status }: Fault,
  service: string,
): GraphQLError => new GraphQLError(message, { extensions: { ...details, code, status, service } })
