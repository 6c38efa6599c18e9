// People who do not know each other, each with things of their own in many services.
//
// They are made as the demo's person is; what is theirs they make themselves, over HTTP. In every text
// that they write stands a mark: whose it is, and by which rule others see it.
import { askAs } from '../../../gateway/ask-as.ts'
import { GRAPH } from '../../../gateway/callers.ts'
import { serviceCaller } from '../../../subgraphs/server/open.ts'
import type { Whole } from '../whole.ts'

export const GROUP = 'things'
const SETTLED_MS = 60_000
const LOCATION = 'westus'
const BEARER_SERVICES = ['hsm', 'config-store', 'contributions']

/**
 * What stands in a mark, by who sees it:
 * - `own`, what is at the bank and in the cloud: its owner alone
 * - `known`, who someone is, their private playlists and what they contributed before it was published:
 *   its owner and administrators
 * - `public`, assignments, published contributions and public playlists: everyone but nobody
 * - `name`, by which something of someone is asked for: its owner alone, and who sent it
 */
export const AREAS = ['own', 'known', 'public', 'name'] as const
export type Area = (typeof AREAS)[number]
export const markOf = (area: Area, person: string): string => `${area}-of-${person}`

export const ROLES = {
  owner: ['*'],
  administrator: ['*'],
  /** Credentials that permit less than their owner may: of two things that need a permission one each. */
  caller: ['sms-voice:*'],
  keeper: ['backup:*'],
  nobody: [],
} as const satisfies Record<string, readonly string[]>
export type Role = keyof typeof ROLES

const ROLE_OF_EACH_TEN: readonly Role[] = [
  'owner',
  'administrator',
  'caller',
  'keeper',
  'nobody',
  'owner',
  'owner',
  'caller',
  'keeper',
  'owner',
]

export interface Person {
  readonly name: string
  readonly role: Role
  /** What they show at the graph and at REST; nobody shows nothing. */
  readonly token: string | undefined
  readonly apiKey: string | undefined
  /** Nobody has nothing, and asks for what is someone else's. */
  readonly things: Things | undefined
}

export interface Things {
  readonly userId: string
  readonly subscriptionId: string
  readonly accountId: string
  readonly bankUser: string
  readonly bankAccount: string
  readonly hsmId: string
  readonly storeId: string
  readonly playlist: string
  readonly assignment: string
  /** One that waits in the queue, and one that was published. */
  readonly waiting: string
  readonly published: string
  /** How often they wrote their note, which is how their last one ends. */
  readonly written: { times: number }
}

export async function makePeople(whole: Whole, count: number): Promise<Person[]> {
  const people: Person[] = []
  for (let at = 0; at < count; at += 1) {
    const role = ROLE_OF_EACH_TEN[at % ROLE_OF_EACH_TEN.length]!
    people.push(await makePerson(whole, `p${String(at).padStart(2, '0')}`, role))
  }
  // Modules and stores have settled by then.
  await whole.polygraph.ground.advance!(SETTLED_MS)
  return people
}

async function makePerson(whole: Whole, name: string, role: Role): Promise<Person> {
  if (role === 'nobody') {
    return { name, role, token: undefined, apiKey: undefined, things: undefined }
  }
  const mark = markOf('known', name)
  const isAdmin = role === 'administrator'
  const { identity } = whole.polygraph
  const { createUser } = await askAs(identity!, serviceCaller('test'))(
    `mutation ($name: String!, $email: String!, $isAdmin: Boolean) {
       createUser(name: $name, email: $email, isAdmin: $isAdmin) { id } }`,
    { name: mark, email: `${mark}@example.org`, isAdmin },
  )
  const self = { ...serviceCaller('test'), kind: 'user' as const, userId: createUser.id as string }
  const ask = askAs(identity!, self)
  const made = await ask(
    `mutation ($name: String!, $audiences: [String!]!, $few: [String!]!) {
       subscription: createCloudAccount(kind: SUBSCRIPTION, name: $name) { id }
       account: createCloudAccount(kind: ACCOUNT, name: $name) { id }
       all: createAccessToken(name: $name, audiences: $audiences, permissions: ["*"]) { token }
       few: createAccessToken(name: $name, audiences: $audiences, permissions: $few) { token }
       createApiKey(service: "podcasts", name: $name) { secret }
     }`,
    { name: mark, audiences: [GRAPH, ...BEARER_SERVICES], few: ROLES[role] },
  )
  const things = await makeThings(whole, {
    name,
    token: made.all.token,
    userId: createUser.id,
    subscriptionId: made.subscription.id,
    accountId: made.account.id,
  })
  return { name, role, token: made.few.token, apiKey: made.createApiKey.secret, things }
}

