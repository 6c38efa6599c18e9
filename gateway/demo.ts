// Something to look at on a first start: a person, their accounts, a credential for every service.
//
// It goes through the same operations as everyone else; nothing in it is put into a store directly.
import type { Caller, CallerAccount } from '../resolvers/kernel/context.ts'
import { serviceCaller, type Opened } from '../subgraphs/server/open.ts'
import type { Subgraph } from '../subgraphs/server/subgraph.ts'
import { askAs } from './ask-as.ts'
import { GRAPH } from './callers.ts'
import type { Polygraph } from './polygraph.ts'

const YEAR_S = 365 * 24 * 3600
const REGION = 'us-east-1'
const RESOURCE_GROUP = 'polygraph-demo'
const LOCATION = 'us-central1'

type Credentials = Record<string, string>

/** What the address of a service stands as in what is kept: the port may be another tomorrow. */
export const ADDRESS = '{address}'

/**
 * Makes what is missing: the person at the first start, and what every service has to show at the
 * first start with that service. What is made is kept at once, so that a start that was cut short
 * goes on where it was.
 */
export async function ensureDemo({ identity, services, ground, ask }: Polygraph): Promise<void> {
  if (!identity) return
  const { answer } = await ask('{ answer: demoCredentials }', {})
  const made = (answer ?? {}) as Record<string, Credentials>
  made[GRAPH] ??= await makePerson(identity)
  await keep(identity, made)
  const caller = await ground.credentials.byToken(GRAPH, made[GRAPH].token!)
  // Its owner revoked the demo's token, and with it the demo.
  if (!caller) return

  for (const service of inOrder(services)) {
    const { name, demo } = service.subgraph
    if (made[name]) continue
    const things = await demo?.(service.contextFor(caller, { address: ADDRESS, headers: {} }))
    made[name] = {
      ...(await makeCredentials(identity, caller, service.subgraph)),
      ...accountsFor(service.subgraph, caller),
      ...things,
    }
    await keep(identity, made)
  }
}

/** Each after those that its demo looks for, so far as they are in this process. */
function inOrder(services: readonly Opened[]): Opened[] {
  const ordered = new Set<Opened>()
  const add = (service: Opened) => {
    for (const name of service.subgraph.demoAfter ?? []) {
      const before = services.find(({ subgraph }) => subgraph.name === name)
      if (before) add(before)
    }
    ordered.add(service)
  }
  services.forEach(add)
  return [...ordered]
}

async function keep(identity: Opened, credentials: Record<string, Credentials>): Promise<void> {
  await askAs(identity, serviceCaller('demo'))(
    'mutation ($credentials: JSONObject!) { keepDemoCredentials(credentials: $credentials) }',
    { credentials },
  )
}

async function makePerson(identity: Opened): Promise<Credentials> {
  const { createUser } = await askAs(
    identity,
    serviceCaller('demo'),
  )('mutation { createUser(name: "Ada", email: "ada@example.org", isAdmin: true) { id } }')
  const person = { ...serviceCaller('demo'), kind: 'user' as const, userId: createUser.id }
  for (const kind of ['SUBSCRIPTION', 'PROJECT', 'ACCOUNT']) {
    await askAs(identity, person)(
      'mutation ($kind: CloudAccountKind!) { createCloudAccount(kind: $kind, name: "polygraph-demo") { id } }',
      { kind },
    )
  }
  return { token: await makeToken(identity, person, [GRAPH, 'identity']) }
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
        // Some of these services ask others on behalf of the key, which then has to permit that too.
        { accountId, permissions: ['*'] },
      )
      return { ...createSigningKey, region: REGION, accountId }
    }
  }
}

/** The accounts that a service's paths ask for. */
function accountsFor({ name, scheme }: Subgraph, { accounts }: Caller): Credentials {
  const idOf = (kind: CallerAccount['kind']) =>
    accounts.find((account) => account.kind === kind)!.id
  if (name === 'functions') return { project: idOf('PROJECT'), location: LOCATION }
  if (scheme.kind !== 'bearer' || name === 'identity' || name === 'contributions') return {}
  return { subscriptionId: idOf('SUBSCRIPTION'), resourceGroup: RESOURCE_GROUP }
}
