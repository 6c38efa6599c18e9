// The operations that clients may send, where an operator lists them.
//
// The list is a folder of .graphql files, or a manifest in JSON: that of Apollo's persisted queries, or an
// object of hashes and operations. Operations are compared as they are printed, each with the fragments
// that it uses, so that neither spaces nor comments nor the order of fragments matter.
import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ApolloServerPlugin } from '@apollo/server'
import {
  GraphQLError,
  Kind,
  parse,
  print,
  visit,
  type DocumentNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
} from 'graphql'
import type { Logger } from 'pino'
import { z } from 'zod'
import type { GatewayContext } from './callers.ts'
import { BadConfiguration } from './configuration.ts'
import { fragmentsOf } from './fragments.ts'

interface Chosen {
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
}

export interface Safelist {
  /** Refuses what is not listed. */
  readonly plugin: ApolloServerPlugin<GatewayContext>
  allows(chosen: Chosen, context: GatewayContext): boolean
  /** The text of a listed operation by its hash or id, for clients that send no more than that. */
  textOf(id: string): string | undefined
  /** Of all that are listed. */
  texts(): Iterable<string>
}

export interface SafelistOptions {
  readonly path: string
  /** Without it what is not listed is logged, and answered. */
  readonly isEnforced: boolean
  readonly log: Pick<Logger, 'warn'>
}

export function openSafelist({ path, isEnforced, log }: SafelistOptions): Safelist {
  const { listed, texts } = readList(path)
  const known = new WeakMap<OperationDefinitionNode, boolean>()

  function isListed({ document, operation }: Chosen): boolean {
    let is = known.get(operation)
    if (is !== undefined) return is
    const words = wordsOf(operation, fragmentsOf(document))
    known.set(operation, (is = listed.has(words)))
    if (!is && !isEnforced) {
      const about = { operation: operation.name?.value, sha256: hashOf(words), query: blank(words) }
      log.warn(about, 'not listed')
    }
    return is
  }

  // Services that ask the graph are part of it, and are not on a list of clients' operations.
  const allows = (chosen: Chosen, { isOurs = false }: GatewayContext) =>
    isOurs || isListed(chosen) || !isEnforced

  return {
    allows,
    textOf: (id) => texts.get(id),
    texts: () => texts.values(),
    plugin: {
      async requestDidStart({ contextValue }) {
        return {
          async didResolveOperation({ document, operation }) {
            if (!allows({ document, operation: operation! }, contextValue))
              throw notListed(operation!)
          },
        }
      },
    },
  }
}

/** Where the server looks for an operation of which it was sent no more than the hash. */
export const listedTexts = ({ textOf }: Safelist) => ({
  // The server's own keys begin so.
  get: async (key: string) => textOf(key.replace(/^apq:/, '')),
  set: async () => {},
  delete: async () => true,
})

const notListed = ({ name }: OperationDefinitionNode) =>
  new GraphQLError(
    `The operation ${name?.value ?? 'without a name'} is not one of those that may be sent here. ` +
      'Send one that is listed, word for word, or have the operator add it to POLYGRAPH_SAFELIST.',
    { extensions: { code: 'OPERATION_NOT_ALLOWED', http: { status: 400 } } },
  )

interface List {
  /** Operations as they are printed. */
  readonly listed: ReadonlySet<string>
  /** Texts by id, or by SHA-256. */
  readonly texts: ReadonlyMap<string, string>
}

/** Throws BadConfiguration if there is no list, or if something in it cannot be read. */
function readList(path: string): List {
  const files = read(path, () => filesOf(path))
  const documents = files.map(({ name, id, text }) => ({
    id,
    text,
    document: read(name, () => parse(text, { noLocation: true })),
  }))
  // A fragment may stand in another file than the operations that use it.
  const shared = Object.assign({}, ...documents.map(({ document }) => fragmentsOf(document)))
  const listed = new Set<string>()
  const texts = new Map<string, string>()
  for (const { id, text, document } of documents) {
    texts.set(id ?? hashOf(text), text)
    const fragments = { ...shared, ...fragmentsOf(document) }
    for (const node of document.definitions) {
      if (node.kind === Kind.OPERATION_DEFINITION) listed.add(wordsOf(node, fragments))
    }
  }
  if (listed.size === 0) throw new BadConfiguration(`  - POLYGRAPH_SAFELIST: ${path} lists nothing`)
  return { listed, texts }
}

function read<T>(name: string, reading: () => T): T {
  try {
    return reading()
  } catch (error) {
    throw new BadConfiguration(`  - POLYGRAPH_SAFELIST: ${name}: ${(error as Error).message}`)
  }
}

interface ListedText {
  readonly name: string
  readonly id?: string
  readonly text: string
}

const manifest = z.union([
  z.object({
    format: z.literal('apollo-persisted-query-manifest'),
    version: z.literal(1),
    operations: z.array(z.object({ id: z.string(), body: z.string() })),
  }),
  z.record(z.string(), z.string()),
])

function filesOf(path: string): ListedText[] {
  if (statSync(path).isDirectory()) {
    return globSync(join(path, '**/*.{graphql,gql}')).map((name) => ({
      name,
      text: readFileSync(name, 'utf8'),
    }))
  }
  const listed = manifest.parse(JSON.parse(readFileSync(path, 'utf8')))
  const operations = Array.isArray(listed.operations)
    ? listed.operations
    : Object.entries(listed as Record<string, string>).map(([id, body]) => ({ id, body }))
  return operations.map(({ id, body }) => ({ name: `${path}, ${id}`, id, text: body }))
}

/** An operation and the fragments that it uses, always in the same words. */
function wordsOf(
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): string {
  const used = new Map<string, string>()
  const use = (node: OperationDefinitionNode | FragmentDefinitionNode): string => {
    visit(node, {
      FragmentSpread({ name: { value } }) {
        const fragment = fragments[value]
        if (!fragment || used.has(value)) return
        used.set(value, '')
        used.set(value, use(fragment))
      },
    })
    return print(node)
  }
  const own = use(operation)
  return [own, ...[...used].toSorted().map(([, words]) => words)].join('\n')
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Without the texts in it, which may be secrets. */
const blank = (words: string): string =>
  print(visit(parse(words), { StringValue: (node) => ({ ...node, value: '', block: false }) }))
