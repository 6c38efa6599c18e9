// Thousands of random queries, each answered by our execution, by ApolloGateway's own and by one schema.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway'
import { ApolloServer } from '@apollo/server'
import {
  execute,
  parse,
  printSchema,
  validate,
  type GraphQLArgument,
  type GraphQLSchema,
} from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compiledExecution } from '../../gateway/executor/executor.ts'
import { keepingTypes } from '../../gateway/executor/own-types.ts'
import { loadGraph } from '../../gateway/executor/graph.ts'
import type { Source } from '../../gateway/executor/source.ts'
import { compileOperation } from '../../gateway/executor/operation.ts'
import { answerFetches, type Fetch } from '../../gateway/fetches.ts'
import { gatewayOver } from '../../gateway/gateway.ts'
import { executing } from '../../gateway/in-process.ts'
import { overHttp } from '../../gateway/over-http.ts'
import { wallClock } from '../../resolvers/kernel/clock.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { generate, type Chance, type Generated } from './generated.ts'
import { oneSchema, schemas, supergraph } from './library.ts'

const QUERIES = 2_000
/** One in so many is also asked of services elsewhere. */
const APART = 8
const SEED = Number(process.env.SEED ?? 20_300_101)

const NOBODYS = { caller: NOBODY, publicUrl: '', requestId: '', headers: {} }

const plainSourceOf = (name: string): Source => ({
  prepare(query) {
    const document = parse(query)
    return async (variableValues) => {
      const answer = await execute({ schema: schemas[name]!, document, variableValues })
      return JSON.parse(JSON.stringify(answer))
    }
  },
})
// Without this ApolloGateway shows null where an interface object tells its type; see own-types.ts.
const sourceOf = (name: string) => keepingTypes(plainSourceOf(name), (type) => type === 'Item')
const dataSourceOf = (name: string): GraphQLDataSource<any> => ({
  process: async ({ request: { query, variables = {} }, context }) =>
    (await sourceOf(name).prepare(query!, undefined)(variables, context)) as any,
})

let apollos: ApolloServer
let ours: ApolloServer
let apart: ApolloServer
let api: GraphQLSchema
let one: GraphQLSchema
let compiled = 0
let left = 0

beforeAll(async () => {
  const theirs = new ApolloGateway({
    supergraphSdl: supergraph,
    buildService: ({ name }) => dataSourceOf(name),
  })
  apollos = new ApolloServer({ gateway: theirs })
  const graph = loadGraph({ sdl: supergraph })
  const execution = compiledExecution({
    graph,
    sourceOf: (name) =>
      executing(
        () => schemas[name]!,
        () => undefined,
      ),
    onUnusual: () => (left += 1),
  })
  ours = new ApolloServer({ gateway: gatewayOver(graph, execution.executor) })
  const urls = await serveApart()
  const notes = openNotes(Buffer.alloc(32, 1), wallClock)
  const overAll = compiledExecution({
    graph,
    sourceOf: (name) => overHttp({ name, urls: [urls[name]!], notes }),
  })
  apart = new ApolloServer({ gateway: gatewayOver(graph, overAll.executor) })
  await Promise.all([apollos.start(), ours.start(), apart.start()])
  api = theirs.schema!
  one = oneSchema(printSchema(api))
})
afterAll(async () => {
  for (const server of servers) server.close().closeAllConnections()
  await Promise.all([apollos.stop(), ours.stop(), apart.stop()])
})

const servers: Server[] = []

/** Each service at a port of its own, by name. */
async function serveApart(): Promise<Record<string, string>> {
  const urls: Record<string, string> = {}
  for (const [name, schema] of Object.entries(schemas)) {
    const { prepare } = executing(
      () => schema,
      () => undefined,
    )
    const server = createServer(async (request, response) =>
      answerFetches((await json(request)) as Fetch[], response, ({ query, variables }) =>
        prepare(query, undefined)(variables, NOBODYS),
      ),
    )
    servers.push(server)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  return urls
}

function valueOf({ name, type }: GraphQLArgument, chance: Chance): unknown {
  if (name === 'id') return chance.pick(['0', '1', '2', '3', '4', 'none'])
  if (name === 'name') return chance.pick(['ada', 'bob', 'dan', 'nobody'])
  if (name === 'language') return chance.pick([undefined, 'en', 'fr', null])
  if (String(type) === 'Int') return chance.pick([undefined, 0, 1, 4])
  return undefined
}

async function ask(server: ApolloServer, { query, variables }: Generated): Promise<any> {
  const { body } = await server.executeOperation({ query, variables }, { contextValue: NOBODYS })
  return JSON.parse(JSON.stringify((body as any).singleResult))
}

const plain = (answer: unknown) => JSON.parse(JSON.stringify(answer))

/** What ApolloGateway tells beside an answer is an error of it, where there is no answer. */
function told({ extensions, ...answer }: any): any {
  const errors = extensions?.valueCompletion?.map(({ message, path }: any) => ({
    message,
    path,
    extensions: { code: 'NULL_WHERE_NONE_MAY_BE' },
  }))
  if (errors && !answer.errors && !answer.data) return { ...answer, errors }
  return extensions ? { ...answer, extensions } : answer
}

/** The errors of one answer may come in any order: the subgraphs are asked at the same time. */
const sorted = ({ errors, ...answer }: any) => ({
  ...answer,
  errors: errors?.map((error: object) => JSON.stringify(error)).toSorted(),
})

test('a field that requires one of another service is answered alike', async () => {
  const asked = { query: '{ books(first: 5) { title pace stars } }', variables: {} }

  const answer = await ask(ours, asked)

  expect(answer).toEqual(await ask(apollos, asked))
  expect(answer.data.books.map(({ pace }: any) => pace)).toEqual([0, 12.5, 25, null, 50])
})

test(`${QUERIES} random queries are answered alike, from SEED=${SEED}`, async () => {
  // A plan loses fields beside one that is required for another and left out by @skip.
  const isLeft = (_type: string, field: string) => field === 'pace'
  const queries = generate({ schema: api, seed: SEED, valueOf, isLeft, depthMax: 3 })
  let errors = 0
  let direct = 0
  for (let n = 0; n < QUERIES;) {
    const generated = queries.next().value
    // Two fields of one name may differ in what they select under it; such queries are none.
    if (validate(api, parse(generated.query)).length > 0) continue
    n += 1
    left = 0
    const expected = told(await ask(apollos, generated))
    const answer = await ask(ours, generated)
    expect(sorted(answer), JSON.stringify(generated)).toEqual(sorted(expected))
    if (left === 0) compiled += 1
    if (n % APART === 0) {
      expect(sorted(await ask(apart, generated)), JSON.stringify(generated)).toEqual(
        sorted(expected),
      )
    }
    if (expected.errors) errors += 1
    const { query, variables: variableValues } = generated
    const document = parse(query)
    const whole = plain(await execute({ schema: one, document, variableValues }))
    const run = compileOperation(one, document)
    expect(sorted(plain(await run(variableValues, undefined))), query).toEqual(sorted(whole))
    // A plan does not ask for an object of which every field is left out, and the answer has null there.
    if (expected.errors || query.includes('(if: ')) continue
    direct += 1
    expect(answer.data, JSON.stringify(generated)).toEqual(whole.data)
  }
  expect(compiled).toBeGreaterThan(QUERIES / 4)
  expect(direct).toBeGreaterThan(QUERIES / 8)
  expect(errors).toBeGreaterThan(QUERIES / 20)
}, 120_000)
