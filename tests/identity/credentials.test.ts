import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { subgraph } from '../../subgraphs/identity.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import { openForTest, type TestService } from '../open.ts'

const DAY_MS = 24 * 60 * 60_000
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('hex')
const CALLER = '{ kind userId credentialId accounts { id kind } permissions isAdmin }'

/** Registers a person, and returns what asks as them. */
async function register(service: TestService, name: string, isAdmin = false) {
  const { data } = await service.graphqlAs(
    serviceCaller('test'),
    'mutation ($name: String!, $email: String!, $isAdmin: Boolean) { createUser(name: $name, email: $email, isAdmin: $isAdmin) { id } }',
    { name, email: `${name}@example.org`, isAdmin },
  )
  const caller: Caller = {
    kind: 'user',
    userId: data.createUser.id,
    credentialId: 'test',
    accounts: [],
    permissions: ['*'],
    isAdmin,
  }
  return {
    caller,
    ask: (query: string, variables?: object) => service.graphqlAs(caller, query, variables),
    with: (change: Partial<Caller>) => (query: string, variables?: object) =>
      service.graphqlAs({ ...caller, ...change }, query, variables),
  }
}

const prove = async (service: TestService, question: string) => {
  const query = `{ caller: ${question} ${CALLER} }`
  return (await service.graphqlAs(serviceCaller('test'), query)).data.caller
}

test('an API key opens its service, and no other, for its owner', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')

  const made = await ada.ask(
    'mutation { createApiKey(service: "braille", name: "mine") { secret apiKey { id service hint revoked } } }',
  )

  const { secret, apiKey } = made.data.createApiKey
  expect(secret).toMatch(/^pgk_[\w-]{40}$/)
  expect(apiKey).toMatchObject({ service: 'braille', hint: `…${secret.slice(-4)}`, revoked: null })
  const proofOf = (name: string) =>
    prove(service, `callerByApiKey(service: "${name}", keyHash: "${hashOf(secret)}")`)
  expect(await proofOf('braille')).toEqual({
    kind: 'user',
    userId: ada.caller.userId,
    credentialId: apiKey.id,
    accounts: [],
    permissions: ['*'],
    isAdmin: false,
  })
  expect(await proofOf('podcasts')).toBeNull()
})

test('a secret is shown once and kept nowhere', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const { data } = await ada.ask(
    'mutation { createApiKey(service: "braille", name: "mine") { secret } }',
  )

  const rows = await service.store.sql('SELECT body FROM api_key')
  expect(JSON.stringify(rows)).not.toContain(data.createApiKey.secret)
})

test('a revoked credential proves nobody, and revoking it twice changes nothing', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const { data } = await ada.ask(
    'mutation { createApiKey(service: "braille", name: "mine") { secret apiKey { id } } }',
  )
  const { secret, apiKey } = data.createApiKey
  const revoke = `mutation { revokeApiKey(id: "${apiKey.id}") { revoked } }`

  const first = await ada.ask(revoke)
  await service.advance(1_000)
  const second = await ada.ask(revoke)

  expect(first.data.revokeApiKey.revoked).toBe('2030-01-01T00:00:00.000Z')
  expect(second.data.revokeApiKey.revoked).toBe('2030-01-01T00:00:00.000Z')
  const proof = `callerByApiKey(service: "braille", keyHash: "${hashOf(secret)}")`
  expect(await prove(service, proof)).toBeNull()
})

test('another person neither sees nor revokes a credential', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const eve = await register(service, 'eve')
  const { data } = await ada.ask(
    'mutation { createApiKey(service: "braille", name: "mine") { apiKey { id } } }',
  )
  const { id } = data.createApiKey.apiKey

  const revoked = await eve.ask(`mutation { revokeApiKey(id: "${id}") { id } }`)
  const listed = await eve.ask('{ apiKeys { nodes { id } } }')

  expect(revoked.errors).toMatchObject([{ extensions: { code: 'NotFound', status: 404 } }])
  expect(listed.data.apiKeys.nodes).toEqual([])
  expect((await ada.ask('{ apiKeys { nodes { id revoked } } }')).data.apiKeys.nodes).toEqual([
    { id, revoked: null },
  ])
})

