// Both doors, on a small service made for the purpose.
import { parse } from 'graphql'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { fault, NotFound } from '../../resolvers/kernel/fault.ts'
import { del, get, operation, post, put, reply } from '../../resolvers/kernel/operation.ts'
import { optional, text, whole } from '../../resolvers/kernel/shape.ts'
import { apolloDoor } from '../../subgraphs/server/apollo.ts'
import { apiKey } from '../../subgraphs/server/auth/api-key.ts'
import { plain } from '../../subgraphs/server/dialects/plain.ts'
import { bind } from '../../subgraphs/server/graphql.ts'
import { openApi } from '../../subgraphs/server/openapi.ts'
import { restDoor } from '../../subgraphs/server/rest.ts'
import type { Subgraph } from '../../subgraphs/server/subgraph.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import pino from 'pino'
import { keyOf, people, testCredentials } from '../people.ts'

const TooRed = fault('TooRed', 409)

const operations = [
  operation({
    name: 'thing',
    rest: get('/things/{ThingName}', { answer: z.object({ ThingName: text }) }),
    input: { ThingName: text, PageSize: optional(whole) },
    async run({ ThingName, PageSize }) {
      if (ThingName === 'none') throw NotFound('There is no thing none.')
      if (ThingName === 'broken') throw new Error('the secret inner state')
      return { ThingName, PageSize }
    },
  }),
  operation({
    name: 'putThing',
    rest: put('/things/{ThingName}', { status: [201, 200], body: 'parameters' }),
    input: { ThingName: text, parameters: z.object({ Size: whole }), DryRun: optional(text) },
    run: async (input) => reply(input.parameters.Size > 1 ? 200 : 201, input, { etag: '"1"' }),
  }),
  operation({
    name: 'paintThing',
    rest: post('/things/{ThingName}:paint'),
    input: { ThingName: text, ColourName: text },
    async run({ ThingName, ColourName }) {
      if (ColourName === 'red') throw TooRed('Choose another colour.', { details: { Tone: 3 } })
      if (ColourName === 'teapot') return reply(418, {})
      return { ThingName, ColourName }
    },
  }),
  operation({
    name: 'deleteThing',
    rest: del('/things/{ThingName}', { status: [204] }),
    input: { ThingName: text },
    run: async () => reply(204),
  }),
  operation({
    name: 'anyPath',
    rest: get('/files/{FilePath+}', { isBeyond: true }),
    access: 'anyone',
    input: { FilePath: text },
    run: async ({ FilePath }) => reply(200, FilePath, { 'content-type': 'text/plain' }),
  }),
]

const SCHEMA = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
  type Query {
    thing(thingName: String!, pageSize: Int): Thing
    anyPath(filePath: String!): String
  }
  type Mutation {
    putThing(thingName: String!, parameters: ThingInput!, dryRun: String): Thing
    paintThing(thingName: String!, colourName: String!): Thing
    deleteThing(thingName: String!): Boolean!
  }
  type Thing { thingName: String colourName: String parameters: Parameters pageSize: Int }
  type Parameters { size: Int }
  input ThingInput { size: Int! }
