// What people ask the graph about what is theirs or public, and what each of them must be told.
import assert from 'node:assert/strict'
import { examples } from '../../../gateway/examples.ts'
import { markOf, type Person, type Things } from './people.ts'

export interface Operation {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

export interface Question extends Operation {
  readonly kind: string
  check(answer: Answer): void
}

export interface Answer {
  readonly data?: any
  readonly errors?: readonly { extensions?: { code?: string; status?: number } }[]
}

/** Who asks, and whose things they ask about. */
export interface Asking {
  readonly person: Person
  /** Their own, or for nobody someone's. */
  readonly things: Things
  readonly other: Person & { readonly things: Things }
}

const ME = `{
  me {
    name
    email
    bankUsers(first: 5) { nodes { lastName } }
    monetaryAccounts(first: 1) { nodes { description } }
    playlists(first: 5) { nodes { name } }
    contributions(first: 5) { nodes { headline } }
  }
  cloudAccounts(first: 5) { nodes { name } }
}`

/** In the same words for all, and without a variable. */
export const me = ({ person, things }: Asking): Question => {
  const [own, known, open] = marksOf(person)
  return {
    kind: 'me',
    query: ME,
    variables: {},
    check: orRefused(person, ({ data, errors }) => {
      assert.equal(errors, undefined)
      // Those that were made in the same millisecond come in either order.
      for (const { nodes } of [data.me.playlists, data.me.contributions]) nodes.sort(byText)
      assert.deepEqual(data, {
        me: {
          name: known,
          email: `${known}@example.org`,
          bankUsers: { nodes: [{ lastName: own }] },
          monetaryAccounts: { nodes: [{ description: noteOf(person, things) }] },
          playlists: { nodes: [{ name: known }, { name: open }] },
          contributions: { nodes: [{ headline: known }, { headline: open }] },
        },
        cloudAccounts: { nodes: [{ name: known }, { name: known }] },
      })
    }),
  }
}

const OWN = `query Own($subscription: String!, $hsm: ID!, $store: ID!, $waiting: ID!, $playlist: String!) {
  cloudAccount(id: $subscription) {
    name
    dedicatedHsms(first: 3) { nodes { name tags } }
    configStores(first: 3) { nodes { name tags } }
  }
  dedicatedHsmById(id: $hsm) { name tags }
  configKeyValue(configStoreId: $store, key: "note") { value }
  contribution(id: $waiting) { headline body }
  playlist(id: $playlist) { name description }
}`

export const own = ({ person, things }: Asking): Question => {
  const [mark, known] = marksOf(person)
  const name = markOf('name', person.name)
  const note = noteOf(person, things)
  const tagged = { name, tags: { mark: note } }
  return {
    kind: 'own',
    query: OWN,
    variables: {
      subscription: things.subscriptionId,
      hsm: things.hsmId,
      store: things.storeId,
      waiting: things.waiting,
      playlist: things.playlist,
    },
    check: orRefused(person, ({ data, errors }) => {
      assert.equal(errors, undefined)
      assert.deepEqual(data, {
        cloudAccount: {
          name: known,
          dedicatedHsms: { nodes: [tagged] },
          configStores: { nodes: [{ name, tags: { mark } }] },
        },
        dedicatedHsmById: tagged,
        configKeyValue: { value: note },
        contribution: { headline: known, body: known },
        playlist: { name: known, description: things.written.times === 0 ? '' : note },
      })
    }),
  }
}

const GUARDED = `query ($name: String!) {
  voiceConfigurationSet(configurationSetName: $name) { tags }
  backupVault(backupVaultName: $name) { tags }
}`

/** What needs a permission: a credential that has it not gets null in its place, and a refusal. */
export const guarded = ({ person, other }: Asking): Question => {
  const { role } = person
  const whose = role === 'nobody' ? other.name : person.name
  const tagged = { tags: { mark: markOf('own', person.name) } }
  const mayCall = role !== 'keeper' && role !== 'nobody'
  const mayKeep = role !== 'caller' && role !== 'nobody'
  const refused = [mayCall, mayKeep].filter((may) => !may)
  return {
    kind: 'guarded',
    query: GUARDED,
    variables: { name: markOf('name', whose) },
    check({ data, errors = [] }) {
      assert.deepEqual(data, {
        voiceConfigurationSet: mayCall ? tagged : null,
        backupVault: mayKeep ? tagged : null,
      })
      assert.deepEqual(
        errors.map(({ extensions }) => extensions?.code),
        refused.map(() => (role === 'nobody' ? 'Unauthenticated' : 'Forbidden')),
      )
    },
  }
}

const WRITE = `mutation Write(
  $store: ID!, $hsm: ID!, $playlist: String!, $user: ID!, $account: ID!, $note: String!, $tags: JSONObject!
) {
  setKeyValue(configStoreId: $store, key: "note", value: $note) { value }
  tagDedicatedHsm(id: $hsm, tags: $tags) { tags }
  updatePlaylist(id: $playlist, description: $note) { description }
  updateMonetaryAccount(userId: $user, monetaryAccountId: $account, description: $note) { description }
}`

/** A new note in four services, in order. */
export const written = ({ person, things }: Asking): Question => {
  if (person.role !== 'nobody') things.written.times += 1
  const note = noteOf(person, things)
  return {
    kind: 'written',
    query: WRITE,
    variables: {
      store: things.storeId,
      hsm: things.hsmId,
      playlist: things.playlist,
      user: things.bankUser,
      account: things.bankAccount,
      note,
      tags: { mark: note },
    },
    check: orRefused(person, ({ data, errors }) => {
      assert.equal(errors, undefined)
      assert.deepEqual(data, {
        setKeyValue: { value: note },
        tagDedicatedHsm: { tags: { mark: note } },
        updatePlaylist: { description: note },
        updateMonetaryAccount: { description: note },
      })
    }),
  }
}

const PUBLIC = `{
  assignments(pageSize: 100) { items { name owner { id } } }
  contributions(first: 100) { nodes { headline body user { id } } }
}`

/** What is public of all, and nothing else of anyone. */
export const published = ({ person }: Asking): Question => ({
  kind: 'published',
  query: PUBLIC,
  variables: {},
  check: orRefused(person, ({ data, errors }) => {
    assert.equal(errors, undefined)
    const named = markOf('public', person.name)
    const has = (list: readonly object[]) => JSON.stringify(list).includes(named)
    assert.ok(has(data.assignments.items) && has(data.contributions.nodes))
  }),
})

const WHOSE = `{
  contributions(first: 100) {
    nodes {
      headline
      one: user { name email }
      other: user { name email }
    }
  }
}`

/** Two places that ask identity the same, which go to it as one: who contributed what. */
export const whose = ({ person }: Asking): Question => {
  const [, known, open] = marksOf(person)
  const self = { name: known, email: `${known}@example.org` }
  return {
    kind: 'whose',
    query: WHOSE,
    variables: {},
    check: orRefused(person, ({ data, errors }) => {
      assert.equal(errors, undefined)
      const { nodes } = data.contributions
      assert.ok(nodes.length > 0)
      for (const { headline, one, other } of nodes) {
        const isOwn = headline === open || headline === known
        // Administrators know everyone, and others themselves alone.
        assert.equal(one !== null, isOwn || person.role === 'administrator')
        if (isOwn) assert.deepEqual(one, self)
        assert.deepEqual(other, one)
      }
    }),
  }
}

/** Its marks alone are looked at: tests/gateway/examples.test.ts holds it against whole answers. */
export const example = ({ person }: Asking, at: number): Question => {
  const { name, query } = examples[at % examples.length]!
  return { kind: `example ${name}`, query, variables: {}, check: orRefused(person, () => {}) }
}

const WRONG: readonly Operation[] = [
  { query: '{ me { name ', variables: {} },
  { query: '{ me { secret } }', variables: {} },
  { query: 'query ($id: ID!) { dedicatedHsmById(id: $id) { name } }', variables: {} },
]

const isWrong = ({ data, errors }: Answer) => {
  assert.equal(data, undefined)
  assert.ok(errors && errors.length > 0)
}

export const wrong = (_asking: Asking, at: number): Question => ({
  kind: 'wrong',
  ...WRONG[at % WRONG.length]!,
  check: isWrong,
})

export const costly = (): Question => ({
  kind: 'costly',
  query: '{ cloudAccounts(first: 20000) { nodes { name } } }',
  variables: {},
  check: isWrong,
})

/** Nobody is told nothing, whatever the others are told. */
const orRefused = (person: Person, check: (answer: Answer) => void) =>
  person.role === 'nobody'
    ? ({ data, errors }: Answer) => {
        const isNothing = data === null || Object.values(data).every((value) => value === null)
        assert.ok(isNothing, 'nobody was told something')
        assert.ok(errors!.every(({ extensions }) => extensions?.code === 'Unauthenticated'))
      }
    : check

const byText = (one: object, other: object): number =>
  JSON.stringify(one) < JSON.stringify(other) ? -1 : 1

const marksOf = ({ name }: Person) =>
  [markOf('own', name), markOf('known', name), markOf('public', name)] as const

/** What stands in the last note of someone. */
export const noteOf = ({ name }: Person, { written: { times } }: Things): string =>
  times === 0 ? markOf('own', name) : `${markOf('own', name)} ${times}`
