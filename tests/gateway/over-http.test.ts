// Subgraphs over HTTP that are down, slow, or answer what is no answer: what a query then gets.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { execute, parse } from 'graphql'
import { expect, onTestFinished, test } from 'vitest'
import type { Answer } from '../../gateway/executor/source.ts'
import { answerFetches, type Fetch } from '../../gateway/fetches.ts'
import { openGateway } from '../../gateway/gateway.ts'
import { overHttp } from '../../gateway/over-http.ts'
import { stillClock, wallClock } from '../../resolvers/kernel/clock.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { schemas, supergraph } from './library.ts'

const FETCH_MS = 100
const QUERY = '{ books(first: 2) { title stars grade } person(name: "ada") { born } }'
const GOOD = {
  data: {
    books: [
      { title: 'Book 0', stars: 1, grade: 'A' },
      { title: 'Book 1', stars: 2, grade: 'A' },
    ],
    person: { born: 1900 },
  },
}
const context = { caller: NOBODY, publicUrl: '', requestId: 'r', headers: {} }
const notes = openNotes(Buffer.alloc(32, 1), wallClock)

const lineOf = (answer: object) => `${JSON.stringify({ index: 0, answer })}\n`

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown

async function answerOf(name: string, request: IncomingMessage, response: ServerResponse) {
  answerFetches((await json(request)) as Fetch[], response, ({ query, variables }) => {
    const document = parse(query)
    return execute({ schema: schemas[name]!, document, variableValues: variables }) as Answer
  })
}

/** A server on a port that stays its own while it is down. */
async function serve(handle: Handle) {
  const server = createServer((request, response) => {
    served.requests += 1
    void served.handle(request, response)
  })
  const listen = (port: number) => once(server.listen(port, '127.0.0.1'), 'listening')
  await listen(0)
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    if (!server.listening) return
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  onTestFinished(stop)
  const served = {
    url: `http://127.0.0.1:${port}`,
    requests: 0,
    handle,
    stop,
    start: () => listen(port),
  }
  return served
}

/** A gateway over the library, whose ratings are asked over HTTP. */
async function openLibrary({ fetchMs = 10_000, standIn = false } = {}) {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const ratings = await serve((...both) => answerOf('ratings', ...both))
  const other = await serve((...both) => answerOf('ratings', ...both))
  const books = await serve((...both) => answerOf('books', ...both))
  const people = await serve((...both) => answerOf('people', ...both))
  const urls: Record<string, string[]> = {
    ratings: standIn ? [ratings.url, other.url] : [ratings.url],
    books: [books.url],
    people: [people.url],
  }
  const gateway = await openGateway({
    isIntrospectable: false,
    supergraph,
    sourceOf: (name) => overHttp({ name, urls: urls[name] ?? [books.url], notes, clock, fetchMs }),
  })
  onTestFinished(() => gateway.server.stop())
  const ask = async (query = QUERY) =>
    JSON.parse(JSON.stringify(await gateway.answer({ query }, context)))
  return {
    ask,
    ratings,
    other,
    books,
    pass: (ms: number) => clock.moveTo(new Date(clock.now().getTime() + ms)),
  }
}

const faultAt = (path: (string | number)[], message: string, code = 'SERVICE_UNAVAILABLE') => ({
  message,
  path,
  extensions: {
    code,
    status: code === 'SERVICE_TIMEOUT' ? 504 : 503,
    service: 'ratings',
    serviceName: 'ratings',
  },
})
const withoutRatings = (message: string, code?: string) => ({
  data: {
    books: [
      { title: 'Book 0', stars: null, grade: null },
      { title: 'Book 1', stars: null, grade: null },
    ],
    person: { born: 1900 },
  },
  errors: [
    faultAt(['books', 0, 'stars'], message, code),
    faultAt(['books', 0, 'grade'], message, code),
    faultAt(['books', 1, 'stars'], message, code),
    faultAt(['books', 1, 'grade'], message, code),
  ],
})

test('a service that is down costs its fields, and is back as soon as it is', async () => {
  const { ask, ratings } = await openLibrary()
  expect(await ask()).toEqual(GOOD)

  await ratings.stop()
  const without = await ask()
  await ratings.start()

  expect(without).toEqual(withoutRatings('The service ratings does not answer.'))
  expect(await ask()).toEqual(GOOD)
})

test('a root field of a service that is down is null, with its path', async () => {
  const { ask, ratings } = await openLibrary()
  await ratings.stop()

  expect(await ask('{ one: best two: best person(name: "ada") { born } }')).toEqual({
    data: { one: null, two: null, person: { born: 1900 } },
    errors: [
      faultAt(['one'], 'The service ratings does not answer.'),
      faultAt(['two'], 'The service ratings does not answer.'),
    ],
  })
})

