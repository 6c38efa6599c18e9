// Compiled execution changes how long an answer takes and nothing else: each is held against
// ApolloGateway's own.
import { setImmediate as immediate } from 'node:timers/promises'
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway'
import { composeServices } from '@apollo/composition'
import { QueryPlanner } from '@apollo/query-planner'
import { ApolloServer } from '@apollo/server'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { execute, GraphQLError, parse } from 'graphql'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { withErrors } from '../../gateway/executor/apollos.ts'
import { compiledExecution } from '../../gateway/executor/executor.ts'
import { loadGraph } from '../../gateway/executor/graph.ts'
import { compiled } from '../../gateway/executor/operation.ts'
import type { Answer, Source } from '../../gateway/executor/source.ts'
import { gatewayOver, openGateway } from '../../gateway/gateway.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { schemas as libraries, supergraph as library } from './library.ts'

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@inaccessible", "@shareable"])`
const BOOKS = parse(`${LINK}
  type Query {
    book(id: ID!): Book
    books(first: Int = 2, genre: Genre): [Book!]!
    things: [Thing!]!
    broken: String
    bursting: Book
    away: Int
  }
  type Mutation { addBook(title: String!): Book!  addBadly(title: String!): Book }
  type Book implements Thing @key(fields: "id") {
    id: ID!
    title: String!
    pages: Int
    genre: Genre
    cover: Cover
    tags: [String!]
    torn: String
    lost: String!
    secret: String @inaccessible
  }
  type Pen implements Thing @key(fields: "id") { id: ID! ink: String }
  interface Thing { id: ID! }
  type Cover { colour: Colour!  text(language: String = "en"): String! }
  enum Genre { NOVEL POEM }
  enum Colour { RED BLUE ULTRAVIOLET @inaccessible }`)
const RATINGS = parse(`${LINK}
  type Query { best: Int }
  type Book @key(fields: "id") { id: ID! stars: Int grade: String }`)

const novel = { id: '1', title: 'Emma', pages: 474, genre: 'NOVEL', tags: ['a', 'b'] }
const poem = { id: '2', title: 'If', pages: null, genre: 'POEM', tags: null }
const failing = () => {
  throw new GraphQLError('It is torn.', { extensions: { code: 'TornException', status: 400 } })
}
let added: string[] = []

const resolvers = {
  books: {
    Query: {
      book: (_: unknown, { id }: any) => [novel, poem].find((book) => book.id === id) ?? null,
      books: (_: unknown, { first, genre }: any) =>
        [novel, poem].filter((book) => !genre || book.genre === genre).slice(0, first),
      things: () => [
        { ...novel, __typename: 'Book' },
        { __typename: 'Pen', id: '9', ink: 'blue' },
      ],
      broken: failing,
      bursting: () => novel,
    },
    Mutation: {
      addBook: (_: unknown, { title }: any) => ({ id: String(added.push(title)), title }),
      addBadly(_: unknown, { title }: any) {
        added.push(title)
        return failing()
      },
    },
    Book: {
      __resolveReference: ({ id }: any) => [novel, poem].find((book) => book.id === id),
      cover: () => ({ colour: 'RED' }),
      torn: failing,
      lost: () => null,
    },
    Cover: { text: (_: unknown, { language }: any) => `text in ${language}` },
  },
  ratings: {
    Book: {
      stars: ({ id }: any) => Number(id) + 3,
      grade({ id }: any) {
        if (id === '1') return 'A'
        throw new GraphQLError('No grade.', { extensions: { code: 'GradeException' } })
      },
    },
  },
}

const schemas = {
  books: buildSubgraphSchema([{ typeDefs: BOOKS, resolvers: resolvers.books as any }]),
  ratings: buildSubgraphSchema([{ typeDefs: RATINGS, resolvers: resolvers.ratings as any }]),
}

/** How often each subgraph was asked. */
let asked: string[] = []
/** The entities that each was asked about. */
let told: unknown[] = []

const sourceOf = (name: string): Source => ({
  prepare: (query) => async (variables) => {
    asked.push(name)
    told.push(variables.representations)
    if (query.includes('away')) throw new GraphQLError('away', { extensions: { code: 'AWAY' } })
    const schema = schemas[name as keyof typeof schemas]
    const document = parse(query)
    return JSON.parse(
      JSON.stringify(await execute({ schema, document, variableValues: variables })),
    )
  },
})