test('a name and a password open one service, and a taken name is refused', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const create =
    'mutation { createBasicAccount(service: "robotics", username: "ada") { password basicAccount { id } } }'
  const { data } = await ada.ask(create)
  const { password, basicAccount } = data.createBasicAccount
  const proof = (username: string, word: string) =>
    prove(
      service,
      `callerByPassword(service: "robotics", username: "${username}", password: "${word}")`,
    )

  expect(await proof('ada', password)).toMatchObject({ credentialId: basicAccount.id })
  expect(await proof('ada', 'wrong')).toBeNull()
  expect(await proof('eve', password)).toBeNull()
  expect((await ada.ask(create)).errors).toMatchObject([{ extensions: { code: 'AlreadyExists' } }])
  await ada.ask(`mutation { revokeBasicAccount(id: "${basicAccount.id}") { id } }`)
  expect(await proof('ada', password)).toBeNull()
})

test('a token opens the services of its audiences until it expires', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const { data } = await ada.ask(
    'mutation { createAccessToken(name: "t", audiences: ["hsm"], expiresIn: 60) { token accessToken { expires } } }',
  )
  const { token, accessToken } = data.createAccessToken
  const proof = (name: string) =>
    prove(service, `callerByToken(service: "${name}", tokenHash: "${hashOf(token)}")`)

  expect(accessToken.expires).toBe('2030-01-01T00:01:00.000Z')
  expect(await proof('hsm')).toMatchObject({ userId: ada.caller.userId })
  expect(await proof('graph')).toBeNull()
  await service.advance(60_000)
  expect(await proof('hsm')).toBeNull()
})

test('a credential never permits more than the one that made it', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada', true)
  const limited = ada.with({ permissions: ['identity:*', 'sms-voice:Send*'] })

  const beyond = await limited(
    'mutation { createAccessToken(name: "t", audiences: ["graph"], permissions: ["*"]) { token } }',
  )
  const within = await limited(
    'mutation { createAccessToken(name: "t", audiences: ["graph"], permissions: ["sms-voice:Send*"]) { token } }',
  )
  const key = await limited('mutation { createApiKey(service: "braille", name: "k") { secret } }')

  expect(beyond.errors).toMatchObject([
    { message: 'Your own credential does not permit *.', extensions: { code: 'Forbidden' } },
  ])
  const tokenProof = `callerByToken(service: "graph", tokenHash: "${hashOf(within.data.createAccessToken.token)}")`
  expect(await prove(service, tokenProof)).toMatchObject({
    permissions: ['sms-voice:Send*'],
    isAdmin: false,
  })
  const keyProof = `callerByApiKey(service: "braille", keyHash: "${hashOf(key.data.createApiKey.secret)}")`
  expect(await prove(service, keyProof)).toMatchObject({
    permissions: ['identity:*', 'sms-voice:Send*'],
    isAdmin: false,
  })
})

test('a credential for one service does not make credentials', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const limited = ada.with({ permissions: ['sms-voice:*'] })

  const refused = await limited(
    'mutation { createApiKey(service: "braille", name: "k") { secret } }',
  )

  expect(refused.errors).toMatchObject([
    { message: 'The credential does not permit identity:ManageCredentials.' },
  ])
})

