// What one request to the graph may ask, and for how long: the same whether it is new or came before.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openSafelist } from '../../gateway/safelist.ts'
import { NOBODY } from '../../resolvers/kernel/context.ts'
import { openSmallDoor, type SmallDoor } from './small-door.ts'

describe('cost', () => {
  const costOf = async ({ post }: SmallDoor, query: string, variables = {}) =>
    (await post({ query, variables }, { 'x-polygraph-cost': '1' })).body.extensions.cost.cost

  test('is one for an object, what a field weighs, and all of it as often as its page or list says', async () => {
    const door = await openSmallDoor()
    const costs = {
      '{ best }': 0,
      '{ book(id: 1) { id stars } }': 1,
      '{ book(id: 1) { summary } }': 8,
      '{ books(first: 3) { id } }': 3,
      '{ books { id } }': 25,
      '{ shelf(first: 10) { nodes { id summary } } }': 81,
      '{ book(id: 1) { chapters { title } } }': 6,
      '{ search { id } }': 70,
      '{ a: search { id } b: search { id } }': 140,
      '{ ...All } fragment All on Query { a: book(id: 1) { id } b: book(id: 2) { ...One } } fragment One on Book { chapters { title } }': 7,
      'mutation { addBook lend }': 20,
      '{ __schema { types { name fields { name } } } }': 0,
    }

    for (const [query, cost] of Object.entries(costs)) {
      expect(await costOf(door, query), query).toBe(cost)
    }
    const paged = 'query ($n: Int) { books(first: $n) { id } }'
    expect(await costOf(door, paged, { n: 7 })).toBe(7)
    expect(await costOf(door, paged, { n: 9 })).toBe(9)
    expect(await costOf(door, 'query ($n: Int = 8) { books(first: $n) { id } }')).toBe(8)
  })

  test('is told where it is asked for, and nowhere else', async () => {
    const { post } = await openSmallDoor()
    const asked = { query: '{ book(id: 1) { id } }' }

    const plain = await post(asked)
    const told = await post(asked, { 'x-polygraph-cost': '1' })

    expect(plain.body).toEqual({ data: { book: { id: '1' } } })
    expect(told.body).toEqual({ ...plain.body, extensions: { cost: { cost: 1, max: 10_000 } } })
    expect((await post(asked)).body).toEqual(plain.body)
  })

  test('above the limit is refused with the numbers and the field, however often it comes', async () => {
    const { post, sent } = await openSmallDoor({ limits: { queryCostMax: 100 } })
    const query = 'query ($n: Int) { best shelf(first: $n) { nodes { id chapters { title } } } }'
    expect((await post({ query, variables: { n: 2 } })).status).toBe(200)
    sent.length = 0

    for (const _time of ['new', 'known']) {
      expect(await post({ query, variables: { n: 20 } })).toEqual({
        status: 400,
        body: {
          errors: [
            {
              message:
                'The query costs 121, and at most 100 is allowed. Most of it, 100, is shelf.nodes.chapters. ' +
                'Ask for smaller pages or fewer levels.',
              extensions: {
                code: 'QUERY_TOO_COSTLY',
                cost: 121,
                max: 100,
                field: 'shelf.nodes.chapters',
              },
            },
          ],
        },
      })
    }
    expect(sent).toEqual([])
  })

  test.each([
    ['Query', '{ ...F0 }', 'best'],
    ['__Type', '{ __schema { types { ...F0 } } }', 'name'],
  ])(
    'of fragments of %s in fragments is measured at once, and their fields are counted',
    async (type, query, field) => {
      const { post } = await openSmallDoor()
      const levels = [0, 1, 2, 3].map(
        (i) => `fragment F${i} on ${type} { ${`...F${i + 1} `.repeat(200)} }`,
      )
      const { status, body } = await post({
        query: `${query} ${levels.join(' ')} fragment F4 on ${type} { ${field} }`,
      })

      expect(status).toBe(400)
      expect(body.errors[0].message).toMatch(
        /^The query has 160000000\d fields with its fragments written out, and at most 5000 are allowed\./,
      )
    },
  )
})