test('of a service that is down a query is told at most a hundred times', async () => {
  const { ask, books, ratings } = await openLibrary()
  const many = Array.from({ length: 150 }, (_, i) => ({ __typename: 'Book', id: String(i) }))
  books.handle = (_request, response) => response.end(lineOf({ data: { books: many } }))
  await ratings.stop()

  const { data, errors } = await ask('{ books(first: 150) { stars } }')

  expect(data.books).toHaveLength(150)
  expect(errors).toHaveLength(100)
})

test.each(['before it answers', 'within its answer'])(
  'a service that is slow %s costs its fields when its time is over, and no others',
  async (when) => {
    const { ask, ratings } = await openLibrary({ fetchMs: FETCH_MS })
    const isCut = Promise.withResolvers<void>()
    ratings.handle = (request, response) => {
      if (when === 'within its answer') response.write('{"index":0,')
      request.once('close', () => isCut.resolve())
    }

    expect(await ask()).toEqual(
      withoutRatings(
        'The service ratings does not answer. It took longer than 100 ms.',
        'SERVICE_TIMEOUT',
      ),
    )
    // What nobody waits for does not keep a connection.
    await isCut.promise
  },
)

test('a service that failed five times is not asked for a second, and then comes back by itself', async () => {
  const { ask, ratings, pass } = await openLibrary()
  const { handle } = ratings
  ratings.handle = (_request, response) => response.end('no')
  for (let i = 0; i < 5; i += 1) await ask()
  ratings.handle = handle

  const paused = await ask()
  pass(1_000)

  expect(paused).toEqual(
    withoutRatings('The service ratings does not answer. It is asked again in 1 s.'),
  )
  expect(ratings.requests).toBe(5)
  expect(await ask()).toEqual(GOOD)
  expect(await ask()).toEqual(GOOD)
})

test.each([
  ['a page', 502, '<h1>Bad Gateway</h1>', 'It answered 502 with what is no JSON.'],
  ['nothing', 200, '', 'It answered 200 without an answer to what was asked.'],
  ['null', 200, 'null', 'It answered 200 without an answer to what was asked.'],
  ['other JSON', 404, '{"message":"?"}', 'It answered 404 without an answer to what was asked.'],
  [
    'an answer to nothing',
    200,
    '{"index":1,"answer":{"data":{}}}',
    'It answered 200 without an answer to what was asked.',
  ],
  [
    'an answer without data',
    200,
    '{"index":0,"answer":{}}',
    'It answered 200 without an answer to what was asked.',
  ],
])('%s is no answer, which is said', async (_what, status, text, message) => {
  const { ask, ratings } = await openLibrary()
  ratings.handle = (_request, response) => response.writeHead(status).end(text)

  expect(await ask()).toEqual(withoutRatings(`The service ratings does not answer. ${message}`))
})

test('the second address stands in for the first while that is down', async () => {
  const { ask, ratings, other } = await openLibrary({ standIn: true })
  await ratings.stop()

  expect(await ask()).toEqual(GOOD)
  expect(other.requests).toBe(1)

  await other.stop()
  await ratings.start()
  expect(await ask()).toEqual(GOOD)
  expect(ratings.requests).toBe(1)
})

/** Cuts the connection when the request has come as a whole. */
const cut: Handle = async (request) => {
  await json(request)
  request.socket.destroy()
}

test('a read whose connection broke is asked again', async () => {
  const { ask, ratings } = await openLibrary()
  const { handle } = ratings
  ratings.handle = (request, response) => {
    ratings.handle = handle
    return cut(request, response)
  }

  expect(await ask()).toEqual(GOOD)
  expect(ratings.requests).toBe(2)
})

test.each([
  ['whose connection broke', 'SERVICE_UNAVAILABLE', cut],
  ['that took too long', 'SERVICE_TIMEOUT', () => {}],
])('a mutation %s is not sent again, not even elsewhere', async (_what, code, handle) => {
  const [one, other] = [await serve(handle), await serve(handle)]
  const { prepare } = overHttp({
    name: 'ratings',
    urls: [one.url, other.url],
    notes,
    fetchMs: FETCH_MS,
  })

  const asked = prepare('mutation Rate__ratings__0 { rate }', 'Rate__ratings__0')({}, context)

  await expect(asked).rejects.toMatchObject({ extensions: { code, service: 'ratings' } })
  expect([one.requests, other.requests]).toEqual([1, 0])
})

test('a mutation that reached nobody is sent to the second address', async () => {
  const one = await serve(cut)
  const other = await serve((_request, response) => response.end(lineOf({ data: { rate: 3 } })))
  await one.stop()
  const { prepare } = overHttp({ name: 'ratings', urls: [one.url, other.url], notes })

  expect(await prepare('mutation { rate }', undefined)({}, context)).toEqual({ data: { rate: 3 } })
})