const dataSourceOf = (name: string): GraphQLDataSource<any> => ({
  process: async ({ request: { query, variables = {} }, context }) =>
    (await sourceOf(name).prepare(query!, undefined)(variables, context)) as any,
})

let apollos: ApolloServer
let ours: ApolloServer
let left = 0
let sdl: string

beforeAll(async () => {
  const { supergraphSdl } = composeServices([
    { name: 'books', url: 'http://books', typeDefs: BOOKS },
    { name: 'ratings', url: 'http://ratings', typeDefs: RATINGS },
  ])
  apollos = new ApolloServer({
    gateway: new ApolloGateway({
      supergraphSdl: supergraphSdl!,
      buildService: ({ name }) => dataSourceOf(name),
    }),
  })
  sdl = supergraphSdl!
  const graph = loadGraph({ sdl })
  const execution = compiledExecution({ graph, sourceOf, onUnusual: () => (left += 1) })
  ours = new ApolloServer({ gateway: gatewayOver(graph, execution.executor) })
  await Promise.all([apollos.start(), ours.start()])
})

afterAll(() => Promise.all([apollos.stop(), ours.stop()]))

interface Asked {
  readonly query: string
  readonly variables?: Record<string, unknown>
  readonly operationName?: string
}

async function ask(server: ApolloServer, query: Asked): Promise<string> {
  const { body } = await server.executeOperation(query)
  // As text, so that the order of members counts too.
  return JSON.stringify((body as any).singleResult)
}

/** Asks twice, since the first time prepares. */
async function compare(query: Asked): Promise<{ isCompiled: boolean; answer: any }> {
  asked = []
  const expected = await ask(apollos, query)
  const askedByApollos = asked.toSorted()
  left = 0
  for (const _time of ['first', 'second']) {
    asked = []
    expect(await ask(ours, query)).toEqual(expected)
    // Whatever happens, nothing is asked twice; what is alike is asked together.
    expect(askedByApollos).toEqual(expect.arrayContaining(asked))
    expect(asked.length).toBeLessThanOrEqual(askedByApollos.length)
  }
  return { isCompiled: left === 0, answer: JSON.parse(expected) }
}

test('the fields of two subgraphs are joined', async () => {
  const { isCompiled, answer } = await compare({ query: '{ best books { id title stars } }' })

  expect(isCompiled).toBe(true)
  expect(answer).toEqual({
    data: {
      best: null,
      books: [
        { id: '1', title: 'Emma', stars: 4 },
        { id: '2', title: 'If', stars: 5 },
      ],
    },
  })
})

test.each<[string, Asked]>([
  ['aliases', { query: '{ a: book(id: "1") { t: title title } b: book(id: "2") { title } }' }],
  [
    'fragments',
    {
      query: `fragment Named on Book { title ...Deeper } fragment Deeper on Book { pages }
        { book(id: "1") { ...Named ... on Book { id } ... { genre } } }`,
    },
  ],
  [
    'fields that are selected twice',
    { query: '{ book(id: "1") { cover { text } id cover { t: text } id } }' },
  ],
  ['__typename', { query: '{ book(id: "1") { __typename cover { kind: __typename text } } }' }],
  [
    'variables',
    { query: 'query ($id: ID!) { book(id: $id) { title } }', variables: { id: '2', other: 1 } },
  ],
  ['variables left to their default', { query: 'query ($n: Int = 1) { books(first: $n) { id } }' }],
  [
    'null for a variable',
    {
      query: 'query ($g: Genre) { books(genre: $g) { genre tags } }',
      variables: { g: null },
    },
  ],
  [
    'values of arguments, the same and others',
    { query: '{ a: book(id: "1") { id } b: book(id: 2) { id } c: books(first: 1) { id } }' },
  ],
  ['one value twice under one name', { query: '{ book(id: "1") { id } book(id: "1") { title } }' }],
  [
    'a value within a fragment',
    { query: '{ ...A } fragment A on Query { books(first: 1) { id } }' },
  ],
  [
    'values beside variables',
    {
      query: 'query ($id: ID!) { a: book(id: $id) { id } b: book(id: "1") { title } }',
      variables: { id: '2', _literalS0: '2' },
    },
  ],
  ['lists and nulls', { query: '{ books { id pages genre tags } book(id: "none") { id } }' }],
  [
    'one of several operations',
    {
      query: 'query A { book(id: "1") { id } } query B { book(id: "2") { title } }',
      operationName: 'B',
    },
  ],
  ['fields of two subgraphs', { query: '{ book(id: "1") { title stars } }' }],
  ['the key after what it leads to', { query: '{ book(id: "1") { stars id } }' }],
  ['two subgraphs', { query: '{ best book(id: "1") { title } }' }],
  ['an entity in several places', { query: '{ a: books { stars } b: books { s: stars title } }' }],
  [
    'abstract types',
    { query: '{ things { __typename id ... on Pen { ink } ... on Book { stars } } }' },
  ],
  ['an enumeration with hidden values', { query: '{ book(id: "1") { cover { colour } } }' }],
  [
    'a condition that does not hold',
    {
      query:
        'query ($if: Boolean!) { book(id: "1") { id title @include(if: $if) stars @skip(if: $if) } }',
      variables: { if: false },
    },
  ],
  [
    'a condition that holds by default',
    {
      query: 'query ($if: Boolean = true) { book(id: "1") { id ... @include(if: $if) { stars } } }',
    },
  ],
])('an answer with %s is compiled, and is the same', async (_, query) => {
  const { isCompiled, answer } = await compare(query)

  expect(isCompiled).toBe(true)
  expect(answer.errors).toBeUndefined()
})