test('a signing key is derived for one day, region and service, and opens one account', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const account = async (name: string) => {
    const query = `mutation { createCloudAccount(kind: ACCOUNT, name: "${name}") { id } }`
    return (await ada.ask(query)).data.createCloudAccount.id as string
  }
  const [one, two] = [await account('one'), await account('two')]
  const accounts = [one, two].map((id) => ({ id, kind: 'ACCOUNT' as const }))

  const made = await ada.with({ accounts })(
    `mutation { createSigningKey(accountId: "${one}", name: "k", permissions: ["sms-voice:*"]) {
       accessKeyId secretAccessKey sessionToken } }`,
  )

  const { accessKeyId, secretAccessKey, sessionToken } = made.data.createSigningKey
  expect(accessKeyId).toMatch(/^AKIA[A-Z2-7]{16}$/)
  expect(secretAccessKey).toHaveLength(40)
  expect(sessionToken).toBeNull()
  const derived = await service.graphqlAs(
    serviceCaller('test'),
    `{ signingKey(accessKeyId: "${accessKeyId}", date: "20300101", region: "eu", service: "sms-voice") {
       key sessionTokenHash caller { permissions accounts { id } } } }`,
  )
  expect(derived.data.signingKey).toMatchObject({
    sessionTokenHash: null,
    caller: { permissions: ['sms-voice:*'], accounts: [{ id: one }] },
  })
  const stored = JSON.stringify(await service.store.sql('SELECT body FROM signing_key'))
  expect(stored).not.toContain(secretAccessKey)
})

test('temporary keys carry a session token and say when they end', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const { data } = await ada.ask('mutation { createCloudAccount(kind: ACCOUNT, name: "a") { id } }')
  const { id } = data.createCloudAccount

  const made = await ada.with({ accounts: [{ id, kind: 'ACCOUNT' }] })(
    `mutation { createSigningKey(accountId: "${id}", name: "k", permissions: ["*"], temporary: true) {
       accessKeyId sessionToken signingKey { expires } } }`,
  )

  const { accessKeyId, sessionToken, signingKey } = made.data.createSigningKey
  expect(accessKeyId).toMatch(/^ASIA/)
  expect(signingKey.expires).toBe('2030-01-01T01:00:00.000Z')
  const derived = await service.graphqlAs(
    serviceCaller('test'),
    `{ signingKey(accessKeyId: "${accessKeyId}", date: "20300101", region: "eu", service: "x") {
       sessionTokenHash expiresMs } }`,
  )
  expect(derived.data.signingKey).toEqual({
    sessionTokenHash: hashOf(sessionToken),
    expiresMs: Date.parse('2030-01-01T01:00:00.000Z'),
  })
})

test('a signing key for an account of another is refused', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')

  const refused = await ada.ask(
    'mutation { createSigningKey(accountId: "999999999999", name: "k", permissions: ["*"]) { accessKeyId } }',
  )

  expect(refused.errors).toMatchObject([
    { message: 'You have no account 999999999999.', extensions: { code: 'NotFound' } },
  ])
})

test.each([
  [
    'createApiKey(service: "Braille!", name: "k") { secret }',
    /^service must be the name of a service/,
  ],
  ['createApiKey(service: "braille", name: "") { secret }', /^name too small/],
  [
    'createApiKey(service: "braille", name: "k", expiresIn: 0) { secret }',
    /^expiresIn must be between 1 and /,
  ],
  ['createAccessToken(name: "t", audiences: []) { token }', /^audiences too small/],
  ['createCloudAccount(kind: PROJECT, name: "") { id }', /^name too small/],
])('%s is refused', async (field, message) => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const refused = await ada.ask(`mutation { ${field} }`)

  expect(refused.errors?.[0]).toMatchObject({
    message: expect.stringMatching(message),
    extensions: { code: 'Invalid', status: 400 },
  })
  expect(await service.store.sql('SELECT key FROM api_key')).toEqual([])
})

