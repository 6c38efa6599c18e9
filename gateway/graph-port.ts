// How services ask the whole graph: through the gateway like everyone, under the same limits.
import { readFileSync } from 'node:fs'
import { Kind, parse } from 'graphql'
import { Unavailable } from '../resolvers/kernel/fault.ts'
import type { GraphPort, GraphType, GraphTypes } from '../resolvers/kernel/graph.ts'
import { NOTE_HEADER, type Notes } from '../subgraphs/server/auth/gateway.ts'
import type { Credentials } from '../subgraphs/server/subgraph.ts'
import { GATEWAY } from './callers.ts'
import { namedType } from './fragments.ts'
import type { Gateway } from './gateway.ts'
import { askOverHttp } from './over-http.ts'
import { SUPERGRAPH } from './supergraph.ts'

interface InProcess {
  /** Asked late, since services are opened before the gateway over them. */
  readonly gateway: () => Pick<Gateway, 'answer'>
  readonly credentials: Pick<Credentials, 'byUser'>
  readonly publicUrl: string
  readonly types?: () => GraphTypes
}

export const graphInProcess = ({
  gateway,
  credentials,
  publicUrl,
  types = composedTypes,
}: InProcess): GraphPort => ({
  types,
  person: async (userId) => credentials.byUser(userId),
  ask: (caller, query, variables) =>
    gateway().answer(
      { query, variables },
      { caller, publicUrl, requestId: '', headers: {}, isOurs: true },
    ),
})

interface OverHttp {
  readonly urls: readonly string[]
  readonly credentials: Pick<Credentials, 'byUser'>
  readonly notes: Notes
}

export function graphOverHttp({ urls, credentials, notes }: OverHttp): GraphPort {
  const send = askOverHttp({ name: GATEWAY, urls })
  return {
    types: composedTypes,
    person: async (userId) => credentials.byUser(userId),
    async ask(caller, query, variables) {
      const note = await notes.write(caller, GATEWAY)
      try {
        return (await send({ query, variables }, { [NOTE_HEADER]: note })) as any
      } catch {
        throw Unavailable('The graph does not answer. Try again.')
      }
    },
  }
}

let composed: GraphTypes | undefined
export const composedTypes = (): GraphTypes =>
  (composed ??= typesOf(readFileSync(SUPERGRAPH, 'utf8')))

/** The object types of a schema. */
export function typesOf(schema: string): GraphTypes {
  const types = new Map<string, GraphType>()
  for (const node of parse(schema, { noLocation: true }).definitions) {
    if (node.kind !== Kind.OBJECT_TYPE_DEFINITION) continue
    types.set(node.name.value, {
      interfaces: (node.interfaces ?? []).map(({ name }) => name.value),
      fields: new Map((node.fields ?? []).map(({ name, type }) => [name.value, namedType(type)])),
    })
  }
  return types
}
