// Something to look at on a first start: a person, their accounts, a credential for every service.
//
// It goes through the same operations as everyone else; nothing in it is put into a store directly.
import type { Caller } from '../resolvers/kernel/context.ts'
import { serviceCaller, type Opened } from '../subgraphs/server/open.ts'
import type { Scheme, Subgraph } from '../subgraphs/server/subgraph.ts'
import { askAs } from './ask-as.ts'
import { GRAPH } from './callers.ts'
import type { Polygraph } from './polygraph.ts'

const YEAR_S = 365 * 24 * 3600
const REGION = 'us-east-1'
export const DEMO_RESOURCE_GROUP = 'polygraph-demo'
const DEMO_LOCATION = 'us-central1'

type Credentials = Record<string, string>

/** Makes the demo unless it was made before. Returns whether it is there now. */
export async function ensureDemo(polygraph: Polygraph): Promise<void> {
  const { answer } = await polygraph.ask('{ answer: demoCredentials }', {})
  const identity = polygraph.services.find(({ subgraph }) => subgraph.name === 'identity')
  if (answer || !identity) return
  const credentials = await makeDemo(identity, polygraph)
  await askAs(identity, serviceCaller('demo'))(
    'mutation ($credentials: JSONObject!) { keepDemoCredentials(credentials: $credentials) }',
    { credentials },
  )
}

async function makeDemo(
  identity: Opened,
  { services, ground }: Polygraph,
): Promise<Record<string, Credentials>> {
  const asService = askAs(identity, serviceCaller('demo'))
  const { createUser } = await asService(
    'mutation { createUser(name: "Ada", email: "ada@example.org", isAdmin: true) { id } }',
  )
  const person = { ...serviceCaller('demo'), kind: 'user' as const, userId: createUser.id }
  const accounts = await openAccounts(identity, person)
  const token = await makeToken(identity, person, [GRAPH, 'identity'])
  const caller = await ground.credentials.byToken(GRAPH, token)
  if (!caller) throw new Error('the demo token does not open the graph')

  const made: Record<string, Credentials> = { [GRAPH]: { token } }
  for (const service of services) {
    const { name, scheme, demo } = service.subgraph
    const things = await demo?.(service.contextFor(caller, { address: '', headers: {} }))
    made[name] = {
      ...(await makeCredentials(identity, caller, service.subgraph)),
      ...accountsFor(scheme, name, accounts),
      ...things,
    }
  }
  return made
}

async function openAccounts(identity: Opened, person: Caller): Promise<Record<string, string>> {
  const accounts: Record<string, string> = {}
  for (const kind of ['SUBSCRIPTION', 'PROJECT', 'ACCOUNT']) {
    const { createCloudAccount } = await askAs(identity, person)(
      'mutation ($kind: CloudAccountKind!) { createCloudAccount(kind: $kind, name: "polygraph-demo") { id } }',
      { kind },
    )
    accounts[kind] = createCloudAccount.id
  }
  return accounts
}

async function makeToken(
  identity: Opened,
  person: Caller,
  audiences: readonly string[],
): Promise<string> {
  const { createAccessToken } = await askAs(identity, person)(
    `mutation ($audiences: [String!]!, $expiresIn: Int) {
       createAccessToken(name: "demo", audiences: $audiences, expiresIn: $expiresIn) { token } }`,
    { audiences, expiresIn: YEAR_S },
  )
  return createAccessToken.token
}

async function makeCredentials(
  identity: Opened,
  caller: Caller,
  { name, scheme }: Subgraph,
): Promise<Credentials> {
  const ask = askAs(identity, caller)
  switch (scheme.kind) {
    case 'bearer':
      return { token: await makeToken(identity, caller, [name]) }
    case 'api-key': {
      const { createApiKey } = await ask(
        'mutation ($name: String!) { createApiKey(service: $name, name: "demo") { secret } }',
        { name },
      )
      return { apiKey: createApiKey.secret }
    }
    case 'basic': {
      const { createBasicAccount } = await ask(
        'mutation ($name: String!) { createBasicAccount(service: $name, username: "demo") { password } }',
        { name },
      )
      return { username: 'demo', password: createBasicAccount.password }
    }
    case 'sigv4': {
      const accountId = caller.accounts.find(({ kind }) => kind === 'ACCOUNT')!.id
      const { createSigningKey } = await ask(
        `mutation ($accountId: String!, $permissions: [String!]!) {
           createSigningKey(accountId: $accountId, name: "demo", permissions: $permissions) {
             accessKeyId secretAccessKey } }`,
        { accountId, permissions: [`${scheme.signingName}:*`] },
      )
      return { ...createSigningKey, region: REGION, accountId }
    }
  }
}

/** The accounts that a service's paths ask for. */
function accountsFor(scheme: Scheme, name: string, accounts: Record<string, string>): Credentials {
  if (name === 'functions') return { project: accounts.PROJECT!, location: DEMO_LOCATION }
  if (scheme.kind !== 'bearer' || name === 'identity' || name === 'contributions') return {}
  return { subscriptionId: accounts.SUBSCRIPTION!, resourceGroup: DEMO_RESOURCE_GROUP }
}