describe('depth, aliases, directives and tokens', () => {
  const aliases = (count: number) =>
    Array.from({ length: count }, (_, i) => `a${i}: best`).join(' ')
  const nested = (fragments: number) =>
    Array.from({ length: fragments }, (_, i) => `fragment D${i} on Query { ...D${i + 1} }`).join(
      ' ',
    )

  test.each([
    [
      'deep',
      `{ ...D0 } ${nested(6)} fragment D6 on Query { best }`,
      /depth limit of 12 exceeded, found 15/,
    ],
    ['aliased', `{ ${aliases(31)} }`, /Aliases limit of 30 exceeded, found 31/],
    [
      'aliased in a fragment',
      `{ ...A shelf { nodes { id } } ...B } fragment A on Query { ${aliases(16)} } fragment B on Query { ...A }`,
      /Aliases limit of 30 exceeded, found 32/,
    ],
    [
      'directed',
      `{ best ${'@include(if: true) '.repeat(51)} }`,
      /Directives limit of 50 exceeded, found 51/,
    ],
    [
      'directed in a fragment',
      `{ ...A ...A } fragment A on Query { ${'best @include(if: true) '.repeat(26)} }`,
      /Directives limit of 50 exceeded, found 52/,
    ],
    ['long', `{ ${'best '.repeat(5_000)} }`, /more that 5000 tokens/],
  ])(
    'a query that is too %s is refused with limit and number, each time',
    async (_case, query, message) => {
      const { post, sent } = await openSmallDoor()

      for (const _time of ['new', 'known']) {
        const { status, body } = await post({ query })
        expect(status).toBe(400)
        expect(body.errors[0].message).toMatch(message)
      }
      expect(sent).toEqual([])
    },
  )

  test('let GraphiQL read the schema', async () => {
    const { post } = await openSmallDoor()

    const { status, body } = await post({ query: getIntrospectionQuery() })

    expect(status).toBe(200)
    expect(body.errors).toBeUndefined()
    expect(body.data.__schema.queryType).toMatchObject({ name: 'Query' })
  })
})

describe('time', () => {
  const BUDGET_MS = 250
  const timeout = (max: number) => ({
    status: 504,
    body: {
      errors: [
        {
          message:
            `The query took longer than ${max} ms, which is all that it has, and was given up. ` +
            'Ask for less at a time. A mutation that had begun may still take effect.',
          extensions: { code: 'QUERY_TIMEOUT', max },
        },
      ],
    },
  })
  /** Whatever follows on what was let go has happened by then. */
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  test('that is up ends a query, and what was not sent is not sent', async () => {
    const gate = Promise.withResolvers<void>()
    const { post, sent } = await openSmallDoor({
      limits: { queryMsMax: BUDGET_MS },
      hold: () => gate.promise,
    })

    expect(await post({ query: '{ book(id: 1) { id stars } }' })).toEqual(timeout(BUDGET_MS))

    gate.resolve()
    await turn()
    expect(sent).toEqual(['books'])
  })

  test.each([
    ['a known query', '{ book(id: 1) { id stars } }', 'books', ['books']],
    [
      'a mutation between its steps',
      'mutation { addBook rate lend }',
      'ratings',
      ['books', 'ratings'],
    ],
  ])('that is up ends %s', async (_what, query, held, expected) => {
    const gate = Promise.withResolvers<void>()
    let isHeld = false
    const { post, sent } = await openSmallDoor({
      hold: (service) => (isHeld && service === held ? gate.promise : undefined),
      budgetMs: () => (isHeld ? BUDGET_MS : undefined),
    })
    expect((await post({ query })).status).toBe(200)
    sent.length = 0
    isHeld = true

    expect(await post({ query })).toEqual(timeout(60_000))

    gate.resolve()
    await turn()
    expect(sent).toEqual(expected)
  })
})

