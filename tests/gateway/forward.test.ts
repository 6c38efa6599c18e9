// Forwarding changes how long an answer takes and nothing else: each is held against ApolloGateway's.
import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway'
import { composeServices } from '@apollo/composition'
import { ApolloServer } from '@apollo/server'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { execute, GraphQLError, parse } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openForwarding } from '../../gateway/forward.ts'

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
  type Book @key(fields: "id") { id: ID! stars: Int }`)

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
  ratings: { Book: { stars: ({ id }: any) => Number(id) + 3 } },
}

const schemas = {
  books: buildSubgraphSchema([{ typeDefs: BOOKS, resolvers: resolvers.books as any }]),
  ratings: buildSubgraphSchema([{ typeDefs: RATINGS, resolvers: resolvers.ratings as any }]),
}

function sourceOf(name: string): GraphQLDataSource<any> {
  return {
    async process({ request: { query, variables } }) {
      if (query!.includes('away')) throw new GraphQLError('away', { extensions: { code: 'AWAY' } })
      const schema = schemas[name as keyof typeof schemas]
      const document = parse(query!)
      return JSON.parse(
        JSON.stringify(await execute({ schema, document, variableValues: variables ?? {} })),
      )
    },
  }
}

let apollos: ApolloServer
let ours: ApolloServer
let left = 0

beforeAll(async () => {
  const { supergraphSdl } = composeServices([
    { name: 'books', url: 'http://books', typeDefs: BOOKS },
    { name: 'ratings', url: 'http://ratings', typeDefs: RATINGS },
  ])
  apollos = new ApolloServer({
    gateway: new ApolloGateway({
      supergraphSdl: supergraphSdl!,
      buildService: ({ name }) => sourceOf(name),
    }),
  })
  const forwarding = openForwarding(parse(supergraphSdl!), sourceOf)
  const gateway = new ApolloGateway({
    supergraphSdl: supergraphSdl!,
    buildService: ({ name }) => forwarding.sourceOf(name),
    experimental_didResolveQueryPlan: forwarding.didResolveQueryPlan,
  })
  const { executor } = gateway
  gateway.executor = forwarding.executor((requestContext) => {
    left += 1
    return executor(requestContext)
  })
  ours = new ApolloServer({ gateway })
  await Promise.all([apollos.start(), ours.start()])
})

afterAll(() => Promise.all([apollos.stop(), ours.stop()]))

interface Asked {
  readonly query: string
  readonly variables?: Record<string, unknown>
  readonly operationName?: string
}

async function ask(server: ApolloServer, asked: Asked): Promise<string> {
  const { body } = await server.executeOperation(asked)
  // As text, so that the order of members counts too.
  return JSON.stringify((body as any).singleResult)
}

/** Asks three times, since the first answer of each document is ApolloGateway's own. */
async function compare(asked: Asked): Promise<{ isForwarded: boolean; answer: any }> {
  const expected = await ask(apollos, asked)
  const first = await ask(ours, asked)
  left = 0
  const second = await ask(ours, asked)
  const third = await ask(ours, asked)
  expect([first, second, third]).toEqual([expected, expected, expected])
  return { isForwarded: left === 0, answer: JSON.parse(expected) }
}

const BOOK = '{ book(id: "1") { id title } }'

test('a query that one subgraph answers whole is forwarded', async () => {
  const { isForwarded, answer } = await compare({ query: BOOK })

  expect(isForwarded).toBe(true)
  expect(answer).toEqual({ data: { book: { id: '1', title: 'Emma' } } })
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
  ['lists and nulls', { query: '{ books { id pages genre tags } book(id: "none") { id } }' }],
  [
    'one of several operations',
    {
      query: 'query A { book(id: "1") { id } } query B { book(id: "2") { title } }',
      operationName: 'B',
    },
  ],
])('an answer with %s is forwarded, and is the same', async (_, asked) => {
  const { isForwarded, answer } = await compare(asked)

  expect(isForwarded).toBe(true)
  expect(answer.errors).toBeUndefined()
})

test.each<[string, Asked]>([
  ['fields of two subgraphs', { query: '{ book(id: "1") { title stars } }' }],
  ['two subgraphs', { query: '{ best book(id: "1") { title } }' }],
  ['an abstract type', { query: '{ things { id ... on Pen { ink } } }' }],
  ['introspection', { query: '{ __schema { queryType { name } } book(id: "1") { id } }' }],
  ['only introspection', { query: '{ __type(name: "Book") { name } }' }],
  ['an enumeration with hidden values', { query: '{ book(id: "1") { cover { colour } } }' }],
  [
    'a condition',
    {
      query: 'query ($if: Boolean!) { book(id: "1") { id title @include(if: $if) } }',
      variables: { if: false },
    },
  ],
])('an answer with %s is left to ApolloGateway', async (_, asked) => {
  const { isForwarded, answer } = await compare(asked)

  expect(isForwarded).toBe(false)
  expect(answer.errors).toBeUndefined()
})

test.each<[string, Asked, string]>([
  ['a refusal', { query: '{ broken book(id: "1") { id } }' }, 'TornException'],
  ['a refusal below', { query: '{ books { id torn } }' }, 'TornException'],
  ['null where none may be', { query: '{ bursting { id lost } }' }, 'DOWNSTREAM_SERVICE_ERROR'],
  ['a subgraph that is away', { query: '{ away }' }, 'AWAY'],
  [
    'a variable of the wrong type',
    { query: 'query ($n: Int) { books(first: $n) { id } }', variables: { n: 'two' } },
    'BAD_USER_INPUT',
  ],
])('%s is worded by ApolloGateway', async (_, asked, code) => {
  const { isForwarded, answer } = await compare(asked)

  expect(isForwarded).toBe(false)
  expect(answer.errors[0].extensions.code).toBe(code)
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
  for (const asked of [good, bad]) await ask(ours, asked)
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
