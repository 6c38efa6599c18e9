// The services as processes of their own: what a gateway of one process does must hold here too.
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCluster, type Cluster } from '../../gateway/cluster.ts'
import { graphOverHttp } from '../../gateway/graph-port.ts'
import { stillClock, wallClock } from '../../resolvers/kernel/clock.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { graphFor } from '../../resolvers/kernel/graph.ts'
import { keyFor } from '../../resolvers/kernel/secrets.ts'
import { NOTE_HEADER, openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import { postgresUrl } from '../postgres.ts'
import { openEvents } from './live-streams.ts'

const START_MS_MAX = 90_000
const COME_BACK_MS_MAX = 30_000
const POLL_MS = 50
const ROOT = join(import.meta.dirname, '../..')
const VERSION = 'api-version=2018-10-31-preview'

let cluster: Cluster
let credentials: Record<string, Record<string, string>>
let folder: string
let removeDatabase: () => Promise<void>

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'polygraph-cluster-'))
  const database = await makeDatabase()
  removeDatabase = database.remove
  cluster = await startCluster({
    environment: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile'),
      DATABASE_URL: database.url,
      POLYGRAPH_DATA: folder,
      PORT: '0',
    },
    replicas: { hsm: 2 },
  })
  const { stdout } = await promisify(execFile)(process.execPath, ['gateway/credentials.ts'], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...cluster.environment },
  })
  credentials = JSON.parse(stdout)
}, START_MS_MAX)

afterAll(async () => {
  await cluster?.stop()
  await removeDatabase?.()
  await rm(folder, { recursive: true, force: true })
}, START_MS_MAX)

test('one query is answered by several service processes', async () => {
  const answer = await ask(
    `query ($id: String!) {
       me { name }
       cloudAccount(id: $id) { kind dedicatedHsms { nodes { name } } }
       voiceConfigurationSet(configurationSetName: "alarm-calls") { configurationSetName }
     }`,
    { id: credentials.hsm!.subscriptionId },
  )

  expect(answer).toEqual({
    data: {
      me: { name: 'Ada' },
      cloudAccount: {
        kind: 'SUBSCRIPTION',
        dedicatedHsms: { nodes: [{ name: 'demo-hsm' }] },
      },
      voiceConfigurationSet: { configurationSetName: 'alarm-calls' },
    },
  })
})

test('what one process of a service was told by REST, the graph and its other process know', async () => {
  const [first, second] = processesOf('hsm')
  const headers = {
    authorization: `Bearer ${credentials.hsm!.token}`,
    'content-type': 'application/json',
  }
  const path = `/subscriptions/${credentials.hsm!.subscriptionId}/resourceGroups/lab/providers/Vendor.HardwareSecurityModules/dedicatedHSMs/vault-1?${VERSION}`
  const body = JSON.stringify({
    location: 'westus',
    sku: { name: 'Vendor Network HSM A790' },
    tags: { team: 'blue' },
    properties: {},
  })

  const put = await fetch(first!.url + path, { method: 'PUT', headers, body })
  const seenByOther = await fetch(second!.url + path, { headers })
  const seenByGraph = await askForModule('lab', 'vault-1')

  expect(put.status).toBe(201)
  expect(await seenByOther.json()).toMatchObject({ name: 'vault-1', tags: { team: 'blue' } })
  expect(seenByGraph).toEqual({
    data: { dedicatedHsm: { name: 'vault-1', tags: { team: 'blue' } } },
  })
})

test('a live query hears of what the process of a service was told', async () => {
  const events = await openEvents(`${cluster.gateway.url}/graphql/live`, {
    method: 'POST',
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${credentials.graph!.token}`,
    },
    body: JSON.stringify({
      query: `query Live { dedicatedHsm(subscriptionId: "${credentials.hsm!.subscriptionId}",
        resourceGroupName: "lab", name: "live-1") { name } }`,
    }),
  })
  const first = await events.next()

  const path = `/subscriptions/${credentials.hsm!.subscriptionId}/resourceGroups/lab/providers/Vendor.HardwareSecurityModules/dedicatedHSMs/live-1?${VERSION}`
  await fetch(processesOf('hsm')[1]!.url + path, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${credentials.hsm!.token}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      location: 'westus',
      sku: { name: 'Vendor Network HSM A790' },
      properties: {},
    }),
  })
  const second = await events.next()
  events.close()

  expect(first?.data).toMatchObject({
    data: { dedicatedHsm: null },
    errors: [{ extensions: { code: 'ResourceNotFound' } }],
  })
  expect(second?.data).toEqual({ data: { dedicatedHsm: { name: 'live-1' } } })
})

test('the GraphQL door of a service refuses a note that is forged, expired, for another or missing', async () => {
  const key = Buffer.from(await readFile(join(folder, 'secret.key'), 'utf8'), 'base64')
  const caller = serviceCaller('gateway')
  const now = openNotes(keyFor('notes', key), wallClock)
  const anHourAgo = stillClock(new Date(Date.now() - 3600_000).toISOString())
  const notes = {
    right: await now.write(caller, 'hsm'),
    forged: await openNotes(randomBytes(32), wallClock).write(caller, 'hsm'),
    expired: await openNotes(keyFor('notes', key), anHourAgo).write(caller, 'hsm'),
    forAnother: await now.write(caller, 'voice'),
    missing: undefined,
  }

  const seen: Record<string, unknown> = {}
  for (const [name, note] of Object.entries(notes)) {
    const answer = await fetch(`${processesOf('hsm')[0]!.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(note && { [NOTE_HEADER]: note }) },
      body: JSON.stringify({ query: '{ hsmOperations { value { name } } }' }),
    })
    const { data, errors } = (await answer.json()) as any
    seen[name] = [answer.status, data?.hsmOperations.value.length ?? errors[0].extensions.code]
  }

  expect(seen).toEqual({
    right: [200, 3],
    forged: [401, 'Unauthenticated'],
    expired: [401, 'Unauthenticated'],
    forAnother: [401, 'Unauthenticated'],
    missing: [401, 'Unauthenticated'],
  })
})

