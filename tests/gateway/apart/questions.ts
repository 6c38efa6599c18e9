// What people ask the graph, and what each of them must be told.
import assert from 'node:assert/strict'
import { examples } from '../../../gateway/examples.ts'
import { GROUP, markOf, type Person, type Things } from './people.ts'

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

const ALIASES = `query (
  $mine: ID!, $hsm: ID!, $store: ID!, $waiting: ID!, $subscription: ID!, $group: String!, $name: String!
) {
  a: dedicatedHsmById(id: $hsm) { name tags }
  mine: dedicatedHsmById(id: $mine) { tags }
  b: configStoreById(id: $store) { name tags }
  c: configKeyValue(configStoreId: $store, key: "note") { value }
  d: contribution(id: $waiting) { headline }
  e: dedicatedHsm(subscriptionId: $subscription, resourceGroupName: $group, name: $name) { tags }
  f: voiceConfigurationSet(configurationSetName: $name) { tags }
  g: backupVault(backupVaultName: $name) { tags }
}`

/** By other people's ids, with one's own among them: null for each that is not one's own. */
export const aliases = ({ person, things, other }: Asking): Question => ({
  kind: 'aliases',
  query: ALIASES,
  variables: {
    mine: things.hsmId,
    hsm: other.things.hsmId,
    store: other.things.storeId,
    waiting: other.things.waiting,
    subscription: other.things.subscriptionId,
    group: GROUP,
    name: markOf('name', other.name),
  },
  check({ data, errors }) {
    const isAdmin = person.role === 'administrator'
    const isNobody = person.role === 'nobody'
    assert.deepEqual(data, {
      a: null,
      mine: isNobody ? null : { tags: { mark: noteOf(person, things) } },
      b: null,
      c: null,
      d: isAdmin ? { headline: markOf('known', other.name) } : null,
      e: null,
      f: null,
      g: null,
    })
    assert.ok(errors && errors.length > 0)
  },
})

/** Fields that cannot be null: the whole answer is, with the refusal. */
const ALONE: readonly ((other: Things) => Operation)[] = [
  ({ userId: id }) => ({
    query: 'query ($id: String!) { user(id: $id) { name email } }',
    variables: { id },
  }),
  ({ subscriptionId: id }) => ({
    query:
      'query ($id: String!) { cloudAccount(id: $id) { name dedicatedHsms { nodes { tags } } } }',
    variables: { id },
  }),
  ({ bankUser, bankAccount }) => ({
    query:
      'query ($user: ID!, $id: ID!) { monetaryAccount(userId: $user, monetaryAccountId: $id) { description } }',
    variables: { user: bankUser, id: bankAccount },
  }),
  ({ bankUser: id }) => ({
    query: 'query ($id: ID!) { bankUser(itemId: $id) { lastName } }',
    variables: { id },
  }),
  ({ playlist: id }) => ({
    query: 'query ($id: String!) { playlist(id: $id) { name } }',
    variables: { id },
  }),
  ({ subscriptionId: id }) => ({
    query: 'query ($id: ID!) { configStores(subscriptionId: $id) { value { name tags } } }',
    variables: { id },
  }),
]

/** And writing what is not one's own. */
const OTHERS_WRITTEN: readonly ((other: Things, text: string) => Operation)[] = [
  ({ hsmId: id }, mark) => ({
    query:
      'mutation ($id: ID!, $tags: JSONObject!) { tagDedicatedHsm(id: $id, tags: $tags) { tags } }',
    variables: { id, tags: { mark } },
  }),
  ({ storeId: id }, value) => ({
    query:
      'mutation ($id: ID!, $value: String!) { setKeyValue(configStoreId: $id, key: "note", value: $value) { value } }',
    variables: { id, value },
  }),
  ({ playlist: id }, name) => ({
    query:
      'mutation ($id: String!, $name: String) { updatePlaylist(id: $id, name: $name) { name } }',
    variables: { id, name },
  }),
  ({ bankUser, bankAccount }, description) => ({
    query: `mutation ($user: ID!, $id: ID!, $description: String) {
      updateMonetaryAccount(userId: $user, monetaryAccountId: $id, description: $description) { description } }`,
    variables: { user: bankUser, id: bankAccount, description },
  }),
]

const isRefused = ({ data, errors }: Answer) => {
  assert.equal(data, null)
  const statuses = (errors ?? []).map(({ extensions }) => extensions?.status)
  assert.ok(statuses.length > 0)
  for (const status of statuses) assert.ok([401, 403, 404].includes(status!), `status ${status}`)
}

export const alone = ({ person, other }: Asking, at: number): Question => {
  const which = at % ALONE.length
  const isKnown = which === 0 && person.role === 'administrator'
  return {
    kind: 'alone',
    ...ALONE[which]!(other.things),
    check: isKnown
      ? ({ data }) => assert.equal(data.user.name, markOf('known', other.name))
      : isRefused,
  }
}

export const othersWritten = ({ person, other }: Asking, at: number): Question => ({
  kind: 'others written',
  ...OTHERS_WRITTEN[at % OTHERS_WRITTEN.length]!(other.things, markOf('own', person.name)),
  check: isRefused,
})

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

const noteOf = ({ name }: Person, { written: { times } }: Things): string =>
  times === 0 ? markOf('own', name) : `${markOf('own', name)} ${times}`
