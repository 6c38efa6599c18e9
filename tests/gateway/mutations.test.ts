// Mutations of several services in one request: their order, and what becomes of the others when one fails.
import { composeServices } from '@apollo/composition'
import { buildSubgraphSchema } from '@apollo/subgraph'
import { GraphQLError, parse } from 'graphql'
import { expect, onTestFinished, test } from 'vitest'
import { openGateway } from '../../gateway/gateway.ts'
import { executing } from '../../gateway/in-process.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])`
const CLOSED = 'The till is closed.'

const SCHEMAS: Readonly<Record<string, string>> = {
  shelf: `${LINK} type Query { shelf: Int }
    type Mutation { take(what: String!): Thing! put(what: String!): Thing }
    type Thing @key(fields: "name") { name: String! }`,
  till: `${LINK} type Query { till: Int }
    type Mutation { pay(cents: Int!): Int refund(cents: Int!): Int! }`,
  post: `${LINK} type Query { post: Int }
    type Mutation { send(to: String!): String! announce(to: String!): String }
    type Thing @key(fields: "name") { name: String! weight: Int }`,
}

/** A gateway over a shop whose till is closed, and what happened in it, in order. */
async function openShop(isAway = false) {
  const happened: string[] = []
  const does = (what: string, answer: unknown) => (_: unknown, sent: object) => {
    happened.push(`${what} ${Object.values(sent).join()}`)
    if (what === 'pay' || what === 'refund') {
      throw new GraphQLError(CLOSED, { extensions: { code: 'Closed', service: 'till' } })
    }
    return answer
  }
  const thing = { __typename: 'Thing', name: 'kettle', weight: 900 }
  const resolvers: Record<string, any> = {
    shelf: { Mutation: { take: does('take', thing), put: does('put', thing) } },
    till: { Mutation: { pay: does('pay', 1), refund: does('refund', 1) } },
    post: {
      Mutation: { send: does('send', 'sent'), announce: does('announce', 'told') },
      Thing: { __resolveReference: () => thing },
    },
  }
  const services = Object.entries(SCHEMAS).map(([name, text]) => ({
    name,
    url: `http://${name}`,
    typeDefs: parse(text),
  }))
  const schemas = new Map(
    services.map(({ name, typeDefs }) => [
      name,
      buildSubgraphSchema([{ typeDefs, resolvers: resolvers[name] }]),
    ]),
  )
  const away = new GraphQLError('The service till does not answer.', {
    extensions: { code: 'SERVICE_UNAVAILABLE', status: 503, service: 'till' },
  })
  const gateway = await openGateway({
    isIntrospectable: false,
    supergraph: composeServices(services).supergraphSdl!,
    sourceOf: (name) =>
      isAway && name === 'till'
        ? { prepare: () => () => Promise.reject(away) }
        : executing(
            () => schemas.get(name)!,
            () => ({}),
          ),
  })
  onTestFinished(() => gateway.server.stop())
  const context = { caller: NOBODY, publicUrl: '', requestId: '', headers: {} }
  return {
    happened,
    ask: async (query: string) =>
      JSON.parse(JSON.stringify(await gateway.answer({ query }, context))),
  }
}

const closedAt = (path: string) => ({
  message: CLOSED,
  path: [path],
  extensions: { code: 'Closed', service: 'till', serviceName: 'till' },
})
const awayAt = (path: string) => ({
  message: 'The service till does not answer.',
  path: [path],
  extensions: {
    code: 'SERVICE_UNAVAILABLE',
    status: 503,
    service: 'till',
    serviceName: 'till',
  },
})
// The first time it is planned, the second time it goes the short way.
const TIMES = ['first', 'again']

test('mutations of several services are performed in the order in which they are written', async () => {
  const { ask, happened } = await openShop()
  const query = `mutation {
    one: send(to: "a") two: put(what: "kettle") { name weight } three: announce(to: "b")
    four: take(what: "cup") { weight } five: send(to: "c") }`

  for (const _time of TIMES) {
    happened.length = 0
    expect(await ask(query)).toEqual({
      data: {
        one: 'sent',
        two: { name: 'kettle', weight: 900 },
        three: 'told',
        four: { weight: 900 },
        five: 'sent',
      },
    })
    expect(happened).toEqual(['send a', 'put kettle', 'announce b', 'take cup', 'send c'])
  }
})

test.each([
  ['fails', false, closedAt('paid'), ['put kettle', 'pay 5', 'announce all']],
  ['is not answered', true, awayAt('paid'), ['put kettle', 'announce all']],
])(
  'one that %s and may be null is null with its error, and those after it are performed',
  async (_what, isAway, error, effects) => {
    const { ask, happened } = await openShop(isAway)
    const query = `mutation {
      put(what: "kettle") { weight } paid: pay(cents: 5) announce(to: "all") }`

    for (const _time of TIMES) {
      happened.length = 0
      expect(await ask(query)).toEqual({
        data: { put: { weight: 900 }, paid: null, announce: 'told' },
        errors: [error],
      })
      expect(happened).toEqual(effects)
    }
  },
)

test.each([
  ['fails', false, closedAt('back'), ['put kettle', 'refund 5']],
  ['is not answered', true, awayAt('back'), ['put kettle']],
])(
  'one that %s and cannot be null ends those after it, and what was done before stays done',
  async (_what, isAway, error, effects) => {
    const { ask, happened } = await openShop(isAway)
    const query = `mutation {
      put(what: "kettle") { name } back: refund(cents: 5) announce(to: "all") }`

    for (const _time of TIMES) {
      happened.length = 0
      expect(await ask(query)).toEqual({ data: null, errors: [error] })
      expect(happened).toEqual(effects)
    }
  },
)
