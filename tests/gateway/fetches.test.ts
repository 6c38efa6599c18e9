// Fetches of one turn travel together: each for its own caller, each answered when it is known.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import { buildSchema, GraphQLError } from 'graphql'
import pino from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { fetchesDoor } from '../../gateway/fetches-door.ts'
import { FETCHES_PATH, readingLines } from '../../gateway/fetches.ts'
import { overHttp } from '../../gateway/over-http.ts'
import { WholeBody } from '../../gateway/whole-body.ts'
import { stillClock, wallClock } from '../../resolvers/kernel/clock.ts'
import { NOBODY, type Caller } from '../../resolvers/kernel/context.ts'
import { openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'

const KEY = Buffer.alloc(32, 1)
const REFUSED = 'The note of the gateway is missing, forged or expired.'
const NOT_FETCHES =
  'The gateway posts its fetches here, a list in JSON. Post what you ask to /graphql.'

const personOf = (userId: string): Caller => ({ ...NOBODY, kind: 'user', userId })
const contextOf = (userId: string) => ({
  caller: personOf(userId),
  publicUrl: '',
  requestId: `request of ${userId}`,
  headers: {},
})

/** A service that says who asks, waits when it is told to, and counts what comes. */
async function serve() {
  const schema = buildSchema(`
    type Query { who(text: String): String after(turns: Int!): String later: String torn: String! requestId: String }
    type Mutation { change: String }
  `)
  const released = Promise.withResolvers<void>()
  const resolvers: Record<string, (...args: any[]) => unknown> = {
    who: (_: unknown, _args: unknown, { caller }: { caller: Caller }) => caller.userId,
    later: async (_: unknown, _args: unknown, { caller }: { caller: Caller }) => {
      await released.promise
      return `${caller.userId} at last`
    },
    after: async (_: unknown, { turns }: { turns: number }, { caller }: { caller: Caller }) => {
      for (let i = 0; i < turns; i += 1) await immediate()
      return `${caller.userId} after ${turns}`
    },
    torn: () => {
      throw new GraphQLError('It is torn.', { extensions: { code: 'Torn' } })
    },
    requestId: (_: unknown, _args: unknown, { headers }: any) => headers['x-request-id'],
    change: (_: unknown, _args: unknown, { caller }: { caller: Caller }) => caller.userId,
  }
  for (const type of [schema.getQueryType()!, schema.getMutationType()!]) {
    for (const field of Object.values(type.getFields())) field.resolve = resolvers[field.name]!
  }
  const door = fetchesDoor({
    opened: {
      subgraph: { name: 'people' } as any,
      schema,
      contextFor: (caller, { headers }) => ({ caller, headers }) as any,
    },
    notes: openNotes(KEY, wallClock),
    telemetry: openTelemetry(pino({ level: 'silent' })),
    newId: () => 'one',
  })
  const served = { requests: 0, handle: door, url: '', door, release: released.resolve }
  const server = createServer({ IncomingMessage: WholeBody }, (request, response) => {
    served.requests += 1
    served.handle(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  served.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => void server.close().closeAllConnections())
  return served
}

const sourceAt = (url: string, key = KEY, clock = wallClock) =>
  overHttp({ name: 'people', urls: [url], notes: openNotes(key, clock), fetchMs: 2_000 })

test('what many callers ask in one turn travels in one request, and each is told their own', async () => {
  const service = await serve()
  const ask = sourceAt(service.url).prepare('{ who requestId }', undefined)
  const names = Array.from({ length: 50 }, (_, i) => `person ${i}`)
  // Their notes are written when they first ask.
  await Promise.all(names.map((name) => ask({}, contextOf(name))))
  service.requests = 0

  const callers = names.map(contextOf)
  const answers = await Promise.all(callers.map((context) => ask({}, context)))

  expect(answers).toEqual(
    names.map((name) => ({ data: { who: name, requestId: `request of ${name}` } })),
  )
  expect(service.requests).toBe(1)
})

test('answers that come in whatever order find those who asked', async () => {
  const service = await serve()
  const ask = sourceAt(service.url).prepare('query ($turns: Int!) { after(turns: $turns) }', '')
  const asked = Array.from({ length: 50 }, async (_, person) => {
    const context = contextOf(`person ${person}`)
    for (let i = 0; i < 20; i += 1) {
      const turns = (person * 7 + i * 3) % 11
      const answer = await ask({ turns }, context)
      expect(answer).toEqual({ data: { after: `person ${person} after ${turns}` } })
    }
  })

  await Promise.all(asked)

  expect(service.requests).toBeLessThan(1_000)
})

test('what is known is told while others wait', async () => {
  const service = await serve()
  const { prepare } = sourceAt(service.url)
  const [who, later] = [prepare('{ who }', undefined), prepare('{ later }', undefined)]
  await who({}, contextOf('ada'))
  const waiting = later({}, contextOf('ada'))

  expect(await who({}, contextOf('ada'))).toEqual({ data: { who: 'ada' } })
  service.release()
  expect(await waiting).toEqual({ data: { later: 'ada at last' } })
  expect(service.requests).toBe(2)
})

test('an error is that of its own fetch, with its place and code', async () => {
  const service = await serve()
  const { prepare } = sourceAt(service.url)
  const context = contextOf('ada')
  const answers = await Promise.all([
    prepare('{ torn }', undefined)({}, context),
    prepare('{ who }', undefined)({}, context),
  ])

  expect(answers).toEqual([
    {
      data: null,
      errors: [{ message: 'It is torn.', path: ['torn'], extensions: { code: 'Torn' } }],
    },
    { data: { who: 'ada' } },
  ])
})

test('what changes something goes alone', async () => {
  const service = await serve()
  const { prepare } = sourceAt(service.url)
  const [who, change] = [prepare('{ who }', undefined), prepare('mutation { change }', undefined)]
  const context = contextOf('ada')
  await who({}, context)
  service.requests = 0

  const answers = await Promise.all([
    who({}, context),
    change({}, context),
    change({}, context),
    who({}, context),
  ])

  expect(answers).toEqual([
    { data: { who: 'ada' } },
    { data: { change: 'ada' } },
    { data: { change: 'ada' } },
    { data: { who: 'ada' } },
  ])
  expect(service.requests).toBe(3)
})

test('fetches that are long together travel in several requests', async () => {
  const service = await serve()
  const ask = sourceAt(service.url).prepare('query ($text: String) { who(text: $text) }', undefined)
  const context = contextOf('ada')
  await ask({}, context)
  service.requests = 0

  const text = 'x'.repeat(100_000)
  await Promise.all(Array.from({ length: 5 }, () => ask({ text }, context)))

  // Two fit into 256 KiB, and a third does not.
  expect(service.requests).toBe(3)
})

test('where a connection broke, what was answered is kept and the rest is asked again', async () => {
  const service = await serve()
  const ask = sourceAt(service.url).prepare('{ who }', undefined)
  for (const name of ['ada', 'bob']) await ask({}, contextOf(name))
  const asked: number[] = []
  service.handle = (request, response) => {
    service.handle = service.door
    request.gather(10_000, (body) => {
      asked.push(JSON.parse(body!.toString()).length)
      const line = `${JSON.stringify({ index: 1, answer: { data: { who: 'first' } } })}\n`
      response.write(line, () => request.socket.destroy())
    })
  }

  const answers = await Promise.all(['ada', 'bob'].map((name) => ask({}, contextOf(name))))

  expect(asked).toEqual([2])
  expect(answers).toEqual([{ data: { who: 'ada' } }, { data: { who: 'first' } }])
})

test.each([
  ['of another key', sourceAt, Buffer.alloc(32, 2), wallClock],
  ['that has ended', sourceAt, KEY, stillClock('2020-01-01T00:00:00Z')],
  [
    'for another service',
    (url: string) =>
      overHttp({ name: 'voice', urls: [url], notes: openNotes(KEY, wallClock), fetchMs: 2_000 }),
    KEY,
    wallClock,
  ],
] as const)('a note %s is refused', async (_what, sourceOf, key, clock) => {
  const service = await serve()
  const ask = sourceOf(service.url, key, clock).prepare('{ who }', undefined)

  expect(await ask({}, contextOf('ada'))).toEqual({
    data: null,
    errors: [
      {
        message: REFUSED,
        extensions: { code: 'Unauthenticated', status: 401, service: 'people' },
      },
    ],
  })
})

test.each([
  ['no JSON', '{', 400, NOT_FETCHES],
  ['no list', '{"query":"{ who }"}', 400, NOT_FETCHES],
  ['a fetch without a note', '[{"query":"{ who }","variables":{}}]', 400, NOT_FETCHES],
  [
    'more than it takes',
    `[${' '.repeat(2 * 1024 * 1024)}]`,
    413,
    'A request may have at most 2097152 bytes. Send less at once.',
  ],
])('%s is refused', async (_what, body, status, message) => {
  const { url } = await serve()
  const refused = await fetch(url + FETCHES_PATH, { method: 'POST', body })

  expect([refused.status, ((await refused.json()) as any).errors[0].message]).toEqual([
    status,
    message,
  ])
})

test('nothing is answered to no fetches', async () => {
  const { url } = await serve()
  const answered = await fetch(url + FETCHES_PATH, { method: 'POST', body: '[]' })

  expect([answered.status, await answered.text()]).toEqual([200, ''])
})

test('lines are read however they are cut', () => {
  const lines = [
    { index: 0, answer: { data: { who: 'Zoë' } } },
    { index: 1, answer: { data: {} } },
  ]
  const bytes = Buffer.from(
    lines
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
      .trimEnd(),
  )
  for (let size = 1; size <= bytes.length; size += 1) {
    const read: unknown[] = []
    const { take, end } = readingLines((line) => read.push(line))
    for (let from = 0; from < bytes.length; from += size) take(bytes.subarray(from, from + size))
    end()
    expect(read).toEqual(lines)
  }
})
