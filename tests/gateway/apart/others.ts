// What people ask the graph about what is not theirs: by other people's ids, to read it and to write it.
import assert from 'node:assert/strict'
import { GROUP, markOf, type Things } from './people.ts'
import { noteOf, type Answer, type Asking, type Operation, type Question } from './questions.ts'

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
