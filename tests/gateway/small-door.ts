// A small graph of two services behind the gateway's HTTP door, quick to open.
import type { AddressInfo } from 'node:net'
import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { execute, parse } from 'graphql'
import pino from 'pino'
import { onTestFinished } from 'vitest'
import { openFront } from '../../gateway/front.ts'
import { openGateway, type Gateway, type Limits } from '../../gateway/gateway.ts'
import type { Safelist } from '../../gateway/safelist.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@cost", "@listSize"])`
const SCHEMAS = {
  books: `${LINK}
    type Query {
      book(id: ID!): Book
      books(first: Int): [Book!]!
      shelf(first: Int): Shelf!
      search(words: String): [Book!]! @cost(weight: 50) @listSize(assumedSize: 20)
    }
    type Mutation { addBook: Int lend: Int }
    type Shelf { nodes: [Book!]! }
    type Book @key(fields: "id") { id: ID! chapters: [Chapter!]! summary: String @cost(weight: 7) }
    type Chapter { title: String }`,
  ratings: `${LINK}
    type Query { best: Int }
    type Mutation { rate: Int }
    type Book @key(fields: "id") { id: ID! stars: Int grade: Int }`,
}

export interface SmallDoor {
  readonly gateway: Gateway
  /** Each fetch that was sent, by its service. */
  readonly sent: string[]
  /** Sends one operation, or several; the body as it came, and the status. */
  post(body: unknown, headers?: Record<string, string>): Promise<{ status: number; body: any }>
}

interface Options {
  readonly limits?: Limits
  readonly safelist?: Safelist
  /** Answers of a service wait for this. */
  readonly hold?: (service: string) => Promise<unknown> | undefined
  /** How long a query has, where it is not what its limits say. */
  readonly budgetMs?: () => number | undefined
}

export async function openSmallDoor(options: Options = {}): Promise<SmallDoor> {
  const { limits, safelist, hold, budgetMs } = options
  const sent: string[] = []
  const gateway = await openGateway({
    isIntrospectable: true,
    supergraph: supergraphSdl!,
    ...(limits && { limits }),
    safelist,
    sourceOf: (name) => ({
      prepare(query) {
        const document = parse(query)
        return async (variableValues) => {
          sent.push(name)
          await hold?.(name)
          return (await execute({ schema: schemas[name]!, document, variableValues })) as any
        }
      },
    }),
  })
  const front = await openFront<any>({
    services: [],
    isAlone: false,
    apollo: gateway.server,
    shortly: gateway.shortly,
    async contextOf() {
      const ms = budgetMs?.()
      const context = { caller: NOBODY, publicUrl: '', requestId: '', headers: {} }
      return ms === undefined ? context : { ...context, deadlineMs: performance.now() + ms }
    },
    telemetry: openTelemetry(pino({ level: 'silent' })),
    publicUrl: undefined,
    hasPage: false,
    newId: () => 'one',
  })
  await front.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await front.close()
    await gateway.server.stop()
  })
  const { port } = front.server.address() as AddressInfo
  return {
    gateway,
    sent,
    async post(body, headers = {}) {
      const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, body: await response.json() }
    },
  }
}

const book = (id: string) => ({ id, chapters: [{ title: 'One' }], summary: 'Short.' })
const RESOLVERS: Record<string, any> = {
  books: {
    Query: {
      book: (_: unknown, { id }: { id: string }) => book(id),
      books: () => [book('1')],
      shelf: () => ({ nodes: [book('1')] }),
      search: () => [book('1')],
    },
    Mutation: { addBook: () => 1, lend: () => 2 },
    Book: { __resolveReference: ({ id }: { id: string }) => book(id) },
  },
  ratings: {
    Query: { best: () => 5 },
    Mutation: { rate: () => 3 },
    Book: { stars: () => 4, grade: () => 1 },
  },
}

const definitions = Object.entries(SCHEMAS).map(([name, text]) => ({
  name,
  url: `http://${name}`,
  typeDefs: parse(text),
}))
const { supergraphSdl } = composeServices(definitions)
const schemas = Object.fromEntries(
  definitions.map(({ name, typeDefs }) => [
    name,
    buildSubgraphSchema([{ typeDefs, resolvers: RESOLVERS[name]! }]),
  ]),
)
