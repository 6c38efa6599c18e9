// The resources of all cloud services, found and kept through the graph by what they have in common.
//
// Every type that implements CloudResource follows the same conventions (docs/cloud-resources.md), so
// that no service here is known by name: a new one is found as soon as it is in the graph.
import { dataOf, type Graph, type GraphAnswer, type GraphTypes } from '../kernel/graph.ts'
import { arnOf } from './aws.ts'

const PAGE = 100
/** Below the number of aliases that a query may have. */
const LOOKUPS_MAX = 25
const SHAPES_MAX = 1_000
const FIELDS = 'id name type location tags'

/** How the resources of one type are reached. */
export interface ResourceType {
  /** The name of the type in the graph, such as `SqlDatabase`. */
  readonly name: string
  /** The connection of an account that lists them; those without hang below others. */
  readonly listed?: string
  readonly canFind: boolean
  readonly canTag: boolean
  readonly canSnapshot: boolean
}

export interface FoundResource {
  readonly id: string
  readonly typeName: string
  readonly name: string
  /** The type as its own service writes it. */
  readonly type: string
  readonly location: string | null
  readonly tags: Readonly<Record<string, string>> | null
}

interface Known {
  readonly types: readonly ResourceType[]
  /** The type behind an id of some shape, once one was found. */
  readonly byShape: Map<string, ResourceType>
}

const known = new WeakMap<object, Known>()

export const resourceTypes = (graph: Graph): readonly ResourceType[] => knownOf(graph).types

/** All resources of the person, page after page; `types` are names of types in the graph. */
export async function* listResources(
  graph: Graph,
  { types }: { types?: readonly string[] | undefined } = {},
): AsyncGenerator<FoundResource[]> {
  const listed = resourceTypes(graph).filter(
    ({ name, listed }) => listed !== undefined && (types === undefined || types.includes(name)),
  )
  if (listed.length === 0) return
  const document = listDocument(listed)
  for (const accountId of await accountIds(graph)) yield* listAccount(graph, document, accountId)

  async function* listAccount(graph: Graph, document: string, accountId: string) {
    const cursors: (string | null | undefined)[] = listed.map(() => null)
    while (cursors.some((cursor) => cursor !== undefined)) {
      const variables: Record<string, unknown> = { accountId }
      for (const [i, cursor] of cursors.entries()) {
        variables[`after${i}`] = cursor ?? null
        variables[`isAsked${i}`] = cursor !== undefined
      }
      const { cloudAccount } = dataOf(await graph.ask(document, variables))
      const page: FoundResource[] = []
      for (const [i, type] of listed.entries()) {
        const connection = cloudAccount?.[type.listed!]
        page.push(...(connection?.nodes ?? []).map((node: object) => found(type, node)))
        const { hasNextPage = false, endCursor } = connection?.pageInfo ?? {}
        cursors[i] = hasNextPage ? endCursor : undefined
      }
      if (page.length > 0) yield page
    }
  }
}

/** The resources of these ids that there are and that the person may see, by the ids as given. */
export async function findResources(
  graph: Graph,
  ids: readonly string[],
): Promise<Map<string, FoundResource>> {
  const resources = new Map<string, FoundResource>()
  const { byShape } = knownOf(graph)
  const asked = [...new Set(ids)]
  // The first of a shape that is found tells the type of the others.
  for (const id of asked) {
    if (byShape.has(shapeOf(id))) continue
    const resource = await findUnknown(graph, id)
    if (resource) resources.set(id, resource)
  }
  const rest = asked.filter((id) => !resources.has(id) && byShape.has(shapeOf(id)))
  for (const [type, ofType] of Map.groupBy(rest, (id) => byShape.get(shapeOf(id))!)) {
    for (let at = 0; at < ofType.length; at += LOOKUPS_MAX) {
      const some = ofType.slice(at, at + LOOKUPS_MAX)
      const variables = Object.fromEntries(some.map((id, i) => [`id${i}`, id]))
      const data = visibleIn(await graph.ask(findDocument(type, some.length), variables))
      for (const [i, id] of some.entries()) {
        const node = data[`found${i}`]
        if (node) resources.set(id, found(type, node))
      }
    }
  }
  return resources
}

async function findUnknown(graph: Graph, id: string): Promise<FoundResource | undefined> {
  const { types, byShape } = knownOf(graph)
  const findable = types.filter(({ canFind }) => canFind)
  if (findable.length === 0) return undefined
  const data = visibleIn(await graph.ask(unknownDocument(findable), { id }))
  for (const type of findable) {
    const node = data[`${lowered(type.name)}ById`]
    if (!node) continue
    if (byShape.size >= SHAPES_MAX) byShape.clear()
    byShape.set(shapeOf(id), type)
    return found(type, node)
  }
  return undefined
}

// What a credential does not permit to read is not there for it, and hides nothing of other types.
const visibleIn = ({ data, errors = [] }: GraphAnswer) =>
  dataOf({ data, errors: errors.filter(({ extensions }) => extensions?.status !== 403) })

/** Adds tags to a resource and overwrites those of the same names. */
export async function tagResource(
  graph: Graph,
  { typeName, id }: Pick<FoundResource, 'typeName' | 'id'>,
  tags: Readonly<Record<string, string>>,
): Promise<void> {
  const document = `mutation ($id: ID!, $tags: JSONObject!) {
    tag${typeName}(id: $id, tags: $tags) { id } }`
  dataOf(await graph.ask(document, { id, tags }))
}

