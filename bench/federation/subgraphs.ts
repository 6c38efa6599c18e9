// A shop in four subgraphs that answer from memory, so that the gateway before them is what is measured.
import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { execute, parse, type DocumentNode, type GraphQLSchema } from 'graphql'

const USERS = 1_000
const PRODUCTS = 500
const REVIEWS = 6_000

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key"])'
const TYPE_DEFS: Readonly<Record<string, string>> = {
  accounts: `${LINK}
    type Query {
      user(id: ID!): User
      users(first: Int!, after: Int!): [User!]!
    }
    type User @key(fields: "id") { id: ID! name: String! email: String! city: String! }`,
  products: `${LINK}
    type Query { products(first: Int!, after: Int!): [Product!]! }
    type Product @key(fields: "id") { id: ID! name: String! category: String! price: Float! }`,
  inventory: `${LINK}
    type Product @key(fields: "id") {
      id: ID!
      isInStock: Boolean!
      warehouse: String!
      deliveryDays: Int!
    }`,
  reviews: `${LINK}
    type Review @key(fields: "id") {
      id: ID!
      text: String!
      stars: Int!
      author: User!
      product: Product!
    }
    type User @key(fields: "id") { id: ID! reviews(first: Int!): [Review!]! }
    type Product @key(fields: "id") {
      id: ID!
      rating: Float!
      reviewCount: Int!
      reviews(first: Int!): [Review!]!
    }`,
}

export const NAMES: readonly string[] = Object.keys(TYPE_DEFS)

interface Page {
  readonly first: number
  readonly after: number
}
interface Key {
  readonly id: string
}

/** The composed graph, with the address of each subgraph. */
export function composed(urls: Readonly<Record<string, string>>): string {
  const services = NAMES.map((name) => ({
    name,
    url: `${urls[name]}/graphql`,
    typeDefs: parse(TYPE_DEFS[name]!),
  }))
  const { errors, supergraphSdl } = composeServices(services)
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'))
  return supergraphSdl
}

export function openSchemas(): Readonly<Record<string, GraphQLSchema>> {
  const resolvers = { ...openAccounts(), ...openProducts(), ...openInventory(), ...openReviews() }
  return Object.fromEntries(
    NAMES.map((name) => [
      name,
      buildSubgraphSchema([
        { typeDefs: parse(TYPE_DEFS[name]!), resolvers: resolvers[name as keyof typeof resolvers] },
      ]),
    ]),
  )
}

/** For those who stand beside another copy of graphql, which would not know the schema. */
export const executeIn = (
  schema: GraphQLSchema,
  document: DocumentNode,
  variableValues: Readonly<Record<string, unknown>> | undefined,
) => execute({ schema, document, variableValues, contextValue: {} })

function openAccounts() {
  const users = several(USERS, (id, i) => ({
    id,
    name: `Person ${i}`,
    email: `person-${i}@example.com`,
    city: `City ${i % 40}`,
  }))
  return {
    accounts: {
      Query: {
        user: (_: unknown, { id }: Key) => users.get(id),
        users: (_: unknown, page: Page) => pageOf(users, page),
      },
      User: { __resolveReference: ({ id }: Key) => users.get(id) },
    },
  }
}

function openProducts() {
  const products = several(PRODUCTS, (id, i) => ({
    id,
    name: `Product ${i}`,
    category: `Category ${i % 12}`,
    price: 1 + (i % 100) / 4,
  }))
  return {
    products: {
      Query: { products: (_: unknown, page: Page) => pageOf(products, page) },
      Product: { __resolveReference: ({ id }: Key) => products.get(id) },
    },
  }
}

function openInventory() {
  const stock = several(PRODUCTS, (id, i) => ({
    id,
    isInStock: i % 3 > 0,
    warehouse: `Warehouse ${i % 7}`,
    deliveryDays: 1 + (i % 5),
  }))
  return { inventory: { Product: { __resolveReference: ({ id }: Key) => stock.get(id) } } }
}

function openReviews() {
  const reviews = several(REVIEWS, (id, i) => ({
    id,
    text: `Review ${i} says that it does what it should.`,
    stars: 1 + (i % 5),
    author: { id: String(i % USERS) },
    // Seven has no divisor in common with the number of products, so that all are reviewed.
    product: { id: String((i * 7) % PRODUCTS) },
  }))
  const all = [...reviews.values()]
  const byAuthor = Map.groupBy(all, ({ author }) => author.id)
  const byProduct = Map.groupBy(all, ({ product }) => product.id)
  const of = ({ id }: Key) => byProduct.get(id)!
  return {
    reviews: {
      Review: { __resolveReference: ({ id }: Key) => reviews.get(id) },
      User: {
        reviews: ({ id }: Key, { first }: Page) => byAuthor.get(id)!.slice(0, first),
      },
      Product: {
        rating: (key: Key) => of(key).reduce((sum, { stars }) => sum + stars, 0) / of(key).length,
        reviewCount: (key: Key) => of(key).length,
        reviews: (key: Key, { first }: Page) => of(key).slice(0, first),
      },
    },
  }
}

const several = <T>(count: number, make: (id: string, i: number) => T): Map<string, T> =>
  new Map(Array.from({ length: count }, (_, i) => [String(i), make(String(i), i)]))

/** Goes on at the beginning after the last, so that each page is full. */
const pageOf = <T>(records: ReadonlyMap<string, T>, { first, after }: Page): T[] =>
  Array.from({ length: first }, (_, i) => records.get(String((after + i) % records.size))!)