const FIRST = `mutation (
  $subscriptionId: ID!, $group: String!, $name: String!, $own: String!, $known: String!,
  $public: String!, $storks: String!, $hsm: DedicatedHsmInput!, $store: ConfigStoreInput!, $tags: JSONObject!
) {
  putDedicatedHsm(subscriptionId: $subscriptionId, resourceGroupName: $group, name: $name, parameters: $hsm) { id }
  putConfigStore(subscriptionId: $subscriptionId, resourceGroupName: $group, configStoreName: $name,
    configStoreCreationParameters: $store) { id }
  createVoiceConfigurationSet(configurationSetName: $name) { id }
  createBackupVault(backupVaultName: $name, backupVaultTags: $tags) { id }
  createUserPerson(firstName: "Pat", lastName: $own) { id }
  private: createPlaylist(name: $known, visibility: "private") { id }
  open: createPlaylist(name: $public, visibility: "public") { id }
  createAssignment(name: $storks, description: $public) { id }
  waiting: createContribution(headline: $known, body: $known) { id }
  published: createContribution(headline: $public, body: $public) { id }
}`

const SECOND = `mutation (
  $bankUser: ID!, $own: String!, $set: ID!, $tags: JSONObject!, $published: ID!, $storeId: ID!
) {
  createMonetaryAccount(userId: $bankUser, currency: "EUR", description: $own) { id }
  tagVoiceConfigurationSet(id: $set, tags: $tags) { id }
  moderateContribution(id: $published, action: { id: "approve" }) { id }
  setKeyValue(configStoreId: $storeId, key: "note", value: $own) { key }
}`

async function makeThings(
  whole: Whole,
  sent: {
    name: string
    token: string
    userId: string
    subscriptionId: string
    accountId: string
  },
): Promise<Things> {
  const { name, token, userId, subscriptionId, accountId } = sent
  const [own, known, open] = (['own', 'known', 'public'] as const).map((area) => markOf(area, name))
  const tags = { mark: own }
  const first = await taken(
    whole,
    FIRST,
    {
      subscriptionId,
      group: GROUP,
      name: markOf('name', name),
      own,
      known,
      public: open,
      // One of the examples asks for these.
      storks: `storks ${open}`,
      hsm: moduleOf(subscriptionId, tags),
      store: { location: LOCATION, sku: { name: 'Standard' }, tags },
      tags,
    },
    token,
  )
  const second = await taken(
    whole,
    SECOND,
    {
      bankUser: first.createUserPerson.id,
      own,
      set: first.createVoiceConfigurationSet.id,
      tags,
      published: first.published.id,
      storeId: first.putConfigStore.id,
    },
    token,
  )
  return {
    userId,
    subscriptionId,
    accountId,
    bankUser: first.createUserPerson.id,
    bankAccount: second.createMonetaryAccount.id,
    hsmId: first.putDedicatedHsm.id,
    storeId: first.putConfigStore.id,
    playlist: first.private.id,
    assignment: first.createAssignment.id,
    waiting: first.waiting.id,
    published: first.published.id,
    written: { times: 0 },
  }
}

const moduleOf = (subscriptionId: string, tags: object) => ({
  location: LOCATION,
  sku: { name: 'Vendor Network HSM A790' },
  tags,
  properties: {
    stampId: 'stamp1',
    networkProfile: {
      subnet: {
        id: `/subscriptions/${subscriptionId}/resourceGroups/${GROUP}/providers/Vendor.Network/virtualNetworks/n/subnets/hsm`,
      },
      networkInterfaces: [{ privateIpAddress: '10.0.2.4' }],
    },
  },
})

/** Asks, and takes no refusal. */
async function taken(whole: Whole, query: string, variables: object, token: string): Promise<any> {
  const { data, errors } = await whole.graphql(query, variables, token)
  if (errors) throw new Error(`making people failed: ${JSON.stringify(errors)}`)
  return data
}