test.each<[string, Asked]>([
  ['introspection', { query: '{ __schema { queryType { name } } book(id: "1") { id } }' }],
  ['only introspection', { query: '{ __type(name: "Book") { name } }' }],
  [
    'one field under several conditions',
    {
      query: `query ($if: Boolean!) {
        book(id: "1") { cover @include(if: $if) { text } cover @skip(if: $if) { t: text } } }`,
      variables: { if: true },
    },
  ],
])('an answer with %s is left to ApolloGateway', async (_, query) => {
  const { isCompiled, answer } = await compare(query)

  expect(isCompiled).toBe(false)
  expect(answer.errors).toBeUndefined()
})

test.each<[string, Asked, string]>([
  ['a refusal', { query: '{ broken book(id: "1") { id } }' }, 'TornException'],
  ['a refusal below', { query: '{ books { id torn } }' }, 'TornException'],
  [
    'a refusal below what two subgraphs join',
    { query: '{ books { stars torn } }' },
    'TornException',
  ],
  ['a refusal of what is joined', { query: '{ books { title broken: grade } }' }, 'GradeException'],
  [
    'a refusal of an entity in several places',
    { query: '{ a: books { grade } b: books { grade id } }' },
    'GradeException',
  ],
  [
    'a refusal of an entity in places that have not the same others',
    { query: 'query Named { a: books { grade } b: book(id: "2") { grade id } }' },
    'GradeException',
  ],
  ['null where none may be', { query: '{ bursting { id lost } }' }, 'DOWNSTREAM_SERVICE_ERROR'],
  ['a subgraph that is away', { query: '{ away }' }, 'AWAY'],
  [
    'a variable of the wrong type',
    { query: 'query ($n: Int) { books(first: $n) { id } }', variables: { n: 'two' } },
    'BAD_USER_INPUT',
  ],
])('%s is worded by ApolloGateway', async (_, query, code) => {
  const { isCompiled, answer } = await compare(query)

  expect(isCompiled).toBe(false)
  expect(answer.errors[0].extensions.code).toBe(code)
})

test('what is asked of a service alike in several places is asked once, of each entity once', async () => {
  told = []

  const { isCompiled } = await compare({
    query: '{ a: books { stars } b: books(first: 1) { stars id } }',
  })

  expect(isCompiled).toBe(true)
  expect(asked).toEqual(['books', 'ratings'])
  expect(told.at(-1)).toEqual([
    { __typename: 'Book', id: '1' },
    { __typename: 'Book', id: '2' },
  ])
})

test('what is asked in other words is asked by itself', async () => {
  await compare({ query: '{ a: books { stars } b: books { best: stars } }' })

  expect(asked).toEqual(['books', 'ratings', 'ratings'])
})