test('lists are paged by cursors that fit their own list alone', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  for (let i = 0; i < 5; i += 1) {
    await ada.ask(`mutation { createApiKey(service: "braille", name: "k${i}") { secret } }`)
  }
  const page = (after: string | null) =>
    ada.ask(
      'query ($after: String) { apiKeys(first: 2, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } } }',
      { after },
    )

  const names: string[] = []
  let after: string | null = null
  for (let turn = 0; turn < 3; turn += 1) {
    const { nodes, pageInfo }: any = (await page(after)).data.apiKeys
    names.push(...nodes.map(({ name }: { name: string }) => name))
    expect(pageInfo.hasNextPage).toBe(turn < 2)
    after = pageInfo.endCursor
  }

  expect(names).toEqual(['k0', 'k1', 'k2', 'k3', 'k4'])
  const foreign = await ada.ask(
    'query ($after: String) { accessTokens(after: $after) { nodes { id } } }',
    { after },
  )
  expect(foreign.errors).toMatchObject([{ extensions: { code: 'Invalid' } }])
  const tooMany = await ada.ask('{ apiKeys(first: 101) { nodes { id } } }')
  expect(tooMany.errors?.[0].message).toBe('first must be between 1 and 100.')
})

test('the questions of services are refused to people', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada', true)

  const refused = await ada.ask(
    '{ signingKey(accessKeyId: "a", date: "b", region: "c", service: "d") { key } demoCredentials }',
  )

  expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual([
    'Forbidden',
    'Forbidden',
  ])
})

test('only administrators register people, and an address belongs to one', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const admin = await register(service, 'root', true)
  const create = 'mutation { createUser(name: "Eve", email: "ADA@example.org") { id } }'

  expect((await ada.ask(create)).errors).toMatchObject([{ extensions: { code: 'Forbidden' } }])
  expect((await admin.ask(create)).errors).toMatchObject([
    { extensions: { code: 'AlreadyExists' } },
  ])
})

test('a person and a cloud account are shown to their owner alone, also by reference', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const eve = await register(service, 'eve')
  const { data } = await ada.ask(
    'mutation { createCloudAccount(kind: PROJECT, name: "p1") { id } }',
  )
  expect(data.createCloudAccount.id).toBe('p1')
  const references = [
    { __typename: 'User', id: ada.caller.userId },
    { __typename: 'CloudAccount', id: 'p1' },
  ]
  const query = `query ($references: [_Any!]!) { _entities(representations: $references) {
    ... on User { name } ... on CloudAccount { owner { name } } } }`

  const own = await ada.with({ accounts: [{ id: 'p1', kind: 'PROJECT' }] })(query, { references })
  const foreign = await eve.ask(query, { references })

  expect(own.data._entities).toEqual([{ name: 'ada' }, { owner: { name: 'ada' } }])
  expect(foreign.data._entities).toEqual([null, null])
  const read = await eve.ask('{ cloudAccount(id: "p1") { id } }')
  expect(read.errors).toMatchObject([{ extensions: { code: 'NotFound' } }])
})

test('an administrator moves the clock, forward alone, and others do not', async () => {
  const service = await openForTest(subgraph)
  const ada = await register(service, 'ada')
  const admin = await register(service, 'root', true)
  const move = (seconds: number) =>
    `mutation { advance(seconds: ${seconds}) { now aheadSeconds stepsRun } }`

  expect((await ada.ask(move(60))).errors).toMatchObject([{ extensions: { code: 'Forbidden' } }])
  expect((await admin.ask(move(-1))).errors).toMatchObject([{ extensions: { code: 'Invalid' } }])
  expect((await admin.ask(move(86_400))).data.advance).toMatchObject({
    now: '2030-01-02T00:00:00.000Z',
    stepsRun: 0,
  })
  expect(service.clock.now().getTime() - Date.parse('2030-01-01T00:00:00Z')).toBe(DAY_MS)
})

test('a request without a credential reaches nothing of anyone', async () => {
  const service = await openForTest(subgraph)

  const refused = await service.graphql('{ me { id } }', {}, { credential: null })

  expect(refused.errors).toMatchObject([{ extensions: { code: 'Unauthenticated', status: 401 } }])
})
