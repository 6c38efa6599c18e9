// Two people who try everything on each other: random operations of a management service, at both
// doors and as references, of which none may show or change what is in another's subscription.
//
// 1. What is asked comes from the service itself: every operation that names a subscription, by its
//    path or by an id among its inputs. A new operation is tried without a line here.
// 2. What a person writes carries a mark. Neither the mark nor the subscription of the one may be in
//    an answer to the other, but where they sent it themselves.
// 3. An attempt on another's subscription is refused with 404, and its owner sees no difference.
import {
  getNamedType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  type GraphQLField,
  type GraphQLNamedType,
} from 'graphql'
import { expect } from 'vitest'
import type { Operation } from '../resolvers/kernel/operation.ts'
import { operationsOf } from '../subgraphs/server/graphql.ts'
import { graphNameOf } from '../subgraphs/server/spelling.ts'
import type { Subgraph } from '../subgraphs/server/subgraph.ts'
import { openForTest, type TestService } from './open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION, type Person } from './people.ts'

const SUBSCRIPTIONS: Record<Person, string> = { alice: SUBSCRIPTION, bob: OTHER_SUBSCRIPTION }
const SELECTION_DEPTH = 5
const ADVANCE_MS = 1_000
/** What reads or changes a cloud resource that is there, or would restore one from nothing. */
const NAMES_BY_ID = /(ById|Snapshot)$|^(tag|untag|restore)[A-Z]/

export interface IsolationCase {
  readonly subgraph: Subgraph
  /**
   * By the name of an input, or of an operation and its input with a period between them: what may be
   * sent for it. `{subscriptionId}` and `{mark}` are filled in, also inside of objects.
   */
  readonly inputs: Readonly<Record<string, readonly unknown[]>>
  /** By the type of an entity: keys of it that may be referred to. */
  readonly references: Readonly<Record<string, readonly string[]>>
  /** A path, relative to a subscription, that lists what is in it, such as `/providers/…/things`. */
  readonly list: string
  /** How the list may be answered: with 200 unless said, as where its parent may be gone. */
  readonly listStatus?: readonly number[]
  readonly tries: number
  readonly seed: number
}

/** The inputs of what names a cloud resource by its id. */
export const byIdInputs = (...ids: readonly string[]) => ({
  id: ids,
  tags: [{ mark: '{mark}' }],
  keys: [['mark']],
  sha256: ['0'.repeat(64)],
  sizeBytes: [4],
  part: [0],
  bytes: ['AAAAAA=='],
})

/** How often another's was tried, and how often a person saw a mark of their own. */
export interface IsolationCounts {
  readonly foreign: number
  readonly own: number
}

/** Throws, naming the seed and what was asked, when one person learns of or changes what is another's. */
export async function checkIsolation(given: IsolationCase): Promise<IsolationCounts> {
  const service = await openForTest(given.subgraph)
  const random = randomOf(given.seed)
  const operations = operationsOf(given.subgraph).filter(isScoped(given))
  const counts = { foreign: 0, own: 0 }
  for (let n = 1; n <= given.tries; n++) {
    const asker = random.one(['alice', 'bob'] as const)
    const owner = random.one(['alice', 'bob'] as const)
    const tried = makeTry(given, operations, { random, asker, owner })
    const where = `seed ${given.seed}, try ${n}: ${asker} asks ${tried.title}`
    if (asker === owner) {
      const answer = await tried.ask(service)
      checkSilence(answer.text, asker, where)
      if (answer.text.includes(markOf(asker))) counts.own += 1
    } else {
      counts.foreign += 1
      const before = await listOf(service, given, owner)
      const answer = await tried.ask(service)
      expect(answer.refusal, where).toBe(404)
      checkSilence(answer.text.replaceAll(SUBSCRIPTIONS[owner], ''), asker, where)
      expect(await listOf(service, given, owner), where).toBe(before)
    }
    if (random.below(4) === 0) await service.advance(ADVANCE_MS)
  }
  expect(service.mistakes, `seed ${given.seed}`).toEqual([])
  return counts
}

interface Try {
  readonly title: string
  ask(service: TestService): Promise<{ text: string; refusal: number | undefined }>
}

interface Chance {
  readonly random: Random
  readonly asker: Person
  readonly owner: Person
}

function makeTry(given: IsolationCase, operations: readonly Operation[], chance: Chance): Try {
  const { random, asker, owner } = chance
  if (Object.keys(given.references).length > 0 && random.below(4) === 0) {
    return tryReference(given, chance)
  }
  // There must be something to see: on their own, people make more than they remove.
  const making = operations.filter(({ rest, name }) =>
    rest ? rest.method === 'PUT' : !NAMES_BY_ID.test(name),
  )
  const isMaking = asker === owner && random.below(2) === 0
  const operation = random.one(isMaking ? making : operations)
  const sent = sentTo(operation, given, chance)
  const isInPath = operation.rest?.path.includes('{subscriptionId}')
  return isInPath && random.below(2) === 0
    ? tryRest(operation, sent, given, chance)
    : tryGraph(operation, sent, chance)
}

function tryRest(operation: Operation, sent: Sent, given: IsolationCase, { asker }: Chance): Try {
  const { method, path, body, headers: named = [] } = operation.rest!
  const headers = Object.fromEntries(
    named.filter((name) => name in sent).map((name) => [name.toLowerCase(), String(sent[name])]),
  )
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(sent[name])))
  const request = `${method} ${given.subgraph.basePath}${filled}?api-version=${given.subgraph.version}`
  return {
    title: `${request} ${JSON.stringify(body && sent[body])}`,
    async ask(service) {
      const credential = asker
      const answer = await service.rest(request, body && sent[body], { credential, headers })
      const text = JSON.stringify([answer.headers, answer.body])
      return { text, refusal: answer.status >= 400 ? answer.status : undefined }
    },
  }
}