export async function untagResource(
  graph: Graph,
  { typeName, id }: Pick<FoundResource, 'typeName' | 'id'>,
  keys: readonly string[],
): Promise<void> {
  const document = `mutation ($id: ID!, $keys: [String!]!) {
    untag${typeName}(id: $id, keys: $keys) { id } }`
  dataOf(await graph.ask(document, { id, keys }))
}

/** The ARN of any resource: where its id is none, the id within the account that speaks of it. */
export const arnOfResource = (account: string, id: string): string =>
  id.startsWith('arn:') ? id : arnOf({ service: OWN_ARNS, account, resource: id })

const OWN_ARNS = 'polygraph'

export function idOfArn(arn: string): string {
  const [, , service, , , ...resource] = arn.split(':')
  return service === OWN_ARNS ? resource.join(':') : arn
}

/** A resource's type as the signed services write types. */
export const signedTypeOf = ({ type, typeName }: Pick<FoundResource, 'type' | 'typeName'>) =>
  /^AWS::\w+::\w+$/.test(type) ? type : `AWS::Polygraph::${typeName}`

function knownOf(graph: Graph): Known {
  const types = graph.types()
  let read = known.get(types)
  if (!read) known.set(types, (read = { types: readTypes(types), byShape: new Map() }))
  return read
}

function readTypes(types: GraphTypes): ResourceType[] {
  const fieldsOf = (name: string) => types.get(name)?.fields ?? new Map<string, string>()
  const queries = fieldsOf('Query')
  const mutations = fieldsOf('Mutation')
  const listedBy = new Map<string, string>()
  for (const [field, type] of fieldsOf('CloudAccount')) {
    const node = fieldsOf(type).get('nodes')
    if (node) listedBy.set(node, field)
  }
  // A service that adds to all resources cannot hold some of the interface itself: the rules of the
  // graph forbid it. Its own have the same fields, and are known by them.
  const isAlike = (name: string, fields: ReadonlyMap<string, string>) =>
    queries.has(`${lowered(name)}ById`) && FIELDS.split(' ').every((field) => fields.has(field))
  return [...types].flatMap(([name, { interfaces, fields }]) => {
    if (!interfaces.includes('CloudResource') && !isAlike(name, fields)) return []
    const listed = listedBy.get(name)
    return {
      name,
      ...(listed !== undefined && { listed }),
      canFind: queries.has(`${lowered(name)}ById`),
      canTag: mutations.has(`tag${name}`) && mutations.has(`untag${name}`),
      canSnapshot: queries.has(`${lowered(name)}Snapshot`) && mutations.has(`restore${name}`),
    }
  })
}

async function accountIds(graph: Graph): Promise<string[]> {
  const document = `query ($after: String) { cloudAccounts(first: ${PAGE}, after: $after) {
    nodes { id } pageInfo { hasNextPage endCursor } } }`
  const ids: string[] = []
  let after: string | null = null
  do {
    const { cloudAccounts } = dataOf(await graph.ask(document, { after }))
    ids.push(...cloudAccounts.nodes.map(({ id }: { id: string }) => id))
    const { hasNextPage, endCursor } = cloudAccounts.pageInfo
    after = hasNextPage ? endCursor : null
  } while (after !== null)
  return ids
}

/** The document that takes long to plan, and that the first who looks for a resource would wait for. */
export function expectedDocuments(types: GraphTypes): string[] {
  const findable = readTypes(types).filter(({ canFind }) => canFind)
  return findable.length > 0 ? [unknownDocument(findable)] : []
}

function unknownDocument(findable: readonly ResourceType[]): string {
  const fields = findable.map(({ name }) => `${lowered(name)}ById(id: $id) { ${FIELDS} }`)
  return `query ($id: ID!) { ${fields.join(' ')} }`
}

// One document for all pages, so that it is planned once: what is at its end is left out.
function listDocument(listed: readonly ResourceType[]): string {
  const variables = listed.map((_, i) => `$after${i}: String $isAsked${i}: Boolean!`)
  const fields = listed.map(
    (type, i) => `${type.listed!}(first: ${PAGE}, after: $after${i}) @include(if: $isAsked${i}) {
      nodes { ${FIELDS} } pageInfo { hasNextPage endCursor } }`,
  )
  return `query ($accountId: String! ${variables.join(' ')}) {
    cloudAccount(id: $accountId) { ${fields.join(' ')} } }`
}

function findDocument(type: ResourceType, count: number): string {
  const numbers = Array.from({ length: count }, (_, i) => i)
  const variables = numbers.map((i) => `$id${i}: ID!`)
  const fields = numbers.map(
    (i) => `found${i}: ${lowered(type.name)}ById(id: $id${i}) { ${FIELDS} }`,
  )
  return `query (${variables.join(' ')}) { ${fields.join(' ')} }`
}

// What ids of one type have in common: of a path every other segment (the words between the names),
// of an ARN its service and the first word of its resource.
function shapeOf(id: string): string {
  if (id.startsWith('arn:')) {
    const [, , service, , , resource = ''] = id.split(':')
    return `arn ${service} ${resource.split('/')[0]}`
  }
  const words = id.split('/').slice(1)
  return words
    .filter((_, i) => i % 2 === 0 || words[i - 1] === 'providers')
    .join('/')
    .toLowerCase()
}

const found = ({ name }: ResourceType, node: object): FoundResource =>
  ({ ...node, typeName: name }) as FoundResource

export const lowered = (name: string): string => name[0]!.toLowerCase() + name.slice(1)
