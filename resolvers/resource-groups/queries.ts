// Resource queries: what a group or a search asks for. Specification 3, service R.
import { z } from 'zod'
import { signedTypeOf, type FoundResource } from '../families/cloud-resources.ts'
import { oneOf, text } from '../kernel/shape.ts'
import { BadRequest } from './errors.ts'

const QUERY_LENGTH_MAX = 4096
const TYPE_FILTERS_MAX = 100
const TAG_FILTERS_MAX = 50
const TAG_VALUES_MAX = 20
const TAG_KEY_LENGTH_MAX = 128
const TAG_VALUE_LENGTH_MAX = 256

export const ALL_TYPES = 'AWS::AllSupported'
/** What types are called that have no name of their own among the signed services. */
const OWN_TYPES = 'AWS::Polygraph::'
const TYPE = /^AWS::[A-Za-z0-9]{1,60}::[A-Za-z0-9]{1,60}$/

/** The tag that says to which stack a resource belongs. */
export const STACK_TAG = 'cloudformation:stack-id'

export const resourceQuery = z.object({
  Type: oneOf(['TAG_FILTERS_1_0', 'CLOUDFORMATION_STACK_1_0']),
  Query: text.max(QUERY_LENGTH_MAX),
})
export type ResourceQuery = z.output<typeof resourceQuery>

export const isTypeName = (type: string): boolean => TYPE.test(type)

const typeFilters = z
  .array(text.refine((type) => type === ALL_TYPES || isTypeName(type), 'no type of resources'))
  .min(1)
  .max(TYPE_FILTERS_MAX)

const tagFilters = z
  .array(
    z.object({
      Key: text.min(1).max(TAG_KEY_LENGTH_MAX),
      Values: z.array(text.max(TAG_VALUE_LENGTH_MAX)).max(TAG_VALUES_MAX).default([]),
    }),
  )
  .max(TAG_FILTERS_MAX)

const documents = {
  TAG_FILTERS_1_0: z.object({
    ResourceTypeFilters: typeFilters,
    TagFilters: tagFilters.default([]),
  }),
  CLOUDFORMATION_STACK_1_0: z.object({
    ResourceTypeFilters: typeFilters,
    StackIdentifier: text.min(1).max(1024),
  }),
}

/** A query whose document was read. */
export interface ReadQuery {
  readonly ResourceTypeFilters: readonly string[]
  readonly TagFilters: readonly { readonly Key: string; readonly Values: readonly string[] }[]
  /** The name or the ARN of a stack, where the query is for one. */
  readonly StackIdentifier?: string
}

/** Refuses a query whose document does not fit its type. */
export function readQuery({ Type, Query }: ResourceQuery): ReadQuery {
  const read = documents[Type].safeParse(jsonOf(Query))
  if (read.success) return { TagFilters: [], ...read.data }
  const [issue] = read.error.issues
  const place = ['ResourceQuery.Query', ...issue!.path].join('.')
  throw BadRequest(`${place} does not fit ${Type}: ${issue!.message}.`)
}

function jsonOf(query: string): unknown {
  try {
    return JSON.parse(query)
  } catch {
    throw BadRequest('ResourceQuery.Query must be a JSON document, written as text.')
  }
}

/** Whether a resource of this type can be among what the filters let through. */
export const takesType = (filters: readonly string[], type: string): boolean =>
  filters.includes(ALL_TYPES) || filters.includes(type)

/** Every key must be there; of its values one is enough, and none stands for any. */
export function isMatch(query: ReadQuery, resource: FoundResource): boolean {
  const { ResourceTypeFilters: filters, TagFilters } = query
  const isTaken =
    takesType(filters, signedTypeOf(resource)) || filters.includes(OWN_TYPES + resource.typeName)
  return (
    isTaken &&
    TagFilters.every(({ Key, Values }) => {
      const value = tagOf(resource, Key)
      return value !== undefined && (Values.length === 0 || Values.includes(value))
    })
  )
}

export const tagOf = ({ tags }: Pick<FoundResource, 'tags'>, key: string): string | undefined =>
  tags && Object.hasOwn(tags, key) ? tags[key] : undefined

/** The types of the graph that have to be listed for a query. Undefined stands for all. */
export function typeNamesOf({ ResourceTypeFilters }: ReadQuery): string[] | undefined {
  if (!ResourceTypeFilters.every((type) => type.startsWith(OWN_TYPES))) return undefined
  return ResourceTypeFilters.map((type) => type.slice(OWN_TYPES.length))
}

/**
 * The types of the filters that no service has; `known` are the names of types in the graph.
 * A signed service calls its types by the last word or words of their names there.
 */
export const unknownTypesOf = (query: ReadQuery, known: readonly string[]): string[] =>
  query.ResourceTypeFilters.filter((type) => {
    if (type === ALL_TYPES) return false
    if (type.startsWith(OWN_TYPES)) return !known.includes(type.slice(OWN_TYPES.length))
    const word = type.slice(type.lastIndexOf(':') + 1)
    return !known.some((name) => name.endsWith(word))
  })