function tryGraph({ name }: Operation, sent: Sent, { random, asker }: Chance): Try {
  const variables = Object.fromEntries(
    Object.entries(sent).map(([input, value]) => [graphNameOf(input), value]),
  )
  return {
    title: `${name} ${JSON.stringify(variables)}`,
    async ask(service) {
      const { query, field } = rootOf(service, name)
      const used = field.args.filter((argument) => argument.name in variables)
      const declared = used.map((argument) => `$${argument.name}: ${String(argument.type)}`)
      const passed = used.map((argument) => `${argument.name}: $${argument.name}`)
      return askGraph(
        service,
        `${query} (${declared.join(', ')}) {
          answer: ${name}(${passed.join(', ')}) ${selectionOf(field.type, SELECTION_DEPTH, random)} }`,
        variables,
        asker,
      )
    },
  }
}

function tryReference(given: IsolationCase, { random, asker, owner }: Chance): Try {
  const type = random.one(Object.keys(given.references))
  const id = fill(random.one(given.references[type]!), owner) as string
  return {
    title: `for the ${type} ${id}`,
    async ask(service) {
      const selection = selectionOf(service.opened.schema.getType(type), SELECTION_DEPTH, random)
      const answer = await askGraph(
        service,
        `query ($references: [_Any!]!) { answer: _entities(representations: $references) {
          ... on ${type} ${selection} } }`,
        { references: [{ __typename: type, id }] },
        asker,
      )
      // What is not there and what is not yours look alike: null.
      const isNothing = /^\{"data":\{"answer":\[null\]\}\}$/.test(answer.text)
      return { ...answer, refusal: isNothing ? 404 : answer.refusal }
    },
  }
}

async function askGraph(service: TestService, query: string, variables: object, asker: Person) {
  const answer = await service.graphql(query, variables as Record<string, unknown>, {
    credential: asker,
  })
  // A query that the schema refuses would prove nothing.
  const broken = answer.errors?.find(({ extensions }) => /GRAPHQL|INPUT/.test(extensions.code))
  if (broken) throw new Error(`${broken.message} in ${query}`)
  const refusal = answer.errors?.[0].extensions.status
  // What is not there and what is not yours look alike.
  const isNothing = answer.data?.answer === null && refusal === undefined
  return { text: JSON.stringify(answer), refusal: isNothing ? 404 : refusal }
}

type Sent = Record<string, unknown>

/** Something for every input that there is something for; the rest is left out. */
function sentTo(operation: Operation, given: IsolationCase, { random, owner }: Chance): Sent {
  const sent: Sent = {}
  for (const name of Object.keys(operation.input)) {
    const known = given.inputs[`${operation.name}.${name}`] ?? given.inputs[name]
    const choices = name === 'subscriptionId' ? ['{subscriptionId}'] : known
    if (choices) sent[name] = fill(random.one(choices), owner)
  }
  return sent
}

/** Whether what an operation acts on is said by a subscription, or by an id that has one. */
const isScoped =
  ({ inputs }: IsolationCase) =>
  ({ input }: Operation) =>
    Object.keys(input).some(
      (name) =>
        name === 'subscriptionId' ||
        inputs[name]?.every((it) => `${it}`.includes('{subscriptionId}')),
    )

const fill = (value: unknown, owner: Person): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll('{subscriptionId}', SUBSCRIPTIONS[owner])
      .replaceAll('{mark}', markOf(owner)),
  )

const markOf = (person: Person): string => `mark-of-${person}`

function checkSilence(text: string, asker: Person, where: string): void {
  const other = asker === 'alice' ? 'bob' : 'alice'
  expect(text, where).not.toContain(markOf(other))
  expect(text, where).not.toContain(SUBSCRIPTIONS[other])
}

async function listOf(service: TestService, given: IsolationCase, owner: Person) {
  const { subgraph, list, listStatus = [200] } = given
  const path = `${subgraph.basePath}/subscriptions/${SUBSCRIPTIONS[owner]}${list}`
  const answer = await service.rest(`GET ${path}?api-version=${subgraph.version}`, undefined, {
    credential: owner,
  })
  expect(listStatus).toContain(answer.status)
  return JSON.stringify(answer.body)
}

function rootOf({ opened }: TestService, name: string) {
  const mutation = opened.schema.getMutationType()?.getFields()[name]
  const field = mutation ?? opened.schema.getQueryType()!.getFields()[name]!
  return { query: mutation ? 'mutation' : 'query', field: field as GraphQLField<unknown, unknown> }
}

/**
 * Half of what there is to see of a type, as deep as said: one field that is refused must not hide
 * that another is not.
 */
function selectionOf(of: unknown, depth: number, random: Random): string {
  const type = getNamedType(of as GraphQLNamedType)
  if (!isObjectType(type) && !isInterfaceType(type)) return ''
  if (depth === 0) return '{ __typename }'
  const fields = Object.values(type.getFields()).filter(
    ({ args }) => args.every((argument) => !isNonNullType(argument.type)) && random.below(2) === 0,
  )
  const selected = fields.map(({ name, type }) => `${name} ${selectionOf(type, depth - 1, random)}`)
  return `{ __typename ${selected.join(' ')} }`
}

type Random = ReturnType<typeof randomOf>

/** Chance that can be repeated: the same seed gives the same numbers. */
export function randomOf(seed: number) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (limit: number) => next() % limit
  return { below, one: <T>(of: readonly T[]): T => of[below(of.length)]! }
}

/** A new seed at every run, or the one in SEED, which repeats a run that failed. */
export function seedOf(title: string): number {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))
  console.log(`${title}: SEED=${seed}`)
  return seed
}