test('a service asks the graph as a person, by a note for the gateway and by no other', async () => {
  const key = Buffer.from(await readFile(join(folder, 'secret.key'), 'utf8'), 'base64')
  const notes = openNotes(keyFor('notes', key), wallClock)
  const { me } = ((await ask('{ me { id } }')) as any).data
  const person = { ...NOBODY, kind: 'user' as const, userId: me.id }
  const port = graphOverHttp({
    urls: [cluster.gateway.url],
    credentials: { byUser: async () => person },
    notes,
  })
  const asked = await graphFor(port, serviceCaller('backup')).as(me.id).ask('{ me { name } }')
  const wrong = await fetch(`${cluster.gateway.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      [NOTE_HEADER]: await notes.write(person, 'identity'),
    },
    body: JSON.stringify({ query: '{ me { name } }' }),
  })

  expect(asked).toEqual({ data: { me: { name: 'Ada' } } })
  expect(wrong.status).toBe(401)
})

test('queries keep succeeding while one of two processes of a service is killed', async () => {
  const [first] = processesOf('hsm')
  const pid = first!.pid()!
  const answers: unknown[] = []
  let isKilled = false

  const asking = Array.from({ length: 4 }, async () => {
    for (let i = 0; i < 25; i += 1) {
      answers.push(await askForModule('polygraph-demo', 'demo-hsm'))
      if (answers.length > 20 && !isKilled) isKilled = process.kill(pid, 'SIGKILL')
    }
  })
  await Promise.all(asking)

  const right = { data: { dedicatedHsm: { name: 'demo-hsm', tags: { environment: 'demo' } } } }
  expect(answers).toEqual(Array.from({ length: 100 }, () => right))
  await eventually(async () => expect(first!.pid()).not.toBe(undefined))
  expect(first!.pid()).not.toBe(pid)
})

test('a service that is gone fails its own fields alone, and comes back by itself with its data', async () => {
  const query = `{
    me { name }
    voiceConfigurationSet(configurationSetName: "alarm-calls") { configurationSetName }
  }`
  const [only] = processesOf('voice')
  process.kill(only!.pid()!, 'SIGKILL')

  const without = await ask(query)

  expect(without).toEqual({
    data: { me: { name: 'Ada' }, voiceConfigurationSet: null },
    errors: [
      {
        message: 'The service voice does not answer.',
        path: ['voiceConfigurationSet'],
        extensions: {
          code: 'SERVICE_UNAVAILABLE',
          status: 503,
          service: 'voice',
          serviceName: 'voice',
        },
      },
    ],
  })
  await eventually(async () =>
    expect(await ask(query)).toEqual({
      data: {
        me: { name: 'Ada' },
        voiceConfigurationSet: { configurationSetName: 'alarm-calls' },
      },
    }),
  )
}, 40_000)

test('a process stops by itself when its supervisor is gone', async () => {
  const child = spawn(process.execPath, ['gateway/start.ts', 'identity'], {
    cwd: ROOT,
    env: { ...cluster.environment, PATH: process.env.PATH, PORT: '0', POLYGRAPH_DEMO: '0' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const ended = once(child, 'exit')
  for await (const text of child.stderr!) if (String(text).includes('is ready')) break

  child.disconnect()

  expect(await ended).toEqual([0, null])
})

const processesOf = (service: string) =>
  cluster.services.filter((process) => process.service === service)

async function ask(query: string, variables: object = {}): Promise<unknown> {
  const answer = await fetch(`${cluster.gateway.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${credentials.graph!.token}`,
    },
    body: JSON.stringify({ query, variables }),
  })
  return answer.json()
}

const askForModule = (group: string, name: string) =>
  ask(
    `query ($subscriptionId: ID!, $group: String!, $name: String!) {
       dedicatedHsm(subscriptionId: $subscriptionId, resourceGroupName: $group, name: $name) { name tags }
     }`,
    { subscriptionId: credentials.hsm!.subscriptionId, group, name },
  )

/** Asks again until the expectation holds, or fails as it last did. */
async function eventually(expectation: () => Promise<void>): Promise<void> {
  const deadlineMs = performance.now() + COME_BACK_MS_MAX
  for (;;) {
    try {
      return await expectation()
    } catch (error) {
      if (performance.now() > deadlineMs) throw error
      await pause(POLL_MS)
    }
  }
}

/** A database of its own on the server of the tests. */
async function makeDatabase(): Promise<{ url: string; remove(): Promise<void> }> {
  const server = await postgresUrl()
  const name = `cluster_${randomBytes(6).toString('hex')}`
  const run = async (statement: string) => {
    const client = new pg.Client(server)
    await client.connect()
    await client.query(statement)
    await client.end()
  }
  await run(`CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, remove: () => run(`DROP DATABASE ${name} WITH (FORCE)`) }
}