test('a mutation runs once, whether it succeeds or fails', async () => {
  const good = {
    query: 'mutation ($title: String!) { addBook(title: $title) { title } }',
    variables: { title: 'good' },
  }
  const bad = {
    query: 'mutation ($title: String!) { addBadly(title: $title) { title } }',
    variables: { title: 'bad' },
  }
  for (const one of [good, bad]) await ask(ours, one)
  added = []
  left = 0

  const goodAnswer = await ask(ours, good)
  const leftByGood = left
  const badAnswer = await ask(ours, bad)

  expect(goodAnswer).toBe('{"data":{"addBook":{"title":"good"}}}')
  expect(JSON.parse(badAnswer)).toMatchObject({
    data: { addBadly: null },
    errors: [{ message: 'It is torn.', path: ['addBadly'], extensions: { code: 'TornException' } }],
  })
  expect(leftByGood).toBe(0)
  expect(added).toEqual(['good', 'bad'])
})

test('a fetch that fails at once waits for those beside it, so that none fails unseen', async () => {
  const unseen: unknown[] = []
  const note = (error: unknown) => void unseen.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const isAsked = Promise.withResolvers<void>()
  const later = Promise.withResolvers<Answer>()
  const refused = (message: string): Answer => ({ data: null, errors: [{ message }] })
  const gateway = await openGateway({
    isIntrospectable: false,
    supergraph: library,
    sourceOf: (name) => ({
      prepare: () => () => {
        if (name === 'ratings') return later.promise
        isAsked.resolve()
        return refused(name)
      },
    }),
  })
  onTestFinished(() => gateway.server.stop())

  const context = { caller: NOBODY, publicUrl: '', requestId: '', headers: {} }
  const answering = gateway.answer({ query: '{ best people { name } }' }, context)
  await isAsked.promise
  later.resolve(refused('ratings'))
  const { data, errors } = await answering
  await immediate()

  expect(data).toEqual({ best: null, people: null })
  expect(errors?.map(({ message }) => message)).toEqual(['ratings', 'people'])
  expect(unseen).toEqual([])
})

test('an answer that is null as a whole says why', () => {
  const path = ['assignments', 0, 'owner']
  const valueCompletion = [{ message: 'Cannot return null.', path }]
  const partial = { data: { owner: null }, extensions: { valueCompletion } }

  const { data, errors } = withErrors({ data: null, extensions: { valueCompletion } })

  expect(data).toBeNull()
  expect(JSON.parse(JSON.stringify(errors))).toEqual([
    { message: 'Cannot return null.', path, extensions: { code: 'NULL_WHERE_NONE_MAY_BE' } },
  ])
  expect(withErrors(partial)).toBe(partial)
})

test('a subgraph is opened once and at once, however many fetches ask it', () => {
  const opened: string[] = []
  const graph = loadGraph({ sdl })
  const execution = compiledExecution({
    graph,
    sourceOf: (name) => {
      opened.push(name)
      return sourceOf(name)
    },
  })
  const atOnce = [...opened]
  execution.prepareAhead('{ books { id stars } }')
  execution.prepareAhead('{ a: books { stars } best }')

  expect(atOnce).toEqual(['books', 'ratings'])
  expect(opened).toEqual(atOnce)
})

test.each([
  ['several fields', 'books', '{ books { id title cover { colour } } a: book(id: "1") { pages } }'],
  ['an object within', 'people', '{ person(name: "ada") { name address { town } } }'],
  [
    // Of the other entities of the service nothing is selected.
    'entities of one type',
    'ratings',
    'query ($representations: [_Any!]!) { _entities(representations: $representations) { ... on Book { stars } } }',
  ],
  ['a condition', 'people', 'query ($is: Boolean!) { people { name born @include(if: $is) } }'],
])('an operation with %s is compiled, and not left to graphql-js', (_what, name, query) => {
  expect(compiled(libraries[name]!, parse(query))).toBeTypeOf('function')
})

test('what is expected is planned before it is asked, and only then', async () => {
  const query = '{ books(first: 1) { id stars } }'
  const planning = vi.spyOn(QueryPlanner.prototype, 'buildQueryPlan')
  onTestFinished(() => planning.mockRestore())
  const gateway = await openGateway({ isIntrospectable: false, supergraph: sdl, sourceOf })
  onTestFinished(() => gateway.server.stop())

  await gateway.makeReady([query])
  const ahead = planning.mock.calls.length
  const context = { caller: NOBODY, publicUrl: '', requestId: '', headers: {} }
  const { data } = await gateway.answer({ query }, context)

  expect(data).toEqual({ books: [{ id: '1', stars: 4 }] })
  expect(ahead).toBe(1)
  expect(planning).toHaveBeenCalledTimes(1)
})
