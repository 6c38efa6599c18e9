// What no schema may use, since ApolloGateway refuses it or answers it wrongly.
import { globSync, readFileSync } from 'node:fs'
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { brokenRules } from '../../gateway/schema-rules.ts'
import { SCHEMA_FOLDER } from '../../gateway/supergraph.ts'

const rulesOf = (schema: string) => brokenRules(parse(schema))

test.each<[rule: string, schema: string, problem: string]>([
  [
    'a directive that the gateway refuses',
    'type Query { a: Int @authenticated }',
    '@authenticated is refused by the gateway: check it in the operation instead.',
  ],
  [
    'the import of one',
    'extend schema @link(url: "x", import: ["@key", "@policy"])',
    '@policy is refused by the gateway: check it in the operation instead.',
  ],
  [
    'one by its full name',
    'type Query { a: Int @federation__requiresScopes(scopes: []) }',
    '@requiresScopes is refused by the gateway: check it in the operation instead.',
  ],
  [
    'subscriptions',
    'type Subscription { a: Int }',
    'Subscription is not served: let clients ask again, or call them.',
  ],
  ['answers in pieces', 'directive @defer on FIELD', '@defer is not served: leave it out.'],
  [
    'several keys',
    'type A @key(fields: "id") @key(fields: "name") { id: ID! name: String! }',
    'A has several keys: give it one.',
  ],
  [
    'a key of fields of fields',
    'extend type A @key(fields: "id { one }") { id: B! } type B { one: Int }',
    'A has the key "id { one }": let a key be fields of A itself.',
  ],
  [
    'a requirement with arguments',
    `type A @key(fields: "id") { id: ID! price: Int @external
       tax: Int @requires(fields: "price(in: EUR)") }`,
    'A.tax requires "price(in: EUR)", of which something takes arguments: require a field without any.',
  ],
  [
    'a requirement of what has arguments, also further in',
    `type A @key(fields: "id") { id: ID! b: B @external tax: Int @requires(fields: "b { price }") }
     type B { price(in: String = "EUR"): Int @external }`,
    'A.tax requires "b { price }", of which something takes arguments: require a field without any.',
  ],
  [
    'a field that requires something beside one that does not',
    `type A @key(fields: "id") { id: ID! pages: Int @external
       pace: Int @requires(fields: "pages") stars: Int }`,
    'What is added to A requires different fields: pace (pages), stars (nothing). Let all require the same.',
  ],
  [
    'an interface object that is returned',
    `type A @key(fields: "id") @interfaceObject { id: ID! } type Query { all: [A!]! }`,
    'Query.all returns A, of which this service does not know the types: return its id.',
  ],
])('%s is refused', (_rule, schema, problem) => {
  expect(rulesOf(schema)).toEqual([problem])
})

test('what the gateway answers rightly is not refused', () => {
  const schema = `
    type A @key(fields: "season code") { season: Int! code: String! pages: Int @external
      pace(unit: String): Int @requires(fields: "pages") speed: Int @requires(fields: "pages") }
    type B @key(fields: "id") @interfaceObject { id: ID! groups: [A!]! }
    interface C @key(fields: "id", resolvable: false) { id: ID! } type Query { c: C }`

  expect(rulesOf(schema)).toEqual([])
})

test.each(globSync('!(supergraph).graphql', { cwd: SCHEMA_FOLDER }))(
  '%s keeps the rules',
  (file) => {
    expect(rulesOf(readFileSync(`${SCHEMA_FOLDER}/${file}`, 'utf8'))).toEqual([])
  },
)