`

const things: Subgraph = {
  name: 'things',
  title: 'Things',
  version: '1',
  basePath: '/v1',
  scheme: apiKey('X-Key'),
  dialect: plain('pascal'),
  resources: [{ operations }],
}

const watcher = { performed: () => {}, mistake: () => {} }

function openRest() {
  const mistakes: unknown[] = []
  const telemetry = {
    ...openTelemetry(pino({ level: 'silent' })),
    mistake: (error: unknown) => void mistakes.push(error),
  }
  const app = restDoor({
    subgraph: things,
    credentials: testCredentials,
    now: () => new Date(),
    newId: () => 'request-1',
    telemetry,
    // The scheme of these things keeps no credentials of its own.
    own: {} as any,
    contextFor: (caller, request) => ({ caller, ...request }) as any,
  })
  const send = async (request: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method, url] = request.split(' ') as [string, string]
    const payload = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
    const answer = await app.inject({
      method: method as 'GET',
      url,
      headers: {
        'x-key': keyOf('alice'),
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    })
    const isJson = String(answer.headers['content-type']).includes('json')
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? answer.json() : answer.payload,
    }
  }
  return { send, mistakes, telemetry }
}

test('path, query and body are gathered, and the path wins', async () => {
  const { send } = openRest()

  expect((await send('GET /v1/things/a?PageSize=3&ThingName=b')).body).toEqual({
    ThingName: 'a',
    PageSize: 3,
  })
  const made = await send('PUT /v1/things/a?DryRun=yes', { Size: 1, ThingName: 'b' })
  expect(made.status).toBe(201)
  expect(made.headers.etag).toBe('"1"')
  expect(made.body).toEqual({ ThingName: 'a', parameters: { Size: 1 }, DryRun: 'yes' })
})

test('a path may go on after a parameter with a colon, or take the rest', async () => {
  const { send } = openRest()

  const painted = await send('POST /v1/things/a:paint', { ColourName: 'blue' })
  expect(painted.body).toEqual({ ThingName: 'a', ColourName: 'blue' })
  expect((await send('GET /v1/files/a/b/c.txt')).body).toBe('a/b/c.txt')
})

test('an encoded slash is part of the parameter', async () => {
  const { send } = openRest()

  expect((await send('GET /v1/things/a%2Fb%3Ac')).body.ThingName).toBe('a/b:c')
})

test('a final slash makes no difference where nothing else claims it', async () => {
  const { send } = openRest()

  expect((await send('GET /v1/things/a/')).status).toBe(200)
})

test('an answer without a body has none', async () => {
  const { send } = openRest()
  const gone = await send('DELETE /v1/things/a')

  expect(gone.status).toBe(204)
  expect(gone.body).toBe('')
})

test('an empty body with a JSON content type is no body', async () => {
  const { send } = openRest()

  expect((await send('DELETE /v1/things/a', '')).status).toBe(204)
})

test.each([
  ['GET /v1/nothing', undefined, {}, 404, 'Nothing is served at /v1/nothing.'],
  ['PUT /v1/things/a', '{"Size":', {}, 400, /^The body is not JSON: /],
  ['POST /v1/things/a:paint', '[]', {}, 400, 'The body must be a JSON object.'],
  [
    'POST /v1/things/a:paint',
    '{"__proto__":1}',
    {},
    400,
    'The body must not have a member __proto__.',
  ],
  ['PUT /v1/things/a', '{}', {}, 400, 'parameters.Size is required.'],
  ['PUT /v1/things/a', { Size: 'x' }, {}, 400, /^parameters\.Size invalid input/],
  [
    'PUT /v1/things/a',
    'Size=1',
    { 'content-type': 'application/x-www-form-urlencoded' },
    415,
    'Send the body as application/json, not as application/x-www-form-urlencoded.',
  ],
  [
    'PUT /v1/things/a',
    'x'.repeat(1024 * 1024 + 1),
    {},
    413,
    'The body must not exceed 1048576 bytes.',
  ],
  ['GET /v1/things/a%', undefined, {}, 400, /./],
  [`GET /v1/things/${'a'.repeat(2049)}`, undefined, {}, 400, /./],
  ['GET /v1/things/none', undefined, {}, 404, 'There is no thing none.'],
  [
    'GET /v1/things/a',
    undefined,
    { 'x-key': 'wrong' },
    401,
    'The key in X-Key is unknown or was revoked.',
  ],
] as [string, unknown, Record<string, string>, number, string | RegExp][])(
  '%s with %j is refused',
  async (request, body, headers, status, message) => {
    const { send, mistakes } = openRest()
    const refused = await send(request, body, headers)

    expect(refused.status).toBe(status)
    expect(refused.body.message).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    )
    expect(refused.headers['x-request-id']).toBe('request-1')
    expect(mistakes).toEqual([])
  },
)

test('a method that the path does not have is answered with those that it has', async () => {
  const { send } = openRest()
  const refused = await send('PATCH /v1/things/a', {})

  expect(refused.status).toBe(405)
  expect(refused.headers.allow).toBe('GET, HEAD, PUT, DELETE')
})

test('what a service adds to a refusal arrives', async () => {
  const { send } = openRest()
  const refused = await send('POST /v1/things/a:paint', { ColourName: 'red' })

  expect(refused).toMatchObject({
    status: 409,
    body: { message: 'Choose another colour.', Tone: 3 },
  })
})

test('a mistake of ours is logged whole and answered without details', async () => {
  const { send, mistakes } = openRest()
  const failed = await send('GET /v1/things/broken')

  expect(failed.status).toBe(500)
  expect(failed.body).toEqual({ message: 'The service failed to answer.' })
  expect(String(mistakes[0])).toBe('Error: the secret inner state')
})

test('a status that nobody documented is a mistake of ours', async () => {
  const { send, mistakes } = openRest()

  expect((await send('POST /v1/things/a:paint', { ColourName: 'teapot' })).status).toBe(500)
  expect(String(mistakes[0])).toBe('Error: paintThing answered an undocumented 418')
})

test('a request id that the client chose is kept, unless it is no id', async () => {
  const { send } = openRest()

  const kept = await send('GET /v1/things/a', undefined, { 'x-request-id': 'mine-1' })
  expect(kept.headers['x-request-id']).toBe('mine-1')
  const replaced = await send('GET /v1/things/a', undefined, { 'x-request-id': 'a b<script>' })
  expect(replaced.headers['x-request-id']).toBe('request-1')
})

test('requests are counted by service, operation and status', async () => {
  const { send, telemetry } = openRest()
  await send('GET /v1/things/a')
  await send('GET /v1/things/none')

  const figures = await telemetry.figures()
  expect(figures).toContain(
    'polygraph_requests_total{service="things",operation="thing",door="rest",status="200"} 1',
  )
  expect(figures).toContain(
    'polygraph_requests_total{service="things",operation="thing",door="rest",status="404"} 1',
  )
})

test('OpenAPI tells where inputs are, which statuses come and who may call', () => {
  const { paths, components } = openApi(things) as any

  expect(Object.keys(paths)).toEqual([
    '/v1/things/{ThingName}',
    '/v1/things/{ThingName}:paint',
    '/v1/files/{FilePath}',
  ])
  expect(paths['/v1/things/{ThingName}'].put).toMatchObject({
    operationId: 'putThing',
    security: [{ caller: [] }],
    parameters: [
      { name: 'ThingName', in: 'path', required: true, schema: { type: 'string' } },
      { name: 'DryRun', in: 'query', required: false },
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { properties: { Size: { type: 'integer' } } } } },
    },
    responses: { 200: {}, 201: {}, 400: {}, 401: {} },
  })
  expect(paths['/v1/files/{FilePath}'].get.security).toEqual([])
  expect(components.securitySchemes.caller).toEqual({ type: 'apiKey', in: 'header', name: 'X-Key' })
})

test('a schema that differs from the code does not start, and every difference is named', () => {
  const differing = SCHEMA.replace('pageSize: Int): Thing', 'pageSize: Int!): Thing')
    .replace('deleteThing(thingName: String!): Boolean!', 'removeThing: Boolean')
    .replace('type Thing {', 'type Thing @key(fields: "thingName") {')

  expect(() => bind(parse(differing), things, watcher)).toThrow(
    [
      'things does not start: its schema and its code differ.',
      '  - thing takes (thingName!, pageSize) but its field offers (thingName!, pageSize!)',
      '  - schema/things.graphql has no field deleteThing',
      '  - no operation of things is called removeThing',
      '  - Thing has a key, but no entities of things resolve it',
    ].join('\n'),
  )
})

test('the graph spells in camelCase what the service spells its own way', async () => {
  const schema = bind(parse(SCHEMA), things, watcher)
  const server = await apolloDoor({ schema }, { introspection: false })
  const answer = await server.executeOperation(
    {
      query: `mutation { putThing(thingName: "a", parameters: { size: 2 }) {
        thingName parameters { size } } deleteThing(thingName: "a") }`,
    },
    { contextValue: { caller: people.alice } as any },
  )
  await server.stop()

  expect(JSON.parse(JSON.stringify((answer.body as any).singleResult.data))).toEqual({
    putThing: { thingName: 'a', parameters: { size: 2 } },
    deleteThing: true,
  })
})

test('a refusal and a mistake have codes in the graph, and the mistake keeps its details', async () => {
  const mistakes: unknown[] = []
  const performed: string[] = []
  const schema = bind(parse(SCHEMA), things, {
    performed: (operation, status) => performed.push(`${operation} ${status}`),
    mistake: (error) => mistakes.push(error),
  })
  const server = await apolloDoor({ schema }, { introspection: false })
  const answer = await server.executeOperation(
    {
      query:
        '{ none: thing(thingName: "none") { thingName } broken: thing(thingName: "broken") { thingName } }',
    },
    { contextValue: { caller: people.alice } as any },
  )
  await server.stop()

  const { errors } = (answer.body as any).singleResult
  expect(errors).toMatchObject([
    {
      message: 'There is no thing none.',
      extensions: { code: 'NotFound', status: 404, service: 'things' },
    },
    {
      message: 'The service failed to answer.',
      extensions: { code: 'INTERNAL_SERVER_ERROR', status: 500, service: 'things' },
    },
  ])
  expect(JSON.stringify(errors)).not.toContain('secret inner state')
  expect(mistakes).toHaveLength(1)
  expect(performed).toEqual(['thing 404', 'thing 500'])
})
