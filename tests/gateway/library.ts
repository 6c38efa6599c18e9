// A federation of four services over one library of books, and the same as one schema: what a gateway
// answers by joining them, the one answers by itself.
import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { buildASTSchema, GraphQLError, parse, type GraphQLSchema } from 'graphql'

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: [
  "@key", "@shareable", "@external", "@requires", "@provides", "@interfaceObject", "@inaccessible"])`

const SCHEMAS: Readonly<Record<string, string>> = {
  books: `${LINK}
    type Query { book(id: ID!): Book  books(first: Int = 3): [Book!]!  items: [Item!]!  shelf: [[Book!]] found: [Find] }
    interface Item @key(fields: "id") { id: ID! title: String! }
    type Book implements Item @key(fields: "id") {
      id: ID! title: String! pages: Int genre: Genre cover: Cover torn: String lost: String!
      authors: [Person!]! weight: Float parts: [Part!] }
    type Disc implements Item @key(fields: "id") { id: ID! title: String! minutes: Int singer: Person }
    union Find = Book | Disc | Person | Cover
    type Cover { colour: Colour! text(language: String = "en"): String! designer: Person }
    type Part { name: String! pages: [Int] }
    type Person @key(fields: "name", resolvable: false) { name: String! }
    enum Genre { NOVEL POEM }
    enum Colour { RED BLUE ULTRAVIOLET @inaccessible }`,
  people: `${LINK}
    type Query { person(name: String!): Person  people: [Person] }
    type Person @key(fields: "name") { name: String! born: Int friends: [Person] address: Address! email: String }
    type Address @shareable { town: String street: String }`,
  ratings: `${LINK}
    type Query { best: Int }
    type Book @key(fields: "id") { id: ID! pages: Int @external stars: Int reviews(first: Int): [Review!]! pace: Float @requires(fields: "pages") grade: String }
    type Review { id: ID! text: String by: Person! }
    type Person @key(fields: "name") { name: String! reviews: [Review!] rank: Int }`,
  loans: `${LINK}
    type Query { open: [Loan!] }
    type Item @key(fields: "id") @interfaceObject { id: ID! loans: [Loan!]! isOut: Boolean }
    type Loan { id: ID! to: Person days: Int! }
    type Person @key(fields: "name", resolvable: false) { name: String! }`,
}

const NAMES = ['ada', 'bob', 'cyd', 'dan']
const people = NAMES.map((name, i) => ({
  __typename: 'Person',
  name,
  born: i === 2 ? null : 1900 + i,
  email: i === 1 ? undefined : `${name}@example.org`,
}))
const books = Array.from({ length: 6 }, (_, i) => ({
  __typename: 'Book',
  id: String(i),
  title: `Book ${i}`,
  pages: i === 3 ? null : 100 * i,
  genre: i % 2 ? 'NOVEL' : 'POEM',
  weight: i / 4,
}))
const discs = [
  { __typename: 'Disc', id: 'd1', title: 'Songs', minutes: 40 },
  { __typename: 'Disc', id: 'd2', title: 'More songs', minutes: null },
]
const personOf = (i: number) => people[i % people.length]!
const numberOf = (id: string) => Number(id.replace('d', '1'))
const torn = () => {
  throw new GraphQLError('It is torn.', { extensions: { code: 'TornException' } })
}

type Resolvers = Readonly<Record<string, Readonly<Record<string, (...args: any[]) => unknown>>>>

const fields: Resolvers = {
  Query: {
    book: (_, { id }) => books.find((book) => book.id === id) ?? null,
    books: (_, { first = 3 }) => books.slice(0, first),
    items: () => [books[0], discs[0], books[4], discs[1]],
    shelf: () => [[books[1], books[2]], null, [books[1]]],
    found: () => [books[5], people[1], null, { __typename: 'Cover', of: 2 }, discs[1], people[1]],
    person: (_, { name }) => people.find((one) => one.name === name) ?? null,
    people: () => [people[0], null, people[3]],
    best: () => 5,
    open: () => [1, 2, 3].map(loanOf),
  },
  Book: {
    cover: ({ id }) => (id === '2' ? null : { __typename: 'Cover', of: Number(id) }),
    torn: ({ id }) => (id === '1' ? torn() : 'whole'),
    lost: ({ id }) => (id === '4' ? null : 'here'),
    authors: ({ id }) => [personOf(Number(id)), personOf(Number(id) + 1)],
    parts: ({ id }) => (id === '0' ? null : [{ name: `part of ${id}`, pages: [1, null, 3] }]),
    stars: ({ id }) => Number(id) + 1,
    reviews: ({ id }, { first = 2 }) => [0, 1, 2].slice(0, first).map((n) => reviewOf(id, n)),
    pace: ({ pages }) => (pages === null || pages === undefined ? null : pages / 8),
    grade: ({ id }) => (id === '2' ? torn() : 'A'),
    loans: ({ id }) => [loanOf(numberOf(id))],
    isOut: ({ id }) => id === '3',
  },
  Disc: {
    singer: ({ id }) => (id === 'd1' ? personOf(2) : null),
    loans: ({ id }) => [loanOf(numberOf(id))],
    isOut: ({ id }) => id === '3',
  },
  Cover: {
    colour: ({ of }) => (of % 2 ? 'RED' : 'BLUE'),
    text: ({ of }, { language = 'en' }) => `${language} ${of}`,
    designer: ({ of }) => personOf(of),
  },
  Person: {
    friends: ({ name }) => [personOf(NAMES.indexOf(name) + 1), null],
    address: ({ name }) => ({ __typename: 'Address', town: `${name}ville`, street: null }),
    reviews: ({ name }) => (name === 'bob' ? null : [reviewOf('1', NAMES.indexOf(name))]),
    rank: ({ name }) => (name === 'dan' ? torn() : NAMES.indexOf(name)),
  },
}

const reviewOf = (id: string, n: number) => ({
  __typename: 'Review',
  id: `${id}-${n}`,
  text: n === 1 ? null : `review ${n} of ${id}`,
  by: personOf(n),
})

const loanOf = (n: number) => ({
  __typename: 'Loan',
  id: `loan ${n}`,
  to: n % 2 ? personOf(n) : null,
  days: n,
})

const find: Readonly<Record<string, (reference: any) => unknown>> = {
  Book: ({ id, ...more }) => ({ ...books.find((book) => book.id === id)!, ...more }),
  Disc: ({ id }) => discs.find((disc) => disc.id === id),
  Person: ({ name }) => people.find((person) => person.name === name),
  Item: ({ id }) => [...books, ...discs].find((item) => item.id === id),
}

const definitions = Object.entries(SCHEMAS).map(([name, text]) => ({ name, typeDefs: parse(text) }))

export const schemas: Readonly<Record<string, GraphQLSchema>> = Object.fromEntries(
  definitions.map(({ name, typeDefs }) => [
    name,
    buildSubgraphSchema([{ typeDefs, resolvers: resolversOf(typeDefs) as any }]),
  ]),
)

/** Of each type of a service the fields that it has, with the same function as in the one schema. */
function resolversOf(typeDefs: ReturnType<typeof parse>): Record<string, Record<string, unknown>> {
  const all: Record<string, Record<string, unknown>> = {}
  for (const node of typeDefs.definitions) {
    if (!('fields' in node) || node.kind === 'InputObjectTypeDefinition') continue
    const type = node.name!.value
    const from = type === 'Item' ? fields.Book : fields[type]
    const own: Record<string, unknown> = {}
    if (node.kind === 'ObjectTypeDefinition') {
      for (const { name } of node.fields ?? []) {
        const resolve = from?.[name.value]
        if (resolve) own[name.value] = resolve
      }
    }
    const isEntity = node.directives?.some(({ name }) => name.value === 'key')
    if (isEntity && find[type]) own.__resolveReference = find[type]
    if (Object.keys(own).length > 0) all[type] = own
  }
  return all
}

export const supergraph: string = (() => {
  const { supergraphSdl, errors } = composeServices(
    definitions.map(({ name, typeDefs }) => ({ name, url: `http://${name}`, typeDefs })),
  )
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'))
  return supergraphSdl!
})()

/** All services as one: the schema that clients see, with the functions of all. */
export function oneSchema(apiSchema: string): GraphQLSchema {
  const schema = buildASTSchema(parse(apiSchema))
  for (const [type, own] of Object.entries(fields)) {
    const object = schema.getType(type) as any
    for (const [name, resolve] of Object.entries(own)) object.getFields()[name].resolve = resolve
  }
  return schema
}