describe('a safelist', () => {
  const LISTED = 'query Best { best } query Two { book(id: 1) { ...Stars } }'
  const STARS = 'fragment Stars on Book { stars }'
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

  function openList(files: Record<string, string>, path = '', isEnforced = true) {
    const folder = mkdtempSync(join(tmpdir(), 'polygraph-safelist-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
    const logged: any[] = []
    const log = { warn: (about: object) => void logged.push(about) }
    return { safelist: openSafelist({ path: join(folder, path), isEnforced, log }), logged }
  }

  const NOT_ALLOWED = {
    status: 400,
    body: {
      errors: [
        {
          message:
            'The operation Other is not one of those that may be sent here. Send one that is listed, ' +
            'word for word, or have the operator add it to POLYGRAPH_SAFELIST.',
          extensions: { code: 'OPERATION_NOT_ALLOWED' },
        },
      ],
    },
  }

  test('lets through what it lists, however it is spaced, and refuses all else', async () => {
    const { safelist } = openList({ 'listed.graphql': LISTED, 'stars.gql': STARS })
    const { post, sent } = await openSmallDoor({ safelist })

    for (const _time of ['new', 'known']) {
      const best = await post({ query: 'query Best {\n  best # of all\n}' })
      const two = await post({ query: `${STARS} query Two { book(id: 1) { ...Stars } }` })
      expect(best).toEqual({ status: 200, body: { data: { best: 5 } } })
      expect(two).toEqual({ status: 200, body: { data: { book: { stars: 4 } } } })
    }
    sent.length = 0

    for (const _time of ['new', 'known']) {
      expect(await post({ query: 'query Other { best }' })).toEqual(NOT_ALLOWED)
    }
    const listedBeside = { query: `${LISTED} ${STARS} query Other { best }` }
    expect(await post({ ...listedBeside, operationName: 'Other' })).toEqual(NOT_ALLOWED)
    expect((await post({ query: '{ __schema { types { name } } }' })).status).toBe(400)
    expect(sent).toEqual([])
  })

  test('does not bind the services, nor lets what they asked before through to others', async () => {
    const { safelist } = openList({ 'listed.graphql': 'query Best { best }' })
    const { post, gateway } = await openSmallDoor({ safelist })
    const query = 'query Other { best }'
    const ours = { caller: NOBODY, publicUrl: '', requestId: '', headers: {}, isOurs: true }

    for (const _time of ['new', 'known']) {
      expect((await gateway.answer({ query }, ours)).data).toEqual({ best: 5 })
    }
    expect(await post({ query })).toEqual(NOT_ALLOWED)
  })

  test.each([
    [
      "Apollo's manifest",
      {
        format: 'apollo-persisted-query-manifest',
        version: 1,
        operations: [{ id: sha256('{ best }'), name: 'Best', type: 'query', body: '{ best }' }],
      },
    ],
    ['hashes and operations', { [sha256('{ best }')]: '{ best }' }],
  ])('in a file is %s, whose operations can be sent by their hash', async (_what, manifest) => {
    const { safelist } = openList({ 'list.json': JSON.stringify(manifest) }, 'list.json')
    const { post } = await openSmallDoor({ safelist })
    const byHash = (sha256Hash: string, more = {}) =>
      post({ ...more, extensions: { persistedQuery: { version: 1, sha256Hash } } })
    const other = '{ search { id } }'

    expect((await byHash(sha256('{ best }'))).body).toEqual({ data: { best: 5 } })
    expect((await post({ query: '{best}' })).body).toEqual({ data: { best: 5 } })
    const unknown = await byHash(sha256(other), { query: other })
    expect(unknown.body.errors[0].extensions.code).toBe('OPERATION_NOT_ALLOWED')
    const again = await byHash(sha256(other))
    expect(again.body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND')
  })

  test('that only logs answers all, and tells once of what it does not list, without its texts', async () => {
    const { safelist, logged } = openList({ 'a.graphql': 'query Best { best }' }, '', false)
    const { post } = await openSmallDoor({ safelist })

    for (const _time of ['new', 'known']) {
      expect((await post({ query: 'query Best { best }' })).status).toBe(200)
      const { body } = await post({ query: 'query Other { search(words: "secret") { id } }' })
      expect(body).toEqual({ data: { search: [{ id: '1' }] } })
    }
    expect(logged).toEqual([
      {
        operation: 'Other',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        query: 'query Other {\n  search(words: "") {\n    id\n  }\n}',
      },
    ])
  })

  test('that cannot be read, or lists nothing, says so', () => {
    expect(() => openList({}, 'none')).toThrow(/POLYGRAPH_SAFELIST: .*none: ENOENT/)
    expect(() => openList({ 'a.graphql': 'query {' })).toThrow(/a\.graphql: Syntax Error/)
    expect(() => openList({ 'a.json': '{"format":1}' }, 'a.json')).toThrow(/a\.json/)
    expect(() => openList({})).toThrow(/lists nothing/)
  })
})
